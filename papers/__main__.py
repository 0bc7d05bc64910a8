"""`python -m papers`, which is `metassay figures`: draw papers, and say what cannot be drawn."""

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from metassay.cli.main import end_in_order
from metassay.cli.parsing import Parser
from metassay.cli.project import check_project
from metassay.cli.running import run_flows
from metassay.core import parent_watch
from metassay.core.exit_codes import DONE, FAILED, INCOMPLETE
from papers import FORMATS, NAMES
from papers.dag import DAG, write_dag
from papers.draw import (
    FIGURES,
    Outcome,
    damage_lines,
    draw_here,
    inputs_in,
    missing_benchmarks,
    remedy,
    summary,
)
from papers.index import find_records
from papers.record import Record


def main(arguments: Sequence[str]) -> int:
    """Bring the figures of papers up to date; return the exit code."""
    args = _parse(arguments)
    check_project([])
    if write_dag(Path()):
        print(f"{DAG} was updated; commit it", file=sys.stderr)
    every = find_records(Path())
    records = {paper: every[paper] for paper in dict.fromkeys(args.paper or every)}
    inputs = inputs_in(Path())
    missing = {
        paper: missing_benchmarks(of_paper, inputs)
        for paper, of_paper in records.items()
    }
    drawable = {
        paper: sum(not record.open for record in of_paper)
        for paper, of_paper in records.items()
    }
    # DVC runs a stage only if all that it reads is there, and draws all formats.
    whole = [p for p in records if drawable[p] and not missing[p] and not args.format]
    code = _run_stages(whole)
    if code not in (DONE, FAILED):
        return code
    by_stage = [] if code else whole  # what a failed stage left is unknown
    outcomes = {
        paper: _draw(paper, records[paper], args.format or FORMATS)
        for paper in records
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
    if all(len(drawn[paper]) == drawable[paper] for paper in records):
        return code
    return INCOMPLETE if any(drawn.values()) else FAILED


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="metassay figures")
    parser.add_argument("--paper", choices=NAMES, action="append")
    parser.add_argument("--format", type=_formats)
    return parser.parse_args(list(arguments))


def _formats(text: str) -> tuple[str, ...]:
    formats = tuple(dict.fromkeys(text.split(",")))
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{', '.join(map(repr, unknown))}: choose from {', '.join(FORMATS)}"
        )
    return formats


def _run_stages(papers: Sequence[str]) -> int:
    if not papers:
        return DONE
    words = [*papers, "--dag", str(DAG), "--no-prefect"]
    return run_flows(words, dict(os.environ))


def _draw(paper: str, records: Sequence[Record], formats: Sequence[str]) -> Outcome:
    outcome = draw_here(paper, records, formats)
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


if __name__ == "__main__":
    parent_watch.watch(lambda: os.kill(os.getpid(), signal.SIGTERM))
    sys.exit(end_in_order(partial(main, sys.argv[1:])))
