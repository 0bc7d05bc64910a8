"""What sections are made of: tables of cells, in groups that open."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pandas as pd

from metassay.format.frames import records
from metassay.format.numbers import (
    counted,
    denominators,
    exact,
    short,
    short_interval,
    shown,
    shown_interval,
)
from metassay.format.terms import COEFFICIENT_NAMES, DECISIONS
from metassay.reporting.names import (
    Metric,
    criterion_rank,
    criterion_title,
    part_rank,
    sorted_metrics,
)
from metassay.tables.names import metric_label

if TYPE_CHECKING:  # the terminal, too, takes words from here, and needs no statistics
    from metassay.meta_evaluation.analysis import Analysis

Key = tuple[str, str, str]  # study, criterion, part
Row = dict[str, Any]
K = TypeVar("K")


class Cell(NamedTuple):
    """One cell: a text, smaller lines below it, and what to sort by where that isn't the text."""

    text: str
    notes: tuple[str, ...] = ()
    stored: str | None = None
    css: str = ""


class Grid(NamedTuple):
    """One table; the first head is that of the rows' names."""

    caption: str
    heads: list[str]
    rows: list[tuple[str, list[Cell]]]
    sort: bool = True


class Group(NamedTuple):
    """Tables behind one line that opens them, what to know of them, and groups within."""

    title: str
    soft: str
    grids: list[Grid]
    groups: list["Group"] = []  # noqa: RUF012
    open: bool = False
    says: list[str] = []  # noqa: RUF012


class Term(NamedTuple):
    """A word that the section uses, what it means, and where the page has an example of it."""

    css: str
    word: str
    meaning: str
    example: str


class Terms(NamedTuple):
    """Terms under one heading."""

    title: str
    terms: list[Term]


class Section(NamedTuple):
    """One section of the page: warnings, how to read it, terms, then a figure, then tables.

    `files` are the tables that lie beside the page in full.
    """

    id: str
    heading: str
    says: list[str]
    files: list[str]
    grids: list[Grid] = []  # noqa: RUF012
    groups: list[Group] = []  # noqa: RUF012
    figure: str = ""
    warnings: list[str] = []  # noqa: RUF012
    terms: list[Terms] = []  # noqa: RUF012


FEW = 6  # criteria that a section's text names one by one
NOT_COMPUTED = Cell("–", stored="")


def number(
    value: float | None,
    *notes: str,
    low: float | None = None,
    high: float | None = None,
    css: str = "",
) -> Cell:
    """A number, its interval and notes below it; "" is no note. Null is `undefined`, last."""
    below = tuple(note for note in (shown_interval(low, high), *notes) if note)
    return Cell(shown(value) or "undefined", below, exact(value), css)


def estimate(row: Row | None, *notes: str, of: str = "value") -> Cell:
    """The number `of` a row with its interval; without a row NOT_COMPUTED."""
    if row is None:
        return NOT_COMPUTED
    return number(row[of], *notes, low=row["low"], high=row["high"])


def short_cell(row: Row | None, *notes: str) -> Cell:
    """The value of a row with its interval, two decimals each; without a row NOT_COMPUTED."""
    if row is None:
        return NOT_COMPUTED
    below = tuple(note for note in (short_interval(row["low"], row["high"]), *notes) if note)
    return Cell(short(row["value"]) or "undefined", below, exact(row["value"]))


def short_estimate(row: Row) -> str:
    """The value of a row and its interval for a sentence, two decimals each."""
    return f"{short(row['value'])} {short_interval(row['low'], row['high'])}".strip()


def rests_on(row: Row) -> str:
    """What its number rests on, as `denominators` has it."""
    return denominators(row["n"], row.get("n_undefined", 0), row["n_missing"])


def matrix(
    caption: str,
    head: str,
    lines: Mapping[str, Mapping[Any, Cell]],
    columns: Mapping[Any, str] | Iterable[str],
    *,
    sort: bool = True,
) -> Grid:
    """A line of cells per name, by column; `columns` are their heads, by key where they differ."""
    heads = columns if isinstance(columns, Mapping) else {name: name for name in columns}
    rows = [(name, [of.get(key, NOT_COMPUTED) for key in heads]) for name, of in lines.items()]
    return Grid(caption, [head, *heads.values()], rows, sort)


def count(value: int) -> Cell:
    """A whole number."""
    return Cell(f"{value:,}", stored=str(value))


def by_criterion(frame: pd.DataFrame) -> list[tuple[Key, list[Row]]]:
    """The rows of each study, criterion and part, in the order of the page."""
    found = grouped(records(frame), key_of)
    return sorted(found.items(), key=lambda item: key_rank(item[0]))


def grouped(rows: Iterable[Row], key: Callable[[Row], K]) -> dict[K, list[Row]]:
    """The rows by their key, keys and rows in the order of the rows."""
    found: dict[K, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


ByCriterion = Callable[[list[Row]], tuple[str, list[Grid], list[Group]]]


def criterion_groups(frame: pd.DataFrame, of: ByCriterion, *, is_open: bool = True) -> list[Group]:
    """A group per study, criterion and part: what `of` its rows says beside the study, and has."""
    made = []
    for place, (key, mine) in enumerate(by_criterion(frame)):
        soft, grids, groups = of(mine)
        about = ", ".join(filter(None, (f"study {key[0]}", soft)))
        made.append(Group(titled(key), about, grids, groups, is_open and place == 0))
    return made


def level_groups(
    rows: list[Row],
    grid: Callable[[list[Row]], Grid | None],
    more: Callable[[list[Row]], str] = lambda _: "",
) -> list[Group]:
    """A group per level that has a grid, what it decides first; `global` is open."""
    groups = []
    for level, words in DECISIONS.items():
        mine = [row for row in rows if row["level"] == level]
        found, said = grid(mine), more(mine)
        soft = f"{level} level: {said}" if said else f"{level} level"
        if found:
            groups.append(Group(words.capitalize(), soft, [found], open=level == "global"))
    return groups


def key_of(row: Row) -> Key:
    """Study, criterion and part."""
    return row["study"], row["criterion"], row["part"]


def metric_of(row: Row) -> Metric:
    """Metric and judge."""
    return row["metric"], row["judge"]


def metric_name(row: Row) -> str:
    """The metric's name, with the judge's in brackets."""
    return metric_label(row["metric"], row["judge"])


def metrics_and_coefficients(rows: list[Row]) -> str:
    """How many metrics there are, and which coefficients: `3 metrics, Pearson`."""
    named = ", ".join(sorted({COEFFICIENT_NAMES[row["coefficient"]] for row in rows}))
    return f"{counted(len(set(map(metric_of, rows))), 'metric')}, {named}"


def key_rank(key: Key) -> tuple[str, tuple[int, str], tuple[int, str]]:
    """Sorting key: by study and criterion, the whole text before its parts."""
    study, criterion, part = key
    return study, criterion_rank(criterion), part_rank(part)


def titled(key: Key) -> str:
    """A criterion's name on the page."""
    return criterion_title(key[1], key[2])


def best_first(value: float | None) -> tuple[bool, float]:
    """Sorting key of one number: the largest first, null last."""
    return value is None, -(value or 0.0)


def present(sections: Iterable[Section | None]) -> list[Section]:
    """Those that have something to say."""
    return [section for section in sections if section is not None]


def recipes_section(
    frame: pd.DataFrame, column: str, says: str, files: Sequence[str] = ()
) -> Section | None:
    """What made the rows of each judge or segmentation, named in `column`; None without a row."""
    recipes = sorted(set(zip(frame[column], frame["recipe"], strict=True)))
    if not recipes:
        return None
    lines = [(str(name), [Cell(str(recipe))]) for name, recipe in recipes]
    return Section(
        "recipes", "Recipes", [says], list(files), [Grid("", [column, "recipe"], lines, sort=False)]
    )


def analysis_section(
    analysis: "Analysis",
    frame: pd.DataFrame,
    by: ByCriterion | None = None,
    *says: str,
    is_open: bool = True,
) -> Section | None:
    """What the page of an analysis shows of its first table: what `by` has, or its `across`.

    None without a row. `says` is said beside the words of the analysis.
    """
    if frame.empty:
        return None
    groups = criterion_groups(frame, by or partial(_across, analysis.page.across), is_open=is_open)
    return opening(analysis, *says)._replace(groups=groups)


def opening(analysis: "Analysis", *says: str) -> Section:
    """The section of an analysis before anything is shown in it: heading, words, files, figure."""
    page, files = analysis.page, [table.name for table in analysis.tables]
    said = [" ".join(paragraph.split()) for paragraph in page.says.split("\n\n")]
    return Section(page.id, page.heading, [*said, *says], files, figure=page.figure)


def _across(column: str, mine: list[Row]) -> tuple[str, list[Grid], list[Group]]:
    n = len({row[column] for row in mine})
    soft = f"{n:,} {column}" if n == 1 else f"{n:,} {_PLURALS.get(column, f'{column}s')}"
    return soft, [], level_groups(mine, lambda rows: by_metric(rows, column) if rows else None)


_PLURALS = {"stratum": "strata"}


def by_metric(
    rows: list[Row],
    column: str,
    cell: Callable[[Row], Cell] | None = None,
    heads: Mapping[Any, str] | None = None,
    caption: str = "",
) -> Grid:
    """A line per metric, in the order of pages, and a column per value of `column`."""
    of = cell or (lambda row: estimate(row, rests_on(row)))
    found = grouped(rows, metric_of)
    lines = {
        metric_label(*metric): {row[column]: of(row) for row in found[metric]}
        for metric in sorted_metrics(found)
    }
    return matrix(caption, "metric", lines, heads or sorted({row[column] for row in rows}))
