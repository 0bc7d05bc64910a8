"""Did numbers change, or is it luck? Before and after by document, and today among earlier draws.

`sign_flip_test`: if nothing changed, either of a document's two values might as well have come
first: turning the sign of its difference gives another data set that was as likely. That is exact
however skewed the values are and however often the difference is 0. A document's sign turns in all
rows at once, so what rows share is kept, and the largest statistic of all rows gives each its p
adjusted for the others. Sources: Fisher 1935, The Design of Experiments, section 21; Westfall and
Young 1993, Resampling-based multiple testing (step-down max-T); Phipson and Smyth 2010,
Permutation p-values should never be zero (the data count as one drawing).

`standing`: does today's draw stand out among earlier draws of the same things? The test is exact
and conditional: under the null a cluster's draws are exchangeable, so that any of them might have
been today's, each cluster by itself, however often things flip. What is drawn together (answers
that came in one reply) belongs into one cluster. Fisher 1935, on randomisation; Pesarin and Salmaso
2010, Permutation Tests, on strata.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from metassay.statistics.document_means import by_cluster, worth
from metassay.statistics.exact_sums import Array, Mask, blocks
from metassay.statistics.layout import Index

Signs = NDArray[np.int8]

ROUNDING = 1e-12  # a sum that is a smaller share of what it is of
SAME = 1e-7  # statistics closer than this, in standard deviations, are equal
HELD = 4_000_000  # numbers at a time


class Flipped(NamedTuple):
    """Per row, two-sided; NaN for a row in which nothing differs."""

    p: Array  # of the row alone
    adjusted: Array  # for all rows (step-down)
    smallest: Array  # no p of the row can be smaller, for so few documents differ in it
    reach: Array  # about what `adjusted` would be if all differences of the row had the same sign
    exact: bool  # whether all signs were tried


def sign_flip_test(differences: Array, *, n: int, rng: np.random.Generator) -> Flipped:
    """Test each row of `differences` (rows, documents); NaN where a row has no difference.

    Documents that belong together are to be given as one: the sum of their differences.

    The statistic is the sum, in units of its standard deviation over the signs. All signs are tried
    where there are no more than `n`, else `n` in all, the data's own among them. `reach` takes how
    rows go together as it is, which other signs of a row would change a little: it may only say why
    nothing is shown.
    """
    there = np.nan_to_num(differences)
    p = np.full(len(there), np.nan)
    adjusted, smallest, reach = p.copy(), p.copy(), p.copy()
    size = np.sqrt((there**2).sum(axis=1))
    moved = np.flatnonzero(size > 0)
    documents = np.flatnonzero((there != 0).any(axis=0))
    exact = documents.size == 0 or documents.size - 1 <= np.log2(n)
    if not moved.size:
        return Flipped(p, adjusted, smallest, reach, exact)
    units = (there[moved] / size[moved, None])[:, documents]
    if exact:
        signs = _every_sign(documents.size)
    else:
        signs = rng.integers(0, 2, (n, documents.size), dtype=np.int8) * 2 - 1
        signs[0] = 1
    observed = np.abs(units.sum(axis=1)) - SAME
    order = np.argsort(observed, kind="stable")  # the smallest first
    one_way = np.abs(units).sum(axis=1) - SAME
    # The last row, in that order, whose statistic would still be no larger than such a one.
    last = np.searchsorted(observed[order], one_way, side="right") - 1
    alone, most, best = np.zeros((3, moved.size))
    for some in blocks(len(signs), moved.size, numbers=HELD):
        drawn = np.abs(units[order] @ signs[some].T.astype(np.float64))
        alone[order] += (drawn >= observed[order, None]).sum(axis=1)
        largest = np.maximum.accumulate(drawn, axis=0)
        most[order] += (largest >= observed[order, None]).sum(axis=1)
        best += (largest[last] >= one_way[:, None]).sum(axis=1)
    p[moved] = alone / len(signs)
    # From the largest statistic on, no p may be smaller than one before it.
    stepped = np.maximum.accumulate((most[order] / len(signs))[::-1])[::-1]
    adjusted[moved[order]] = stepped
    smallest[moved] = np.maximum(0.5 ** ((units != 0).sum(axis=1) - 1.0), 1 / len(signs))
    above = np.append(stepped, 0.0)[last + 1]
    reach[moved] = np.maximum(np.maximum(best / len(signs), above), smallest[moved])
    return Flipped(p, adjusted, smallest, reach, exact)


def summed(differences: Array, cluster: Index) -> Array:
    """(rows, clusters) sums of (rows, documents); NaN counts as 0, and so does what is left of
    differences that cancel but for rounding."""
    sums = by_cluster(differences.T, cluster).T
    left = np.abs(sums) <= ROUNDING * by_cluster(np.abs(differences).T, cluster).T
    return np.where(left, 0.0, sums)


def fewest(level: float) -> int:
    """So many differences other than 0 must there be for any two-sided p to be at the level."""
    return int(np.ceil(1 - np.log2(level)))


def mean_interval(differences: Array, cluster: Index, *, confidence: float) -> tuple[Array, Array]:
    """Ends of Student's interval for each row's mean over (rows, documents), of itself alone.

    The standard error is that of clusters of documents, `cluster` (documents,) being each one's
    number from 0, and the degrees of freedom are what these are worth (`worth`), less one: the
    usual interval where each document stands alone. NaN where differences are not 0 in fewer than
    `fewest` clusters: of what happens to some documents only, a few say too little for an interval
    to hold what it promises (docs/calibration.md). NaN, too, where all are equal: they do not say
    how far others could lie.
    """
    there = np.isfinite(differences)
    enough = clusters_with(np.nan_to_num(differences) != 0, cluster) >= fewest(1 - confidence)
    some = differences[enough]
    least, most = (end(some, axis=1) for end in (np.nanmin, np.nanmax)) if some.size else (0, 0)
    # Numbers that are one and the same but for rounding.
    enough[enough] = most - least > SAME * np.maximum(np.abs(least), np.abs(most))
    low, high = np.full((2, len(differences)), np.nan)
    if enough.any():
        some, there = differences[enough], there[enough]
        mean, n = np.nanmean(some, axis=1), clusters_with(there, cluster)
        off = by_cluster((some - mean[:, None]).T, cluster)
        error = np.sqrt(n / (n - 1) * np.sum(off**2, axis=0)) / np.sum(there, axis=1)
        reach = special.stdtrit(worth(there.T, cluster) - 1, (1 + confidence) / 2) * error
        low[enough], high[enough] = mean - reach, mean + reach
    return low, high


def clusters_with(there: Mask, cluster: Index) -> NDArray[np.int64]:
    """In how many clusters any of (rows, documents) is true: (rows,)."""
    found: NDArray[np.int64] = (by_cluster(there.T.astype(np.float64), cluster) > 0).sum(axis=0)
    return found


def _every_sign(documents: int) -> Signs:
    """All signs, the data's own first; turning every one of them changes no absolute value."""
    others = np.arange(2 ** (documents - 1))[:, None] >> np.arange(documents - 1) & 1
    return np.hstack([np.ones((len(others), 1)), 1.0 - 2.0 * others]).astype(np.int8)


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
