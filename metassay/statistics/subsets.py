"""Exact ends of what some numbers make together, where it is not known which of them count.

Arrays are (items, columns); each column is a case of its own. `there`: the item may count; `sure`:
it does. The others may count or not, but in each column at least one item counts. A column without
any item is NaN. All functions give the least value; the greatest one is that of the negated
numbers, negated.
"""

import numpy as np

from metassay.statistics.exact_sums import Array, Mask


def least_mean(values: Array, weights: Array, sure: Mask, there: Mask) -> Array:
    """The least weighted mean over all choices of what counts; `weights` (items,) are above 0.

    What is not sure lowers the mean most if the lowest values are taken first, and as long as each
    is below the mean so far: one of the choices "the k lowest" is the best.
    """
    may = there & ~sure
    order = np.argsort(np.where(may, values, np.inf), axis=0, kind="stable")
    wide = np.broadcast_to(weights[:, None], values.shape)
    sorted_may = np.take_along_axis(may, order, axis=0)
    weight = np.where(sorted_may, np.take_along_axis(wide, order, axis=0), 0.0)
    worth = np.where(sorted_may, np.take_along_axis(values, order, axis=0), 0.0)
    nothing = np.zeros((1, values.shape[1]))
    certain = np.where(sure, values, 0.0)
    total = (certain * wide).sum(axis=0) + np.cumsum(np.vstack([nothing, weight * worth]), axis=0)
    count = np.where(sure, wide, 0.0).sum(axis=0) + np.cumsum(np.vstack([nothing, weight]), axis=0)
    means = np.full(total.shape, np.inf)
    np.divide(total, count, out=means, where=count > 0)
    return np.where(there.any(axis=0), means.min(axis=0), np.nan)


def least_sum(values: Array, sure: Mask, there: Mask) -> Array:
    """The least sum over all choices of what counts, of values from 0: that of the sure ones."""
    certain = np.where(sure, values, 0.0).sum(axis=0)
    return np.where(sure.any(axis=0), certain, least_minimum(values, there))


def least_maximum(values: Array, sure: Mask, there: Mask) -> Array:
    """The least maximum over all choices of what counts: that of the sure ones, or the lowest."""
    certain = np.where(sure, values, -np.inf).max(axis=0)
    lowest = np.where(there, values, np.inf).min(axis=0)
    least = np.where(sure.any(axis=0), certain, lowest)
    return np.where(there.any(axis=0), least, np.nan)


def least_minimum(values: Array, there: Mask) -> Array:
    """The least minimum over all choices of what counts: that of all."""
    lowest = np.where(there, values, np.inf).min(axis=0)
    return np.where(there.any(axis=0), lowest, np.nan)
