"""What dvc.yaml declares of one stage instance: the tables and params that it may read and write.

A doorway is handed this and nothing else, so what it reads is what DVC watches.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metassay.core import strict_yaml
from metassay.core.errors import BadInput
from metassay.core.naming import name_problem
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import load
from metassay.datasets.registry import closed, load_registry

_OUTS = ("outs", "metrics")
_HOLE = re.compile(r"\$\{([^}]+)\}")


@dataclass(frozen=True)
class Declared:
    """One instance: its name in dvc.yaml, its benchmark's params file, and what DVC watches.

    `params` has the keys (`judges.lexical`) by file; `deps` and `outs` are paths as DVC names them;
    `closed`: what it makes is its owner's alone.
    """

    name: str
    own: str
    deps: frozenset[str]
    outs: frozenset[str]
    params: Mapping[str, tuple[str, ...]]
    closed: bool = False


def declared(stage: str, arguments: list[str]) -> Declared:
    """The instance whose command is `python -m stages.<stage> <arguments>`.

    The first argument is the benchmark, but for stages of the root's dvc.yaml. Raises BadInput if
    the params files are not sound, if an argument can't be a name, which becomes a file's, and if
    no dvc.yaml has that command.
    """
    load()
    problems = [(word, name_problem(word)) for word in arguments]
    if any(problem for _, problem in problems):
        raise BadInput([f"{word!r}: {problem}" for word, problem in problems if problem])
    command = ["python", "-m", f"stages.{stage}", *arguments]
    for file in (BENCHMARKS.joinpath(*arguments[:1], "dvc.yaml"), Path("dvc.yaml")):
        for name, found in _instances(file) if file.exists() else ():
            if _words(found["cmd"]) == command:
                return Declared(
                    name,
                    file.with_name(PARAMS.name).as_posix(),
                    frozenset(found.get("deps", [])),
                    frozenset(_path(out) for kind in _OUTS for out in found.get(kind, [])),
                    {key: tuple(keys) for key, keys in _by_file(found.get("params", []))},
                    closed(arguments[0], load_registry()),
                )
    raise BadInput(
        f"no dvc.yaml has the command {shlex.join(command)!r}; name a benchmark, and what its"
        " params.yaml lists"
    )


def _path(out: str | dict[str, Any]) -> str:
    """An out's path, also of one with flags, such as a file that git keeps (`cache: false`)."""
    return out if isinstance(out, str) else next(iter(out))


def _words(command: str) -> list[str]:
    """The words of a command as a shell takes them; none of one that no shell would run."""
    try:
        return shlex.split(command)
    except ValueError:  # a quotation mark too many
        return []


def value_at(block: object, key: str) -> Any:
    """The value of a dotted key such as `judges.lexical`; KeyError if it is not there."""
    for step in key.split("."):
        if not isinstance(block, Mapping):
            raise KeyError(key)
        block = block[step]
    return block


def _instances(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    context = _mapping(file.with_name(PARAMS.name)) | _variables(file)
    for name, entry in _mapping(file)["stages"].items():
        listed = _HOLE.fullmatch(entry["foreach"]) if "foreach" in entry else None
        if listed is None:
            yield name, _filled(entry, context)
            continue
        items = value_at(context, listed[1])
        pairs = items.items() if isinstance(items, Mapping) else [(item, item) for item in items]
        for key, item in pairs:
            yield f"{name}@{key}", _filled(entry["do"], {**context, "key": key, "item": item})


def _filled(template: Any, context: Mapping[str, Any]) -> Any:
    if isinstance(template, str):
        return _HOLE.sub(lambda hole: str(value_at(context, hole[1])), template)
    if isinstance(template, list):
        return [_filled(one, context) for one in template]
    if isinstance(template, dict):
        return {_filled(k, context): _filled(v, context) for k, v in template.items()}
    return template


def _by_file(params: list[Any]) -> Iterator[tuple[str, list[str]]]:
    shared = [one for one in params if isinstance(one, str)]
    if shared:
        yield str(PARAMS), shared
    for one in params:
        if isinstance(one, dict):
            yield from one.items()


def _variables(file: Path) -> dict[str, Any]:
    """Of `vars`, each written `file:key`."""
    found: dict[str, Any] = {}
    for entry in _mapping(file).get("vars", []):
        path, _, key = entry.partition(":")
        found[key] = _mapping(Path(path))[key]
    return found


def _mapping(file: Path) -> dict[str, Any]:
    content = strict_yaml.load(file)
    if not isinstance(content, dict):
        raise BadInput(f"{file}: must be a mapping of names; see docs/own-data.md")
    return content
