"""The leaderboard as matrices: authors by metrics, one matrix per part and metric family."""

from typing import NamedTuple

import pandas as pd

from metassay.reporting.names import (
    ARROWS,
    Metric,
    families,
    family,
    sorted_authors,
    sorted_metrics,
    sorted_parts,
)
from metassay.reporting.numbers import exact, shown, shown_interval
from metassay.reporting.tables import rows
from metassay.tables.names import REFERENCE, metric_label

_FIELDS = (
    "metric",
    "judge",
    "author",
    "macro",
    "low",
    "high",
    "micro",
    "least",
    "most",
    "n_documents",
    "n_undefined",
    "n_expected",
    "n_failed",
    "better",
    "recipe",
)


class Cell(NamedTuple):
    """One author on one metric; texts ready to print, `stored` with all digits to sort by."""

    stored: str
    value: str
    interval: str
    micro: str
    n: str  # how many documents it rests on, and of how many
    failed: str  # how many answers are missing, of how many, and what the mean could be with them
    best: bool


class Column(NamedTuple):
    """One metric; `mixed` where its numbers don't all have one recipe."""

    label: str
    arrow: str
    better: str
    mixed: bool


class Matrix(NamedTuple):
    """Authors by the metrics of one family; a cell is None where nothing was computed."""

    title: str
    columns: list[Column]
    rows: list[tuple[str, list[Cell | None]]]


class Part(NamedTuple):
    """All matrices of one part."""

    name: str
    matrices: list[Matrix]


class _Row(NamedTuple):
    metric: str
    judge: str
    author: str
    macro: float | None
    low: float | None
    high: float | None
    micro: float | None
    least: float | None
    most: float | None
    n_documents: int
    n_undefined: int
    n_expected: int
    n_failed: int
    better: str
    recipe: str


def leaderboard_view(leaderboard: pd.DataFrame) -> list[Part]:
    """The parts with their matrices, `full` first; empty for an empty leaderboard."""
    parts = []
    for name in sorted_parts(leaderboard["part"]):
        mine = [_Row(*row) for row in rows(leaderboard[leaderboard["part"] == name], *_FIELDS)]
        titles = families(row.metric for row in mine)
        made = [_matrix(t, [row for row in mine if family(row.metric) == t]) for t in titles]
        parts.append(Part(name, made))
    return parts


def recipes(leaderboard: pd.DataFrame) -> list[tuple[str, str]]:
    """Every metric with its recipe, without repeats, in the order of the page."""
    found: dict[Metric, set[str]] = {}
    for metric, judge, recipe in rows(leaderboard, "metric", "judge", "recipe"):
        found.setdefault((metric, judge), set()).add(recipe)
    return [
        (metric_label(*m), recipe) for m in sorted_metrics(found) for recipe in sorted(found[m])
    ]


def _matrix(title: str, mine: list[_Row]) -> Matrix:
    metrics = sorted_metrics((row.metric, row.judge) for row in mine)
    best = {metric: _best([r for r in mine if (r.metric, r.judge) == metric]) for metric in metrics}
    cells = {(r.author, (r.metric, r.judge)): _cell(r, best[r.metric, r.judge]) for r in mine}
    authors = sorted_authors(row.author for row in mine)
    return Matrix(
        title,
        [_column(m, [row for row in mine if (row.metric, row.judge) == m]) for m in metrics],
        [(author, [cells.get((author, metric)) for metric in metrics]) for author in authors],
    )


def _column(metric: Metric, mine: list[_Row]) -> Column:
    better = mine[0].better
    mixed = len({row.recipe for row in mine}) > 1
    return Column(metric_label(*metric), ARROWS[better], better, mixed)


def _best(mine: list[_Row]) -> float | None:
    """The best macro among two or more systems; the reference is no competitor."""
    values = [r.macro for r in mine if r.macro is not None and r.author != REFERENCE]
    if len(values) < 2 or mine[0].better == "neither":
        return None
    return max(values) if mine[0].better == "higher" else min(values)


def _cell(row: _Row, best: float | None) -> Cell:
    return Cell(
        exact(row.macro),
        shown(row.macro) or "undefined",
        shown_interval(row.low, row.high),
        shown(row.micro),
        _defined(row),
        _missing(row),
        row.macro is not None and row.macro == best and row.author != REFERENCE,
    )


def _missing(row: _Row) -> str:
    if not row.n_failed:
        return ""
    bounds = shown_interval(row.least, row.most)
    missing = f"{row.n_failed:,} of {row.n_expected:,} missing"
    return f"{missing}, within {bounds}" if bounds else missing


def _defined(row: _Row) -> str:
    n = row.n_documents - row.n_undefined
    return f"n = {n:,} of {row.n_documents:,}" if row.n_undefined else f"n = {n:,}"
