"""Bytes to lines of JSON and records of CSV that know their line numbers; records to bytes.

UTF-8 throughout; a byte order mark is skipped; lines may end in LF or CRLF. What cannot be read is
recorded with its line, and for wrong bytes its offset in the file, and reading goes on.
"""

import csv
import io
import json
import math
import re
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from metassay.core.errors import shown
from metassay.tabular.rows import Findings, Place

UNREAD = object()  # stands for a value that could not be read; its problem is recorded
# Endings of files with data: one that nobody reads is worth a warning.
DATA = frozenset(
    (".csv", ".gz", ".json", ".jsonl", ".ndjson", ".parquet", ".tsv", ".xls", ".xlsx", ".zip")
)

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_NAMED = 3  # files whose names stand for all
_LONGEST = 2**31 - 1  # characters of a cell: what fits a C long everywhere
_BOM = b"\xef\xbb\xbf"
_UTF8 = "save the file as UTF-8"
# What a file begins with that is not text, whatever it is called.
_BINARY = {
    b"\x1f\x8b": ("is compressed by gzip", "unpack it"),
    b"PK\x03\x04": ("is an Excel or zip file", "save its content as text in UTF-8"),
    b"\xd0\xcf\x11\xe0": ("is an Excel file", "save its content as text in UTF-8"),
    b"PAR1": ("is a Parquet file", "save its content as text in UTF-8"),
    b"\xff\xfe": ("is UTF-16 or UTF-32", _UTF8),
    b"\xfe\xff": ("is UTF-16", _UTF8),
}


class Record(NamedTuple):
    """One record of a CSV file and the line it starts on."""

    at: Place
    fields: dict[str, str]


def read_bytes(path: Path, problems: Findings, *, remedy: str) -> bytes | None:
    """The text file without its byte order mark; None, with a problem, if it cannot be one."""
    if not is_readable(path, problems, remedy=remedy):
        return None
    data = path.read_bytes().removeprefix(_BOM)
    wrong = [told for mark, told in _BINARY.items() if data.startswith(mark)]
    wrong += [("is UTF-16, or no text", _UTF8)] * (data.count(b"\0") > len(data) / 10)
    wrong += [("is empty", remedy)] * (not data.strip())
    for what, fix in wrong[:1]:
        problems.add(Place(path.name), what, fix)
    return None if wrong else data


def is_readable(path: Path, problems: Findings, *, remedy: str) -> bool:
    """Whether it is a file that can be opened; a problem if not.

    A pipe is none: what waits for its other end may wait for ever.
    """
    at = Place(path.name)
    whole = at if path.suffix else Place(str(path))  # the name of /dev/fd/63 says nothing
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            problems.add(whole, "is a folder, not a file", remedy)
        elif not stat.S_ISREG(mode):
            problems.add(whole, "is a pipe or device, not a file", "save its content in a file")
        else:
            path.open("rb").close()
            return True
    except FileNotFoundError:
        where = f"in {path.parent}" if path.parent != Path() else "in this folder"
        problems.add(at, f"is not {where}", remedy)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problems.add(at, f"cannot be read: {reason.lower()}", remedy)
    return False


def check_names(paths: Sequence[Path], problems: Findings) -> None:
    """Of several files none may be named twice; their names tell them, and raters, apart."""
    files = Counter(path.resolve() for path in paths)
    for path, n in files.items():
        if n > 1:
            problems.add(Place(path.name), "is named twice", "name it once")
    for name, n in Counter(path.name for path in files).items():
        if n > 1:
            what = f"{n} files have this name, by which raters and messages are told apart"
            problems.add(Place(name), what, "rename all but one of them")


def join_names(names: Sequence[str]) -> str:
    """What several files are called together."""
    left = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {left} more" if left > 0 else "")


def json_lines(path: Path, problems: Findings, *, remedy: str) -> Iterator[tuple[Place, Any]]:
    """Every line as (place, value), or (place, UNREAD) where it is not JSON; blank ones skipped."""
    data = read_bytes(path, problems, remedy=remedy)
    offset = path.stat().st_size - len(data) if data is not None else 0
    for number, line in enumerate((data or b"").split(b"\n"), start=1):
        at = Place(path.name, number)
        text = _decode_line(line, at, offset, problems)
        offset += len(line) + 1
        if text is None:
            yield at, UNREAD
        elif text.strip():
            yield at, parse_json(text, at, problems)


def parse_json(text: str, at: Place, problems: Findings) -> Any:
    """The value, or UNREAD with a problem.

    Stricter than `json.loads`: NaN, infinities, numbers beyond all doubles and an object that has a
    key twice are errors.
    """
    try:
        return json.loads(
            text,
            parse_constant=_no_constant,
            parse_float=_parse_float,
            object_pairs_hook=_without_repeats,
        )
    except json.JSONDecodeError as error:
        where = f"{error.msg.lower().removesuffix(' at')} at column {error.colno}"
        if at.row is None:
            where += f" of line {error.lineno}"
        problems.add(at, "is not valid JSON", "correct it", where)
    except _NotStrictError as error:
        problems.add(at, "is not strict JSON", "correct it", str(error))
    except (RecursionError, ValueError):
        # Lists in lists a thousand deep, or a number of more digits than Python reads.
        problems.add(at, "is not readable as JSON", "nest it less deeply and shorten its numbers")
    return UNREAD


def read_text(path: Path, problems: Findings, *, remedy: str) -> str | None:
    """The whole text file; None, with a problem, if it cannot be one or is not UTF-8."""
    data = read_bytes(path, problems, remedy=remedy)
    return None if data is None else decode(data, path, problems)


def load_json(path: Path, problems: Findings, *, remedy: str) -> Any:
    """The value of a JSON file, or UNREAD with a problem."""
    text = read_text(path, problems, remedy=remedy)
    return UNREAD if text is None else parse_json(text, Place(path.name), problems)


def json_list(
    path: Path, problems: Findings, *, remedy: str, what: str = "records"
) -> list[tuple[Place, Any]] | None:
    """The records of a file that is one JSON list, and their places; None, with a problem, else."""
    value = load_json(path, problems, remedy=remedy)
    if isinstance(value, list):
        return [(Place(path.name, n, "record"), one) for n, one in enumerate(value, start=1)]
    if value is not UNREAD:
        problems.add(Place(path.name), f"is not a list of {what}", remedy)
    return None


def decode(data: bytes, path: Path, problems: Findings) -> str | None:
    """The whole file as text; None, with a problem, if it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        skipped = path.stat().st_size - len(data)
        at = Place(path.name, data.count(b"\n", 0, error.start) + 1)
        problems.add(at, "is not UTF-8", _UTF8, _offset(error, skipped))
        return None


def csv_records(
    path: Path,
    problems: Findings,
    *,
    required: tuple[str, ...],
    optional: tuple[str, ...] | None = None,
    remedy: str,
) -> list[Record]:
    """The records of a CSV file whose first line names its columns.

    `optional=None` allows any further columns; otherwise one that is neither required nor optional
    is a problem. With a wrong header nothing is read.
    """
    text = read_text(path, problems, remedy=remedy)
    rows = [line for line in csv_lines(text or "", path.name, problems) if line[1]]
    header = rows[0][1] if rows else []
    if not rows or not check_header(header, path.name, problems, required, optional):
        return []
    records = []
    for at, cells in rows[1:]:
        if len(cells) != len(header):
            what = f"has not the {len(header)} fields that the header names"
            fix = 'add or remove commas; put a field that contains one in "quotes"'
            problems.add(at, what, fix, f"{len(cells)} fields")
        else:
            records.append(Record(at, dict(zip(header, cells, strict=True))))
    return records


def csv_lines(
    text: str, name: str, problems: Findings, separator: str = ","
) -> Iterator[tuple[Place, list[str]]]:
    """Each record's place and cells, blank lines too; what is no CSV is a problem, and the end."""
    csv.field_size_limit(_LONGEST)  # without it 131,072 characters; a source may have more
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line = 1
    while True:
        at = Place(name, line)
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.add(at, "is not readable as CSV", 'check its "quotes"', str(error))
            return
        line = reader.line_num + 1
        yield at, cells


def csv_bytes(header: Iterable[str], rows: Iterable[Sequence[str]]) -> bytes:
    """A CSV file that reads back to the same cells."""
    made = io.StringIO(newline="")
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return made.getvalue().encode("utf-8")


def finite_number(written: str) -> float | None:
    """The number that is written; None for anything else, for NaN and infinities."""
    number = float(written) if _NUMBER.fullmatch(written) else math.nan
    return number if math.isfinite(number) else None


def warn_unread(folder: Path, known: Collection[str], warnings: Findings) -> None:
    """Warn of files with data that nobody reads: a misspelt name must not be passed over."""
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in DATA and path.name not in known:
            fix = f"rename it if it is one of {', '.join(sorted(known))}"
            warnings.add(Place(path.name), "is not read", fix)


class _NotStrictError(Exception):
    """JSON that Python reads and the standard does not allow, or allows without a meaning."""


def _no_constant(name: str) -> NoReturn:
    raise _NotStrictError(f"{name} is not a JSON number")


def _parse_float(written: str) -> float:
    number = float(written)
    if math.isinf(number):
        raise _NotStrictError("a number is too large")
    return number


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _NotStrictError(f"key {shown(name)} is there twice")
        found[name] = value
    return found


def _decode_line(line: bytes, at: Place, offset: int, problems: Findings) -> str | None:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        problems.add(at, "is not UTF-8", _UTF8, _offset(error, offset))
        return None


def _offset(error: UnicodeDecodeError, before: int) -> str:
    return f"byte {before + error.start} of the file is 0x{error.object[error.start]:02x}"


def check_header(
    header: list[str],
    name: str,
    problems: Findings,
    required: tuple[str, ...],
    optional: tuple[str, ...] | None,
) -> bool:
    """Whether a first line names the columns that it should; a problem for each fault."""
    at = Place(name, 1)
    named = f"line 1 must name the columns: {','.join(required)}"
    missing = [column for column in required if column not in header]
    repeated = sorted(column for column, count in Counter(header).items() if count > 1)
    known = {*required, *(optional or ())}
    unknown = [c for c in header if c not in known] if optional is not None else []
    for column in missing:
        problems.add(at, f"column {column!r} is missing", named)
    for column in repeated:
        problems.add(at, f"column {shown(column)} is there twice", "remove one of them")
    if unknown:
        # Not named: where the header is missing, these are somebody's data.
        what = f"{len(unknown)} column(s) are unknown"
        fix = f"remove them or correct their spelling; known: {', '.join((*required, *optional))}"  # type: ignore[misc]
        problems.add(at, what, fix, f"column {header.index(unknown[0]) + 1}")
    return not (missing or repeated or unknown)
