"""A benchmark's dvc.lock: what it names, and whether it is of the settings that stand beside it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, TypeAdapter

from metassay.core import strict_yaml
from metassay.core.errors import BadInput
from metassay.core.options import BENCHMARKS
from metassay.core.params import Benchmark
from metassay.core.stages import SORTS

Lock = Mapping[str, Any]

_ABSENT = object()


class _File(BaseModel):
    path: str


class _Stage(BaseModel):
    """The form of what DVC writes of a stage."""

    deps: list[_File] | None = None
    outs: list[_File] | None = None
    params: dict[str, dict[str, Any]] | None = None


_STAGES = TypeAdapter(dict[str, _Stage])

# The list of a benchmark's params.yaml that names the instances of a stage.
_LISTS: Mapping[str, str] = {stage.name: stage.each for stage in SORTS[Benchmark][0] if stage.each}


def lock_text(file: Path) -> str:
    """The text of a lock for `parse_lock`, which refuses one that is not UTF-8; BadInput if there
    is no file."""
    if not file.is_file():
        raise BadInput(f"{file}: {_no_lock('')}")
    return file.read_text(encoding="utf-8", errors="replace")


def parse_lock(text: str, where: str) -> Lock:
    """What a dvc.lock says of the stages that there are; BadInput if it is none.

    Entries of instances that were struck off, which DVC keeps, are left out.
    """
    try:
        sound = "\ufffd" not in text and not strict_yaml.is_deep(text)
        found: Any = yaml.load(text, Loader=strict_yaml.LOADER) if sound else None
        stages = found["stages"]
        _STAGES.validate_python(stages, strict=True)
    except (yaml.YAMLError, ValueError, LookupError, TypeError, RecursionError):
        raise BadInput(f"{where}: {_no_lock(text)}") from None
    several = {name.partition("@")[0] for name in stages if "@" in name}
    stages = {name: stage for name, stage in stages.items() if name not in several}
    named: dict[str, Any] = {}
    for name, stage in stages.items():
        if "@" not in name:
            for file, keys in (stage.get("params") or {}).items():
                named |= keys if file.startswith(f"{BENCHMARKS.as_posix()}/") else {}
    there = {name: stage for name, stage in stages.items() if _is_named(name, named)}
    return {**found, "stages": there}


def _no_lock(text: str) -> str:
    line = strict_yaml.merge_line(text)
    if line:
        return (
            f"has the marks of a merge in line {line}; take one side whole: `git checkout"
            " --ours` (or --theirs) and its name"
        )
    return (
        "is not a dvc.lock with stages; restore an earlier one with git, or make it again:"
        " `metassay run` writes dvc.lock, `metassay watch accept` accepted.lock"
    )


def _is_named(stage: str, named: Mapping[str, Any]) -> bool:
    """Whether an instance such as `judge@lexical` is in the list that later stages read."""
    own, _, item = stage.partition("@")
    names = named.get(_LISTS.get(own, ""))
    return not item or not isinstance(names, list | dict) or item in names


def outs_of(lock: Lock) -> dict[str, str]:
    """The MD5 of everything that the lock's stages made, by path."""
    outs = [out for stage in lock["stages"].values() for out in stage.get("outs") or ()]
    return {str(out["path"]): str(out.get("md5", "")) for out in outs}


def inputs_of(lock: Lock) -> dict[str, str]:
    """The MD5 of the files and folders that the lock's stages read and none of them made."""
    made = outs_of(lock)
    deps = [dep for stage in lock["stages"].values() for dep in stage.get("deps") or ()]
    read = {str(dep["path"]): str(dep["md5"]) for dep in deps if dep.get("md5")}
    return {
        path: md5
        for path, md5 in read.items()
        if not any(one == path or one.startswith(f"{path}/") for one in made)
    }


def out_of_date(lock: Lock, read: Callable[[str], str | None]) -> list[str]:
    """What differs from what the stages read, each once: `code.yaml > judges.mini`.

    `read` gives the text of a file of the project at that state; None if there is none.
    """
    there: dict[str, Any] = {}
    found: dict[str, None] = {}
    for stage in lock["stages"].values():
        for file, keys in (stage.get("params") or {}).items():
            if file not in there:
                there[file] = _content(read(file))
            differ = (key for key, value in keys.items() if _at(there[file], key) != value)
            found |= dict.fromkeys(f"{file} > {key}" for key in differ)
    return list(found)


def _content(text: str | None) -> Any:
    try:
        return yaml.load(text or "", Loader=strict_yaml.LOADER)
    except yaml.YAMLError:
        return None  # after a merge, perhaps: everything in it differs


def _at(content: Any, key: str) -> Any:
    """The value at `judges.mini`; no name has a dot in it."""
    for name in key.split("."):
        if not isinstance(content, Mapping) or name not in content:
            return _ABSENT
        content = content[name]
    return content
