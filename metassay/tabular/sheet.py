"""A table's cells by column: the form in which every command has read files and frames."""

import json
import math
import numbers
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from metassay.core.errors import one_line, quoted, shown
from metassay.tabular.decoding import finite_number, join_names
from metassay.tabular.numbers import (
    NumberFormat,
    find_format,
    is_blank,
    looks_numeric,
    order_grades,
)
from metassay.tabular.option_words import Caller
from metassay.tabular.rows import Findings, Place

REMEDY = "name a CSV, XLSX, JSON or Parquet file whose first row names its columns"
_COLUMNS = 2000
_SAMPLE = 10_000  # cells from which the content of a column is inferred
# Doubles represent all whole numbers below. Keys beyond must not become doubles.
_EXACT = 2**53
# Line breaks and tabs with the blanks around them, and blanks that do not break.
_BREAKS = re.compile(r"[ \xa0]*[\r\n\t\v\f\x85\u2028\u2029]+[ \xa0]*|\xa0")
_LABEL_STUDIO = re.compile(r'\[\{.*"(?:rating|number)":\s*(-?[\d.]+).*\}\]', re.DOTALL)

_T = TypeVar("_T")


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
    grades by column or criterion. `missing`: words for no answer, folded. `codes`: the
    number of each label by column, where the file has both. `notes`: sentences on how
    the file was read. `merged`: columns with merged cells, which all have the value of
    the first. `letters`: the letters of a workbook's columns. `levels`: columns made of
    the keys of nested objects, whose role nothing tells. `chosen`: columns by whose
    cells rows were chosen. `rater`: for whom the file stands if no column names the
    rater. `caller`: who reads messages about it. `parts`: the sheets of the files or
    pages, if several.
    """

    name: str
    frame: pd.DataFrame
    # each row's line or record in the file, or its label in a frame
    lines: NDArray[Any]
    kind: str = "line"  # the unit of `lines`
    semicolons: bool = False
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    codes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    merged: Mapping[str, str] = field(default_factory=dict)
    letters: Mapping[str, str] = field(default_factory=dict)
    levels: Sequence[str] = ()
    chosen: Sequence[str] = ()
    rater: str = ""
    caller: Caller = Caller.TERMINAL
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

    def cell(self, row: int, column: str) -> Place:
        """Return the place of a cell: its name in a workbook, elsewhere that of its row."""
        for part in self.parts:
            if row < len(part.lines):
                return part.cell(row, column)
            row -= len(part.lines)
        return self.cell_of(self.at(row), column)

    def cell_of(self, at: Place, column: str) -> Place:
        """Return the place of a row's cell: its name in a workbook, elsewhere the row's."""
        for part in self.parts or (self,):
            if part.name == at.file and column in part.letters:
                return Place(at.file, f"{part.letters[column]}{at.row}", "cell")
        return at

    @property
    def raters(self) -> dict[str, str]:
        """For whom each of several files or pages stands, if no column names the rater."""
        return {part.name: part.rater or Path(part.name).stem for part in self.parts}

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
        words, codes = self.words.get(column, ()), self.codes.get(column)
        cells = self.cells(column)
        if codes and not words:
            plain = {cell: finite_number(cell) for cell in cells}
            others = {cell: n for cell, n in plain.items() if n is not None}
            labels = {label.casefold(): n for label, n in codes.items()}
            return NumberFormat(others | labels, missing=self.missing)
        counts = {str(cell): int(n) for cell, n in self.counts(column).items()}
        return find_format(
            counts, semicolons=self.semicolons, words=words, missing=self.missing
        )

    def clear_numbers(self, column: str, problems: Findings) -> NumberFormat:
        """Return how the numbers of a column are written; ambiguous ones are a problem."""
        read_as = self.numbers(column)
        if read_as.fault:
            fix = "write all of them alike, with a point and nothing between thousands"
            problems.add(
                Place(self.name), f"column {quoted(column)} {read_as.fault}", fix
            )
        return read_as

    @_cached
    def share_of_numbers(self, column: str) -> float:
        """Return the share of numbers among the first cells that are not missing.

        Labels of a file of statistics count as numbers if they are usual grades.
        """
        labels = list(self.codes.get(column, ()))
        if labels and column not in self.words and not _are_grades(labels):
            return 0.0
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
        unclear = bool(read_as.fault)
        n_numbers = sum(
            n
            for cell, n in counts.items()
            if read_as.number(str(cell)) is not None
            or (unclear and looks_numeric(str(cell)))
        )
        return n_numbers / sum(counts.values()) if counts else 0.0

    def values(
        self, column: str, read_as: NumberFormat | None = None
    ) -> NDArray[np.float64]:
        """Return the numbers of a column; NaN where missing, infinity where no finite number."""
        cells = self.frame[column]
        if pd.api.types.is_float_dtype(cells.dtype):
            numbers = cells.to_numpy(dtype=np.float64)
            missing = [float(word) for word in self.missing if _is_float(word)]
            return np.where(np.isin(numbers, missing), np.nan, numbers)
        codes, unique = pd.factorize(cells)
        known = read_as or self.numbers(column)
        values = [_value(cell, known) for cell in unique]
        return np.array(values, np.float64)[codes]


def _is_float(word: str) -> bool:
    """Whether a word is a number, `inf` included."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def _are_grades(labels: Sequence[str]) -> bool:
    """Whether labels of numbers are usual grades, or name the numbers."""
    known = find_format(labels, semicolons=False).number
    numbered = all(known(label) is not None for label in labels)
    return numbered or bool(order_grades(labels))


def _value(cell: str, read_as: NumberFormat) -> float:
    """Return a cell's number; NaN where it is missing, infinity where it is none."""
    if read_as.is_missing(cell):
        return math.nan
    number = read_as.number(cell)
    return math.inf if number is None else number


def to_keys(column: "pd.Series[Any]") -> "pd.Series[str]":
    """Convert a column to keys: the number 7 is the key 7, not 7.0; missing is empty."""
    if pd.api.types.is_string_dtype(column.dtype):
        return column
    return pd.Series([_key(cell) for cell in column.tolist()], dtype="str")


def _key(number: float) -> str:
    if math.isnan(number):
        return ""
    return str(int(number)) if number.is_integer() else repr(number)


def combine_sheets(sheets: Sequence[Sheet]) -> Sheet:
    """Combine sheets; cells of columns that a sheet lacks are empty."""
    if len(sheets) == 1:
        return sheets[0]
    parts = [part for sheet in sheets for part in (sheet.parts or (sheet,))]
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
        missing=sheets[0].missing,
        codes={c: codes for sheet in sheets for c, codes in sheet.codes.items()},
        notes=[
            f"{one_line(sheet.name)}: {note}"
            for sheet in sheets
            for note in sheet.notes
        ],
        merged={
            column: cells for sheet in sheets for column, cells in sheet.merged.items()
        },
        levels=tuple(dict.fromkeys(c for sheet in sheets for c in sheet.levels)),
        chosen=tuple(dict.fromkeys(c for sheet in sheets for c in sheet.chosen)),
        caller=sheets[0].caller,
        parts=tuple(parts),
    )


def frame_sheet(
    frame: Any, name: str, problems: Findings, remedy: str = REMEDY
) -> Sheet | None:
    """Read the cells of a data frame (pandas, Arrow, polars), which messages call `name`.

    Numbers stay as they are. A pandas index labels the rows in messages and is not a
    column. Returns None, with every fault in `problems`, if its columns are unusable or
    it has no row.
    """
    sheet = _read_frame(frame, name, problems, remedy)
    return None if sheet is None else replace(sheet, caller=Caller.PYTHON)


def _read_frame(frame: Any, name: str, problems: Findings, remedy: str) -> Sheet | None:
    if not isinstance(frame, pd.DataFrame):
        table = _arrow(frame, Place(name), problems)
        return table and arrow_sheet(table, name, problems, remedy, "row")
    header, at = list(frame.columns), Place(name)
    if unnamed := [name for name in header if not isinstance(name, str)]:
        what = f"{len(unnamed)} column(s) are not named by texts, the first by {shown(unnamed[0])}"
        problems.add(at, what, "rename them")
        return None
    names = name_columns(header, at, problems)
    if names is None:
        return None
    cells = (_column(frame[name]) for name in header)
    columns = dict(zip(names, cells, strict=True))
    labels = np.array(frame.index, dtype=object)
    return columns_sheet(columns, labels, "row", name, problems, remedy)


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
    long = pd.api.types.is_integer_dtype(kind) and (column.abs() > _EXACT).any()
    numeric = pd.api.types.is_numeric_dtype(kind)
    if numeric and not long and not pd.api.types.is_complex_dtype(kind):
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


def values_column(cells: Sequence[object]) -> "NDArray[Any] | pd.Series[Any] | None":
    """Return values of any kind as a column; None if one cannot be encoded."""
    return _column(pd.Series(cells, dtype=object))


def _text(cell: object) -> str:
    """Convert a cell of a column that is not all numbers; numbers read back to the same value."""
    if cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, bool | np.bool_):
        return str(int(cell))
    if isinstance(cell, float | np.floating):
        return _key(float(cell))  # 4, not 4.0, as in other kinds of files
    return json.dumps(cell) if isinstance(cell, dict | list) else str(cell).strip()


def columns_sheet(
    columns: Mapping[str, "NDArray[Any] | pd.Series[Any] | None"],
    lines: NDArray[Any],
    kind: str,
    name: str,
    problems: Findings,
    remedy: str,
) -> Sheet | None:
    """Return columns as a sheet; None, with a problem, if one has neither texts nor numbers."""
    unreadable = [column for column, cells in columns.items() if cells is None]
    for column in unreadable:
        what = f"column {quoted(column)} has neither texts nor numbers"
        fix = "remove it, or write its cells as texts or numbers"
        problems.add(Place(name), what, fix)
    if not len(lines):
        problems.add(Place(name), "has no row", remedy)
    if unreadable or not len(lines):
        return None
    return unwrap_label_studio(Sheet(name, pd.DataFrame(columns), lines, kind))


def arrow_sheet(
    table: pa.Table, name: str, problems: Findings, remedy: str, kind: str
) -> Sheet | None:
    """Return an Arrow table as a sheet; None, with every fault in `problems`, if unusable."""
    names = name_columns(table.column_names, Place(name), problems)
    if names is None:
        return None
    cells = (_arrow_cells(table[column]) for column in table.column_names)
    columns = dict(zip(names, cells, strict=True))
    rows = np.arange(1, table.num_rows + 1)
    return columns_sheet(columns, rows, kind, name, problems, remedy)


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


def clean_name(name: str) -> str:
    """Write the name of a column in one line, without blanks around it.

    >>> clean_name("BLEU\\n(5-shot) ")
    'BLEU (5-shot)'
    """
    return _BREAKS.sub(" ", name).strip()


def name_columns(
    header: Sequence[str], at: Place, problems: Findings
) -> list[str] | None:
    """Return the names of columns, cleaned; None, with a problem for each bad one.

    Names must print and be different.
    """
    if len(header) > _COLUMNS:
        fix = "leave columns out, or write it long: one row per value"
        problems.add(at, f"has {len(header):,} columns, more than {_COLUMNS:,}", fix)
        return None
    faults: list[tuple[str, str]] = []
    names = [clean_name(column) for column in header]
    for number, column in enumerate(names, start=1):
        if not column:
            fix = "name it in the first row, which names all columns, or remove it"
            faults.append((f"column {number} has no name", fix))
        elif not column.isprintable():
            what = f"the name of column {number} has characters that do not print"
            faults.append((what, "remove those characters"))
    for column, count in Counter(filter(None, names)).items():
        if count > 1:
            times = "twice" if count == 2 else f"{count} times"
            what = f"column {quoted(column)} occurs {times}"
            faults.append((what, "rename or remove one of them"))
    for what, fix in faults:
        problems.add(at, what, fix)
    return None if faults else names


def unwrap_label_studio(sheet: Sheet) -> Sheet:
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
