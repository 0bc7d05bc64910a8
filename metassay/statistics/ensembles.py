"""Ensembles: means of standardised metrics, every subset of them, against people.

metrics is (metrics, items) with all metrics oriented alike (negate one of which less is better),
human (items,). Only items that have every score take part. A subset's score is the mean of its
members' standardised values; the standardisation is that of all items, also in a resample, where
the instrument stays what it is. Source: Adams et al. 2023, A meta-evaluation of faithfulness
metrics for long-form hospital-course summarization, section on metric ensembles.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtrit

from metassay.statistics import weighted
from metassay.statistics.arithmetic import Array, Mask, blocks, deviations, ratio, weighted_sums
from metassay.statistics.correlation import Coefficient
from metassay.statistics.sizes import LARGEST

Scaling = Literal["sigma", "paper"]

HELD = 1 << 23  # weights held at a time: 64 MB, however many resamples are asked for


class Ensembles(NamedTuple):
    """Every non-empty subset of the metrics; ends are NaN without resamples."""

    members: Mask  # (subsets, metrics)
    value: Array  # (subsets,) correlation with people; NaN if undefined
    low: Array  # (subsets,) percentile interval over resampled items
    high: Array
    n: int  # items that have every score
    n_missing: int  # items that have some but not all
    resampled: Array  # (resamples, subsets)


class InEnsembles(NamedTuple):
    """One metric alone, and the mean correlation of the subsets that contain it."""

    single: float
    value: float  # the mean over the subsets; NaN if one is undefined
    low_paper: float  # interval of the paper: the subsets' correlations resampled
    high_paper: float  # (says nothing of other items: all of them rest on the same)
    low: float  # honest interval: items resampled
    high: float


def standardise(metrics: ArrayLike, scaling: Scaling = "sigma") -> Array:
    """Each row of (metrics, items) less its mean, over its standard deviation; NaN stays NaN.

    `paper` divides by the variance, as the paper's formula is printed: then metrics with a small
    spread weigh more. A constant row becomes NaN: it has no place on this scale.
    """
    x = np.asarray(metrics, dtype=np.float64)
    weights = np.isfinite(x).astype(np.float64)
    deviation = deviations(np.where(weights > 0, x, 0.0), weights)
    count = np.maximum(np.sum(weights, axis=-1, keepdims=True), 1.0)
    spread = np.sqrt(np.sum(deviation**2, axis=-1, keepdims=True) / count)
    scores = np.divide(deviation, spread, out=np.full_like(x, np.nan), where=spread > 0)
    if scaling == "paper":
        # The deviations were scaled: bring back the unit of the scores.
        centred = np.where(weights > 0, x, 0.0)
        centred = centred - np.sum(centred, axis=-1, keepdims=True) / count
        sigma = np.sqrt(np.sum(weights * centred**2, axis=-1, keepdims=True) / count)
        scores = np.divide(scores, sigma, out=np.full_like(x, np.nan), where=sigma > 0)
    kept: Array = np.where(weights > 0, scores, np.nan)
    return kept


def subsets(size: int) -> Mask:
    """All non-empty subsets of `size` metrics, singles first: (2**size - 1, size).

    Raises ValueError for none or more than 12.
    """
    if not 1 <= size <= LARGEST:
        raise ValueError(f"want 1 to {LARGEST} metrics, got {size}")
    numbers = np.arange(1, 2**size)
    members: Mask = (numbers[:, None] >> np.arange(size)) % 2 == 1
    order = np.argsort(np.sum(members, axis=1), kind="stable")
    return members[order]


def ensembles(
    metrics: ArrayLike,
    human: ArrayLike,
    coefficient: Coefficient = "pearson",
    *,
    n: int,
    confidence: float,
    rng: np.random.Generator,
    scaling: Scaling = "sigma",
) -> Ensembles:
    """Correlate every subset of the metrics with people, with intervals from n resamples.

    Pearson comes from moments, in a time that hardly grows with the subsets; the others take each
    subset's items. A subset whose resamples are mostly undefined has no interval. Raises ValueError
    unless metrics are (1 to 12, items) and human (items,).
    """
    scores, people, missing = complete(metrics, human)
    members = subsets(len(scores))
    z = standardise(scores, scaling)
    items = people.size
    of_subsets = _subset_values(z, people, members, coefficient)
    value = of_subsets(np.ones((1, items)))[0]
    draws = np.full((n, len(members)), np.nan)
    for some in blocks(n if items else 0, items, numbers=HELD):
        rows = draws[some]
        drawn = rng.integers(items, size=(len(rows), items)) + items * np.arange(len(rows))[:, None]
        counts = np.bincount(drawn.ravel(), minlength=len(rows) * items)
        rows[:] = of_subsets(counts.reshape(len(rows), items).astype(np.float64))
    low, high = percentiles(draws, confidence)
    return Ensembles(members, value, low, high, items, missing, draws)


def _subset_values(
    z: Array, people: Array, members: Mask, coefficient: Coefficient
) -> Callable[[Array], Array]:
    """The correlations (weights, subsets) of every subset under rows of whole weights."""
    if coefficient == "pearson":
        return lambda weights: moment_correlations(z, people, members, weights)
    of, unit = weighted.COEFFICIENTS[coefficient], np.arange(people.size)
    means = [np.mean(z[m], axis=0) if np.isfinite(z[m]).all() else None for m in members]

    def values(weights: Array) -> Array:
        nothing = np.full(len(weights), np.nan)
        columns = [nothing if x is None else of(x, people, unit, weights) for x in means]
        return np.stack(columns, axis=1)

    return values


def in_ensembles(
    found: Ensembles, *, n: int, confidence: float, rng: np.random.Generator
) -> list[InEnsembles]:
    """For each metric, alone and as the mean over all subsets that contain it.

    The paper's interval draws those subsets' correlations n times; the honest one is over the
    resampled items that `found` holds.
    """
    result = []
    for metric in range(found.members.shape[1]):
        there = found.members[:, metric]
        values = found.value[there]
        drawn = values[rng.integers(values.size, size=(n, values.size))]
        paper = percentiles(np.mean(drawn, axis=1)[:, None], confidence)
        honest = percentiles(np.mean(found.resampled[:, there], axis=1)[:, None], confidence)
        ends = (float(end[0]) for end in (*paper, *honest))
        result.append(InEnsembles(float(found.value[metric]), float(np.mean(values)), *ends))
    return result


def complete(metrics: ArrayLike, human: ArrayLike) -> tuple[Array, Array, int]:
    """Metrics and human in the items that have every score, and how many have only some."""
    x, y = np.asarray(metrics, dtype=np.float64), np.asarray(human, dtype=np.float64)
    if x.ndim != 2 or y.shape != x.shape[1:]:
        raise ValueError(f"want metrics x items and items, got {x.shape}, {y.shape}")
    known = np.isfinite(np.vstack((x, y)))
    there = np.all(known, axis=0)
    missing = int(np.count_nonzero(np.any(known, axis=0) & ~there))
    return x[:, there], y[there], missing


def moment_correlations(z: Array, human: Array, members: Mask, weights: Array) -> Array:
    """Pearson's r of every subset under every row of whole weights: (weights, subsets).

    z (metrics, items) is standardised, rows of NaN making every subset that has them undefined.
    """
    size = len(z)
    dead = np.any(np.isnan(z), axis=1)
    x = deviations(np.where(np.isnan(z), 0.0, z), np.ones(human.size))
    # One scale for all, so that sums keep the members' relative weight.
    x = x * np.max(np.abs(np.where(np.isnan(z), 0.0, z)), axis=1, keepdims=True, initial=0.0)
    rows = np.vstack((x, deviations(human, np.ones(human.size))))
    first, second = np.triu_indices(size + 1)
    terms = np.vstack((np.ones(human.size), rows, rows[first] * rows[second]))
    sums = weighted_sums(terms, weights)
    count = np.maximum(sums[:, :1], 1.0)
    mean = sums[:, 1 : size + 2] / count
    cross = sums[:, size + 2 :] - count * mean[:, first] * mean[:, second]
    inner = second < size
    # Each pair of members counts twice, each member with itself once.
    pairs = members[:, first[inner]] & members[:, second[inner]]
    twice = np.where(first[inner] == second[inner], 1.0, 2.0) * pairs
    # No BLAS here: its order of summation, and so the last bit, differs between processors.
    spread = np.einsum("rp,sp->rs", cross[:, inner], twice)
    with_human = (second == size) & (first < size)
    shared = np.einsum("rp,sp->rs", cross[:, with_human], members.astype(np.float64))
    own = cross[:, -1:]
    # What is left where all is cancelled is rounding, not spread.
    power = np.einsum("rp,sp->rs", np.abs(sums[:, size + 2 :][:, inner]), twice)
    rounding = 1e-12 * np.maximum(power, 1e-300), 1e-12 * np.maximum(sums[:, -1:], 1e-300)
    sound = (spread > rounding[0]) & (own > rounding[1]) & ~np.any(members & dead, axis=1)
    sizes = np.sqrt(np.where(sound, spread, 0.0)), np.sqrt(np.maximum(own, 0.0))
    return ratio(shared, sizes[0], np.broadcast_to(sizes[1], shared.shape))


def percentiles(draws: Array, confidence: float) -> tuple[Array, Array]:
    """Ends (columns,) over (resamples, columns); NaN where fewer than half are defined."""
    low, high = np.full((2, draws.shape[1]), np.nan)
    tails = ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0)
    undefined = np.isnan(draws)
    whole = ~np.any(undefined, axis=0) & (len(draws) > 0)
    if np.any(whole):
        low[whole], high[whole] = np.quantile(draws[:, whole], tails, axis=0)
    for column in np.flatnonzero(~whole & (2 * np.sum(undefined, axis=0) <= len(draws))):
        defined = draws[~undefined[:, column], column]
        if defined.size:
            low[column], high[column] = np.quantile(defined, tails)
    return low, high


def expanded_percentiles(draws: Array, n: int, confidence: float) -> tuple[Array, Array]:
    """Ends (columns,) as by `percentiles`, but further out the fewer things were drawn from.

    Plain percentiles of resamples of n things cover too little where n is small, as a normal
    interval does beside one by Student's t. NaN where n is below 2. Source: Hesterberg 2015, What
    teachers should know about the bootstrap.
    """
    if n < 2:
        nothing = np.full(draws.shape[1], np.nan)
        return nothing, nothing
    t = stdtrit(n - 1, (1.0 + confidence) / 2.0)
    return percentiles(draws, float(1.0 - 2.0 * ndtr(-np.sqrt(n / (n - 1)) * t)))
