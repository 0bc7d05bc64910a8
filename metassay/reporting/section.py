"""What sections are made of: tables of cells, in groups that open."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from metassay.format.frames import records
from metassay.format.numbers import (
    exact,
    short,
    short_interval,
    shown,
    shown_interval,
)
from metassay.reporting.names import (
    Metric,
    criterion_rank,
    criterion_title,
    part_rank,
)
from metassay.tables.names import metric_label

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


def short_estimate(row: Row) -> str:
    """The value of a row and its interval for a sentence, two decimals each."""
    return f"{short(row['value'])} {short_interval(row['low'], row['high'])}".strip()


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


def key_of(row: Row) -> Key:
    """Study, criterion and part."""
    return row["study"], row["criterion"], row["part"]


def metric_of(row: Row) -> Metric:
    """Metric and judge."""
    return row["metric"], row["judge"]


def metric_name(row: Row) -> str:
    """The metric's name, with the judge's in brackets."""
    return metric_label(row["metric"], row["judge"])


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
