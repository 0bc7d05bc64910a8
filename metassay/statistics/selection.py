"""The best ensemble by nested cross-validation, so that no winner is crowned on its own data."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metassay.statistics.arithmetic import Array, Mask
from metassay.statistics.ensembles import (
    Scaling,
    complete,
    moment_correlations,
    standardise,
    subsets,
)

Folds = NDArray[np.intp]


class BestSubset(NamedTuple):
    """The subset that cross-validation chooses, and what choosing that way gives on new items."""

    members: Mask  # (metrics,) chosen on all items
    in_sample: float  # its Pearson correlation on the items that chose it: too good
    value: float  # mean correlation, over outer folds, of the subset that the others chose
    best_in_sample: float  # the largest correlation of any subset: the winner's curse in full
    chosen: Mask  # (folds, metrics) what each outer fold's other items chose
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
    scaling: Scaling = "sigma",
) -> BestSubset:
    """Choose among all subsets of (metrics, items) by Pearson correlation with human (items,).

    Outer folds are held out in turn; on the rest, inner folds score every subset by its mean
    held-out correlation, the best (the smaller if equal) is standardised there and then meets the
    outer fold. `groups` (items,) keeps items of one number (a document) in one fold. NaN if no
    fold has a correlation. Raises ValueError for fewer than 2 folds, or than 2 folds' groups.
    """
    scores, people, missing = complete(metrics, human)
    members = subsets(len(scores))
    group = np.arange(people.size) if groups is None else _kept(groups, metrics, human)
    size = np.unique(group).size
    if folds < 2 or size < 2 * folds:
        raise ValueError(f"want 2 folds or more, of 2 groups or more: {folds} folds, {size} groups")
    fold = _folds(group, folds, rng)
    values, chosen = [], []
    for held in range(folds):
        rest = fold != held
        inner = _folds(group[rest], folds, rng)
        best = _choose(scores[:, rest], people[rest], inner, members, scaling)
        chosen.append(members[best])
        values.append(_held_out(scores, people, ~rest, members[best : best + 1], scaling)[0])
    final = _choose(scores, people, fold, members, scaling)
    once = np.ones((1, people.size))
    whole = moment_correlations(standardise(scores, scaling), people, members, once)[0]
    known = np.array(values)[~np.isnan(values)]
    return BestSubset(
        members[final],
        float(whole[final]),
        float(np.mean(known)) if known.size else np.nan,
        float(np.nanmax(whole)) if not np.all(np.isnan(whole)) else np.nan,
        np.array(chosen),
        people.size,
        folds - known.size,
        missing,
    )


def _kept(groups: ArrayLike, metrics: ArrayLike, human: ArrayLike) -> Folds:
    there = np.all(np.isfinite(np.vstack((metrics, human))), axis=0)
    numbers: Folds = np.unique(np.asarray(groups)[there], return_inverse=True)[1]
    return numbers


def _folds(group: Folds, folds: int, rng: np.random.Generator) -> Folds:
    # Groups dealt round in a random order.
    _, number = np.unique(group, return_inverse=True)
    dealt = rng.permutation(np.arange(int(np.max(number)) + 1) % folds)
    of: Folds = dealt[number]
    return of


def _choose(scores: Array, people: Array, fold: Folds, members: Mask, scaling: Scaling) -> int:
    held = [
        _held_out(scores, people, fold == here, members, scaling) for here in range(fold.max() + 1)
    ]
    values = np.array(held)
    known = ~np.isnan(values)
    count = np.sum(known, axis=0)
    total = np.sum(np.where(known, values, 0.0), axis=0)
    mean = np.divide(total, count, out=np.full(total.shape, -np.inf), where=count > 0)
    return int(np.argmax(mean >= np.max(mean) - 1e-12))


def _held_out(scores: Array, people: Array, held: Mask, members: Mask, scaling: Scaling) -> Array:
    # Correlation on the held-out items of subsets standardised on the others: (subsets,).
    train = scores[:, ~held]
    spread = np.std(train, axis=1)
    # A metric that is constant where the subset is chosen has no scale.
    constant = np.all(np.isnan(standardise(train, scaling)), axis=1)
    power = 1 if scaling == "sigma" else 2
    z = np.divide(
        scores[:, held] - np.mean(train, axis=1, keepdims=True),
        spread[:, None] ** power,
        out=np.full((len(scores), int(np.count_nonzero(held))), np.nan),
        where=~constant[:, None],
    )
    once = np.ones((1, int(np.count_nonzero(held))))
    values: Array = moment_correlations(z, people[held], members, once)[0]
    return values
