"""The records of papers' figures and tables: records.yaml says which numbers each shows, and how.

A record has panels, rows and columns. Where all three meet is a cell: one number of ours, found in
a table of a benchmark by the conditions of its panel, row and column, and one that was printed,
found in a file of `reports/published/` in the same way.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter

from metassay.core import strict_yaml

Where = Mapping[str, str]  # column -> the value that it has
Part = tuple[float, Where]
Form = Literal["table", "dots", "bars", "lines", "scatter", "heatmap", "violins"]


@dataclass(frozen=True)
class Numbers:
    """Our numbers: a column of a table of a benchmark, and those with its interval's ends.

    `table` is one of `derived_tables.DRAWN_FROM`, or made of such by `DERIVED` there. A cell is one
    row of it. `scale` multiplies value and interval, so that they are as the paper prints them; -1
    turns a sign, and the interval with it. `draws` is a column of lists, for violins; `n` says how
    many documents or texts a number is of, those of `n_undefined` left out. `place` is 1 for the
    best number of its column, and `p` that of its being as good.
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
    """A row, column or panel: its title, and the conditions that its cells meet.

    `ours` are of our table and `printed` of the published file; None there says that this line is
    not computed here, or was not printed. `numbers` are other ones than the record's. With `parts`
    the cell is a weighted sum of several: a weight and further conditions each; it has no interval.
    `x` is the line's place on the axis where the form has one (`lines`).
    """

    title: str
    ours: Where | None = field(default_factory=dict)
    printed: Where | None = field(default_factory=dict)
    numbers: Numbers | None = None
    parts: tuple[Part, ...] = ()
    x: float | None = None


@dataclass(frozen=True)
class Each:
    """A line of ours alone for every value that a column has in our table, sorted, but for some."""

    column: str
    but: tuple[str, ...] = ()


Lines = tuple[Line | Each, ...]


@dataclass(frozen=True)
class Record:
    """One figure or table of a paper.

    `title` and `says` are our words: what it shows, and what its reader must know. `printed` are
    files in `reports/published/`.
    `apart` says why ours and theirs stand side by side and are not subtracted. `open` says what is
    missing: then nothing is drawn, and all else may be empty. `decimals` are printed. `axis` is
    what the numbers are, `across` what the columns of lines are.
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
    def every_numbers(self) -> tuple[Numbers, ...]:
        """All numbers that it may show; none of one that is open."""
        if self.open:
            return ()
        lines = (*self.panels, *self.rows, *self.columns)
        every = [self.numbers, *(line.numbers for line in lines if isinstance(line, Line))]
        return tuple(numbers for numbers in every if numbers)


_ESTIMATE = {"value": "value", "low": "low", "high": "high", "n": "n"}
_Papers = dict[str, tuple[Record, ...]]


def _read() -> _Papers:
    """Raises a ValidationError that names a block which is no record."""
    blocks: Any = strict_yaml.load(Path(__file__).with_name("records.yaml"))
    papers = {
        paper: [{"paper": paper, "name": name, **_record(block)} for name, block in of.items()]
        for paper, of in blocks.items()
        if paper != "shared"
    }
    return TypeAdapter(_Papers, config=ConfigDict(extra="forbid")).validate_python(papers)


def _record(block: Mapping[str, Any]) -> dict[str, Any]:
    lines = {key: block[key] for key in ("panels", "rows", "columns") if key in block}
    texts = {key: block[key] for key in ("says", "apart", "open") if key in block}
    return {
        **_with_numbers(block),
        **{key: [line for one in _flat(of) for line in _lines(one)] for key, of in lines.items()},
        **{key: " ".join(_flat(text)) for key, text in texts.items()},
    }


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
    for one in value:
        yield from _flat(one)


PAPERS: Mapping[str, tuple[Record, ...]] = _read()
