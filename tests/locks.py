"""Whether the committed locks are of this code: what is stale, and what changed without a version.

    python -m tests.locks [NAME ...]

Lists, by folder of benchmarks/, the stages whose settings or versions its dvc.lock does
not have.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from dvc.utils.serialize import load_yaml  # type: ignore[import-untyped]

from metassay.core.params import Folder, load
from metassay.core.stages import (
    FETCH,
    REGISTRY,
    TRAINING,
    instances,
    stages_of,
    watched_params,
)
from metassay.core.versions import FILE, STAGES
from tests.conftest import ROOT

Entry = Mapping[str, Any]  # of a stage in a dvc.lock
ABSENT = object()
SAME_VERSION = "writes something else under the same version"
# Stages of the root without an entry in its lock: their dataset is on its server alone,
# and whoever fetches it first records what came.
UNFETCHED = {"fetch@simsum"}
ROOT_DAG = "the root"  # its dvc.yaml, which fetches and trains for all benchmarks


def read_lock(root: Path, name: str) -> Mapping[str, Entry]:
    """The stages of a benchmark's dvc.lock, or of the root's; none if it was never run."""
    file = root / "benchmarks" / name / "dvc.lock" if name else root / "dvc.lock"
    if not file.exists():
        return {}
    stages: Mapping[str, Entry] = load_yaml(file)["stages"]
    return stages


def stale_stages(root: Path, folder: Folder | None) -> list[str]:
    """The stages that a lock lacks, or has with other settings or versions.

    `folder` is one of benchmarks/; None: the root's dvc.yaml, without what was never fetched.
    """
    lock = read_lock(root, folder.name if folder else "")
    unfetched = UNFETCHED - lock.keys()
    return [
        stage
        for stage, settings in settings_of(root, folder).items()
        if stage not in unfetched
        and (stage not in lock or lock[stage].get("params") != settings)
    ]


def settings_of(root: Path, folder: Folder | None) -> dict[str, dict[str, Any]]:
    """The settings and versions that each stage depends on, as a lock has them."""
    read = cache(lambda file: load_yaml(root / file))
    return {
        stage: {
            file: {key: value_at(read(file), key) for key in of_file}
            for file, of_file in keys.items()
        }
        for stage, keys in watched(root, folder).items()
    }


def watched(root: Path, folder: Folder | None) -> dict[str, dict[str, tuple[str, ...]]]:
    """The keys that each stage watches, by file."""
    if folder is None:
        registry = load_yaml(root / REGISTRY)
        stages = (FETCH, *TRAINING)
        values = {FETCH.each: registry[FETCH.each]}
    else:
        stages = stages_of(folder)
        values = folder.model_dump(by_alias=True)
    return {
        name: watched_params(block)
        for stage in stages
        for name, block in instances(stage, folder, values)
    }


def value_at(content: Any, key: str) -> Any:
    """The value of a key such as `judges.lexical`."""
    for step in key.split("."):
        content = content.get(step, ABSENT) if isinstance(content, Mapping) else ABSENT
    return content


def unversioned_changes(
    name: str,
    before: Mapping[str, Entry],
    after: Mapping[str, Entry],
    remedy: str = "",
) -> Iterator[str]:
    """Say which stages write something else, although nothing that went in has changed.

    `before` is the committed lock of the benchmark `name`, `after` that of a run of all
    its stages. What differs because an earlier stage wrote something else is not named.
    `remedy`: what records the new outputs.
    """
    remedy = (
        remedy or f"`metassay run --no-prefect {name}` and commit benchmarks/{name}"
    )
    for stage, entry in after.items():
        if stage not in before:
            yield f"{name}: {stage} is not in its lock; {remedy}"
            continue
        changed = sorted(
            hashes(entry, "outs").items() - hashes(before[stage], "outs").items()
        )
        if not changed or hashes(entry, "deps") != hashes(before[stage], "deps"):
            continue
        if entry.get("params") != before[stage].get("params"):
            yield f"{name}: {stage} was run with other settings or versions; {remedy}"
            continue
        files = ", ".join(path for path, _ in changed)
        places = ", or ".join(declared_at(entry["params"].get(FILE, {})))
        yield (
            f"{name}: {stage} {SAME_VERSION}: {files}. If results"
            f" are meant to change, raise {places}; say so in CHANGELOG; and {remedy}. Else"
            " undo what changed them"
        )


def hashes(entry: Entry, key: str) -> dict[str, str]:
    """The MD5 of each output or dependency of a stage, by path."""
    return {file["path"]: file["md5"] for file in entry.get(key) or ()}


def declared_at(versions: Iterable[str]) -> Iterator[str]:
    """Where the versions are declared that a stage watches."""
    for key in sorted(versions, key=lambda key: not key.startswith(STAGES)):
        block, _, name = key.partition(".")
        if block == STAGES:
            yield f"`version` of {name} in metassay/core/stage_table.py"
        else:
            yield f"VERSION of the kind of {block} > {name}"


def stale_by_folder(names: Iterable[str] = ()) -> dict[str, str]:
    """What is stale in each folder, in words; the root's dvc.yaml is called ROOT."""
    folders: dict[str, Folder | None] = {**load(ROOT).every, ROOT_DAG: None}
    stale = {name: stale_stages(ROOT, folders[name]) for name in names or folders}
    return {
        name: f"{len(stages)} of {len(watched(ROOT, folders[name]))} stages are stale:"
        f" {', '.join(stages)}"
        for name, stages in stale.items()
        if stages
    }


def main(names: list[str]) -> int:
    """Print what is stale; 1 if anything is."""
    stale = stale_by_folder(names)
    for name, words in stale.items():
        print(f"{name}: {words}")
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
