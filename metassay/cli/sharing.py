"""The command `push`: tables to a DVC remote, as far as their texts may go there."""

import argparse
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from metassay.cli.project import checked
from metassay.code_version import DATASETS, used_blocks
from metassay.datasets.labels import label_problems
from metassay.datasets.registry import Dataset, load_registry
from metassay.errors import BadInput
from metassay.kinds import choose
from metassay.llm.egress import PUBLIC
from metassay.needs import all_datasets
from metassay.options import PARAMS
from metassay.params import Folder, Params
from metassay.validation import KINDS


def push(chosen: argparse.Namespace) -> int:
    """Push the named benchmarks, or say of all of them why not."""
    names = list(dict.fromkeys(chosen.names))
    params, registry = checked(names), load_registry()
    problems = [one for name in names for one in _problems(name, chosen.to, params, registry)]
    if problems:
        raise BadInput(problems)
    command = [sys.executable, "-m", "flows.push", chosen.to, *names]
    return subprocess.run(command, check=False).returncode


def datasets_in(folder: Folder, params: Params) -> list[str]:
    """The datasets whose texts the tables of a benchmark may hold: its own, and whose examples and
    claims its systems, judges and the like are shown, which the answers' prompts repeat."""
    used = used_blocks([folder])
    kinds = [
        choose(index, getattr(params, block)[name], where=f"{PARAMS} > {block} > {name}")
        for block, index in KINDS.items()
        for name in used[block]
    ]
    return sorted({*used[DATASETS], *all_datasets(kinds)})


def _problems(
    name: str, remote: str, params: Params, registry: dict[str, Dataset]
) -> Iterable[str]:
    folder = params.every[name]
    datasets = datasets_in(folder, params)
    allowed = {PUBLIC, *params.remotes.get(remote, [])}
    for dataset in datasets:
        access = registry[dataset].access
        if access not in allowed:
            yield (
                f"{name}: its tables hold text of dataset {dataset!r}, which is {access}: they do"
                f" not go to DVC's remote {remote!r}. If they may, add {access!r} to {PARAMS} >"
                f" remotes > {remote}"
            )
    yield from label_problems(registry, datasets, [(folder.dataset, Path(folder.raw))])
