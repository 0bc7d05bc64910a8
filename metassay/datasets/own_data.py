"""Read and validate folders in the format of own data, and in that of DocLens.

docs/data-files.md shows an example of both.
"""

import functools
import math
import os
import re
from collections import Counter
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
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import (
    DATA,
    UNREAD,
    Record,
    check_header,
    finite_number,
    json_lines,
    json_list,
    warn_unread,
)
from metassay.tabular.files import read_sheet
from metassay.tabular.row_choice import BIASED, CHOSEN_BY
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
    canonical_json,
    source_row,
)

VERSION = 1  # raised by whoever changes results of this module's kinds

_STATUS_REMEDY = (
    'where a system failed, leave "text" out and give a status, such as "error"'
)


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


def _check_attributes(value: dict[str, Any]) -> dict[str, Any]:
    _check_text(canonical_json(value))
    return value


_FACET = "write it, or remove the line if the text lacks the facet"
Clean = Annotated[str, AfterValidator(_check_text)]
Filled = Annotated[Clean, AfterValidator(_check_filled)]
Written = Annotated[
    Clean, AfterValidator(partial(_check_filled, remedy=f"write it; {_STATUS_REMEDY}"))
]
Key = Annotated[Filled, AfterValidator(_check_key)]
_BARE = BeforeValidator(
    lambda value: {"text": value} if isinstance(value, str) else value
)
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
    passages: list[Annotated[Passage, _BARE]]  # [] if the input is unknown
    attributes: Annotated[dict[str, Any], AfterValidator(_check_attributes)] | None = (
        None
    )


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
            raise PydanticCustomError(
                "text", f"'text' is missing; add it; {_STATUS_REMEDY}"
            )
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
    chosen_by: Clean = ""  # by what the text was chosen to be rated, if not at random


class Score(Options):
    """A line of scores.csv, with its value as written."""

    doc_id: Key
    author: Key
    metric: Name
    value: str
    better: Literal["higher", "lower", "neither"] = "higher"
    part: Key = FULL


Line = TypeVar("Line", bound=Options)


def validate(
    model: type[Line], value: object, at: Place, problems: Findings
) -> Line | None:
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
    if (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
    ):
        return float(value)
    rows.wrong(at, f"{shown(name)} is not a finite number")
    return None


def _readable_key(value: object, names: Sequence[str]) -> tuple[str, ...] | None:
    """Return the key of a row, even if the row has faults; None if the key is invalid."""
    if not isinstance(value, Mapping):
        return None
    key = [value.get(name, FULL if name == "part" else None) for name in names]
    readable = all(
        isinstance(part, str) and part and part == part.strip() for part in key
    )
    return tuple(key) if readable else None


def _explain(detail: ErrorDetails) -> tuple[str, str, str]:
    """Return the fault, the remedy, and the list's item with the fault."""
    steps = [step for step in detail["loc"] if isinstance(step, str)]
    numbered = (
        (parent, step)
        for parent, step in pairwise(detail["loc"])
        if isinstance(step, int)
    )
    name = " > ".join(steps)
    example = ", ".join(
        f"{str(parent).removesuffix('s')} {step}" for parent, step in numbered
    )
    kind = detail["type"]
    message = detail["msg"]
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
        return (
            "is not an object with named values",
            'write {"doc_id": ..., ...}',
            example,
        )
    return (
        f"{shown(name)} is wrong: {message[0].lower()}{message[1:]}",
        "correct it",
        example,
    )


SOURCES_FILE = "sources.jsonl"
TEXTS_FILE = "texts.jsonl"
RATINGS_FILE = "ratings.csv"
SCORES_FILE = "scores.csv"
SEGMENTS_FILE = "segments.jsonl"

_SEE = "docs/data-files.md shows how it is written"
_ABSTAINED = "write a number, or nothing where the rater abstained"
_UNDEFINED = "write a number, or nothing where the metric is undefined"
_FILES = {SOURCES_FILE, TEXTS_FILE, RATINGS_FILE, SCORES_FILE, SEGMENTS_FILE}


def read(folder: Path, beside: Collection[str] = ()) -> Rows:
    """Read a folder with sources.jsonl, texts.jsonl and perhaps ratings.csv, scores.csv
    and segments.jsonl; every fault becomes a problem with file, line and remedy.

    Citations past the last passage are problems in a reference, and warnings in a
    system's text, where scores count them as wrong. Files `beside` belong to another
    reader.
    """
    rows = Rows()
    if not folder.is_dir():
        rows.wrong(Place(str(folder)), "is not a folder", remedy=f"create it; {_SEE}")
        return rows
    read_sources(folder / SOURCES_FILE, rows)
    _read_texts(folder / TEXTS_FILE, rows)
    optional = (read_ratings, _read_scores, _read_segments)
    for name, reader in zip(
        (RATINGS_FILE, SCORES_FILE, SEGMENTS_FILE), optional, strict=True
    ):
        if os.path.lexists(folder / name):
            reader(folder / name, rows)
    check_citations(rows)
    warn_unread(folder, {*_FILES, *beside}, rows.warnings)
    return rows


def read_sources(path: Path, rows: Rows) -> None:
    """Add the sources of a file; faults become problems of `rows`."""
    for at, key, source in _lines(path, Source, ("doc_id",), "sources", rows):
        if source is not None:
            text = [passage.text for passage in source.passages]
            speaker = [passage.speaker for passage in source.passages]
            group = [passage.group for passage in source.passages]
            more = (
                None if source.attributes is None else canonical_json(source.attributes)
            )
            row = SourceRow(
                at=at,
                doc_id=source.doc_id,
                task=source.task,
                passages=text,
                speaker=speaker,
                group=group,
                attributes=more,
            )
            rows.sources.append(row)
        elif key is not None:
            rows.sources.append(
                SourceRow(
                    at=at, doc_id=key[0], task="", passages=[], speaker=[], group=[]
                )
            )


def _read_texts(path: Path, rows: Rows) -> None:
    for at, key, line in _lines(
        path, Text, ("doc_id", "author", "part"), "texts", rows
    ):
        if line is not None:
            rows.texts.append(TextRow(at, **dict(line)))
        elif key is not None:
            rows.texts.append(
                TextRow(
                    at=at,
                    doc_id=key[0],
                    author=key[1],
                    part=key[2],
                    text=None,
                    status="error",
                )
            )


def _read_segments(path: Path, rows: Rows) -> None:
    for at, _, line in _lines(path, Segment, (), "segments", rows):
        rows.segments += [SegmentRow(at, **dict(line))] if line is not None else []


def _lines(
    path: Path, model: type[Line], keys: tuple[str, ...], table: str, rows: Rows
) -> Iterator[tuple[Place, tuple[str, ...] | None, Line | None]]:
    """Yield each line's place, its key if it is readable, and the line if it is valid."""
    for at, value in json_lines(path, rows.problems, remedy=_SEE):
        key = _readable_key(value, keys)
        if key is None:
            rows.unreadable.add(table)
        yield (
            at,
            key,
            None if value is UNREAD else validate(model, value, at, rows.problems),
        )


def read_ratings(path: Path, rows: Rows) -> None:
    """Add the ratings of a file, without those of chosen texts; faults become problems."""
    n_read = 0
    chosen: Counter[str] = Counter()
    for at, line, numbers in records(path, Rating, _ABSTAINED, rows):
        n_read += 1
        if line.chosen_by.strip():
            chosen[line.chosen_by] += 1
            continue
        rows.ratings.append(rating_row(at, line, numbers["value"]))
    if not chosen:
        return
    by = ", ".join(map(shown, chosen))
    if chosen.total() == n_read:
        what = f"all {n_read:,} ratings are of texts that were chosen by {by}; {BIASED}"
        fix = (
            "rate a random sample of texts, too; or empty the cells of column"
            f" '{CHOSEN_BY}' to count these all the same"
        )
        rows.wrong(Place(path.name), what, remedy=fix)
        return
    rows.warnings.add(
        Place(path.name),
        f"{chosen.total():,} of {n_read:,} ratings are of texts that were chosen by {by},"
        f" and left out: {BIASED}",
        f"to count them all the same, empty their cells of column '{CHOSEN_BY}'",
    )


def rating_row(at: Place, rating: Rating, value: float | None) -> RatingRow:
    """Return the row of a rating with the number that was read."""
    return RatingRow(
        at=at,
        study=rating.study,
        doc_id=rating.doc_id,
        author=rating.author,
        part=rating.part,
        unit=rating.unit,
        rater=rating.rater,
        criterion=rating.criterion,
        value=value,
    )


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
    for at, line, numbers in records(path, Score, _UNDEFINED, rows):
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
    remedy: str,
    rows: Rows,
    values: Sequence[str] = ("value",),
) -> Iterator[tuple[Place, Any, dict[str, float | None]]]:
    """Yield the valid rows of a table of this model, each with the numbers in `values`.

    A number is None where its cell, or its column, is missing.
    """
    faults = Findings()
    problems = rows.problems
    fields = model.model_fields.items()
    required = tuple(name for name, column in fields if column.is_required())
    optional = tuple(name for name, column in fields if not column.is_required())
    sheet = read_sheet(path, faults, remedy=_SEE, header_alone=True, utf8=True)
    columns = list(sheet.columns) if sheet is not None else []
    if sheet is not None and not check_header(
        columns, path.name, problems, required, optional
    ):
        return
    problems.merge(faults)
    if sheet is None:
        return
    numbers = {
        name: sheet.clear_numbers(name, problems) for name in values if name in columns
    }
    for at, cells in sheet.rows:
        written = {
            name: cell for name, cell in cells.items() if cell or name in required
        }
        line = validate(model, written, at, problems)
        if line is not None:
            read = dict.fromkeys(values, None)
            for name, read_as in numbers.items():
                what = f"{name!r} is not a finite number"
                read[name] = read_as.read(cells[name], at, what, remedy, problems)
            yield at, line, read


# ---- DocLens's JSON: a folder with a file per system, `<system>.json`. Each is a list of records,
# matched by example_id; input and reference must be equal in all files. `input` has a passage per
# line; if lines begin with numbers (`[0][doctor] ...`), a line without a number continues the
# passage above.

_NUMBERED = re.compile(r"\s*\[(\d{1,9})\]\s*(.*)", re.ASCII | re.DOTALL)
_SPEAKER = re.compile(r"\[([^\]\[\d][^\]\[]*)\]\s*(.*)", re.DOTALL)


class Example(Options):
    """A record of a DocLens file, without its other keys."""

    example_id: Key
    input: Filled
    reference: Written
    output: Written


def _read_doclens(folder: Path, task: str) -> Rows:
    rows = Rows()
    paths = sorted(folder.glob("*.json"))
    if not paths:
        fix = f"put one per system there; {_SEE}"
        rows.wrong(Place(str(folder)), "holds no .json file", remedy=fix)
    first: dict[str, tuple[Place, Example]] = {}
    for path in paths:
        if path.stem == REFERENCE:
            fix = "rename it to the system that wrote the outputs"
            rows.wrong(Place(path.name), f"is named {REFERENCE}", remedy=fix)
        if path.stem != path.stem.strip() or not path.stem.isprintable():
            what = (
                "the file's name has blanks at an end or characters that do not print"
            )
            rows.wrong(
                Place(shown(path.name)),
                what,
                remedy="rename it: it is the system's name",
            )
        for at, example in _examples(path, rows):
            _add_example(example, at, path.stem, task, first, rows)
    for path in sorted(set(folder.glob("*")) - set(paths)):
        if path.suffix.lower() in DATA:
            rows.warnings.add(
                Place(path.name), "is not read", "name it <system>.json if it is one"
            )
    check_citations(rows)
    return rows


read_notes = partial(_read_doclens, task="note")
read_impressions = partial(_read_doclens, task="impression")
read_questions = partial(_read_doclens, task="question")
read_abstracts = partial(_read_doclens, task="abstract")


def _examples(path: Path, rows: Rows) -> Iterator[tuple[Place, Example]]:
    records = json_list(path, rows.problems, remedy=_SEE)
    examples = [
        (at, _validate_example(record, at, rows)) for at, record in records or ()
    ]
    if records is None or any(example is None for _, example in examples):
        rows.unreadable |= {"sources", "texts"}
    yield from ((at, example) for at, example in examples if example is not None)


def _validate_example(record: Any, at: Place, rows: Rows) -> Example | None:
    known = Example.model_fields
    if isinstance(record, dict):
        if other := sorted(record.keys() - known):
            fix = "nothing to do unless one is a misspelt key"
            rows.warnings.add(
                at, f"{len(other)} key(s) are not read", fix, shown(other[0])
            )
        record = {name: value for name, value in record.items() if name in known}
    return validate(Example, record, at, rows.problems)


def _add_example(
    example: Example,
    at: Place,
    system: str,
    task: str,
    first: dict[str, tuple[Place, Example]],
    rows: Rows,
) -> None:
    doc_id = example.example_id
    rows.texts.append(
        TextRow(at=at, doc_id=doc_id, author=system, part=FULL, text=example.output)
    )
    earlier_at, earlier = first.setdefault(doc_id, (at, example))
    if earlier is example:
        rows.sources.append(_example_source(example, at, task, rows))
        rows.texts.append(
            TextRow(
                at=at,
                doc_id=doc_id,
                author=REFERENCE,
                part=FULL,
                text=example.reference,
            )
        )
        return
    where = f"example_id {shown(doc_id)}"
    for name in ("input", "reference"):
        if getattr(example, name) != getattr(earlier, name):
            what = f"{name!r} differs from that in {earlier_at.file}"
            rows.wrong(
                at, what, where, "make them the same or give it its own example_id"
            )


def _example_source(example: Example, at: Place, task: str, rows: Rows) -> SourceRow:
    numbers = []
    lines = []
    numbered = _NUMBERED.fullmatch(example.input.strip()) is not None
    for line in example.input.splitlines():
        match = _NUMBERED.fullmatch(line) if numbered else None
        if match is not None:
            numbers.append(int(match[1]))
            lines.append(match[2].strip())
        elif numbered:
            lines[-1] += f"\n{line.strip()}"
        elif line.strip():
            lines.append(line.strip())
    where = f"example_id {shown(example.example_id)}"
    if numbered and numbers != list(range(len(numbers))):
        what = "the passages of 'input' are not numbered 0, 1, 2, ..."
        rows.wrong(at, what, where, "number them in order, from [0]")
    spoken = [_SPEAKER.fullmatch(line) for line in lines]
    passages = [m[2] if m else line for m, line in zip(spoken, lines, strict=True)]
    if empty := [n for n, passage in enumerate(passages) if not passage.strip()]:
        where += f", passage {empty[0]}"
        rows.wrong(
            at, "a passage of 'input' is empty", where, "remove it or fill it in"
        )
    speakers = [m[1].strip() if m else "" for m in spoken]
    return source_row(at, example.example_id, task, passages, speakers)
