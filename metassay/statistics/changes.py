"""Did values change, or is it chance? Before and after by document, and today among earlier draws.

`sign_flip_test`: if nothing changed, a document's two values are exchangeable, so that
flipping the sign of its difference gives an equally likely data set. This is exact for
skewed values and with any number of zero differences. A document's sign flips in all
rows at once, which keeps their dependence, and the largest statistic of all rows gives
each its p adjusted for all. Sources: Fisher 1935, The Design of Experiments, section
21; Westfall and Young 1993, Resampling-based multiple testing (step-down max-T);
Phipson and Smyth 2010, Permutation p-values should never be zero (the data count as one
draw).

`standing`: does today's draw stand out among earlier draws of the same items? The test
is exact and conditional: under the null each cluster's draws are exchangeable, so that
any of them could be today's. Items that are drawn together (answers in one reply)
belong in the same cluster. Fisher 1935, on randomisation; Pesarin and Salmaso 2010,
Permutation Tests, on strata.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from metassay.statistics.document_means import sum_clusters, worth
from metassay.statistics.exact_sums import Array, Mask, blocks
from metassay.statistics.layout import Index

ROUNDING = 1e-12  # sums smaller than this, relative to their absolute terms, are 0
SAME = 1e-7  # statistics closer than this, in standard deviations, are equal
CHUNK = 4_000_000  # numbers in memory at a time


class SignFlipTest(NamedTuple):
    """Two-sided p of each row; NaN for a row without differences."""

    p: Array  # not adjusted
    adjusted: Array  # for all rows (step-down)
    smallest: Array  # smallest possible p of the row, given its number of differences
    # about what `adjusted` would be if all differences of the row had the same sign
    reach: Array
    exact: bool  # whether all signs were tried


def sign_flip_test(
    differences: Array, *, n: int, rng: np.random.Generator
) -> SignFlipTest:
    """Test each row of `differences` (rows, documents); NaN where a row has no difference.

    Documents that belong together must be passed as one: the sum of their differences.

    The statistic is the sum, in units of its standard deviation over the signs. All
    signs are tried if there are at most `n`, else `n`, the original among them. `reach`
    keeps the dependence of the rows, which other signs of a row would change a little:
    use it only to explain why a test shows nothing.
    """
    filled = np.nan_to_num(differences)
    p = np.full(len(filled), np.nan)
    adjusted, smallest, reach = p.copy(), p.copy(), p.copy()
    size = np.sqrt((filled**2).sum(axis=1))
    nonzero = np.flatnonzero(size > 0)
    documents = np.flatnonzero((filled != 0).any(axis=0))
    exact = documents.size == 0 or documents.size - 1 <= np.log2(n)
    if not nonzero.size:
        return SignFlipTest(p, adjusted, smallest, reach, exact)
    units = (filled[nonzero] / size[nonzero, None])[:, documents]
    if exact:
        # All up to a flip of every sign, which leaves absolute values; the original
        # first.
        k = documents.size - 1
        others = np.arange(2**k)[:, None] >> np.arange(k) & 1
        signs = np.hstack([np.ones((len(others), 1)), 1.0 - 2.0 * others]).astype(
            np.int8
        )
    else:
        signs = rng.integers(0, 2, (n, documents.size), dtype=np.int8) * 2 - 1
        signs[0] = 1
    observed = np.abs(units.sum(axis=1)) - SAME
    order = np.argsort(observed, kind="stable")  # the smallest first
    same_sign = np.abs(units).sum(axis=1) - SAME
    # The last row in that order whose statistic is not larger.
    last = np.searchsorted(observed[order], same_sign, side="right") - 1
    counts, max_counts, reach_counts = np.zeros((3, nonzero.size))
    for chunk in blocks(len(signs), nonzero.size, numbers=CHUNK):
        statistics = np.abs(units[order] @ signs[chunk].T.astype(np.float64))
        counts[order] += (statistics >= observed[order, None]).sum(axis=1)
        largest = np.maximum.accumulate(statistics, axis=0)
        max_counts[order] += (largest >= observed[order, None]).sum(axis=1)
        reach_counts += (largest[last] >= same_sign[:, None]).sum(axis=1)
    p[nonzero] = counts / len(signs)
    # From the largest statistic down, p never decreases.
    stepped = np.maximum.accumulate((max_counts[order] / len(signs))[::-1])[::-1]
    adjusted[nonzero[order]] = stepped
    smallest[nonzero] = np.maximum(
        0.5 ** ((units != 0).sum(axis=1) - 1.0), 1 / len(signs)
    )
    next_p = np.append(stepped, 0.0)[last + 1]
    reach[nonzero] = np.maximum(
        np.maximum(reach_counts / len(signs), next_p), smallest[nonzero]
    )
    return SignFlipTest(p, adjusted, smallest, reach, exact)


def sum_by_cluster(differences: Array, cluster: Index) -> Array:
    """Sum (rows, documents) by cluster: (rows, clusters); NaN and rounding errors count as 0."""
    sums = sum_clusters(differences.T, cluster).T
    negligible = (
        np.abs(sums) <= ROUNDING * sum_clusters(np.abs(differences).T, cluster).T
    )
    return np.where(negligible, 0.0, sums)


def fewest(level: float) -> int:
    """Return the number of nonzero differences needed for any two-sided p to reach the level."""
    return int(np.ceil(1 - np.log2(level)))


def mean_interval(
    differences: Array, cluster: Index, *, confidence: float
) -> tuple[Array, Array]:
    """Return the ends of Student's interval for each row's mean over (rows, documents).

    The standard error is clustered by `cluster` (documents,), numbers from 0; the
    degrees of freedom are the effective number of clusters (`worth`) less one: the
    usual interval if each document is a cluster. NaN where fewer than `fewest` clusters
    have nonzero differences: with fewer, intervals undercover (tests/calibration/rates.md).
    NaN, too, where all differences are equal, since they do not show any variance.
    """
    present = np.isfinite(differences)
    usable = clusters_with(np.nan_to_num(differences) != 0, cluster) >= fewest(
        1 - confidence
    )
    rows = differences[usable]
    least, most = (
        (end(rows, axis=1) for end in (np.nanmin, np.nanmax)) if rows.size else (0, 0)
    )
    # Equal up to rounding.
    usable[usable] = most - least > SAME * np.maximum(np.abs(least), np.abs(most))
    low, high = np.full((2, len(differences)), np.nan)
    if usable.any():
        rows, present = differences[usable], present[usable]
        mean, n = np.nanmean(rows, axis=1), clusters_with(present, cluster)
        residuals = sum_clusters((rows - mean[:, None]).T, cluster)
        error = np.sqrt(n / (n - 1) * np.sum(residuals**2, axis=0)) / np.sum(
            present, axis=1
        )
        reach = (
            special.stdtrit(worth(present.T, cluster) - 1, (1 + confidence) / 2) * error
        )
        low[usable], high[usable] = mean - reach, mean + reach
    return low, high


def clusters_with(mask: Mask, cluster: Index) -> NDArray[np.int64]:
    """Count the clusters in which any of (rows, documents) is true: (rows,)."""
    counts: NDArray[np.int64] = (
        sum_clusters(mask.T.astype(np.float64), cluster) > 0
    ).sum(axis=0)
    return counts


Integers = NDArray[np.int64]


class Standing(NamedTuple):
    """Today's total compared with all totals that the draws could give.

    `expected` is the mean total of the earlier draws. `more` and `fewer` are the
    probabilities of a total of at least or at most today's. Totals from `low` to `high`
    have both above the level.
    """

    total: int
    expected: float
    low: int
    high: int
    more: float
    fewer: float


def standing(draws: Integers, level: float) -> Standing:
    """Compare the last draw with all draws.

    `draws` (clusters, draws) are whole numbers without missing values, today's in the
    last column. `level` is one-sided. Raises ValueError without clusters or with a
    single draw.
    """
    if draws.ndim != 2 or draws.shape[0] < 1 or draws.shape[1] < 2:
        raise ValueError(
            f"draws of shape {draws.shape}: at least one cluster and two draws"
        )
    least = draws.min(axis=1)
    chances: NDArray[np.floating[Any]] = np.ones(1)
    for row in draws - least[:, None]:
        if row.any():
            chances = np.convolve(chances, np.bincount(row) / len(row))
    totals = int(least.sum()) + np.arange(len(chances))
    more = np.minimum(np.cumsum(chances[::-1])[::-1], 1.0)
    fewer = np.minimum(np.cumsum(chances), 1.0)
    total = int(draws[:, -1].sum())
    place = total - int(totals[0])
    return Standing(
        total,
        float(draws[:, :-1].sum(axis=0).mean()),
        int(totals[fewer > level][0]),
        int(totals[more > level][-1]),
        float(more[place]),
        float(fewer[place]),
    )


def least_chance(clusters: int, draws: int) -> float:
    """Return the smallest probability that these clusters and draws (with today's) can give."""
    return float(draws) ** -clusters
