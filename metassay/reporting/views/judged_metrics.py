"""The metrics that judges make, side by side, and the best that needs no judge above them."""

import pandas as pd

from metassay.reporting.names import sorted_metrics
from metassay.reporting.numbers import counted, short, short_interval
from metassay.reporting.views.section import (
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Key,
    Row,
    Section,
    best_first,
    by_criterion,
    titled,
)
from metassay.reporting.words import COEFFICIENT_NAMES, DECISIONS
from metassay.tables.names import NO_JUDGE, metric_label

_FIRST = "best without a judge"
_HEADING = "Judges side by side"
_SAYS = (
    "How each judged metric follows people, beside the best metric that needs no judge: the"
    " correlation with its interval, and the verdict. Signs are turned so that more is better. Bold"
    " is what lies above that best metric; whether by more than chance, the differences between"
    " metrics say. The best of many owes some of its lead to luck, so a judge is compared hard."
)

Found = list[tuple[Key, list[Row]]]


def judged_metrics_section(certificates: pd.DataFrame) -> Section | None:
    """One grid per level: judged metrics by criterion. None where no judge has a part."""
    criteria = by_criterion(certificates)
    metrics = sorted_metrics(
        (row["metric"], row["judge"])
        for _, rows in criteria
        for row in rows
        if row["judge"] != NO_JUDGE and row["value"] is not None
    )
    if not metrics:
        return None
    groups = [
        Group(DECISIONS[level].capitalize(), f"{level} level", [grid], open=level == "global")
        for level in DECISIONS
        if (grid := _grid(criteria, metrics, level))
    ]
    return Section(
        "judged_metrics", "Judges side by side", [_SAYS], ["certificates"], groups=groups
    )


def _grid(criteria: Found, metrics: list[tuple[str, str]], level: str) -> Grid | None:
    columns = [
        (titled(key), mine, _best(mine))
        for key, rows in criteria
        if (mine := [row for row in rows if row["level"] == level and row["value"] is not None])
    ]
    if not columns:
        return None
    lines = [(_FIRST, [_shown_best(best, mine) for _, mine, best in columns])]
    for metric, judge in metrics:
        found = [_of(mine, metric, judge) for _, mine, _ in columns]
        cells = [_cell(row, best) for row, (_, _, best) in zip(found, columns, strict=True)]
        lines.append((metric_label(metric, judge), cells))
    coefficients = {COEFFICIENT_NAMES[row["coefficient"]] for _, mine, _ in columns for row in mine}
    heads = ["metric", *(title for title, *_ in columns)]
    return Grid(", ".join(sorted(coefficients)), heads, lines, sort=False)


def _best(mine: list[Row]) -> Row | None:
    without = [row for row in mine if row["judge"] == NO_JUDGE]
    return min(without, key=lambda row: best_first(row["value"]), default=None)


def _of(mine: list[Row], metric: str, judge: str) -> Row | None:
    found = (row for row in mine if (row["metric"], row["judge"]) == (metric, judge))
    return next(found, None)


def _shown_best(best: Row | None, mine: list[Row]) -> Cell:
    if best is None:
        return NOT_COMPUTED
    n = sum(row["judge"] == NO_JUDGE for row in mine)
    made = _number(best)
    notes = (best["metric"], f"of {counted(n, 'metric')}", *made.notes)
    return made._replace(notes=notes)


def _cell(row: Row | None, best: Row | None) -> Cell:
    if row is None:
        return NOT_COMPUTED
    above = best is not None and row["value"] > best["value"]
    return _number(row)._replace(css="best" if above else "")


def _number(row: Row) -> Cell:
    ends = short_interval(row["low"], row["high"])
    return Cell(short(row["value"]), (*filter(None, [ends]), row["verdict"]))
