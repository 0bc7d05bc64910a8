"""The records of papers' figures and tables: which numbers each shows, and how (records.yaml).

A record has panels, rows and columns. Where the three meet is a cell: a number of ours,
found in a table of a benchmark by the conditions of its panel, row and column, and a
printed number, found in a file of `reports/published/` in the same way.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter

from metassay.core import strict_yaml

Where = Mapping[str, str]  # column -> value
Part = tuple[float, Where]
Form = Literal["table", "dots", "bars", "lines", "scatter", "heatmap", "violins"]


@dataclass(frozen=True)
class Numbers:
    """Our numbers: a column of a benchmark's table, and the columns of its interval.

    `table` is in `derived_tables.DRAWN_FROM`, or made from these by `DERIVED` there. A
    cell is one row of it. `scale` multiplies value and interval, so that they are as
    the paper prints them; -1 flips the sign and the interval. `draws`: a column of
    lists, for violins. `n`: the number of documents or texts, less `n_undefined`.
    `place`: 1 for the best number of its column; `p`: that of its being as good.
    """

    benchmark: str
    table: str
    value: str
    low: str = ""
    high: str = ""
    draws: str = ""
    n: str = ""
    n_undefined: str = ""
    place: str = ""
    p: str = ""
    scale: float = 1.0
    where: Where = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The columns that it reads numbers from."""
        names = (self.value, self.low, self.high, self.draws, self.n, self.n_undefined)
        return [name for name in (*names, self.place, self.p) if name]


@dataclass(frozen=True)
class Line:
    """A row, column or panel: its title, and the conditions of its cells.

    `ours` are for our table and `printed` for the published file; None says that this
    line is not computed here, or was not printed. `numbers` replaces the record's. With
    `parts` the cell is a weighted sum of several: a weight and further conditions each;
    it has no interval. `x`: the line's position on the axis if the form has one
    (`lines`).
    """

    title: str
    ours: Where | None = field(default_factory=dict)
    printed: Where | None = field(default_factory=dict)
    numbers: Numbers | None = None
    parts: tuple[Part, ...] = ()
    x: float | None = None


@dataclass(frozen=True)
class EachValue:
    """A line of ours for every value of a column of our table, sorted, except those in `but`."""

    column: str
    but: tuple[str, ...] = ()


Lines = tuple[Line | EachValue, ...]


@dataclass(frozen=True)
class Record:
    """A figure or table of a paper.

    `title` and `says` are our words: what it shows, and what its reader must know.
    `printed`: files in `reports/published/`. `apart`: why ours and theirs stand side by
    side and are not subtracted. `open`: what is missing; then nothing is drawn, and all
    else may be empty. `decimals`: as printed. `axis`: what the numbers are; `across`:
    what the columns of lines are.
    """

    paper: str
    name: str
    title: str
    form: Form = "table"
    numbers: Numbers | None = None
    rows: Lines = ()
    columns: Lines = ()
    panels: Lines = (Line(""),)
    printed: tuple[str, ...] = ()
    decimals: int = 2
    axis: str = ""
    across: str = ""
    says: str = ""
    apart: str = ""
    open: str = ""

    @property
    def all_numbers(self) -> tuple[Numbers, ...]:
        """All numbers that it may show; none for an open record."""
        if self.open:
            return ()
        lines = (*self.panels, *self.rows, *self.columns)
        candidates = [
            self.numbers,
            *(line.numbers for line in lines if isinstance(line, Line)),
        ]
        return tuple(numbers for numbers in candidates if numbers)


_ESTIMATE = {"value": "value", "low": "low", "high": "high", "n": "n"}
_Papers = dict[str, tuple[Record, ...]]


def _read() -> _Papers:
    """Read records.yaml; raises a ValidationError that names a block that is no record."""
    blocks: Any = strict_yaml.load(Path(__file__).with_name("records.yaml"))
    papers = {
        paper: [
            {"paper": paper, "name": name, **_record(block)}
            for name, block in records.items()
        ]
        for paper, records in blocks.items()
        if paper != "shared"
    }
    return TypeAdapter(_Papers, config=ConfigDict(extra="forbid")).validate_python(
        papers
    )


def _record(block: Mapping[str, Any]) -> dict[str, Any]:
    fields = _with_numbers(block)
    for key in {"panels", "rows", "columns"} & block.keys():
        fields[key] = [line for item in _flat(block[key]) for line in _lines(item)]
    for key in {"says", "apart", "open"} & block.keys():
        fields[key] = " ".join(_flat(block[key]))
    return fields


def _with_numbers(block: Mapping[str, Any]) -> dict[str, Any]:
    numbers = block.get("numbers")
    if numbers is None or "value" in numbers:
        return dict(block)
    return {**block, "numbers": {**_ESTIMATE, **numbers}}


def _lines(block: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "by" not in block:
        yield _with_numbers(block)
        return
    for title, value in block["of"].items():
        ours = {**block.get("ours", {}), block["by"]: value}
        printed = {block["print"]: title} if "print" in block else None
        yield {"title": title, "ours": ours, "printed": printed}


def _flat(value: Any) -> Iterator[Any]:
    if not isinstance(value, list):
        yield value
        return
    for item in value:
        yield from _flat(item)


PAPERS: Mapping[str, tuple[Record, ...]] = _read()
