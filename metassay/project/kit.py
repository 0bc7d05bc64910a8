"""What a project's folder has of ours: files of Metassay's own repository, none of them twice.

A wheel carries them in `files/` beside this module; in a checkout they are read where they lie.
"""

from collections.abc import Mapping
from pathlib import Path

from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import sort_of
from metassay.core.stages import DAG, dag, root_dag

_HERE = Path(__file__).parent
IGNORED = ".gitignore"
WORKFLOW = ".github/workflows/metassay.yml"
# Lines that a project must have; its owner's own lines stay.
LINES = (IGNORED, ".dvcignore", ".dvc/.gitignore")

EVALUATION = "sample"  # the example
_WHOLE = ("constraints.txt",)
_FOLDERS = ("prompts", "rubrics", "data/judges", "data/segmenters")
_PRINTED = """\
# Printed tables that reports compare with

One CSV per table of a paper. A benchmark names them under `published` in its params.yaml.
"""


def file(name: str) -> bytes:
    """One of the repository's files, as it is there."""
    return (_root() / name).read_bytes()


def files() -> Mapping[str, bytes]:
    """What every project has and `metassay upgrade` may replace, by path."""
    root = _root()
    found = {name: file(name) for name in _WHOLE}
    for folder in _FOLDERS:
        # Not by what a checkout happens to hold beside them: only what their readers read.
        for path in sorted((root / folder).glob("*.yaml" if "/" not in folder else "*.json")):
            found[f"{folder}/{path.name}"] = path.read_bytes()
    found[DAG] = root_dag().encode("utf-8")  # what we train comes trained
    found[WORKFLOW] = (_HERE / "workflow.yml").read_bytes()
    found["reports/published/README.md"] = _PRINTED.encode("utf-8")
    return found


def dag_of(params: object) -> bytes:
    """The dvc.yaml of a folder of benchmarks/, by what its params.yaml holds."""
    return dag(sort_of(params)).encode("utf-8")


def example_params() -> str:
    """The params.yaml of the example's evaluation."""
    return file(f"{BENCHMARKS.name}/{EVALUATION}/{PARAMS.name}").decode("utf-8")


def readme() -> str:
    """What a project's README.md says."""
    return (_HERE / "readme.md").read_text(encoding="utf-8")


def example_data() -> Mapping[str, bytes]:
    """The invented sample, by path."""
    folder = _root() / "data" / "sample"
    return {f"data/sample/{path.name}": path.read_bytes() for path in sorted(folder.iterdir())}


def example_kinds() -> Mapping[str, bytes]:
    """The example's own metric and judge, by path."""
    folder = _HERE / "mylab"
    return {f"mylab/{path.name}": path.read_bytes() for path in sorted(folder.glob("*.py"))}


def _root() -> Path:
    carried = _HERE / "files"
    return carried if carried.is_dir() else _HERE.parents[1]
