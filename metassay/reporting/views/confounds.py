"""Is it quality that a metric sees, or copying, length, or who wrote the text."""

import pandas as pd

from metassay.meta_evaluation.options import ANY_SHAPE, MEASURED, SYSTEM, VANISHES
from metassay.reporting.names import Metric, sorted_metrics
from metassay.reporting.numbers import counted, denominators, equals, shown
from metassay.reporting.tables import records
from metassay.reporting.views.section import (
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Key,
    Row,
    Section,
    by_criterion,
    number,
    titled,
)
from metassay.reporting.words import COEFFICIENT_NAMES, DECISIONS
from metassay.tables.names import metric_label

Plain = dict[tuple[Key, str, Metric], Row]  # a metric's certificate, by criterion and level


def confounds_section(confounds: pd.DataFrame, certificates: pd.DataFrame) -> Section | None:
    """Per criterion and level a table, metrics by confound; None without a row."""
    if confounds.empty:
        return None
    plain: Plain = {
        (_key(row), row["level"], (row["metric"], row["judge"])): row
        for row in records(certificates)
    }
    return Section(
        "confounds",
        "What else metrics see",
        [
            "Compare each metric’s plain correlation with people with what is left of it when a"
            " confound is held constant, whatever the shape of its effect. Where little is left,"
            " the metric mostly measures how much is copied (coverage, density) or how long the"
            " text is (words). Where little is left given the system, it tells systems apart, and"
            f" not two texts of one system. “!” marks where {100 * VANISHES:.0f} % or more goes."
            " There a small p says that what is left is still a relation.",
            f"In brackets stand intervals for other systems and documents.{_itself(confounds)} The"
            " file has more numbers: what is left on a straight line, how the confound itself"
            " correlates with people, how the metric does with the confound added, and how it does"
            " on the texts with least of the confound.",
        ],
        ["confounds"],
        groups=[
            _criterion(key, mine, plain, is_open=place == 0)
            for place, (key, mine) in enumerate(by_criterion(confounds))
        ],
    )


def _itself(confounds: pd.DataFrame) -> str:
    """What the number of metric and confound is, by the first one of the page; "" without any."""
    for _, mine in by_criterion(confounds):
        rows = [row for row in mine if row["statistic"] == "metric" and row["value"] is not None]
        if rows:
            row = min(rows, key=lambda row: (row["level"], row["confound"], row["metric"]))
            return (
                f" “With {row['confound']}: {shown(row['value'])}” is the correlation of a metric"
                f" with the confound itself, here of {row['metric']}."
            )
    return ""


def _key(row: Row) -> Key:
    return row["study"], row["criterion"], row["part"]


def _criterion(key: Key, mine: list[Row], plain: Plain, *, is_open: bool) -> Group:
    levels = [(level, [row for row in mine if row["level"] == level]) for level in DECISIONS]
    metrics = {(row["metric"], row["judge"]) for row in mine}
    coefficients = ", ".join(sorted({COEFFICIENT_NAMES[row["coefficient"]] for row in mine}))
    return Group(
        titled(key),
        f"study {key[0]}, {counted(len(metrics), 'metric')}, {coefficients}",
        [],
        [
            Group(
                DECISIONS[level].capitalize(),
                f"{level} level",
                [_grid(key, level, rows, plain)],
                open=level == "global",
            )
            for level, rows in levels
            if rows
        ],
        open=is_open,
    )


def _grid(key: Key, level: str, rows: list[Row], plain: Plain) -> Grid:
    by_metric: dict[Metric, dict[tuple[str, str], Row]] = {}
    for row in rows:
        of_metric = by_metric.setdefault((row["metric"], row["judge"]), {})
        of_metric[row["confound"], row["statistic"]] = row
    names = _sorted({row["confound"] for row in rows})
    lines = []
    for metric in sorted_metrics(by_metric):
        one = plain.get((key, level, metric))
        cells = [_given(by_metric[metric], name, one) for name in names]
        lines.append((metric_label(*metric), [_plain(one), *cells]))
    return Grid("", ["metric", "plain", *(f"given {name}" for name in names)], lines)


def _sorted(names: set[str]) -> list[str]:
    """The measured ones, then those that a user named, then the system."""
    last = len(MEASURED)
    ranks = {**{name: place for place, name in enumerate(MEASURED)}, SYSTEM: last + 1}
    return sorted(names, key=lambda name: (ranks.get(name, last), name))


def _plain(row: Row | None) -> Cell:
    if row is None:
        return NOT_COMPUTED
    return number(row["value"], low=row["low"], high=row["high"])


def _given(mine: dict[tuple[str, str], Row], confound: str, plain: Row | None) -> Cell:
    # Of the system there is no curve.
    given = mine.get((confound, "partial" if confound == SYSTEM else ANY_SHAPE))
    if given is None or given["metric"] == confound:  # nothing is left of itself
        return NOT_COMPUTED
    goes = _goes(given["value"], plain)
    itself = mine.get((confound, "metric"))
    found = number(
        given["value"],
        equals(given["p"]) if goes else "",
        f"with {confound}: {shown(itself['value']) or 'undefined'}" if itself else "",
        denominators(given["n"], n_missing=given["n_missing"]),
        low=given["low"],
        high=given["high"],
        css="alarm" if goes else "",
    )
    return found._replace(text=f"! {found.text}") if goes else found


def _goes(left: float | None, plain: Row | None) -> bool:
    """Whether half or more of a correlation above 0 goes."""
    if left is None or plain is None or plain["value"] is None:
        return False
    return bool(plain["value"] > 0 and left <= VANISHES * plain["value"])
