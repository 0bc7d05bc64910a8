"""Reliability of several raters: Fleiss' kappa, ICC, counts' F1.

Ratings are (raters, items), NaN where a rater did not rate. `agreement_interval` puts a bootstrap
interval around any coefficient of such an array, these and those of `agreement`.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metassay.statistics import weighted_agreement
from metassay.statistics.agreement import Agreement, complete, pairable, rated, unweighted
from metassay.statistics.arithmetic import Array, blocks
from metassay.statistics.resampling import HELD, Interval
from metassay.statistics.weighted_agreement import Icc


def fleiss_kappa(ratings: ArrayLike) -> Agreement:
    """Fleiss' kappa: agreement of any two raters of an item, beyond chance. 1 is perfect.

    Items with fewer than two ratings are left out; the others may have different numbers of
    ratings, and count alike (Gwet 2014, Handbook of inter-rater reliability, 2.5). NaN if all
    ratings left are one value. Source: Fleiss 1971, Measuring nominal scale agreement among many
    raters. Raises ValueError unless ratings are two-dimensional.
    """
    return unweighted(weighted_agreement.fleiss_kappa, *pairable(ratings))


def icc(ratings: ArrayLike, kind: Icc) -> Agreement:
    """Intraclass correlation: the share of the ratings' variance that is the items'. 1 is perfect.

    icc1: raters differ by item; icc2: the same raters, a sample of all (absolute agreement); icc3:
    these raters only (consistency). A `k` gives the reliability of the raters' mean. Items that
    not every rater rated are left out and counted in n_missing. NaN with fewer than two items or
    raters, or without variance. Source: Shrout and Fleiss 1979, Intraclass correlations: uses in
    assessing rater reliability. Raises ValueError unless ratings are two-dimensional.
    """
    return unweighted(partial(weighted_agreement.icc, kind=kind), *rated_by_all(ratings))


def mean_of_others(ratings: Array, rater: int) -> Array:
    """The mean of all raters but one, along the first axis; NaN where no other rated."""
    others = np.delete(ratings, rater, axis=0)
    known = np.isfinite(others)
    count = np.sum(known, axis=0)
    total = np.sum(np.where(known, others, 0.0), axis=0)
    mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    # Means of the same ratings in another order are one mean, not a rounding error apart.
    rounded: Array = np.round(mean, 12)
    return rounded


def count_f1(a: ArrayLike, b: ArrayLike, *, tolerance: int) -> Agreement:
    """F1 of two raters' counts, a count taken for found if the other's is within `tolerance`.

    Each rater gives one count per item, so that precision, recall and F1 (micro-averaged over
    counts) are one number: the share of items, 0 to 1, whose counts differ by at most the
    tolerance (0, 1, 2). Items that one did not count are left out; NaN if none is left. Source:
    Ben Abacha et al. 2023, An investigation of evaluation metrics for automated medical note
    generation, tables 7 and 8, which print F1 without a formula: this reading fits their values
    beside kappa and Pearson.
    """
    pair, missing = complete(a, b)
    return unweighted(partial(weighted_agreement.share_within, tolerance=tolerance), pair, missing)


def rated_by_all(ratings: ArrayLike) -> tuple[Array, int]:
    """The items (raters, n) that every rater rated, and how many others somebody did.

    Raises ValueError unless ratings are two-dimensional.
    """
    table = rated(ratings)
    known = np.isfinite(table)
    whole = np.all(known, axis=0) & (len(table) > 0)
    return table[:, whole], int(np.count_nonzero(np.any(known, axis=0) & ~whole))


def agreement_interval(
    ratings: ArrayLike,
    of: Callable[[Array, Array], Array],
    *,
    n: int,
    confidence: float,
    rng: np.random.Generator,
) -> Interval:
    """Percentile interval of any coefficient of ratings (raters, items), from n draws of items.

    `of(ratings, weights)` gives the coefficient under each row of weights (resamples, items), as
    the functions of `weighted_agreement` do; it is asked with equal items put together, their
    weights added. The raters stay. Both ends are NaN if fewer than half of the draws have a
    coefficient. Raises ValueError unless ratings are two-dimensional.
    """
    table = rated(ratings)
    items = table.shape[1]
    if items < 2:
        return Interval(np.nan, np.nan, 0, n)
    # No two NaN are equal, but two infinities are.
    kinds, kind = np.unique(np.nan_to_num(table, nan=np.inf), axis=1, return_inverse=True)
    kinds = np.where(np.isfinite(kinds), kinds, np.nan)
    values = np.empty(n)
    for rows in blocks(n, items, numbers=HELD):
        drawn = kind.reshape(items)[rng.integers(items, size=(values[rows].size, items))]
        values[rows] = of(kinds, _tallies(drawn, kinds.shape[1]))
    defined = values[~np.isnan(values)]
    undefined = values.size - defined.size
    if not defined.size or 2 * defined.size < values.size:
        return Interval(np.nan, np.nan, defined.size, undefined)
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(defined, (tail, 1.0 - tail))
    return Interval(float(low), float(high), defined.size, undefined)


def _tallies(drawn: NDArray[np.intp], size: int) -> Array:
    """How often each row drew each of `size` kinds."""
    own = drawn + size * np.arange(len(drawn))[:, None]
    tallies = np.bincount(own.ravel(), minlength=len(drawn) * size)
    return tallies.reshape(len(drawn), size).astype(np.float64)
