"""`python -m flows.reevaluate NAME...`: for `metassay watch check`, by a clock, CI or hand.

Stages run as in `metassay run`. Then, while no other run can start, each benchmark is
compared with its accepted numbers, the drift sentinel is asked, the change report
written and the history appended. A second run meanwhile waits (flows/recovery.py), and
then finds nothing to do.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.__main__ import main
from metassay.core.exit_codes import WORST_FIRST
from metassay.core.work import owner_alone

if TYPE_CHECKING:
    import pandas as pd

    from flows.dag import Plan
    from metassay.tracking.reevaluation.outcome import Outcome

_STATUS = ("status", "--porcelain", "-uno", "--", ".")


def run_and_compare(chosen: argparse.Namespace, plan: "Plan", failed: list[str]) -> int:
    """Compare, write and print; return the worst of the benchmarks' exit codes."""
    from metassay.tracking.reevaluation.changes import write_report
    from metassay.tracking.reevaluation.outcome import append, lines

    codes = []
    for name in chosen.names:
        outcome = outcome_of(
            Path.cwd(), name, plan, failed, n_benchmarks=len(chosen.names)
        )
        closed = any(
            stage.closed for stage in plan.stages.values() if stage.benchmark == name
        )
        history = append(Path.cwd(), outcome)
        with owner_alone() if closed else nullcontext():
            write_report(Path.cwd(), outcome, history)
        print("\n".join(lines(outcome)), flush=True)
        if chosen.prefect_api:
            send_to_prefect(chosen.prefect_api, outcome)
        codes.append(outcome.status)
    return next(code for code in WORST_FIRST if code in codes)


def outcome_of(
    root: Path, name: str, plan: "Plan", failed: Iterable[str], *, n_benchmarks: int
) -> "Outcome":
    """Return the outcome of the run for a benchmark; nothing is compared if a stage failed."""
    from metassay.core.params import load
    from metassay.reporting.responses import missing_lines
    from metassay.tracking.comparison.differences import comparison_options
    from metassay.tracking.reevaluation.outcome import (
        Outcome,
        accepted_file,
        compare_accepted,
        short_hash,
    )
    from metassay.tracking.sentinel.anchors import watched_judges
    from metassay.tracking.sentinel.checking import check

    stages = [stage for stage in plan.stages.values() if stage.benchmark in ("", name)]
    lock = root / accepted_file(name)
    fields: dict[str, Any] = {
        "benchmark": name,
        "accepted": short_hash(lock) if lock.exists() else None,
        "when": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "revision": revision(root),
        "stages": sum(stage.address in plan.stale for stage in stages),
        "failed": [stage.name for stage in stages if stage.address in set(failed)],
    }
    if fields["failed"]:
        return Outcome(**fields)
    options = comparison_options(load())
    side, differences, why, certificates = compare_accepted(
        root, name, options, n_benchmarks
    )
    answers = answers_of_benchmark(root, name, plan)
    return Outcome(
        **fields,
        differences=differences,
        causes=why,
        certificates=certificates,
        lacking=int(answers[["missing", "failed"]].to_numpy().sum()),
        missing=missing_lines(answers),
        drift=check(root, name) if watched_judges(name) else None,
        side=side,
    )


def revision(root: Path) -> str | None:
    """Return git's commit, with `+` if tracked files (not the history) differ; None without git."""
    from metassay.tracking.reevaluation.outcome import FOLDER

    results = [
        subprocess.run(
            ["git", *words], cwd=root, capture_output=True, text=True, check=False
        )
        for words in (
            ("rev-parse", "--short=10", "HEAD"),
            (*_STATUS, f":(exclude){FOLDER}"),
        )
    ]
    if any(result.returncode for result in results):
        return None
    return results[0].stdout.strip() + ("+" if results[1].stdout else "")


def answers_of_benchmark(root: Path, name: str, plan: "Plan") -> "pd.DataFrame":
    """Return what its stages asked language models, and what is missing."""
    from metassay.reporting.headline import answers_of

    files = [
        file
        for s in plan.stages.values()
        if s.benchmark == name
        for file in s.responses
    ]
    return answers_of(root / "data/tables" / name, files)


def send_to_prefect(url: str, outcome: "Outcome") -> None:
    """Send Prefect an event for its automations, and the change report: keys and numbers only."""
    from flows.prefect_server import connect

    if os.environ.get("PREFECT_API_URL") != url:  # no stage was run
        connect(url)
    from prefect import get_client
    from prefect.client.schemas.actions import ArtifactCreate
    from prefect.events import emit_event

    from flows.benchmark import flush_reports
    from metassay.core.naming import prefect_key
    from metassay.tracking.reevaluation.outcome import REPORTS, event, payload

    name = outcome.benchmark
    report = (REPORTS / name / "changes.md").read_text(encoding="utf-8")
    # artifacts' own functions want a flow run
    with get_client(sync_client=True) as client:
        client.create_artifact(
            ArtifactCreate(
                key=prefect_key(f"{name}-changes"),
                type="markdown",
                description=event(outcome),
                data=report,
            )
        )
    emit_event(
        event=event(outcome),
        resource={
            "prefect.resource.id": f"metassay.benchmark.{name}",
            "prefect.resource.name": name,
        },
        payload=payload(outcome),
    )
    flush_reports()


if __name__ == "__main__":
    sys.exit(main(run_and_compare))
