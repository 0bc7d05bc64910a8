"""The command `figures`: draw figures of papers, and tell why the others cannot be drawn."""

import argparse
import fcntl
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from metassay.cli.project import check_project
from metassay.cli.running import refresh_project, run_flows
from metassay.core.errors import BadInput
from metassay.core.exit_codes import DONE, FAILED, INCOMPLETE
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.stages import FIGURES_VERSION
from metassay.paper_figures import FORMATS
from metassay.paper_figures.derived_tables import needed_tables
from metassay.paper_figures.draw import (
    FIGURES,
    LOCK,
    STORE,
    Outcome,
    damage_lines,
    draw_paper,
    inputs_in,
    missing_benchmarks,
    remedy,
    summary,
)
from metassay.paper_figures.index import find_records
from metassay.paper_figures.record import Record


def figures(args: argparse.Namespace) -> int:
    """Bring the figures of papers up to date; return the exit code."""
    check_project([])
    refresh_project()
    every = find_records(Path())
    papers = list(dict.fromkeys(args.paper or every))
    records = {paper: every[paper] for paper in papers}
    _check_benchmarks(records)
    inputs = inputs_in(Path())
    missing = {
        paper: missing_benchmarks(of_paper, inputs)
        for paper, of_paper in records.items()
    }
    drawable = {
        paper: sum(not record.open for record in of_paper)
        for paper, of_paper in records.items()
    }
    whole = [p for p in papers if drawable[p] and not missing[p] and not args.format]
    code = (
        run_flows([*whole, "--figures", "--no-prefect"], dict(os.environ))
        if whole
        else DONE
    )
    if code not in (DONE, FAILED):
        return code
    by_stage = [] if code else whole  # what a failed stage left is unknown
    outcomes = {
        paper: _draw_here(paper, records[paper], args.format or FORMATS)
        for paper in papers
        if paper not in by_stage and drawable[paper] > len(missing[paper])
    }
    drawn = {
        paper: {*outcome.drawn, *outcome.unchanged}
        for paper, outcome in outcomes.items()
    }
    drawn |= {paper: _files(paper) for paper in by_stage}
    for paper, of_paper in records.items():
        drawn.setdefault(paper, set())
        _print(paper, of_paper, missing[paper], drawn[paper], outcomes.get(paper))
    if all(len(drawn[paper]) == drawable[paper] for paper in papers):
        return code
    return INCOMPLETE if any(drawn.values()) else FAILED


def _check_benchmarks(records: Mapping[str, Sequence[Record]]) -> None:
    every = [record for of_paper in records.values() for record in of_paper]
    needs = sorted(
        {benchmark for record in every for benchmark, _ in needed_tables(record)}
    )
    if needs and not any((BENCHMARKS / name / PARAMS.name).is_file() for name in needs):
        raise BadInput(
            f"{', '.join(records)}: drawn from {', '.join(needs)}, of which {BENCHMARKS}/ has"
            " none: run this in a copy of Metassay's own repository, which has these benchmarks"
        )


def _draw_here(
    paper: str, records: Sequence[Record], formats: Sequence[str]
) -> Outcome:
    """Draw without DVC, which would run the stage only with all of its inputs, and in order."""
    lock = Path(LOCK.format(paper))
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as locked:
        # The paper's stage holds the same lock, so that no two processes draw it.
        fcntl.flock(locked, fcntl.LOCK_EX)
        outcome = draw_paper(
            records,
            inputs_in(Path()),
            Path(FIGURES, paper),
            store=STORE,
            version=str(FIGURES_VERSION),
            formats=formats,
        )
    for line in summary(outcome):
        print(f"{paper}: {line}", file=sys.stderr)
    return outcome


def _files(paper: str) -> set[str]:
    return {file.stem for file in Path(FIGURES, paper).iterdir()}


def _print(
    paper: str,
    records: Sequence[Record],
    missing: Mapping[str, Sequence[str]],
    drawn: set[str],
    outcome: Outcome | None,
) -> None:
    drawable = [record.name for record in records if not record.open]
    place = f"{FIGURES}/{paper}/" if drawn else "nothing drawn"
    n_open = len(records) - len(drawable)
    print(
        f"{paper}: {place}; {len(drawn):,} of {len(drawable):,} drawn, {n_open:,} open"
    )
    by_remedy: dict[str, list[str]] = {}
    for name, benchmarks in missing.items():
        by_remedy.setdefault(remedy(benchmarks), []).append(name)
    for what, names in by_remedy.items():
        print(f"  not drawn, because tables are missing: {', '.join(names)}; {what}")
    damaged = outcome.damaged if outcome else {}
    for line in damage_lines(damaged):
        print(f"  {line}")
    empty = [name for name in drawable if name not in {*drawn, *missing, *damaged}]
    if empty:
        print(f"  not drawn, because their tables lack the numbers: {', '.join(empty)}")
    fileless = (
        [name for name in drawable if name in drawn - _files(paper)] if drawn else []
    )
    if fileless:
        print(f"  no file in these formats: {', '.join(fileless)}")
