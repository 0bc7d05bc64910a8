"""What anybody's own data must look like, declared once for all formats that carry it."""

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Annotated, Any, Literal, LiteralString, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from metassay.core.errors import shown
from metassay.core.options import Name, Options
from metassay.tables.names import FULL
from metassay.tabular.decoding import UNREAD, Record, finite_number
from metassay.tabular.rows import Findings, Place, Rows, canonical

_STATUS_REMEDY = 'where a system failed, leave "text" out and give a status, such as "error"'


def _clean(value: str) -> str:
    if "\0" in value:
        raise PydanticCustomError("nul", "holds a NUL character; remove it")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        what = "holds half of a surrogate pair; write the whole character"
        raise PydanticCustomError("surrogate", what) from None
    return value


def _filled_in(value: str, *, remedy: LiteralString = "fill it in") -> str:
    if not value.strip():
        raise PydanticCustomError("empty", f"is empty; {remedy}")
    return value


def _key(value: str) -> str:
    if value != value.strip() or not value.isprintable():
        what = "has blanks at an end or characters that do not print; clean it"
        raise PydanticCustomError("key", what)
    return value


def _attributes(value: dict[str, Any]) -> dict[str, Any]:
    _clean(canonical(value))
    return value


def _passage(value: object) -> object:
    return {"text": value} if isinstance(value, str) else value


_FACET = "write it, or remove the line if the text lacks the facet"
Clean = Annotated[str, AfterValidator(_clean)]
Filled = Annotated[Clean, AfterValidator(_filled_in)]
Written = Annotated[
    Clean, AfterValidator(partial(_filled_in, remedy=f"write it; {_STATUS_REMEDY}"))
]
Key = Annotated[Filled, AfterValidator(_key)]
Task = Literal["note", "impression", "question", "abstract", "other"]


class Passage(Options):
    """One passage of a source: a turn of a dialogue, or a sentence of a report or article."""

    text: Filled
    speaker: Clean = ""
    group: Clean = ""


class Source(Options):
    """One line of sources.jsonl."""

    doc_id: Key
    task: Task
    passages: list[Annotated[Passage, BeforeValidator(_passage)]]  # [] where nobody has the input
    attributes: Annotated[dict[str, Any], AfterValidator(_attributes)] | None = None


class Text(Options):
    """One line of texts.jsonl; text is left out where status is not ok."""

    doc_id: Key
    author: Key
    part: Key = FULL
    text: Written | None = None
    status: Literal["ok", "unparsed", "refused", "truncated", "error"] = "ok"

    @model_validator(mode="after")
    def _text_fits_status(self) -> Self:
        if self.status == "ok" and self.text is None:
            raise PydanticCustomError("text", f"'text' is missing; add it; {_STATUS_REMEDY}")
        if self.status != "ok" and self.text is not None:
            what = "'text' is there although 'status' is not ok; remove one of the two"
            raise PydanticCustomError("text", what)
        return self


class Segment(Options):
    """One line of segments.jsonl: what one facet of a text is."""

    doc_id: Key
    author: Key
    part: Key
    text: Annotated[Clean, AfterValidator(partial(_filled_in, remedy=_FACET))]


class Rating(Options):
    """One line of ratings.csv, its value still as written."""

    study: Key
    doc_id: Key
    author: Key
    rater: Key
    criterion: Key
    value: str
    unit: Key = "text"
    part: Key = FULL


class Score(Options):
    """One line of scores.csv, its value still as written."""

    doc_id: Key
    author: Key
    metric: Name
    value: str
    better: Literal["higher", "lower", "neither"] = "higher"
    part: Key = FULL


class Example(Options):
    """One record of a DocLens file, its other keys left out."""

    example_id: Key
    input: Filled
    reference: Written
    output: Written


Line = TypeVar("Line", bound=Options)


def checked(model: type[Line], value: object, at: Place, problems: Findings) -> Line | None:
    """The value as a `model`; None, with a problem for each fault, if it is not one."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_input=False):
            problems.add(at, *_explained(detail))
        return None


def parsed(
    values: Iterable[tuple[Place, Any]], model: type[Line], problems: Findings
) -> Iterator[tuple[Place, Line]]:
    """The values that are a `model`, each at its place; the others are problems."""
    for at, value in values:
        line = None if value is UNREAD else checked(model, value, at, problems)
        if line is not None:
            yield at, line


def cell_number(record: Record, column: str, rows: Rows) -> float | None:
    """The number in a cell of a released CSV file; None, with a problem, for anything else."""
    number = finite_number(record.fields[column].strip())
    if number is None:
        rows.wrong(record.at, f"{column!r} is not a finite number")
    return number


def json_number(at: Place, value: object, name: str, rows: Rows) -> float | None:
    """A number of a released JSON file; None, with a problem, for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    rows.wrong(at, f"{shown(name)} is not a finite number")
    return None


def readable_key(value: object, *names: str) -> tuple[str, ...] | None:
    """The key of a row that may be faulty otherwise; None if the key itself cannot be read.

    A missing `part` is `full`.
    """
    if not isinstance(value, Mapping):
        return None
    found = [value.get(name, FULL if name == "part" else None) for name in names]
    right = all(isinstance(key, str) and key and key == key.strip() for key in found)
    return tuple(found) if right else None


def _explained(detail: ErrorDetails) -> tuple[str, str, str]:
    """What is wrong, the remedy, and which of a list's items it is about."""
    steps = [step for step in detail["loc"] if isinstance(step, str)]
    items = [
        f"{str(of).removesuffix('s')} {step}"
        for of, step in pairwise(detail["loc"])
        if isinstance(step, int)
    ]
    name, example = " > ".join(steps), ", ".join(items)
    kind, message = detail["type"], detail["msg"]
    if kind == "missing":
        return f"{shown(name)} is missing", "add it", example
    if kind == "extra_forbidden":
        return f"{shown(name)} is unknown", "remove it or correct its spelling", example
    if kind == "too_short":
        return f"{shown(name)} has no item", "add at least one", example
    what, separator, remedy = message.partition("; ")
    if separator:
        return (f"{shown(name)} {what}" if name else what), remedy, example
    if not name:
        return "is not an object with named values", 'write {"doc_id": ..., ...}', example
    return f"{shown(name)} is wrong: {message[0].lower()}{message[1:]}", "correct it", example
