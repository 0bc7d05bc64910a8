"""Records of other tools' files, their fields as names, texts and numbers, and items made of them.

Files may be larger than memory: JSON, JSON Lines, CSV, XLSX and Parquet. JSON is read
piece by piece, and only one record of it is in memory. NaN, which Python's tools write,
is read as a missing number.
"""

import hashlib
import json
import math
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from metassay.core.errors import BadInput
from metassay.tables.parquet_file import load
from metassay.tabular.decoding import finite_number, is_readable
from metassay.tabular.numbers import is_blank
from metassay.tabular.rows import Findings, Place
from metassay.tabular.sheet import read_sheet

Object = Mapping[str, Any]  # of JSON, or a row of a table


class Judgment(NamedTuple):
    """The judgment of a text by a judge or person and a scorer; empty without value and label.

    `label`: the verdict in words, if there is one. `by`: the judge's model, or the
    rater.
    """

    name: str
    value: float | None
    label: str
    by: str
    person: bool


class Item(NamedTuple):
    """One text of one system about one document, with the values of a record as the tool has them.

    Texts may be chats or any JSON. `failed`: the system returned no text. `corrected`:
    a person's value replaced the judge's.
    """

    place: Place
    record: object
    judgments: Iterable[Judgment]
    doc: object
    system: object
    text: object = None
    source: Iterable[object] = ()  # passages, or lists of them
    reference: object = None
    failed: bool = False
    corrected: bool = False
    epoch: object = 1


class Task(NamedTuple):
    """A file to read, the fields that name documents and systems, problems and notes."""

    path: Path
    doc_field: str
    system_field: str
    problems: Findings
    notes: Findings

    def names(self, item: Item) -> tuple[str, str]:
        """Return an item's document and system, by the fields of the task or the tool's own.

        A tool without systems has the file's name for one.
        """
        doc = field(item.record, self.doc_field) if self.doc_field else item.doc
        of_tool = key(item.system) or key(self.path.stem)
        system = (
            key(field(item.record, self.system_field)) if self.system_field else of_tool
        )
        return key(
            doc
        ), f"{system}#{item.epoch}" if system and item.epoch != 1 else system

    def note(self, count: int, what: str, remedy: str) -> None:
        """Add a note about `count` things of the file, if there are any."""
        if count:
            self.notes.add(Place(self.path.name), f"{count:,} {what}", remedy)


def parse_value(
    name: object,
    value: object,
    by: object = "",
    *,
    person: bool = False,
    label: object = "",
) -> Iterator[Judgment]:
    """Yield a judgment per number or word in the value, an empty one for null and NaN.

    A `label` that is true or false becomes `pass` or `fail`.
    """
    scorer, rater = key(name) or "score", key(by) or ("person" if person else "")
    if isinstance(value, Mapping | list | tuple) and value:
        parts = (
            value.items() if isinstance(value, Mapping) else enumerate(value, start=1)
        )
        for step, inner in parts:
            yield from parse_value(
                f"{scorer}_{step}", inner, rater, person=person, label=label
            )
        return
    word = (
        value
        if isinstance(value, str) and number(value) is None and not is_blank(value)
        else ""
    )
    if isinstance(label, bool):
        label = "pass" if label else "fail"
    yield Judgment(scorer, number(value), key(label) or key(word), rater, person)


def parse_rating(
    name: object, value: object, by: object = "", label: object = ""
) -> Iterator[Judgment]:
    """Yield a person's judgments; none where the value is null or an empty cell."""
    if value is not None and not (isinstance(value, str) and is_blank(value)):
        yield from parse_value(name, value, by, person=True, label=label)


def unpack(value: object) -> Any:
    """Parse a value that a table holds as JSON; other text stays text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def field(record: object, path: str) -> Any:
    """Return the field `metadata.model`, or `choices.0.text`, of a record; None if it has none."""
    if isinstance(record, Mapping) and path in record:
        return record[path]
    for step in path.split("."):
        record = unpack(record)
        if isinstance(record, list):
            record = {str(place): value for place, value in enumerate(record)}
        record = record.get(step) if isinstance(record, Mapping) else None
    return record


def first(record: object, *names: str) -> Any:
    """Return the first of these fields that is not empty."""
    return next(
        (v for v in (field(record, name) for name in names) if v not in (None, "")),
        None,
    )


def objects(value: object) -> list[Object]:
    """Return the objects in a list; none if the value is no list."""
    return (
        [v for v in value if isinstance(v, Mapping)] if isinstance(value, list) else []
    )


def key(value: object) -> str:
    """Write a name in one line, without blanks around it; "" for what cannot be a name."""
    if isinstance(value, Mapping | list) or _is_nothing(value):
        return ""
    return " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())


def _is_nothing(value: object) -> bool:
    return value in (None, "", []) or (isinstance(value, float) and math.isnan(value))


def digest(value: object) -> str:
    """Make an id of a value that has none: equal values have equal ids."""
    serialized = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(serialized.encode()).hexdigest()[:12]


def text(value: object) -> str | None:
    """Return the text of a string, chat messages or their parts, or any JSON; None if empty."""
    if isinstance(value, list) and value and len(objects(value)) == len(value):
        value = "\n".join(
            filter(None, (text(first(part, "text", "content")) for part in value))
        )
    if _is_nothing(value) or isinstance(value, str):
        return value if isinstance(value, str) and value else None
    return json.dumps(value, ensure_ascii=False, default=str)


def number(value: object) -> float | None:
    """Return a value as a number, true being 1; None for anything else, NaN and infinities."""
    if isinstance(value, str):
        return finite_number(value.strip())
    return (
        float(value) if isinstance(value, int | float) and abs(value) < 1e300 else None
    )


# ---- records of files

Steps = tuple[str, ...]  # the names of fields that lead to a value
Select = Callable[[Steps], bool]  # whether the value there is a list of records
Record = tuple[Place, dict[str, Any]]

LINES = (".jsonl", ".ndjson")
SHEETS = (".csv", ".tsv", ".xlsx", ".xlsm")
TABLES = (*SHEETS, ".parquet")
FIX = "write it again, or correct it"
_PIECE = 1 << 16  # characters
_BATCH = 1 << 10  # rows
_DECODER = json.JSONDecoder()
_BLANK = " \t\r\n"
# Where tools have their records: in a list at the root, or below these names.
_LISTS = (
    (),
    ("data",),
    ("samples",),
    ("scores",),
    ("traces",),
    ("results",),
    ("results",) * 2,
)
_HEAD = 2000  # values of a JSON file from which its tool is known
# characters before the end of the buffer: an error there may be of unread text
_CUT = 16


class Part(NamedTuple):
    """A value in a JSON file: an element of a list of records (`is_element`), or a leaf."""

    steps: Steps
    value: Any
    is_element: bool = False


class _Scanner:
    """Read the values of a JSON text in order, with little more than one of them in memory."""

    def __init__(self, file: TextIO) -> None:
        self.file, self.buffer, self.position, self.offset = file, "", 0, 0

    def read_more(self) -> bool:
        """At least double the unread text in the buffer; return False at the end of the file."""
        piece = self.file.read(max(_PIECE, len(self.buffer) - self.position))
        self.buffer = self.buffer[self.position :] + piece
        self.offset, self.position = self.offset + self.position, 0
        return bool(piece)

    def peek(self) -> str:
        """Return the next character that is no blank; "" at the end."""
        while self.position < len(self.buffer) or self.read_more():
            if self.buffer[self.position] not in _BLANK:
                return self.buffer[self.position]
            self.position += 1
        return ""

    def take(self, characters: str) -> str:
        """Read the next character, which must be one of these."""
        character = self.peek()
        if not character or character not in characters:
            raise self.fault(f"expecting one of {characters}", self.position)
        self.position += 1
        return character

    def fault(self, what: str, position: int) -> json.JSONDecodeError:
        """Return the error, with its place in the file."""
        return json.JSONDecodeError(
            f"{what}, character {self.offset + position + 1:,}", "", 0
        )

    def value(self) -> Any:
        """Read the next value, whole."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self.buffer, self.position)
            except json.JSONDecodeError as error:
                cut = (
                    error.msg.startswith("Unterminated")
                    or error.pos > len(self.buffer) - _CUT
                )
                fault = self.fault(error.msg.lower(), error.pos)
                if not cut or not self.read_more():
                    raise fault from None
                continue
            # A number may go on in the next piece.
            length, following = end - self.position, self.buffer[end : end + 1]
            if (following and following in ",:]}" + _BLANK) or not self.read_more():
                self.position += length
                return value


def _parts(scan: _Scanner, select: Select, steps: Steps) -> Iterator[Part]:
    ends = {"[": "[]", "{": "{}"}.get(scan.peek())
    if not ends:
        yield Part(steps, scan.value())
        return
    scan.take(ends[0])
    last = scan.peek() == ends[1] and scan.take(ends[1])
    if last:
        yield Part(steps, None)
    while last != ends[1]:
        inner = steps
        if ends == "{}":
            inner = (*steps, str(scan.value()))
            scan.take(":")
        if ends == "[]" and select(steps):
            yield Part(steps, scan.value(), is_element=True)
        else:
            yield from _parts(scan, select, inner)
        last = scan.take("," + ends[1])


def parts(path: Path, select: Select, problems: Findings) -> Iterator[Part]:
    """Yield the elements of a JSON file's lists of records, whole, and all other
    leaves; an empty list or object is the leaf None. Invalid JSON is a problem and ends
    the file.
    """
    if is_readable(path, problems, remedy=FIX):
        with (
            _report_invalid(Place(path.name), problems),
            path.open(encoding="utf-8-sig") as file,
        ):
            scan = _Scanner(file)
            while scan.peek():
                yield from _parts(scan, select, ())


@contextmanager
def _report_invalid(place: Place, problems: Findings) -> Iterator[None]:
    try:
        yield
    except json.JSONDecodeError as error:
        problems.add(place, "is not valid JSON", FIX, error.msg.lower())
    except UnicodeDecodeError:
        problems.add(place, "is not UTF-8", FIX)
    except (RecursionError, ValueError):
        problems.add(place, "is not readable as JSON", FIX)


def is_list(steps: Steps) -> bool:
    """Return whether tools have a list of records there."""
    return steps in _LISTS


def records(
    path: Path, problems: Findings, select: Select = is_list
) -> Iterator[Record]:
    """Yield each record of a file with its place; of JSON, the objects in lists of records.

    A JSON file with an object a line is read as JSON Lines, whatever its ending.
    """
    ending = path.suffix.lower()
    if ending in SHEETS:
        sheet = read_sheet(path, problems, header_alone=True)
        yield from sheet.rows if sheet else ()
        return
    if not is_readable(path, problems, remedy=FIX):
        return
    if ending in LINES or (ending not in TABLES and _is_lines(path)):
        values = _lines(path, problems)
    else:
        read = (
            _parquet(path, problems)
            if ending in TABLES
            else parts(path, select, problems)
        )
        elements = (part.value for part in read if part.is_element)
        values = (
            (Place(path.name, n, "record"), v) for n, v in enumerate(elements, start=1)
        )
    for place, value in values:
        if isinstance(value, dict):
            yield place, value
        else:
            problems.add(place, "is not an object with named values", FIX)


def names_in(path: Path) -> list[str]:
    """Return names of fields, columns or members at a file's start; none if it cannot be read."""
    if path.suffix.lower() in TABLES:
        return [name for _, row in islice(records(path, Findings()), 1) for name in row]
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except (OSError, zipfile.BadZipFile):
        head = islice(parts(path, lambda _: False, Findings()), _HEAD)
        return list(dict.fromkeys(step for part in head for step in part.steps))


def _parquet(path: Path, problems: Findings) -> Iterator[Part]:
    try:
        for batch in load(path).to_batches(_BATCH):
            yield from (Part((), row, is_element=True) for row in batch.to_pylist())
    except BadInput:
        problems.add(Place(path.name), "is damaged or no Parquet file", FIX)


def _lines(path: Path, problems: Findings) -> Iterator[tuple[Place, object]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            place = Place(path.name, number)
            with _report_invalid(place, problems):
                if line.strip():
                    yield (
                        place,
                        json.loads(
                            line.decode("utf-8-sig" if number == 1 else "utf-8")
                        ),
                    )


def _is_lines(path: Path) -> bool:
    with path.open("rb") as file:
        first, second = file.readline(_PIECE), file.readline(_PIECE)
    whole = isinstance(unpack(first.decode("utf-8", "replace")), dict)
    return whole and second.startswith(b"{")
