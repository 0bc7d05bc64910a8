"""The command `figures`: draws what can be drawn, and says what cannot and why."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from metassay.cli.project import checked
from metassay.cli.running import run_flows
from metassay.code_version import FILE, of_module, refresh
from metassay.errors import BadInput
from metassay.options import BENCHMARKS, PARAMS
from metassay.paper_figures.draw import draw_paper
from metassay.paper_figures.inputs import (
    DRAWS,
    FIGURES,
    STORE,
    inputs_in,
    lacking,
    remedy,
    said,
)
from metassay.paper_figures.made import needed
from metassay.paper_figures.names import FORMATS
from metassay.paper_figures.papers import PAPERS

DONE, NOTHING, LACKING = 0, 1, 3


def figures(chosen: argparse.Namespace) -> int:
    """Bring the figures of papers up to date; the exit code."""
    checked([])
    if refresh(Path()):
        print(f"{FILE} is written again, since code is another; commit it", file=sys.stderr)
    papers = list(dict.fromkeys(chosen.paper or PAPERS))
    _of_this_project(papers)
    missing = {paper: lacking(PAPERS[paper], inputs_in(Path())) for paper in papers}
    fed = {paper: sum(not record.open for record in PAPERS[paper]) for paper in papers}
    whole = [p for p in papers if fed[p] and not missing[p] and not chosen.format]
    if whole:
        code = run_flows([*whole, "--figures", "--no-prefect"], dict(os.environ))
        if code:
            return code
    drawn = set(whole)
    for paper in papers:
        if paper not in whole and fed[paper] > len(missing[paper]):
            _draw_here(paper, chosen.format or FORMATS)
            drawn.add(paper)
    there = {paper: _there(paper) if paper in drawn else set() for paper in papers}
    for paper in papers:
        _tell(paper, fed[paper], missing[paper], there[paper])
    if all(len(there[paper]) == fed[paper] for paper in papers):
        return DONE
    return LACKING if any(there.values()) else NOTHING


def _of_this_project(papers: Sequence[str]) -> None:
    """Raise BadInput where no benchmark of this project feeds any of these papers."""
    records = [record for paper in papers for record in PAPERS[paper]]
    feeding = sorted({benchmark for record in records for benchmark, _ in needed(record)})
    if feeding and not any((BENCHMARKS / one / PARAMS.name).is_file() for one in feeding):
        raise BadInput(
            f"{', '.join(papers)}: drawn from {', '.join(feeding)}, of which {BENCHMARKS}/ has"
            " none: run this in a copy of Metassay's own repository, which has these benchmarks"
        )


def _draw_here(paper: str, formats: Sequence[str]) -> None:
    """Without DVC, which runs a stage only where all is there that it reads."""
    outcome = draw_paper(
        PAPERS[paper],
        inputs_in(Path()),
        Path(FIGURES, paper),
        store=STORE,
        version=of_module(Path(), DRAWS),
        formats=formats,
    )
    for line in said(outcome):
        print(f"{paper}: {line}", file=sys.stderr)


def _there(paper: str) -> set[str]:
    """The names of the records that have a file."""
    return {file.stem for file in Path(FIGURES, paper).iterdir()}


def _tell(paper: str, n_fed: int, missing: dict[str, list[str]], there: set[str]) -> None:
    place = f"{FIGURES}/{paper}/" if there else "nothing drawn"
    n_open = len(PAPERS[paper]) - n_fed
    print(f"{paper}: {place}; {len(there):,} of {n_fed:,} drawn, {n_open:,} open")
    by_remedy: dict[str, list[str]] = {}
    for name, benchmarks in missing.items():
        by_remedy.setdefault(remedy(benchmarks), []).append(name)
    for what, names in by_remedy.items():
        print(f"  not drawn, for tables are not there: {', '.join(names)}; {what}")
    fed = [record.name for record in PAPERS[paper] if not record.open]
    empty = [name for name in fed if name not in there and name not in missing]
    if empty:
        print(f"  not drawn, for their tables have none of their numbers: {', '.join(empty)}")
