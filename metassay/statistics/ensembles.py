"""Ensembles: means of standardised metrics, every subset of them, against people.

metrics is (metrics, items) with all metrics oriented alike (negate one of which less is better),
human (items,). Only items that have every score take part. A subset's score is the mean of its
members' standardised values; the standardisation is that of all items, also in a resample, where
the instrument stays what it is. Source: Adams et al. 2023, A meta-evaluation of faithfulness
metrics for long-form hospital-course summarization, section on metric ensembles.

The best ensemble is chosen by nested cross-validation, so that no winner is crowned on its own
data.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metassay.statistics.correlation import WEIGHTED, Coefficient
from metassay.statistics.exact_sums import (
    Array,
    Mask,
    blocks,
    deviations,
    mean_of_defined,
    mean_without_gaps,
    quotient,
    ratio,
    weighted_sums,
)
from metassay.statistics.limits import LARGEST
from metassay.statistics.resampling import percentiles, tallies

Folds = NDArray[np.intp]

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


def standardise(metrics: ArrayLike) -> Array:
    """Each row of (metrics, items) less its mean, over its standard deviation; NaN stays NaN.

    A constant row becomes NaN: it has no place on this scale.
    """
    x = np.asarray(metrics, dtype=np.float64)
    weights = np.isfinite(x).astype(np.float64)
    deviation = deviations(np.where(weights > 0, x, 0.0), weights)
    count = np.maximum(np.sum(weights, axis=-1, keepdims=True), 1.0)
    spread = np.sqrt(np.sum(deviation**2, axis=-1, keepdims=True) / count)
    scores = quotient(deviation, spread, spread > 0)
    return np.where(weights > 0, scores, np.nan)


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
) -> Ensembles:
    """Correlate every subset of the metrics with people, with intervals from n resamples.

    Pearson comes from moments, in a time that hardly grows with the subsets. A subset whose
    resamples are mostly undefined has no interval. Raises ValueError unless metrics are (1 to 12,
    items) and human (items,).
    """
    scores, people, missing = complete(metrics, human)
    members = subsets(len(scores))
    z = standardise(scores)
    items = people.size
    of_subsets = _subset_values(z, people, members, coefficient)
    value = of_subsets(np.ones((1, items)))[0]
    draws = np.full((n, len(members)), np.nan)
    for some in blocks(n if items else 0, items, numbers=HELD):
        rows = draws[some]
        rows[:] = of_subsets(tallies(rng.integers(items, size=(len(rows), items)), items))
    low, high = percentiles(draws, confidence)
    return Ensembles(members, value, low, high, items, missing, draws)


def _subset_values(
    z: Array, people: Array, members: Mask, coefficient: Coefficient
) -> Callable[[Array], Array]:
    # The correlations (weights, subsets) of every subset under rows of whole weights.
    if coefficient == "pearson":
        return lambda weights: np.concatenate(
            [
                moment_correlations(z, people, members, weights[some])
                for some in blocks(len(weights), len(members))
            ]
        )
    of, unit = WEIGHTED[coefficient], np.arange(people.size)
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
    each = np.sqrt(sums[:, size + 2 :][:, inner & (first == second)])
    power = np.einsum("rm,sm->rs", each, members.astype(np.float64)) ** 2
    rounding = 1e-12 * np.maximum(power, 1e-300), 1e-12 * np.maximum(sums[:, -1:], 1e-300)
    sound = (spread > rounding[0]) & (own > rounding[1]) & ~np.any(members & dead, axis=1)
    sizes = np.sqrt(np.where(sound, spread, 0.0)), np.sqrt(np.maximum(own, 0.0))
    return ratio(shared, sizes[0], np.broadcast_to(sizes[1], shared.shape))


class BestSubset(NamedTuple):
    """The subset that cross-validation chooses, and what choosing that way gives on new items."""

    members: Mask  # (metrics,) chosen on all items
    in_sample: float  # its Pearson correlation on the items that chose it: too good
    value: float  # mean correlation, over outer folds, of the subset that the others chose
    n: int  # items that have every score
    n_undefined: int  # outer folds without a correlation
    n_missing: int  # items that have some scores but not all


def best_subset(
    metrics: ArrayLike,
    human: ArrayLike,
    *,
    folds: int,
    rng: np.random.Generator,
    groups: ArrayLike | None = None,
) -> BestSubset:
    """Choose among all subsets of (metrics, items) by Pearson correlation with human (items,).

    Outer folds are held out in turn; on the rest, inner folds score every subset by its mean
    held-out correlation, the best (the smaller if equal) is standardised there and then meets the
    outer fold. `groups` (items,) keeps items of one number (a document) in one fold. NaN if no
    fold has a correlation. Raises ValueError for fewer than 2 folds, or than 2 folds' groups.
    """
    scores, people, missing = complete(metrics, human)
    members = subsets(len(scores))
    group = np.arange(people.size)
    if groups is not None:
        there = np.all(np.isfinite(np.vstack((metrics, human))), axis=0)
        group = np.unique(np.asarray(groups)[there], return_inverse=True)[1]
    size = np.unique(group).size
    if folds < 2 or size < 2 * folds:
        raise ValueError(f"want 2 folds or more, of 2 groups or more: {folds} folds, {size} groups")
    fold = _folds(group, folds, rng)
    values = []
    for held in range(folds):
        rest = fold != held
        inner = _folds(group[rest], folds, rng)
        best = _choose(scores[:, rest], people[rest], inner, members)
        values.append(_held_out(scores, people, ~rest, members[best : best + 1])[0])
    final = _choose(scores, people, fold, members)
    once = np.ones((1, people.size))
    whole = moment_correlations(standardise(scores), people, members, once)[0]
    undefined = int(np.count_nonzero(np.isnan(values)))
    in_sample, value = float(whole[final]), mean_of_defined(np.array(values))
    counts = people.size, undefined, missing
    return BestSubset(members[final], in_sample, value, *counts)


def _folds(group: Folds, folds: int, rng: np.random.Generator) -> Folds:
    # Groups dealt round in a random order.
    _, number = np.unique(group, return_inverse=True)
    return np.asarray(rng.permutation(np.arange(int(np.max(number)) + 1) % folds)[number])


def _choose(scores: Array, people: Array, fold: Folds, members: Mask) -> int:
    held = [_held_out(scores, people, fold == here, members) for here in range(fold.max() + 1)]
    mean = np.nan_to_num(mean_without_gaps(np.array(held)), nan=-np.inf)
    return int(np.argmax(mean >= np.max(mean) - 1e-12))


def _held_out(scores: Array, people: Array, held: Mask, members: Mask) -> Array:
    # Correlation on the held-out items of subsets standardised on the others: (subsets,).
    train = scores[:, ~held]
    spread = np.std(train, axis=1)
    # A metric that is constant where the subset is chosen has no scale.
    constant = np.all(np.isnan(standardise(train)), axis=1)
    moved = scores[:, held] - np.mean(train, axis=1, keepdims=True)
    z = quotient(np.ascontiguousarray(moved), spread[:, None], ~constant[:, None])
    once = np.ones((1, moved.shape[1]))
    values: Array = moment_correlations(z, people[held], members, once)[0]
    return values
