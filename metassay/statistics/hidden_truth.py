"""Accuracy of a judge when raters disagree: by their agreement, and by a latent class model.

Verdicts are 1 (pass), 0 (fail) or NaN (missing): a judge's (items,), raters' (raters, items).
"""

from typing import NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from metassay.statistics import shares
from metassay.statistics.classification import mean_of
from metassay.statistics.exact_sums import Array, quotient
from metassay.statistics.shares import UNDEFINED, Clusters, Estimate

RESAMPLES = 200
ROUNDS = 500  # of the EM algorithm, at most
STEADY = 1e-7  # change of any probability at which EM stops
TOGETHER = 10  # items with three verdicts (two, in each population) needed to identify the model
APART = 0.1  # least difference between the shares of passes of two populations


def by_agreement(
    judge: ArrayLike, ratings: ArrayLike, *, confidence: float, cluster: ArrayLike | None = None
) -> dict[tuple[str, str], Estimate]:
    """Return the judge's accuracy on `all` items with two ratings or more, `unanimous` and `split`.

    Where people disagree, no verdict agrees with all of them: a rater's accuracy on the same items
    shows what is possible. Each rater is left out in turn. For each item, `judge` and `rater` are
    the shares of the other raters who agree with them (soft labels); a `difference` above 0 means
    that the judge agrees with people better than people do. Items are unanimous or split among the
    other raters: if the left-out rater's label counted, split items would understate the raters'
    accuracy. So two ratings of an item are never split. Intervals: Jeffreys' for the shares, which
    are wide for soft labels; t for the difference. Items of a `cluster` (items,), and raters of an
    item, are correlated. `n` counts items.
    """
    verdict, table = _verdicts(judge, ratings)
    clusters = shares.cluster_codes(cluster, verdict.size)
    passes, raters = np.nansum(table, axis=0), np.isfinite(table).sum(axis=0)
    rater, item = np.nonzero(np.isfinite(table) & np.isfinite(verdict) & (raters >= 2))
    label = table[rater, item]
    soft = (passes[item] - label) / (raters[item] - 1)
    as_judge = np.where(verdict[item] == 1, soft, 1 - soft)
    as_rater = np.where(label == 1, soft, 1 - soft)
    unanimous = (soft == 0) | (soft == 1)
    estimates, all_items = dict[tuple[str, str], Estimate](), unanimous | ~unanimous
    for name, rows in {"all": all_items, "unanimous": unanimous, "split": ~unanimous}.items():
        groups, n = clusters[item[rows]], int(np.unique(item[rows]).size)
        pair = [shares.share(v[rows], groups, confidence=confidence) for v in (as_judge, as_rater)]
        difference = Estimate(*UNDEFINED, 0, 0.0)
        if n:
            difference = mean_of((as_judge - as_rater)[rows], groups, confidence=confidence)
        observers = zip(("judge", "rater", "difference"), (*pair, difference), strict=True)
        estimates |= {(name, observer): estimate._replace(n=n) for observer, estimate in observers}
    return estimates


class Latent(NamedTuple):
    """A latent class model's estimates for each observer; NaN where it is not identified."""

    sensitivity: list[Estimate]  # by observer, the judge first
    specificity: list[Estimate]
    why: str  # "by" what the model is identified, or "not identified:" and what is missing


def latent_classes(
    judge: ArrayLike,
    ratings: ArrayLike,
    *,
    confidence: float,
    rng: np.random.Generator,
    population: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> Latent:
    """Estimate sensitivity and specificity of judge and raters against a latent truth.

    Maximum likelihood by EM, starting from the majority vote. Assumes that verdicts are independent
    given the truth, and that sensitivity and specificity are the same in every `population`
    (items,). If the judge errs on the same items as raters, the model takes them all to be right:
    it checks the majority vote, but is not a better truth.

    Identified with three verdicts on 10 items or more (Dawid and Skene; in the chosen solution
    observers are better than chance), else by two verdicts in two populations, 10 items or more in
    each, whose shares of passes differ by .1 or more (Hui and Walter). Intervals are percentiles of
    200 resamples of clusters, at least as wide as Jeffreys' for as many items of known truth.
    Sources: Dawid and Skene 1979, Maximum likelihood estimation of observer
    error-rates using the EM algorithm; Hui and Walter 1980, Estimating the error rates of
    diagnostic tests; Kruskal 1977 on what three verdicts identify.
    """
    verdict, others = _verdicts(judge, ratings)
    table = np.vstack((verdict, others))
    populations = np.zeros(verdict.size) if population is None else np.asarray(population)
    _, place = np.unique(populations, return_inverse=True)
    clusters = shares.cluster_codes(cluster, verdict.size)
    has_verdict = np.isfinite(table)
    usable = has_verdict[0] & (has_verdict.sum(axis=0) >= 2)
    table, place, clusters = table[:, usable], place[usable], clusters[usable]
    n_populations = int(place.max(initial=0)) + 1
    three = int(np.count_nonzero(np.isfinite(table).sum(axis=0) >= 3))
    undefined = [Estimate(*UNDEFINED, table.shape[1], np.nan)] * len(table)
    sizes = np.bincount(place, minlength=n_populations)
    if three < TOGETHER and (n_populations < 2 or np.sort(sizes)[-2] < TOGETHER):
        why = "not identified: it takes three verdicts an item, or two in two populations"
        return Latent(undefined, undefined, why)
    columns = np.vstack((np.nan_to_num(table, nan=-1.0), place))
    kinds, kind = np.unique(columns, axis=1, return_inverse=True)
    patterns, population_of = np.where(kinds[:-1] < 0, np.nan, kinds[:-1]), kinds[-1]
    _, clusters = np.unique(clusters, return_inverse=True)
    counts = np.zeros((int(clusters.max()) + 1, patterns.shape[1]))
    np.add.at(counts, (clusters, kind.reshape(-1)), 1.0)
    resamples = rng.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), RESAMPLES)
    weights = np.vstack((np.ones(len(counts)), resamples)).astype(np.float64) @ counts
    rates, passing, worth = _em(patterns, population_of.astype(np.intp), weights, n_populations)
    if three < TOGETHER and np.ptp(passing[0]) < APART:
        why = "not identified: two verdicts an item, and populations that pass about as often"
        return Latent(undefined, undefined, why)
    by = "three verdicts an item" if three >= TOGETHER else "two populations that differ"

    def estimate(values: Array, items: float) -> Estimate:
        value, n = float(values[0]), table.shape[1]
        low, high = shares.ends(values[1:], value, confidence=confidence)
        # At 0 and 1 all resamples are equal.
        least, most = shares.jeffreys(value * items, items, confidence=confidence)
        ends = float(np.fmin(low, least)), float(np.fmax(high, most))
        return Estimate(value, *ends, n, float(len(counts)))

    passed, failed = (
        [estimate(row, float(n)) for row, n in zip(np.round(values, 6).T, of_truth, strict=True)]
        for values, of_truth in ((rates[1], worth[1]), (1.0 - rates[0], worth[0]))
    )
    return Latent(passed, failed, f"by {by}")


def _em(patterns: Array, place: Clusters, weights: Array, n: int) -> tuple[Array, Array, Array]:
    # Fits patterns (observers, kinds) with weights (sets, kinds), all sets at once. Returns shares
    # of passes by truth (2, sets, observers), truth 1 last, shares of true passes (sets,
    # populations), and the numbers of items behind the first set's shares (2, observers).
    observed = np.isfinite(patterns).astype(np.float64)
    passes = np.nan_to_num(patterns)
    fails = observed - passes
    start = (passes.sum(axis=0) + 0.5) / (observed.sum(axis=0) + 1.0)
    p_pass = np.broadcast_to(start, weights.shape)
    in_place: Array = (place[:, None] == np.arange(n)).astype(np.float64)
    for _ in range(ROUNDS):
        parts = weights * np.stack((1 - p_pass, p_pass))
        rates = _clipped(quotient(parts @ passes.T, parts @ observed.T))
        passing = _clipped(quotient(parts[1] @ in_place, weights @ in_place))
        logs = np.log(rates) @ passes + np.log1p(-rates) @ fails
        updated = scipy.special.expit(logs[1] - logs[0] + scipy.special.logit(passing)[:, place])
        change = float(np.max(np.abs(updated - p_pass)))
        p_pass = updated
        if change < STEADY:
            break
    return rates, passing, parts[:, 0] @ observed.T


def _clipped(rates: Array) -> Array:
    return np.clip(np.where(np.isfinite(rates), rates, 0.5), 1e-9, 1 - 1e-9)


def _verdicts(judge: ArrayLike, ratings: ArrayLike) -> tuple[Array, Array]:
    verdict, table = shares.pass_or_fail(judge), np.asarray(ratings, np.float64)
    if table.ndim != 2 or verdict.shape != table.shape[1:]:
        raise ValueError(f"want raters x items and verdicts, got {table.shape}, {verdict.shape}")
    shares.pass_or_fail(table.ravel())
    return verdict, table
