"""Correlation of a metric with people: four coefficients, three levels, ties and gaps counted.

Arrays are system x document: `metric[k, d]` and `human[k, d]` are the two scores of what system k
wrote for document d. NaN (and infinity, of which no mean can be taken) is missing. A coefficient
is NaN where it is undefined, never 0: fewer than two pairs, or a side that is constant.
"""

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics import arithmetic
from metassay.statistics.arithmetic import (
    Mask,
    blocks,
    deviations,
    product_moment,
    ranked,
    ratio,
    tau_c,
    weighted_sums,
)

Array = arithmetic.Array  # where its readers expect it
Level = Literal["global", "document", "system"]
Coefficient = Literal["pearson", "spearman", "kendall", "kendall_c"]

LEVELS: tuple[Level, ...] = ("global", "document", "system")
TIE = 1e-12  # system means closer than this, relative to the largest score, are the same mean
LONG_ROW = 256  # items from which sorting beats comparing every pair


class Correlation(NamedTuple):
    """One coefficient and what it rests on."""

    value: float  # true sign, -1 to 1; NaN if undefined
    n: int  # global: items; document: documents with a coefficient; system: systems
    n_undefined: int  # documents without a coefficient (document level), else 0
    n_missing: int  # cells with one of the two scores but not both


def pearson(x: ArrayLike, y: ArrayLike) -> Array:
    """Pearson's r along the last axis, of the pairs in which both are present.

    Shapes (..., n) give (...). NaN with fewer than two pairs or a constant side (one that differs
    from its mean by no more than rounding).
    """
    a, b, present = _paired(x, y)
    weights = present.astype(np.float64)
    return product_moment(deviations(a, weights), deviations(b, weights), weights)


def spearman(x: ArrayLike, y: ArrayLike) -> Array:
    """Spearman's rho along the last axis: Pearson's r of the ranks, ties sharing their mean rank.

    Shapes and missing values as for `pearson`; ranks are taken among the complete pairs.
    """
    a, b, present = _paired(x, y)
    return product_moment(_ranks(a, present), _ranks(b, present), present.astype(np.float64))


def kendall(x: ArrayLike, y: ArrayLike) -> Array:
    """Kendall's tau-b along the last axis: a pair tied on one side leaves that side's denominator.

    Shapes and missing values as for `pearson`. Source: Kendall 1945, The treatment of ties in
    ranking problems.
    """
    return _by_rows(x, y, "b", _tau_b_of_pairs)


def kendall_c(x: ArrayLike, y: ArrayLike) -> Array:
    """Stuart's tau-c along the last axis: for scales with unequal numbers of distinct values.

    2 (concordant - discordant) / (n**2 (m - 1) / m), m the smaller number of distinct values: it
    may stay below 1 where order agrees perfectly. Shapes and missing values as for `pearson`.
    Source: Stuart 1953, The estimation and comparison of strengths of association.
    """
    return _by_rows(x, y, "c", _tau_c_of_pairs)


# The coefficients that the tables and reports carry, then all that can be asked for.
COEFFICIENTS: dict[Coefficient, Callable[[ArrayLike, ArrayLike], Array]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}
EVERY_COEFFICIENT: dict[Coefficient, Callable[[ArrayLike, ArrayLike], Array]] = {
    **COEFFICIENTS,
    "kendall_c": kendall_c,
}


def correlate(
    metric: ArrayLike, human: ArrayLike, level: Level, coefficient: Coefficient
) -> Correlation:
    """Correlate two system x document arrays at a level.

    - global: every item that has both scores, pooled.
    - document: across systems within a document, then the mean over the documents in which the
      coefficient is defined; the others are counted.
    - system: across systems of each system's mean over the documents where it has both scores.

    There is no p here: texts share documents and systems, and systems are few. See `independence`.
    Raises ValueError unless both arrays are two-dimensional and of one shape.
    """
    a, b, present = matrices(metric, human)
    missing = int(np.sum(np.isfinite(a) != np.isfinite(b)))
    if level == "document":
        values = EVERY_COEFFICIENT[coefficient](a.T, b.T)
        defined = values[~np.isnan(values)]
        value = float(np.mean(defined)) if defined.size else np.nan
        return Correlation(value, defined.size, values.size - defined.size, missing)
    if level == "system":
        means = system_means(a, b, np.ones((1, a.shape[1])))
        x, y = (mean[0][~np.isnan(mean[0])] for mean in means)
    else:
        x, y = a[present], b[present]
    value = float(EVERY_COEFFICIENT[coefficient](x, y))
    return Correlation(value, x.size, 0, missing)


def matrices(metric: ArrayLike, human: ArrayLike) -> tuple[Array, Array, Mask]:
    """Both as float arrays of one system x document shape, and where both are present."""
    a = np.asarray(metric, dtype=np.float64)
    b = np.asarray(human, dtype=np.float64)
    if a.ndim != 2 or a.shape != b.shape:
        raise ValueError(f"want two equal system x document shapes, got {a.shape}, {b.shape}")
    return a, b, np.isfinite(a) & np.isfinite(b)


def system_means(metric: Array, human: Array, weights: Array) -> tuple[Array, Array]:
    """Each system's mean of both scores over the documents where it has both.

    weights (r, documents) says how often each document counts. The results are (r, systems), NaN
    where a system has no document left; means that differ only by rounding are made equal.
    """
    present = np.isfinite(metric) & np.isfinite(human)
    counts = weighted_sums(present.astype(np.float64), weights)
    means = []
    for scores in (metric, human):
        known = np.where(present, scores, 0.0)
        sums = weighted_sums(known, weights)
        mean = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
        means.append(tied(mean, tolerance=TIE * float(np.max(np.abs(known), initial=0.0))))
    return means[0], means[1]


def tied(values: Array, *, tolerance: float) -> Array:
    """The same values, but those along the last axis that lie within `tolerance` made equal.

    The mean of .1 and .3 is a rounding error away from the mean of .2 and .2; ranks must not see
    that, nor the order of summation. NaN stays NaN.
    """
    order = np.argsort(values, axis=-1)
    ascending = np.take_along_axis(values, order, axis=-1)
    first = np.ones(values.shape, dtype=bool)
    first[..., 1:] = ~(np.diff(ascending, axis=-1) <= tolerance)
    lowest = np.maximum.accumulate(np.where(first, ascending, -np.inf), axis=-1)
    result = np.empty_like(values)
    np.put_along_axis(result, order, lowest, axis=-1)
    return result


def sorted_kendall(x: Array, y: Array, variant: Literal["b", "c"] = "b") -> float:
    """tau of one row by scipy: n log n, for rows too long for all pairs."""
    if x.size < 2 or np.all(x == x[0]) or np.all(y == y[0]):
        return np.nan
    from scipy.stats import kendalltau  # slow to import, as in arithmetic.ranked

    return float(kendalltau(x, y, variant=variant).statistic)


def _paired(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array, Mask]:
    a, b = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
    present = np.isfinite(a) & np.isfinite(b)
    return np.where(present, a, 0.0), np.where(present, b, 0.0), present


def _ranks(x: Array, present: Mask) -> Array:
    # Twice the rank less its mean: whole numbers, so sums are exact and a constant is exactly 0.
    # The absent sort behind everything and so move no rank of the present.
    ranks = ranked(np.where(present, x, np.inf), axis=-1)
    mean = np.sum(present, axis=-1, keepdims=True) + 1.0
    return np.where(present, 2.0 * ranks - mean, 0.0)


def _by_rows(
    x: ArrayLike,
    y: ArrayLike,
    variant: Literal["b", "c"],
    of_pairs: Callable[[Array, Array, Mask], Array],
) -> Array:
    a, b, present = _paired(x, y)
    n = a.shape[-1]
    shape = (math.prod(a.shape[:-1]), n)
    p, q, both = a.reshape(shape), b.reshape(shape), present.reshape(shape)
    values = np.empty(len(p))
    if n > LONG_ROW:
        for i in range(len(p)):
            values[i] = sorted_kendall(p[i][both[i]], q[i][both[i]], variant)
    else:
        for rows in blocks(len(p), n * n):
            values[rows] = of_pairs(p[rows], q[rows], both[rows])
    return values.reshape(a.shape[:-1])


def _signs(x: Array, present: Mask) -> Array:
    both = present[:, :, None] & present[:, None, :]
    signs: Array = np.sign(x[:, :, None] - x[:, None, :]) * both
    return signs


def _tau_b_of_pairs(x: Array, y: Array, present: Mask) -> Array:
    sign_x, sign_y = _signs(x, present), _signs(y, present)
    sizes = [np.sqrt(np.sum(np.abs(signs), axis=(1, 2))) for signs in (sign_x, sign_y)]
    return ratio(np.sum(sign_x * sign_y, axis=(1, 2)), sizes[0], sizes[1])


def _tau_c_of_pairs(x: Array, y: Array, present: Mask) -> Array:
    agreement = np.sum(_signs(x, present) * _signs(y, present), axis=(1, 2))
    distinct = np.minimum(_distinct(x, present), _distinct(y, present))
    return tau_c(agreement, np.sum(present, axis=1).astype(np.float64), distinct)


def _distinct(x: Array, present: Mask) -> Array:
    ascending = np.sort(np.where(present, x, np.inf), axis=1)
    new = (ascending[:, 1:] != ascending[:, :-1]) & np.isfinite(ascending[:, 1:])
    count: Array = np.sum(new, axis=1, dtype=np.float64) + np.any(present, axis=1)
    return count
