"""Raters whose scale seems turned round, and raters who agree less than the others.

With one of three raters turned round, the others agree with a mean in which they cancel
out, and a poor metric agrees with it as well as they do. Agreement of two raters is
Spearman's correlation on the texts that both rated: a lenient rater can agree well.
Intervals leave out groups of documents in turn.
"""

from typing import NamedTuple

import numpy as np
import scipy.special

from metassay.statistics.exact_sums import (
    Array,
    Mask,
    mean_of_defined,
    quotient,
    rankdata,
    sums_by,
)
from metassay.statistics.jackknife import units_of
from metassay.statistics.layout import Layout

LEVEL = 0.01  # of all raters of a study together
FEWEST = 5  # texts that two raters must share


class DoubtedRaters(NamedTuple):
    """Places of raters, in the order of the ratings."""

    turned: tuple[int, ...]  # those, or else all others, seem turned round
    apart: tuple[int, ...]  # these agree less with the others than those do
    agreement: float = np.nan  # mean correlation of `turned` with the others


NOBODY = DoubtedRaters((), ())


def find_doubted_raters(ratings: Array, layout: Layout) -> DoubtedRaters:
    """Return who of the raters (raters, systems, documents) seems turned round, or apart.

    Turned: the mean correlation with the other raters is negative, and so is its upper
    end; and none is positive by half as much. Several raters are turned together if
    they agree with each other and with nobody else. Of two raters, either may be.
    Apart: the lower end of the gap between the others' mean correlation with each
    other, and theirs with this rater, is above 0. All ends hold together with a
    confidence of 99 %.
    """
    n = len(ratings)
    if n < 2:
        return NOBODY
    whole, without = _pairwise(ratings, layout)
    candidates = {tuple(np.flatnonzero(camp)): camp for camp in _camps(whole)}
    turned: tuple[float, tuple[int, ...]] | None = None
    for places, camp in candidates.items():
        across = camp[:, None] & ~camp[None, :]
        cells = whole[across]
        known = cells[~np.isnan(cells)]
        # A rater who rates at random agrees a little with anybody.
        if not known.size or known.max() >= -known.mean() / 2 or _disagree(whole, camp):
            continue
        mean, reach = _mean_with_reach(whole, without, across, LEVEL / len(candidates))
        if mean + reach < 0 and (turned is None or mean < turned[0]):
            turned = mean, places
    if turned is not None:
        places = tuple(int(place) for place in turned[1])
        return DoubtedRaters(places, (), agreement=turned[0])
    apart = [rater for rater in range(n) if _stands_apart(whole, without, rater)]
    return DoubtedRaters((), tuple(apart))


def _camps(whole: Array) -> list[Mask]:
    """Return the groups of raters that may be turned: each rater, and the minority's camp."""
    n = len(whole)
    if n == 2:
        return [np.array([True, False])]
    camps = [np.arange(n) == rater for rater in range(n)]
    known = np.where(np.isnan(whole), 0.0, whole)
    # Raters of one camp agree, those of two camps disagree: the signs of the first
    # principal component. Power iterations, as the rounding of LAPACK differs between
    # processors.
    signs = known + np.eye(n) * n
    direction = known.sum(axis=0) + np.arange(1, n + 1) / n
    for _ in range(100):
        direction = np.sum(signs * direction, axis=1)
        direction = direction / np.sqrt(np.sum(direction**2))
    camp = direction < 0
    camp = ~camp if camp.sum() * 2 > n else camp
    if camp.any():
        camps.append(camp)
    return camps


def _disagree(whole: Array, camp: Mask) -> bool:
    """Whether raters of either camp disagree with each other."""
    for side in (camp, ~camp):
        pairs = np.triu(side[:, None] & side[None, :], 1)
        if pairs.any() and mean_of_defined(whole[pairs]) < 0:
            return True
    return False


def _stands_apart(whole: Array, without: Array, rater: int) -> bool:
    n = len(whole)
    if n < 3:
        return False
    with_rater = np.zeros((n, n), dtype=bool)
    with_rater[rater] = np.arange(n) != rater
    others = np.triu(np.ones((n, n), dtype=bool), 1)
    others[rater] = others[:, rater] = False
    gap = _mean_of(whole[None], others) - _mean_of(whole[None], with_rater)
    gaps = _mean_of(without, others) - _mean_of(without, with_rater)
    reach = _reach(gaps, LEVEL / n)
    return bool(gap[0] - reach > 0)


def _mean_with_reach(
    whole: Array, without: Array, cells: Mask, level: float
) -> tuple[float, float]:
    mean = float(_mean_of(whole[None], cells)[0])
    return mean, _reach(_mean_of(without, cells), level)


def _mean_of(correlations: Array, cells: Mask) -> Array:
    """Return the mean over some pairs of raters of (..., raters, raters) correlations."""
    return np.asarray(mean_of_defined(correlations[..., cells]))


def _reach(values: Array, level: float) -> float:
    """Return how far a one-sided end is from the value, by its leave-outs; NaN if unknown."""
    known = values[~np.isnan(values)]
    if known.size < 3:
        return np.nan
    n = known.size
    variance = (n - 1) * float(np.mean((known - np.mean(known)) ** 2))
    return float(scipy.special.stdtrit(n - 1, 1.0 - level)) * float(np.sqrt(variance))


def _pairwise(ratings: Array, layout: Layout) -> tuple[Array, Array]:
    """Correlate all raters: (raters, raters), and (groups, raters, raters) without each.

    Groups of documents are those of `jackknife`. Ranks are those of all texts that two
    raters share, also where a group is left out.
    """
    n = len(ratings)
    units = units_of(layout)
    groups = units.n[1]
    table = ratings.reshape(n, -1)
    group = np.broadcast_to(units.document, ratings.shape[1:]).ravel()
    whole, without = np.full((n, n), np.nan), np.full((groups, n, n), np.nan)
    for a in range(n):
        for b in range(a + 1, n):
            both = np.isfinite(table[a]) & np.isfinite(table[b])
            if both.sum() < FEWEST:
                continue
            x, y = (rankdata(table[rater, both]) for rater in (a, b))
            x, y = x - x.mean(), y - y.mean()
            parts = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y])
            of_group = sums_by(group[both], parts, groups)
            total = of_group.sum(axis=1, keepdims=True)
            whole[a, b] = whole[b, a] = _pearson(total)[0]
            left = _pearson(total - of_group)
            # A group without any of their texts changes nothing.
            left = np.where(of_group[0] > 0, left, np.nan)
            without[:, a, b] = without[:, b, a] = left
    return whole, without


def _pearson(sums: Array) -> Array:
    n, x, y, xx, yy, xy = sums
    count = np.maximum(n, 1.0)
    size = (xx - x * x / count) * (yy - y * y / count)
    defined = (n >= 3) & (size > 1e-9)
    return quotient(xy - x * y / count, np.sqrt(np.where(defined, size, 1.0)), defined)
