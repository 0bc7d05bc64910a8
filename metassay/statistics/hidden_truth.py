"""A judge beside raters who disagree: by how far they agree, and beside a truth nobody saw.

Verdicts are 1 (pass), 0 (fail) or NaN (none): a judge's (items,), raters' (raters, items).
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
STEADY = 1e-7
TOGETHER = 10  # items with three verdicts (two, in each population) that identification asks for
APART = 0.1  # shares of passes of two populations that differ by less tell too little


def by_agreement(
    judge: ArrayLike, ratings: ArrayLike, *, confidence: float, cluster: ArrayLike | None = None
) -> dict[tuple[str, str], Estimate]:
    """The judge's accuracy on `all` items with two ratings or more, `unanimous` and `split` ones.

    Where people disagree, no verdict agrees with all: a rater's accuracy on the same items says
    what can be had. Each rater is left out in turn: by items, `judge` and `rater` are the shares of
    the others who say what they say (soft labels), and a `difference` above 0 says that the judge
    is nearer to people than people are. An item is unanimous or split by these others, not by all:
    on items that are split by a rater's own label, that rater would look worse than anybody is. Two
    ratings of an item are never split. Intervals: Jeffreys' for the shares, which are wide for
    fractions of an item; t for the difference; items of one `cluster` (items,), and raters of one
    item, are alike. `n` counts items.
    """
    verdict, table = _verdicts(judge, ratings)
    of = shares.own_clusters(cluster, verdict.size)
    passes, raters = np.nansum(table, axis=0), np.isfinite(table).sum(axis=0)
    rater, item = np.nonzero(np.isfinite(table) & np.isfinite(verdict) & (raters >= 2))
    own = table[rater, item]
    soft = (passes[item] - own) / (raters[item] - 1)
    as_judge = np.where(verdict[item] == 1, soft, 1 - soft)
    as_rater = np.where(own == 1, soft, 1 - soft)
    unanimous = (soft == 0) | (soft == 1)
    found, every = dict[tuple[str, str], Estimate](), unanimous | ~unanimous
    for name, rows in {"all": every, "unanimous": unanimous, "split": ~unanimous}.items():
        alike, n = of[item[rows]], int(np.unique(item[rows]).size)
        each = [shares.share(v[rows], alike, confidence=confidence) for v in (as_judge, as_rater)]
        apart = Estimate(*UNDEFINED, 0, 0.0)
        if n:
            apart = mean_of((as_judge - as_rater)[rows], alike, confidence=confidence)
        whose = zip(("judge", "rater", "difference"), (*each, apart), strict=True)
        found |= {(name, of_whom): one._replace(n=n) for of_whom, one in whose}
    return found


class Latent(NamedTuple):
    """What a latent class model says of each observer; NaN where it is not identified."""

    sensitivity: list[Estimate]  # by observer, the judge first
    specificity: list[Estimate]
    why: str  # "by" what it is identified, or "not identified:" and what lacks


def latent_classes(
    judge: ArrayLike,
    ratings: ArrayLike,
    *,
    confidence: float,
    rng: np.random.Generator,
    population: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> Latent:
    """Sensitivity and specificity of judge and raters beside a truth that nobody saw.

    Maximum likelihood by EM, from the majority of verdicts on; all observers' verdicts are taken
    to be independent given the truth, and their sensitivity and specificity the same in every
    `population` (items,). Where a judge errs on the items on which raters err, the model takes them
    all for right: it is a check of the majority vote, and no better truth.

    Identified with three verdicts on 10 items or more (Dawid and Skene; the solution is chosen in
    which observers are better than chance), else by two verdicts in two populations, 10 items or
    more in each, whose shares of passes are .1 or more apart (Hui and Walter). Intervals are
    percentiles of 200 resamples of clusters, and never narrower than Jeffreys' of as many items,
    were their truth known. Sources: Dawid and Skene 1979, Maximum likelihood estimation of observer
    error-rates using the EM algorithm; Hui and Walter 1980, Estimating the error rates of
    diagnostic tests; Kruskal 1977 on what three verdicts identify.
    """
    verdict, others = _verdicts(judge, ratings)
    table = np.vstack((verdict, others))
    of_all = np.zeros(verdict.size) if population is None else np.asarray(population)
    _, place = np.unique(of_all, return_inverse=True)
    of = shares.own_clusters(cluster, verdict.size)
    seen = np.isfinite(table)
    here = seen[0] & (seen.sum(axis=0) >= 2)
    table, place, of = table[:, here], place[here], of[here]
    many = int(place.max(initial=0)) + 1
    three = int(np.count_nonzero(np.isfinite(table).sum(axis=0) >= 3))
    nothing, no = [Estimate(*UNDEFINED, table.shape[1], np.nan)] * len(table), "not identified: "
    sizes = np.bincount(place, minlength=many)
    if three < TOGETHER and (many < 2 or np.sort(sizes)[-2] < TOGETHER):
        why = f"{no}it takes three verdicts an item, or two in two populations"
        return Latent(nothing, nothing, why)
    whole = np.vstack((np.nan_to_num(table, nan=-1.0), place))
    kinds, kind = np.unique(whole, axis=1, return_inverse=True)
    patterns, where = np.where(kinds[:-1] < 0, np.nan, kinds[:-1]), kinds[-1].astype(np.intp)
    _, of = np.unique(of, return_inverse=True)
    counts = np.zeros((int(of.max()) + 1, patterns.shape[1]))
    np.add.at(counts, (of, kind.reshape(-1)), 1.0)
    drawn = rng.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), RESAMPLES)
    weights = np.vstack((np.ones(len(counts)), drawn)) @ counts
    rates, passing, worth = _em(patterns, where, np.asarray(weights, np.float64), many)
    if three < TOGETHER and np.ptp(passing[0]) < APART:
        why = f"{no}two verdicts an item, and populations that pass about as often"
        return Latent(nothing, nothing, why)
    by = "three verdicts an item" if three >= TOGETHER else "two populations that differ"

    def estimate(values: Array, items: float) -> Estimate:
        value, n = float(values[0]), table.shape[1]
        low, high = shares.ends(values[1:], value, confidence=confidence)
        # At 0 and 1 every resample is alike.
        least, most = shares.jeffreys(value * items, items, confidence=confidence)
        ends = float(np.fmin(low, least)), float(np.fmax(high, most))
        return Estimate(value, *ends, n, float(len(counts)))

    passed, failed = (
        [estimate(row, float(n)) for row, n in zip(np.round(one, 6).T, of_truth, strict=True)]
        for one, of_truth in ((rates[1], worth[1]), (1.0 - rates[0], worth[0]))
    )
    return Latent(passed, failed, f"by {by}")


def _em(patterns: Array, where: Clusters, weights: Array, many: int) -> tuple[Array, Array, Array]:
    # Patterns (observers, kinds) of weights (sets, kinds), all sets at a time. Returns shares of
    # passes by truth (2, sets, observers), truth 1 last, of true passes (sets, populations), and
    # on how many items of the first set the shares rest (2, observers).
    known = np.isfinite(patterns).astype(np.float64)
    said = np.nan_to_num(patterns)
    unsaid = known - said
    first = (said.sum(axis=0) + 0.5) / (known.sum(axis=0) + 1.0)
    likely = np.broadcast_to(first, weights.shape)
    in_place: Array = (where[:, None] == np.arange(many)).astype(np.float64)
    for _ in range(ROUNDS):
        parts = weights * np.stack((1 - likely, likely))
        rates = _held(quotient(parts @ said.T, parts @ known.T))
        passing = _held(quotient(parts[1] @ in_place, weights @ in_place))
        logs = np.log(rates) @ said + np.log1p(-rates) @ unsaid
        after = scipy.special.expit(logs[1] - logs[0] + scipy.special.logit(passing)[:, where])
        moved = float(np.max(np.abs(after - likely)))
        likely = after
        if moved < STEADY:
            break
    return rates, passing, parts[:, 0] @ known.T


def _held(made: Array) -> Array:
    return np.clip(np.where(np.isfinite(made), made, 0.5), 1e-9, 1 - 1e-9)


def _verdicts(judge: ArrayLike, ratings: ArrayLike) -> tuple[Array, Array]:
    verdict, table = shares.pass_or_fail(judge), np.asarray(ratings, np.float64)
    if table.ndim != 2 or verdict.shape != table.shape[1:]:
        raise ValueError(f"want raters x items and verdicts, got {table.shape}, {verdict.shape}")
    shares.pass_or_fail(table.ravel())
    return verdict, table
