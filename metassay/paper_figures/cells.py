"""The cells of a record: our numbers with their intervals, and what was printed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import pandas as pd

from metassay.errors import BadInput, shown
from metassay.paper_figures.record import Each, Line, Lines, Numbers, Record, Where
from metassay.reporting.numbers import missing

Tables = Callable[[str, str], pd.DataFrame]  # of a benchmark and the name of a table

COLUMNS = ("panel", "row", "column", "ours", "low", "high", "n", "published", "difference")


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

    def frame(self, record: Record) -> pd.DataFrame:
        """The cells as a table (COLUMNS), without differences where none may be taken."""
        made = [[*cell[:8], None if record.apart else cell.difference] for cell in self.cells]
        frame = pd.DataFrame(made, columns=list(COLUMNS))
        reals = {name: "float64" for name in COLUMNS[3:] if name != "n"}
        return frame.astype({**reals, "n": "Int64"})


def cells_of(record: Record, tables: Tables, printed: pd.DataFrame | None) -> Cells:
    """Find every cell of a record; a cell without a number of ours is left out.

    Raises BadInput where a table lacks a column, and where more than one row is the cell's.
    """
    theirs = _Printed(record, printed)
    lines = [_lines(record, of, tables) for of in (record.panels, record.rows, record.columns)]
    made: list[Cell] = []
    problems: list[str] = []
    for panel, row, column in product(*lines):
        try:
            cell = _cell(record, (panel, row, column), tables, theirs)
        except BadInput as error:
            problems += error.problems
            continue
        if cell is not None:
            made.append(cell)
    if problems:
        raise BadInput(list(dict.fromkeys(problems)))
    titles = [tuple(dict.fromkeys(line.title for line in of)) for of in lines]
    there = [{cell[place] for cell in made} for place in range(3)]
    panels, rows, columns = (
        tuple(title for title in titles[place] if title in there[place]) for place in range(3)
    )
    named = [
        (place, line.title) for place in (1, 2) for line in lines[place] if line.ours is not None
    ]
    absent = tuple(dict.fromkeys(title for place, title in named if title not in there[place]))
    return Cells(tuple(made), panels, rows, columns, theirs.n, len(theirs.used), absent)


def _lines(record: Record, lines: Lines, tables: Tables) -> list[Line]:
    return [line for one in lines for line in _expanded(record, one, tables)]


def _expanded(record: Record, one: Line | Each, tables: Tables) -> Iterator[Line]:
    if isinstance(one, Line):
        yield one
        return
    numbers = _numbers(record, ())
    frame = _meeting(record, numbers, tables(numbers.benchmark, numbers.table), numbers.where)
    _has(record, numbers, frame, [one.column])
    for value in sorted(set(frame[one.column].dropna()) - set(one.but)):
        yield Line(str(value), ours={one.column: value}, printed=None)


def _cell(
    record: Record, lines: tuple[Line, ...], tables: Tables, theirs: "_Printed"
) -> Cell | None:
    if any(line.ours is None for line in lines):
        return None
    numbers = _numbers(record, lines)
    frame = tables(numbers.benchmark, numbers.table)
    where = dict(numbers.where)
    for line in lines:
        where |= line.ours or {}
    parts = [part for line in lines for part in line.parts]
    place = (lines[0].title, lines[1].title, lines[2].title)
    if parts:
        each = [(w, _number(record, numbers, frame, {**where, **more})) for w, more in parts]
        if any(found is None for _, found in each):
            return None
        ours = numbers.scale * sum(weight * found.value for weight, found in each if found)
        found = _Number(ours)
    else:
        one = _number(record, numbers, frame, where)
        if one is None:
            return None
        found = one.scaled(numbers.scale)
    published = theirs.value([line.printed for line in lines])
    x = next((line.x for line in lines if line.x is not None), None)
    return Cell(*place, found.value, found.low, found.high, found.n, published, found.draws, x)


class _Number(NamedTuple):
    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    draws: tuple[float, ...] = ()

    def scaled(self, by: float) -> "_Number":
        ends = [None if end is None else by * end for end in (self.low, self.high)]
        low, high = ends if by >= 0 else ends[::-1]
        return _Number(by * self.value, low, high, self.n, tuple(by * draw for draw in self.draws))


def _number(record: Record, numbers: Numbers, frame: pd.DataFrame, where: Where) -> _Number | None:
    """The number of the rows that meet the conditions; None where there is none, or it is null."""
    found = _meeting(record, numbers, frame, where)
    _has(record, numbers, frame, numbers.columns)
    if found.empty:
        return None
    if len(found) > 1:
        raise BadInput(
            f"{_at(record, numbers)}: {len(found)} rows meet {_said(where)}; add a condition to the"
            " record"
        )
    row = found.iloc[0]
    if missing(row[numbers.value]):
        return None
    low, high = _real(row, numbers.low), _real(row, numbers.high)
    draws = tuple(map(float, row[numbers.draws])) if numbers.draws else ()
    n = _real(row, numbers.n)
    n_defined = None if n is None else int(n - (_real(row, numbers.n_undefined) or 0))
    return _Number(float(row[numbers.value]), low, high, n_defined, draws)


def _real(row: "pd.Series[Any]", name: str) -> float | None:
    return None if not name or missing(row[name]) else float(row[name])


def _meeting(record: Record, numbers: Numbers, frame: pd.DataFrame, where: Where) -> pd.DataFrame:
    _has(record, numbers, frame, list(where))
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame


def _has(record: Record, numbers: Numbers, frame: pd.DataFrame, columns: list[str]) -> None:
    lacking = [name for name in columns if name not in frame.columns]
    if lacking:
        raise BadInput(
            f"{_at(record, numbers)}: has no column {', '.join(map(shown, lacking))}; it has"
            f" {', '.join(frame.columns)}; mend the record"
        )


def _numbers(record: Record, lines: tuple[Line, ...]) -> Numbers:
    own = next((line.numbers for line in reversed(lines) if line.numbers), record.numbers)
    if own is None:
        raise BadInput(f"{record.paper} {record.name}: names no numbers; mend the record")
    return own


def _at(record: Record, numbers: Numbers) -> str:
    return f"{record.paper} {record.name}: table {numbers.table} of {numbers.benchmark}"


def _said(where: Where) -> str:
    return ", ".join(f"{column} = {value}" for column, value in where.items()) or "no condition"


class _Printed:
    """What was printed, and which of it stands beside ours."""

    def __init__(self, record: Record, printed: pd.DataFrame | None) -> None:
        self._of = f"{record.paper} {record.name}: {', '.join(record.printed)}"
        self.used: set[int] = set()
        if printed is None:
            self._frame, self.n = None, 0
            return
        self._frame = printed[printed["value"] != ""].reset_index()
        self.n = len(self._frame)

    def value(self, conditions: list[Where | None]) -> float | None:
        """The printed number of the cell, if there is one."""
        if self._frame is None or None in conditions:
            return None
        where: dict[str, str] = {}
        for one in conditions:
            where |= one or {}
        if not where:
            return None
        found = self._meeting(self._frame, where)
        if len(found) > 1:
            raise BadInput(
                f"{self._of}: {len(found)} rows meet {_said(where)}; add a condition to the record"
            )
        if found.empty:
            return None
        self.used.add(int(found.index[0]))
        return float(found["value"].iloc[0])

    def _meeting(self, frame: pd.DataFrame, where: Where) -> pd.DataFrame:
        lacking = [name for name in where if name not in frame.columns]
        if lacking:
            raise BadInput(f"{self._of}: has no column {', '.join(map(shown, lacking))}")
        for column, value in where.items():
            frame = frame[frame[column] == value]
        return frame
