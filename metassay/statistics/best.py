"""Is the best of several metrics better than each other one, though it was picked on the same data?

All pairs are tested at once by the largest standardised difference: source Tukey 1953, The problem
of multiple comparisons, by bootstrap instead of the studentised range (Westfall and Young 1993).
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from metassay.statistics.exact_sums import Array

ENOUGH = 0.5  # the share of resamples that must have a difference


def behind_best(draws: Array, best: int, n: float) -> Array:
    """p (metrics,) of each metric's being as good as metric `best`; NaN of the best itself.

    `draws` is (1 + resamples, metrics, metrics): at [., i, j] the value of metric j less that of
    metric i, more being better; first that of the data. n: how many things were drawn from, or what
    they are worth where some hold more than others (`document_means.worth`). The chance that any p
    of metrics that are equally good in truth is below a is at most about a, however many there are
    and whichever was picked as the best: a difference over its bootstrap standard error is held
    against the largest such deviation, of resampled differences from those of the data, among all
    pairs. The largest are as far out as Student's t with (n - 1) / 2 degrees
    is where the normal distribution has them: half of n - 1, since products of scores, which
    correlations are made of, have longer tails than scores. A pair without a difference in the data
    or in half of the resamples takes no part, nor one whose difference never varies; with n below 2
    all p are NaN.
    """
    size = draws.shape[1]
    p = np.full(size, np.nan)
    if n < 2:
        return p
    off = draws[1:] - draws[0]
    there = np.isfinite(off)
    count = there.sum(axis=0)
    error = np.sqrt(np.where(there, off**2, 0.0).sum(axis=0) / np.maximum(count, 1))
    able = np.isfinite(draws[0]) & (count >= ENOUGH * len(off)) & (error > 0)
    # A resample without a difference speaks for no metric.
    far = np.where(there, off, np.inf)[:, able] / error[able]
    most = _stretched(far.max(axis=1, initial=-np.inf), n)
    for metric in np.flatnonzero(able[:, best]):
        reached = most >= draws[0, metric, best] / error[metric, best]
        p[metric] = (1 + np.count_nonzero(reached)) / (1 + len(off))
    return p


def apart(draws: Array, n: float, alpha: float) -> NDArray[np.bool_]:
    """Which two of (metrics,) differ, all pairs tested at once: (metrics, metrics).

    `draws` and n as for `behind_best`, two-sided: every metric is taken for the best in turn. Where
    all are equally good in truth, the chance that any two are told apart is at most about alpha.
    """
    ahead = np.array([behind_best(draws, one, n) for one in range(draws.shape[1])])
    found: NDArray[np.bool_] = np.fmin(ahead, ahead.T) < alpha
    return found


def places(values: Array) -> NDArray[np.int64]:
    """1 for the best of (metrics,), more being better, and so on; equal values share a place.

    0 where there is no value. .5, .7, NaN, .7: 3, 1, 0, 1.
    """
    there = np.isfinite(values)
    better = np.sum(values[there][:, None] < values[there][None, :], axis=1)
    found = np.zeros(len(values), dtype=np.int64)
    found[there] = 1 + better
    return found


def compact_letters(apart: NDArray[np.bool_], order: Iterable[int]) -> list[str]:
    """Letters of (things, things): two share one exactly where they are not `apart`.

    Letters are given in this order of the things. Source: Piepho 2004, An algorithm for a
    letter-based representation of all-pairwise comparisons (insert and absorb).
    """
    groups = [frozenset(range(len(apart)))]
    for one, other in zip(*np.nonzero(np.triu(apart, 1)), strict=True):
        split = [
            part
            for group in groups
            for part in ((group - {one}, group - {other}) if {one, other} <= group else (group,))
        ]
        unique = list(dict.fromkeys(split))
        groups = [group for group in unique if not any(group < wider for wider in unique)]
    rank = {thing: place for place, thing in enumerate(order)}
    groups.sort(key=lambda group: sorted(rank[thing] for thing in group))
    names = list(_letters(len(groups)))
    return [
        "".join(name for name, group in zip(names, groups, strict=True) if thing in group)
        for thing in range(len(apart))
    ]


def _letters(number: int) -> Sequence[str]:
    """a to z, then A to Z, then the next ones of Unicode's letters."""
    codes = [*range(97, 123), *range(65, 91), *range(0x3B1, 0x3B1 + max(0, number - 52))]
    return [chr(code) for code in codes[:number]]


def _stretched(deviations: Array, n: float) -> Array:
    stretched: Array = -stdtrit((n - 1) / 2, ndtr(-deviations)) * np.sqrt(n / (n - 1))
    return np.where(np.isinf(deviations), deviations, stretched)
