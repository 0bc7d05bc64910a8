"""Which metrics are closer to people than others, and for how many pairs that is sure."""

import pandas as pd

from metassay.reporting.numbers import counted
from metassay.reporting.views.section import (
    Cell,
    Grid,
    Group,
    Row,
    Section,
    by_criterion,
    titled,
)
from metassay.reporting.words import DECISIONS

ALPHA = 0.05

_CLOSER, _FARTHER, _NOT_SHOWN, _UNDEFINED = "+", "−", "·", "?"
_SAYS = (
    "Two metrics that correlate differently with people may do so by chance. “12 of 66 differences"
    " hold” means that 12 of 66 pairs of metrics still differ at 5 % after Holm’s correction for"
    " testing all of them. The tables compare each row’s metric with each column’s; columns have"
    " the numbers of the rows. + says that the row’s metric is closer to people. − says that it is"
    " farther. · says that no difference is shown; there may be one. ? says that there is no number"
    " to compare."
)


def significance_section(significance: pd.DataFrame) -> Section | None:
    """One matrix per criterion, level and test; None without a comparison."""
    if significance.empty:
        return None
    groups = [
        Group(titled(key), f"study {key[0]}", [], _families(mine), open=place == 0)
        for place, (key, mine) in enumerate(by_criterion(significance))
    ]
    heading = "Which differences between metrics hold"
    return Section("significance", heading, [_SAYS], ["significance"], groups=groups)


def _families(mine: list[Row]) -> list[Group]:
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in mine:
        found.setdefault((row["level"], row["coefficient"], row["test"]), []).append(row)
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
