"""Ratings that are an exact copy of others, beyond what chance explains."""

from collections.abc import Iterator

import numpy as np
import scipy.special

from metassay.statistics.exact_sums import Array

BY_CHANCE = 1e-3  # probability that independent ratings would be equal
FEWEST = 5  # texts that both rated
_EXACT = 1e-9  # relative to the range


def equal_pairs(ratings: Array) -> Iterator[tuple[int, int, int]]:
    """Yield each two rows of (raters, texts) that are equal where both are known, and n.

    Rows with so few or so equal ratings that they may be equal by chance are left out:
    of all orders of one row's ratings, at most one in 1,000 may be the same.

    >>> list(equal_pairs(np.array([[1.0, 2, 3, 4, 5, 1, 2, 3], [1, 2, 3, 4, 5, 1, 2, 3]])))
    [(0, 1, 8)]
    """
    known = np.isfinite(ratings)
    shared = known.astype(np.float64) @ known.T.astype(np.float64)
    for a, b in np.argwhere(np.triu(shared >= FEWEST, 1)):
        both = known[a] & known[b]
        x, y = ratings[a, both], ratings[b, both]
        if np.array_equal(x, y) and not _may_be_chance(x):
            yield int(a), int(b), int(both.sum())


def count_copied(scores: Array, ratings: Array) -> int:
    """Return how many texts have both, if the scores are the ratings on a scale of their own.

    0 if they are not, or may be so by chance. `scores` and `ratings` are (texts,).
    """
    both = np.isfinite(scores) & np.isfinite(ratings)
    x, y = scores[both], ratings[both]
    if x.size < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0 or _may_be_chance(y):
        return 0
    x = (x - x.min()) / np.ptp(x)
    y = (y - y.min()) / np.ptp(y)
    equal = np.max(np.abs(x - y)) < _EXACT or np.max(np.abs(x - (1 - y))) < _EXACT
    return int(x.size) if equal else 0


def _may_be_chance(values: Array) -> bool:
    count = np.unique(values, return_counts=True)[1]
    orders = scipy.special.gammaln(values.size + 1) - np.sum(
        scipy.special.gammaln(count + 1)
    )
    return bool(orders < -np.log(BY_CHANCE))
