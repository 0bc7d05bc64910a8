"""What people would give a system's texts: the metric's mean, corrected by those they rated."""

import pandas as pd

from metassay.reporting.numbers import counted, shown
from metassay.reporting.views.section import (
    Cell,
    Grid,
    Group,
    Row,
    Section,
    by_criterion,
    number,
    titled,
)
from metassay.tables.names import metric_label

_METHODS = {"prediction_powered": "prediction-powered", "rogan_gladen": "Rogan-Gladen"}
_HEADS = ["metric", "system", "metric’s mean", "people’s mean", "corrected", "by", "rests on"]
_SAYS = (
    "A metric’s mean is off by whatever the metric gets wrong. People’s mean is right, but rests on"
    " the rated texts alone. The corrected mean uses both: it estimates what people would give all"
    " of a system’s texts, on their own scale. Trust its interval where the rated texts were drawn"
    " at random. A weight near 0 says that the metric added nothing to the ratings."
)


def corrected_section(corrected: pd.DataFrame) -> Section | None:
    """One table per criterion, a row per metric, system and method; None without a row."""
    if corrected.empty:
        return None
    groups = []
    for key, mine in by_criterion(corrected):
        mine.sort(key=lambda r: (r["metric"], r["judge"], r["author"], r["method"]))
        lines = [(metric_label(row["metric"], row["judge"]), _cells(row)) for row in mine]
        soft = f"study {key[0]}, {counted(len({row['author'] for row in mine}), 'system')}"
        groups.append(Group(titled(key), soft, [Grid("", _HEADS, lines)]))
    return Section("corrected", "Corrected means", [_SAYS], ["corrected"], groups=groups)


def _cells(row: Row) -> list[Cell]:
    rests = [
        f"{counted(row['n'], 'text')} with score and rating",
        f"{row['n_judged']:,} with score",
    ]
    if row["n_missing"]:
        rests.append(f"{row['n_missing']:,} rated without score")
    return [
        Cell(row["author"]),
        number(row["metric_mean"]),
        number(row["human_mean"]),
        number(row["value"], low=row["low"], high=row["high"]),
        Cell(_METHODS[row["method"]], _how(row)),
        Cell(rests[0], tuple(rests[1:]), str(row["n"])),
    ]


def _how(row: Row) -> tuple[str, ...]:
    names = ("weight", "sensitivity", "specificity")
    return tuple(f"{name} {shown(row[name])}" for name in names if row[name] is not None)
