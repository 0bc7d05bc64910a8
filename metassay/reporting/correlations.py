"""Metrics against people: coefficients, components, strata, judges, differences, likeness."""

from itertools import product
from typing import NamedTuple

import pandas as pd

from metassay.format.frames import records
from metassay.format.numbers import (
    counted,
    exact,
    per_cent,
    short,
    short_interval,
    shown,
    shown_interval,
)
from metassay.format.terms import COEFFICIENT_NAMES, COEFFICIENTS, COMPONENTS, DECISIONS, LEVELS
from metassay.meta_evaluation import significance as significance_analysis
from metassay.meta_evaluation.correlations import OF_COMPONENTS, OF_METRICS
from metassay.reporting.figures.correlations import COEFFICIENT
from metassay.reporting.names import Metric, sorted_metrics
from metassay.reporting.section import (
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Row,
    Section,
    analysis_section,
    best_first,
    by_criterion,
    by_metric,
    estimate,
    grouped,
    key_of,
    level_groups,
    matrix,
    metric_of,
    metrics_and_coefficients,
    opening,
    rests_on,
    titled,
)
from metassay.tables.names import FULL, NO_JUDGE, metric_label


class Coefficient(NamedTuple):
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
    rows: list[tuple[str, list[Coefficient | None]]]


def correlation_view(correlations: pd.DataFrame) -> list[Criterion]:
    """One table per study, criterion and part."""
    made = []
    for key, mine in by_criterion(correlations):
        cells = {
            (metric_of(row), (row["level"], row["coefficient"])): _coefficient(row) for row in mine
        }
        present = {column for _, column in cells}
        columns = [column for column in product(LEVELS, COEFFICIENTS) if column in present]
        metrics = sorted_metrics(metric for metric, _ in cells)
        lines = [(metric_label(*m), [cells.get((m, c)) for c in columns]) for m in metrics]
        made.append(Criterion(*key, columns, lines))
    return made


def _coefficient(row: Row) -> Coefficient:
    these = shown_interval(row["low_these_systems"], row["high_these_systems"])
    return Coefficient(
        exact(row["value"]),
        shown(row["value"]) or "undefined",
        shown_interval(row["low"], row["high"]) or (f"these systems: {these}" if these else ""),
        rests_on(row),
    )


# Where the agreement of metrics and people lies: systems, documents, or text by text.


def components_section(components: pd.DataFrame) -> Section | None:
    """One table per criterion, metrics by component; None without a row."""
    return analysis_section(OF_COMPONENTS, components, _by_component)


def people_vary(mine: list[Row]) -> str:
    """Where people's ratings differ, in one sentence; empty where that cannot be estimated."""
    shares = {row["component"]: row["people_share"] for row in mine}
    known = {name: per_cent(shares.get(name)) for name in COMPONENTS}
    if not all(known.values()):
        return ""
    said = ", ".join(f"{known[name]} {words}" for name, words in COMPONENTS.items())
    return f"People’s ratings vary {said}"


def _by_component(mine: list[Row]) -> tuple[str, list[Grid], list[Group]]:
    grid = by_metric(mine, "component", _component, COMPONENTS, people_vary(mine))
    return metrics_and_coefficients(mine), [grid], []


def _component(row: Row) -> Cell:
    share = per_cent(row["metric_share"])
    return estimate(row, f"{share} of its variance" if share else "", rests_on(row))


# The metrics that judges make, side by side, and the best that needs no judge above them.

_FIRST = "best without a judge"
_JUDGED_SAYS = (
    "How each judged metric follows people, beside the best metric that needs no judge: the"
    " correlation with its interval, and the verdict. Signs are turned so that more is better. Bold"
    " is what lies above that best metric; whether by more than chance, the differences between"
    " metrics say. The best of many owes some of its lead to luck, so a judge is compared hard."
)


def judged_metrics_section(certificates: pd.DataFrame) -> Section | None:
    """One grid per level: judged metrics by criterion. None where no judge has a part."""
    rows = [row for _, mine in by_criterion(certificates) for row in mine]
    rows = [row for row in rows if row["value"] is not None]
    metrics = sorted_metrics(metric_of(row) for row in rows if row["judge"] != NO_JUDGE)
    if not metrics:
        return None
    groups = level_groups(rows, lambda mine: _judged_grid(mine, metrics))
    heading = "Judges side by side"
    return Section("judged_metrics", heading, [_JUDGED_SAYS], ["certificates"], groups=groups)


def _judged_grid(rows: list[Row], metrics: list[Metric]) -> Grid | None:
    if not rows:
        return None
    columns = grouped(rows, key_of)
    best = {key: _best(mine) for key, mine in columns.items()}
    lines = {_FIRST: {key: _shown_best(best[key], mine) for key, mine in columns.items()}}
    by_metric = grouped(rows, metric_of)
    for metric in metrics:
        found = by_metric.get(metric, [])
        cells = {key_of(row): _judged_cell(row, best[key_of(row)]) for row in found}
        lines[metric_label(*metric)] = cells
    coefficients = {COEFFICIENT_NAMES[row["coefficient"]] for row in rows}
    heads = {key: titled(key) for key in columns}
    return matrix(", ".join(sorted(coefficients)), "metric", lines, heads, sort=False)


def _best(mine: list[Row]) -> Row | None:
    without = [row for row in mine if row["judge"] == NO_JUDGE]
    return min(without, key=lambda row: best_first(row["value"]), default=None)


def _shown_best(best: Row | None, mine: list[Row]) -> Cell:
    if best is None:
        return NOT_COMPUTED
    n = sum(row["judge"] == NO_JUDGE for row in mine)
    made = _number(best)
    notes = (best["metric"], f"of {counted(n, 'metric')}", *made.notes)
    return made._replace(notes=notes)


def _judged_cell(row: Row, best: Row | None) -> Cell:
    above = best is not None and row["value"] > best["value"]
    return _number(row)._replace(css="best" if above else "")


def _number(row: Row) -> Cell:
    ends = short_interval(row["low"], row["high"])
    return Cell(short(row["value"]), (*filter(None, [ends]), row["verdict"]))


# Which metrics are closer to people than others, and for how many pairs that is sure.

ALPHA = 0.05

_CLOSER, _FARTHER, _NOT_SHOWN, _UNDEFINED = "+", "−", "·", "?"


def significance_section(significance: pd.DataFrame) -> Section | None:
    """One matrix per criterion, level and test; None without a comparison."""
    of = significance_analysis.ANALYSIS
    return analysis_section(of, significance, lambda mine: ("", [], _families(mine)))


def _families(mine: list[Row]) -> list[Group]:
    found = grouped(mine, lambda row: (row["level"], row["coefficient"], row["test"]))
    order = list(DECISIONS)
    keys = sorted(found, key=lambda key: (order.index(key[0]), *key[1:]))
    return [_family(key, found[key]) for key in keys]


def _family(key: tuple[str, str, str], mine: list[Row]) -> Group:
    level, coefficient, test = key
    held = sum(_mark(row) in (_CLOSER, _FARTHER) for row in mine)
    undefined = sum(row["p_holm"] is None for row in mine)
    title = f"{DECISIONS[level].capitalize()}: {held:,} of {counted(len(mine), 'difference')} hold"
    if undefined:
        title += f", {undefined:,} undefined"
    low, high = min(row["n"] for row in mine), max(row["n"] for row in mine)
    n = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    missing = max(row["n_missing"] for row in mine)
    at_most = f", up to {missing:,} missing" if missing else ""
    soft = f"{level} level, {coefficient}, {_named(test)}, n = {n}{at_most}"
    return Group(title, soft, [_matrix(mine)])


def _named(test: str) -> str:
    if test == "williams":
        return "Williams’ test"
    kind, what = test.split("_")
    return f"{kind} of {'systems and documents' if what == 'both' else what}"


def _mark(row: Row) -> str:
    if row["p_holm"] is None or row["difference"] is None:
        return _UNDEFINED
    if row["p_holm"] > ALPHA or row["difference"] == 0:
        return _NOT_SHOWN
    return _CLOSER if row["difference"] > 0 else _FARTHER


def _matrix(mine: list[Row]) -> Grid:
    opposite = {_CLOSER: _FARTHER, _FARTHER: _CLOSER}
    marks: dict[tuple[str, str], str] = {}
    lead: dict[str, float] = {}  # the sum of a metric's differences to the others
    for row in sorted(mine, key=lambda row: (row["metric_a"], row["metric_b"])):
        a, b, mark = row["metric_a"], row["metric_b"], _mark(row)
        marks[a, b], marks[b, a] = mark, opposite.get(mark, mark)
        lead[a] = lead.get(a, 0.0) + (row["difference"] or 0.0)
        lead[b] = lead.get(b, 0.0) - (row["difference"] or 0.0)
    metrics = sorted(lead, key=lambda metric: (-lead[metric], metric))
    lines = [
        (f"{place} {row}", [Cell(marks.get((row, column), "")) for column in metrics])
        for place, row in enumerate(metrics, start=1)
    ]
    numbers = [str(place) for place in range(1, len(metrics) + 1)]
    return Grid("", ["metric, closest to people first", *numbers], lines, sort=False)


# Metrics beside each other: which of them say the same, and which say what people say.

_ALIKE = 3  # pairs of metrics that are named


def metric_matrix_section(metric_correlations: pd.DataFrame) -> Section | None:
    """The figure and what stands out in it; None without a row."""
    if metric_correlations.empty:
        return None
    mine = [
        row
        for row in records(metric_correlations)
        if (row["coefficient"], row["part"]) == (COEFFICIENT, FULL) and row["value"] is not None
    ]
    section = opening(OF_METRICS, *_alike(mine))
    first, *rest = section.says
    return section._replace(says=[f"{COEFFICIENT_NAMES[COEFFICIENT]} {first}", *rest])


def _alike(mine: list[Row]) -> list[str]:
    pairs = [row for row in mine if row["first_is"] == row["second_is"] == "metric"]
    pairs = [row for row in pairs if row["value"] > 0]
    best = sorted(pairs, key=lambda row: (-row["value"], row["first"], row["second"]))[:_ALIKE]
    if not best:
        return []
    said = [f"{row['first']} and {row['second']} ({shown(row['value'])})" for row in best]
    return [f"Most alike are {'; '.join(said)}."]
