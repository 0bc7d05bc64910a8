"""Anybody's own data: what it must look like, and a folder of it.

A folder has sources.jsonl, texts.jsonl and perhaps ratings.csv, scores.csv and segments.jsonl;
docs/own-data.md describes them by an example.
"""

import functools
import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, LiteralString, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from metassay.core.errors import BadInput, shown
from metassay.core.options import Name, Options
from metassay.datasets.checks import check_citations
from metassay.tables.names import FULL
from metassay.tabular.decoding import (
    UNREAD,
    Record,
    check_header,
    finite_number,
    json_lines,
    warn_unread,
)
from metassay.tabular.rows import (
    AGAIN,
    Findings,
    MetricRow,
    Place,
    RatingRow,
    Reader,
    Rows,
    ScoreRow,
    SegmentRow,
    SourceRow,
    TextRow,
    to_json,
)
from metassay.tabular.sheet import read_sheet

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
    _clean(to_json(value))
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


def released(read: Reader) -> Reader:
    """A reader of released files: it trusts their hashes, and says so of files that are others."""

    @functools.wraps(read)
    def trusting(folder: Path) -> Rows:
        try:
            return read(folder)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            what = f"{folder}: does not hold what was released ({type(error).__name__})"
            raise BadInput(f"{what}; {AGAIN}") from None

    return trusting


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
    numbered = ((of, step) for of, step in pairwise(detail["loc"]) if isinstance(step, int))
    name = " > ".join(steps)
    example = ", ".join(f"{str(of).removesuffix('s')} {step}" for of, step in numbered)
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


SOURCES_FILE = "sources.jsonl"
TEXTS_FILE = "texts.jsonl"
RATINGS_FILE = "ratings.csv"
SCORES_FILE = "scores.csv"
SEGMENTS_FILE = "segments.jsonl"

_SEE = "docs/own-data.md shows how it is written"
_ABSTAINED = "write a number, or nothing where the rater abstained"
_UNDEFINED = "write a number, or nothing where the metric is undefined"
_REQUIRED = ("study", "doc_id", "author", "rater", "criterion", "value")
_DEFAULTS = {"unit": "text", "part": FULL}
_SCORED = ("doc_id", "author", "metric", "value")
_SCORE_DEFAULTS = {"better": "higher", "part": FULL}
_FILES = {SOURCES_FILE, TEXTS_FILE, RATINGS_FILE, SCORES_FILE, SEGMENTS_FILE}


def read(folder: Path, beside: Collection[str] = ()) -> Rows:
    """Read the folder; every fault becomes a problem with file, line and remedy.

    The reference's citations past the last passage are problems; a system's are warnings, since
    they are wrong citations that the scores have to count. Files `beside` are another reader's.
    """
    rows = Rows()
    if not folder.is_dir():
        rows.wrong(Place(str(folder)), "is not a folder", remedy=f"create it; {_SEE}")
        return rows
    read_sources(folder / SOURCES_FILE, rows)
    _read_texts(folder / TEXTS_FILE, rows)
    optional = (read_ratings, _read_scores, _read_segments)
    for name, reader in zip((RATINGS_FILE, SCORES_FILE, SEGMENTS_FILE), optional, strict=True):
        if os.path.lexists(folder / name):
            reader(folder / name, rows)
    check_citations(rows)
    warn_unread(folder, {*_FILES, *beside}, rows.warnings)
    return rows


def read_sources(path: Path, rows: Rows) -> None:
    """Add the sources of one file; what is wrong becomes a problem of `rows`."""
    for at, key, one in _lines(path, Source, ("doc_id",), "sources", rows):
        if one is not None:
            each = [list(dict(passage).values()) for passage in one.passages]
            text, speaker, group = map(list, zip(*each, strict=True)) if each else ([], [], [])
            more = None if one.attributes is None else to_json(one.attributes)
            rows.sources.append(SourceRow(at, one.doc_id, one.task, text, speaker, group, more))
        elif key is not None:
            rows.sources.append(SourceRow(at, key[0], "", [], [], []))


def _read_texts(path: Path, rows: Rows) -> None:
    for at, key, one in _lines(path, Text, ("doc_id", "author", "part"), "texts", rows):
        if one is not None:
            rows.texts.append(TextRow(at, **dict(one)))
        elif key is not None:
            rows.texts.append(TextRow(at, key[0], key[1], key[2], None, "error"))


def _read_segments(path: Path, rows: Rows) -> None:
    for at, _, one in _lines(path, Segment, (), "segments", rows):
        rows.segments += [SegmentRow(at, **dict(one))] if one is not None else []


def _lines(
    path: Path, model: type[Line], keys: tuple[str, ...], table: str, rows: Rows
) -> Iterator[tuple[Place, tuple[str, ...] | None, Line | None]]:
    """Each line's place, its key where that can be read, and all of it if it is sound."""
    for at, value in json_lines(path, rows.problems, remedy=_SEE):
        key = readable_key(value, *keys)
        if key is None:
            rows.unreadable.add(table)
        yield at, key, None if value is UNREAD else checked(model, value, at, rows.problems)


def read_ratings(path: Path, rows: Rows) -> None:
    """Add the ratings of one file; what is wrong becomes a problem of `rows`."""
    for at, one, numbers in records(path, Rating, _REQUIRED, _DEFAULTS, _ABSTAINED, rows):
        rows.ratings.append(RatingRow(at, **{**dict(one), **numbers}))


def given_metrics(folder: Path) -> list[str]:
    """The metrics in a folder's scores.csv, sorted; none where it is not there or not readable."""
    if not (folder / SCORES_FILE).is_file():
        return []
    rows = Rows()
    _read_scores(folder / SCORES_FILE, rows)
    return sorted({one.metric for one in rows.metrics})


def _read_scores(path: Path, rows: Rows) -> None:
    """Add the scores of somebody's own metrics; a metric's direction is that of all its rows."""
    first: dict[str, MetricRow] = {}
    for at, one, numbers in records(path, Score, _SCORED, _SCORE_DEFAULTS, _UNDEFINED, rows):
        earlier = first.setdefault(one.metric, MetricRow(at, one.metric, one.better))
        if earlier.better != one.better:
            what = f"{shown(one.metric)} is better in two directions"
            fix = "write the same into column better of all its rows"
            rows.wrong(at, what, f"other than line {earlier.at.row}", fix)
        of = one.doc_id, one.author, one.part, one.metric
        rows.scores.append(ScoreRow(at, *of, numbers["value"]))
    rows.metrics += first.values()


def records(
    path: Path,
    model: type[Line],
    required: tuple[str, ...],
    defaults: Mapping[str, str],
    remedy: str,
    rows: Rows,
    values: Sequence[str] = ("value",),
) -> Iterator[tuple[Place, Any, dict[str, float | None]]]:
    """The sound rows of a table with these columns, each with the numbers in columns `values`.

    A number is None where its cell, or its column, says that there is none.
    """
    faults, problems = Findings(), rows.problems
    sheet = read_sheet(path, faults, remedy=_SEE, header_alone=True)
    columns = list(sheet.columns) if sheet is not None else []
    if sheet is not None and not check_header(
        columns, path.name, problems, required, tuple(defaults)
    ):
        return
    problems.merge(faults)
    if sheet is None:
        return
    numbers = {name: sheet.clear_numbers(name, problems) for name in values if name in columns}
    for at, fields in sheet.rows:
        written = {name: cell for name, cell in fields.items() if cell or name not in defaults}
        one = checked(model, {**defaults, **written}, at, problems)
        if one is not None:
            found = dict.fromkeys(values, None)
            for name, read_as in numbers.items():
                what = f"{name!r} is not a finite number"
                found[name] = read_as.read(fields[name], at, what, remedy, problems)
            yield at, one, found
