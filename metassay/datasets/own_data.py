"""Read and validate folders in the format of own data.

A folder has sources.jsonl, texts.jsonl and optionally ratings.csv, scores.csv and segments.jsonl;
docs/own-data.md shows an example.
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


def _check_text(value: str) -> str:
    if "\0" in value:
        raise PydanticCustomError("nul", "holds a NUL character; remove it")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        what = "holds half of a surrogate pair; write the whole character"
        raise PydanticCustomError("surrogate", what) from None
    return value


def _check_filled(value: str, *, remedy: LiteralString = "fill it in") -> str:
    if not value.strip():
        raise PydanticCustomError("empty", f"is empty; {remedy}")
    return value


def _check_key(value: str) -> str:
    if value != value.strip() or not value.isprintable():
        what = "has blanks at an end or characters that do not print; clean it"
        raise PydanticCustomError("key", what)
    return value


def _attributes(value: dict[str, Any]) -> dict[str, Any]:
    _check_text(to_json(value))
    return value


def _passage(value: object) -> object:
    return {"text": value} if isinstance(value, str) else value


_FACET = "write it, or remove the line if the text lacks the facet"
Clean = Annotated[str, AfterValidator(_check_text)]
Filled = Annotated[Clean, AfterValidator(_check_filled)]
Written = Annotated[
    Clean, AfterValidator(partial(_check_filled, remedy=f"write it; {_STATUS_REMEDY}"))
]
Key = Annotated[Filled, AfterValidator(_check_key)]
Task = Literal["note", "impression", "question", "abstract", "other"]


class Passage(Options):
    """A passage of a source: a turn of a dialogue, or a sentence of a report or article."""

    text: Filled
    speaker: Clean = ""
    group: Clean = ""


class Source(Options):
    """A line of sources.jsonl."""

    doc_id: Key
    task: Task
    passages: list[Annotated[Passage, BeforeValidator(_passage)]]  # [] if the input is unknown
    attributes: Annotated[dict[str, Any], AfterValidator(_attributes)] | None = None


class Text(Options):
    """A line of texts.jsonl; text is left out where status is not ok."""

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
    """A line of segments.jsonl: a facet of a text."""

    doc_id: Key
    author: Key
    part: Key
    text: Annotated[Clean, AfterValidator(partial(_check_filled, remedy=_FACET))]


class Rating(Options):
    """A line of ratings.csv, with its value as written."""

    study: Key
    doc_id: Key
    author: Key
    rater: Key
    criterion: Key
    value: str
    unit: Key = "text"
    part: Key = FULL


class Score(Options):
    """A line of scores.csv, with its value as written."""

    doc_id: Key
    author: Key
    metric: Name
    value: str
    better: Literal["higher", "lower", "neither"] = "higher"
    part: Key = FULL


class Example(Options):
    """A record of a DocLens file, without its other keys."""

    example_id: Key
    input: Filled
    reference: Written
    output: Written


Line = TypeVar("Line", bound=Options)


def validate(model: type[Line], value: object, at: Place, problems: Findings) -> Line | None:
    """Return the value as a `model`; None, with a problem for each fault, if it is invalid."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_input=False):
            problems.add(at, *_explain(detail))
        return None


def validate_all(
    values: Iterable[tuple[Place, Any]], model: type[Line], problems: Findings
) -> Iterator[tuple[Place, Line]]:
    """Yield valid values as a `model`, each with its place; the others are problems."""
    for at, value in values:
        line = None if value is UNREAD else validate(model, value, at, problems)
        if line is not None:
            yield at, line


def release_reader(read: Reader) -> Reader:
    """Make a reader of released files raise BadInput for files that differ from the release."""

    @functools.wraps(read)
    def read_release(folder: Path) -> Rows:
        try:
            return read(folder)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            what = f"{folder}: does not hold what was released ({type(error).__name__})"
            raise BadInput(f"{what}; {AGAIN}") from None

    return read_release


def cell_number(record: Record, column: str, rows: Rows) -> float | None:
    """Return the number in a cell of a released CSV file; None, with a problem, if not finite."""
    number = finite_number(record.fields[column].strip())
    if number is None:
        rows.wrong(record.at, f"{column!r} is not a finite number")
    return number


def json_number(at: Place, value: object, name: str, rows: Rows) -> float | None:
    """Return a number of a released JSON file; None, with a problem, if it is no finite number."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    rows.wrong(at, f"{shown(name)} is not a finite number")
    return None


def readable_key(value: object, *names: str) -> tuple[str, ...] | None:
    """Return the key of a row, even if the row has faults; None if the key is invalid.

    A missing `part` is `full`.
    """
    if not isinstance(value, Mapping):
        return None
    key = [value.get(name, FULL if name == "part" else None) for name in names]
    readable = all(isinstance(part, str) and part and part == part.strip() for part in key)
    return tuple(key) if readable else None


def _explain(detail: ErrorDetails) -> tuple[str, str, str]:
    """Return the fault, the remedy, and the list's item with the fault."""
    steps = [step for step in detail["loc"] if isinstance(step, str)]
    numbered = ((parent, step) for parent, step in pairwise(detail["loc"]) if isinstance(step, int))
    name = " > ".join(steps)
    example = ", ".join(f"{str(parent).removesuffix('s')} {step}" for parent, step in numbered)
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

    Citations past the last passage are problems in a reference, and warnings in a system's text,
    where scores count them as wrong. Files `beside` belong to another reader.
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
    """Add the sources of a file; faults become problems of `rows`."""
    for at, key, source in _lines(path, Source, ("doc_id",), "sources", rows):
        if source is not None:
            parts = [(p.text, p.speaker, p.group) for p in source.passages]
            text, speaker, group = ([part[n] for part in parts] for n in range(3))
            more = None if source.attributes is None else to_json(source.attributes)
            row = SourceRow(at, source.doc_id, source.task, text, speaker, group, more)
            rows.sources.append(row)
        elif key is not None:
            rows.sources.append(SourceRow(at, key[0], "", [], [], []))


def _read_texts(path: Path, rows: Rows) -> None:
    for at, key, line in _lines(path, Text, ("doc_id", "author", "part"), "texts", rows):
        if line is not None:
            rows.texts.append(TextRow(at, **dict(line)))
        elif key is not None:
            rows.texts.append(TextRow(at, key[0], key[1], key[2], None, "error"))


def _read_segments(path: Path, rows: Rows) -> None:
    for at, _, line in _lines(path, Segment, (), "segments", rows):
        rows.segments += [SegmentRow(at, **dict(line))] if line is not None else []


def _lines(
    path: Path, model: type[Line], keys: tuple[str, ...], table: str, rows: Rows
) -> Iterator[tuple[Place, tuple[str, ...] | None, Line | None]]:
    """Yield each line's place, its key if it is readable, and the line if it is valid."""
    for at, value in json_lines(path, rows.problems, remedy=_SEE):
        key = readable_key(value, *keys)
        if key is None:
            rows.unreadable.add(table)
        yield at, key, None if value is UNREAD else validate(model, value, at, rows.problems)


def read_ratings(path: Path, rows: Rows) -> None:
    """Add the ratings of a file; faults become problems of `rows`."""
    for at, line, numbers in records(path, Rating, _REQUIRED, _DEFAULTS, _ABSTAINED, rows):
        rows.ratings.append(RatingRow(at, **{**dict(line), **numbers}))


def score_metrics(folder: Path) -> list[str]:
    """Return the metrics in a folder's scores.csv, sorted; none if it is missing or unreadable."""
    if not (folder / SCORES_FILE).is_file():
        return []
    rows = Rows()
    _read_scores(folder / SCORES_FILE, rows)
    return sorted({metric.metric for metric in rows.metrics})


def _read_scores(path: Path, rows: Rows) -> None:
    """Add scores of own metrics; all rows of a metric must have the same direction."""
    first: dict[str, MetricRow] = {}
    for at, line, numbers in records(path, Score, _SCORED, _SCORE_DEFAULTS, _UNDEFINED, rows):
        earlier = first.setdefault(line.metric, MetricRow(at, line.metric, line.better))
        if earlier.better != line.better:
            what = f"{shown(line.metric)} is better in two directions"
            fix = "write the same into column better of all its rows"
            rows.wrong(at, what, f"other than line {earlier.at.row}", fix)
        key = line.doc_id, line.author, line.part, line.metric
        rows.scores.append(ScoreRow(at, *key, numbers["value"]))
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
    """Yield the valid rows of a table with these columns, each with the numbers in `values`.

    A number is None where its cell, or its column, is missing.
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
        line = validate(model, {**defaults, **written}, at, problems)
        if line is not None:
            cells = dict.fromkeys(values, None)
            for name, read_as in numbers.items():
                what = f"{name!r} is not a finite number"
                cells[name] = read_as.read(fields[name], at, what, remedy, problems)
            yield at, line, cells
