"""Exact bounds of a mean, sum, maximum or minimum when it is unknown which items count.

Arrays are (items, columns), columns independent. `possible`: the item can count;
`sure`: it counts. In each column at least one item counts; a column without items is
NaN. All functions return the least value; for the greatest, negate the values and the
result.
"""

import numpy as np

from metassay.statistics.exact_sums import Array, Mask


def least_mean(values: Array, weights: Array, sure: Mask, possible: Mask) -> Array:
    """Return the least weighted mean over all choices of items; `weights` (items,) are above 0.

    Optional items lower the mean most if the lowest values are added first, while each
    is below the mean so far: the least is attained by the k lowest for some k.
    """
    optional = possible & ~sure
    order = np.argsort(np.where(optional, values, np.inf), axis=0, kind="stable")
    wide = np.broadcast_to(weights[:, None], values.shape)
    is_optional = np.take_along_axis(optional, order, axis=0)
    weight = np.where(is_optional, np.take_along_axis(wide, order, axis=0), 0.0)
    value = np.where(is_optional, np.take_along_axis(values, order, axis=0), 0.0)
    zero = np.zeros((1, values.shape[1]))
    certain = np.where(sure, values, 0.0)
    total = (certain * wide).sum(axis=0) + np.cumsum(
        np.vstack([zero, weight * value]), axis=0
    )
    count = np.where(sure, wide, 0.0).sum(axis=0) + np.cumsum(
        np.vstack([zero, weight]), axis=0
    )
    means = np.full(total.shape, np.inf)
    np.divide(total, count, out=means, where=count > 0)
    return np.where(possible.any(axis=0), means.min(axis=0), np.nan)


def least_sum(values: Array, sure: Mask, possible: Mask) -> Array:
    """Return the least sum over all choices, of values from 0: that of the sure items."""
    certain = np.where(sure, values, 0.0).sum(axis=0)
    return np.where(sure.any(axis=0), certain, least_minimum(values, possible))


def least_maximum(values: Array, sure: Mask, possible: Mask) -> Array:
    """Return the least maximum over all choices: that of the sure items, or the lowest value."""
    certain = np.where(sure, values, -np.inf).max(axis=0)
    lowest = np.where(possible, values, np.inf).min(axis=0)
    least = np.where(sure.any(axis=0), certain, lowest)
    return np.where(possible.any(axis=0), least, np.nan)


def least_minimum(values: Array, possible: Mask) -> Array:
    """Return the least minimum over all choices: that of all items."""
    lowest = np.where(possible, values, np.inf).min(axis=0)
    return np.where(possible.any(axis=0), lowest, np.nan)
