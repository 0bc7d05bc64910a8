"""figures: tables of benchmarks -> reports/figures/<paper>/: its figures and tables, ours beside
those that were printed."""

import logging
from pathlib import Path

from metassay.core.errors import BadInput
from metassay.paper_figures.draw import Inputs, draw_paper
from metassay.paper_figures.inputs import (
    DRAWS,
    FIGURES,
    PUBLISHED,
    STORE,
    damage_lines,
    summary,
    table_path,
)
from metassay.paper_figures.papers import PAPERS
from metassay.versions.code_yaml import of_module
from stages.doorway import StageIO, program

_log = logging.getLogger("metassay.figures")  # the doorway says what is logged, as a note


@program
def main(io: StageIO) -> None:
    paper = io.benchmark
    if paper not in PAPERS:
        raise BadInput(f"{paper!r}: no paper has this name; choose from {', '.join(PAPERS)}")
    inputs = Inputs(
        lambda benchmark, table: io.path(table_path(benchmark, table)),
        lambda file: io.path(f"{PUBLISHED}/{file}"),
    )
    out = io.path(f"{FIGURES}/{paper}")
    version = of_module(Path(), DRAWS)
    outcome = draw_paper(PAPERS[paper], inputs, out, store=STORE, version=version)
    for line in summary(outcome):
        _log.warning(line)
    if outcome.damaged:  # not whole: dvc.lock is not to say that it is
        raise BadInput(damage_lines(outcome.damaged))
