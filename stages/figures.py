"""figures: tables of benchmarks -> reports/figures/<paper>/: ours beside what was printed."""

import logging
from pathlib import Path

from metassay.core.errors import BadInput
from metassay.core.stages import FIGURES_VERSION
from metassay.paper_figures import draw
from metassay.paper_figures.index import find_records
from stages.doorway import StageIO, program

_log = logging.getLogger("metassay.figures")  # which the doorway prints as notes


@program
def main(io: StageIO) -> None:
    paper = io.benchmark
    papers = find_records(Path())
    if paper not in papers:
        raise BadInput(
            f"{paper!r}: no paper has this name; choose from {', '.join(papers)}"
        )
    inputs = draw.Inputs(
        lambda benchmark, table: io.path(draw.table_path(benchmark, table)),
        lambda file: io.path(f"{draw.PUBLISHED}/{file}"),
    )
    out = io.path(f"{draw.FIGURES}/{paper}")
    outcome = draw.draw_paper(
        papers[paper], inputs, out, store=draw.STORE, version=str(FIGURES_VERSION)
    )
    for line in draw.summary(outcome):
        _log.warning(line)
    if outcome.damaged:  # incomplete: dvc.lock must not record it
        raise BadInput(draw.damage_lines(outcome.damaged))
