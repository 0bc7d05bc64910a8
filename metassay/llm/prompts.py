"""Prompts: one YAML file in prompts/ per instrument and style. The wording is the instrument.

A file has the system's and the user's text with `{{variable}}` where a value goes. A variable of
kind `data` is material: it is put in as JSON, and only into the user's text, so that no text under
evaluation can close its quotation or pass for an instruction. One of kind `text` is ours.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field

from metassay.core import strict_yaml
from metassay.core.errors import BadInput, raise_problems
from metassay.core.naming import name_problem
from metassay.core.options import Options, parse
from metassay.llm.endpoints import ModelOptions
from metassay.llm.messages import ChatRequest, Message, Structured

PROMPTS = Path("prompts")

Kind = Literal["data", "text"]

_PLACE = re.compile(r"\{\{([a-z_]+)\}\}")


class _File(Options):
    purpose: str
    version: int
    variables: dict[str, Kind]
    system: str
    user: str
    examples: list[dict[str, Any]] = Field(default_factory=list)


@dataclass(frozen=True)
class Prompt:
    """A wording with places for its variables."""

    name: str
    text: tuple[Message, ...]
    variables: Mapping[str, Kind]
    file: Path
    examples: tuple[Mapping[str, Any], ...] = ()

    @property
    def hash(self) -> str:
        """Of what can change an answer: texts and variables' kinds; 8 hex digits of a SHA-256."""
        body = {"text": [[m.role, m.content] for m in self.text], "variables": self.variables}
        canonical = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("utf-8")).hexdigest()[:8]

    @property
    def signature(self) -> str:
        """The prompt as recipes print it: `name#hash`."""
        return f"{self.name}#{self.hash}"


class Decoding(NamedTuple):
    """The model, by its provider's name, and how its answer is drawn, as in ChatRequest."""

    model: str
    temperature: float | None
    seed: int | None
    max_tokens: int
    extra: str | None = None
    structured: Structured | None = None

    @property
    def signature(self) -> str:
        """All of it as recipes print it."""
        heat = "none" if self.temperature is None else f"{self.temperature:g}"
        seed = "none" if self.seed is None else self.seed
        said = f"model:{self.model}|temperature:{heat}|seed:{seed}|max_tokens:{self.max_tokens}"
        if self.structured is not None:
            said += f"|structured:{self.structured}"
        # A bar parts what recipes say; within JSON it is the same when it is escaped.
        return said if self.extra is None else said + "|extra:" + self.extra.replace("|", "\\u007c")

    @classmethod
    def of(cls, model: ModelOptions, max_tokens: int | None = None) -> Self:
        """As params.yaml > models says, unless an answer may be of another length here."""
        drawn = (model.model, model.temperature, model.seed, max_tokens or model.max_tokens)
        return cls(*drawn, model.extra, model.structured)

    def request(self, messages: Sequence[Message], schema: str | None = None) -> ChatRequest:
        """The request that puts these messages."""
        return ChatRequest(
            model=self.model,
            messages=tuple(messages),
            schema=schema,
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
            extra=self.extra,
            structured=None if schema is None else self.structured,
        )


def file_of(name: str, folder: Path = PROMPTS) -> Path:
    """The file of a prompt."""
    return folder / f"{name}.yaml"


def load(name: str, folder: Path = PROMPTS, *, filled: Mapping[str, Kind] | None = None) -> Prompt:
    """Read and check `<folder>/<name>.yaml`; BadInput lists every problem at once.

    `filled` says which variables will be filled in, where that is known.
    """
    path = file_of(name, folder)
    problem = name_problem(name)
    if problem:
        raise BadInput(f"prompt {name!r}: {problem}")
    if not path.is_file():
        raise BadInput(f"{path} does not exist; write it, or correct the prompt {name!r}")
    file = parse(_File, strict_yaml.load(path), where=str(path))
    raise_problems(f"{path} > {problem}" for problem in (*_problems(file), *_unfit(file, filled)))
    text = (Message("system", file.system.strip()), Message("user", file.user.strip()))
    return Prompt(name, text, dict(file.variables), path, tuple(file.examples))


def join(first: Prompt, then: Prompt) -> Prompt:
    """What is asked, then in which form it is answered; examples and file are the first's."""
    text = tuple(
        Message(before.role, f"{before.content}\n\n{after.content}")
        for before, after in zip(first.text, then.text, strict=True)
    )
    variables = {**first.variables, **then.variables}
    return Prompt(f"{first.name}+{then.name}", text, variables, first.file, first.examples)


def render(prompt: Prompt, **variables: object) -> tuple[Message, ...]:
    """The prompt's messages with every variable in its place.

    Data may be anything JSON can say; a variable of kind text is a str or int. BadInput names each
    variable that is missing, unknown, or not of its kind.
    """
    known = prompt.variables
    problems = [f"variable {n!r} is missing; give it" for n in known if n not in variables]
    problems += [f"variable {n!r} is not used; leave it out" for n in variables if n not in known]
    values = {name: _written(variables.get(name, ""), kind) for name, kind in known.items()}
    problems += [
        f"variable {name!r} cannot be written as {known[name]}; give another value"
        for name, value in values.items()
        if value is None
    ]
    raise_problems(f"{prompt.file}: {problem}" for problem in problems)
    return tuple(
        Message(message.role, _PLACE.sub(lambda match: str(values[match[1]]), message.content))
        for message in prompt.text
    )


def _unfit(file: _File, filled: Mapping[str, Kind] | None) -> Iterator[str]:
    if filled is None:
        return
    for name in sorted({*file.variables, *filled}):
        if name not in filled:
            yield f"variables > {name}: is never filled in; known: {', '.join(filled)}"
        elif name not in file.variables:
            yield f"variables: {name} is missing; declare it, and write {{{{{name}}}}} in user"
        elif filled[name] == "data" and file.variables[name] == "text":
            yield f"variables > {name}: is filled with data; its kind must be data"


def _problems(file: _File) -> Iterator[str]:
    kinds, in_system = file.variables, set(_PLACE.findall(file.system))
    in_user = set(_PLACE.findall(file.user))
    data = [name for name, kind in kinds.items() if kind == "data"]
    for number, example in enumerate(file.examples, start=1):
        if set(example) != set(data):
            yield (
                f"examples > {number}: has {', '.join(example)}; give what the file's data"
                f" variables are, no more and no less: {', '.join(data)}"
            )
    for name in kinds:
        if name not in in_system | in_user:
            remedy = f"write {{{{{name}}}}} or remove it from variables"
            yield f"variables > {name}: has no place; {remedy}"
    for name in sorted(in_system | in_user):
        if name not in kinds:
            place = "user" if name in in_user else "system"
            yield f"{place}: {{{{{name}}}}} is not in variables; declare it"
        elif name in in_system and kinds[name] == "data":
            remedy = "move it to user, where it cannot pass for an instruction"
            yield f"system: {{{{{name}}}}} is data; {remedy}"
    for part, text in (("system", file.system), ("user", file.user)):
        if "{{" in _PLACE.sub("", text):
            yield f"{part}: '{{{{' that opens no place; write {{{{name}}}} in small letters"


def _written(value: object, kind: Kind) -> str | None:
    if kind == "text":
        ours = isinstance(value, str | int) and not isinstance(value, bool)
        return str(value) if ours else None
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError):
        return None


_FIELD = "examples:"
# Every other character stays as it is: these part the fields of a recipe, and the names in one.
_PARTING = str.maketrans({"%": "%25", ",": "%2C", "|": "%7C"})


def examples_field(names: Sequence[str]) -> str:
    """The field of a recipe that names the examples, in their order."""
    return _FIELD + ",".join(name.translate(_PARTING) for name in names)


def datasets_shown(recipes: Iterable[str]) -> list[str]:
    """The datasets whose examples these recipes name; of another form of recipe, never one less."""
    fields = {part for recipe in recipes for part in recipe.split("|") if part.startswith(_FIELD)}
    return datasets_of(name for part in fields for name in part.removeprefix(_FIELD).split(","))


def datasets_of(examples: Iterable[str]) -> list[str]:
    """The datasets of few-shot examples: where their text goes, these must be cleared, too."""
    return sorted({name.split("/", 1)[0] for name in examples})
