"""What a stage may read and write: its entry in dvc.yaml, which DVC watches."""

import shlex
from collections.abc import Iterator, Mapping
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
    Stage,
    Stages,
    dag_problem,
    entry,
    figures,
    fill_template,
    stages_of,
)
from metassay.datasets.registry import is_closed, load_registry


@dataclass(frozen=True)
class Entry:
    """A stage, or an instance of it: its name in dvc.yaml, its params file, and what DVC watches.

    `params`: keys (`judges.lexical`) by file. `deps` and `outs`: paths as DVC names
    them. `closed`: whether its outputs are for their owner only. `stages`: all of its
    dvc.yaml. `project`: for permissions only, such as a dataset's class, the cap on
    costs or how many answers may be missing: read each time, these change no number, so
    dvc.yaml does not declare them.
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
    root = [FETCH, *TRAINING, *(_figures(first) if module == "figures" else ())]
    file, stages, values = Path(DAG), Stages(), dict[str, Any]()
    if module in [stage.module for stage in root]:
        values = {
            FETCH.each: [name for name, dataset in registry.items() if dataset.files]
        }
    elif folder := params.every.get(first):
        file, stages, values = (
            BENCHMARKS / first / DAG,
            stages_of(folder),
            folder.model_dump(by_alias=True),
        )
    words = ["python", "-m", f"stages.{module}", *arguments]
    for stage in (stage for stage in stages or root if stage.module == module):
        for name, block in _instances(stage, stages, values):
            if shlex.split(block["cmd"]) == words:
                if problem := dag_problem(
                    str(file), strict_yaml.load(file), (stage,), stages
                ):
                    raise BadInput(problem)
                params_file = file.with_name(PARAMS.name).as_posix()
                return Entry(
                    name,
                    params_file,
                    *_watched(block),
                    is_closed(first, registry),
                    stages,
                    params,
                )
    raise BadInput(
        f"no dvc.yaml has the command {shlex.join(words)!r}; name a benchmark, and what its"
        " params.yaml lists"
    )


def _figures(paper: str) -> Iterator[Stage]:
    """Yield the stage of a paper, whose dependencies are in dvc.yaml."""
    root: Any = strict_yaml.load(Path(DAG))
    block = root["stages"].get(f"figures_{paper}")
    if block:
        yield figures(paper, block["deps"])


def _instances(
    stage: Stage, stages: Stages, values: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    words = {key: value for key, value in values.items() if isinstance(value, str)}
    template = entry(stage, stages)
    if not stage.each:
        yield stage.name, fill_template(template, words)
        return
    names = values[stage.each]
    for name in names:
        more = {"element": name, "value": names[name] if stage.over_mapping else ""}
        yield f"{stage.name}@{name}", fill_template(template, words | more)


def _watched(
    block: Mapping[str, Any],
) -> tuple[frozenset[str], frozenset[str], dict[str, tuple[str, ...]]]:
    outs = [*block["outs"], *block.get("metrics", [])]
    params = {
        str(PARAMS): tuple(key for key in block["params"] if isinstance(key, str))
    }
    for by_file in (item for item in block["params"] if isinstance(item, dict)):
        params |= {file: tuple(keys) for file, keys in by_file.items()}
    return (
        frozenset(block.get("deps", [])),
        frozenset(out if isinstance(out, str) else next(iter(out)) for out in outs),
        {file: keys for file, keys in params.items() if keys},
    )
