"""Prompts: one YAML file in prompts/ per instrument and style.

A file has the system's and the user's text with `{{variable}}` in place of values. A
variable of kind `data` is material: it is inserted as JSON, and only into the user's
text, so that no text under evaluation can end its quotation or pass for an instruction.
Kind `text` is Metassay's words.
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
    """A prompt's texts, with places for its variables."""

    name: str
    text: tuple[Message, ...]
    variables: Mapping[str, Kind]
    file: Path
    examples: tuple[Mapping[str, Any], ...] = ()

    @property
    def hash(self) -> str:
        """8 hex digits of a SHA-256 of the texts and the kinds of variables."""
        body = {
            "text": [[m.role, m.content] for m in self.text],
            "variables": self.variables,
        }
        canonical = json.dumps(
            body, ensure_ascii=False, sort_keys=True, separators=(",", ":")
        )
        return hashlib.sha256(canonical.encode("utf-8")).hexdigest()[:8]

    @property
    def signature(self) -> str:
        """The prompt as recipes print it: `name#hash`."""
        return f"{self.name}#{self.hash}"


class Decoding(NamedTuple):
    """A model, by its provider's name, and its decoding options, as in ChatRequest."""

    model: str
    temperature: float | None
    seed: int | None
    max_tokens: int
    extra: str | None = None
    structured: Structured | None = None

    @property
    def signature(self) -> str:
        """All options as recipes print them."""
        temperature = "none" if self.temperature is None else f"{self.temperature:g}"
        seed = "none" if self.seed is None else self.seed
        fields = f"model:{self.model}|temperature:{temperature}|seed:{seed}"
        fields += f"|max_tokens:{self.max_tokens}"
        if self.structured is not None:
            fields += f"|structured:{self.structured}"
        if self.extra is not None:
            # A bar separates the fields of recipes; JSON can escape it.
            fields += "|extra:" + self.extra.replace("|", "\\u007c")
        return fields

    @classmethod
    def choose(cls, model: ModelOptions, max_tokens: int | None = None) -> Self:
        """Return the options of params.yaml > models; `max_tokens` overrides them."""
        options = (
            model.model,
            model.temperature,
            model.seed,
            max_tokens or model.max_tokens,
        )
        return cls(*options, model.extra, model.structured)

    def request(
        self, messages: Sequence[Message], schema: str | None = None
    ) -> ChatRequest:
        """Return the request with these messages."""
        options = self._asdict() | ({"structured": None} if schema is None else {})
        return ChatRequest(messages=tuple(messages), schema=schema, **options)


def file_of(name: str, folder: Path = PROMPTS) -> Path:
    """Return the file of a prompt."""
    return folder / f"{name}.yaml"


def load(
    name: str, folder: Path = PROMPTS, *, filled: Mapping[str, Kind] | None = None
) -> Prompt:
    """Read and check `<folder>/<name>.yaml`; BadInput lists all problems.

    `filled`: the kinds of the variables that will be filled in, if known.
    """
    path = file_of(name, folder)
    problem = name_problem(name)
    if problem:
        raise BadInput(f"prompt {name!r}: {problem}")
    if not path.is_file():
        raise BadInput(
            f"{path} does not exist; write it, or correct the prompt {name!r}"
        )
    file = parse(_File, strict_yaml.load(path), where=str(path))
    raise_problems(
        f"{path} > {problem}"
        for problem in (*_problems(file), *_variable_problems(file, filled))
    )
    text = (Message("system", file.system.strip()), Message("user", file.user.strip()))
    return Prompt(
        name=name,
        text=text,
        variables=dict(file.variables),
        file=path,
        examples=tuple(file.examples),
    )


def join(first: Prompt, then: Prompt) -> Prompt:
    """Join a question and the form of its answer; examples and file are those of `first`."""
    text = tuple(
        Message(before.role, f"{before.content}\n\n{after.content}")
        for before, after in zip(first.text, then.text, strict=True)
    )
    variables = {**first.variables, **then.variables}
    return Prompt(
        name=f"{first.name}+{then.name}",
        text=text,
        variables=variables,
        file=first.file,
        examples=first.examples,
    )


def render(prompt: Prompt, **variables: object) -> tuple[Message, ...]:
    """Return the prompt's messages with the values of variables.

    Data may be any JSON value; a variable of kind text is a str or int. BadInput lists
    variables that are missing, unknown, or not of their kind.
    """
    kinds = prompt.variables
    problems = [
        f"variable {n!r} is missing; give it" for n in kinds if n not in variables
    ]
    problems += [
        f"variable {n!r} is not used; leave it out" for n in variables if n not in kinds
    ]
    values = {
        name: _format(variables.get(name, ""), kind) for name, kind in kinds.items()
    }
    problems += [
        f"variable {name!r} cannot be written as {kinds[name]}; give another value"
        for name, value in values.items()
        if value is None
    ]
    raise_problems(f"{prompt.file}: {problem}" for problem in problems)
    return tuple(
        Message(
            message.role,
            _PLACE.sub(lambda match: str(values[match[1]]), message.content),
        )
        for message in prompt.text
    )


def _variable_problems(file: _File, filled: Mapping[str, Kind] | None) -> Iterator[str]:
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
    kinds = file.variables
    in_system = set(_PLACE.findall(file.system))
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


def _format(value: object, kind: Kind) -> str | None:
    if kind == "text":
        valid = isinstance(value, str | int) and not isinstance(value, bool)
        return str(value) if valid else None
    try:
        return json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )
    except (TypeError, ValueError):
        return None


_FIELD = "examples:"
# Escapes the separators of a recipe's fields, and of names in a field.
_ESCAPES = str.maketrans({"%": "%25", ",": "%2C", "|": "%7C"})


def examples_field(names: Sequence[str]) -> str:
    """Return the field of a recipe that names the examples, in order."""
    return _FIELD + ",".join(name.translate(_ESCAPES) for name in names)


def datasets_in_recipes(recipes: Iterable[str]) -> list[str]:
    """List the datasets whose examples these recipes name; of unknown recipes, never too few."""
    names: set[str] = set()
    for recipe in recipes:
        for part in recipe.split("|"):
            if part.startswith(_FIELD):
                names.update(part.removeprefix(_FIELD).split(","))
    return datasets_of(names)


def datasets_of(examples: Iterable[str]) -> list[str]:
    """List the datasets of few-shot examples, which must be cleared where their text goes."""
    return sorted({name.split("/", 1)[0] for name in examples})
