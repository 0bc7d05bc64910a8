"""Bring a project up to date with the installed Metassay.

An upgrade replaces files as it wrote them. A file that its owner edited stays: the new version goes
beside it, with `.new` at the end of the name. Data, registry and params do not change.
"""

from dataclasses import dataclass, field
from pathlib import Path

from metassay import __version__
from metassay.core import strict_yaml
from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput, raise_problems
from metassay.core.naming import name_problems
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import BESIDE_REPORTS, load
from metassay.core.stages import DAG
from metassay.project import kit
from metassay.project.make import fill_workflow
from metassay.versions.code_yaml import FILE as CODE
from metassay.versions.code_yaml import refresh

_BESIDE = ".new"


@dataclass
class Changes:
    """The paths that an upgrade changed, with a word on each, and those that it left alone."""

    changed: dict[str, str] = field(default_factory=dict)
    beside: list[str] = field(default_factory=list)  # edited: the new version is beside them
    removed: list[str] = field(default_factory=list)  # by their owner

    def __bool__(self) -> bool:
        return bool(self.changed or self.beside)


def upgrade(root: Path) -> Changes:
    """Bring the project in `root` up to date; a second call changes nothing.

    Raises BadInput if it is no project, is Metassay's own repository, or has invalid params.
    """
    if not (root / PARAMS).is_file():
        raise BadInput(f"{PARAMS}: is not here; run this in a project's folder (metassay init)")
    if kit.is_own_repository(root):
        raise BadInput("this is Metassay's own repository, which is up to date with itself")
    before = kit.read_record(root)
    recorded = dict(before.files) if before else {}
    changes, hashes = Changes(), dict[str, str]()
    for name, new in _latest_files(root).items():
        _replace(root, name, new, recorded, changes)
        if name not in changes.removed:
            hashes[name] = kit.hash_of(new)
    for name in kit.LINES:
        # Lines that a file must have go to its end; its own stay in their order.
        path = root / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        present = {line.strip() for line in text.splitlines()}
        lines = kit.file(name).decode("utf-8").splitlines()
        new_lines = [n for n in lines if n.strip() not in present and not n.startswith("#")]
        if new_lines:
            start = text if text.endswith("\n") or not text else text + "\n"
            _put(path, (start + "\n".join(new_lines) + "\n").encode("utf-8"))
            changes.changed[name] = f"{len(new_lines)} lines added"
    load(root)
    content = kit.record({**recorded, **hashes})
    if not (root / kit.RECORD).exists() or (root / kit.RECORD).read_bytes() != content:
        _put(root / kit.RECORD, content)
        changes.changed[str(kit.RECORD)] = "updated"
    if refresh(root):
        changes.changed[CODE] = "updated"
    return changes


def _latest_files(root: Path) -> dict[str, bytes]:
    """Return the files that an upgrade may replace, by path, in their latest version.

    Raises BadInput, before anything is written, if a folder of benchmarks/ has an invalid name.
    """
    names = sorted(path.parent.name for path in (root / BENCHMARKS).glob(f"*/{PARAMS.name}"))
    raise_problems(f"{BENCHMARKS}/{line}" for line in name_problems(names, BESIDE_REPORTS))
    files = kit.files()
    for name in names:
        params = strict_yaml.load(root / BENCHMARKS / name / PARAMS.name)
        files[f"{BENCHMARKS.name}/{name}/{DAG}"] = kit.dag_of(params)
    files[kit.WORKFLOW] = fill_workflow(files[kit.WORKFLOW].decode("utf-8"), " ".join(names))
    return files


def _replace(root: Path, name: str, new: bytes, recorded: dict[str, str], changes: Changes) -> None:
    path, before = root / name, recorded.get(name)
    if not path.exists():
        if before is not None and not name.endswith(DAG):
            changes.removed.append(name)  # its owner doesn't want it
            return
        _put(path, new)
        changes.changed[name] = "added"
        return
    present, latest = kit.hash_of(path.read_bytes()), kit.hash_of(new)
    if present == latest:
        return
    if present == before:
        _put(path, new)
        changes.changed[name] = "updated"
        return
    beside = path.with_name(path.name + _BESIDE)
    if before == latest or (beside.exists() and kit.hash_of(beside.read_bytes()) == latest):
        return  # edited, and ours has not changed since, or is beside it already
    _put(beside, new)
    changes.beside.append(name)


def _put(path: Path, content: bytes) -> None:
    with whole_file(path) as file:
        file.write(content)


def version_line(before: str | None) -> str:
    """Say which version the project has, and which it had if that was another."""
    if before == __version__:
        return f"up to date with Metassay {__version__}"
    was = f"Metassay {before}" if before else "before there was a record"
    return f"up to date with Metassay {__version__}, from {was}"
