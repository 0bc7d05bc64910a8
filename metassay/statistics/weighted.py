"""The coefficients of one row of items under many sets of whole weights, all sets at a time.

An item of weight w counts as w equal items, one of weight 0 as none: a bootstrap resample is such
a set of weights. Items x, y (m,) are finite. Items that are always drawn together share a weight:
`unit` (m,) says which column of `weights` (resamples, units) is whose. Results are (resamples,),
NaN where the coefficient is undefined.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metassay.statistics.arithmetic import (
    Array,
    blocks,
    deviations,
    product_moment,
    ratio,
    tau_c,
    weighted_sums,
)
from metassay.statistics.correlation import Coefficient, sorted_kendall

Units = NDArray[np.intp]

PAIRED_ITEMS = 2048  # items beyond which sorting each resample beats looking at every pair once
CANCELS = 1e-2  # spread, relative to that of all items, below which sums over units lose digits


def pearson(x: Array, y: Array, unit: Units, weights: Array) -> Array:
    """Pearson's r of each resample.

    From sums over units, whose number does not grow with the items. Where little spread is left
    in a resample, such sums cancel: those resamples are computed again from their items.
    """
    if x.size < 2:
        return np.full(len(weights), np.nan)
    once = np.ones(x.size)
    a, b = deviations(x, once), deviations(y, once)
    terms = (once, a, b, a * a, b * b, a * b)
    moments = np.array([np.bincount(unit, term, weights.shape[1]) for term in terms])
    n, sum_a, sum_b, sum_aa, sum_bb, sum_ab = weighted_sums(moments, weights).T
    n = np.maximum(n, 1.0)
    size_a, size_b = sum_aa - sum_a * sum_a / n, sum_bb - sum_b * sum_b / n
    sound = (size_a > CANCELS * np.sum(a * a)) & (size_b > CANCELS * np.sum(b * b))
    sizes = np.sqrt(np.where(sound, size_a, 0.0)), np.sqrt(np.where(sound, size_b, 0.0))
    values = ratio(sum_ab - sum_a * sum_b / n, *sizes)
    again = np.flatnonzero(~sound)
    for rows in blocks(again.size, x.size):
        drawn = weights[again[rows]][:, unit]
        moved = deviations(x, drawn), deviations(y, drawn)
        values[again[rows]] = product_moment(*moved, drawn)
    return values


def spearman(x: Array, y: Array, unit: Units, weights: Array) -> Array:
    """Spearman's rho of each resample: ranks among the items drawn, repeats tied."""
    values = np.full(len(weights), np.nan)
    groups_x, groups_y = _groups(x), _groups(y)
    for rows in blocks(len(weights) if x.size else 0, x.size):
        drawn = weights[rows][:, unit]
        values[rows] = product_moment(_ranks(drawn, groups_x), _ranks(drawn, groups_y), drawn)
    return values


def kendall(x: Array, y: Array, unit: Units, weights: Array) -> Array:
    """Kendall's tau-b of each resample; an item and its repeat are a pair tied on both sides."""
    if x.size > PAIRED_ITEMS:
        return _kendall_by_sorting(x, y, unit, weights, "b")
    sums = _forms(x, y, unit, weights)
    return ratio(sums[0], np.sqrt(sums[1]), np.sqrt(sums[2]))


def kendall_c(x: Array, y: Array, unit: Units, weights: Array) -> Array:
    """tau-c of each resample: its distinct values are those of the items drawn."""
    if x.size > PAIRED_ITEMS:
        return _kendall_by_sorting(x, y, unit, weights, "c")
    if x.size < 2:
        return np.full(len(weights), np.nan)
    distinct, n = np.empty(len(weights)), np.empty(len(weights))
    groups = _groups(x), _groups(y)
    for rows in blocks(len(weights), x.size):
        drawn = weights[rows][:, unit]
        n[rows] = np.sum(drawn, axis=1)
        counts = [np.add.reduceat(drawn[:, g.order], g.first, axis=1) for g in groups]
        distinct[rows] = np.minimum(*(np.count_nonzero(c, axis=1) for c in counts))
    return tau_c(_forms(x, y, unit, weights)[0], n, distinct)


COEFFICIENTS: dict[Coefficient, Callable[[Array, Array, Units, Array], Array]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
    "kendall_c": kendall_c,
}


def _forms(x: Array, y: Array, unit: Units, weights: Array) -> Array:
    # Concordant less discordant pairs are a quadratic form in the weights, whose matrix sums the
    # signs of all pairs between two units. It is made once for all resamples. (3, resamples).
    order = np.argsort(unit, kind="stable")
    x, y = x[order], y[order]
    units, starts = np.unique(unit[order], return_index=True)
    drawn = weights[:, units].T
    sums = np.zeros((3, len(weights)))
    for rows in blocks(units.size, x.size * x.size // max(1, units.size)):
        forms = _pair_sums(x, y, starts, rows)
        # Whole numbers far below 2**53: BLAS is exact, whatever its order of summation.
        sums += np.sum((forms @ drawn) * drawn[rows], axis=1)
    return sums


class _Groups(NamedTuple):
    order: Units  # the items, ascending
    first: Units  # where in that order each group of equals begins
    last: Units  # where it ends
    group: Units  # the group of each item


def _groups(x: Array) -> _Groups:
    order = np.argsort(x, kind="stable")
    ascending = x[order]
    last = np.flatnonzero(np.append(ascending[1:] != ascending[:-1], True)[: x.size])
    group = np.empty(x.size, dtype=np.intp)
    group[order] = np.repeat(np.arange(last.size), np.diff(last, prepend=-1))
    return _Groups(order, np.append(0, last[:-1] + 1), last, group)


def _ranks(weights: Array, groups: _Groups) -> Array:
    # Twice the rank less its mean: the weight of what is smaller less that of what is larger.
    upto = np.cumsum(weights[:, groups.order], axis=1)[:, groups.last]
    ranks = upto - upto[:, -1:]
    ranks[:, 1:] += upto[:, :-1]
    return ranks[:, groups.group]


def _pair_sums(x: Array, y: Array, starts: Units, rows: slice) -> Array:
    # (3, units in rows, units): concordant less discordant pairs, pairs untied in x, in y.
    begin = starts[rows.start]
    end = starts[rows.stop] if rows.stop < starts.size else x.size
    sign_x = np.sign(x[begin:end, None] - x)
    sign_y = np.sign(y[begin:end, None] - y)
    sums = []
    for signs in (sign_x * sign_y, np.abs(sign_x), np.abs(sign_y)):
        by_unit = np.add.reduceat(signs, starts, axis=1)
        sums.append(np.add.reduceat(by_unit, starts[rows] - begin, axis=0))
    return np.stack(sums)


def _kendall_by_sorting(
    x: Array, y: Array, unit: Units, weights: Array, variant: Literal["b", "c"]
) -> Array:
    values = []
    for drawn in weights:
        items = np.repeat(np.arange(x.size), drawn[unit].astype(np.intp))
        values.append(sorted_kendall(x[items], y[items], variant))
    return np.array(values)
