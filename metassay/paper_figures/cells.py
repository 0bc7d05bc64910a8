"""The cells of a record: our numbers with their intervals, and what was printed."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.errors import BadInput, raise_problems, shown
from metassay.format.numbers import missing
from metassay.paper_figures.papers import Each, Line, Numbers, Record, Where

Tables = Callable[[str, str], pd.DataFrame]  # of a benchmark and the name of a table

COLUMNS = ("panel", "row", "column", "ours", "low", "high", "n", "published", "difference")
RANKED = ("place", "p")  # further columns, where numbers have a best one


class Cell(NamedTuple):
    """One number of ours, and the printed one beside it; None where it isn't there."""

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
        return None if self.published is None else round(self.ours - self.published, 12)


@dataclass(frozen=True)
class Cells:
    """What a record shows: its cells in order, how many were printed, and how many are beside ours.

    `panels`, `rows` and `columns` are the titles that have a cell, as the record orders them;
    `absent` are titles of rows and columns of which our tables have no number.
    """

    cells: tuple[Cell, ...]
    panels: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    n_printed: int = 0
    n_beside: int = 0
    absent: tuple[str, ...] = ()

    def rows_in(self, panel: str) -> list[str]:
        """The rows that have a cell in a panel, in their order."""
        there = {cell.row for cell in self.cells if cell.panel == panel}
        return [row for row in self.rows if row in there]

    def frame(self, record: Record) -> pd.DataFrame:
        """The cells as a table (COLUMNS), without differences where none may be taken."""
        values = [[*cell[:8], None if record.apart else cell.difference] for cell in self.cells]
        frame = pd.DataFrame(values, columns=list(COLUMNS))
        reals = {name: "float64" for name in COLUMNS[3:] if name != "n"}
        frame = frame.astype({**reals, "n": "Int64"})
        if all(cell.place is None for cell in self.cells):
            return frame
        ranked = pd.DataFrame([[cell.place, cell.p] for cell in self.cells], columns=list(RANKED))
        return pd.concat([frame, ranked.astype({"place": "Int64", "p": "float64"})], axis=1)


def cells_of(record: Record, tables: Tables, printed: pd.DataFrame | None) -> Cells:
    """Find every cell of a record; a cell without a number of ours is left out.

    Raises BadInput where a table lacks a column, and where more than one row is the cell's.
    """
    theirs = _Print(record, printed)
    lines = [
        [line for one in of for line in _expanded(record, one, tables)]
        for of in (record.panels, record.rows, record.columns)
    ]
    cells: list[Cell] = []
    problems: list[str] = []
    for place in product(*lines):
        try:
            cell = _cell(record, place, tables, theirs)
        except BadInput as error:
            problems += error.problems
        else:
            cells += [cell] if cell else []
    raise_problems(dict.fromkeys(problems))
    there = [{cell[place] for cell in cells} for place in range(3)]
    panels, rows, columns = (
        tuple(dict.fromkeys(line.title for line in of if line.title in there[place]))
        for place, of in enumerate(lines)
    )
    absent = dict.fromkeys(
        line.title
        for place in (1, 2)
        for line in lines[place]
        if line.ours is not None and line.title not in there[place]
    )
    return Cells(tuple(cells), panels, rows, columns, theirs.n, len(theirs.used), tuple(absent))


def _expanded(record: Record, one: Line | Each, tables: Tables) -> Iterator[Line]:
    if isinstance(one, Line):
        yield one
        return
    numbers = _numbers(record, ())
    frame = tables(numbers.benchmark, numbers.table)
    rows = _meeting(_at(record, numbers), frame, numbers.where, [one.column])
    for value in sorted(set(rows[one.column].dropna()) - set(one.but)):
        yield Line(str(value), ours={one.column: value}, printed=None)


def _cell(record: Record, place: tuple[Line, ...], tables: Tables, theirs: "_Print") -> Cell | None:
    where = _together([line.ours for line in place])
    if where is None:
        return None
    numbers = _numbers(record, place)
    frame, at = tables(numbers.benchmark, numbers.table), _at(record, numbers)
    parts = [part for line in place for part in line.parts]
    every = [
        (weight, _number(at, numbers, frame, {**numbers.where, **where, **more}))
        for weight, more in parts or [(1.0, {})]
    ]
    if any(found is None for _, found in every):
        return None
    titles = (place[0].title, place[1].title, place[2].title)
    published = theirs.value(_together([line.printed for line in place]))
    x = next((line.x for line in place if line.x is not None), None)
    if parts:
        total = sum(weight * found.value for weight, found in every if found)
        return Cell(*titles, numbers.scale * total, published=published, x=x)
    (found,) = (number for _, number in every if number)
    ends = [None if end is None else numbers.scale * end for end in (found.low, found.high)]
    low, high = ends if numbers.scale >= 0 else ends[::-1]
    draws = tuple(numbers.scale * float(draw) for draw in found.draws)
    value = numbers.scale * found.value
    return Cell(*titles, value, low, high, found.n, published, draws, x, found.place, found.p)


def _together(conditions: Sequence[Where | None]) -> dict[str, str] | None:
    """All conditions; None if one line has no such number."""
    if None in conditions:
        return None
    return {column: value for where in conditions for column, value in (where or {}).items()}


class _Number(NamedTuple):
    value: float
    low: float | None
    high: float | None
    n: int | None
    draws: Sequence[float]
    place: int | None
    p: float | None


def _number(at: str, numbers: Numbers, frame: pd.DataFrame, where: Where) -> _Number | None:
    """The number of the row that meets the conditions; None if there is none, or null."""
    row = _row(at, frame, where, numbers.columns)
    if row is None or missing(row[numbers.value]):
        return None
    low, high, n = (_real(row, name) for name in (numbers.low, numbers.high, numbers.n))
    n_defined = None if n is None else int(n - (_real(row, numbers.n_undefined) or 0))
    draws = row[numbers.draws] if numbers.draws else ()
    place, p = (_real(row, name) for name in (numbers.place, numbers.p))
    ranked = None if place is None else int(place), p
    return _Number(float(row[numbers.value]), low, high, n_defined, draws, *ranked)


def _real(row: "pd.Series[Any]", name: str) -> float | None:
    return None if not name or missing(row[name]) else float(row[name])


def _row(
    at: str, frame: pd.DataFrame, where: Where, columns: Sequence[str]
) -> "pd.Series[Any] | None":
    """The row that meets the conditions; None if there is none, BadInput if there are several."""
    found = _meeting(at, frame, where, columns)
    if len(found) > 1:
        conditions = ", ".join(f"{column} = {value}" for column, value in where.items())
        raise BadInput(
            f"{at}: {len(found)} rows meet {conditions or 'no condition'}; add a condition to the"
            " record"
        )
    return None if found.empty else found.iloc[0]


def _meeting(
    at: str, frame: pd.DataFrame, where: Where, columns: Sequence[str] = ()
) -> pd.DataFrame:
    """The rows that meet the conditions; BadInput if one of these columns is not there."""
    lacking = [name for name in (*where, *columns) if name not in frame.columns]
    if lacking:
        raise BadInput(
            f"{at}: has no column {', '.join(map(shown, lacking))}; it has"
            f" {', '.join(frame.columns)}; fix the record"
        )
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame


def _numbers(record: Record, lines: Sequence[Line]) -> Numbers:
    numbers = next((line.numbers for line in reversed(lines) if line.numbers), record.numbers)
    if numbers is None:
        raise BadInput(f"{record.paper} {record.name}: names no numbers; fix the record")
    return numbers


def _at(record: Record, numbers: Numbers) -> str:
    return f"{record.paper} {record.name}: table {numbers.table} of {numbers.benchmark}"


class _Print:
    """What was printed, and which of it stands beside ours."""

    def __init__(self, record: Record, printed: pd.DataFrame | None) -> None:
        self._at = f"{record.paper} {record.name}: {', '.join(record.printed)}"
        there = pd.DataFrame(columns=["value"]) if printed is None else printed
        self._frame = there[there["value"] != ""].reset_index(drop=True)
        self.n = len(self._frame)
        self.used: set[Hashable] = set()

    def value(self, where: Where | None) -> float | None:
        """The printed number of the cell, if there is one."""
        row = _row(self._at, self._frame, where, ()) if where and self.n else None
        if row is None:
            return None
        self.used.add(row.name)
        return float(row["value"])
