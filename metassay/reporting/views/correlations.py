"""Metrics against people: the strongest metric per criterion, and every coefficient."""

from typing import NamedTuple

import pandas as pd

from metassay.reporting.figures.correlation_heatmap import COEFFICIENT
from metassay.reporting.names import (
    COEFFICIENTS,
    LEVELS,
    Metric,
    metric_label,
    part_rank,
    sorted_metrics,
)
from metassay.reporting.numbers import denominators, exact, shown, shown_interval
from metassay.reporting.tables import rows

HEADLINE_LEVEL = "global"

_FIELDS = (
    "metric",
    "judge",
    "level",
    "coefficient",
    "value",
    "low",
    "high",
    "n",
    "n_undefined",
    "n_missing",
)


class Headline(NamedTuple):
    """The metric with the largest absolute coefficient for one criterion; "" if none is defined."""

    study: str
    criterion: str
    part: str
    metric: str
    value: str
    interval: str
    n: int
    n_metrics: int  # how many it was chosen from


class Cell(NamedTuple):
    """One coefficient; texts ready to print, `stored` with all digits to sort by."""

    stored: str
    value: str
    interval: str
    counts: str


class Criterion(NamedTuple):
    """One criterion's table: metrics by (level, coefficient)."""

    study: str
    criterion: str
    part: str
    columns: list[tuple[str, str]]
    rows: list[tuple[str, list[Cell | None]]]


class _Row(NamedTuple):
    metric: str
    judge: str
    level: str
    coefficient: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    n_undefined: int
    n_missing: int


def headline_view(correlations: pd.DataFrame) -> list[Headline]:
    """One line per study, criterion and part, by |COEFFICIENT| at HEADLINE_LEVEL.

    The sign is kept. The size decides because a criterion may be an error rate, which a good
    metric falls with; ties go to the metric first by name.
    """
    found = []
    for key, mine in _by_criterion(correlations):
        candidates = [r for r in mine if r.level == HEADLINE_LEVEL and r.coefficient == COEFFICIENT]
        if candidates:  # parts as groups have no level at which all texts are pooled
            found.append(_headline(key, candidates))
    return found


def correlation_view(correlations: pd.DataFrame) -> list[Criterion]:
    """One table per study, criterion and part."""
    made = []
    for key, mine in _by_criterion(correlations):
        present = {(row.level, row.coefficient) for row in mine}
        columns = [(l, c) for l in LEVELS for c in COEFFICIENTS if (l, c) in present]  # noqa: E741
        cells = {((r.metric, r.judge), (r.level, r.coefficient)): _cell(r) for r in mine}
        metrics = sorted_metrics((row.metric, row.judge) for row in mine)
        lines = [(metric_label(*m), [cells.get((m, c)) for c in columns]) for m in metrics]
        made.append(Criterion(*key, columns, lines))
    return made


def _by_criterion(correlations: pd.DataFrame) -> list[tuple[tuple[str, str, str], list[_Row]]]:
    found: dict[tuple[str, str, str], list[_Row]] = {}
    for study, criterion, part, *rest in rows(correlations, "study", "criterion", "part", *_FIELDS):
        found.setdefault((study, criterion, part), []).append(_Row(*rest))
    return sorted(found.items(), key=lambda item: (*item[0][:2], part_rank(item[0][2])))


def _headline(key: tuple[str, str, str], candidates: list[_Row]) -> Headline:
    by_metric: dict[Metric, _Row] = {(r.metric, r.judge): r for r in candidates}
    best: _Row | None = None
    size = -1.0
    for metric in sorted(by_metric):
        row = by_metric[metric]
        if row.value is not None and abs(row.value) > size:
            best, size = row, abs(row.value)
    if best is None:
        return Headline(*key, "", "", "", 0, len(by_metric))
    label = metric_label(best.metric, best.judge)
    interval = shown_interval(best.low, best.high)
    return Headline(*key, label, shown(best.value), interval, best.n, len(by_metric))


def _cell(row: _Row) -> Cell:
    return Cell(
        exact(row.value),
        shown(row.value) or "undefined",
        shown_interval(row.low, row.high),
        denominators(row.n, row.n_undefined, row.n_missing),
    )
