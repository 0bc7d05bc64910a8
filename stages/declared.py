"""What one stage instance may read and write: what dvc.yaml declares of it, which DVC watches."""

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
    filled,
    stages_of,
)
from metassay.datasets.registry import is_closed, load_registry


@dataclass(frozen=True)
class Declared:
    """One instance: its name in dvc.yaml, its benchmark's params file, and what DVC watches.

    `params` has the keys (`judges.lexical`) by file; `deps` and `outs` are paths as DVC names them;
    `closed`: what it makes is its owner's alone. `stages` are all of its dvc.yaml. `project` is for
    what is asked about permissions: the class of a dataset, what all may cost and how much may be
    missing are asked each time and change no number, so dvc.yaml does not declare them.
    """

    name: str
    own: str
    deps: frozenset[str]
    outs: frozenset[str]
    params: Mapping[str, tuple[str, ...]]
    closed: bool = False
    stages: Stages = ()
    project: Params | None = None


def declared(module: str, arguments: list[str]) -> Declared:
    """The instance whose command is `python -m stages.<module> <arguments>`.

    The first argument is the benchmark, but for stages of the root's dvc.yaml. Raises BadInput if
    the params files are not sound, if an argument can't be a name, which becomes a file's, if no
    stage has that command, and if dvc.yaml says something else of the stage.
    """
    params, registry = load(), load_registry()
    problems = [(word, name_problem(word)) for word in arguments]
    if any(problem for _, problem in problems):
        raise BadInput([f"{word!r}: {problem}" for word, problem in problems if problem])
    first = "".join(arguments[:1])
    root = [FETCH, *TRAINING, *(_figures(first) if module == "figures" else ())]
    file, stages, values = Path(DAG), Stages(), dict[str, Any]()
    if module in [stage.module for stage in root]:
        values = {FETCH.each: [name for name, dataset in registry.items() if dataset.files]}
    elif folder := params.every.get(first):
        file, stages, values = (
            BENCHMARKS / first / DAG,
            stages_of(folder),
            folder.model_dump(by_alias=True),
        )
    words = ["python", "-m", f"stages.{module}", *arguments]
    for stage in (one for one in stages or root if one.module == module):
        for name, found in _instances(stage, stages, values):
            if shlex.split(found["cmd"]) == words:
                if problem := dag_problem(str(file), strict_yaml.load(file), (stage,), stages):
                    raise BadInput(problem)
                own = file.with_name(PARAMS.name).as_posix()
                alone = is_closed(first, registry)
                return Declared(name, own, *_watched(found), alone, stages, params)
    raise BadInput(
        f"no dvc.yaml has the command {shlex.join(words)!r}; name a benchmark, and what its"
        " params.yaml lists"
    )


def _figures(paper: str) -> Iterator[Stage]:
    """The stage of a paper, which depends on what its dvc.yaml says."""
    whole: Any = strict_yaml.load(Path(DAG))
    found = whole["stages"].get(f"figures_{paper}")
    if found:
        yield figures(paper, found["deps"])


def _instances(
    stage: Stage, stages: Stages, values: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    known = {key: value for key, value in values.items() if isinstance(value, str)}
    template = entry(stage, stages)
    if not stage.each:
        yield stage.name, filled(template, known)
        return
    listed = values[stage.each]
    for name in listed:
        more = {"element": name, "value": listed[name] if stage.over_mapping else ""}
        yield f"{stage.name}@{name}", filled(template, known | more)


def _watched(
    found: Mapping[str, Any],
) -> tuple[frozenset[str], frozenset[str], dict[str, tuple[str, ...]]]:
    """Dependencies, outputs, and keys of params by file."""
    outs = [*found["outs"], *found.get("metrics", [])]
    keys = {str(PARAMS): tuple(key for key in found["params"] if isinstance(key, str))}
    for by_file in (one for one in found["params"] if isinstance(one, dict)):
        keys |= {file: tuple(of) for file, of in by_file.items()}
    return (
        frozenset(found.get("deps", [])),
        frozenset(out if isinstance(out, str) else next(iter(out)) for out in outs),
        {file: of for file, of in keys.items() if of},
    )
