"""Read JSON and CSV in UTF-8 with line numbers, and write CSV.

A byte order mark is skipped; lines end in LF or CRLF. Faults are recorded with their
line (and offset, for wrong bytes), and reading goes on.
"""

import codecs
import csv
import io
import json
import math
import os
import re
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from metassay.core.errors import BadInput, hint, shown
from metassay.tabular.limits import SPLIT, rows_problem, size_problem
from metassay.tabular.rows import Findings, Place

UNREAD = object()  # a value that could not be read; its problem is recorded
# Endings of data files: one that is not read is worth a warning.
DATA = frozenset(
    (
        ".csv",
        ".gz",
        ".json",
        ".jsonl",
        ".ndjson",
        ".parquet",
        ".tsv",
        ".xls",
        ".xlsx",
        ".zip",
    )
)

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_NAMED = 3  # files that are named, of several
_LONGEST = 2**31 - 1  # characters of a cell: fits a C long everywhere
_BOM = b"\xef\xbb\xbf"
_UTF8 = "save the file as UTF-8"
_AS_TEXT = "save its content as text in UTF-8"
_PICKLE = (
    "is a Python pickle, which can run any code when it is opened",
    "load it where you trust it, and save it with frame.to_parquet or frame.to_csv",
)
# First bytes of files that are not text.
_BINARY = {
    b"\x1f\x8b": ("is compressed by gzip", "unpack it"),
    b"PK\x03\x04": ("is an Excel or zip file", _AS_TEXT),
    b"\xd0\xcf\x11\xe0": ("is an Excel file", _AS_TEXT),
    b"PAR1": ("is a Parquet file", _AS_TEXT),
    b"\x80\x02": _PICKLE,
    b"\x80\x03": _PICKLE,
    b"\x80\x04": _PICKLE,
    b"\x80\x05": _PICKLE,
    b"RDX": ("is a file of R", 'write it as CSV: write.csv(x, "x.csv")'),
}
# Byte order marks of other encodings of Unicode.
UTF16 = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class Record(NamedTuple):
    """A record of a CSV file and the line it starts on."""

    at: Place
    fields: dict[str, str]


def read_bytes(path: Path, problems: Findings, *, remedy: str) -> bytes | None:
    """Read a text file without its byte order mark; None, with a problem, if it is no text."""
    if not is_readable(path, problems, remedy=remedy):
        return None
    data = path.read_bytes().removeprefix(_BOM)
    faults = [fault for mark, fault in _BINARY.items() if data.startswith(mark)]
    faults += [("is UTF-16 or UTF-32", _UTF8)] * any(map(data.startswith, UTF16))
    faults += [("is UTF-16, or no text", _UTF8)] * (data.count(b"\0") > len(data) / 10)
    faults += [("is empty", remedy)] * (not data.strip())
    for what, fix in faults[:1]:
        problems.add(Place(path.name), what, fix)
    return None if faults else data


def is_readable(path: Path, problems: Findings, *, remedy: str) -> bool:
    """Whether the path is a file that can be opened and is not too large; a problem if not.

    Pipes and devices are refused: reading one can take for ever.
    """
    at = Place(path.name)
    whole = at if path.suffix else Place(str(path))  # 63, of /dev/fd/63, is no name
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            problems.add(whole, "is a folder, not a file", remedy)
        elif not stat.S_ISREG(mode):
            problems.add(
                whole, "is a pipe or device, not a file", "save its content in a file"
            )
        elif too_large := size_problem(path):
            problems.add(at, too_large, SPLIT)
        else:
            path.open("rb").close()
            return True
    except FileNotFoundError:
        where = f"in {path.parent}" if path.parent != Path() else "in this folder"
        problems.add(at, f"is not {where}", f"{remedy}{_similar_file(path)}")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problems.add(at, f"cannot be read: {reason.lower()}", remedy)
    return False


def _similar_file(path: Path) -> str:
    """Return a hint at a file of the folder with a similar name, or an empty text."""
    try:
        names = sorted(entry.name for entry in path.parent.iterdir())
    except OSError:
        return ""
    return hint(path.name, names)


def check_names(paths: Sequence[Path], problems: Findings) -> None:
    """Check that files are different and have different names, which identify them and raters."""
    files = Counter(Path(os.path.realpath(path)) for path in paths)
    for path, n in files.items():
        if n > 1:
            problems.add(Place(path.name), "is named twice", "name it once")
    for name, n in Counter(path.name for path in files).items():
        if n > 1:
            what = f"{n} files have this name, which distinguishes raters and messages"
            problems.add(Place(name), what, "rename all but one of them")


def join_names(names: Sequence[str]) -> str:
    """Join the first names of several files."""
    left = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {left} more" if left > 0 else "")


def json_lines(
    path: Path, problems: Findings, *, remedy: str
) -> Iterator[tuple[Place, Any]]:
    """Yield each line's place and value, UNREAD where it is not JSON; blank lines are skipped."""
    data = read_bytes(path, problems, remedy=remedy)
    offset = path.stat().st_size - len(data) if data is not None else 0
    for number, line in enumerate((data or b"").split(b"\n"), start=1):
        at = Place(path.name, number)
        text = decode(line, path, problems, number, offset)
        offset += len(line) + 1
        if text is None:
            yield at, UNREAD
        elif text.strip():
            yield at, parse_json(text, at, problems)


def parse_json(text: str, at: Place, problems: Findings, *, nan: bool = False) -> Any:
    """Return the value, or UNREAD with a problem.

    Stricter than `json.loads`: NaN (unless `nan`), infinities, numbers too large for
    doubles and repeated keys are errors.
    """
    try:
        return json.loads(
            text,
            parse_constant=_nan_alone if nan else _no_constant,
            parse_float=_parse_float,
            object_pairs_hook=_make_members,
        )
    except json.JSONDecodeError as error:
        where = f"{error.msg.lower().removesuffix(' at')} at column {error.colno}"
        if at.row is None:
            where += f" of line {error.lineno}"
        problems.add(at, "is not valid JSON", "correct it", where)
    except _NotStrictError as error:
        problems.add(at, "is not strict JSON", "correct it", str(error))
    except (RecursionError, ValueError):
        # A thousand nested lists, or a number with more digits than Python reads.
        problems.add(
            at, "is not readable as JSON", "nest it less deeply and shorten its numbers"
        )
    return UNREAD


def read_text(path: Path, problems: Findings, *, remedy: str) -> str | None:
    """Read a text file; None, with a problem, if it is no text or not UTF-8."""
    data = read_bytes(path, problems, remedy=remedy)
    return None if data is None else decode(data, path, problems)


def load_json(path: Path, problems: Findings, *, remedy: str) -> Any:
    """Read the value of a JSON file; UNREAD, with a problem, if it is not valid."""
    text = read_text(path, problems, remedy=remedy)
    return UNREAD if text is None else parse_json(text, Place(path.name), problems)


def json_list(
    path: Path, problems: Findings, *, remedy: str, what: str = "records"
) -> list[tuple[Place, Any]] | None:
    """Read the records of a JSON list, with their places; None, with a problem, if it is none."""
    value = load_json(path, problems, remedy=remedy)
    if isinstance(value, list):
        return [
            (Place(path.name, n, "record"), record)
            for n, record in enumerate(value, start=1)
        ]
    if value is not UNREAD:
        problems.add(Place(path.name), f"is not a list of {what}", remedy)
    return None


def decode(
    data: bytes,
    path: Path,
    problems: Findings,
    line: int = 1,
    offset: int | None = None,
) -> str | None:
    """Decode a file's bytes from a line and offset on; None, with a problem, if not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = path.stat().st_size - len(data) if offset is None else offset
        byte = f"byte {before + error.start} of the file is 0x{error.object[error.start]:02x}"
        at = Place(path.name, line + data.count(b"\n", 0, error.start))
        problems.add(at, "is not UTF-8", _UTF8, byte)
        return None


def csv_records(
    path: Path,
    problems: Findings,
    *,
    required: tuple[str, ...],
    optional: tuple[str, ...] | None = None,
    remedy: str,
) -> list[Record]:
    """Read the records of a CSV file whose first line names its columns.

    `optional=None` allows any further columns; otherwise others are a problem. With a
    wrong header nothing is read.
    """
    text = read_text(path, problems, remedy=remedy)
    rows = [line for line in csv_lines(text or "", path.name, problems) if line[1]]
    header = rows[0][1] if rows else []
    if not rows or not check_header(header, path.name, problems, required, optional):
        return []
    records = []
    for at, cells in rows[1:]:
        if len(cells) != len(header):
            what = f"does not have the {len(header)} fields of the header"
            fix = 'add or remove commas; put a field that contains one in "quotes"'
            problems.add(at, what, fix, f"{len(cells)} fields")
        else:
            records.append(Record(at, dict(zip(header, cells, strict=True))))
    return records


def csv_lines(
    text: str, name: str, problems: Findings, separator: str = ","
) -> Iterator[tuple[Place, list[str]]]:
    """Yield each record's place and cells, or blank line; invalid CSV ends it with a problem.

    Raises BadInput if there are more records than any table may have.
    """
    # the default, 131,072 characters, is too few for sources
    csv.field_size_limit(_LONGEST)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line = 1
    try:
        for number, cells in enumerate(reader):
            if too_many := rows_problem(number):  # beside the header
                raise BadInput(f"{name}: {too_many}; {SPLIT}")
            yield Place(name, line), cells
            line = reader.line_num + 1
    except csv.Error as error:
        problems.add(
            Place(name, line),
            "is not readable as CSV",
            'check its "quotes"',
            str(error),
        )


def csv_bytes(header: Iterable[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Write a CSV file that reads back to the same cells."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue().encode("utf-8")


def finite_number(text: str) -> float | None:
    """Return the number in a text; None for anything else, for NaN and infinities."""
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    return number if math.isfinite(number) else None


def warn_unread(folder: Path, known: Collection[str], warnings: Findings) -> None:
    """Warn of data files that are not read, as their names may be misspelt."""
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in DATA and path.name not in known:
            fix = f"rename it if it is one of {', '.join(sorted(known))}"
            warnings.add(Place(path.name), "is not read", fix)


class _NotStrictError(Exception):
    """JSON that Python reads, but that is invalid or ambiguous by the standard."""


def _no_constant(name: str) -> NoReturn:
    raise _NotStrictError(f"{name} is not a JSON number")


def _nan_alone(name: str) -> float:
    return math.nan if name == "NaN" else _no_constant(name)


def _parse_float(written: str) -> float:
    number = float(written)
    if math.isinf(number):
        raise _NotStrictError("a number is too large")
    return number


def _make_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise _NotStrictError(f"key {shown(name)} occurs twice")
        members[name] = value
    return members


def check_header(
    header: list[str],
    name: str,
    problems: Findings,
    required: tuple[str, ...],
    optional: tuple[str, ...] | None,
) -> bool:
    """Whether the first line names the right columns; a problem for each fault."""
    at = Place(name, 1)
    named = f"line 1 must name the columns: {','.join(required)}"
    missing = [column for column in required if column not in header]
    repeated = sorted(column for column, count in Counter(header).items() if count > 1)
    known = {*required, *(optional or ())}
    unknown = [c for c in header if c not in known] if optional is not None else []
    for column in missing:
        problems.add(at, f"column {column!r} is missing", named)
    for column in repeated:
        problems.add(at, f"column {shown(column)} occurs twice", "remove one of them")
    if unknown:
        # Not quoted: if the header is missing, these are data.
        what = f"{len(unknown)} column(s) are unknown"
        fix = f"remove them or correct their spelling; known: {', '.join((*required, *optional))}"  # type: ignore[misc]
        problems.add(at, what, fix, f"column {header.index(unknown[0]) + 1}")
    return not (missing or repeated or unknown)
