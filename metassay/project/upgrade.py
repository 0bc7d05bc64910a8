"""A project brought up to date with the Metassay that is installed; its settings stay.

What an upgrade wrote it may replace. What its owner edited it never touches: the new version is
written beside it, under the same name with `.new` at the end. No data, registry or params are
changed.
"""

from collections.abc import Mapping
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
from metassay.project.make import filled
from metassay.versions.code_yaml import FILE as CODE
from metassay.versions.code_yaml import refresh

_BESIDE = ".new"


@dataclass
class Changes:
    """What an upgrade did, by path: one word each of `changed`; what stayed as its owner has it."""

    changed: dict[str, str] = field(default_factory=dict)
    beside: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.changed or self.beside)


def upgrade(root: Path) -> Changes:
    """Bring the project in `root` up to date; a second time there is nothing to do.

    Raises BadInput if it is no project, is Metassay's own repository, or its params are not sound.
    """
    if not (root / PARAMS).is_file():
        raise BadInput(f"{PARAMS}: is not here; run this in a project's folder (metassay init)")
    if kit.is_own_repository(root):
        raise BadInput("this is Metassay's own repository, which is up to date with itself")
    before = kit.read_record(root)
    known = before.files if before else {}
    done, hashes = Changes(), dict[str, str]()
    for name, new in _wanted(root).items():
        _replace(root, name, new, known, done)
        if name not in done.removed:
            hashes[name] = kit.hash_of(new)
    for name in kit.LINES:
        # Lines that a file must have, at its end; those that are there stay in their order.
        path = root / name
        there = path.read_text(encoding="utf-8") if path.exists() else ""
        held = {line.strip() for line in there.splitlines()}
        lines = kit.file(name).decode("utf-8").splitlines()
        lacking = [line for line in lines if line.strip() not in held and not line.startswith("#")]
        if lacking:
            start = there if there.endswith("\n") or not there else there + "\n"
            _put(path, (start + "\n".join(lacking) + "\n").encode("utf-8"))
            done.changed[name] = f"{len(lacking)} lines added"
    load(root)
    content = kit.record({**known, **hashes})
    if not (root / kit.RECORD).exists() or (root / kit.RECORD).read_bytes() != content:
        _put(root / kit.RECORD, content)
        done.changed[str(kit.RECORD)] = "updated"
    if refresh(root):
        done.changed[CODE] = "updated"
    return done


def _names(root: Path) -> list[str]:
    """The folders of benchmarks/; BadInput, before anything is written, for what is no name."""
    names = sorted(one.parent.name for one in (root / BENCHMARKS).glob(f"*/{PARAMS.name}"))
    raise_problems(f"{BENCHMARKS}/{line}" for line in name_problems(names, BESIDE_REPORTS))
    return names


def _wanted(root: Path) -> dict[str, bytes]:
    """What an upgrade may replace, by path: also the dvc.yaml of each folder of benchmarks/."""
    wanted = dict(kit.files())
    names = _names(root)
    for name in names:
        params = strict_yaml.load(root / BENCHMARKS / name / PARAMS.name)
        wanted[f"{BENCHMARKS.name}/{name}/{DAG}"] = kit.dag_of(params)
    wanted[kit.WORKFLOW] = filled(wanted[kit.WORKFLOW].decode("utf-8"), " ".join(names))
    return wanted


def _replace(root: Path, name: str, new: bytes, known: Mapping[str, str], done: Changes) -> None:
    path, told = root / name, known.get(name)
    if not path.exists():
        if told is not None and not name.endswith(DAG):
            done.removed.append(name)  # its owner doesn't want it
            return
        _put(path, new)
        done.changed[name] = "added"
        return
    held, wanted = kit.hash_of(path.read_bytes()), kit.hash_of(new)
    if held == wanted:
        return
    if held == told:
        _put(path, new)
        done.changed[name] = "updated"
        return
    beside = path.with_name(path.name + _BESIDE)
    if told == wanted or (beside.exists() and kit.hash_of(beside.read_bytes()) == wanted):
        return  # edited, and ours is as it was then, or lies there already
    _put(beside, new)
    done.beside.append(name)


def _put(path: Path, content: bytes) -> None:
    with whole_file(path) as file:
        file.write(content)


def version_line(before: str | None) -> str:
    """Which version the project is at, and which it was at where that is another."""
    if before == __version__:
        return f"up to date with Metassay {__version__}"
    was = f"Metassay {before}" if before else "before there was a record"
    return f"up to date with Metassay {__version__}, from {was}"
