"""Correlation of a metric with people: four coefficients, three levels, with ties and missing data.

Arrays are system x document: `metric[k, d]` and `human[k, d]` are the scores of system
k's text for document d. NaN and infinity are missing. A coefficient is NaN where
undefined, never 0: with fewer than two pairs, or a constant side. Several metrics are
an array with axes before these two, and results have the same axes.

`EVERY_COEFFICIENT` computes each coefficient for many rows of items. `WEIGHTED`
computes it for a row of finite items x, y (m,) under many sets of integer weights: an
item of weight w counts as w equal items, an item of weight 0 is left out. Items that
are always drawn together share a weight: `unit` (m,) is each item's column in `weights`
(resamples, units). Both use the same formulas (`product_moment`, `ratio`, `tau_c`);
weighted results are (resamples,).
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
    rankdata,
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
TIE = 1e-12  # system means closer than this, relative to the largest score, are equal
LONG_ROW = 256  # items above which sorting is faster than comparing all pairs
LONG_GROUP = 128  # the same for a single group, which is sorted by itself


class Correlation(NamedTuple):
    """A coefficient and its counts; arrays for several metrics."""

    value: Any  # float; true sign, -1 to 1; NaN if undefined
    # int; global: items; document: documents with a coefficient; system: systems
    n: Any
    n_undefined: Any  # int; documents without a coefficient (document level), else 0
    n_missing: Any  # int; cells with only one of the two scores


def pearson(x: ArrayLike, y: ArrayLike) -> Array:
    """Return Pearson's r along the last axis, over the pairs in which both are present.

    Shapes (..., n) give (...). NaN with fewer than two pairs or a side that is constant
    up to rounding.
    """
    a, b, present = _pair(x, y)
    weights = present.astype(np.float64)
    return product_moment(deviations(a, weights), deviations(b, weights), weights)


def spearman(x: ArrayLike, y: ArrayLike) -> Array:
    """Return Spearman's rho along the last axis: Pearson's r of the ranks, mean ranks for ties.

    Shapes and missing values as for `pearson`; ranks are taken among the complete
    pairs.
    """
    a, b, present = _pair(x, y)
    return product_moment(
        _ranks(a, present), _ranks(b, present), present.astype(np.float64)
    )


def kendall(x: ArrayLike, y: ArrayLike) -> Array:
    """Return Kendall's tau-b along the last axis: each side's denominator leaves out its ties.

    Shapes and missing values as for `pearson`. Source: Kendall 1945, The treatment of
    ties in ranking problems.
    """
    return _tau_by_rows(x, y, "b")


def kendall_c(x: ArrayLike, y: ArrayLike) -> Array:
    """Return Stuart's tau-c along the last axis, for unequal numbers of distinct values.

    2 (concordant - discordant) / (n**2 (m - 1) / m), m the smaller number of distinct
    values: it can stay below 1 although the order agrees perfectly. Shapes and missing
    values as for `pearson`. Source: Stuart 1953, The estimation and comparison of
    strengths of association.
    """
    return _tau_by_rows(x, y, "c")


# The coefficients in tables and reports, then all that can be requested.
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

    - global: all items with both scores, pooled.
    - document: across systems within a document, then the mean over the documents in
      which the coefficient is defined; the others are counted.
    - system: across systems, of each system's mean over the documents where it has both
      scores.

    Computes no p, since texts share documents and systems, and systems are few: see
    `independence`. Raises ValueError unless both arrays have the same (systems,
    documents) shape.
    """
    of = EVERY_COEFFICIENT[coefficient]

    def correlate_group(a: Array, b: Array, present: Mask) -> Correlation:
        nothing = np.zeros(len(a), dtype=np.intp)
        missing = np.sum(np.isfinite(a) != np.isfinite(b), axis=(1, 2))
        if level == "document":
            values = of(a.mT, b.mT)
            undefined = np.count_nonzero(np.isnan(values), axis=1)
            counts = values.shape[1] - undefined, undefined, missing
            return Correlation(mean_of_defined(values), *counts)
        if level == "system":
            scored = present.any(axis=1)
            means = system_means(a, b, np.ones((1, a.shape[2])))
            x, y = (np.ascontiguousarray(mean[:, 0, scored]) for mean in means)
        else:
            x, y = (np.ascontiguousarray(side[:, present]) for side in (a, b))
        return Correlation(of(x, y), nothing + x.shape[1], nothing, missing)

    return map_cells(correlate_group, metric, human)


def matrices(metric: ArrayLike, human: ArrayLike) -> tuple[Array, Array, Mask]:
    """Broadcast to float (..., systems, documents) arrays; also return where both are present."""
    a, b = (np.asarray(side, dtype=np.float64) for side in (metric, human))
    if min(a.ndim, b.ndim) < 2 or a.shape[-2:] != b.shape[-2:]:
        raise ValueError(
            f"metric and human: expected one shape (systems, documents), got {a.shape}, {b.shape}"
        )
    a, b = np.broadcast_arrays(a, b)
    return a, b, np.isfinite(a) & np.isfinite(b)


Result = TypeVar("Result", bound=tuple[Any, ...])


def map_cells(
    of: Callable[[Array, Array, Mask], Result], metric: ArrayLike, human: ArrayLike
) -> Result:
    """Call `of` once per group of metrics with the same cells, and merge the results.

    `of(a, b, present)` gets a, b (metrics, systems, documents) and the cells (systems,
    documents) in which both are present. It returns a tuple of arrays (metrics, ...) or
    None.
    """
    a, b, present = matrices(metric, human)
    axes, cells = a.shape[:-2], a.shape[-2:]
    shape = math.prod(axes), *cells
    a, b, present = a.reshape(shape), b.reshape(shape), present.reshape(shape)
    groups: dict[bytes, list[int]] = {}
    for place, mask in enumerate(present):
        groups.setdefault(mask.tobytes(), []).append(place)
    results = [
        of(a[places], b[places], present[places[0]]) for places in groups.values()
    ]
    back = np.argsort(np.concatenate([np.zeros(0, dtype=np.intp), *groups.values()]))
    if not results:  # for the shapes of the fields
        empty = np.full((1, *cells), np.nan)
        results = [of(empty, empty, np.zeros(cells, dtype=bool))]

    def join(fields: tuple[Any, ...]) -> Any:
        if fields[0] is None:
            return None
        merged = np.concatenate(fields)[back]
        shape = *axes, *merged.shape[1:]
        return merged.reshape(shape) if shape else merged.item()

    make: Any = getattr(results[0], "_make", tuple)
    result: Result = make(map(join, zip(*results, strict=True)))
    return result


def system_means(metric: Array, human: Array, weights: Array) -> tuple[Array, Array]:
    """Return each system's mean of both scores over the documents where it has both.

    Scores are (..., systems, documents); weights (r, documents) are how often each
    document counts. The results are (..., r, systems), NaN where a system has no
    documents; means that differ only by rounding are set equal.
    """
    present = np.isfinite(metric) & np.isfinite(human)

    def sum_documents(scores: Array) -> Array:
        rows = scores.reshape(math.prod(scores.shape[:-1]), scores.shape[-1])
        sums = weighted_sums(rows, weights).reshape(len(weights), *scores.shape[:-1])
        return np.ascontiguousarray(np.moveaxis(sums, 0, -2))

    counts = sum_documents(present.astype(np.float64))
    means = []
    for scores in (metric, human):
        filled = np.where(present, scores, 0.0)
        mean = quotient(sum_documents(filled), counts, counts > 0)
        largest = np.max(np.abs(filled), axis=(-2, -1), keepdims=True, initial=0.0)
        means.append(tie_near(mean, tolerance=TIE * largest))
    return means[0], means[1]


def tie_near(values: Array, *, tolerance: ArrayLike) -> Array:
    """Set values along the last axis that lie within `tolerance` of each other equal.

    The mean of .1 and .3 differs from that of .2 and .2 by a rounding error, which
    ranks must ignore, as they must the order of summation. NaN stays NaN.
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
    """Return tau of a row by scipy in n log n time, for rows too long for all pairs."""
    if x.size < 2 or np.all(x == x[0]) or np.all(y == y[0]):
        return np.nan
    from scipy.stats import kendalltau  # slow to import, as in exact_sums.rankdata

    return float(kendalltau(x, y, variant=variant).statistic)


def _pair(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array, Mask]:
    a, b = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
    present = np.isfinite(a) & np.isfinite(b)
    return np.where(present, a, 0.0), np.where(present, b, 0.0), present


def _ranks(x: Array, present: Mask) -> Array:
    # Twice the rank less its mean: whole numbers, so sums are exact and a constant is
    # exactly 0. Missing items sort last and so do not change the other ranks.
    ranks = rankdata(np.where(present, x, np.inf), axis=-1)
    mean = np.sum(present, axis=-1, keepdims=True) + 1.0
    return np.where(present, 2.0 * ranks - mean, 0.0)


def _tau_by_rows(x: ArrayLike, y: ArrayLike, variant: Variant) -> Array:
    a, b, present = _pair(x, y)
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
    # (2, rows, n, n): on both sides, the sign of each item less each other; 0 if
    # missing.
    both = present[:, :, None] & present[:, None, :]
    return np.stack(
        [np.sign(side[:, :, None] - side[:, None, :]) * both for side in (x, y)]
    )


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


# items above which sorting each resample beats comparing all pairs once
PAIRED_ITEMS = 2048
# spread, relative to that of all items, below which sums over units lose digits
CANCELS = 1e-2


def weighted_pearson(x: Array, y: Array, unit: Index, weights: Array) -> Array:
    """Return Pearson's r of each resample.

    Computed from sums over units, so that time does not grow with the items. In
    resamples with little spread such sums cancel: these are computed again from their
    items.
    """
    if x.size < 2:
        return np.full(len(weights), np.nan)
    ones = np.ones(x.size)
    a, b = deviations(x, ones), deviations(y, ones)
    terms = (ones, a, b, a * a, b * b, a * b)
    moments = np.array([np.bincount(unit, term, weights.shape[1]) for term in terms])
    sums = weighted_sums(moments, weights).T
    values, cancelled = pearson_of_sums(sums, np.sum(a * a), np.sum(b * b))
    again = np.flatnonzero(cancelled)
    for rows in blocks(again.size, x.size):
        times = weights[again[rows]][:, unit]
        centred = deviations(x, times), deviations(y, times)
        values[again[rows]] = product_moment(*centred, times)
    return values


def pearson_of_sums(
    sums: Iterable[Array], spread_x: ArrayLike, spread_y: ArrayLike
) -> tuple[Array, Mask]:
    """Return Pearson's r from sums of 1, x, y, xx, yy and xy, and where these cancel.

    `spread_x`, `spread_y`: the sums of xx and yy of all items, x and y less their
    means.
    """
    n, x, y, xx, yy, xy = sums
    n = np.maximum(n, 1.0)
    size_x, size_y = xx - x * x / n, yy - y * y / n
    stable = (size_x > np.multiply(CANCELS, spread_x)) & (
        size_y > np.multiply(CANCELS, spread_y)
    )
    sizes = (
        np.sqrt(np.where(stable, size_x, 0.0)),
        np.sqrt(np.where(stable, size_y, 0.0)),
    )
    return ratio(xy - x * y / n, *sizes), ~stable


def weighted_spearman(x: Array, y: Array, unit: Index, weights: Array) -> Array:
    """Return Spearman's rho of each resample, with ranks among its items; repeats are ties."""
    values = np.full(len(weights), np.nan)
    groups_x, groups_y = _groups(x), _groups(y)
    for rows in blocks(len(weights) if x.size else 0, x.size):
        times = weights[rows][:, unit]
        values[rows] = product_moment(
            _weighted_ranks(times, groups_x), _weighted_ranks(times, groups_y), times
        )
    return values


def _weighted_tau(
    x: Array, y: Array, unit: Index, weights: Array, variant: Variant
) -> Array:
    # Repeats of an item are tied on both sides.
    if x.size < 2:
        return np.full(len(weights), np.nan)
    if x.size > PAIRED_ITEMS:
        values = []
        for times in weights:
            items = np.repeat(np.arange(x.size), times[unit].astype(np.intp))
            values.append(sorted_kendall(x[items], y[items], variant))
        return np.array(values)
    agreement, untied_x, untied_y = _forms(x, y, unit, weights)
    if variant == "b":
        return ratio(agreement, np.sqrt(untied_x), np.sqrt(untied_y))
    distinct, n = np.empty((2, len(weights)))
    groups = _groups(x), _groups(y)
    for rows in blocks(len(weights), x.size):
        times = weights[rows][:, unit]
        n[rows] = np.sum(times, axis=1)
        counts = [np.add.reduceat(times[:, g.order], g.first, axis=1) for g in groups]
        distinct[rows] = np.minimum(*(np.count_nonzero(c, axis=1) for c in counts))
    return tau_c(agreement, n, distinct)


# Of a row of items x, y (m,) under weights (resamples, units); `unit` (m,) is each
# item's column.
WEIGHTED: dict[Coefficient, Callable[[Array, Array, Index, Array], Array]] = {
    "pearson": weighted_pearson,
    "spearman": weighted_spearman,
    "kendall": partial(_weighted_tau, variant="b"),
    "kendall_c": partial(_weighted_tau, variant="c"),
}


def _forms(x: Array, y: Array, unit: Index, weights: Array) -> Array:
    # Concordant less discordant pairs are a quadratic form in the weights. Its matrix
    # sums the signs of all pairs between two units, once for all resamples. (3,
    # resamples).
    order = np.argsort(unit, kind="stable")
    x, y = x[order], y[order]
    units, starts = np.unique(unit[order], return_index=True)
    times = weights[:, units].T
    sums = np.zeros((3, len(weights)))
    for rows in blocks(units.size, x.size * x.size // max(1, units.size)):
        forms = _pair_sums(x, y, starts, rows)
        # Whole numbers far below 2**53: BLAS is exact in any order of summation.
        sums += np.sum((forms @ times) * times[rows], axis=1)
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
    # Twice the rank less its mean: the weight of what is smaller less that of what is
    # larger.
    cumulated = np.cumsum(weights[:, groups.order], axis=1)[:, groups.last]
    ranks = cumulated - cumulated[:, -1:]
    ranks[:, 1:] += cumulated[:, :-1]
    return ranks[:, groups.group]


def _pair_sums(x: Array, y: Array, starts: Index, rows: slice) -> Array:
    # (3, units in rows, units): concordant less discordant pairs, pairs untied in x, in
    # y.
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
    """Count for each item of finite x, y (n,), over all other items: (3, n).

    Concordant less discordant pairs (without ties), items with another x, and items
    with another y.
    """
    n = x.size
    (rank_x, less_x, equal_x), (rank_y, less_y, equal_y) = (
        _less_and_equal(x),
        _less_and_equal(y),
    )
    # less x, or equal x and less y
    _, by_x, equal = _less_and_equal(rank_x * (n + 1) + rank_y)
    _, by_y, _ = _less_and_equal(rank_y * (n + 1) + rank_x)
    below = np.empty(n, dtype=np.int64)  # others that are less on both sides
    order = np.lexsort((-rank_y, rank_x))
    below[order] = _smaller_before(rank_y[order])
    balance = 4 * (below - less_x - less_y) + 2 * (by_x + by_y)
    return np.stack([balance + n - equal_x - equal_y + equal, n - equal_x, n - equal_y])


def taus_without(
    x: ArrayLike, y: ArrayLike, group: Index, groups: int, *, times: float = 1.0
) -> dict[Coefficient, Array]:
    """Return tau-b and tau-c along the last axis without each group of items: (..., groups) each.

    Subtracts the pairs of a group's items, so that all groups take the time of a single
    tau. `group` (n,) is each item's, 0 to groups - 1. Shapes and missing values as for
    `pearson`. Counts are of ordered pairs; the factor `times` affects only the last bit
    of tau-b.
    """
    a, b, present = _pair(x, y)
    shape = math.prod(a.shape[:-1]), a.shape[-1]
    p, q, both = a.reshape(shape), b.reshape(shape), present.reshape(shape)
    remaining, distinct = np.empty((3, len(p), groups)), np.empty((len(p), groups))
    count = _counts_without if shape[1] <= LONG_ROW else _long_counts_without
    for rows in blocks(len(p), shape[1] * shape[1]):  # a long row alone
        remaining[:, rows] = count(p[rows], q[rows], both[rows], group, groups)
        counts = (
            _distinct_without(side[rows], both[rows], group, groups) for side in (p, q)
        )
        distinct[rows] = np.minimum(*counts)
    agreement, untied_x, untied_y = times * remaining
    n = sums_by(group, both.astype(np.float64), groups)
    n = n.sum(axis=1, keepdims=True) - n
    taus: dict[Coefficient, Array] = {
        "kendall": ratio(agreement, np.sqrt(untied_x), np.sqrt(untied_y)),
        "kendall_c": tau_c(remaining[0], n, distinct),
    }
    return {name: tau.reshape(*a.shape[:-1], groups) for name, tau in taus.items()}


def _counts_without(
    x: Array, y: Array, present: Mask, group: Index, groups: int
) -> Array:
    # (3, rows, groups): the counts of `concordance` over all ordered pairs without each
    # group.
    sign_x, sign_y = _signs(x, y, present)
    same = (group[:, None] == group).astype(np.float64)
    remaining = []
    for signs in (sign_x * sign_y, np.abs(sign_x), np.abs(sign_y)):
        per_item, within = signs.sum(axis=2), np.einsum("rij,ij->ri", signs, same)
        total = per_item.sum(axis=1, keepdims=True)
        remaining.append(total - sums_by(group, 2 * per_item - within, groups))
    return np.stack(remaining)


def _long_counts_without(
    x: Array, y: Array, present: Mask, group: Index, groups: int
) -> Array:
    # The same for one long row (1, n).
    x, y, group = x[present], y[present], group[present[0]]
    per_item = concordance(x, y).astype(np.float64)
    remaining = per_item.sum(axis=1, keepdims=True) - 2 * sums_by(
        group, per_item, groups
    )
    for number in np.flatnonzero(np.bincount(group, minlength=groups) > 1):
        members = group == number
        remaining[:, number] += _count_pairs(x[members], y[members])
    return np.asarray(remaining[:, None])


def _count_pairs(x: Array, y: Array) -> Array:
    # (3,): the counts of `concordance` over all ordered pairs of finite items (n,).
    if x.size > LONG_GROUP:
        return np.asarray(concordance(x, y).sum(axis=1), dtype=np.float64)
    sign_x, sign_y = (np.sign(side[:, None] - side) for side in (x, y))
    return np.array([np.sum(sign_x * sign_y), *map(np.count_nonzero, (sign_x, sign_y))])


def _distinct_without(x: Array, present: Mask, group: Index, groups: int) -> Array:
    # (rows, groups): the number of distinct values without each group.
    key, of_items = np.where(present, x, np.inf), np.broadcast_to(group, x.shape)
    order = np.lexsort((of_items, key))
    key, of_items = (
        np.take_along_axis(side, order, axis=1) for side in (key, of_items)
    )
    new = np.ones((len(x), x.shape[1] + 1), dtype=bool)
    new[:, 1:-1] = key[:, 1:] != key[:, :-1]
    first, last = (new[:, edge] & np.isfinite(key) for edge in (np.s_[:-1], np.s_[1:]))
    single_group = of_items[first] == of_items[last]  # a single group has the value
    place = (np.nonzero(first)[0] * groups + of_items[first])[single_group]
    lost = np.bincount(place, minlength=len(x) * groups).reshape(len(x), groups)
    return np.asarray(first.sum(axis=1, keepdims=True) - lost, dtype=np.float64)


def _less_and_equal(key: NDArray[Any]) -> tuple[Index, Index, Index]:
    # Each item's place among the distinct keys; numbers of items with a smaller and an
    # equal key.
    _, place, count = np.unique(key, return_inverse=True, return_counts=True)
    return place, (np.cumsum(count) - count)[place], count[place]


def _smaller_before(rank: Index) -> Counts:
    # The number of smaller items before each: merge sort, all blocks of one width at a
    # time.
    n, largest = rank.size, int(rank.max(initial=0)) + 1
    order: Index = np.arange(n)  # each block ascending
    smaller = np.zeros(n, dtype=np.int64)
    width = 1
    while width < n:
        block, left = order // (2 * width), (order // width) % 2 == 0
        # Of equal ranks the right half's come first, so that only smaller ones count.
        sort = np.argsort((block * largest + rank[order]) * 2 + left, kind="stable")
        order, left, block = order[sort], left[sort], block[sort]
        n_left = np.cumsum(left)
        starts = np.append(True, block[1:] != block[:-1])
        before = np.maximum.accumulate(np.where(starts, n_left - left, 0))
        smaller[order[~left]] += (n_left - before)[~left]
        width *= 2
    return smaller
