"""How each person rated: means and standard deviations."""

import pandas as pd

from metassay.reporting.views.section import (
    Cell,
    Grid,
    Group,
    Section,
    by_criterion,
    count,
    number,
    titled,
)

_SAYS = (
    "Each rater’s ratings, on the criterion’s own scale. SD has the denominator n − 1. “(all)”"
    " stands for all systems, or for all raters. Compare the n before the means: raters who saw"
    " other texts may have a lower mean because their texts were worse."
)


def raters_section(raters: pd.DataFrame) -> Section:
    """One table per criterion, a row per rater and system."""
    heads = ["rater", "system", "n", "mean", "SD"]
    groups = []
    for place, (key, mine) in enumerate(by_criterion(raters)):
        lines = [
            (
                row["rater"],
                [Cell(row["author"]), count(row["n"]), number(row["mean"]), number(row["sd"])],
            )
            for row in mine
        ]
        soft = f"study {key[0]}"
        groups.append(Group(titled(key), soft, [Grid("", heads, lines)], open=place == 0))
    return Section("raters", "How each person rated", [_SAYS], ["raters"], groups=groups)
