"""`python -m flows.accept NAME... [--anyway]`: for `metassay watch accept`.

What is accepted is a copy of dvc.lock, beside it: the tables that it names by hash are
in DVC's cache, and in its remote once they are pushed.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from flows.surroundings import exit_code, set_up
from metassay.core import parent_watch
from metassay.core.atomic import remove_leftovers, whole_file
from metassay.core.errors import BadInput
from metassay.core.options import BENCHMARKS

if TYPE_CHECKING:
    from flows.dag import Plan


def main() -> int:
    """Accept; return 0, or 2 with every reason against it, and then nothing is accepted."""
    parser = argparse.ArgumentParser(prog="python -m flows.accept", description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--anyway", action="store_true")
    chosen = parser.parse_args()
    parent_watch.watch()
    set_up(Path.cwd())
    return exit_code(lambda: _accept(Path.cwd(), chosen.names, anyway=chosen.anyway))


def _accept(root: Path, names: list[str], *, anyway: bool) -> None:
    from flows import dag
    from flows.recovery import lock_benchmarks
    from metassay.reporting.shell import SINCE, put_since
    from metassay.tracking.reevaluation.outcome import accepted_file

    with lock_benchmarks(root, names):
        for name in names:  # of a killed process: it would count as part of the report
            remove_leftovers(root / "reports" / name / SINCE)
        problems = list(_problems(root, names, dag.plan(root, names)))
        if problems and not anyway:
            raise BadInput(problems)
        for problem in problems:
            print(f"note: {problem}", file=sys.stderr)
        # what cannot be compared is not accepted
        moves = [_compare(root, name) for name in names]
        for name, line in zip(names, moves, strict=True):
            remove_leftovers(root / accepted_file(name))  # of a killed process
            with whole_file(root / accepted_file(name)) as file:
                file.write((root / BENCHMARKS / name / "dvc.lock").read_bytes())
            put_since(root / "reports" / name, None)
            print(f"{name}: {line}")
    files = " ".join(str(accepted_file(name).with_name("*.lock")) for name in names)
    print(f"commit them: git add {files}")


def _problems(root: Path, names: list[str], plan: "Plan") -> Iterator[str]:
    from flows.reevaluate import answers_of_benchmark

    for name in names:
        if not (root / BENCHMARKS / name / "dvc.lock").is_file():
            raise BadInput(f"{name}: has not been run yet; `metassay run {name}`")
        stale = [
            s.name
            for a, s in plan.stages.items()
            if a in plan.stale and s.benchmark == name
        ]
        if stale:
            more = f" and {len(stale) - 1} more" if len(stale) > 1 else ""
            yield (
                f"{stale[0]}{more}: not up to date; `metassay watch check {name}` first, or accept"
                " what is there with --anyway"
            )
        answers = answers_of_benchmark(root, name, plan)
        n_missing = int(answers[["missing", "failed"]].to_numpy().sum())
        if n_missing:
            yield (
                f"{name}: {n_missing} answers of language models are missing; `metassay watch check"
                f" {name}` asks again, or accept what is there with --anyway"
            )


def _compare(root: Path, name: str) -> str:
    from metassay.core.params import load
    from metassay.tracking.comparison.differences import comparison_options
    from metassay.tracking.reevaluation.outcome import (
        VERDICTS,
        accepted_file,
        compare_accepted,
        short_hash,
    )

    options = comparison_options(load())
    to = short_hash(root / BENCHMARKS / name / "dvc.lock")
    file = root / accepted_file(name)
    if not file.exists():
        # checks that the tables are those of dvc.lock
        compare_accepted(root, name, options, 1)
        return f"accepted {to}; nothing was accepted before"
    before = short_hash(file)
    if before == to:
        return f"{to} is accepted already"
    try:
        _, differences, _, certificates = compare_accepted(root, name, options, 1)
    except BadInput as error:  # the old tables are gone: they can only be replaced
        return f"accepted moves from {before} to {to}; not compared: {'; '.join(error.problems)}"
    assert differences is not None
    verdicts = differences.changes["verdict"]
    counts = ", ".join(
        f"{(verdicts == verdict).sum()} {verdict}" for verdict in VERDICTS
    )
    return (
        f"accepted moves from {before} to {to}: {counts}, of {len(verdicts)} numbers;"
        f" {len(certificates)} certificates differ"
    )


if __name__ == "__main__":
    sys.exit(main())
