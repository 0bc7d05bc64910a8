"""A file or frame of rows that know their places: CSV, tab-separated, Parquet, DataFrame."""

import csv
import math
import numbers
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from metassay.datasets.decoding import csv_reader, decode, is_readable, read_bytes
from metassay.datasets.rows import Findings, Place
from metassay.errors import BadInput, shown
from metassay.naming import MOST
from metassay.parquet_file import load

REMEDY = "docs/meta-eval.md shows how the two files are written"

_COLUMNS = 2000
_CHUNK = 1 << 15  # rows held as Python texts at a time
_SEPARATORS = {
    ";": ("semicolons", "save it with commas between cells and points in numbers"),
    "\t": ("tabs", "name it .tsv"),
    ",": ("commas", "name it .csv"),
}


class Cells(NamedTuple):
    """Every cell as written, and where its row stands."""

    name: str
    frame: pd.DataFrame  # columns of dtype str (absent: an empty text) or float64 (absent: NaN)
    rows: NDArray[Any]  # each row's line in the file; of Parquet its record, of a frame its label
    kind: str  # what `rows` holds
    parts: "tuple[Cells, ...]" = ()  # where they are of several files, each of these

    def at(self, row: int) -> Place:
        """Where row number `row` of the frame stands."""
        for part in self.parts:
            if row < len(part.rows):
                return part.at(row)
            row -= len(part.rows)
        found = self.rows[row]
        whole = isinstance(found, numbers.Integral)
        return Place(self.name, int(found) if whole else shown(found), self.kind)

    @property
    def head(self) -> Place:
        """Where the names of the columns stand."""
        return Place(self.name, 1) if self.kind == "line" else Place(self.name)


def read_cells(path: Path, problems: Findings) -> Cells | None:
    """Read by suffix: .parquet, .tsv (tabs between cells), anything else CSV.

    None, with every fault in `problems`, where the header is unusable or no row can be read. Rows
    with too few or too many cells are problems and left out.
    """
    if path.suffix == ".parquet":
        return _parquet(path, problems) if is_readable(path, problems, remedy=REMEDY) else None
    data = read_bytes(path, problems, remedy=REMEDY)
    text = decode(data, path, problems) if data is not None else None
    if text is None:
        return None
    return _delimited(text, path.name, "\t" if path.suffix == ".tsv" else ",", problems)


def frame_cells(frame: pd.DataFrame, name: str, problems: Findings) -> Cells | None:
    """The cells of a DataFrame, which messages call `name`; numbers stay as they are.

    Its index labels the rows in messages and is no column. None, with every fault in `problems`,
    where its columns are unusable or it has no row.
    """
    header = list(frame.columns)
    at = Place(name)
    odd = [one for one in header if not isinstance(one, str)]
    if odd:
        what = f"{len(odd)} column(s) are not named by texts, the first by {shown(odd[0])}"
        problems.add(at, what, "rename them")
        return None
    if not _usable(header, at, "", problems):
        return None
    if not len(frame):
        problems.add(at, "has no row", REMEDY)
        return None
    columns = {one: _column(frame[one]) for one in header}
    if not _all_plain(columns, at, problems):
        return None
    return Cells(name, pd.DataFrame(columns), np.array(frame.index, dtype=object), "row")


def _column(column: "pd.Series[Any]") -> "NDArray[Any] | pd.Series[Any] | None":
    """The cells; None where one cannot be written, such as half of a surrogate pair."""
    kind = column.dtype
    if pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_complex_dtype(kind):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)  # booleans too: 0 and 1
    try:
        return pd.Series([_text(cell) for cell in column.astype("object")], dtype="str")
    except ValueError:
        return None


def _text(cell: object) -> str:
    """One cell of a column that is not all numbers; what reads back to the same number."""
    if cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, bool | np.bool_):
        return str(int(cell))
    return repr(float(cell)) if isinstance(cell, float | np.floating) else str(cell)


def as_keys(column: "pd.Series[Any]") -> "pd.Series[str]":
    """A column as the keys it holds: the number 7 is the key 7, not 7.0; absent is empty."""
    if pd.api.types.is_string_dtype(column.dtype):
        return column
    return pd.Series([_key(cell) for cell in column.tolist()], dtype="str")


def _key(number: float) -> str:
    if math.isnan(number):
        return ""
    return str(int(number)) if number.is_integer() else repr(number)


def _parquet(path: Path, problems: Findings) -> Cells | None:
    at = Place(path.name)
    try:
        table = load(path)
    except BadInput:
        problems.add(at, "is damaged or no Parquet file", "write it again, or as CSV")
        return None
    header = table.column_names
    if not _usable(header, at, "", problems):
        return None
    columns = {name: _plain_cells(table[name]) for name in header}
    if not _all_plain(columns, at, problems):
        return None
    if not table.num_rows:
        problems.add(at, "has no row", REMEDY)
        return None
    rows = np.arange(1, table.num_rows + 1)
    return Cells(path.name, pd.DataFrame(columns), rows, "record")


def _plain_cells(column: pa.ChunkedArray) -> "NDArray[Any] | pd.Series[Any] | None":
    """The cells; None where they are neither texts nor numbers."""
    held = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_nested(held):
        return None
    try:
        return _cells_of(column)
    except pa.ArrowException:
        return None


def _all_plain(columns: Mapping[str, object], at: Place, problems: Findings) -> bool:
    odd = [name for name, cells in columns.items() if cells is None]
    for name in odd:
        what = f"column {shown(name)} holds neither texts nor numbers"
        problems.add(at, what, "remove it, or write its cells as texts or numbers")
    return not odd


def _cells_of(column: pa.ChunkedArray) -> "NDArray[Any] | pd.Series[Any]":
    if pa.types.is_floating(column.type):  # not by way of texts, which a narrow float has shorter
        return np.asarray(column.to_numpy(), dtype=np.float64)
    texts: pd.Series[str] = column.cast(pa.string()).fill_null("").to_pandas().astype("str")
    return texts


def _delimited(text: str, name: str, delimiter: str, problems: Findings) -> Cells | None:
    records = _records(csv_reader(text, delimiter), name, problems)
    at, header = next(records, (1, []))
    if not _usable(header, Place(name, at), delimiter, problems):
        return None
    chunks: list[pa.Table] = []
    rows = array("q")
    right = _right(records, len(header), name, problems)
    while chunk := list(islice(right, _CHUNK)):
        rows.extend(line for line, _ in chunk)
        columns = list(zip(*(cells for _, cells in chunk), strict=True))
        chunks.append(pa.table([pa.array(column, pa.string()) for column in columns], header))
    if not chunks:
        problems.add(Place(name), "has no row that fits its header", REMEDY)
        return None
    table = pa.concat_tables(chunks)
    frame = pd.DataFrame({column: _cells_of(table[column]) for column in header})
    return Cells(name, frame, np.array(rows, dtype=np.int64), "line")


def _records(reader: Any, name: str, problems: Findings) -> Iterator[tuple[int, list[str]]]:
    line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            at = Place(name, line)
            problems.add(at, "is not readable as CSV", 'check its "quotes"', str(error))
            return
        if cells:
            yield line, cells
        line = reader.line_num + 1


def _right(
    records: Iterator[tuple[int, list[str]]], width: int, name: str, problems: Findings
) -> Iterator[tuple[int, list[str]]]:
    fix = 'add or remove separators; put a cell that contains one in "quotes"'
    for line, cells in records:
        if len(cells) == width:
            yield line, cells
        else:
            what = f"has not the {width} cells that the header names"
            problems.add(Place(name, line), what, fix, f"{len(cells)} cells")


def _usable(header: list[str], at: Place, delimiter: str, problems: Findings) -> bool:
    if len(header) > _COLUMNS:
        fix = "leave columns out, or write it long: one row per value"
        problems.add(at, f"has {len(header):,} columns, more than {_COLUMNS:,}", fix)
        return False
    faults: list[tuple[str, str]] = []
    # One column is never enough; another separator explains it best.
    for mark, (named, fix) in _SEPARATORS.items():
        if len(header) == 1 and mark in header[0] and mark != delimiter:
            faults.append((f"cells are separated by {named}", fix))
            break
    faults += _bad_names(header)
    for column in sorted({column for column, count in Counter(header).items() if count > 1} - {""}):
        faults.append((f"column {shown(column)} is there twice", "remove one of them"))
    for what, fix in faults:
        problems.add(at, what, fix)
    return not faults


def _bad_names(header: list[str]) -> Iterator[tuple[str, str]]:
    for number, column in enumerate(header, start=1):
        named = f"the name of column {number}"
        if not column.strip():
            fix = "name or remove it (of pandas: to_csv(index=False))"
            yield f"column {number} has no name", fix
        elif column != column.strip():
            yield f"{named} has blanks at an end", "remove them"
        elif not column.isprintable():
            yield f"{named} has characters that do not print", "remove them"
        elif len(column) > MOST:
            yield f"{named} has {len(column):,} characters", f"shorten it to {MOST}"
