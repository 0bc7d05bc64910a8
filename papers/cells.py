"""The cells of a record: our numbers with their intervals, and what was printed."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from math import isnan, nan
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.errors import BadInput, collect_problems, raise_problems, shown
from metassay.format.numbers import missing
from papers.record import Conditions, EachValue, Line, Numbers, Record

Tables = Callable[[str, str], pd.DataFrame]  # of a benchmark and the name of a table

COLUMNS = (
    "panel",
    "row",
    "column",
    "ours",
    "low",
    "high",
    "n",
    "published",
    "difference",
)
RANKED = ("place", "p")  # further columns, if numbers are ranked


class Cell(NamedTuple):
    """A number of ours, and the printed number beside it; None if there is none.

    `ours` is NaN where the printed number stands alone.
    """

    panel: str
    row: str
    column: str
    ours: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    published: float | None = None
    draws: tuple[float, ...] = ()
    x: float | None = None
    place: int | None = None
    p: float | None = None

    @property
    def difference(self) -> float | None:
        """Ours less the printed number."""
        if self.published is None or isnan(self.ours):
            return None
        return round(self.ours - self.published, 12)


@dataclass(frozen=True)
class Cells:
    """What a record shows: its cells in order, and how many numbers were printed and have ours.

    `panels`, `rows` and `columns` are the titles that have a cell, in the record's
    order; `absent` are titles of rows and columns for which our tables have no number.
    """

    cells: tuple[Cell, ...]
    panels: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    n_printed: int = 0
    n_compared: int = 0
    absent: tuple[str, ...] = ()

    def rows_in(self, panel: str) -> list[str]:
        """Return the rows that have a cell in a panel, in their order."""
        rows = {cell.row for cell in self.cells if cell.panel == panel}
        return [row for row in self.rows if row in rows]

    def frame(self, record: Record) -> pd.DataFrame:
        """Return the cells as a table (COLUMNS), without differences if the record has none."""
        less = [
            None if record.not_comparable else cell.difference for cell in self.cells
        ]
        values = [
            [*c[:8], d, c.place, c.p] for c, d in zip(self.cells, less, strict=True)
        ]
        types = dict.fromkeys([*COLUMNS[3:], *RANKED], "float64") | {
            "n": "Int64",
            "place": "Int64",
        }
        frame = pd.DataFrame(values, columns=[*COLUMNS, *RANKED]).astype(types)
        return frame if frame["place"].notna().any() else frame[list(COLUMNS)]


def find_cells(record: Record, tables: Tables, printed: pd.DataFrame | None) -> Cells:
    """Find the cells with a number of ours; raises BadInput for a missing column or two rows."""
    published = _Published(record, printed)
    lines = []
    for entries in (record.panels, record.rows, record.columns):
        of_axis = [_expand(record, entry, tables) for entry in entries]
        lines.append(list(chain.from_iterable(of_axis)))
    cells: list[Cell] = []
    problems: list[str] = []
    for place in product(*lines):
        with collect_problems(problems):
            if cell := _cell(record, place, tables, published):
                cells.append(cell)
    raise_problems(dict.fromkeys(problems))
    titles = [{cell[axis] for cell in cells} for axis in range(3)]
    panels, rows, columns = (
        tuple(
            dict.fromkeys(line.title for line in of_axis if line.title in titles[axis])
        )
        for axis, of_axis in enumerate(lines)
    )
    absent = dict.fromkeys(
        line.title
        for axis in (1, 2)
        for line in lines[axis]
        if line.ours is not None and line.title not in titles[axis]
    )
    counts = published.n, len(published.used)
    return Cells(tuple(cells), panels, rows, columns, *counts, tuple(absent))


def _expand(record: Record, entry: Line | EachValue, tables: Tables) -> Iterator[Line]:
    if isinstance(entry, Line):
        yield entry
        return
    numbers = _numbers(record, ())
    frame, column = tables(numbers.benchmark, numbers.table), entry.column
    rows = _matching(_source(record, numbers), frame, numbers.where, [column])
    for value in sorted(set(rows[column].dropna()) - set(entry.without)):
        yield Line(title=str(value), ours={column: value}, printed=None)


def _cell(
    record: Record, lines: tuple[Line, ...], tables: Tables, published: "_Published"
) -> Cell | None:
    where = _together([line.ours for line in lines])
    printed_where = _together([line.printed for line in lines])
    alone = any(line.printed_alone for line in lines)
    cell = None if where is None else _our_cell(record, lines, where, tables)
    if cell is not None:
        return cell._replace(published=published.value(printed_where))
    value = published.value(printed_where, beside_ours=False) if alone else None
    if value is None:
        return None
    panel, row, column = (line.title for line in lines)
    return Cell(panel, row, column, ours=nan, published=value)


def _our_cell(
    record: Record, lines: tuple[Line, ...], where: Conditions, tables: Tables
) -> Cell | None:
    """Return the cell with our number and nothing printed; None if we have no number."""
    numbers = _numbers(record, lines)
    frame, source = tables(numbers.benchmark, numbers.table), _source(record, numbers)
    parts = [part for line in lines for part in line.parts]
    weighted = [
        (weight, _number(source, numbers, frame, {**numbers.where, **where, **more}))
        for weight, more in parts or [(1.0, {})]
    ]
    if any(number is None for _, number in weighted):
        return None
    panel, row, column = (line.title for line in lines)
    x = next((line.x for line in lines if line.x is not None), None)
    if parts:
        total = sum(weight * number.ours for weight, number in weighted if number)
        return Cell(panel, row, column, numbers.scale * total, x=x)
    (number,) = (number for _, number in weighted if number)
    ends = [
        None if end is None else numbers.scale * end
        for end in (number.low, number.high)
    ]
    low, high = ends if numbers.scale >= 0 else ends[::-1]
    draws = tuple(numbers.scale * float(draw) for draw in number.draws)
    number = number._replace(
        ours=numbers.scale * number.ours, low=low, high=high, draws=draws
    )
    return number._replace(panel=panel, row=row, column=column, x=x)


def _together(conditions: Sequence[Conditions | None]) -> dict[str, str] | None:
    """Return all conditions; None if a line has no such number."""
    if None in conditions:
        return None
    return {
        column: value for where in conditions for column, value in (where or {}).items()
    }


def _number(
    source: str, numbers: Numbers, frame: pd.DataFrame, where: Conditions
) -> Cell | None:
    """Return the matching row's number, not scaled, without titles; None if it has none."""
    row = _row(source, frame, where, numbers.columns)
    if row is None or missing(row[numbers.value]):
        return None
    low, high, n = (_real(row, name) for name in (numbers.low, numbers.high, numbers.n))
    n_defined = None if n is None else int(n - (_real(row, numbers.n_undefined) or 0))
    draws = tuple(row[numbers.draws]) if numbers.draws else ()
    place, p = (_real(row, name) for name in (numbers.place, numbers.p))
    cell = Cell(
        "", "", "", float(row[numbers.value]), low, high, n_defined, draws=draws, p=p
    )
    return cell._replace(place=None if place is None else int(place))


def _real(row: "pd.Series[Any]", name: str) -> float | None:
    return None if not name or missing(row[name]) else float(row[name])


def _row(
    source: str, frame: pd.DataFrame, where: Conditions, columns: Sequence[str]
) -> "pd.Series[Any] | None":
    """Return the row that meets the conditions; None without one, BadInput for several."""
    rows = _matching(source, frame, where, columns)
    if len(rows) > 1:
        conditions = ", ".join(f"{column} = {value}" for column, value in where.items())
        meet = f"{len(rows)} rows meet {conditions or 'no condition'}"
        raise BadInput(f"{source}: {meet}; add a condition to the record")
    return None if rows.empty else rows.iloc[0]


def _matching(
    source: str, frame: pd.DataFrame, where: Conditions, columns: Sequence[str] = ()
) -> pd.DataFrame:
    """Return the rows that meet the conditions; raises BadInput if a column is missing."""
    missing_columns = [name for name in (*where, *columns) if name not in frame.columns]
    if missing_columns:
        raise BadInput(
            f"{source}: has no column {', '.join(map(shown, missing_columns))}; it has"
            f" {', '.join(frame.columns)}; fix the record"
        )
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame


def _numbers(record: Record, lines: Sequence[Line]) -> Numbers:
    numbers = next(
        (line.numbers for line in reversed(lines) if line.numbers), record.numbers
    )
    if numbers is None:
        raise BadInput(
            f"{record.paper} {record.name}: names no numbers; fix the record"
        )
    return numbers


def _source(record: Record, numbers: Numbers) -> str:
    return f"{record.paper} {record.name}: table {numbers.table} of {numbers.benchmark}"


class _Published:
    """The printed numbers, and which of them stand beside ours."""

    def __init__(self, record: Record, printed: pd.DataFrame | None) -> None:
        self._source = (
            f"{record.paper} {record.name}: {', '.join(record.printed_files)}"
        )
        numbers = pd.DataFrame(columns=["value"]) if printed is None else printed
        self._frame = numbers[numbers["value"] != ""].reset_index(drop=True)
        self.n = len(self._frame)
        self.used: set[Hashable] = set()

    def value(
        self, where: Conditions | None, *, beside_ours: bool = True
    ) -> float | None:
        """Return the printed number of the cell, if there is one."""
        row = _row(self._source, self._frame, where, ()) if where and self.n else None
        if row is None:
            return None
        if beside_ours:
            self.used.add(row.name)
        return float(row["value"])
