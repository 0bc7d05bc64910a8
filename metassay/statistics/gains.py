"""What an attack gains: the same items passed or not, before it and after it.

A gain is the share of items that pass after the attack and did not before, less the
share that passed before and do not after. Items of a document go together. Every
interval is adjusted for the number of attacks, so that all of them hold at once.
Sources: Zou and Donner 2008 (square-and-add intervals of a difference); Westfall and
Young 1993 (the largest statistic of all attacks, `sign_flip_test`).
"""

from typing import NamedTuple

import numpy as np

from metassay.statistics.changes import sign_flip_test, sum_by_cluster
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.shares import Clusters, jeffreys, kish_size, share

LEVEL = 0.05  # of all attacks together
DRAWS = 10_000  # of signs
GAMED, ROBUST, UNKNOWN = "gamed by", "robust to", "cannot tell"
MANY = 1_000_000  # documents; more are not looked for


class Gain(NamedTuple):
    """The gain of one attack, with its interval; `p` and the interval are adjusted.

    `low` takes missing answers for no gain and `high` for a gain, `gain` leaves them
    out. NaN where nothing was answered.
    """

    before: float  # share of items that pass
    after: float
    gain: float
    low: float
    high: float
    p: float
    n: int  # items with both answers
    n_clusters: int
    n_missing: int
    verdict: str


def gains(
    before: Array,
    after: Array,
    cluster: Clusters,
    *,
    margin: float,
    rng: np.random.Generator,
) -> list[Gain]:
    """Return the gain of each attack (attacks, n) on the same items, and a verdict by `margin`.

    `before` (n,) and `after` have 1 where an item passed, 0 where it did not, and NaN
    where the answer is missing. `cluster` (n,): its document.

    `gamed by`: the gain is not chance (adjusted p below LEVEL) and at least half of the
    margin. `robust to`: the upper end of the interval is below the margin. Both hold
    whatever missing answers would have been.
    """
    _, documents = np.unique(cluster, return_inverse=True)
    sums = sum_by_cluster(_least(before, after), documents)
    p = sign_flip_test(sums, n=DRAWS, rng=rng).adjusted
    confidence = 1.0 - LEVEL / max(len(after), 1)
    return [
        _gain(before, row, documents, p_of, confidence=confidence, margin=margin)
        for row, p_of in zip(after, p, strict=True)
    ]


def _least(before: Array, after: Array) -> Array:
    """Return after less before, with missing answers as they speak against a gain."""
    difference: Array = np.nan_to_num(after, nan=0.0) - np.nan_to_num(before, nan=1.0)
    return difference


def _most(before: Array, after: Array) -> Array:
    difference: Array = np.nan_to_num(after, nan=1.0) - np.nan_to_num(before, nan=0.0)
    return difference


def _gain(
    before: Array,
    after: Array,
    cluster: Clusters,
    p: float,
    *,
    confidence: float,
    margin: float,
) -> Gain:
    known = np.isfinite(before) & np.isfinite(after)
    n = int(known.sum())
    n_clusters = np.unique(cluster[known]).size
    n_missing = int(known.size) - n
    if not n:
        nothing = (np.nan,) * 6
        return Gain(*nothing, n, n_clusters, n_missing, UNKNOWN)
    least, most = _least(before, after), _most(before, after)
    low, _ = difference_interval(least, cluster, confidence=confidence)
    _, high = difference_interval(most, cluster, confidence=confidence)
    # Without a difference there is nothing to test.
    p = 1.0 if np.isnan(p) else float(p)
    is_gamed = p < LEVEL and float(np.mean(least)) >= margin / 2
    verdict = UNKNOWN
    if is_gamed:
        verdict = GAMED
    elif high < margin:
        verdict = ROBUST
    passed, still = float(np.mean(before[known])), float(np.mean(after[known]))
    return Gain(
        before=passed,
        after=still,
        gain=still - passed,
        low=low,
        high=high,
        p=p,
        n=n,
        n_clusters=n_clusters,
        n_missing=n_missing,
        verdict=verdict,
    )


def difference_interval(
    differences: Array, cluster: Clusters, *, confidence: float
) -> tuple[float, float]:
    """Return the interval of the mean of differences of -1, 0 and 1 (n,), by documents.

    The intervals of the two shares, of 1 and of -1, are combined: the squared distance
    of each end is the sum of their own.
    """
    up, up_low, up_high = _share(differences > 0, cluster, confidence=confidence)
    down, down_low, down_high = _share(differences < 0, cluster, confidence=confidence)
    mean = up - down
    low = mean - np.hypot(up - up_low, down_high - down)
    high = mean + np.hypot(up_high - up, down - down_low)
    return max(float(low), -1.0), min(float(high), 1.0)


def _share(
    hits: Mask, cluster: Clusters, *, confidence: float
) -> tuple[float, float, float]:
    """Return a share and its interval.

    Items are worth at least as many independent ones as there are documents, by their
    sizes: that is so if all items of a document are alike. Without this bound one hit
    would make the interval useless, as its variance comes from a single document.
    """
    estimate = share(hits, cluster, confidence=confidence)
    _, documents = kish_size(np.ones(hits.size), cluster)
    worth = max(estimate.n_effective, documents)
    ends = jeffreys(estimate.value * worth, worth, confidence=confidence)
    return estimate.value, *ends


def fewest_documents(margin: float, n_attacks: int) -> int:
    """Return from how many documents on `robust to` can be said, where no answer changes.

    >>> fewest_documents(0.1, 16)
    48
    """
    confidence = 1.0 - LEVEL / max(n_attacks, 1)
    low, high = 1, MANY
    while low < high:
        middle = (low + high) // 2
        if jeffreys(0, middle, confidence=confidence)[1] < margin:
            high = middle
        else:
            low = middle + 1
    return low
