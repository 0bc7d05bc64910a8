"""The one reader of tables that people keep: CSV, XLSX, JSON, Parquet and data frames.

Separators, blanks around cells, titles above the columns' names, merged cells, what Qualtrics and
Label Studio add, and several files of one kind are dealt with here, once for every command.
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
_CHUNK = 1 << 15  # rows held as Python texts at a time
_SEPARATORS = ",;\t"
_XLSX = (".xlsx", ".xlsm")
_SAMPLE = 10_000  # cells that tell what a column holds
_HEAD = 4  # rows from the first one on that may be titles, names of columns, and what explains them
_LABEL_STUDIO = re.compile(r'\[\{.*"(?:rating|number)":\s*(-?[\d.]+).*\}\]', re.DOTALL)
_CELL_REF = re.compile(r"[A-Z]{1,3}\d+:[A-Z]{1,3}\d+")

_T = TypeVar("_T")
Lines = Iterable[tuple[Place, list[str]]]


def _cached(make: "Callable[[Sheet, str], _T]") -> "Callable[[Sheet, str], _T]":
    # Whoever asks what a column is looks at all of its cells, and many ask.
    @wraps(make)
    def once(sheet: "Sheet", column: str) -> Any:
        key = make.__name__, column
        if key not in sheet.seen:
            sheet.seen[key] = make(sheet, column)
        return sheet.seen[key]

    return once


@dataclass(frozen=True, eq=False)
class Sheet:
    """The cells of a table by column, without blanks around them, and where each row stands.

    `frame` has columns of dtype str (absent: an empty text) or float64 (absent: NaN). `semicolons`
    part the cells, so that 3,5 is a number; `words` are the grades of columns, or of criteria, in
    order; `notes` say what of the file is not read; `merged` are columns with merged cells, each of
    which holds what the first one shows. Where several files make one sheet, `parts` are their
    sheets.
    """

    name: str
    frame: pd.DataFrame
    lines: NDArray[Any]  # each row's line or record in the file; of a frame its label
    kind: str = "line"  # what `lines` counts
    semicolons: bool = False
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    merged: Mapping[str, str] = field(default_factory=dict)
    parts: "tuple[Sheet, ...]" = ()
    seen: dict[tuple[str, str], Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(self.frame.columns)

    @property
    def files(self) -> dict[str, Set[str]]:
        """Of several files, the columns that each lacks, whose cells are empty there."""
        return {part.name: {*self.columns} - {*part.columns} for part in self.parts}

    @property
    def head(self) -> Place:
        """Where the names of the columns stand."""
        return Place(self.name, 1) if self.kind == "line" else Place(self.name)

    def at(self, row: int) -> Place:
        """Where row number `row` of the frame stands."""
        for part in self.parts:
            if row < len(part.lines):
                return part.at(row)
            row -= len(part.lines)
        found = self.lines[row]
        whole = isinstance(found, numbers.Integral)
        return Place(self.name, int(found) if whole else shown(found), self.kind)

    @property
    def rows(self) -> Iterator[tuple[Place, dict[str, str]]]:
        """Each row's place and its cells by column, numbers as they are written."""
        cells = zip(*(to_keys(self.frame[name]) for name in self.columns), strict=True)
        for n, row in enumerate(cells):
            yield self.at(n), dict(zip(self.columns, row, strict=True))

    @_cached
    def counts(self, column: str) -> "pd.Series[int]":
        """How often each of a column's cells is there that is not missing."""
        found = to_keys(self.frame[column]).value_counts(sort=False)
        return found[[not is_blank(cell) for cell in found.index]]

    @_cached
    def cells(self, column: str) -> list[str]:
        """A column's different cells that are not missing, in their order; not to be changed."""
        return list(self.counts(column).index)

    @_cached
    def numbers(self, column: str) -> NumberFormat:
        """How the numbers of a column are written."""
        if pd.api.types.is_float_dtype(self.frame[column].dtype):
            return NumberFormat()
        cells, words = self.cells(column), self.words.get(column, ())
        return find_format(cells, semicolons=self.semicolons, words=words)

    def clear_numbers(self, column: str, problems: Findings) -> NumberFormat:
        """How the numbers of a column are written; a problem if they may mean two things."""
        found = self.numbers(column)
        if found.fault:
            fix = "write all of them alike, with a point and nothing between thousands"
            problems.add(Place(self.name), f"column {shown(column)} {found.fault}", fix)
        return found

    @_cached
    def share_of_numbers(self, column: str) -> float:
        """Of the cells that say anything, those that are numbers; of very many, of the first."""
        cells = self.frame[column].dropna()
        frame = pd.DataFrame({column: to_keys(cells[cells != ""].iloc[:_SAMPLE])})
        sample = replace(self, frame=frame, parts=())
        read_as = sample.numbers(column)
        counts = {c: n for c, n in sample.counts(column).items() if not read_as.none(str(c))}
        # Which numbers they are, where that is unclear, is asked later.
        right: Callable[[str], object] = looks_numeric if read_as.fault else read_as.finite
        total = sum(counts.values())
        return sum(n for cell, n in counts.items() if right(str(cell))) / total if total else 0.0

    def values(self, column: str, read_as: NumberFormat | None = None) -> NDArray[np.float64]:
        """The numbers of a column; NaN where missing, infinity where a cell has no finite one."""
        cells = self.frame[column]
        if pd.api.types.is_float_dtype(cells.dtype):
            return cells.to_numpy(dtype=np.float64)
        codes, unique = pd.factorize(cells)
        known = read_as or self.numbers(column)
        found = [math.nan if known.none(cell) else known.number(cell) for cell in unique]
        return np.array([math.inf if one is None else one for one in found], np.float64)[codes]


def to_keys(column: "pd.Series[Any]") -> "pd.Series[str]":
    """A column as the keys it holds: the number 7 is the key 7, not 7.0; absent is empty."""
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
    """Read one file; None, with every fault in `problems`, if its columns can't be told.

    A CSV file without a row below its header is a problem, too, unless `header_alone` allows it.
    A row that has not as many cells as there are columns is a problem, and left out. Of a workbook
    the page called `page` is read, or else its first one.
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
    made = _sheet(path.name, lines, problems, remedy, header_alone=header_alone)
    return made and replace(made, semicolons=separator == ";")


def read_sheets(paths: Sequence[Path], problems: Findings, page: str) -> Sheet | None:
    """All rows of the files; None, with every fault in `problems`, if none can be read.

    One file may have columns that another one lacks. A file that is named twice is a problem, and
    so are two of one name, by which messages and raters are told apart.
    """
    check_names(paths, problems)
    found = []
    for path in dict.fromkeys(paths):
        faults = Findings()  # of this file alone: it may be why it has no rows
        sheet = read_sheet(path, faults, page)
        problems.merge(faults)
        found += [sheet] if sheet is not None else []
    return combine_sheets(found) if found else None


def combine_sheets(sheets: Sequence[Sheet]) -> Sheet:
    """Several sheets as one; a column that one of them lacks is empty there."""
    if len(sheets) == 1:
        return sheets[0]
    frame = pd.concat(
        [pd.DataFrame({c: to_keys(one.frame[c]) for c in one.columns}) for one in sheets],
        ignore_index=True,
    )
    return Sheet(
        join_names([one.name for one in sheets]),
        frame.fillna("").astype("str"),
        np.arange(len(frame)),
        "row",
        semicolons=all(one.semicolons for one in sheets),
        words=sheets[0].words,
        notes=[f"{one_line(one.name)}: {note}" for one in sheets for note in one.notes],
        merged={column: cells for one in sheets for column, cells in one.merged.items()},
        parts=tuple(sheets),
    )


def frame_sheet(frame: Any, name: str, problems: Findings, remedy: str = REMEDY) -> Sheet | None:
    """The cells of a data frame (pandas, Arrow, polars), which messages call `name`.

    Numbers stay as they are. A pandas index labels the rows in messages and is not a column. None,
    with every fault in `problems`, where its columns are unusable or it has no row.
    """
    if not isinstance(frame, pd.DataFrame):
        table = _arrow(frame, Place(name), problems)
        return table and _of_arrow(table, name, problems, remedy, "row")
    header, at = list(frame.columns), Place(name)
    odd = [one for one in header if not isinstance(one, str)]
    if odd:
        what = f"{len(odd)} column(s) are not named by texts, the first by {shown(odd[0])}"
        problems.add(at, what, "rename them")
        return None
    if not _check_header(header, at, problems):
        return None
    columns = {one.strip(): _column(frame[one]) for one in header}
    labels = np.array(frame.index, dtype=object)
    return _of_columns(columns, labels, "row", name, problems, remedy)


def _arrow(frame: Any, at: Place, problems: Findings) -> pa.Table | None:
    """A frame as an Arrow table; None, with a problem, if it is none."""
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
    """The cells; None where one cannot be written, such as half of a surrogate pair."""
    kind = column.dtype
    if pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_complex_dtype(kind):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)  # booleans too: 0 and 1
    try:
        if isinstance(kind, pd.StringDtype):  # a key stands in many rows
            codes, known = pd.factorize(column, use_na_sentinel=False)
            return pd.Series(pd.array(list(map(_text, known)), dtype="str").take(codes))
        return pd.Series([_text(cell) for cell in column.astype("object")], dtype="str")
    except ValueError:
        return None


def _text(cell: object) -> str:
    """One cell of a column that is not all numbers; what reads back to the same number."""
    if cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, bool | np.bool_):
        return str(int(cell))
    if isinstance(cell, float | np.floating):
        return _key(float(cell))  # 4, as every other kind of file has it, beside 3,5
    return json.dumps(cell) if isinstance(cell, dict | list) else str(cell).strip()


def _of_columns(
    columns: Mapping[str, "NDArray[Any] | pd.Series[Any] | None"],
    lines: NDArray[Any],
    kind: str,
    name: str,
    problems: Findings,
    remedy: str,
) -> Sheet | None:
    odd = [column for column, cells in columns.items() if cells is None]
    for column in odd:
        what = f"column {shown(column)} holds neither texts nor numbers"
        fix = "remove it, or write its cells as texts or numbers"
        problems.add(Place(name), what, fix)
    if not len(lines):
        problems.add(Place(name), "has no row", remedy)
    if odd or not len(lines):
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
    columns = {one.strip(): _arrow_cells(table[one]) for one in table.column_names}
    rows = np.arange(1, table.num_rows + 1)
    return _of_columns(columns, rows, kind, name, problems, remedy)


def _arrow_cells(column: pa.ChunkedArray) -> "NDArray[Any] | pd.Series[Any] | None":
    """The cells; None where they are neither texts nor numbers."""
    held = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_nested(held):
        return None
    try:
        if pa.types.is_floating(held):  # not by way of texts, which a narrow float has shorter
            return np.asarray(column.to_numpy(), dtype=np.float64)
        texts: pd.Series[str] = column.cast(pa.string()).fill_null("").to_pandas().astype("str")
        return texts.str.strip()
    except pa.ArrowException:
        return None


def _of_json(path: Path, data: bytes, problems: Findings, remedy: str) -> Sheet | None:
    """A list of objects, or a line each."""
    kind = "record" if data.lstrip().startswith(b"[") else "line"
    if kind == "record":
        found = json_list(path, problems, remedy=remedy) or []
    else:
        found = [one for one in json_lines(path, problems, remedy=remedy) if one[1] is not UNREAD]
    for at, one in found:
        if not isinstance(one, dict):
            problems.add(at, "is not an object with named values", 'write {"doc_id": ..., ...}')
    records = [(at, one) for at, one in found if isinstance(one, dict)]
    if not records:
        if not problems:
            problems.add(Place(path.name), "has no row", remedy)
        return None
    header = list(dict.fromkeys(name for _, one in records for name in one))
    if not _check_header(header, records[0][0], problems):
        return None
    columns = {
        name.strip(): _column(pd.Series([one.get(name) for _, one in records], dtype=object))
        for name in header
    }
    lines = np.array([at.row for at, _ in records])
    return _of_columns(columns, lines, kind, path.name, problems, remedy)


def _of_workbook(path: Path, problems: Findings, called: str, remedy: str) -> Sheet | None:
    from metassay.tabular.workbook import read_pages  # openpyxl takes a while to import

    found = read_pages(path, problems, remedy=remedy)
    if not found and not problems:
        problems.add(Place(path.name), "has no rows", remedy)
    if not found:
        return None
    page = next((one for one in found if one.title.strip().casefold() == called), found[0])
    lines, columns, across = _fill_merged(page)
    made = _sheet(path.name, lines, problems, remedy, across)
    others = [shown(one.title) for one in found if one is not page]
    notes = [f"pages of the workbook: {', '.join(others)}"] if others else []
    if made is None:
        return None
    merged = {made.columns[n]: cells for n, cells in columns.items() if n < len(made.columns)}
    return replace(made, notes=[*notes, *made.notes], merged=merged)


def _ranges(page: "Page") -> Iterator[tuple[str, range, range]]:
    """Each range of merged cells with its rows and columns, from 1."""
    from openpyxl.utils import range_boundaries

    for cells in filter(_CELL_REF.fullmatch, page.merged):
        first, top, last, bottom = range_boundaries(cells)
        yield cells, range(top, bottom + 1), range(first, last + 1)


def _fill_merged(page: "Page") -> tuple[Lines, dict[int, str], set[int]]:
    """The rows with merged cells filled, but for a title's; columns so filled, from 0; and rows
    with cells that are merged across some, but not all columns: names above names."""
    there = {at.row: cells for at, cells in page.rows}
    first, width = page.rows[0][0].row, len(page.rows[0][1])
    filled, across = dict[int, str](), set[int]()
    for ref, rows, columns in _ranges(page):
        if 1 < len(columns) < width and len(rows) == 1:
            across.add(rows[0])
        top = there.get(rows[0])
        if top is None or columns[0] > width or len(columns) >= width:
            continue
        said = top[columns[0] - 1]
        for row in rows:
            for column in columns:
                if row in there and column <= width:
                    there[row][column - 1] = said
        names = isinstance(first, int) and rows[0] <= first + _HEAD - 2
        if looks_numeric(said) or not names:
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
        both = [map(str.strip, pair) for pair in zip(header, first.pop(0)[1], strict=True)]
        header = [" - ".join(dict.fromkeys(filter(None, pair))) for pair in both]
    # Excel writes empty columns at the end as long as anything was ever there.
    below = [_count_filled(cells) for _, cells in first]
    width = max([_count_filled(header), *(n for n in below if n <= len(header))])
    # Rows counted from 0, as pandas writes them unasked.
    rows = (cells[:1] == [str(n)] for n, (_, cells) in enumerate(first))
    counted = not header[0].strip() and all(rows)
    header = [cell.strip() for cell in header[counted:width]]
    if not _check_header(header, at, problems):
        return None
    if len(first) > 1 and any(cell.startswith('{"ImportId"') for cell in first[1][1]):
        del first[:2]
        notes.append("2 rows below the first one, which Qualtrics adds")
    made = _body(header, chain(first, full), counted, name, problems)
    if made is None and header_alone:
        frame = pd.DataFrame({column: pd.Series(dtype="str") for column in header})
        return Sheet(name, frame, np.array([], dtype=np.int64))
    if made is None:
        problems.add(Place(name), "has no row that fits its header", remedy)
        return None
    return _unwrap_label_studio(replace(made, kind=at.kind, notes=notes))


def _is_title(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether a row of one cell stands above the names of columns."""
    names = [cell.strip() for cell in second if cell.strip()]
    alone = sum(bool(cell.strip()) for cell in first) == 1
    return alone and len(set(names)) > 1 and not any(map(looks_numeric, names))


def _body(
    header: list[str], lines: Lines, counted: bool, name: str, problems: Findings
) -> Sheet | None:
    rows = array("q")
    chunks: list[pa.Table] = []
    right = _complete_rows(lines, len(header), counted, problems)
    while chunk := list(islice(right, _CHUNK)):
        rows.extend(line for line, _ in chunk)
        columns = list(zip(*(cells for _, cells in chunk), strict=True))
        chunks.append(pa.table([pa.array(column, pa.string()) for column in columns], header))
    if not chunks:
        return None
    table = pa.concat_tables(chunks)
    frame = pd.DataFrame({c: table[c].to_pandas().astype("str").str.strip() for c in header})
    return Sheet(name, frame, np.array(rows, dtype=np.int64))


def _complete_rows(
    lines: Lines, width: int, counted: bool, problems: Findings
) -> Iterator[tuple[int, list[str]]]:
    fix = 'add or remove separators; put a cell that contains one in "quotes"'
    for at, cells in lines:
        mine = cells[counted:]
        if len(mine) != width and (len(mine) < width or _count_filled(mine) > width):
            what = f"has not the {width} cells that the header names"
            problems.add(at, what, fix, f"{len(mine)} cells")
        elif isinstance(at.row, int):
            yield at.row, mine[:width]


def _count_filled(cells: Sequence[str]) -> int:
    """How many cells there are up to the last one that holds anything."""
    return next((n for n in range(len(cells), 0, -1) if cells[n - 1].strip()), 0)


def _check_header(header: Sequence[str], at: Place, problems: Findings) -> bool:
    """Whether the columns can be told apart by their names; a problem for each that can't."""
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
            faults.append((what, "remove them"))
    for column, count in Counter(filter(None, names)).items():
        if count > 1:
            what = f"column {shown(column)} is there {'twice' if count == 2 else f'{count} times'}"
            faults.append((what, "rename or remove one of them"))
    for what, fix in faults:
        problems.add(at, what, fix)
    return not faults


def _unwrap_label_studio(sheet: Sheet) -> Sheet:
    """With Label Studio's cells, `[{"rating": 3}]`, as the numbers that they hold."""
    frame = sheet.frame
    for column in sheet.columns:
        cells = [] if pd.api.types.is_float_dtype(frame[column].dtype) else sheet.cells(column)
        found = {cell: match[1] for cell in cells if (match := _LABEL_STUDIO.fullmatch(cell))}
        if cells and len(found) == len(cells):
            frame[column] = frame[column].replace(found)
    return sheet


def find_separator(text: str) -> str:
    """What parts the columns: that by which the first row that has several cells has most."""
    lines = (line for line in text.splitlines() if line.strip(_SEPARATORS + " "))
    for line in islice(lines, _HEAD):
        counted = {one: len(_cells(line, one)) for one in _SEPARATORS}
        best = max(_SEPARATORS, key=lambda one: counted[one])
        if sum(map(bool, map(str.strip, _cells(line, best)))) > 1:
            return best
    return ","


def _cells(line: str, separator: str) -> list[str]:
    found = next(iter(csv_lines(line, "", Findings(), separator)), None)
    return found[1] if found else []
