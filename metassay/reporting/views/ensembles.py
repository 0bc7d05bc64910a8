"""Several metrics together: the best subset, on texts it was not chosen on, and the others."""

import pandas as pd

from metassay.reporting.numbers import counted, denominators, shown_interval
from metassay.reporting.views.section import (
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Row,
    Section,
    best_first,
    by_criterion,
    count,
    number,
    titled,
)

_TOP = 10
_SAYS = (
    "An ensemble is the mean of standardised metrics. Read the best subset’s value by nested"
    " cross-validation: it was chosen on some documents and tested on the others. In sample it"
    " looks better than it is, because it was chosen on the same texts. Each metric also has its"
    " mean over the ensembles that it is in. Trust the interval over texts. The interval over"
    " ensembles is the one that papers print; it leaves out that other texts would give other"
    " values."
)


def ensembles_section(ensembles: pd.DataFrame) -> Section | None:
    """The best subset per criterion, the ten best in sample, each metric's mean; None if empty."""
    if ensembles.empty:
        return None
    found = [
        (key, coefficient, [row for row in mine if row["coefficient"] == coefficient])
        for key, mine in by_criterion(ensembles)
        for coefficient in sorted({row["coefficient"] for row in mine})
    ]
    heads = [
        "criterion",
        "study",
        "coefficient",
        "cross-validated",
        "in sample",
        "chosen on all texts",
    ]
    best = [
        (titled(key), [Cell(key[0]), Cell(coefficient), *_best(row)])
        for key, coefficient, mine in found
        for row in _of_kind(mine, "best")
    ]
    return Section(
        "ensembles",
        "Several metrics together",
        [_SAYS],
        ["ensembles"],
        [Grid("Best subset per criterion", heads, best)] if best else [],
        [
            Group(titled(key), f"study {key[0]}, {coefficient}, {_subsets(mine)}", _grids(mine))
            for key, coefficient, mine in found
        ],
    )


def _of_kind(mine: list[Row], kind: str) -> list[Row]:
    chosen = [row for row in mine if row["kind"] == kind]
    return sorted(chosen, key=lambda row: (best_first(row["value"]), row["size"], row["members"]))


def _subsets(mine: list[Row]) -> str:
    return counted(len(_of_kind(mine, "subset")), "subset")


def _best(row: Row) -> list[Cell]:
    counts = denominators(row["n"], n_missing=row["n_missing"])
    in_sample = number(row["in_sample"])
    if not row["members"]:
        return [Cell("too few documents to choose", (counts,), ""), in_sample, NOT_COMPUTED]
    return [number(row["value"], counts), in_sample, Cell(row["members"])]


def _grids(mine: list[Row]) -> list[Grid]:
    grids = []
    subsets = _of_kind(mine, "subset")
    if subsets:
        caption = f"Best {_TOP} in sample" if len(subsets) > _TOP else "All subsets, in sample"
        lines = [_subset(row) for row in subsets[:_TOP]]
        grids.append(Grid(caption, ["members", "how many", "correlation"], lines))
    containing = _of_kind(mine, "containing")
    if containing:
        heads = ["metric", "mean in ensembles", "interval over texts", "interval over ensembles"]
        caption = "Mean over the ensembles that a metric is in"
        grids.append(Grid(caption, heads, [_containing(row) for row in containing]))
    return grids


def _subset(row: Row) -> tuple[str, list[Cell]]:
    counts = denominators(row["n"], n_missing=row["n_missing"])
    value = number(row["value"], counts, low=row["low"], high=row["high"])
    return row["members"], [count(row["size"]), value]


def _containing(row: Row) -> tuple[str, list[Cell]]:
    honest = shown_interval(row["low"], row["high"]) or "undefined"
    printed = shown_interval(row["low_of_values"], row["high_of_values"]) or "undefined"
    counts = denominators(row["n"], n_missing=row["n_missing"])
    return row["members"], [number(row["value"], counts), Cell(honest), Cell(printed)]
