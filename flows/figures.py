"""Paper figures and tables again, nothing else: the stages of papers, and what they stand on.

No table is made anew for a figure, since that may take hours or money. So a figure shows the tables
that are there, and whose tables are not up to date is said.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

from flows import dag
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.paper_figures.derived_tables import needed
from metassay.paper_figures.draw import absent
from metassay.paper_figures.inputs import inputs_in
from metassay.paper_figures.papers import PAPERS

STAGE = "figures_{}"  # of the root's dvc.yaml


def plan(root: Path, papers: Iterable[str]) -> dag.Plan:
    """The stages of these papers, all of whose tables are there, and which of them are stale."""
    tell_behind(root, papers)
    return dag.plan(root, [], more=[STAGE.format(paper) for paper in papers])


def tell_behind(root: Path, papers: Iterable[str]) -> None:
    """Say which benchmarks have tables that these papers show and that are not up to date."""
    inputs = inputs_in(root)
    read = {
        benchmark
        for paper in papers
        for record in PAPERS[paper]
        for benchmark, _ in needed(record)
        if not absent(record, inputs)
    }
    there = sorted(one for one in read if (root / BENCHMARKS / one / PARAMS.name).exists())
    found = dag.plan(root, there, ask=False) if there else None
    stale = sorted({found.stages[one].benchmark for one in found.stale} - {""}) if found else []
    if stale:
        print(
            f"drawn from tables that are not up to date: {', '.join(stale)};"
            f" `metassay run {' '.join(stale)}` brings them up to date",
            file=sys.stderr,
        )
