"""What a record of a figure or table says: which numbers of ours it shows, and what was printed.

A record is read as the table that it draws. It has rows and columns (and panels, which
are groups of rows). Where a row meets a column is a cell. The conditions of both, put
together, find the cell's number of ours in a table of a benchmark, and its printed
number in a CSV file of `reports/published/`. For example, this row::

    Line(
        title="BioBART, full",
        ours={"author": "biobart_full"},
        printed={"system_or_metric": "BioBART", "setting": "full"},
    )

and this column::

    Line(
        title="Rouge-1",
        ours={"metric": "rouge1_fmeasure"},
        printed={"quantity": "Rouge-1"},
    )

meet in the row of our table in which `author` is `biobart_full` and `metric` is
`rouge1_fmeasure`. The printed number beside it is the `value` of the CSV file's row
with these three entries.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Conditions = Mapping[str, str]  # what columns of a table must hold, by column
Form = Literal["table", "dots", "bars", "lines", "scatter", "heatmap", "violins"]


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Our numbers: a column of a benchmark's table, and the columns of its interval.

    Parameters
    ----------
    benchmark
        A folder of `benchmarks/`.
    table
        One of docs/tables.md that figures may show (`derived_tables.DRAWN_FROM`), or
        one that is made of these for figures alone (`derived_tables.DERIVED`;
        docs/figures.md lists them).
    value, low, high
        Columns of the number and of the ends of its interval; "" for no interval.
    n, n_undefined
        Columns of the number of documents or texts; the second is subtracted.
    draws
        A column of lists, which violins show.
    place, p
        Columns of the rank among the numbers of a column (1 is best), and of p of being
        as good as the best.
    scale
        Multiplies the number and its interval, so that they are as the paper prints
        them: 100 for per cent, -1 to flip the sign.
    where
        Conditions of all cells.
    """

    benchmark: str
    table: str
    value: str
    low: str = ""
    high: str = ""
    n: str = ""
    n_undefined: str = ""
    draws: str = ""
    place: str = ""
    p: str = ""
    scale: float = 1.0
    where: Conditions = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The columns that numbers are read from."""
        names = [
            self.value,
            self.low,
            self.high,
            self.draws,
            self.n,
            self.n_undefined,
            self.place,
            self.p,
        ]
        return [name for name in names if name]


@dataclass(frozen=True, kw_only=True)
class Line:
    """A row, a column or a panel: its title, and the conditions of its cells.

    Parameters
    ----------
    title
        As it is shown.
    ours
        Conditions on our table; None if we don't compute this line.
    printed
        Conditions on the file of printed numbers; None if the line was not printed.
    printed_alone
        Whether a printed number is shown where we have none.
    numbers
        Where our numbers of this line are, if not where the record's are.
    parts
        A weighted sum instead of a single number, without an interval: each part is a
        weight and its further conditions.
    x
        The line's position on the axis, if the form of the figure is `lines`.
    """

    title: str
    ours: Conditions | None = field(default_factory=dict)
    printed: Conditions | None = field(default_factory=dict)
    printed_alone: bool = False
    numbers: Numbers | None = None
    parts: Sequence[tuple[float, Conditions]] = ()
    x: float | None = None


@dataclass(frozen=True, kw_only=True)
class EachValue:
    """A line of ours for every value of a column of our table, sorted, but for some."""

    column: str
    without: Sequence[str] = ()


Lines = Sequence[Line | EachValue]


Kind = Literal["data", "credentials", "us"]


@dataclass(frozen=True, kw_only=True)
class Missing:
    """What a figure lacks to be drawn.

    Parameters
    ----------
    kind
        `data` that nobody published, or that everybody must fetch; `credentials` for
        data that only some may have, or a language model; `us`, if it is up to this project.
    what
        What is missing, and how to get it.
    """

    kind: Kind
    what: str


@dataclass(frozen=True, kw_only=True)
class Record:
    """A figure or table of a paper.

    Parameters
    ----------
    paper, name
        The paper's short name, and the figure's: `table20`, `fig4`.
    title
        What it shows, in a few words of ours.
    form
        `table`, or the form of a figure.
    numbers
        Where our numbers are; a line with `numbers` of its own replaces this.
    panels, rows, columns
        The lines that make the cells.
    printed_files
        Files of `reports/published/`.
    decimals
        As printed.
    axis, across
        What a figure's numbers are; what the columns are, if the form is `lines`.
    caption
        What its reader must know, after the title.
    not_comparable
        Why the difference between ours and the printed numbers says nothing; they then
        stand side by side and are not subtracted.
    open
        What is missing; then nothing is drawn. A record that names numbers, too, is
        open until `benchmarks/` has all that it names (`index.find_records`).

    Line breaks in the texts count as blanks.
    """

    paper: str
    name: str
    title: str
    form: Form = "table"
    numbers: Numbers | None = None
    panels: Lines = (Line(title=""),)
    rows: Lines = ()
    columns: Lines = ()
    printed_files: Sequence[str] = ()
    decimals: int = 2
    axis: str = ""
    across: str = ""
    caption: str = ""
    not_comparable: str = ""
    open: Missing | None = None

    @property
    def all_numbers(self) -> list[Numbers]:
        """All numbers that it may show."""
        lines = [*self.panels, *self.rows, *self.columns]
        candidates = [self.numbers]
        candidates += [line.numbers for line in lines if isinstance(line, Line)]
        return [numbers for numbers in candidates if numbers]


def estimate(
    benchmark: str,
    table: str,
    *,
    scale: float = 1.0,
    where: Conditions | None = None,
    draws: str = "",
) -> Numbers:
    """Return the numbers of a table whose columns are called value, low, high and n."""
    return Numbers(
        benchmark=benchmark,
        table=table,
        value="value",
        low="low",
        high="high",
        n="n",
        draws=draws,
        scale=scale,
        where=where or {},
    )


def lines_by(
    column: str,
    values: Mapping[str, str],
    *,
    ours: Conditions | None = None,
    printed_column: str = "",
) -> list[Line]:
    """Return a line per title, which shows what has this value in a column of our table.

    Parameters
    ----------
    column
        A column of our table.
    values
        Its values, by the titles of the lines.
    ours
        Further conditions on our table, of every line.
    printed_column
        The column of the printed file that holds the titles; "" if none was printed.

    Examples
    --------
    >>> for line in lines_by("facet", {"Method": "method", "Result": "result"}):
    ...     print(line.title, line.ours, line.printed)
    Method {'facet': 'method'} None
    Result {'facet': 'result'} None
    """
    return [
        Line(
            title=title,
            ours={**(ours or {}), column: value},
            printed={printed_column: title} if printed_column else None,
        )
        for title, value in values.items()
    ]
