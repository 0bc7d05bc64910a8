"""Read tables for every command: CSV, XLSX, JSON, Parquet and data frames.

Handles separators, blanks around cells, titles above the header, merged cells,
additions of Qualtrics and Label Studio, and several files of one kind.
"""

import json
import math
import numbers
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import wraps
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from metassay.core.errors import BadInput, one_line, shown
from metassay.tables.parquet_file import load
from metassay.tabular.decoding import (
    UNREAD,
    check_names,
    csv_lines,
    decode,
    is_readable,
    join_names,
    json_lines,
    json_list,
    read_bytes,
)
from metassay.tabular.numbers import NumberFormat, find_format, is_blank, looks_numeric
from metassay.tabular.rows import Findings, Place

if TYPE_CHECKING:
    from metassay.tabular.workbook import Page

REMEDY = "name a CSV, XLSX, JSON or Parquet file whose first row names its columns"
_COLUMNS = 2000
_CHUNK = 1 << 15  # rows that are Python texts at a time
_SEPARATORS = ",;\t"
_XLSX = (".xlsx", ".xlsm")
_SAMPLE = 10_000  # cells from which the content of a column is inferred
_HEAD = 4  # first rows that can be titles, the header and its explanations
_LABEL_STUDIO = re.compile(r'\[\{.*"(?:rating|number)":\s*(-?[\d.]+).*\}\]', re.DOTALL)
_CELL_REF = re.compile(r"[A-Z]{1,3}\d+:[A-Z]{1,3}\d+")

_T = TypeVar("_T")
Lines = Iterable[tuple[Place, list[str]]]


def _cached(make: "Callable[[Sheet, str], _T]") -> "Callable[[Sheet, str], _T]":
    # Each of these methods reads all cells of a column, and is called many times.
    @wraps(make)
    def get(sheet: "Sheet", column: str) -> Any:
        key = make.__name__, column
        if key not in sheet.cache:
            sheet.cache[key] = make(sheet, column)
        return sheet.cache[key]

    return get


@dataclass(frozen=True, eq=False)
class Sheet:
    """The cells of a table by column, without blanks around them, and the place of each row.

    `frame` has columns of dtype str (missing: an empty text) or float64 (missing: NaN).
    `semicolons`: whether they separate cells, so that 3,5 is a number. `words`: ordered
    grades by column or criterion. `notes`: what of the file is not read. `merged`:
    columns with merged cells, which all have the value of the first. `parts`: the
    sheets of the files, if several.
    """

    name: str
    frame: pd.DataFrame
    # each row's line or record in the file, or its label in a frame
    lines: NDArray[Any]
    kind: str = "line"  # the unit of `lines`
    semicolons: bool = False
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    merged: Mapping[str, str] = field(default_factory=dict)
    parts: "tuple[Sheet, ...]" = ()
    cache: dict[tuple[str, str], Any] = field(
        default_factory=dict, init=False, repr=False
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(self.frame.columns)

    @property
    def files(self) -> dict[str, Set[str]]:
        """The columns that each of several files lacks; their cells are empty."""
        return {part.name: {*self.columns} - {*part.columns} for part in self.parts}

    @property
    def head(self) -> Place:
        """The place of the header."""
        return Place(self.name, 1) if self.kind == "line" else Place(self.name)

    def at(self, row: int) -> Place:
        """Return the place of row number `row` of the frame."""
        for part in self.parts:
            if row < len(part.lines):
                return part.at(row)
            row -= len(part.lines)
        label = self.lines[row]
        whole = isinstance(label, numbers.Integral)
        return Place(self.name, int(label) if whole else shown(label), self.kind)

    @property
    def rows(self) -> Iterator[tuple[Place, dict[str, str]]]:
        """Each row's place and its cells by column, numbers as written."""
        cells = zip(*(to_keys(self.frame[name]) for name in self.columns), strict=True)
        for n, row in enumerate(cells):
            yield self.at(n), dict(zip(self.columns, row, strict=True))

    @_cached
    def counts(self, column: str) -> "pd.Series[int]":
        """Count each different cell of a column that is not missing."""
        counts = to_keys(self.frame[column]).value_counts(sort=False)
        return counts[[not is_blank(cell) for cell in counts.index]]

    @_cached
    def cells(self, column: str) -> list[str]:
        """Return a column's different cells that are not missing, in order; not to be changed."""
        return list(self.counts(column).index)

    @_cached
    def numbers(self, column: str) -> NumberFormat:
        """Return how the numbers of a column are written."""
        if pd.api.types.is_float_dtype(self.frame[column].dtype):
            return NumberFormat()
        cells, words = self.cells(column), self.words.get(column, ())
        return find_format(cells, semicolons=self.semicolons, words=words)

    def clear_numbers(self, column: str, problems: Findings) -> NumberFormat:
        """Return how the numbers of a column are written; ambiguous ones are a problem."""
        read_as = self.numbers(column)
        if read_as.fault:
            fix = "write all of them alike, with a point and nothing between thousands"
            problems.add(
                Place(self.name), f"column {shown(column)} {read_as.fault}", fix
            )
        return read_as

    @_cached
    def share_of_numbers(self, column: str) -> float:
        """Return the share of numbers among the first cells that are not missing."""
        cells = self.frame[column].dropna()
        frame = pd.DataFrame({column: to_keys(cells[cells != ""].iloc[:_SAMPLE])})
        sample = replace(self, frame=frame, parts=())
        read_as = sample.numbers(column)
        counts = {
            c: n
            for c, n in sample.counts(column).items()
            if not read_as.is_missing(str(c))
        }
        # The user is asked about ambiguous numbers later.
        is_number = (
            looks_numeric if read_as.fault else lambda c: read_as.number(c) is not None
        )
        n_numbers = sum(n for cell, n in counts.items() if is_number(str(cell)))
        return n_numbers / sum(counts.values()) if counts else 0.0

    def values(
        self, column: str, read_as: NumberFormat | None = None
    ) -> NDArray[np.float64]:
        """Return the numbers of a column; NaN where missing, infinity where no finite number."""
        cells = self.frame[column]
        if pd.api.types.is_float_dtype(cells.dtype):
            return cells.to_numpy(dtype=np.float64)
        codes, unique = pd.factorize(cells)
        known = read_as or self.numbers(column)
        values = [
            math.nan if known.is_missing(cell) else known.number(cell)
            for cell in unique
        ]
        return np.array([math.inf if x is None else x for x in values], np.float64)[
            codes
        ]


def to_keys(column: "pd.Series[Any]") -> "pd.Series[str]":
    """Convert a column to keys: the number 7 is the key 7, not 7.0; missing is empty."""
    if pd.api.types.is_string_dtype(column.dtype):
        return column
    return pd.Series([_key(cell) for cell in column.tolist()], dtype="str")


def _key(number: float) -> str:
    if math.isnan(number):
        return ""
    return str(int(number)) if number.is_integer() else repr(number)


def read_sheet(
    path: Path,
    problems: Findings,
    page: str = "",
    remedy: str = REMEDY,
    *,
    header_alone: bool = False,
) -> Sheet | None:
    """Read a file; return None, with every fault in `problems`, if its header is unusable.

    A CSV file without a row below its header is a problem, too, unless `header_alone`
    allows it. Rows with more or fewer cells than the header are a problem, and left
    out. Of a workbook the page called `page` is read, or else its first page.
    """
    suffix = path.suffix.lower()
    if suffix in _XLSX:
        return _of_workbook(path, problems, page, remedy)
    if suffix == ".parquet":
        return _of_parquet(path, problems, remedy)
    data = read_bytes(path, problems, remedy=remedy)
    if data is not None and suffix in (".json", ".jsonl", ".ndjson"):
        return _of_json(path, data, problems, remedy)
    text = decode(data, path, problems) if data is not None else None
    if text is None:
        return None
    separator = find_separator(text)
    lines = csv_lines(text, path.name, problems, separator)
    sheet = _sheet(path.name, lines, problems, remedy, header_alone=header_alone)
    return sheet and replace(sheet, semicolons=separator == ";")


def read_sheets(paths: Sequence[Path], problems: Findings, page: str) -> Sheet | None:
    """Read all rows of the files; return None, with every fault in `problems`, if there are none.

    Files can have different columns. A file that is named twice is a problem, and so
    are two files of the same name, which identifies files in messages, and raters.
    """
    check_names(paths, problems)
    sheets = []
    for path in dict.fromkeys(paths):
        faults = Findings()  # of this file alone
        sheet = read_sheet(path, faults, page)
        problems.merge(faults)
        sheets += [sheet] if sheet is not None else []
    return combine_sheets(sheets) if sheets else None


def combine_sheets(sheets: Sequence[Sheet]) -> Sheet:
    """Combine sheets; cells of columns that a sheet lacks are empty."""
    if len(sheets) == 1:
        return sheets[0]
    frame = pd.concat(
        [
            pd.DataFrame({c: to_keys(sheet.frame[c]) for c in sheet.columns})
            for sheet in sheets
        ],
        ignore_index=True,
    )
    return Sheet(
        join_names([sheet.name for sheet in sheets]),
        frame.fillna("").astype("str"),
        np.arange(len(frame)),
        "row",
        semicolons=all(sheet.semicolons for sheet in sheets),
        words=sheets[0].words,
        notes=[
            f"{one_line(sheet.name)}: {note}"
            for sheet in sheets
            for note in sheet.notes
        ],
        merged={
            column: cells for sheet in sheets for column, cells in sheet.merged.items()
        },
        parts=tuple(sheets),
    )


def frame_sheet(
    frame: Any, name: str, problems: Findings, remedy: str = REMEDY
) -> Sheet | None:
    """Read the cells of a data frame (pandas, Arrow, polars), which messages call `name`.

    Numbers stay as they are. A pandas index labels the rows in messages and is not a
    column. Returns None, with every fault in `problems`, if its columns are unusable or
    it has no row.
    """
    if not isinstance(frame, pd.DataFrame):
        table = _arrow(frame, Place(name), problems)
        return table and _of_arrow(table, name, problems, remedy, "row")
    header, at = list(frame.columns), Place(name)
    if unnamed := [name for name in header if not isinstance(name, str)]:
        what = f"{len(unnamed)} column(s) are not named by texts, the first by {shown(unnamed[0])}"
        problems.add(at, what, "rename them")
        return None
    if not _check_header(header, at, problems):
        return None
    columns = {name.strip(): _column(frame[name]) for name in header}
    labels = np.array(frame.index, dtype=object)
    return _of_columns(columns, labels, "row", name, problems, remedy)


def _arrow(frame: Any, at: Place, problems: Findings) -> pa.Table | None:
    """Convert a frame to an Arrow table; return None, with a problem, if it is no frame."""
    if isinstance(frame, pa.Table):
        return frame
    if hasattr(frame, "to_arrow"):
        return frame.to_arrow()
    if hasattr(frame, "__arrow_c_stream__"):
        return pa.table(frame)
    what = f"is not a data frame but of type {type(frame).__name__}"
    problems.add(at, what, "hand over a frame of pandas, polars or Arrow")
    return None


def _column(column: "pd.Series[Any]") -> "NDArray[Any] | pd.Series[Any] | None":
    """Return the cells; None if one cannot be encoded, such as half of a surrogate pair."""
    kind = column.dtype
    if pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_complex_dtype(kind):
        # booleans too: 0 and 1
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    try:
        if isinstance(kind, pd.StringDtype):  # keys occur in many rows
            codes, unique = pd.factorize(column, use_na_sentinel=False)
            return pd.Series(
                pd.array(list(map(_text, unique)), dtype="str").take(codes)
            )
        return pd.Series([_text(cell) for cell in column.astype("object")], dtype="str")
    except ValueError:
        return None


def _text(cell: object) -> str:
    """Convert a cell of a column that is not all numbers; numbers read back to the same value."""
    if cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, bool | np.bool_):
        return str(int(cell))
    if isinstance(cell, float | np.floating):
        return _key(float(cell))  # 4, not 4.0, as in other kinds of files
    return json.dumps(cell) if isinstance(cell, dict | list) else str(cell).strip()


def _of_columns(
    columns: Mapping[str, "NDArray[Any] | pd.Series[Any] | None"],
    lines: NDArray[Any],
    kind: str,
    name: str,
    problems: Findings,
    remedy: str,
) -> Sheet | None:
    unreadable = [column for column, cells in columns.items() if cells is None]
    for column in unreadable:
        what = f"column {shown(column)} has neither texts nor numbers"
        fix = "remove it, or write its cells as texts or numbers"
        problems.add(Place(name), what, fix)
    if not len(lines):
        problems.add(Place(name), "has no row", remedy)
    if unreadable or not len(lines):
        return None
    return _unwrap_label_studio(Sheet(name, pd.DataFrame(columns), lines, kind))


def _of_parquet(path: Path, problems: Findings, remedy: str) -> Sheet | None:
    if not is_readable(path, problems, remedy=remedy):
        return None
    try:
        table = load(path)
    except BadInput:
        what = "is damaged or no Parquet file"
        problems.add(Place(path.name), what, "write it again, or as CSV")
        return None
    return _of_arrow(table, path.name, problems, remedy, "record")


def _of_arrow(
    table: pa.Table, name: str, problems: Findings, remedy: str, kind: str
) -> Sheet | None:
    if not _check_header(table.column_names, Place(name), problems):
        return None
    columns = {c.strip(): _arrow_cells(table[c]) for c in table.column_names}
    rows = np.arange(1, table.num_rows + 1)
    return _of_columns(columns, rows, kind, name, problems, remedy)


def _arrow_cells(column: pa.ChunkedArray) -> "NDArray[Any] | pd.Series[Any] | None":
    """Return the cells; None if they are neither texts nor numbers."""
    kind = (
        column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    )
    if pa.types.is_nested(kind):
        return None
    try:
        # as text a narrow float is shorter, and another number
        if pa.types.is_floating(kind):
            return np.asarray(column.to_numpy(), dtype=np.float64)
        texts: pd.Series[str] = (
            column.cast(pa.string()).fill_null("").to_pandas().astype("str")
        )
        return texts.str.strip()
    except pa.ArrowException:
        return None


def _of_json(path: Path, data: bytes, problems: Findings, remedy: str) -> Sheet | None:
    """Read a list of objects, or an object per line."""
    kind = "record" if data.lstrip().startswith(b"[") else "line"
    if kind == "record":
        values = json_list(path, problems, remedy=remedy) or []
    else:
        lines = json_lines(path, problems, remedy=remedy)
        values = [(at, value) for at, value in lines if value is not UNREAD]
    for at, value in values:
        if not isinstance(value, dict):
            problems.add(
                at, "is not an object with named values", 'write {"doc_id": ..., ...}'
            )
    records = [(at, value) for at, value in values if isinstance(value, dict)]
    if not records:
        if not problems:
            problems.add(Place(path.name), "has no row", remedy)
        return None
    header = list(dict.fromkeys(name for _, record in records for name in record))
    if not _check_header(header, records[0][0], problems):
        return None
    columns = {
        name.strip(): _column(
            pd.Series([record.get(name) for _, record in records], dtype=object)
        )
        for name in header
    }
    rows = np.array([at.row for at, _ in records])
    return _of_columns(columns, rows, kind, path.name, problems, remedy)


def _of_workbook(
    path: Path, problems: Findings, title: str, remedy: str
) -> Sheet | None:
    from metassay.tabular.workbook import read_pages  # openpyxl takes a while to import

    pages = read_pages(path, problems, remedy=remedy)
    if not pages and not problems:
        problems.add(Place(path.name), "has no rows", remedy)
    if not pages:
        return None
    page = next((p for p in pages if p.title.strip().casefold() == title), pages[0])
    lines, columns, across = _fill_merged(page)
    if (sheet := _sheet(path.name, lines, problems, remedy, across)) is None:
        return None
    others = [shown(p.title) for p in pages if p is not page]
    notes = [f"pages of the workbook: {', '.join(others)}"] if others else []
    merged = {
        sheet.columns[n]: cells
        for n, cells in columns.items()
        if n < len(sheet.columns)
    }
    return replace(sheet, notes=[*notes, *sheet.notes], merged=merged)


def _ranges(page: "Page") -> Iterator[tuple[str, range, range]]:
    """Yield each range of merged cells with its rows and columns, from 1."""
    from openpyxl.utils import range_boundaries

    for cells in filter(_CELL_REF.fullmatch, page.merged):
        first, top, last, bottom = range_boundaries(cells)
        yield cells, range(top, bottom + 1), range(first, last + 1)


def _fill_merged(page: "Page") -> tuple[Lines, dict[int, str], set[int]]:
    """Fill merged cells, except of titles; return rows, the columns filled (from 0),
    and the rows with cells merged across some, but not all columns: names above names.
    """
    cells_of = {at.row: cells for at, cells in page.rows}
    first, width = page.rows[0][0].row, len(page.rows[0][1])
    filled, across = dict[int, str](), set[int]()
    for ref, rows, columns in _ranges(page):
        if 1 < len(columns) < width and len(rows) == 1:
            across.add(rows[0])
        top = cells_of.get(rows[0])
        if top is None or columns[0] > width or len(columns) >= width:
            continue
        text = top[columns[0] - 1]
        for row in rows:
            for column in columns:
                if row in cells_of and column <= width:
                    cells_of[row][column - 1] = text
        names = isinstance(first, int) and rows[0] <= first + _HEAD - 2
        if looks_numeric(text) or not names:
            filled |= {column - 1: ref for column in columns}
    return page.rows, filled, across


def _sheet(
    name: str,
    lines: Lines,
    problems: Findings,
    remedy: str,
    across: Set[int] = frozenset(),
    *,
    header_alone: bool = False,
) -> Sheet | None:
    full = ((at, cells) for at, cells in lines if any(cell.strip() for cell in cells))
    first = list(islice(full, _HEAD))
    if not first and not problems:
        problems.add(Place(name), "has no rows", remedy)
    if not first:
        return None
    notes = []
    while len(first) > 1 and _is_title(first[0][1], first[1][1]):
        at, _ = first.pop(0)
        notes.append(f"{at.kind} {at.row}, a title")
    at, header = first.pop(0)
    if at.row in across and first:
        names = [
            map(str.strip, pair) for pair in zip(header, first.pop(0)[1], strict=True)
        ]
        header = [" - ".join(dict.fromkeys(filter(None, pair))) for pair in names]
    # Excel keeps empty columns at the end if they were ever used.
    widths = [_count_filled(cells) for _, cells in first]
    width = max([_count_filled(header), *(n for n in widths if n <= len(header))])
    # Row numbers from 0, as pandas writes them by default.
    rows = (cells[:1] == [str(n)] for n, (_, cells) in enumerate(first))
    counted = not header[0].strip() and all(rows)
    header = [cell.strip() for cell in header[counted:width]]
    if not _check_header(header, at, problems):
        return None
    if len(first) > 1 and any(cell.startswith('{"ImportId"') for cell in first[1][1]):
        del first[:2]
        notes.append("2 rows below the first one, which Qualtrics adds")
    sheet = _body(header, chain(first, full), counted, name, problems)
    if sheet is None and header_alone:
        frame = pd.DataFrame({column: pd.Series(dtype="str") for column in header})
        return Sheet(name, frame, np.array([], dtype=np.int64))
    if sheet is None:
        problems.add(Place(name), "has no row that fits its header", remedy)
        return None
    return _unwrap_label_studio(replace(sheet, kind=at.kind, notes=notes))


def _is_title(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether the first row has a single cell and the second is a header."""
    names = [cell.strip() for cell in second if cell.strip()]
    alone = sum(bool(cell.strip()) for cell in first) == 1
    return alone and len(set(names)) > 1 and not any(map(looks_numeric, names))


def _body(
    header: list[str], lines: Lines, counted: bool, name: str, problems: Findings
) -> Sheet | None:
    rows = array("q")
    chunks: list[pa.Table] = []
    complete = _complete_rows(lines, len(header), counted, problems)
    while chunk := list(islice(complete, _CHUNK)):
        rows.extend(line for line, _ in chunk)
        columns = list(zip(*(cells for _, cells in chunk), strict=True))
        chunks.append(
            pa.table([pa.array(column, pa.string()) for column in columns], header)
        )
    if not chunks:
        return None
    table = pa.concat_tables(chunks)
    frame = pd.DataFrame(
        {c: table[c].to_pandas().astype("str").str.strip() for c in header}
    )
    return Sheet(name, frame, np.array(rows, dtype=np.int64))


def _complete_rows(
    lines: Lines, width: int, counted: bool, problems: Findings
) -> Iterator[tuple[int, list[str]]]:
    fix = 'add or remove separators; put a cell that contains one in "quotes"'
    for at, row in lines:
        cells = row[counted:]
        if len(cells) != width and (len(cells) < width or _count_filled(cells) > width):
            what = f"does not have the {width} cells of the header"
            problems.add(at, what, fix, f"{len(cells)} cells")
        elif isinstance(at.row, int):
            yield at.row, cells[:width]


def _count_filled(cells: Sequence[str]) -> int:
    """Count the cells up to the last one that is not blank."""
    return next((n for n in range(len(cells), 0, -1) if cells[n - 1].strip()), 0)


def _check_header(header: Sequence[str], at: Place, problems: Findings) -> bool:
    """Whether all names of columns are usable and different; a problem for each that is not."""
    if len(header) > _COLUMNS:
        fix = "leave columns out, or write it long: one row per value"
        problems.add(at, f"has {len(header):,} columns, more than {_COLUMNS:,}", fix)
        return False
    faults: list[tuple[str, str]] = []
    names = [column.strip() for column in header]
    for number, column in enumerate(names, start=1):
        if not column:
            fix = "name it in the first row, which names all columns, or remove it"
            faults.append((f"column {number} has no name", fix))
        elif not column.isprintable():
            what = f"the name of column {number} has characters that do not print"
            faults.append((what, "remove those characters"))
    for column, count in Counter(filter(None, names)).items():
        if count > 1:
            what = f"column {shown(column)} is there {'twice' if count == 2 else f'{count} times'}"
            faults.append((what, "rename or remove one of them"))
    for what, fix in faults:
        problems.add(at, what, fix)
    return not faults


def _unwrap_label_studio(sheet: Sheet) -> Sheet:
    """Replace Label Studio's cells, `[{"rating": 3}]`, by their numbers."""
    frame = sheet.frame
    for column in sheet.columns:
        cells = (
            []
            if pd.api.types.is_float_dtype(frame[column].dtype)
            else sheet.cells(column)
        )
        ratings = {
            cell: match[1] for cell in cells if (match := _LABEL_STUDIO.fullmatch(cell))
        }
        if cells and len(ratings) == len(cells):
            frame[column] = frame[column].replace(ratings)
    return sheet


def find_separator(text: str) -> str:
    """Return the separator that gives most cells in the first row with several cells."""
    lines = (line for line in text.splitlines() if line.strip(_SEPARATORS + " "))
    for line in islice(lines, _HEAD):
        best = max(_SEPARATORS, key=lambda separator: len(_cells(line, separator)))
        if sum(map(bool, map(str.strip, _cells(line, best)))) > 1:
            return best
    return ","


def _cells(line: str, separator: str) -> list[str]:
    row = next(iter(csv_lines(line, "", Findings(), separator)), None)
    return row[1] if row else []
