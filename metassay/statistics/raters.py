"""A judge beside raters: can it replace one, and how accurate is it where raters disagree?

`annotator_test` and `compare_with_raters` leave each rater out in turn and compare judge and
rater with the others: on how many items is the judge at least as near to them as the
rater, and how near are both. Labels are codes or numbers (raters, items).
`accuracy_by_agreement` and `latent_classes` take verdicts: 1 (pass) or 0 (fail), a judge's
(items,), raters' (raters, items). NaN is missing.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from metassay.statistics import shares
from metassay.statistics.classification import mean_of
from metassay.statistics.exact_sums import Array, Mask, quotient
from metassay.statistics.shares import (
    UNDEFINED,
    Clusters,
    Estimate,
    cluster_codes,
    design_effect,
    kish_size,
    weighted_mean,
    weighted_share,
)

# for experts; the test's authors advise .15 for skilled raters, .1 for crowds
EPSILON = 0.2
LEVEL = 0.05
FEWEST = 30  # items of a rater below which the published test leaves a rater out
RESAMPLES = 200
ROUNDS = 500  # of the EM algorithm, at most
STEADY = 1e-7  # change of any probability at which EM stops
# items with three verdicts (two, in each population) needed to identify the model
TOGETHER = 10
APART = 0.1  # least difference between the shares of passes of two populations


Nearness = Literal["equal", "squared"]  # of labels, and of numbers


class Contest(NamedTuple):
    """The judge against one rater; NaN where undefined."""

    n: int  # items that judge, rater and another rater labelled
    n_clusters: int  # documents of these items
    # share of items on which the judge is at least as near to the others
    advantage: float
    rater_advantage: float  # the same of the rater; ties count for both
    p_published: float  # by t; NaN below FEWEST items
    p: float  # by score test, for items clustered in documents
    wins_published: bool  # rejected by Benjamini and Yekutieli, over the raters
    wins: bool


class AnnotatorTest(NamedTuple):
    """The result over all contests; NaN and None without any."""

    winning_rate_published: float  # share of raters that the judge beats
    passes_published: bool | None  # whether these are half of them or more
    winning_rate: float
    passes: bool | None
    advantage: float  # mean over the contests, to compare judges
    contests: list[Contest]  # by rater


def annotator_test(
    judge: ArrayLike,
    ratings: ArrayLike,
    *,
    epsilon: float = EPSILON,
    level: float = LEVEL,
    cluster: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    nearness: Nearness = "equal",
) -> AnnotatorTest:
    """Run the alternative annotator test of a judge (items,) against ratings (raters, items).

    For each rater, the items count that the rater, another rater and the judge
    labelled. Nearer to the others is whose label more of them gave; with `nearness`
    "squared", for grades and measurements, whose value has the smaller root mean square
    of differences from theirs. The null hypothesis
    is that the rater is nearer more often, by `epsilon` of the items or more. `level`
    is that of Benjamini and Yekutieli's procedure over the raters. A judge that beats
    half of the raters passes.

    As published: a one-sided t-test of rater less judge (1, 0, -1) over independent
    items; raters with fewer than 30 items are left out. `p` is Tango's score test,
    whose variance is that under the null hypothesis and so does not vanish where few
    labels differ. The score is divided by the root of the design effect of `cluster`
    (items,), computed as if most of another document had been lost, and compared with
    t; its degrees of freedom are those of the equivalent number of equal documents
    (Satterthwaite's). Items of a document are correlated, and then the published test
    passes far too many judges (tests/calibration/rates.md).

    `weight` (items,): how many items each labelled one stands for (`label_weights`);
    None: one each. The published test takes no weights.

    Sources: Calderon, Reichart and Dror 2025, The Alternative Annotator Test for
    LLM-as-a-Judge, and its released code; Tango 1998, Equivalence test and confidence
    interval for the difference in proportions for the paired-sample design; Benjamini
    and Yekutieli 2001, The control of the false discovery rate in multiple testing
    under dependency. Raises ValueError unless shapes fit and 0 <= epsilon < 1.
    """
    labels, table = np.asarray(judge, np.float64), np.asarray(ratings, np.float64)
    if table.ndim != 2 or labels.shape != table.shape[1:]:
        raise ValueError(
            f"expected raters x items and a judge's, got {table.shape}, {labels.shape}"
        )
    if not 0 <= epsilon < 1:
        raise ValueError(f"expected an epsilon of 0 or more and below 1, got {epsilon}")
    clusters = cluster_codes(cluster, labels.size)
    weights = _weights(weight, labels.size)
    rows = [
        _contest(labels, table, rater, clusters, weights, epsilon, nearness)
        for rater in range(len(table))
    ]
    rejected = [
        benjamini_yekutieli(np.array([row[k] for row in rows]), level) for k in (4, 5)
    ]
    wins = zip(*(mask.tolist() for mask in rejected), strict=True)
    contests = [Contest(*row, *pair) for row, pair in zip(rows, wins, strict=True)]
    published = [
        contest.wins_published
        for contest in contests
        if np.isfinite(contest.p_published)
    ]
    tested = [contest for contest in contests if np.isfinite(contest.p)]
    by_test = published, [c.wins for c in tested], [c.advantage for c in tested]
    old, new, advantage = (
        float(np.mean(values)) if values else np.nan for values in by_test
    )
    passes = (rate >= 0.5 if np.isfinite(rate) else None for rate in (old, new))
    return AnnotatorTest(old, next(passes), new, next(passes), advantage, contests)


def benjamini_yekutieli(p: Array, level: float) -> Mask:
    """Return which hypotheses (n,) are rejected at false discovery rate `level`; NaN is none."""
    tested = np.flatnonzero(np.isfinite(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    rank = np.arange(1, order.size + 1)
    below = np.flatnonzero(p[order] <= rank / order.size * level / np.sum(1.0 / rank))
    return np.isin(np.arange(p.size), order[: below[-1] + 1] if below.size else [])


def _weights(weight: ArrayLike | None, n: int) -> Array:
    return np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)


def _contest(
    judge: Array,
    ratings: Array,
    rater: int,
    cluster: Clusters,
    weight: Array,
    epsilon: float,
    nearness: Nearness,
) -> tuple[int, int, float, float, float, float]:
    others = np.delete(ratings, rater, axis=0)
    labelled = (
        np.isfinite(judge)
        & np.isfinite(ratings[rater])
        & np.isfinite(others).any(axis=0)
        & (weight > 0)
    )
    n = int(np.count_nonzero(labelled))
    if not n:
        return 0, 0, np.nan, np.nan, np.nan, np.nan
    label, others, clusters = (
        ratings[rater][labelled],
        others[:, labelled],
        cluster[labelled],
    )
    lead = np.sign(
        _likeness(label, others, nearness)
        - _likeness(judge[labelled], others, nearness)
    )
    weights = weight[labelled]
    return (
        n,
        np.unique(clusters).size,
        float(np.average(lead <= 0, weights=weights)),
        float(np.average(lead >= 0, weights=weights)),
        _t_test(lead, epsilon),
        _score_test(lead, clusters, weights, epsilon),
    )


def _likeness(labels: Array, others: Array, nearness: Nearness) -> Array:
    """Return how near labels (items,) are to those of the others (raters, items)."""
    # The same others for judge and rater: sums suffice, means and roots order alike.
    if nearness == "equal":
        return np.asarray(np.sum(others == labels, axis=0), dtype=np.float64)
    # Rounded, so that equal distances are ties whatever the order of summation.
    return np.asarray(-np.round(np.nansum((others - labels) ** 2, axis=0), 9))


def _t_test(lead: Array, epsilon: float) -> float:
    if lead.size < FEWEST:
        return np.nan
    mean_gap, spread = float(np.mean(lead)) - epsilon, float(np.std(lead, ddof=1))
    if spread <= 1e-12:
        return float(mean_gap >= 0)
    return float(
        scipy.special.stdtr(lead.size - 1, mean_gap / spread * np.sqrt(lead.size))
    )


def _score_test(lead: Array, cluster: Clusters, weight: Array, epsilon: float) -> float:
    _, codes = np.unique(cluster, return_inverse=True)
    n, k = lead.size, int(codes.max()) + 1
    if k < 2:
        return np.nan
    weight = weight * (n / np.sum(weight))
    n_rater, n_judge = float(np.sum(weight[lead > 0])), float(np.sum(weight[lead < 0]))
    # The maximum-likelihood share of items where the judge is nearer, if the lead is
    # epsilon.
    linear = (2 * n - n_rater + n_judge) * epsilon - n_rater - n_judge
    root = np.sqrt(linear**2 + 8 * n * n_judge * epsilon * (1 - epsilon))
    nearer = (root - linear) / (4 * n)
    variance = n * (2 * nearer + epsilon * (1 - epsilon))
    if variance <= 0:
        return np.nan
    effect = _weighted_effect(lead, codes, weight)
    if k < n:
        # Losses of whole documents occur in few documents, by chance in none: the
        # design effect is computed as if another document had been lost, as much of it
        # as is lost on average of the others and of two thirds of a document.
        added = int(
            np.ceil((n_rater + n / k * 2 / 3) / (np.unique(codes[lead > 0]).size + 1))
        )
        extended = _weighted_effect(
            np.append(lead, np.ones(added)),
            np.append(codes, np.full(added, k)),
            np.append(weight, np.ones(added)),
        )
        effect = max(effect, extended)
    # A large document's weight grows with the correlation of its items: count equal
    # documents.
    sizes = np.bincount(codes, weights=weight)
    icc = min((effect - 1) / max(float(np.sum(sizes**2)) / n - 1, 1e-9), 1.0)
    spread = sizes * (1 + (sizes - 1) * icc)
    n_equal = float(np.sum(spread) ** 2 / np.sum(spread**2))
    score = (n_rater - n_judge - n * epsilon) / np.sqrt(variance * effect)
    return float(scipy.special.stdtr(max(n_equal - 1, 1), score))


def _weighted_effect(lead: Array, cluster: Clusters, weight: Array) -> float:
    # The variance of the weighted mean divided by that of a mean of n independent items.
    effect, _ = design_effect(lead, cluster)
    if np.all(weight == 1.0):
        return effect
    items, clusters = kish_size(weight, cluster)
    mean = weighted_mean(lead, weight, cluster)
    spread = float(np.average((lead - mean.value) ** 2, weights=weight))
    if spread <= 0:
        return lead.size / clusters
    return max(lead.size / items, mean.variance * lead.size / spread)


def accuracy_by_agreement(
    judge: ArrayLike,
    ratings: ArrayLike,
    *,
    confidence: float,
    cluster: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> dict[tuple[str, str], Estimate]:
    """Return the judge's accuracy on `all` items with two ratings or more, `unanimous` and `split`.

    Where people disagree, no verdict agrees with all of them: a rater's accuracy on the
    same items shows what is possible. Each rater is left out in turn. For each item,
    `judge` and `rater` are the shares of the other raters who agree with them (soft
    labels); a `difference` above 0 means that the judge agrees with people better than
    people do. Items are unanimous or split among the other raters: if the left-out
    rater's label counted, split items would understate the raters' accuracy. So two
    ratings of an item are never split. Intervals: Jeffreys' for the shares, which are
    wide for soft labels; t for the difference. Items of a `cluster` (items,), and
    raters of an item, are correlated. `n` counts items. `weight` as in `annotator_test`.
    """
    verdict, table = _verdicts(judge, ratings)
    clusters = cluster_codes(cluster, verdict.size)
    weights = None if weight is None else np.asarray(weight, dtype=np.float64)
    passes, raters = np.nansum(table, axis=0), np.isfinite(table).sum(axis=0)
    both = np.isfinite(verdict) & (raters >= 2)
    if weights is not None:
        both &= weights > 0
    rater, item = np.nonzero(np.isfinite(table) & both)
    label = table[rater, item]
    soft = (passes[item] - label) / (raters[item] - 1)
    as_judge = np.where(verdict[item] == 1, soft, 1 - soft)
    as_rater = np.where(label == 1, soft, 1 - soft)
    unanimous = (soft == 0) | (soft == 1)
    estimates, all_items = dict[tuple[str, str], Estimate](), unanimous | ~unanimous
    for name, rows in {
        "all": all_items,
        "unanimous": unanimous,
        "split": ~unanimous,
    }.items():
        groups, n = clusters[item[rows]], int(np.unique(item[rows]).size)
        of_rows = None if weights is None else weights[item[rows]]
        if of_rows is None:
            pair = [
                shares.share(v[rows], groups, confidence=confidence)
                for v in (as_judge, as_rater)
            ]
        else:
            pair = [
                weighted_share(v[rows], of_rows, groups, confidence=confidence)
                for v in (as_judge, as_rater)
            ]
        difference = Estimate(*UNDEFINED, 0, 0.0)
        if n:
            gaps = (as_judge - as_rater)[rows]
            difference = mean_of(gaps, groups, confidence=confidence, weight=of_rows)
        observers = zip(
            ("judge", "rater", "difference"), (*pair, difference), strict=True
        )
        estimates |= {
            (name, observer): estimate._replace(n=n) for observer, estimate in observers
        }
    return estimates


class BesideRaters(NamedTuple):
    """How near a judge and the raters are to the other raters of an item, on average.

    With "equal": the share of the other raters who gave the same label; 1 is best.
    With "squared", for numbers: the mean absolute difference from them; 0 is best.
    """

    judge: Estimate
    rater: Estimate
    difference: Estimate  # judge less rater


def compare_with_raters(
    judge: ArrayLike,
    ratings: ArrayLike,
    *,
    confidence: float,
    cluster: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    nearness: Nearness = "equal",
) -> BesideRaters:
    """Compare a judge (items,) and each rater with the others, ratings being (raters, items).

    The items count that the judge and two raters labelled. Each rater is left out in
    turn; judge and rater are held against the same others. Intervals by clusters:
    Jeffreys' for shares, t for mean differences. `n` counts items. Other arguments as
    in `annotator_test`.
    """
    labels, table = np.asarray(judge, np.float64), np.asarray(ratings, np.float64)
    clusters = cluster_codes(cluster, labels.size)
    weights = _weights(weight, labels.size)
    n_raters = np.isfinite(table).sum(axis=0)
    usable = np.isfinite(labels) & (n_raters >= 2) & (weights > 0)
    rater, item = np.nonzero(np.isfinite(table) & usable)
    if not item.size:
        none = Estimate(*UNDEFINED, 0, 0.0)
        return BesideRaters(none, none, none)
    as_judge, as_rater = np.empty(item.size), np.empty(item.size)
    for left_out in range(len(table)):
        rows = rater == left_out
        others = np.delete(table, left_out, axis=0)[:, item[rows]]
        as_judge[rows] = _mean_nearness(labels[item[rows]], others, nearness)
        of_rater = table[left_out, item[rows]]
        as_rater[rows] = _mean_nearness(of_rater, others, nearness)
    groups = clusters[item]
    options: dict[str, Any] = {"confidence": confidence}
    n = int(np.unique(item).size)

    def estimate(values: Array, *, is_share: bool) -> Estimate:
        if is_share and weight is None:
            number = shares.share(values, groups, **options)
        elif is_share:
            number = weighted_share(values, weights[item], groups, **options)
        else:
            of_rows = None if weight is None else weights[item]
            number = mean_of(values, groups, weight=of_rows, **options)
        return number._replace(n=n)

    return BesideRaters(
        judge=estimate(as_judge, is_share=nearness == "equal"),
        rater=estimate(as_rater, is_share=nearness == "equal"),
        difference=estimate(as_judge - as_rater, is_share=False),
    )


def _mean_nearness(labels: Array, others: Array, nearness: Nearness) -> Array:
    """Return the mean (items,) over the others (raters, items) of equality, or of distance."""
    distance = np.abs(others - labels)
    if nearness == "equal":
        distance = np.where(np.isnan(distance), np.nan, distance == 0)
    return np.asarray(np.nanmean(distance, axis=0))


class Latent(NamedTuple):
    """A latent class model's estimates for each observer; NaN where it is not identified."""

    sensitivity: list[Estimate]  # by observer, the judge first
    specificity: list[Estimate]
    # "by" what the model is identified, or "not identified:" and what is missing
    why: str


def latent_classes(
    judge: ArrayLike,
    ratings: ArrayLike,
    *,
    confidence: float,
    rng: np.random.Generator,
    population: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> Latent:
    """Estimate sensitivity and specificity of judge and raters against a latent truth.

    Maximum likelihood by EM, starting from the majority vote. Assumes that verdicts are
    independent given the truth, and that sensitivity and specificity are the same in
    every `population` (items,). If the judge errs on the same items as raters, the
    model takes them all to be right: it checks the majority vote, but is not a better
    truth.

    Identified with three verdicts on 10 items or more (Dawid and Skene; in the chosen
    solution observers are better than chance), else by two verdicts in two populations,
    10 items or more in each, whose shares of passes differ by .1 or more (Hui and
    Walter). Intervals are percentiles of 200 resamples of clusters, at least as wide as
    Jeffreys' for as many items of known truth. `weight` is that of `annotator_test`.
    Sources: Dawid and Skene 1979, Maximum likelihood estimation of observer error-rates
    using the EM algorithm; Hui and Walter 1980, Estimating the error rates of
    diagnostic tests; Kruskal 1977 on what three verdicts identify.
    """
    verdict, others = _verdicts(judge, ratings)
    table = np.vstack((verdict, others))
    populations = (
        np.zeros(verdict.size) if population is None else np.asarray(population)
    )
    _, place = np.unique(populations, return_inverse=True)
    clusters = cluster_codes(cluster, verdict.size)
    has_verdict = np.isfinite(table)
    of_items = _weights(weight, verdict.size)
    usable = has_verdict[0] & (has_verdict.sum(axis=0) >= 2) & (of_items > 0)
    table, place, clusters = table[:, usable], place[usable], clusters[usable]
    of_items = of_items[usable]
    n_populations = int(place.max(initial=0)) + 1
    three = int(np.count_nonzero(np.isfinite(table).sum(axis=0) >= 3))
    undefined = [Estimate(*UNDEFINED, table.shape[1], np.nan)] * len(table)
    sizes = np.bincount(place, minlength=n_populations)
    if three < TOGETHER and (n_populations < 2 or np.sort(sizes)[-2] < TOGETHER):
        why = (
            "not identified: it takes three verdicts an item, or two in two populations"
        )
        return Latent(undefined, undefined, why)
    columns = np.vstack((np.nan_to_num(table, nan=-1.0), place))
    kinds, kind = np.unique(columns, axis=1, return_inverse=True)
    patterns, population_of = np.where(kinds[:-1] < 0, np.nan, kinds[:-1]), kinds[-1]
    _, clusters = np.unique(clusters, return_inverse=True)
    counts = np.zeros((int(clusters.max()) + 1, patterns.shape[1]))
    # Weighted items count as many as items of equal weight that are as certain.
    certain = kish_size(of_items, clusters)[0] / np.sum(of_items)
    np.add.at(counts, (clusters, kind.reshape(-1)), of_items * certain)
    resamples = rng.multinomial(
        len(counts), np.full(len(counts), 1 / len(counts)), RESAMPLES
    )
    weights = np.vstack((np.ones(len(counts)), resamples)).astype(np.float64) @ counts
    rates, passing, worth = _em(
        patterns, population_of.astype(np.intp), weights, n_populations
    )
    if three < TOGETHER and np.ptp(passing[0]) < APART:
        why = "not identified: two verdicts an item, and populations that pass about as often"
        return Latent(undefined, undefined, why)
    by = (
        "three verdicts an item" if three >= TOGETHER else "two populations that differ"
    )

    def estimate(values: Array, items: float) -> Estimate:
        value, n = float(values[0]), table.shape[1]
        low, high = shares.ends(values[1:], value, confidence=confidence)
        # At 0 and 1 all resamples are equal.
        least, most = shares.jeffreys(value * items, items, confidence=confidence)
        ends = float(np.fmin(low, least)), float(np.fmax(high, most))
        return Estimate(value, *ends, n, float(len(counts)))

    passed, failed = (
        [
            estimate(row, float(n))
            for row, n in zip(np.round(values, 6).T, of_truth, strict=True)
        ]
        for values, of_truth in ((rates[1], worth[1]), (1.0 - rates[0], worth[0]))
    )
    return Latent(passed, failed, f"by {by}")


def _em(
    patterns: Array, place: Clusters, weights: Array, n: int
) -> tuple[Array, Array, Array]:
    # Fits patterns (observers, kinds) with weights (sets, kinds), all sets at once.
    # Returns shares of passes by truth (2, sets, observers), truth 1 last, shares of
    # true passes (sets, populations), and the numbers of items behind the first set's
    # shares (2, observers).
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
        updated = scipy.special.expit(
            logs[1] - logs[0] + scipy.special.logit(passing)[:, place]
        )
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
        raise ValueError(
            f"expected raters x items and verdicts, got {table.shape}, {verdict.shape}"
        )
    shares.pass_or_fail(table.ravel())
    return verdict, table
