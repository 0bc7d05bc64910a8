"""The command `figures`: draws what can be drawn, and says what cannot and why."""

import argparse
import fcntl
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from metassay.cli.project import checked
from metassay.cli.running import refreshed, run_flows
from metassay.core.errors import BadInput
from metassay.core.exit_codes import DONE, FAILED, INCOMPLETE
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.paper_figures import FORMATS
from metassay.paper_figures.derived_tables import needed_tables
from metassay.paper_figures.draw import Outcome, draw_paper
from metassay.paper_figures.inputs import (
    DRAWS,
    FIGURES,
    LOCK,
    STORE,
    damage_lines,
    inputs_in,
    missing_benchmarks,
    remedy,
    summary,
)
from metassay.paper_figures.papers import PAPERS
from metassay.versions.code_yaml import of_module


def figures(chosen: argparse.Namespace) -> int:
    """Bring the figures of papers up to date; the exit code."""
    checked([])
    refreshed()
    papers = list(dict.fromkeys(chosen.paper or PAPERS))
    _of_this_project(papers)
    missing = {paper: missing_benchmarks(PAPERS[paper], inputs_in(Path())) for paper in papers}
    fed = {paper: sum(not record.open for record in PAPERS[paper]) for paper in papers}
    whole = [p for p in papers if fed[p] and not missing[p] and not chosen.format]
    code = run_flows([*whole, "--figures", "--no-prefect"], dict(os.environ)) if whole else DONE
    if code not in (DONE, FAILED):
        return code
    drawn = [] if code else whole  # a stage that failed left nothing, or no word on what it left
    here = {
        paper: _draw_here(paper, chosen.format or FORMATS)
        for paper in papers
        if paper not in drawn and fed[paper] > len(missing[paper])
    }
    there = {paper: {*one.drawn, *one.unchanged} for paper, one in here.items()}
    there |= {paper: _files(paper) for paper in drawn}
    for paper in papers:
        _tell(paper, missing[paper], there.setdefault(paper, set()), here.get(paper))
    if all(len(there[paper]) == fed[paper] for paper in papers):
        return code
    return INCOMPLETE if any(there.values()) else FAILED


def _of_this_project(papers: Sequence[str]) -> None:
    records = [record for paper in papers for record in PAPERS[paper]]
    feeding = sorted({benchmark for record in records for benchmark, _ in needed_tables(record)})
    if feeding and not any((BENCHMARKS / one / PARAMS.name).is_file() for one in feeding):
        raise BadInput(
            f"{', '.join(papers)}: drawn from {', '.join(feeding)}, of which {BENCHMARKS}/ has"
            " none: run this in a copy of Metassay's own repository, which has these benchmarks"
        )


def _draw_here(paper: str, formats: Sequence[str]) -> Outcome:
    """Without DVC, which runs a stage only where all is there that it reads, and in order."""
    lock = Path(LOCK.format(paper))
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as locked:
        # Others may draw this paper: its stage holds the same lock.
        fcntl.flock(locked, fcntl.LOCK_EX)
        outcome = draw_paper(
            PAPERS[paper],
            inputs_in(Path()),
            Path(FIGURES, paper),
            store=STORE,
            version=of_module(Path(), DRAWS),
            formats=formats,
        )
    for line in summary(outcome):
        print(f"{paper}: {line}", file=sys.stderr)
    return outcome


def _files(paper: str) -> set[str]:
    return {file.stem for file in Path(FIGURES, paper).iterdir()}


def _tell(paper: str, missing: dict[str, list[str]], there: set[str], here: Outcome | None) -> None:
    fed = [record.name for record in PAPERS[paper] if not record.open]
    place = f"{FIGURES}/{paper}/" if there else "nothing drawn"
    n_open = len(PAPERS[paper]) - len(fed)
    print(f"{paper}: {place}; {len(there):,} of {len(fed):,} drawn, {n_open:,} open")
    by_remedy: dict[str, list[str]] = {}
    for name, benchmarks in missing.items():
        by_remedy.setdefault(remedy(benchmarks), []).append(name)
    for what, names in by_remedy.items():
        print(f"  not drawn, because tables are missing: {', '.join(names)}; {what}")
    stopped = here.damaged if here else {}
    for line in damage_lines(stopped):
        print(f"  {line}")
    empty = [name for name in fed if name not in {*there, *missing, *stopped}]
    if empty:
        print(f"  not drawn, because their tables lack the numbers: {', '.join(empty)}")
    fileless = [name for name in fed if name in there - _files(paper)] if there else []
    if fileless:
        print(f"  no file in these formats: {', '.join(fileless)}")
