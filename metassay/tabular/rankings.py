"""Ratings that are ranks: each document has 1 to k once, one for each of its k systems."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

_SHARE = 0.9  # of a criterion's groups that are rankings
_LIKELY = 0.5  # so that they are asked about
_FEWEST = 2  # groups of three systems or more
_PAIRS = 5  # groups, if all are of two systems, which agree with a ranking more easily


def find_rankings(
    table: pd.DataFrame, name: str, within: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the criteria or metrics whose values rank the systems of each group.

    And those that do so in half of the groups or more: three systems or more, of which
    two have the same rank in the other groups, as ties have.

    Parameters
    ----------
    table : DataFrame
        A row per value: column `name`, the columns `within`, and `value`. Missing values
        are left out.
    name : str
        The column of the criterion or metric.
    within : sequence of str
        What systems are ranked within: the document, and its rater or judge.

    Examples
    --------
    >>> ranks = {"criterion": "x", "doc": ["a"] * 3 + ["b"] * 3, "value": [1, 2, 3, 3, 1, 2]}
    >>> find_rankings(pd.DataFrame(ranks), "criterion", ["doc"])
    (['x'], [])
    """
    filled = table[table["value"].notna()]
    if filled.empty:
        return [], []
    groups = filled.groupby([name, *within], sort=False)["value"]
    sizes = groups.transform("size")
    whole = filled["value"].eq(np.floor(filled["value"])) & filled["value"].between(
        1, sizes
    )
    per_group = filled.assign(size=sizes, whole=whole).groupby(
        [name, *within], sort=False
    )
    summary = per_group.agg(
        size=("size", "first"), whole=("whole", "all"), different=("value", "nunique")
    )
    summary = summary[summary["size"] > 1]
    summary["ranking"] = summary["whole"] & (summary["different"] == summary["size"])
    rankings, likely = [], []
    for criterion, rows in summary.groupby(level=0, sort=False):
        enough = len(rows) >= (_PAIRS if rows["size"].max() == 2 else _FEWEST)
        share = rows["ranking"].mean()
        if enough and share >= _SHARE:
            rankings.append(str(criterion))
        elif enough and share >= _LIKELY and rows["size"].min() > 2:
            likely.append(str(criterion))
    return rankings, likely
