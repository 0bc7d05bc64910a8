"""The files of Metassay's own repository that a project gets, the record of them, and upgrades.

A wheel has them in `files/` beside this module; a checkout has them in their own
folders. `.metassay.yaml` records the hashes of what was written.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from metassay import __version__
from metassay.core import strict_yaml
from metassay.core.atomic import whole_file, write_if_changed
from metassay.core.errors import BadInput, raise_problems
from metassay.core.naming import name_problems
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import BESIDE_REPORTS
from metassay.core.stages import DAG, root_dag
from metassay.core.stages import REGISTRY as _REGISTRY
from metassay.project.refresh import refresh

_HERE = Path(__file__).parent
IGNORED = ".gitignore"
WORKFLOW = ".github/workflows/metassay.yml"
LINES = (IGNORED, ".dvcignore", ".dvc/.gitignore")  # their owner's own lines stay
_FOLDERS = {  # only what their readers read, whatever else a checkout has there
    ".dvc/plots": "*.json",
    "prompts": "*.yaml",
    "rubrics": "*.yaml",
    "data/judges": "*.json",
    "data/segmenters": "*.json",
    "data/terms": "clinical*",
}
_PRINTED = """\
# Printed tables that reports compare with

One CSV per table of a paper. A benchmark names them under `published` in its params.yaml.
"""
RECORD = Path(".metassay.yaml")
_HEADER = """\
# Written by `metassay init` and `metassay update`; commit it. What they wrote, by hash:
# a file that is as they wrote it may be replaced by an upgrade, one that you edited
# never is.
"""


def file(name: str) -> bytes:
    """Read one of the repository's files."""
    return (_root() / name).read_bytes()


def files(benchmarks: Iterable[str]) -> dict[str, bytes]:
    """Return what a project with these benchmarks has and `metassay update` may replace, by path.

    versions.yaml and the dvc.yaml of each benchmark are written by every run.
    """
    contents = {"constraints.txt": file("constraints.txt")}
    for folder, pattern in _FOLDERS.items():
        contents |= _read_folder(_root(), folder, pattern)
    contents[DAG] = root_dag().encode("utf-8")  # what we train comes trained
    workflow = (
        (_HERE / "workflow.yml")
        .read_text(encoding="utf-8")
        .replace("VERSION", __version__)
    )
    workflow = workflow.replace("BENCHMARK", " ".join(benchmarks))
    contents[WORKFLOW] = workflow.encode("utf-8")
    contents["reports/published/README.md"] = _PRINTED.encode("utf-8")
    return contents


def is_own_repository(root: Path) -> bool:
    """Whether this is Metassay's own repository rather than a project."""
    return (root / "metassay" / "project").is_dir()


def example_params() -> str:
    """Return the params.yaml of the example's benchmark."""
    return file("benchmarks/sample/params.yaml").decode("utf-8")


def example_files() -> dict[str, bytes]:
    """Return the invented sample, and the example's own metric and judge, by path."""
    return _read_folder(_root(), "data/sample", "*") | _read_folder(
        _HERE, "mylab", "*.py"
    )


def invented_facts() -> dict[str, bytes]:
    """Return the invented texts that `metassay attack` attacks judges with, by path."""
    return _read_folder(_root(), "data/sample_facts", "*")


def registry_entry(dataset: str) -> str:
    """Return the lines of a dataset in our registry, which end with a newline."""
    lines = file(_REGISTRY).decode("utf-8").splitlines(keepends=True)
    start = lines.index(f"  {dataset}:\n")
    inside = takewhile(lambda line: line.startswith("    "), lines[start + 1 :])
    return "".join([lines[start], *inside])


def _root() -> Path:
    in_wheel = _HERE / "files"
    return in_wheel if in_wheel.is_dir() else _HERE.parents[1]


def _read_folder(root: Path, folder: str, pattern: str) -> dict[str, bytes]:
    paths = sorted(path for path in (root / folder).glob(pattern) if path.is_file())
    return {f"{folder}/{path.name}": path.read_bytes() for path in paths}


class Record(NamedTuple):
    """The version that wrote last, and the hash of what it wrote, by path."""

    version: str
    files: Mapping[str, str]


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
    if not isinstance(hashes, dict) or not all(
        isinstance(h, str) for h in hashes.values()
    ):
        raise BadInput(
            f"{RECORD}: is damaged; take it from your last commit (git checkout -- {RECORD}), or"
            " remove it: then every file that differs from ours counts as edited"
        )
    return Record(str(content.get("metassay")), hashes)


def record(hashes: Mapping[str, str]) -> bytes:
    """Return the content of a record's file."""
    # In quotes: one hash in a thousand has only digits and an e, which some read as a
    # number.
    lines = [
        f"  {path}: {json.dumps(digits)}\n" for path, digits in sorted(hashes.items())
    ]
    head = f"{_HEADER}metassay: {json.dumps(__version__)}\nfiles:{'' if lines else ' {}'}\n"
    return (head + "".join(lines)).encode("utf-8")


def upgrade(root: Path) -> list[str]:
    """Bring the project in `root` up to date with this Metassay; return lines on what changed.

    Files are replaced that are as Metassay wrote them. A file that its owner edited
    stays: the new version goes beside it, with `.new` at the end of the name. Data,
    registry and params do not change; a second call changes nothing. Raises BadInput if
    it is no project, is Metassay's own repository, or has invalid params.
    """
    latest = _latest_files(root)
    before = read_record(root)
    recorded = before.files if before else {}
    hashes = {name: digits for name, digits in recorded.items() if name in latest}
    changed: dict[str, str] = {}
    beside, removed = list[str](), list[str]()
    for name, new in latest.items():
        outcome = _replace(root / name, new, hashes.get(name))
        if outcome == "removed":
            removed.append(name)
            continue
        hashes[name] = hash_of(new)
        if outcome == "beside":
            beside.append(name)
        elif outcome:
            changed[name] = outcome
    for name in LINES:
        if n_new := _add_lines(root / name, file(name).decode("utf-8")):
            changed[name] = f"{n_new} lines added"
    refreshed = refresh(root)
    if write_if_changed(root / RECORD, record(hashes).decode("utf-8")):
        changed[str(RECORD)] = "updated"
    lines = [f"{what}: {name}" for name, what in sorted(changed.items())] + refreshed
    lines += [f"kept as you edited it: {n}; the new version is {n}.new" for n in beside]
    lines += [f"not restored, since you removed it: {name}" for name in removed]
    was = f", from {f'Metassay {before.version}' if before else 'before there was a record'}"
    is_same = before is not None and before.version == __version__
    lines.append(f"up to date with Metassay {__version__}{'' if is_same else was}")
    if changed or beside or refreshed:
        lines.append("review with `git diff`, then commit")
    return lines


def _latest_files(root: Path) -> dict[str, bytes]:
    if not (root / PARAMS).is_file():
        raise BadInput(
            f"{PARAMS}: is not here; run this in a project's folder (metassay init)"
        )
    if is_own_repository(root):
        raise BadInput(
            "this is Metassay's own repository, which is up to date with itself"
        )
    names = sorted(
        path.parent.name for path in (root / BENCHMARKS).glob(f"*/{PARAMS.name}")
    )
    raise_problems(
        f"{BENCHMARKS}/{line}" for line in name_problems(names, BESIDE_REPORTS)
    )
    return files(names)


def _replace(path: Path, new: bytes, before: str | None) -> str:
    """Write a new version; return `added`, `updated`, `beside`, `removed` (by its owner) or ""."""
    if not path.exists():
        if before is not None and path.name != DAG:
            return "removed"
        _put(path, new)
        return "added"
    present, latest = hash_of(path.read_bytes()), hash_of(new)
    if present == latest:
        return ""
    if present == before:
        _put(path, new)
        return "updated"
    beside = path.with_name(f"{path.name}.new")
    if before == latest or (beside.exists() and hash_of(beside.read_bytes()) == latest):
        return ""  # edited, and ours has not changed since, or is beside it already
    _put(beside, new)
    return "beside"


def _add_lines(path: Path, ours: str) -> int:
    """Add the lines of ours that a file lacks at its end; return how many these are."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    present = {line.strip() for line in text.splitlines()}
    lines = [
        n
        for n in ours.splitlines()
        if n.strip() not in present and not n.startswith("#")
    ]
    if lines:
        start = text if text.endswith("\n") or not text else text + "\n"
        _put(path, (start + "\n".join(lines) + "\n").encode("utf-8"))
    return len(lines)


def _put(path: Path, content: bytes) -> None:
    with whole_file(path) as out:
        out.write(content)
