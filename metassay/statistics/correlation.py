"""Correlation of a metric with people: four coefficients, three levels, ties and gaps counted.

Arrays are system x document: `metric[k, d]` and `human[k, d]` are the two scores of what system k
wrote for document d. NaN (and infinity, of which no mean can be taken) is missing. A coefficient
is NaN where it is undefined, never 0: fewer than two pairs, or a side that is constant. Many
metrics are one array with axes before these two, and results have the same axes.

Each coefficient is there for many rows of items (`EVERY_COEFFICIENT`), and for one row of items x,
y (m,), finite, under many sets of whole weights, all sets at a time (`WEIGHTED`): an item of weight
w counts as w equal items, one of weight 0 as none. Items that are always drawn together share a
weight: `unit` (m,) says which column of `weights` (resamples, units) is whose. Both are one formula
(`product_moment`, `ratio`, `tau_c`); weighted results are (resamples,).
"""

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metassay.statistics.exact_sums import (
    Array,
    Index,
    Mask,
    blocks,
    deviations,
    mean_of_defined,
    product_moment,
    quotient,
    ranked,
    ratio,
    sums_by,
    tau_c,
    weighted_sums,
)

Level = Literal["global", "document", "system"]
Coefficient = Literal["pearson", "spearman", "kendall", "kendall_c"]
Variant = Literal["b", "c"]
Counts = NDArray[np.int64]

LEVELS: tuple[Level, ...] = ("global", "document", "system")
TIE = 1e-12  # system means closer than this, relative to the largest score, are the same mean
LONG_ROW = 256  # items from which sorting beats comparing every pair


class Correlation(NamedTuple):
    """One coefficient and what it rests on; of many metrics arrays."""

    value: Any  # float; true sign, -1 to 1; NaN if undefined
    n: Any  # int; global: items; document: documents with a coefficient; system: systems
    n_undefined: Any  # int; documents without a coefficient (document level), else 0
    n_missing: Any  # int; cells with one of the two scores but not both


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
    return _tau_by_rows(x, y, "b")


def kendall_c(x: ArrayLike, y: ArrayLike) -> Array:
    """Stuart's tau-c along the last axis: for scales with unequal numbers of distinct values.

    2 (concordant - discordant) / (n**2 (m - 1) / m), m the smaller number of distinct values: it
    may stay below 1 where order agrees perfectly. Shapes and missing values as for `pearson`.
    Source: Stuart 1953, The estimation and comparison of strengths of association.
    """
    return _tau_by_rows(x, y, "c")


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
    """Correlate system x document arrays, (..., systems, documents), at a level.

    - global: every item that has both scores, pooled.
    - document: across systems within a document, then the mean over the documents in which the
      coefficient is defined; the others are counted.
    - system: across systems of each system's mean over the documents where it has both scores.

    There is no p here: texts share documents and systems, and systems are few. See `independence`.
    Raises ValueError unless both arrays have one shape of systems and documents.
    """
    of = EVERY_COEFFICIENT[coefficient]

    def of_these(a: Array, b: Array, present: Mask) -> Correlation:
        nothing = np.zeros(len(a), dtype=np.intp)
        missing = np.sum(np.isfinite(a) != np.isfinite(b), axis=(1, 2))
        if level == "document":
            values = of(a.mT, b.mT)
            undefined = np.count_nonzero(np.isnan(values), axis=1)
            counts = values.shape[1] - undefined, undefined, missing
            return Correlation(mean_of_defined(values), *counts)
        if level == "system":
            there = present.any(axis=1)
            means = system_means(a, b, np.ones((1, a.shape[2])))
            x, y = (np.ascontiguousarray(mean[:, 0, there]) for mean in means)
        else:
            x, y = (np.ascontiguousarray(side[:, present]) for side in (a, b))
        return Correlation(of(x, y), nothing + x.shape[1], nothing, missing)

    return in_turn(of_these, metric, human)


def matrices(metric: ArrayLike, human: ArrayLike) -> tuple[Array, Array, Mask]:
    """Both as float arrays of one (..., systems, documents) shape, and where both are present."""
    a, b = (np.asarray(side, dtype=np.float64) for side in (metric, human))
    if min(a.ndim, b.ndim) < 2 or a.shape[-2:] != b.shape[-2:]:
        raise ValueError(
            f"metric and human: want one shape (systems, documents), got {a.shape}, {b.shape}"
        )
    a, b = np.broadcast_arrays(a, b)
    return a, b, np.isfinite(a) & np.isfinite(b)


Result = TypeVar("Result", bound=tuple[Any, ...])


def in_turn(
    of: Callable[[Array, Array, Mask], Result], metric: ArrayLike, human: ArrayLike
) -> Result:
    """Call `of` with all metrics at once that have the same cells, and put the results together.

    `of(a, b, present)` gets a, b (metrics, systems, documents) and the cells (systems, documents)
    in which both are; the fields of what it returns are arrays (metrics, ...), or None.
    """
    a, b, present = matrices(metric, human)
    axes, cells = a.shape[:-2], a.shape[-2:]
    shape = math.prod(axes), *cells
    a, b, present = a.reshape(shape), b.reshape(shape), present.reshape(shape)
    groups: dict[bytes, list[int]] = {}
    for place, mask in enumerate(present):
        groups.setdefault(mask.tobytes(), []).append(place)
    found = [of(a[some], b[some], present[some[0]]) for some in groups.values()]
    back = np.argsort(np.concatenate([np.zeros(0, dtype=np.intp), *groups.values()]))
    if not found:  # the shapes of nothing
        nothing = np.full((1, *cells), np.nan)
        found = [of(nothing, nothing, np.zeros(cells, dtype=bool))]

    def joined(each: tuple[Any, ...]) -> Any:
        if each[0] is None:
            return None
        whole = np.concatenate(each)[back]
        return whole.reshape((*axes, *whole.shape[1:])) if axes or whole.ndim > 1 else whole.item()

    make: Any = getattr(found[0], "_make", tuple)
    result: Result = make(map(joined, zip(*found, strict=True)))
    return result


def system_means(metric: Array, human: Array, weights: Array) -> tuple[Array, Array]:
    """Each system's mean of both scores over the documents where it has both.

    Scores are (..., systems, documents); weights (r, documents) says how often each document
    counts. The results are (..., r, systems), NaN where a system has no document left; means that
    differ only by rounding are made equal.
    """
    present = np.isfinite(metric) & np.isfinite(human)

    def summed(scores: Array) -> Array:
        sums = weighted_sums(
            scores.reshape(math.prod(scores.shape[:-1]), scores.shape[-1]), weights
        )
        sums = sums.reshape(len(weights), *scores.shape[:-1])
        return np.ascontiguousarray(np.moveaxis(sums, 0, -2))

    counts = summed(present.astype(np.float64))
    means = []
    for scores in (metric, human):
        known = np.where(present, scores, 0.0)
        mean = quotient(summed(known), counts, counts > 0)
        largest = np.max(np.abs(known), axis=(-2, -1), keepdims=True, initial=0.0)
        means.append(tied(mean, tolerance=TIE * largest))
    return means[0], means[1]


def tied(values: Array, *, tolerance: ArrayLike) -> Array:
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
    from scipy.stats import kendalltau  # slow to import, as in exact_sums.ranked

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


def _tau_by_rows(x: ArrayLike, y: ArrayLike, variant: Variant) -> Array:
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
            values[rows] = _tau_of_pairs(p[rows], q[rows], both[rows], variant)
    return values.reshape(a.shape[:-1])


def _signs(x: Array, y: Array, present: Mask) -> Array:
    # (2, rows, n, n): on both sides, how each item stands to each other one; 0 of the absent.
    both = present[:, :, None] & present[:, None, :]
    return np.stack([np.sign(side[:, :, None] - side[:, None, :]) * both for side in (x, y)])


def _tau_of_pairs(x: Array, y: Array, present: Mask, variant: Variant) -> Array:
    sign_x, sign_y = _signs(x, y, present)
    agreement = np.sum(sign_x * sign_y, axis=(1, 2))
    if variant == "c":
        distinct = np.minimum(_distinct(x, present), _distinct(y, present))
        return tau_c(agreement, np.sum(present, axis=1).astype(np.float64), distinct)
    sizes = (np.sqrt(np.sum(np.abs(signs), axis=(1, 2))) for signs in (sign_x, sign_y))
    return ratio(agreement, *sizes)


def _distinct(x: Array, present: Mask) -> Array:
    ascending = np.sort(np.where(present, x, np.inf), axis=1)
    new = (ascending[:, 1:] != ascending[:, :-1]) & np.isfinite(ascending[:, 1:])
    return np.asarray(np.sum(new, axis=1, dtype=np.float64) + np.any(present, axis=1))


PAIRED_ITEMS = 2048  # items beyond which sorting each resample beats looking at every pair once
CANCELS = 1e-2  # spread, relative to that of all items, below which sums over units lose digits


def weighted_pearson(x: Array, y: Array, unit: Index, weights: Array) -> Array:
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
    sums = weighted_sums(moments, weights).T
    values, cancelled = pearson_of_sums(sums, np.sum(a * a), np.sum(b * b))
    again = np.flatnonzero(cancelled)
    for rows in blocks(again.size, x.size):
        drawn = weights[again[rows]][:, unit]
        moved = deviations(x, drawn), deviations(y, drawn)
        values[again[rows]] = product_moment(*moved, drawn)
    return values


def pearson_of_sums(
    sums: Iterable[Array], spread_x: ArrayLike, spread_y: ArrayLike
) -> tuple[Array, Mask]:
    """Pearson's r from sums of 1, x, y, xx, yy and xy, and where they cancel.

    `spread_x`, `spread_y`: the sums of xx and yy of all items, x and y less their means.
    """
    n, x, y, xx, yy, xy = sums
    n = np.maximum(n, 1.0)
    size_x, size_y = xx - x * x / n, yy - y * y / n
    sound = (size_x > np.multiply(CANCELS, spread_x)) & (size_y > np.multiply(CANCELS, spread_y))
    sizes = np.sqrt(np.where(sound, size_x, 0.0)), np.sqrt(np.where(sound, size_y, 0.0))
    return ratio(xy - x * y / n, *sizes), ~sound


def weighted_spearman(x: Array, y: Array, unit: Index, weights: Array) -> Array:
    """Spearman's rho of each resample: ranks among the items drawn, repeats tied."""
    values = np.full(len(weights), np.nan)
    groups_x, groups_y = _groups(x), _groups(y)
    for rows in blocks(len(weights) if x.size else 0, x.size):
        drawn = weights[rows][:, unit]
        values[rows] = product_moment(
            _weighted_ranks(drawn, groups_x), _weighted_ranks(drawn, groups_y), drawn
        )
    return values


def _weighted_tau(x: Array, y: Array, unit: Index, weights: Array, variant: Variant) -> Array:
    # An item and its repeat are a pair tied on both sides.
    if x.size < 2:
        return np.full(len(weights), np.nan)
    if x.size > PAIRED_ITEMS:
        values = []
        for drawn in weights:
            items = np.repeat(np.arange(x.size), drawn[unit].astype(np.intp))
            values.append(sorted_kendall(x[items], y[items], variant))
        return np.array(values)
    agreement, untied_x, untied_y = _forms(x, y, unit, weights)
    if variant == "b":
        return ratio(agreement, np.sqrt(untied_x), np.sqrt(untied_y))
    distinct, n = np.empty((2, len(weights)))
    groups = _groups(x), _groups(y)
    for rows in blocks(len(weights), x.size):
        drawn = weights[rows][:, unit]
        n[rows] = np.sum(drawn, axis=1)
        counts = [np.add.reduceat(drawn[:, g.order], g.first, axis=1) for g in groups]
        distinct[rows] = np.minimum(*(np.count_nonzero(c, axis=1) for c in counts))
    return tau_c(agreement, n, distinct)


# Of one row of items x, y (m,) under weights (resamples, units); `unit` (m,) is each item's.
WEIGHTED: dict[Coefficient, Callable[[Array, Array, Index, Array], Array]] = {
    "pearson": weighted_pearson,
    "spearman": weighted_spearman,
    "kendall": partial(_weighted_tau, variant="b"),
    "kendall_c": partial(_weighted_tau, variant="c"),
}


def _forms(x: Array, y: Array, unit: Index, weights: Array) -> Array:
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
    order: Index  # the items, ascending
    first: Index  # where in that order each group of equals begins
    last: Index  # where it ends
    group: Index  # the group of each item


def _groups(x: Array) -> _Groups:
    order = np.argsort(x, kind="stable")
    ascending = x[order]
    last = np.flatnonzero(np.append(ascending[1:] != ascending[:-1], True)[: x.size])
    group = np.empty(x.size, dtype=np.intp)
    group[order] = np.repeat(np.arange(last.size), np.diff(last, prepend=-1))
    return _Groups(order, np.append(0, last[:-1] + 1), last, group)


def _weighted_ranks(weights: Array, groups: _Groups) -> Array:
    # Twice the rank less its mean: the weight of what is smaller less that of what is larger.
    upto = np.cumsum(weights[:, groups.order], axis=1)[:, groups.last]
    ranks = upto - upto[:, -1:]
    ranks[:, 1:] += upto[:, :-1]
    return ranks[:, groups.group]


def _pair_sums(x: Array, y: Array, starts: Index, rows: slice) -> Array:
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


def concordance(x: Array, y: Array) -> Counts:
    """Per item of x, y (n,), finite, over all other items: (3, n).

    Pairs ordered alike less pairs ordered unlike (ties count for neither), others with another x,
    and others with another y.
    """
    n = x.size
    (rank_x, less_x, equal_x), (rank_y, less_y, equal_y) = _less_and_equal(x), _less_and_equal(y)
    _, by_x, equal = _less_and_equal(rank_x * (n + 1) + rank_y)  # less x, or equal x and less y
    _, by_y, _ = _less_and_equal(rank_y * (n + 1) + rank_x)
    below = np.empty(n, dtype=np.int64)  # others that are less on both sides
    order = np.lexsort((-rank_y, rank_x))
    below[order] = _smaller_before(rank_y[order])
    either = 4 * (below - less_x - less_y) + 2 * (by_x + by_y)
    return np.stack([either + n - equal_x - equal_y + equal, n - equal_x, n - equal_y])


def taus_without(
    x: ArrayLike, y: ArrayLike, group: Index, groups: int, *, times: float = 1.0
) -> dict[Coefficient, Array]:
    """tau-b and tau-c along the last axis without each group of items: (..., groups) each.

    From what the pairs of a group's items count, so that all of them take the time of one tau.
    `group` (n,) is each item's, 0 to groups - 1. Shapes and missing values as for `pearson`. Counts
    are of ordered pairs, `times` a number on which only the last bit of tau-b hangs.
    """
    a, b, present = _paired(x, y)
    shape = math.prod(a.shape[:-1]), a.shape[-1]
    p, q, there = a.reshape(shape), b.reshape(shape), present.reshape(shape)
    left, distinct = np.empty((3, len(p), groups)), np.empty((len(p), groups))
    count = _counts_without if shape[1] <= LONG_ROW else _long_counts_without
    for rows in blocks(len(p), shape[1] * shape[1]):  # of a long row one at a time
        left[:, rows] = count(p[rows], q[rows], there[rows], group, groups)
        each = (_distinct_without(side[rows], there[rows], group, groups) for side in (p, q))
        distinct[rows] = np.minimum(*each)
    agreed, untied_x, untied_y = times * left
    n = sums_by(group, there.astype(np.float64), groups)
    n = n.sum(axis=1, keepdims=True) - n
    taus: dict[Coefficient, Array] = {
        "kendall": ratio(agreed, np.sqrt(untied_x), np.sqrt(untied_y)),
        "kendall_c": tau_c(left[0], n, distinct),
    }
    return {name: one.reshape(*a.shape[:-1], groups) for name, one in taus.items()}


def _counts_without(x: Array, y: Array, present: Mask, group: Index, groups: int) -> Array:
    # (3, rows, groups): of all ordered pairs without each group, what `concordance` counts.
    sign_x, sign_y = _signs(x, y, present)
    same = (group[:, None] == group).astype(np.float64)
    found = []
    for signs in (sign_x * sign_y, np.abs(sign_x), np.abs(sign_y)):
        each, within = signs.sum(axis=2), np.einsum("rij,ij->ri", signs, same)
        found.append(each.sum(axis=1, keepdims=True) - sums_by(group, 2 * each - within, groups))
    return np.stack(found)


def _long_counts_without(x: Array, y: Array, present: Mask, group: Index, groups: int) -> Array:
    # The same of one row (1, n).
    x, y, group = x[present], y[present], group[present[0]]
    each = concordance(x, y).astype(np.float64)
    left = each.sum(axis=1, keepdims=True) - 2 * sums_by(group, each, groups)
    for number in np.flatnonzero(np.bincount(group, minlength=groups) > 1):
        inside = group == number
        left[:, number] += concordance(x[inside], y[inside]).sum(axis=1)
    return np.asarray(left[:, None])


def _distinct_without(x: Array, present: Mask, group: Index, groups: int) -> Array:
    # (rows, groups): how many distinct values there are without each group.
    key, of_items = np.where(present, x, np.inf), np.broadcast_to(group, x.shape)
    order = np.lexsort((of_items, key))
    key, of_items = (np.take_along_axis(side, order, axis=1) for side in (key, of_items))
    new = np.ones((len(x), x.shape[1] + 1), dtype=bool)
    new[:, 1:-1] = key[:, 1:] != key[:, :-1]
    first, last = (new[:, some] & np.isfinite(key) for some in (np.s_[:-1], np.s_[1:]))
    alone = of_items[first] == of_items[last]  # the value is of one group's items only
    place = (np.nonzero(first)[0] * groups + of_items[first])[alone]
    lost = np.bincount(place, minlength=len(x) * groups).reshape(len(x), groups)
    return np.asarray(first.sum(axis=1, keepdims=True) - lost, dtype=np.float64)


def _less_and_equal(key: NDArray[Any]) -> tuple[Index, Index, Index]:
    # Each item's place among the distinct keys; how many items have a smaller key, and the same.
    _, place, count = np.unique(key, return_inverse=True, return_counts=True)
    return place, (np.cumsum(count) - count)[place], count[place]


def _smaller_before(rank: Index) -> Counts:
    # How many items before each are smaller: merge sort, all blocks of one width at a time.
    n, largest = rank.size, int(rank.max(initial=0)) + 1
    order: Index = np.arange(n)  # each block ascending
    found = np.zeros(n, dtype=np.int64)
    width = 1
    while width < n:
        block, left = order // (2 * width), (order // width) % 2 == 0
        # The right half's item stands before the left half's of equal rank: only smaller count.
        sort = np.argsort((block * largest + rank[order]) * 2 + left, kind="stable")
        order, left, block = order[sort], left[sort], block[sort]
        seen = np.cumsum(left)
        starts = np.append(True, block[1:] != block[:-1])
        before = np.maximum.accumulate(np.where(starts, seen - left, 0))
        found[order[~left]] += (seen - before)[~left]
        width *= 2
    return found
