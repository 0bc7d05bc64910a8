"""A file of rows as texts that know their lines: CSV, tab-separated, or Parquet."""

import csv
import hashlib
import io
from array import array
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from metassay.datasets.decoding import decode, read_bytes
from metassay.datasets.rows import Findings, Place, shown

REMEDY = "docs/meta-eval.md shows how the two files are written"

_CHUNK = 1 << 15  # rows held as Python texts at a time
_SEPARATORS = {
    ";": ("semicolons", "save it with commas between cells and points in numbers"),
    "\t": ("tabs", "name it .tsv"),
    ",": ("commas", "name it .csv"),
}


class Cells(NamedTuple):
    """Every cell as written, and where its row stands."""

    name: str
    frame: pd.DataFrame  # all columns of dtype str; an absent cell of Parquet is an empty text
    rows: NDArray[np.int64]  # each row's line (Parquet: record) in the file
    kind: str  # what `rows` counts
    digest: str  # the first 16 digits of the file's sha256

    def at(self, row: int) -> Place:
        """Where row number `row` of the frame stands."""
        return Place(self.name, int(self.rows[row]), self.kind)

    @property
    def head(self) -> Place:
        """Where the names of the columns stand."""
        return Place(self.name, 1) if self.kind == "line" else Place(self.name)


def read_cells(path: Path, problems: Findings) -> Cells | None:
    """Read by suffix: .parquet, .tsv (tabs between cells), anything else CSV.

    None, with every fault in `problems`, where the header is unusable or no row can be read. Rows
    with too few or too many cells are problems and left out.
    """
    data = read_bytes(path, problems, remedy=REMEDY)
    if data is None:
        return None
    digest = hashlib.sha256(data).hexdigest()[:16]
    if path.suffix == ".parquet":
        return _parquet(path, digest, problems)
    text = decode(data, path, problems)
    if text is None:
        return None
    return _delimited(text, path.name, "\t" if path.suffix == ".tsv" else ",", digest, problems)


def _parquet(path: Path, digest: str, problems: Findings) -> Cells | None:
    at = Place(path.name)
    try:
        table = pq.read_table(path)
        columns = {name: table[name].cast(pa.string()).fill_null("") for name in table.column_names}
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, KeyError):
        problems.add(at, "is no Parquet file of texts and numbers", "write it again, or as CSV")
        return None
    if not table.num_rows:
        problems.add(at, "has no row", REMEDY)
        return None
    rows = np.arange(1, table.num_rows + 1)
    return Cells(path.name, _frame(columns), rows, "record", digest)


def _delimited(
    text: str, name: str, delimiter: str, digest: str, problems: Findings
) -> Cells | None:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    records = _records(reader, name, problems)
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
    frame = _frame({column: table[column] for column in header})
    return Cells(name, frame, np.array(rows, dtype=np.int64), "line", digest)


def _frame(columns: dict[str, pa.ChunkedArray]) -> pd.DataFrame:
    return pd.DataFrame({name: cells.to_pandas().astype("str") for name, cells in columns.items()})


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
    faults: list[tuple[str, str]] = []
    # One column is never enough; another separator explains it best.
    for mark, (named, fix) in _SEPARATORS.items():
        if len(header) == 1 and mark in header[0] and mark != delimiter:
            faults.append((f"cells are separated by {named}", fix))
            break
    for number, column in enumerate(header, start=1):
        if not column.strip():
            fix = "name or remove it (of pandas: to_csv(index=False))"
            faults.append((f"column {number} has no name", fix))
        elif column != column.strip():
            faults.append((f"the name of column {number} has blanks at an end", "remove them"))
    for column in sorted({column for column in header if header.count(column) > 1} - {""}):
        faults.append((f"column {shown(column)} is there twice", "remove one of them"))
    for what, fix in faults:
        problems.add(at, what, fix)
    return not faults
