"""Which metric to trust for which decision: the certificates, best metric first."""

import pandas as pd

from metassay.reporting.names import DECISIONS, metric_label
from metassay.reporting.numbers import counted, denominators, shown, shown_interval
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
    number,
    titled,
)

_CLASSES = {
    "like a rater": "v rater",
    "shown": "v shown",
    "not shown": "v unshown",
    "contrary": "v contrary",
    "undefined": "v undefined",
}
_HEADS = [
    "metric",
    "verdict",
    "in words",
    "correlation",
    "accuracy",
    "against ceiling",
    "confound",
    "detectable",
]
_SAYS = [
    "Choose the decision first: is it about any two texts, two texts of one document, or two"
    " systems? Then read the metric’s verdict. Shown: the interval lies above 0, and p (of these"
    " texts or systems, however few) says no chance. Like a rater: the same, and the metric is not"
    " told apart from one rater predicting the others. Contrary: below 0. Not shown: neither; the"
    " metric may be bad or the study small. Signs are turned so that more is better.",
    "Accuracy is the share of pairs that the metric orders or ties as people do; chance is the same"
    " for its scores dealt at random; of texts of one document and of systems only."
    " Against ceiling: the metric’s correlation less one rater’s"
    " with the others. Confound: what half or more of the correlation goes back to, and what is"
    " left given it. Detectable: the smallest correlation told from 0 by so many texts with 80 %"
    " power, and how much worse another metric must be to be told from this one.",
]


def best_metrics(certificates: pd.DataFrame) -> Grid | None:
    """The best metric of each criterion and level; None if nothing could be tested."""
    if certificates.empty:
        return None
    best = [
        (titled(key), [Cell(key[0]), *(_best(_at(mine, level)) for level in DECISIONS)])
        for key, mine in _ranked(certificates)
    ]
    heads = ["criterion", "study", *(f"{DECISIONS[level]} ({level} level)" for level in DECISIONS)]
    return Grid("Best metric per criterion and decision", heads, best, sort=False)


def certificates_section(certificates: pd.DataFrame) -> Section:
    """Every certificate, the best metric of each criterion and level first."""
    files = ["certificates"]
    if certificates.empty:
        says = "No metric could be tested: there are no texts with both scores and ratings."
        return Section("trust", "Which metric to trust", [says], files)
    return Section(
        "trust",
        "Which metric to trust",
        _SAYS,
        files,
        [],
        [
            Group(titled(key), _soft(key[0], mine), [], _levels(mine), open=place == 0)
            for place, (key, mine) in enumerate(_ranked(certificates))
        ],
        "forest",
    )


def _ranked(certificates: pd.DataFrame) -> list[tuple[Key, list[Row]]]:
    return [(key, sorted(mine, key=_rank)) for key, mine in by_criterion(certificates)]


def _rank(row: Row) -> tuple[tuple[bool, float], str, str]:
    return best_first(row["value"]), row["metric"], row["judge"]


def _at(mine: list[Row], level: str) -> list[Row]:
    return [row for row in mine if row["level"] == level]


def _soft(study: str, mine: list[Row]) -> str:
    metrics = {(row["metric"], row["judge"]) for row in mine}
    coefficients = ", ".join(sorted({row["coefficient"] for row in mine}))
    return f"study {study}, {counted(len(metrics), 'metric')}, {coefficients}"


def _levels(mine: list[Row]) -> list[Group]:
    levels = [(level, _at(mine, level)) for level in DECISIONS]
    return [
        Group(
            DECISIONS[level].capitalize(),
            f"{level} level, {_verdicts(rows)}",
            [Grid("", _HEADS, [(metric_label(r["metric"], r["judge"]), _cells(r)) for r in rows])],
            open=level == "global",
        )
        for level, rows in levels
        if rows
    ]


def _verdicts(mine: list[Row]) -> str:
    said = [row["verdict"] for row in mine]
    return ", ".join(f"{said.count(word):,} {word}" for word in _CLASSES if word in said)


def _best(mine: list[Row]) -> Cell:
    if not mine:
        return NOT_COMPUTED
    row = mine[0]
    if row["value"] is None:
        return Cell("none is defined")
    value = f"{shown(row['value'])} {shown_interval(row['low'], row['high'])}".strip()
    notes = (row["verdict"], value, f"of {counted(len(mine), 'metric')}")
    return Cell(metric_label(row["metric"], row["judge"]), notes)


def _cells(row: Row) -> list[Cell]:
    return [
        Cell(row["verdict"], css=_CLASSES[row["verdict"]]),
        Cell(row["sentence"], css="words"),
        number(
            row["value"],
            denominators(row["n"], row["n_undefined"], row["n_missing"]),
            low=row["low"],
            high=row["high"],
        ),
        _accuracy(row),
        _ceiling(row),
        _confound(row),
        _detectable(row),
    ]


def _accuracy(row: Row) -> Cell:
    if row["level"] == "global":
        return NOT_COMPUTED
    chance, epsilon = row["chance"], row["epsilon"]
    return number(
        row["accuracy"],
        "" if chance is None else f"chance {shown(chance)}",
        counted(row["n_pairs"], "pair"),
        "" if epsilon is None else f"tie within {shown(epsilon)}",
    )


def _ceiling(row: Row) -> Cell:
    if row["ceiling"] is None:
        return Cell("no ceiling", stored="")
    interval = shown_interval(row["ceiling_low"], row["ceiling_high"])
    return number(
        row["against_ceiling"],
        f"ceiling {shown(row['ceiling'])}",
        f"of {interval}" if interval else "",
        low=row["against_ceiling_low"],
        high=row["against_ceiling_high"],
    )


def _confound(row: Row) -> Cell:
    if row["value"] is None:
        return NOT_COMPUTED
    if row["confound"] is None:
        return Cell("none found")
    given = shown(row["given_confound"]) or "undefined"
    return Cell(f"! {row['confound']}", (f"{given} given it",), css="alarm")


def _detectable(row: Row) -> Cell:
    difference = row["detectable_difference"]
    worse = "" if difference is None else f"difference {shown(difference)}"
    return number(row["detectable"], worse)
