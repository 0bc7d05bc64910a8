"""Sums that are equal in any order; means and quotients that are NaN where undefined."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Index = NDArray[np.intp]

NOISE = 1e-13  # a side with smaller deviations, relative to its mean, is constant
# numbers in one temporary array: 1 MB, so that it stays in the processor's cache
BLOCK = 1 << 17


def rankdata(
    values: Array,
    axis: int | None = None,
    nan_policy: Literal["propagate", "omit"] = "propagate",
) -> Array:
    """Return average ranks, from 1, along an axis (None: of all values, flattened).

    As `scipy.stats.rankdata`, which takes longer to import than a small study to
    evaluate. A row with a NaN is all NaN, or with `omit`, only its NaN are.

    >>> rankdata(np.array([0.3, 0.1, 0.3]))
    array([2.5, 1. , 2.5])
    """
    rows = np.ravel(values) if axis is None else np.moveaxis(values, axis, -1)
    if rows.size == 0:
        return np.empty(rows.shape if axis is None else np.shape(values))
    order = np.argsort(rows, axis=-1, kind="stable")
    ascending = np.take_along_axis(rows, order, axis=-1)
    first = np.ones(rows.shape, dtype=bool)
    first[..., 1:] = ascending[..., 1:] != ascending[..., :-1]
    # equal values share the mean of their places: the first, and half of the others
    starts = np.flatnonzero(first)
    counts = np.diff(starts, append=rows.size)
    shared = np.repeat(starts + (counts + 1) / 2, counts).reshape(rows.shape)
    ranks = np.empty(rows.shape)
    np.put_along_axis(ranks, order, shared, axis=-1)
    if rows.ndim > 1:  # places were counted over all rows
        length = rows.shape[-1]
        ranks -= np.arange(0, rows.size, length).reshape(*rows.shape[:-1], 1)
    missing = np.isnan(rows)
    if missing.any():
        whole = nan_policy == "propagate"
        ranks[missing.any(axis=-1) if whole else missing] = np.nan
    return ranks if axis is None else np.moveaxis(ranks, -1, axis)


def weighted_sums(scores: Array, weights: Array) -> Array:
    """Sum each row of scores (k, d) under each row of integer weights (r, d): (r, k).

    Scores are split into two parts of 26 bits, so that every product and partial sum is
    a whole number below 2**53 (for up to 2**26 documents): exact, and so equal on any
    processor and in any order, even by BLAS. The error is that of rounding to 2**-52 of
    the largest score.
    """
    largest = np.max(np.abs(scores), axis=1, initial=0.0)
    exponent = 26 - np.frexp(largest)[1][:, None]
    scaled = np.ldexp(scores, exponent)
    high = np.rint(scaled)
    low = np.rint(np.ldexp(scaled - high, 26))
    both = weights @ np.concatenate((high, low)).T  # at once, as weights may be many
    sums = both[:, : len(scores)] + np.ldexp(both[:, len(scores) :], -26)
    return np.asarray(np.ldexp(sums, -exponent.T))


def deviations(x: Array, weights: Array) -> Array:
    """Subtract the weighted mean along the last axis and scale the largest deviation to 1.

    Broadcasts. Items of weight 0 are left out and become 0, as do all items of a
    constant row.
    """
    total = np.sum(weights, axis=-1, keepdims=True)
    mean = np.sum(weights * x, axis=-1, keepdims=True) / np.maximum(total, 1.0)
    deviation = np.where(weights > 0, x - mean, 0.0)
    spread = np.max(np.abs(deviation), axis=-1, keepdims=True, initial=0.0)
    # The mean of a constant can have a rounding error, so its spread is not always 0.
    deviation /= np.where(spread <= NOISE * np.abs(mean), np.inf, spread)
    return deviation


def product_moment(a: Array, b: Array, weights: Array) -> Array:
    """Correlate along the last axis values with weighted mean 0; NaN if undefined."""
    weighted = weights * a
    covariance = np.sum(weighted * b, axis=-1)
    weighted *= a
    size_a = np.sqrt(np.sum(weighted, axis=-1))
    size_b = np.sqrt(np.sum(weights * b * b, axis=-1))
    return ratio(covariance, size_a, size_b)


def quotient(
    top: ArrayLike,
    bottom: ArrayLike,
    where: Mask | None = None,
    *,
    other: float = np.nan,
) -> NDArray[Any]:
    """Divide with broadcasting, complex too; `other` where `where` is false.

    Without `where`, denominators that are 0 up to rounding are undefined.
    """
    defined = np.abs(bottom) > 1e-15 if where is None else where
    shape, kind = np.broadcast(top, bottom).shape, np.result_type(top, float)
    # With the memory layout of `top`, which sets the order of later sums.
    result = np.full_like(
        top, other, dtype=kind, shape=shape if shape != np.shape(top) else None
    )
    return np.asarray(np.divide(top, bottom, out=result, where=defined))


def mean_without_gaps(values: Array, axis: int = 0, *, keepdims: bool = False) -> Array:
    """Return the mean of finite values along an axis; NaN without any."""
    present = np.isfinite(values)
    count = np.sum(present, axis=axis, keepdims=keepdims)
    total = np.sum(np.where(present, values, 0.0), axis=axis, keepdims=keepdims)
    return quotient(total, count, count > 0)


def mean_of_defined(values: Array) -> Any:
    """Return the mean of non-NaN values along the last axis; NaN without any."""
    if values.ndim > 1:
        has_nan = np.isnan(values).any(axis=-1)
        means = np.full(has_nan.shape, np.nan)
        if values.shape[-1]:
            means[~has_nan] = np.mean(np.ascontiguousarray(values[~has_nan]), axis=-1)
        for place in zip(*np.nonzero(has_nan), strict=True):
            means[place] = mean_of_defined(values[place])
        return means
    defined = values[~np.isnan(values)]
    return float(np.mean(defined)) if defined.size else np.nan


def sums_by(unit: Index, values: Array, n: int) -> Array:
    """Sum (..., items) over the items of each unit, 0 to n - 1: (..., n)."""
    if n == unit.size and np.array_equal(unit, np.arange(n)):
        return values + 0.0
    total = np.zeros((n, *values.shape[:-1]))
    np.add.at(total, unit, np.moveaxis(values, -1, 0))
    return np.ascontiguousarray(np.moveaxis(total, 0, -1))


def ratio(agreement: Array, size_a: Array, size_b: Array) -> Array:
    """Return agreement / size_a / size_b clipped to -1 to 1; NaN where a size is 0."""
    size = size_a * size_b
    return np.clip(quotient(agreement, size, size > 0), -1.0, 1.0)


def tau_c(agreement: Array, n: Array, distinct: Array) -> Array:
    """Return tau-c of concordant less discordant ordered pairs; NaN below 2 distinct values."""
    size = n * n * (distinct - 1) / np.maximum(distinct, 1)
    return np.clip(quotient(agreement, size, size > 0), -1.0, 1.0)


def blocks(rows: int, width: int, *, numbers: int = BLOCK) -> Iterator[slice]:
    """Yield slices of rows so that an array of them, `width` wide, has about `numbers` numbers."""
    step = max(1, numbers // max(1, width))
    for start in range(0, rows, step):
        yield slice(start, start + step)
