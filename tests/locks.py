"""Whether the committed locks are of this code: what is stale, and what changed without a version.

    python -m tests.locks [NAME ...]

Lists, by benchmark, the stages that the settings and versions in its dvc.lock are not
of.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from dvc.utils.serialize import load_yaml  # type: ignore[import-untyped]

from metassay.core.params import Folder, load
from metassay.core.stages import instances, stages_of, watched_params
from metassay.core.versions import FILE, KINDS, STAGES, index_of
from tests.conftest import ROOT

Entry = Mapping[str, Any]  # of a stage in a dvc.lock
ABSENT = object()


def read_lock(root: Path, name: str) -> Mapping[str, Entry]:
    """The stages of a benchmark's dvc.lock; none if it was never run."""
    file = root / "benchmarks" / name / "dvc.lock"
    if not file.exists():
        return {}
    stages: Mapping[str, Entry] = load_yaml(file)["stages"]
    return stages


def stale_stages(root: Path, folder: Folder) -> list[str]:
    """The stages of a folder that its lock lacks, or has with other settings or versions."""
    lock = read_lock(root, folder.name)
    read = cache(lambda file: load_yaml(root / file))
    stale = []
    for name, keys in watched(folder).items():
        params = {
            file: {key: value_at(read(file), key) for key in of_file}
            for file, of_file in keys.items()
        }
        if name not in lock or lock[name].get("params") != params:
            stale.append(name)
    return stale


def watched(folder: Folder) -> dict[str, dict[str, tuple[str, ...]]]:
    """The keys that each stage of a folder watches, by file."""
    values = folder.model_dump(by_alias=True)
    return {
        name: watched_params(block)
        for stage in stages_of(folder)
        for name, block in instances(stage, folder, values)
    }


def value_at(content: Any, key: str) -> Any:
    """The value of a key such as `judges.lexical`."""
    for step in key.split("."):
        content = content.get(step, ABSENT) if isinstance(content, Mapping) else ABSENT
    return content


def unversioned_changes(
    name: str, before: Mapping[str, Entry], after: Mapping[str, Entry]
) -> Iterator[str]:
    """Say which stages write something else, although nothing that went in has changed.

    `before` is the committed lock of the benchmark `name`, `after` that of a run of all
    its stages. What differs because an earlier stage wrote something else is not named.
    """
    for stage, entry in after.items():
        if stage not in before:
            yield f"{name}: {stage} is not in its dvc.lock; {remedy(name)}"
            continue
        changed = sorted(
            hashes(entry, "outs").items() - hashes(before[stage], "outs").items()
        )
        if not changed or hashes(entry, "deps") != hashes(before[stage], "deps"):
            continue
        if entry.get("params") != before[stage].get("params"):
            yield f"{name}: {stage} was run with other settings or versions; {remedy(name)}"
            continue
        files = ", ".join(path for path, _ in changed)
        places = ", or ".join(declared_at(entry["params"].get(FILE, {})))
        yield (
            f"{name}: {stage} writes something else under the same version: {files}. If results"
            f" are meant to change, raise {places}; say so in CHANGELOG; and {remedy(name)}. Else"
            " undo what changed them"
        )


def remedy(name: str) -> str:
    """What brings a lock up to date."""
    return f"`metassay run --no-prefect {name}` and commit benchmarks/{name}"


def hashes(entry: Entry, key: str) -> dict[str, str]:
    """The MD5 of each output or dependency of a stage, by path."""
    return {file["path"]: file["md5"] for file in entry.get(key) or ()}


def declared_at(versions: Iterable[str]) -> Iterator[str]:
    """Where the versions are declared that a stage watches."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    registry = yaml.safe_load((ROOT / "data/registry.yaml").read_text(encoding="utf-8"))
    for key in sorted(versions, key=lambda key: not key.startswith(STAGES)):
        block, _, name = key.partition(".")
        if block == STAGES:
            yield f"`version` of {name} in metassay/core/stages.yaml"
        elif block in KINDS:
            named = registry[block] if block == "datasets" else params[block]
            kind = named[name].get("kind") or named[name].get("reader")
            module = index_of(block)[kind].partition(":")[0]
            yield f"VERSION in {module.replace('.', '/')}.py"


def main(names: list[str]) -> int:
    """Print what is stale; 1 if anything is."""
    folders = load(ROOT).every
    n_stale = 0
    for name in names or folders:
        stale = stale_stages(ROOT, folders[name])
        n_stale += bool(stale)
        if stale:
            print(
                f"{name}: {len(stale)} of {len(watched(folders[name]))} stages: {', '.join(stale)}"
            )
    return int(n_stale > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
