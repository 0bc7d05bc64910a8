"""Kendall's taus of all items, and without each of several groups, in n log n.

An item's concordance is how many others it is ordered with alike on both sides, less how many
unlike. Leaving a group out takes its items' concordance away and puts back what was counted twice.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metassay.statistics.arithmetic import Array, ratio, tau_c

Counts = NDArray[np.int64]
Index = NDArray[np.intp]


class Concordance(NamedTuple):
    """Per item, over all other items."""

    agreed: Counts  # pairs ordered alike less pairs ordered unlike
    untied_x: Counts  # others with another x
    untied_y: Counts


def concordance(x: Array, y: Array) -> Concordance:
    """Count for items x, y (n,), finite. Ties on either side count for neither order."""
    n = x.size
    rank_x = np.unique(x, return_inverse=True)[1].astype(np.int64)
    rank_y = np.unique(y, return_inverse=True)[1].astype(np.int64)
    less_x, equal_x = _less_and_equal(rank_x)
    less_y, equal_y = _less_and_equal(rank_y)
    both = np.lexsort((rank_y, rank_x))  # by x, then y
    less_y_of_equal_x, equal_both = _within(rank_x, rank_y, both)
    less_x_of_equal_y, _ = _within(rank_y, rank_x, np.lexsort((rank_x, rank_y)))
    below = np.empty(n, dtype=np.int64)  # others that are less on both sides
    order = np.lexsort((-rank_y, rank_x))
    below[order] = _smaller_before(rank_y[order])
    below_above = less_x - below - less_x_of_equal_y
    above_below = less_y - below - less_y_of_equal_x
    not_above = below + less_x_of_equal_y + less_y_of_equal_x + equal_both
    above = n - (less_x + equal_x) - (less_y + equal_y) + not_above
    return Concordance(below + above - below_above - above_below, n - equal_x, n - equal_y)


def taus_without(
    x: Array, y: Array, whole: Concordance, group: Index, groups: int
) -> tuple[Array, Array]:
    """tau-b and tau-c of the items outside each group, (groups,) each; NaN where undefined.

    `whole` is `concordance(x, y)`; `group` (n,) is each item's, 0 to groups - 1.
    """
    sums = np.array([part.sum() / 2.0 for part in whole])
    left = np.empty((3, groups))
    distinct = np.empty(groups)
    size = np.bincount(group, minlength=groups)
    ranks = [np.unique(side, return_inverse=True)[1] for side in (x, y)]
    for one in range(groups):
        inside = group == one
        within = concordance(x[inside], y[inside])
        for place in range(3):
            twice = within[place].sum() / 2.0
            left[place, one] = sums[place] - whole[place][inside].sum() + twice
        distinct[one] = min(np.count_nonzero(np.bincount(rank[~inside])) for rank in ranks)
    agreed, untied_x, untied_y = left
    n = (x.size - size).astype(np.float64)
    return ratio(agreed, np.sqrt(untied_x), np.sqrt(untied_y)), tau_c(2.0 * agreed, n, distinct)


def _less_and_equal(rank: Counts) -> tuple[Counts, Counts]:
    count = np.bincount(rank)
    less = np.concatenate(([0], np.cumsum(count)[:-1])) if rank.size else count
    return less[rank], count[rank]


def _within(rank_a: Counts, rank_b: Counts, order: Index) -> tuple[Counts, Counts]:
    # Others with equal a: how many have less b, and how many equal b (the item itself included).
    n = rank_a.size
    less, equal = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    if not n:
        return less, equal
    a, b = rank_a[order], rank_b[order]
    new_a = np.append(True, a[1:] != a[:-1])
    new_both = new_a | np.append(True, b[1:] != b[:-1])
    start_a = np.maximum.accumulate(np.where(new_a, np.arange(n), 0))
    start_both = np.maximum.accumulate(np.where(new_both, np.arange(n), 0))
    less[order] = start_both - start_a
    number = np.cumsum(new_both) - 1
    equal[order] = np.bincount(number)[number]
    return less, equal


def _smaller_before(rank: Counts) -> Counts:
    # How many items before each are smaller: merge sort, all blocks of one width at a time.
    n = rank.size
    order: Index = np.arange(n)  # each block ascending
    found = np.zeros(n, dtype=np.int64)
    width = 1
    largest = int(rank.max(initial=0)) + 1
    while width < n:
        block, left = order // (2 * width), (order // width) % 2 == 0
        # The right half's item stands before the left half's of equal rank: only smaller count.
        keys = (block * largest + rank[order]) * 2 + left
        sort = np.argsort(keys, kind="stable")
        order, left, block = order[sort], left[sort], block[sort]
        seen = np.cumsum(left)
        starts = np.append(True, block[1:] != block[:-1])
        before = np.maximum.accumulate(np.where(starts, seen - left, 0))
        right = ~left
        found[order[right]] += (seen - before)[right]
        width *= 2
    return found
