"""Keep the results of a project whose code was hashed: its locks get declared versions instead.

Before versions were declared, code.yaml had hashes of the code, and every dvc.lock
names those that its results were made with. Where these are of a state in `CHANGED`, the
results are those of version 1, but for what that state says.
"""

import copy
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from metassay.core import strict_yaml
from metassay.core.atomic import whole_file
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import Folder, Params
from metassay.core.stages import FETCH, TRAINING, instances, stages_of, watched_params
from metassay.core.versions import (
    DIGITS,
    FILE,
    STAGES,
    Version,
    Versions,
    answering,
)

OLD = "code.yaml"
LOCK = "dvc.lock"
FIRST = 1  # the version that a stage or a kind had when versions were first declared
ASKING = "models"  # stands for all kinds that ask a language model
# By the hash of the stages in a project's code.yaml: stages and kinds whose results were
# changed after that and before versions were declared. A project with another hash is of
# another Metassay.
CHANGED: Mapping[str, frozenset[str]] = {
    "6727e91812ae9b5a": frozenset(),  # of 28 November, the last with hashes
    "668184cea05075d4": frozenset(  # of 27 November
        {
            "meta_evaluate",
            "certify",
            "examine",
            "ingest_study",
            "report",
            "bleu",
            ASKING,
        }
    ),
}

Hashes = Mapping[
    str, Mapping[str, str]
]  # block -> name -> CODE, CODE+PROMPTS, CODE+PROMPTS+LEARNT
Keys = Mapping[str, tuple[str, ...]]  # file -> keys that a stage watches


def migrate_locks(root: Path, params: Params, declared: Versions) -> list[str]:
    """Rewrite the locks of a project; return a line for each on what it keeps.

    `declared` are the versions of now. A stage keeps its results if code.yaml has the
    hashes that its lock names, its prompts and learnt files are as they were then, and
    `CHANGED` does not name it.
    Results of kinds of the user's own stay, too: whether their code was edited since,
    nobody can tell.
    """
    # DVC's own reader and writer: others take words such as `no` for something else.
    from dvc.utils.serialize import dumps_yaml, load_yaml  # type: ignore[import-untyped]

    old: Any = strict_yaml.load(root / OLD)
    changed = CHANGED.get(_hash(json.dumps(old.get(STAGES))))
    lines = []
    for folder in (None, *params.every.values()):
        file = BENCHMARKS / folder.name / LOCK if folder else Path(LOCK)
        if not (root / file).is_file():
            continue
        lock: Any = load_yaml(root / file)
        n_kept = 0
        n_raised = 0
        for name, keys in _watched(root, folder):
            entry = lock["stages"].get(name)
            # of another Metassay, not run yet, or changed since
            if changed is None or entry is None or name.partition("@")[0] in changed:
                continue
            before = entry.get("params") or {}
            migrated = _migrate(before, keys, root, old, declared, changed)
            if migrated:
                entry["params"] = migrated
                n_kept += 1
                n_raised += not _is_of_now(migrated.get(FILE, {}), declared)
        if n_kept:
            with whole_file(root / file) as out:
                out.write(dumps_yaml(lock).encode("utf-8"))
        lines.append(
            f"{file}: {n_kept} of {len(lock['stages'])} stages keep their results"
        )
        if n_raised:
            lines.append(
                f"{file}: {n_raised} of these run again, as their version was raised since"
            )
    return lines


def _watched(root: Path, folder: Folder | None) -> Iterator[tuple[str, Keys]]:
    """Yield the name of every stage of a dvc.yaml, and what it watches now."""
    if folder is None:
        registry: Any = strict_yaml.load(root / "data/registry.yaml")
        stages, values = (FETCH, *TRAINING), {FETCH.each: registry[FETCH.each]}
    else:
        stages, values = stages_of(folder), folder.model_dump(by_alias=True)
    for stage in stages:
        for name, block in instances(stage, folder, values):
            yield name, watched_params(block)


def _migrate(
    before: Mapping[str, Mapping[str, Any]],
    keys: Keys,
    root: Path,
    old: Hashes,
    declared: Versions,
    changed: Collection[str],
) -> dict[str, dict[str, Any]] | None:
    """Return what a stage watches now, with its values then; None if its results are others'."""
    for key, value in before.get(OLD, {}).items():
        if _value(old, key) != value:
            return None
    after: dict[str, dict[str, Any]] = {}
    for file in sorted(keys, key=lambda file: (file != str(PARAMS), file)):
        values: dict[str, Any] = {}
        for key in sorted(keys[file]):
            if file == FILE and _is_changed(key, before, declared, changed):
                return None
            if file == FILE:
                values[key] = _first_version(key, before, root, old, declared)
            else:
                values[key] = _value(before.get(file, {}), key)
            if values[key] is None:
                return None
        after[file] = copy.deepcopy(values)  # YAML would write what is shared only once
    return after


def _is_of_now(versions: Mapping[str, Any], declared: Versions) -> bool:
    return all(_value(declared, key) == value for key, value in versions.items())


def _value(values: Mapping[str, Any], key: str) -> Any:
    """Return the value of a key such as `metrics.rouge`, also where all `metrics` were watched."""
    if key in values:
        return values[key]
    block, _, name = key.rpartition(".")
    above = _value(values, block) if block else None
    return above.get(name) if isinstance(above, Mapping) else None


def _is_changed(
    key: str,
    before: Mapping[str, Mapping[str, Any]],
    declared: Versions,
    changed: Collection[str],
) -> bool:
    """Return whether a named block is of a kind that was changed, or asks a model."""
    block, _, name = key.partition(".")
    if block == STAGES:
        return False
    if ASKING in changed and _asks(declared[block][name]):
        return True
    settings = _value(before.get(str(PARAMS), {}), key)
    return isinstance(settings, Mapping) and settings.get("kind") in changed


def _asks(version: Version) -> bool:
    """Return whether a kind, or one inside it, asks a language model."""
    if not isinstance(version, dict):
        return False
    members = version.get("members", {}).values()
    return ASKING in version or any(_asks(member) for member in members)


def _first_version(
    key: str,
    before: Mapping[str, Mapping[str, Any]],
    root: Path,
    old: Hashes,
    declared: Versions,
) -> Version | None:
    """Return the version that the results have; None if prompts or learnt files are others."""
    block, _, name = key.partition(".")
    if block == STAGES:
        return FIRST
    version = _first(declared[block][name], before.get(str(PARAMS), {}))
    _, prompts, learnt = [*str(_value(old, key)).split("+"), "", ""][:3]
    for kind, then in (("prompts", prompts), ("learnt", learnt)):
        if _hash_of_files(root, _files(version, kind)) != then:
            return None
    return version


def _first(version: Version, shared: Mapping[str, Any]) -> Version:
    """Return the first version of ours; a user's own has a hash. Models are as they were then."""
    if isinstance(version, int):
        return FIRST
    if isinstance(version, str):
        return version
    entry = {**version, "version": _first(version["version"], shared)}
    if "members" in entry:
        entry["members"] = {
            name: _first(v, shared) for name, v in entry["members"].items()
        }
    if "models" in entry:
        models, endpoints = shared.get("models", {}), shared.get("endpoints", {})
        entry["models"] = {
            name: answering(models, endpoints, name) for name in entry["models"]
        }
    return entry


def _files(version: Version, kind: str) -> list[str]:
    """Return the prompts or the learnt files of a kind and of those inside it."""
    if not isinstance(version, dict):
        return []
    inside = (_files(member, kind) for member in version.get("members", {}).values())
    return sorted(
        {*version.get(kind, {}), *(file for files in inside for file in files)}
    )


def _hash_of_files(root: Path, files: list[str]) -> str:
    """Return the hash that code.yaml had of files; empty without any."""
    lines = [f"{file} {_hash_bytes((root / file).read_bytes())}" for file in files]
    return _hash("\0".join(lines)) if lines else ""


def _hash(text: str) -> str:
    return _hash_bytes(text.encode())


def _hash_bytes(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGITS]
