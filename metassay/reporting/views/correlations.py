"""Metrics against people: every coefficient."""

from typing import NamedTuple

import pandas as pd

from metassay.reporting.names import sorted_metrics
from metassay.reporting.numbers import denominators, exact, shown, shown_interval
from metassay.reporting.tables import rows
from metassay.reporting.views.section import key_rank
from metassay.reporting.words import COEFFICIENTS, LEVELS
from metassay.tables.names import metric_label

_FIELDS = (
    "metric",
    "judge",
    "level",
    "coefficient",
    "value",
    "low",
    "high",
    "low_these_systems",
    "high_these_systems",
    "n",
    "n_undefined",
    "n_missing",
)


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
    low_these_systems: float | None
    high_these_systems: float | None
    n: int
    n_undefined: int
    n_missing: int


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
    return sorted(found.items(), key=lambda item: key_rank(item[0]))


def _cell(row: _Row) -> Cell:
    return Cell(
        exact(row.value),
        shown(row.value) or "undefined",
        shown_interval(row.low, row.high) or _these_systems(row),
        denominators(row.n, row.n_undefined, row.n_missing),
    )


def _these_systems(row: _Row) -> str:
    ends = shown_interval(row.low_these_systems, row.high_these_systems)
    return f"these systems: {ends}" if ends else ""
