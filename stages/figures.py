"""figures: tables of benchmarks -> reports/figures/<paper>/: ours beside what was printed."""

import logging
from pathlib import Path

from metassay.core.errors import BadInput
from metassay.paper_figures import inputs as files
from metassay.paper_figures.draw import Inputs, draw_paper
from metassay.paper_figures.papers import PAPERS
from metassay.versions.code_yaml import module_version
from stages.doorway import StageIO, program

_log = logging.getLogger("metassay.figures")  # which the doorway prints as notes


@program
def main(io: StageIO) -> None:
    paper = io.benchmark
    if paper not in PAPERS:
        raise BadInput(f"{paper!r}: no paper has this name; choose from {', '.join(PAPERS)}")
    inputs = Inputs(
        lambda benchmark, table: io.path(files.table_path(benchmark, table)),
        lambda file: io.path(f"{files.PUBLISHED}/{file}"),
    )
    out = io.path(f"{files.FIGURES}/{paper}")
    version = module_version(Path(), files.DRAWS)
    outcome = draw_paper(PAPERS[paper], inputs, out, store=files.STORE, version=version)
    for line in files.summary(outcome):
        _log.warning(line)
    if outcome.damaged:  # incomplete: dvc.lock must not record it
        raise BadInput(files.damage_lines(outcome.damaged))
