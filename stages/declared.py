"""What a stage may read and write: its entry in dvc.yaml, which DVC watches."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metassay.core import strict_yaml
from metassay.core.errors import BadInput
from metassay.core.naming import name_problem
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import Params, load
from metassay.core.stages import (
    DAG,
    FETCH,
    TRAINING,
    Stages,
    differing_stages,
    instances,
    stages_of,
    watched_params,
)
from metassay.datasets.registry import is_closed, load_registry


@dataclass(frozen=True)
class Entry:
    """A stage, or an instance of it: its name in dvc.yaml, its params file, and what DVC watches.

    `params`: keys (`judges.lexical`) by file. `deps` and `outs`: paths as DVC names
    them. `closed`: whether its outputs are for their owner only. `stages`: all of its
    dvc.yaml. `project`: for permissions, such as a dataset's class, the cap on costs or
    how many answers may be missing: read each time, these change no number, so dvc.yaml
    does not declare them. And for the settings of language models: versions.yaml has
    those that an answer depends on.
    """

    name: str
    params_file: str
    deps: frozenset[str]
    outs: frozenset[str]
    params: Mapping[str, tuple[str, ...]]
    closed: bool = False
    stages: Stages = ()
    project: Params | None = None


def find_entry(module: str, arguments: list[str]) -> Entry:
    """Return the entry whose command is `python -m stages.<module> <arguments>`.

    The first argument is the benchmark, except for stages of the root's dvc.yaml.
    Raises BadInput if the params files are not valid, an argument can be no file name,
    no stage has that command, or the stage's block in dvc.yaml is not as generated.
    """
    params, registry = load(), load_registry()
    problems = [(word, name_problem(word)) for word in arguments]
    if any(problem for _, problem in problems):
        raise BadInput(
            [f"{word!r}: {problem}" for word, problem in problems if problem]
        )
    first = "".join(arguments[:1])
    of_root = [FETCH, *TRAINING]
    if module in [stage.module for stage in of_root]:
        folder = None
        file = Path(DAG)
        values = {
            FETCH.each: [name for name, dataset in registry.items() if dataset.files]
        }
    else:
        folder = params.every.get(first)
        file = BENCHMARKS / first / DAG
        values = folder.model_dump(by_alias=True) if folder else {}
    stages = stages_of(folder) if folder else tuple(of_root)
    words = ["python", "-m", f"stages.{module}", *arguments]
    for stage in (stage for stage in stages if stage.module == module):
        for name, block in instances(stage, folder, values):
            if shlex.split(block["cmd"]) != words:
                continue
            if differing_stages(strict_yaml.load(file), [stage], folder):
                raise BadInput(
                    f"{file} > stages > {stage.name}: is not what this version of Metassay runs;"
                    " bring it up to date (`metassay update`)"
                )
            return Entry(
                name=name,
                params_file=file.with_name(PARAMS.name).as_posix(),
                deps=frozenset(block.get("deps", ())),
                outs=frozenset(map(_path, (*block["outs"], *block.get("metrics", ())))),
                params=watched_params(block),
                closed=is_closed(first, registry),
                stages=stages if folder else (),
                project=params,
            )
    raise BadInput(
        f"no dvc.yaml has the command {shlex.join(words)!r}; name a benchmark, and what its"
        " params.yaml lists"
    )


def _path(out: str | Mapping[str, Any]) -> str:
    """Return the path of an output, which may have flags."""
    return out if isinstance(out, str) else next(iter(out))
