"""Is the best of several metrics better than each other, though it was chosen on the same data?

All pairs are tested at once by the largest standardised difference. Source: Tukey 1953,
The problem of multiple comparisons, by bootstrap instead of the studentised range
(Westfall and Young 1993).
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from metassay.statistics.exact_sums import Array

ENOUGH = 0.5  # share of resamples that must have a difference


def compare_with_best(draws: Array, best: int, n: float) -> Array:
    """Return p (metrics,) that each metric is as good as metric `best`; NaN for the best itself.

    `draws` is (1 + resamples, metrics, metrics): at [., i, j] the value of metric j
    less that of metric i, higher is better; first the data. n: the number of resampled
    units, or their effective number (`document_means.worth`). For equally good metrics,
    the probability that any p is below a is at most about a, for any number of metrics
    and any choice of the best: a difference divided by its bootstrap standard error is
    compared with the largest such deviation of resampled differences from the data's,
    among all pairs. These are stretched from normal quantiles to those of Student's t
    with (n - 1) / 2 degrees of freedom: half of n - 1, since products of scores, of
    which correlations consist, have longer tails than scores. A pair without a
    difference in the data or in half of the resamples, or whose difference never
    varies, is left out; with n below 2 all p are NaN.
    """
    size = draws.shape[1]
    p = np.full(size, np.nan)
    if n < 2:
        return p
    deviations = draws[1:] - draws[0]
    defined = np.isfinite(deviations)
    count = defined.sum(axis=0)
    error = np.sqrt(
        np.where(defined, deviations**2, 0.0).sum(axis=0) / np.maximum(count, 1)
    )
    testable = np.isfinite(draws[0]) & (count >= ENOUGH * len(deviations)) & (error > 0)
    # A resample without a difference is evidence for no metric.
    standardised = np.where(defined, deviations, np.inf)[:, testable] / error[testable]
    largest = standardised.max(axis=1, initial=-np.inf)
    stretched = -stdtrit((n - 1) / 2, ndtr(-largest)) * np.sqrt(n / (n - 1))
    largest = np.where(np.isinf(largest), largest, stretched)
    for metric in np.flatnonzero(testable[:, best]):
        extreme = largest >= draws[0, metric, best] / error[metric, best]
        p[metric] = (1 + np.count_nonzero(extreme)) / (1 + len(deviations))
    return p


def apart(draws: Array, n: float, alpha: float) -> NDArray[np.bool_]:
    """Return which metrics differ, all pairs tested at once: (metrics, metrics).

    `draws` and n as for `compare_with_best`; two-sided, with each metric as the best in turn.
    If all are equally good, the probability that any two differ is at most about alpha.
    """
    ahead = np.array(
        [compare_with_best(draws, best, n) for best in range(draws.shape[1])]
    )
    differ: NDArray[np.bool_] = np.fmin(ahead, ahead.T) < alpha
    return differ


def places(values: Array) -> NDArray[np.int64]:
    """Rank (metrics,) from 1, the highest value; equal values share a rank.

    0 for NaN. .5, .7, NaN, .7: 3, 1, 0, 1.
    """
    defined = np.isfinite(values)
    n_better = np.sum(values[defined][:, None] < values[defined][None, :], axis=1)
    ranks = np.zeros(len(values), dtype=np.int64)
    ranks[defined] = 1 + n_better
    return ranks


def compact_letters(apart: NDArray[np.bool_], order: Iterable[int]) -> list[str]:
    """Assign letters to items: two share a letter exactly where they are not `apart`.

    `apart` is (items, items); letters follow `order`. Source: Piepho 2004, An algorithm
    for a letter-based representation of all-pairwise comparisons (insert and absorb).
    """
    groups = [frozenset(range(len(apart)))]
    for i, j in zip(*np.nonzero(np.triu(apart, 1)), strict=True):
        split = [
            part
            for group in groups
            for part in ((group - {i}, group - {j}) if {i, j} <= group else (group,))
        ]
        unique = list(dict.fromkeys(split))
        groups = [
            group for group in unique if not any(group < wider for wider in unique)
        ]
    rank = {thing: place for place, thing in enumerate(order)}
    groups.sort(key=lambda group: sorted(rank[thing] for thing in group))
    # a to z, then A to Z, then Greek and further letters of Unicode.
    codes = [
        *range(97, 123),
        *range(65, 91),
        *range(0x3B1, 0x3B1 + max(0, len(groups) - 52)),
    ]
    names = [chr(code) for code in codes[: len(groups)]]
    return [
        "".join(
            name for name, group in zip(names, groups, strict=True) if thing in group
        )
        for thing in range(len(apart))
    ]
