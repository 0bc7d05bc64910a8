"""Records of files of other tools: JSON, JSON Lines, CSV, XLSX and Parquet.

Files may be larger than memory. JSON is read piece by piece, and only one record of it is in
memory. NaN, which Python's tools write, is read as a missing number.
"""

import csv
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from metassay.core.errors import BadInput
from metassay.imports.items import unpack
from metassay.tables.parquet_file import load
from metassay.tabular.decoding import is_readable
from metassay.tabular.files import read_sheet
from metassay.tabular.grid import find_separator
from metassay.tabular.limits import SPLIT, parquet_problem
from metassay.tabular.rows import Findings, Place

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
_CUT = (
    16  # characters before the end of the buffer: an error there may be of unread text
)


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
    """Yield the elements of a JSON file's lists of records, whole, and all other leaves; an empty
    list or object is the leaf None. Invalid JSON is a problem and ends the file."""
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


def single_object(path: Path, problems: Findings) -> dict[str, Any] | None:
    """Return the object that a JSON file holds as a whole; None, or a problem, if it has none."""
    if path.suffix.lower() in TABLES or not is_readable(path, problems, remedy=FIX):
        return None
    with _report_invalid(Place(path.name), problems):
        value = json.loads(path.read_text("utf-8-sig"))
        return value if isinstance(value, dict) else None
    return None


def names_in(path: Path) -> list[str]:
    """Return names of fields, columns or members at a file's start; none if it cannot be read.

    Of a text whose first line names its format, that line is the only name.
    """
    if not is_readable(path, Findings(), remedy=FIX):
        return []
    if first_line := _format_line(path):
        return [first_line]
    if path.suffix.lower() in TABLES:
        return [name for _, row in islice(records(path, Findings()), 1) for name in row]
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except (OSError, zipfile.BadZipFile):
        head = islice(parts(path, lambda _: False, Findings()), _HEAD)
        return list(dict.fromkeys(step for part in head for step in part.steps))


def header_of(path: Path) -> tuple[list[str], bool]:
    """Return the names of `names_in` from the start of a file, and whether values are nested.

    Workbooks have none: no tool writes them.
    """
    ending = path.suffix.lower()
    readable = is_readable(path, Findings(), remedy=FIX)
    if readable and (first_line := _format_line(path)):
        return [first_line], True
    if readable and ending in (".csv", ".tsv"):
        return _first_row(path), False
    if not readable or ending in SHEETS:
        return [], False
    if ending == ".parquet":
        with suppress(OSError, pa.ArrowException):
            schema = pq.read_schema(path)
            return schema.names, any(map(pa.types.is_nested, schema.types))
        return [], False
    head = islice(parts(path, lambda _: False, Findings()), _HEAD)
    nested = any(len(part.steps) > 1 for part in head) or zipfile.is_zipfile(path)
    return names_in(path), nested


def _first_row(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            line = file.readline(_PIECE).strip()
    except OSError:
        return []
    return [
        name.strip()
        for name in next(csv.reader([line], delimiter=find_separator(line)), [])
    ]


def _format_line(path: Path) -> str:
    try:
        with path.open("rb") as file:
            line = file.readline(200).decode("utf-8", "replace").strip()
    except OSError:
        return ""
    return line if line.startswith("#FORMAT=") else ""


def _parquet(path: Path, problems: Findings) -> Iterator[Part]:
    if too_large := parquet_problem(path):
        problems.add(Place(path.name), too_large, SPLIT)
        return
    try:
        for batch in load(path).to_batches(_BATCH):
            yield from (Part((), row, is_element=True) for row in batch.to_pylist())
    except BadInput:
        problems.add(Place(path.name), "is damaged or is not a Parquet file", FIX)


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
