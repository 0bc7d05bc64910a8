"""Is it quality that a metric sees, or copying, length, or who wrote the text."""

import pandas as pd

from metassay.reporting.names import metric_label, sorted_metrics
from metassay.reporting.numbers import counted, denominators, shown
from metassay.reporting.views.section import (
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Row,
    Section,
    by_criterion,
    number,
    titled,
)

CONFOUNDS = ("coverage", "density", "words", "system")

_PLAIN = "lowest_100"  # the metric against people on all texts that have the confound too
_SAYS = (
    "The metric’s correlation with people when the confound is held constant, and below it the same"
    " texts’ correlation without that, and how the metric goes with the confound. Where the first"
    " is near 0 and the second isn’t, the metric mostly measures how much is copied (coverage,"
    " density), how long the text is (words) or who wrote it (system). All texts are pooled."
)


def confounds_section(confounds: pd.DataFrame) -> Section | None:
    """One table per criterion, metrics by confound; None without a row."""
    if confounds.empty:
        return None
    return Section(
        "confounds",
        "What else metrics see",
        [
            _SAYS,
            "The file also has people’s correlation with the confound, the metric with the confound"
            " added, and the quarter, half and three quarters of texts with least of it.",
        ],
        ["confounds"],
        groups=[
            _criterion(titled(key), key[0], mine, is_open=place == 0)
            for place, (key, mine) in enumerate(by_criterion(confounds))
        ],
    )


def _criterion(title: str, study: str, mine: list[Row], *, is_open: bool) -> Group:
    by_metric: dict[tuple[str, str], dict[tuple[str, str], Row]] = {}
    for row in mine:
        of_metric = by_metric.setdefault((row["metric"], row["judge"]), {})
        of_metric[row["confound"], row["statistic"]] = row
    present = {row["confound"] for row in mine}
    shown_here = [name for name in CONFOUNDS if name in present]
    lines = [
        (metric_label(*metric), [_cell(by_metric[metric], name) for name in shown_here])
        for metric in sorted_metrics(by_metric)
    ]
    coefficients = ", ".join(sorted({row["coefficient"] for row in mine}))
    soft = f"study {study}, {counted(len(lines), 'metric')}, {coefficients}"
    heads = ["metric", *(f"given {name}" for name in shown_here)]
    return Group(title, soft, [Grid("", heads, lines)], open=is_open)


def _cell(mine: dict[tuple[str, str], Row], confound: str) -> Cell:
    given = mine.get((confound, "partial"))
    if given is None:
        return NOT_COMPUTED
    plain, with_it = mine.get((confound, _PLAIN)), mine.get((confound, "metric"))
    return number(
        given["value"],
        f"without: {shown(plain['value']) or 'undefined'}" if plain else "",
        f"metric and {confound}: {shown(with_it['value']) or 'undefined'}" if with_it else "",
        denominators(given["n"], n_missing=given["n_missing"]),
    )
