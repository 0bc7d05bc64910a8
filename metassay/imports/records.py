"""Records of files that may be larger than memory: JSON, JSON Lines, CSV, XLSX and Parquet.

JSON is read piece by piece, and only one record of it is held at a time. NaN, which Python's tools
write, is read as a number that is none.
"""

import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from metassay.core.errors import BadInput
from metassay.imports.record import unpacked
from metassay.tables.parquet_file import load
from metassay.tabular.decoding import is_readable
from metassay.tabular.rows import Findings, Place
from metassay.tabular.sheet import read_sheet

Steps = tuple[str, ...]  # names of fields that lead to a value
Wanted = Callable[[Steps], bool]
Record = tuple[Place, dict[str, Any]]

LINES = (".jsonl", ".ndjson")
SHEETS = (".csv", ".tsv", ".xlsx", ".xlsm")
TABLES = (*SHEETS, ".parquet")
FIX = "write it again, or correct it"
_PIECE = 1 << 16  # characters
_BATCH = 1 << 10  # rows
_DECODER = json.JSONDecoder()
_BLANK = " \t\r\n"
# Where tools have their records: the root's own list, or one below these names.
_LISTS = ((), ("data",), ("samples",), ("scores",), ("traces",), ("results",), ("results",) * 2)
_HEAD = 2000  # values of a JSON file that tell what it is
_CUT = 16  # characters from the end, within which an error may come of what is not read yet


class Part(NamedTuple):
    """A value in a JSON file: an element of a list that is wanted (`listed`), or a leaf."""

    steps: Steps
    value: Any
    listed: bool = False


class _Scanner:
    """The values of a JSON text in their order, of which only what is looked at is held."""

    def __init__(self, file: TextIO) -> None:
        self.file, self.held, self.at, self.gone = file, "", 0, 0

    def more(self) -> bool:
        """Hold at least twice as much of what is not taken yet; False at the end."""
        piece = self.file.read(max(_PIECE, len(self.held) - self.at))
        self.held, self.at, self.gone = self.held[self.at :] + piece, 0, self.gone + self.at
        return bool(piece)

    def peek(self) -> str:
        """The next character that is no blank; "" at the end."""
        while self.at < len(self.held) or self.more():
            if self.held[self.at] not in _BLANK:
                return self.held[self.at]
            self.at += 1
        return ""

    def take(self, wanted: str) -> str:
        """The next character, which must be one of these."""
        found = self.peek()
        if not found or found not in wanted:
            raise self.fault(f"expecting one of {wanted}", self.at)
        self.at += 1
        return found

    def fault(self, what: str, at: int) -> json.JSONDecodeError:
        """What is wrong, and where in the file."""
        return json.JSONDecodeError(f"{what}, character {self.gone + at + 1:,}", "", 0)

    def value(self) -> Any:
        """The next value, whole."""
        self.peek()
        while True:
            try:
                found, end = _DECODER.raw_decode(self.held, self.at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated") or error.pos > len(self.held) - _CUT
                fault = self.fault(error.msg.lower(), error.pos)
                if not cut or not self.more():
                    raise fault from None
                continue
            # What ends here may be the beginning of a longer number.
            length, behind = end - self.at, self.held[end : end + 1]
            if (behind and behind in ",:]}" + _BLANK) or not self.more():
                self.at += length
                return found


def _parts(scan: _Scanner, wanted: Wanted, steps: Steps) -> Iterator[Part]:
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
        if ends == "[]" and wanted(steps):
            yield Part(steps, scan.value(), listed=True)
        else:
            yield from _parts(scan, wanted, inner)
        last = scan.take("," + ends[1])


def parts(path: Path, wanted: Wanted, problems: Findings) -> Iterator[Part]:
    """Of a JSON file each element of the lists that are wanted, whole, and every other leaf; an
    empty list or object is one, None. What is no JSON is a problem, and the end."""
    if is_readable(path, problems, remedy=FIX):
        with _sound(Place(path.name), problems), path.open(encoding="utf-8-sig") as file:
            scan = _Scanner(file)
            while scan.peek():
                yield from _parts(scan, wanted, ())


@contextmanager
def _sound(at: Place, problems: Findings) -> Iterator[None]:
    try:
        yield
    except json.JSONDecodeError as error:
        problems.add(at, "is not valid JSON", FIX, error.msg.lower())
    except UnicodeDecodeError:
        problems.add(at, "is not UTF-8", FIX)
    except (RecursionError, ValueError):
        problems.add(at, "is not readable as JSON", FIX)


def listed(steps: Steps) -> bool:
    """Whether tools have a list of records there."""
    return steps in _LISTS


def records(path: Path, problems: Findings, wanted: Wanted = listed) -> Iterator[Record]:
    """Each record of a file and its place; in JSON the objects of the lists that are wanted.

    A JSON file that is an object a line, whatever its ending, is read as JSON Lines.
    """
    ending = path.suffix.lower()
    if ending in SHEETS:
        sheet = read_sheet(path, problems, header_alone=True)
        yield from sheet.rows if sheet else ()
        return
    if not is_readable(path, problems, remedy=FIX):
        return
    if ending in LINES or (ending not in TABLES and _is_lines(path)):
        found = _lines(path, problems)
    else:
        read = _parquet(path, problems) if ending in TABLES else parts(path, wanted, problems)
        values = (one.value for one in read if one.listed)
        found = ((Place(path.name, n, "record"), one) for n, one in enumerate(values, start=1))
    for at, one in found:
        if isinstance(one, dict):
            yield at, one
        else:
            problems.add(at, "is no object with named values", FIX)


def names_in(path: Path) -> list[str]:
    """Names of fields, columns or members at a file's beginning; none where it cannot be read."""
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
            yield from (Part((), row, listed=True) for row in batch.to_pylist())
    except BadInput:
        problems.add(Place(path.name), "is damaged or no Parquet file", FIX)


def _lines(path: Path, problems: Findings) -> Iterator[tuple[Place, object]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            at = Place(path.name, number)
            with _sound(at, problems):
                if line.strip():
                    yield at, json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))


def _is_lines(path: Path) -> bool:
    with path.open("rb") as file:
        one, other = file.readline(_PIECE), file.readline(_PIECE)
    whole = isinstance(unpacked(one.decode("utf-8", "replace")), dict)
    return whole and other.startswith(b"{")
