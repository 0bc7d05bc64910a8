"""Reliability of several raters: Fleiss' kappa, ICC, one rater against the others, counts' F1.

Ratings are (raters, items), NaN where a rater did not rate. `agreement_interval` puts a bootstrap
interval around any coefficient of such an array, these and those of `agreement`.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.agreement import Agreement
from metassay.statistics.arithmetic import Array
from metassay.statistics.correlation import EVERY_COEFFICIENT, Coefficient
from metassay.statistics.resampling import Interval

Icc = Literal["icc1", "icc2", "icc3", "icc1k", "icc2k", "icc3k"]


class AgainstOthers(NamedTuple):
    """How each rater correlates with the mean of the others."""

    value: float  # mean over raters where defined; NaN if nowhere
    n: int  # raters with a coefficient
    n_undefined: int  # raters without one
    values: Array  # (raters,)


def fleiss_kappa(ratings: ArrayLike) -> Agreement:
    """Fleiss' kappa: agreement of any two raters of an item, beyond chance. 1 is perfect.

    Items with fewer than two ratings are left out; the others may have different numbers of
    ratings, and count alike (Gwet 2014, Handbook of inter-rater reliability, 2.5). NaN if all
    ratings left are one value. Source: Fleiss 1971, Measuring nominal scale agreement among many
    raters. Raises ValueError unless ratings are two-dimensional.
    """
    table, n, missing = _pairable(ratings)
    values = np.unique(table[np.isfinite(table)])
    if values.size < 2:
        return Agreement(np.nan, n, missing)
    counts = np.stack([np.sum(table == value, axis=0) for value in values]).astype(np.float64)
    raters = np.sum(counts, axis=0)
    observed = np.mean((np.sum(counts**2, axis=0) - raters) / (raters * (raters - 1)))
    chance = np.sum(np.mean(counts / raters, axis=1) ** 2)
    return Agreement(float((observed - chance) / (1.0 - chance)), n, missing)


def icc(ratings: ArrayLike, kind: Icc) -> Agreement:
    """Intraclass correlation: the share of the ratings' variance that is the items'. 1 is perfect.

    icc1: raters differ by item; icc2: the same raters, a sample of all (absolute agreement); icc3:
    these raters only (consistency). A `k` gives the reliability of the raters' mean. Items that
    not every rater rated are left out and counted in n_missing. NaN with fewer than two items or
    raters, or without variance. Source: Shrout and Fleiss 1979, Intraclass correlations: uses in
    assessing rater reliability. Raises ValueError unless ratings are two-dimensional.
    """
    table = _table(ratings)
    whole = np.all(np.isfinite(table), axis=0) & (len(table) > 0)
    missing = int(np.count_nonzero(np.any(np.isfinite(table), axis=0) & ~whole))
    table = table[:, whole]
    k, n = table.shape
    if n < 2 or k < 2 or np.all(table == table.flat[0]):
        return Agreement(np.nan, n, missing)
    table = table - np.mean(table)
    items, raters = np.mean(table, axis=0), np.mean(table, axis=1)
    between = k * np.sum(items**2) / (n - 1)
    of_raters = n * np.sum(raters**2) / (k - 1)
    residual = np.sum((table - items - raters[:, None]) ** 2) / ((n - 1) * (k - 1))
    within = np.sum((table - items) ** 2) / (n * (k - 1))
    shared = {
        "icc1": (between - within, between + (k - 1) * within),
        "icc2": (
            between - residual,
            between + (k - 1) * residual + k * (of_raters - residual) / n,
        ),
        "icc3": (between - residual, between + (k - 1) * residual),
        "icc1k": (between - within, between),
        "icc2k": (between - residual, between + (of_raters - residual) / n),
        "icc3k": (between - residual, between),
    }[kind]
    value = float(shared[0] / shared[1]) if shared[1] > 0 else np.nan
    return Agreement(value, n, missing)


def one_against_others(ratings: ArrayLike, coefficient: Coefficient) -> AgainstOthers:
    """Correlate each rater with the mean of the other raters of the same items; then average.

    Items that the rater or all others left out do not count for that rater. Raises ValueError
    unless ratings are two-dimensional.
    """
    table = _table(ratings)
    values = np.array(
        [
            float(EVERY_COEFFICIENT[coefficient](table[rater], mean_of_others(table, rater)))
            for rater in range(len(table))
        ]
    )
    defined = values[~np.isnan(values)]
    value = float(np.mean(defined)) if defined.size else np.nan
    return AgainstOthers(value, defined.size, values.size - defined.size, values)


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
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"want two rows of counts of equal length, got {x.shape}, {y.shape}")
    both = np.isfinite(x) & np.isfinite(y)
    missing = int(np.count_nonzero(np.isfinite(x) != np.isfinite(y)))
    close = np.abs(x[both] - y[both]) <= tolerance
    return Agreement(float(np.mean(close)) if close.size else np.nan, close.size, missing)


def agreement_interval(
    ratings: ArrayLike,
    of: Callable[[Array], float],
    *,
    n: int,
    confidence: float,
    rng: np.random.Generator,
) -> Interval:
    """Percentile interval of any coefficient of ratings (raters, items), from n draws of items.

    The raters stay. Both ends are NaN if fewer than half of the draws have a coefficient. Raises
    ValueError unless ratings are two-dimensional.
    """
    table = _table(ratings)
    items = table.shape[1]
    if items < 2:
        return Interval(np.nan, np.nan, 0, n)
    drawn = rng.integers(items, size=(n, items))
    values = np.array([of(table[:, columns]) for columns in drawn])
    defined = values[~np.isnan(values)]
    undefined = values.size - defined.size
    if not defined.size or 2 * defined.size < values.size:
        return Interval(np.nan, np.nan, defined.size, undefined)
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(defined, (tail, 1.0 - tail))
    return Interval(float(low), float(high), defined.size, undefined)


def _table(ratings: ArrayLike) -> Array:
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"want a raters x items array, got {table.shape}")
    return np.where(np.isfinite(table), table, np.nan)


def _pairable(ratings: ArrayLike) -> tuple[Array, int, int]:
    table = _table(ratings)
    raters = np.sum(np.isfinite(table), axis=0)
    pairable = table[:, raters >= 2]
    return pairable, pairable.shape[1], int(np.count_nonzero(raters == 1))
