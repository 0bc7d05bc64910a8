"""Does today's draw stand out among earlier draws of the same things?

The test is exact and conditional: under the null a cluster's draws are exchangeable, so that any of
them might have been today's, each cluster by itself. It asks nothing of how often things flip, nor
that they flip alike, and it takes it into account that the earlier draws are few. What is drawn
together (answers that came in one reply) belongs into one cluster. Fisher 1935, The Design of
Experiments, on randomisation; Pesarin and Salmaso 2010, Permutation Tests, on strata.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Standing(NamedTuple):
    """Today's total among the totals that the draws might have made.

    `expected` is the mean total of the earlier draws. `more` and `fewer` are the chances of a total
    that is at least or at most today's. Totals from `low` to `high` have both chances above the
    level that was asked for.
    """

    total: int
    expected: float
    low: int
    high: int
    more: float
    fewer: float


def standing(draws: Integers, level: float) -> Standing:
    """Where the last draw stands.

    `draws` (clusters, draws) has a whole number for each cluster and draw, today's in the last
    column; no value may be missing. `level` is that of one side. Raises ValueError where there is
    no cluster or but one draw.
    """
    if draws.ndim != 2 or draws.shape[0] < 1 or draws.shape[1] < 2:
        raise ValueError(f"draws of shape {draws.shape}: at least one cluster and two draws")
    least = draws.min(axis=1)
    chances: NDArray[np.floating[Any]] = np.ones(1)
    for row in draws - least[:, None]:
        if row.any():
            chances = np.convolve(chances, np.bincount(row) / len(row))
    totals = int(least.sum()) + np.arange(len(chances))
    more = np.minimum(np.cumsum(chances[::-1])[::-1], 1.0)
    fewer = np.minimum(np.cumsum(chances), 1.0)
    total = int(draws[:, -1].sum())
    at = total - int(totals[0])
    return Standing(
        total,
        float(draws[:, :-1].sum(axis=0).mean()),
        int(totals[fewer > level][0]),
        int(totals[more > level][-1]),
        float(more[at]),
        float(fewer[at]),
    )


def least_chance(clusters: int, draws: int) -> float:
    """The smallest chance that so many clusters of so many draws (today's among them) can show."""
    return float(draws) ** -clusters
