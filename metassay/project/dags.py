"""Every dvc.yaml of Metassay's own repository; other projects have theirs of `metassay upgrade`."""

from collections.abc import Iterator
from pathlib import Path

from metassay.core.options import BENCHMARKS
from metassay.core.params import load
from metassay.core.stages import DAG, TRAINING, Stage, dag, figures, root_dag
from metassay.paper_figures.inputs import paths
from metassay.paper_figures.papers import PAPERS


def texts(root: Path) -> dict[Path, str]:
    """What each dvc.yaml is to say, from the root."""
    found = {
        BENCHMARKS / name / DAG: dag(type(folder)) for name, folder in load(root).every.items()
    }
    return {Path(DAG): root_dag([*TRAINING, *_figures()]), **found}


def _figures() -> Iterator[Stage]:
    """A stage per paper of which there is something to draw."""
    for paper, records in PAPERS.items():
        if read := paths(records):
            yield figures(paper, read)
