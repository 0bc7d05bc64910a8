"""What a project's folder has of ours: files of Metassay's own repository, none of them twice.

A wheel carries them in `files/` beside this module; in a checkout they are read where they lie.
`.metassay.yaml` is the record of what was written, by hash.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from metassay import __version__
from metassay.core import strict_yaml
from metassay.core.errors import BadInput
from metassay.core.params import folder_type, load
from metassay.core.stages import DAG, TRAINING, dag, figures, root_dag

_HERE = Path(__file__).parent
IGNORED = ".gitignore"
WORKFLOW = ".github/workflows/metassay.yml"
LINES = (IGNORED, ".dvcignore", ".dvc/.gitignore")  # their owner's own lines stay
_FOLDERS = {  # only what their readers read, whatever a checkout holds beside it
    **{"prompts": "*.yaml", "rubrics": "*.yaml"},
    **{"data/judges": "*.json", "data/segmenters": "*.json", "data/terms": "clinical*"},
}
_PRINTED = """\
# Printed tables that reports compare with

One CSV per table of a paper. A benchmark names them under `published` in its params.yaml.
"""
RECORD = Path(".metassay.yaml")
_HEADER = """\
# Written by `metassay init` and `metassay update`; commit it. What they wrote, by hash: a file
# that is as they wrote it may be replaced by an upgrade, one that you edited never is.
"""


def file(name: str) -> bytes:
    """One of the repository's files, as it is there."""
    return (_root() / name).read_bytes()


def files() -> dict[str, bytes]:
    """What every project has and `metassay update` may replace, by path."""
    found = {"constraints.txt": file("constraints.txt")}
    for folder, pattern in _FOLDERS.items():
        found |= _in_folder(_root(), folder, pattern)
    found[DAG] = root_dag().encode("utf-8")  # what we train comes trained
    found[WORKFLOW] = (_HERE / "workflow.yml").read_bytes()
    found["reports/published/README.md"] = _PRINTED.encode("utf-8")
    return found


def dag_of(params: object) -> bytes:
    """The dvc.yaml of a folder of benchmarks/, by what its params.yaml holds."""
    return dag(folder_type(params)).encode("utf-8")


def is_own_repository(root: Path) -> bool:
    """Whether this is Metassay's own repository, and no project."""
    return (root / "metassay" / "project").is_dir()


def own_dags(root: Path) -> dict[str, str]:
    """Every dvc.yaml of Metassay's own repository, by path."""
    from metassay.paper_figures.inputs import paths
    from metassay.paper_figures.papers import PAPERS

    read = {paper: paths(records) for paper, records in PAPERS.items()}
    drawn = [figures(paper, files) for paper, files in read.items() if files]
    every = {f"benchmarks/{one.name}/{DAG}": dag(type(one)) for one in load(root).every.values()}
    return {DAG: root_dag([*TRAINING, *drawn]), **every}


def example_params() -> str:
    """The params.yaml of the example's evaluation."""
    return file("benchmarks/sample/params.yaml").decode("utf-8")


def readme() -> str:
    """What a project's README.md says."""
    return (_HERE / "readme.md").read_text(encoding="utf-8")


def example_files() -> dict[str, bytes]:
    """The invented sample, and the example's own metric and judge, by path."""
    return _in_folder(_root(), "data/sample", "*") | _in_folder(_HERE, "mylab", "*.py")


def _root() -> Path:
    carried = _HERE / "files"
    return carried if carried.is_dir() else _HERE.parents[1]


def _in_folder(root: Path, folder: str, pattern: str) -> dict[str, bytes]:
    found = sorted(path for path in (root / folder).glob(pattern) if path.is_file())
    return {f"{folder}/{path.name}": path.read_bytes() for path in found}


@dataclass(frozen=True)
class Record:
    """The version that wrote last, and by path the hash of what it wrote."""

    version: str = __version__
    files: Mapping[str, str] = field(default_factory=dict)


def hash_of(content: bytes) -> str:
    """The first 16 digits of the SHA-256; lines may end in CRLF, as git writes them on Windows."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()[:16]


def read_record(root: Path) -> Record | None:
    """The record of a project; None where there is none. Raises BadInput if it is damaged."""
    path = root / RECORD
    if not path.exists():
        return None
    found = strict_yaml.load(path)
    whole = found if isinstance(found, dict) else {}
    held = whole.get("files")
    if not isinstance(held, dict) or not all(isinstance(one, str) for one in held.values()):
        raise BadInput(
            f"{RECORD}: is damaged; take it from your last commit (git checkout -- {RECORD}), or"
            " remove it: then every file that differs from ours counts as edited"
        )
    return Record(str(whole.get("metassay")), held)


def record(hashes: Mapping[str, str]) -> bytes:
    """The record's bytes."""
    # In quotes: one hash in a thousand has but digits and an e, which some read as a number.
    lines = [f"  {path}: {json.dumps(one)}\n" for path, one in sorted(hashes.items())]
    head = f"{_HEADER}metassay: {json.dumps(__version__)}\nfiles:{'' if lines else ' {}'}\n"
    return (head + "".join(lines)).encode("utf-8")
