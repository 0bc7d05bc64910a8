"""Does one rater agree less with the others than these do with each other?

Ratings are (raters, items), NaN where a rater did not rate.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metassay.statistics import weighted
from metassay.statistics.agreement import rated
from metassay.statistics.arithmetic import Array, blocks
from metassay.statistics.resampling import HELD

Units = NDArray[np.intp]


class Below(NamedTuple):
    """How far a rater's agreement with the others lies below theirs; positive: it is less."""

    value: float  # NaN if undefined
    low: float
    high: float
    n: int  # items that the rater and another one rated
    n_missing: int  # items that only the rater, or only others rated
    n_resamples: int  # resamples in which it is defined


class _Pair(NamedTuple):
    """Two raters' ratings of the items that both rated, and the units of these."""

    raters: tuple[int, int]
    ratings: Array
    unit: Units


def below_others(
    ratings: ArrayLike, unit: Units, *, n: int, confidence: float, rng: np.random.Generator
) -> list[Below]:
    """One per rater: the others' agreement among themselves less the rater's with them.

    Agreement is the mean of Spearman's correlations of two raters, of the items that both rated:
    who is lenient throughout agrees as well as anybody. Intervals are percentiles of n resamples
    of units: items of one `unit` (items,), as the claims of one text, are drawn together. The
    raters' low ends hold all at once with the `confidence`, by Bonferroni, so that somebody may be
    named whose low end is above 0 although nobody was suspected beforehand: with a confidence
    of .95, of three to five equal raters of 10 to 60 texts somebody was named in 0 to 6.3 % of
    simulated studies (docs/calibration.md), in fewest where most ratings are one grade. A
    resample in which the value is undefined counts as no gap. NaN with fewer than three raters,
    where no two of the others share two items or more, and where fewer than half of the
    resamples are defined. Raises ValueError unless ratings are two-dimensional.
    """
    table = rated(ratings)
    known = np.isfinite(table)
    pairs = [
        _Pair((a, b), table[[a, b]][:, both], unit[both])
        for a, b in combinations(range(len(table)), 2)
        for both in [known[a] & known[b]]
    ]
    size = int(unit.max(initial=-1)) + 1
    gaps = np.full((1 + n, len(table)), np.nan)
    if len(table) > 2 and size:
        gaps[0] = _gaps(pairs, len(table), np.ones((1, size)))
        for rows, weights in _draws(n, size, rng):
            gaps[1:][rows] = _gaps(pairs, len(table), weights)
    tail = (1.0 - confidence) / max(1, len(table))
    found = []
    for rater, (value, *drawn) in enumerate(gaps.T):
        n_defined = int(np.isfinite(drawn).sum())
        ends = (np.nan, np.nan)
        if np.isfinite(value) and 2 * n_defined >= n:
            # Where nearly all ratings are one grade, those few texts that differ are often not
            # drawn. Were these resamples left out, one text would be enough to name somebody.
            ends = np.quantile(np.nan_to_num(drawn), (tail, 1.0 - tail))
        others = np.delete(known, rater, axis=0).any(axis=0)
        shared = int(np.sum(known[rater] & others))
        lost = int(np.sum(known[rater] ^ others))
        low, high = map(float, ends)
        found.append(Below(float(value), low, high, shared, lost, n_defined))
    return found


def _gaps(pairs: Sequence[_Pair], raters: int, weights: Array) -> Array:
    """(resamples, raters): the others' agreement less the rater's."""
    of_pairs = np.stack(
        [weighted.spearman(one.ratings[0], one.ratings[1], one.unit, weights) for one in pairs]
    )
    gaps = np.empty((len(weights), raters))
    for rater in range(raters):
        mine = np.array([rater in one.raters for one in pairs])
        gaps[:, rater] = _mean(of_pairs[~mine]) - _mean(of_pairs[mine])
    return gaps


def _mean(values: Array) -> Array:
    """Mean along the first axis of the values that there are; NaN of none."""
    there = np.isfinite(values)
    count = np.sum(there, axis=0)
    total = np.sum(np.where(there, values, 0.0), axis=0)
    mean: Array = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return mean


def _draws(n: int, size: int, rng: np.random.Generator) -> Iterator[tuple[slice, Array]]:
    """How often each resample drew each unit, a block of resamples at a time."""
    for rows in blocks(n, size, numbers=HELD):
        many = len(range(*rows.indices(n)))
        places = rng.integers(size, size=(many, size)) + size * np.arange(many)[:, None]
        tallies = np.bincount(places.ravel(), minlength=many * size)
        yield rows, tallies.reshape(many, size).astype(np.float64)
