"""The leaderboard as matrices: authors by metrics, one matrix per part and metric family."""

from typing import NamedTuple

import pandas as pd

from metassay.format.frames import records, rows
from metassay.format.numbers import exact, shown, shown_interval
from metassay.reporting.names import (
    ARROWS,
    Metric,
    families,
    family,
    sorted_authors,
    sorted_metrics,
    sorted_parts,
)
from metassay.reporting.section import Row, grouped, metric_name, metric_of
from metassay.tables.names import REFERENCE, metric_label


class Mean(NamedTuple):
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
    rows: list[tuple[str, list[Mean | None]]]


class Part(NamedTuple):
    """All matrices of one part."""

    name: str
    matrices: list[Matrix]


def leaderboard_view(leaderboard: pd.DataFrame) -> list[Part]:
    """The parts with their matrices, `full` first; empty for an empty leaderboard."""
    by_part = grouped(records(leaderboard), lambda row: row["part"])
    made = []
    for name in sorted_parts(by_part):
        of = grouped(by_part[name], lambda row: family(row["metric"]))
        titles = families(row["metric"] for row in by_part[name])
        made.append(Part(name, [_matrix(title, of[title]) for title in titles]))
    return made


def recipes(leaderboard: pd.DataFrame) -> list[tuple[str, str]]:
    """Every metric with its recipe, without repeats, in the order of the page."""
    found: dict[Metric, set[str]] = {}
    for metric, judge, recipe in rows(leaderboard, "metric", "judge", "recipe"):
        found.setdefault((metric, judge), set()).add(recipe)
    return [
        (metric_label(*m), recipe) for m in sorted_metrics(found) for recipe in sorted(found[m])
    ]


def _matrix(title: str, mine: list[Row]) -> Matrix:
    by_metric = grouped(mine, metric_of)
    lines: dict[str, list[Mean | None]] = {
        author: [] for author in sorted_authors(row["author"] for row in mine)
    }
    columns = []
    for metric in sorted_metrics(by_metric):
        rows_of = by_metric[metric]
        better, mixed = rows_of[0]["better"], len({row["recipe"] for row in rows_of}) > 1
        columns.append(Column(metric_name(rows_of[0]), ARROWS[better], better, mixed))
        best, by_author = _best(rows_of), {row["author"]: row for row in rows_of}
        for author, cells in lines.items():
            cells.append(_cell(by_author[author], best) if author in by_author else None)
    return Matrix(title, columns, list(lines.items()))


def _best(mine: list[Row]) -> float | None:
    """The best macro among two or more systems; the reference is no competitor."""
    values: list[float] = [
        row["macro"] for row in mine if row["author"] != REFERENCE and row["macro"] is not None
    ]
    if len(values) < 2 or mine[0]["better"] == "neither":
        return None
    return max(values) if mine[0]["better"] == "higher" else min(values)


def _cell(row: Row, best: float | None) -> Mean:
    n, macro = row["n_documents"] - row["n_undefined"], row["macro"]
    failed = ""
    if row["n_failed"]:
        bounds = shown_interval(row["least"], row["most"])
        failed = f"{row['n_failed']:,} of {row['n_expected']:,} missing"
        failed += f", within {bounds}" if bounds else ""
    return Mean(
        exact(macro),
        shown(macro) or "undefined",
        shown_interval(row["low"], row["high"]),
        shown(row["micro"]),
        f"n = {n:,} of {row['n_documents']:,}" if row["n_undefined"] else f"n = {n:,}",
        failed,
        macro is not None and macro == best and row["author"] != REFERENCE,
    )
