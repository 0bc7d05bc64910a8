"""Ensembles: means of standardised metrics, every subset of them, against people.

metrics is (metrics, items), higher is better for all (negate others), human (items,).
Only items with all scores count. A subset's score is the mean of its members'
standardised values; scores are standardised over all items once, not again in each
resample. Source: Adams et al. 2023, A meta-evaluation of faithfulness metrics for
long-form hospital-course summarization, section on metric ensembles.

The best ensemble is chosen by nested cross-validation, so that it is not tested on the
data that chose it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.correlation import WEIGHTED, Coefficient
from metassay.statistics.exact_sums import (
    Array,
    Index,
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

CHUNK = 1 << 23  # weights held at a time: 64 MB, however many resamples are asked for


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
    """A metric's correlation alone, and the mean correlation of the subsets that contain it."""

    single: float
    value: float  # the mean over the subsets; NaN if one is undefined
    low_paper: float  # interval of the paper: the subsets' correlations resampled
    high_paper: float  # (ignores sampling of items: all subsets use the same)
    low: float  # interval over resampled items
    high: float


def standardise(metrics: ArrayLike) -> Array:
    """Scale each row of (metrics, items) to mean 0 and standard deviation 1; NaN stays NaN.

    A constant row becomes NaN.
    """
    x = np.asarray(metrics, dtype=np.float64)
    weights = np.isfinite(x).astype(np.float64)
    deviation = deviations(np.where(weights > 0, x, 0.0), weights)
    count = np.maximum(np.sum(weights, axis=-1, keepdims=True), 1.0)
    spread = np.sqrt(np.sum(deviation**2, axis=-1, keepdims=True) / count)
    scores = quotient(deviation, spread, spread > 0)
    return np.where(weights > 0, scores, np.nan)


def subsets(size: int) -> Mask:
    """Return all non-empty subsets of `size` metrics, singles first: (2**size - 1, size).

    Raises ValueError for none or more than 12.
    """
    if not 1 <= size <= LARGEST:
        raise ValueError(f"expected 1 to {LARGEST} metrics, got {size}")
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

    Pearson is computed from moments, in time that hardly grows with the subsets. A
    subset whose resamples are mostly undefined has no interval. Raises ValueError
    unless metrics are (1 to 12, items) and human (items,).
    """
    scores, people, missing = select_complete(metrics, human)
    members = subsets(len(scores))
    z = standardise(scores)
    items = people.size
    of_subsets = _subset_values(z, people, members, coefficient)
    value = of_subsets(np.ones((1, items)))[0]
    draws = np.full((n, len(members)), np.nan)
    for chunk in blocks(n if items else 0, items, numbers=CHUNK):
        rows = draws[chunk]
        rows[:] = of_subsets(
            tallies(rng.integers(items, size=(len(rows), items)), items)
        )
    low, high = percentiles(draws, confidence)
    return Ensembles(members, value, low, high, items, missing, draws)


def _subset_values(
    z: Array, people: Array, members: Mask, coefficient: Coefficient
) -> Callable[[Array], Array]:
    # The correlations (weights, subsets) of every subset under rows of whole weights.
    if coefficient == "pearson":
        return lambda weights: np.concatenate(
            [
                moment_correlations(z, people, members, weights[chunk])
                for chunk in blocks(len(weights), len(members))
            ]
        )
    of, unit = WEIGHTED[coefficient], np.arange(people.size)
    means = [
        np.mean(z[m], axis=0) if np.isfinite(z[m]).all() else None for m in members
    ]

    def values(weights: Array) -> Array:
        nothing = np.full(len(weights), np.nan)
        columns = [
            nothing if x is None else of(x, people, unit, weights) for x in means
        ]
        return np.stack(columns, axis=1)

    return values


def average_ensembles(
    ensembles: Ensembles, *, n: int, confidence: float, rng: np.random.Generator
) -> list[InEnsembles]:
    """Return each metric's correlation alone and the mean over all subsets that contain it.

    The paper's interval resamples those subsets' correlations n times; the other is
    over the resampled items of `ensembles`.
    """
    rows = []
    for metric in range(ensembles.members.shape[1]):
        containing = ensembles.members[:, metric]
        values = ensembles.value[containing]
        resampled = values[rng.integers(values.size, size=(n, values.size))]
        paper = percentiles(np.mean(resampled, axis=1)[:, None], confidence)
        means = np.mean(ensembles.resampled[:, containing], axis=1)
        over_items = percentiles(means[:, None], confidence)
        ends = (float(end[0]) for end in (*paper, *over_items))
        rows.append(
            InEnsembles(float(ensembles.value[metric]), float(np.mean(values)), *ends)
        )
    return rows


def select_complete(metrics: ArrayLike, human: ArrayLike) -> tuple[Array, Array, int]:
    """Select the items with all scores; also return how many items have only some."""
    x, y = np.asarray(metrics, dtype=np.float64), np.asarray(human, dtype=np.float64)
    if x.ndim != 2 or y.shape != x.shape[1:]:
        raise ValueError(
            f"expected metrics x items and items, got {x.shape}, {y.shape}"
        )
    present = np.isfinite(np.vstack((x, y)))
    rows = np.all(present, axis=0)
    missing = int(np.count_nonzero(np.any(present, axis=0) & ~rows))
    return x[:, rows], y[rows], missing


def moment_correlations(z: Array, human: Array, members: Mask, weights: Array) -> Array:
    """Return Pearson's r of every subset under every row of integer weights: (weights, subsets).

    z (metrics, items) is standardised; a subset with a row of NaN is undefined.
    """
    size = len(z)
    undefined = np.any(np.isnan(z), axis=1)
    x = deviations(np.where(np.isnan(z), 0.0, z), np.ones(human.size))
    # One scale for all metrics, so that sums keep the members' relative weight.
    x = x * np.max(
        np.abs(np.where(np.isnan(z), 0.0, z)), axis=1, keepdims=True, initial=0.0
    )
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
    # No BLAS here: its order of summation, and so the last bit, differs between
    # processors.
    spread = np.einsum("rp,sp->rs", cross[:, inner], twice)
    with_human = (second == size) & (first < size)
    shared = np.einsum("rp,sp->rs", cross[:, with_human], members.astype(np.float64))
    human_spread = cross[:, -1:]
    # Where sums cancel, the remainder is rounding, not spread.
    norms = np.sqrt(sums[:, size + 2 :][:, inner & (first == second)])
    power = np.einsum("rm,sm->rs", norms, members.astype(np.float64)) ** 2
    rounding = (
        1e-12 * np.maximum(power, 1e-300),
        1e-12 * np.maximum(sums[:, -1:], 1e-300),
    )
    defined = (spread > rounding[0]) & (human_spread > rounding[1])
    defined &= ~np.any(members & undefined, axis=1)
    sizes = (
        np.sqrt(np.where(defined, spread, 0.0)),
        np.sqrt(np.maximum(human_spread, 0.0)),
    )
    return ratio(shared, sizes[0], np.broadcast_to(sizes[1], shared.shape))


class BestSubset(NamedTuple):
    """The subset that cross-validation chooses, and the correlation to expect on new items."""

    members: Mask  # (metrics,) chosen on all items
    # its Pearson correlation on the items that chose it: biased upwards
    in_sample: float
    # mean correlation, over outer folds, of the subset that the others chose
    value: float
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

    Outer folds are held out in turn. On the rest, inner folds score every subset by its
    mean held-out correlation; the best (the smaller of equals) is standardised there
    and tested on the outer fold. `groups` (items,) keeps items with the same number (a
    document) in the same fold. NaN if no fold has a correlation. Raises ValueError for
    fewer than 2 folds, or fewer groups than twice the folds.
    """
    scores, people, missing = select_complete(metrics, human)
    members = subsets(len(scores))
    group = np.arange(people.size)
    if groups is not None:
        complete_items = np.all(np.isfinite(np.vstack((metrics, human))), axis=0)
        group = np.unique(np.asarray(groups)[complete_items], return_inverse=True)[1]
    size = np.unique(group).size
    if folds < 2 or size < 2 * folds:
        raise ValueError(
            f"expected 2 folds or more, of 2 groups or more: {folds} folds, {size} groups"
        )
    fold = _folds(group, folds, rng)
    values = []
    for held_out in range(folds):
        rest = fold != held_out
        inner = _folds(group[rest], folds, rng)
        best = _choose(scores[:, rest], people[rest], inner, members)
        values.append(_held_out(scores, people, ~rest, members[best : best + 1])[0])
    final = _choose(scores, people, fold, members)
    ones = np.ones((1, people.size))
    correlations = moment_correlations(standardise(scores), people, members, ones)[0]
    undefined = int(np.count_nonzero(np.isnan(values)))
    in_sample, value = float(correlations[final]), mean_of_defined(np.array(values))
    counts = people.size, undefined, missing
    return BestSubset(members[final], in_sample, value, *counts)


def _folds(group: Index, folds: int, rng: np.random.Generator) -> Index:
    # Groups are assigned to folds in a random order.
    _, number = np.unique(group, return_inverse=True)
    return np.asarray(
        rng.permutation(np.arange(int(np.max(number)) + 1) % folds)[number]
    )


def _choose(scores: Array, people: Array, fold: Index, members: Mask) -> int:
    tests = (fold == number for number in range(fold.max() + 1))
    values = np.array([_held_out(scores, people, test, members) for test in tests])
    mean = np.nan_to_num(mean_without_gaps(values), nan=-np.inf)
    return int(np.argmax(mean >= np.max(mean) - 1e-12))


def _held_out(scores: Array, people: Array, test: Mask, members: Mask) -> Array:
    # Correlation on the held-out items of subsets standardised on the others:
    # (subsets,).
    train = scores[:, ~test]
    spread = np.std(train, axis=1)
    # A metric that is constant on the training items has no scale.
    constant = np.all(np.isnan(standardise(train)), axis=1)
    centred = scores[:, test] - np.mean(train, axis=1, keepdims=True)
    z = quotient(np.ascontiguousarray(centred), spread[:, None], ~constant[:, None])
    ones = np.ones((1, centred.shape[1]))
    values: Array = moment_correlations(z, people[test], members, ones)[0]
    return values
