"""The files of Metassay's own repository that a project gets, and the record of them.

A wheel has them in `files/` beside this module; a checkout has them in their own folders.
`.metassay.yaml` records the hashes of what was written.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from metassay import __version__
from metassay.core import strict_yaml
from metassay.core.errors import BadInput
from metassay.core.params import folder_type, load
from metassay.core.stages import DAG, TRAINING, dag, figures, root_dag

_HERE = Path(__file__).parent
IGNORED = ".gitignore"
WORKFLOW = ".github/workflows/metassay.yml"
LINES = (IGNORED, ".dvcignore", ".dvc/.gitignore")  # their owner's own lines stay
_FOLDERS = {  # only what their readers read, whatever else a checkout has there
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
    """Read one of the repository's files."""
    return (_root() / name).read_bytes()


def files() -> dict[str, bytes]:
    """Return what every project has and `metassay update` may replace, by path."""
    contents = {"constraints.txt": file("constraints.txt")}
    for folder, pattern in _FOLDERS.items():
        contents |= _read_folder(_root(), folder, pattern)
    contents[DAG] = root_dag().encode("utf-8")  # what we train comes trained
    contents[WORKFLOW] = (_HERE / "workflow.yml").read_bytes()
    contents["reports/published/README.md"] = _PRINTED.encode("utf-8")
    return contents


def dag_of(params: object) -> bytes:
    """Return the dvc.yaml of a folder of benchmarks/ with this content of params.yaml."""
    return dag(folder_type(params)).encode("utf-8")


def is_own_repository(root: Path) -> bool:
    """Whether this is Metassay's own repository rather than a project."""
    return (root / "metassay" / "project").is_dir()


def own_dags(root: Path) -> dict[str, str]:
    """Return every dvc.yaml of Metassay's own repository, by path."""
    from metassay.paper_figures.draw import paths
    from metassay.paper_figures.papers import PAPERS

    inputs = {paper: paths(records) for paper, records in PAPERS.items()}
    stages = [figures(paper, files) for paper, files in inputs.items() if files]
    folders = load(root).every.values()
    dags = {f"benchmarks/{folder.name}/{DAG}": dag(type(folder)) for folder in folders}
    return {DAG: root_dag([*TRAINING, *stages]), **dags}


def example_params() -> str:
    """Return the params.yaml of the example's benchmark."""
    return file("benchmarks/sample/params.yaml").decode("utf-8")


def readme() -> str:
    """Return the template of a project's README.md."""
    return (_HERE / "readme.md").read_text(encoding="utf-8")


def example_files() -> dict[str, bytes]:
    """Return the invented sample, and the example's own metric and judge, by path."""
    return _read_folder(_root(), "data/sample", "*") | _read_folder(_HERE, "mylab", "*.py")


def _root() -> Path:
    in_wheel = _HERE / "files"
    return in_wheel if in_wheel.is_dir() else _HERE.parents[1]


def _read_folder(root: Path, folder: str, pattern: str) -> dict[str, bytes]:
    paths = sorted(path for path in (root / folder).glob(pattern) if path.is_file())
    return {f"{folder}/{path.name}": path.read_bytes() for path in paths}


@dataclass(frozen=True)
class Record:
    """The version that wrote last, and the hash of what it wrote, by path."""

    version: str = __version__
    files: Mapping[str, str] = field(default_factory=dict)


def hash_of(content: bytes) -> str:
    """Return 16 digits of the SHA-256; CRLF counts as LF, since git writes CRLF on Windows."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()[:16]


def read_record(root: Path) -> Record | None:
    """Read the record of a project; None if there is none. Raises BadInput if it is damaged."""
    path = root / RECORD
    if not path.exists():
        return None
    content: Any = strict_yaml.load(path)
    hashes = content.get("files") if isinstance(content, dict) else None
    if not isinstance(hashes, dict) or not all(isinstance(h, str) for h in hashes.values()):
        raise BadInput(
            f"{RECORD}: is damaged; take it from your last commit (git checkout -- {RECORD}), or"
            " remove it: then every file that differs from ours counts as edited"
        )
    return Record(str(content.get("metassay")), hashes)


def record(hashes: Mapping[str, str]) -> bytes:
    """Return the content of a record's file."""
    # In quotes: one hash in a thousand has only digits and an e, which some read as a number.
    lines = [f"  {path}: {json.dumps(digits)}\n" for path, digits in sorted(hashes.items())]
    head = f"{_HEADER}metassay: {json.dumps(__version__)}\nfiles:{'' if lines else ' {}'}\n"
    return (head + "".join(lines)).encode("utf-8")
