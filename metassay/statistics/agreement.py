"""Agreement between raters: kappa, Krippendorff's alpha, ICC, shares; the human ceiling.

Ratings are numbers (raters, items), NaN where a rater did not rate. 1 is perfect agreement. A
coefficient that chance correction leaves without a meaning is NaN: when every rating is the same
value, agreement by chance is already perfect, and there is no variation from which reliability
could be told. (Some programs say 1.)

Each coefficient is a function of ratings and of many sets of whole weights (resamples, items), all
sets at a time: an item of weight w counts as w equal items, one of weight 0 as none. It takes the
items of `rated_items`: those with two ratings or more, for ICC with all. `agreement` gives its
value with every item once, `agreement_interval` puts a bootstrap interval around it.
`against_rater` says how well one rater predicts the others, and how far a metric is from it.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.correlation import (
    EVERY_COEFFICIENT,
    Level,
    in_turn,
    weighted_pearson,
    weighted_spearman,
)
from metassay.statistics.correlation import Coefficient as Correlation
from metassay.statistics.document_means import worth
from metassay.statistics.exact_sums import (
    NOISE,
    Array,
    Index,
    Mask,
    blocks,
    mean_without_gaps,
    quotient,
    weighted_sums,
)
from metassay.statistics.jackknife import (
    Across,
    LeftOut,
    left_out,
    left_out_documents,
    over_strata,
)
from metassay.statistics.layout import Layout, Part, numbered, plain
from metassay.statistics.resampling import HELD, expanded_percentiles, expanded_tail, tallies

Scale = Literal["nominal", "ordinal", "interval"]
Distance = Literal["none", "linear", "quadratic"]
Icc = Literal["icc1", "icc2", "icc3", "icc1k", "icc2k", "icc3k"]
Coefficient = Callable[[Array, Array], Array]  # ratings, weights -> (resamples,)
Units = Index
FEW_UNITS = 6  # resamples of fewer are too few different ones for ends so far out


class Agreement(NamedTuple):
    """One coefficient and what it rests on."""

    value: float  # 1 is perfect; NaN if undefined
    n: int  # items that it takes
    n_missing: int  # items that somebody rated and too few did


class Interval(NamedTuple):
    """A bootstrap interval and the number of resamples that it rests on."""

    low: float
    high: float
    n_defined: int  # resamples in which the coefficient was defined
    n_undefined: int  # resamples in which it was not


def agreement(ratings: ArrayLike, of: Coefficient, *, fewest: int = 2) -> Agreement:
    """A coefficient of this module with every item once, of the items with `fewest` ratings.

    Raises ValueError unless ratings are two-dimensional.
    """
    table, missing, _ = rated_items(ratings, fewest)
    n = table.shape[1]
    value = float(of(table, np.ones((1, n)))[0]) if n else np.nan
    return Agreement(value, n, missing)


class RatedItems(NamedTuple):
    """The items with ratings enough."""

    ratings: Array  # (raters, n)
    n_missing: int  # other items that have any rating
    which: Mask  # (items,) true for these n


def rated_items(ratings: ArrayLike, fewest: int = 2) -> RatedItems:
    """The items of (raters, items) with `fewest` ratings or more.

    Raises ValueError unless ratings are two-dimensional.
    """
    table = _rated(ratings)
    raters = np.sum(np.isfinite(table), axis=0)
    enough = raters >= max(fewest, 1)
    return RatedItems(table[:, enough], int(np.count_nonzero((raters > 0) & ~enough)), enough)


def _rated(ratings: ArrayLike) -> Array:
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"want a raters x items array, got {table.shape}")
    return np.where(np.isfinite(table), table, np.nan)


def share_within(pair: Array, weights: Array, tolerance: float = 0.0) -> Array:
    """Share (0 to 1) of the items whose two ratings differ by at most the tolerance.

    Of counts it is F1: each rater gives one count per item, so that precision, recall and F1
    (micro-averaged) are one number. Source: Ben Abacha et al. 2023, An investigation of evaluation
    metrics for automated medical note generation, tables 7 and 8, which print F1 without a formula:
    this reading fits their values beside kappa and Pearson.
    """
    near = (np.abs(pair[0] - pair[1]) <= tolerance).astype(np.float64)
    return np.asarray(weights @ near / np.sum(weights, axis=1))


def cohen_kappa(pair: Array, weights: Array, distance: Distance = "none") -> Array:
    """Cohen's kappa: 1 - observed / chance disagreement of two raters.

    `none` counts any difference as 1; `linear` and `quadratic` by the distance of the two ratings
    and its square. Each rater has chances of their own, taken from the items that both rated. NaN
    where both gave every item one and the same value. Source: Cohen 1960, A coefficient of
    agreement for nominal scales; Cohen 1968, Weighted kappa.
    """
    values, codes = np.unique(pair, return_inverse=True)
    first, second = codes.reshape(pair.shape)
    apart = np.abs(values[:, None] - values)
    cost = {"none": np.sign(apart), "linear": apart, "quadratic": apart**2}[distance]
    given = [weights @ (row[:, None] == values).astype(np.float64) for row in pair]
    chance = np.sum(weighted_sums(cost, given[0]) * given[1], axis=1)
    observed = weighted_sums(cost[first, second][None], weights)[:, 0] * np.sum(weights, axis=1)
    return 1.0 - quotient(observed, chance, chance > 0)


COUNT_COEFFICIENTS = ("kappa", "equal", "within_1", "within_2", "pearson")


def count_agreement(pair: Array, unit: Units, weights: Array) -> Array:
    """How far two raters' counts (2, items) agree: (5, resamples), COUNT_COEFFICIENTS in order.

    Weights (resamples, units) say how often each unit's items are drawn. 1 is perfect agreement;
    kappa, which counts any difference as 1, and pearson are NaN where they are undefined, all are
    where nothing is drawn. 3 0 1 2 5 4 0 2 and 3 1 1 4 5 2 0 3: .407407, .5, .75, 1, .779700.
    Source: Ben Abacha et al. 2023, tables 7 and 8.
    """
    drawn = weights[:, unit]
    near = [share_within(pair, drawn, tolerance) for tolerance in (0.0, 1.0, 2.0)]
    pearson = weighted_pearson(pair[0], pair[1], unit, weights)
    return np.stack([cohen_kappa(pair, drawn), *near, pearson])


def fleiss_kappa(ratings: Array, weights: Array) -> Array:
    """Fleiss' kappa: agreement of any two raters of an item, beyond chance.

    Items may have different numbers of ratings, and count alike (Gwet 2014, Handbook of inter-rater
    reliability, 2.5). NaN if all ratings are one value. Source: Fleiss 1971, Measuring nominal
    scale agreement among many raters.
    """
    counts = _counts(ratings)
    raters = np.sum(counts, axis=0)
    alike = (np.sum(counts**2, axis=0) - raters) / (raters * (raters - 1))
    sums = weighted_sums(np.vstack((alike, counts / raters)), weights)
    means = sums / np.sum(weights, axis=1, keepdims=True)
    chance = np.sum(means[:, 1:] ** 2, axis=1)
    return quotient(means[:, 0] - chance, 1.0 - chance, _varied(ratings, weights))


def krippendorff_alpha(ratings: Array, weights: Array, scale: Scale) -> Array:
    """Krippendorff's alpha: 1 - observed / expected disagreement.

    1 - (n - 1) * sum of (within / (raters - 1)) / among, where `within` adds up the squared
    differences of an item's pairs of ratings and `among` those of all pairs of all n ratings. On
    the ordinal scale alpha's difference of two values is that of their mean ranks. NaN if all
    ratings are one value. Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
    """
    known = np.isfinite(ratings)
    raters = np.sum(known, axis=0)
    n = weights @ raters
    if scale == "interval":
        # Squared differences of all pairs are n times the squares about the mean.
        values = np.where(known, ratings - np.mean(ratings[known]), 0.0)
        items = np.sum(values, axis=0) / raters
        strayed = np.sum(np.where(known, values - items, 0.0) ** 2, axis=0)
        mean = weighted_sums((raters * items)[None], weights) / n[:, None]
        among = n * np.sum(weights * (strayed + raters * (items - mean) ** 2), axis=1)
        within = weighted_sums((raters * strayed / (raters - 1))[None], weights)[:, 0]
    elif scale == "nominal":
        counts = _counts(ratings)
        unlike = (raters**2.0 - np.sum(counts**2, axis=0)) / 2.0
        given = weights @ counts.T
        among = (np.sum(given, axis=1) ** 2 - np.sum(given**2, axis=1)) / 2.0
        within = weighted_sums((unlike / (raters - 1))[None], weights)[:, 0]
    else:
        within, among = _ordinal(ratings, weights)
    return 1.0 - quotient((n - 1.0) * within, among, _varied(ratings, weights))


def icc(ratings: Array, weights: Array, kind: Icc) -> Array:
    """Intraclass correlation: the share of the ratings' variance that is the items'.

    icc1: raters differ by item; icc2: the same raters, a sample of all (absolute agreement); icc3:
    these raters only (consistency). A `k` gives the reliability of the raters' mean. It takes the
    items that every rater rated. NaN with fewer than two items or raters, or without variance.
    Source: Shrout and Fleiss 1979, Intraclass correlations: uses in assessing rater reliability.
    """
    k, n = len(ratings), np.sum(weights, axis=1)
    if k < 2 or np.any(n < 2):
        return np.full(len(weights), np.nan)
    table = ratings - np.mean(ratings)
    items = np.mean(table, axis=0)
    raters = weighted_sums(table, weights) / n[:, None]
    overall = np.mean(raters, axis=1, keepdims=True)
    between = k * np.sum(weights * (items - overall) ** 2, axis=1) / (n - 1)
    of_raters = n * np.sum((raters - overall) ** 2, axis=1) / (k - 1)
    strayed = np.sum((table - items) ** 2, axis=0)
    within = weighted_sums(strayed[None], weights)[:, 0] / (n * (k - 1))
    residual = np.zeros(len(weights))
    for own, mean in zip(table - items, (raters - overall).T, strict=True):
        residual += np.sum(weights * (own - mean[:, None]) ** 2, axis=1)
    residual /= (n - 1) * (k - 1)
    above, below = {
        "icc1": (between - within, between + (k - 1) * within),
        "icc2": (between - residual, between + (k - 1) * residual + k * (of_raters - residual) / n),
        "icc3": (between - residual, between + (k - 1) * residual),
        "icc1k": (between - within, between),
        "icc2k": (between - residual, between + (of_raters - residual) / n),
        "icc3k": (between - residual, between),
    }[kind]
    # Without variance, what is left of it is rounding.
    return quotient(above, below, below > (NOISE * np.max(np.abs(ratings))) ** 2)


def _ordinal(ratings: Array, weights: Array) -> tuple[Array, Array]:
    # Twice the mean rank less its mean: whole numbers, so the sums are exact. The ranks are those
    # among the ratings drawn, so that each resample has its own.
    given = weights @ _counts(ratings).T
    upto = np.cumsum(given, axis=1)
    n = upto[:, -1]
    ranks = 2.0 * upto - given - n[:, None]
    known = np.isfinite(ratings)
    codes = np.searchsorted(np.unique(ratings[known]), np.where(known, ratings, 0.0))
    total, squares = np.zeros((2, *weights.shape))
    for code, there in zip(codes, known, strict=True):
        rank = ranks[:, np.where(there, code, 0)] * there
        total += rank
        squares += rank**2
    raters = np.sum(known, axis=0)
    within = (raters * squares - total**2) / (raters - 1)
    return np.sum(weights * within, axis=1), n * np.sum(given * ranks**2, axis=1)


def _counts(ratings: Array) -> Array:
    """(values, items): how many raters gave the item the value, values ascending."""
    values = np.unique(ratings[np.isfinite(ratings)])
    return np.array([np.sum(ratings == value, axis=0) for value in values], dtype=np.float64)


def _varied(ratings: Array, weights: Array) -> Mask:
    known, drawn = np.isfinite(ratings), weights > 0
    lowest = np.min(np.where(known, ratings, np.inf), axis=0)
    highest = np.max(np.where(known, ratings, -np.inf), axis=0)
    most, least = np.where(drawn, highest, -np.inf), np.where(drawn, lowest, np.inf)
    return np.asarray(np.max(most, axis=1) > np.min(least, axis=1))


def mean_of_others(ratings: Array, rater: int) -> Array:
    """The mean of all raters but one, along the first axis; NaN where no other rated."""
    # Means of the same ratings in another order are one mean, not a rounding error apart.
    return np.asarray(np.round(mean_without_gaps(np.delete(ratings, rater, axis=0)), 12))


def agreement_interval(
    ratings: ArrayLike,
    of: Coefficient,
    unit: Units,
    *,
    n: int,
    confidence: float,
    rng: np.random.Generator,
) -> Interval:
    """Interval of a coefficient of ratings (raters, items), from n draws of units of items.

    Items of one `unit` (items,), as those of one document, are drawn together; the fewer units they
    are worth, the further out are the ends (`document_means.worth`, `expanded_percentiles`). `of`
    is called with equal items put together, their weights added. The raters stay. Both ends are NaN
    with one unit, and if fewer than half of the draws have a coefficient. Raises ValueError unless
    ratings are two-dimensional.
    """
    table, unit = _rated(ratings), numbered(unit)
    items, units = table.shape[1], int(np.max(unit, initial=-1)) + 1
    if units < 2:
        return Interval(np.nan, np.nan, 0, n)
    # No two NaN are equal, but two infinities are.
    kinds, kind = np.unique(np.nan_to_num(table, nan=np.inf), axis=1, return_inverse=True)
    kinds = np.where(np.isfinite(kinds), kinds, np.nan)
    order = np.argsort(kind.reshape(items), kind="stable")
    starts = np.searchsorted(kind.reshape(items)[order], np.arange(kinds.shape[1]))
    values = np.empty(n)
    for rows in blocks(n, items, numbers=HELD):
        drawn = tallies(rng.integers(units, size=(values[rows].size, units)), units)
        values[rows] = of(kinds, np.add.reduceat(drawn[:, unit[order]], starts, axis=1))
    defined = int(np.count_nonzero(~np.isnan(values)))
    (number,) = worth(np.ones((items, 1), dtype=bool), unit)
    low, high = expanded_percentiles(values[:, None], float(number), confidence)
    return Interval(float(low[0]), float(high[0]), defined, n - defined)


class Below(NamedTuple):
    """How far a rater's agreement with the others lies below theirs; positive: it is less."""

    value: float  # NaN if undefined
    low: float
    high: float
    n: int  # items that the rater and another one rated
    n_missing: int  # items that only the rater, or only others rated
    n_resamples: int  # resamples in which it is defined


class _Pair(NamedTuple):
    """Two raters' ratings of the items that both rated, and the units of these."""

    raters: tuple[int, int]
    ratings: Array
    unit: Index


def below_others(
    ratings: ArrayLike, unit: Index, *, n: int, confidence: float, rng: np.random.Generator
) -> list[Below]:
    """One per rater: the others' agreement among themselves less the rater's with them.

    Agreement is the mean of Spearman's correlations of two raters, of the items that both rated:
    who is lenient throughout agrees as well as anybody. Intervals are of n resamples of units:
    items of one `unit` (items,), as the texts and claims of one document, are drawn together; ends
    lie as far out as `expanded_tail` has them. The raters' low ends hold all at once with the
    `confidence`, by Bonferroni, so that somebody may be named whose low end is above 0 although
    nobody was suspected beforehand (how often equal raters are named: docs/calibration.md). A
    resample in which the value is undefined counts as no gap. NaN with fewer than three raters,
    where no two of the others share two items or more, and where fewer than half of the resamples
    are defined; no interval where units are worth less than FEW_UNITS. Raises ValueError unless
    ratings are two-dimensional.
    """
    table, unit = _rated(ratings), numbered(unit)
    known, raters = np.isfinite(table), len(table)
    pairs = [
        _Pair((a, b), table[[a, b]][:, both], unit[both])
        for a, b in combinations(range(raters), 2)
        for both in [known[a] & known[b]]
    ]
    size = int(unit.max(initial=-1)) + 1
    gaps = np.full((1 + n, raters), np.nan)
    if raters > 2 and size:
        gaps[0] = _gaps(pairs, raters, np.ones((1, size)))
        for rows in blocks(n, size, numbers=HELD):
            drawn = rng.integers(size, size=(len(gaps[1:][rows]), size))
            gaps[1:][rows] = _gaps(pairs, raters, tallies(drawn, size))
    (number,) = worth(np.asarray(known.any(axis=0, keepdims=True)).T, unit)
    tail = expanded_tail((1.0 - confidence) / max(1, raters), float(number))
    found = []
    for rater, (value, *values) in enumerate(gaps.T):
        n_defined, low, high = int(np.isfinite(values).sum()), np.nan, np.nan
        if np.isfinite(value) and 2 * n_defined >= n and number >= FEW_UNITS:
            # Where nearly all ratings are one grade, those few texts that differ are often not
            # drawn. Were these resamples left out, one text would be enough to name somebody.
            low, high = map(float, np.quantile(np.nan_to_num(values), (tail, 1.0 - tail)))
        others = np.delete(known, rater, axis=0).any(axis=0)
        shared, lost = known[rater] & others, known[rater] ^ others
        counts = int(np.sum(shared)), int(np.sum(lost)), n_defined
        found.append(Below(float(value), low, high, *counts))
    return found


def _gaps(pairs: Sequence[_Pair], raters: int, weights: Array) -> Array:
    """(resamples, raters): the others' agreement less the rater's."""
    of_pairs = np.stack(
        [weighted_spearman(one.ratings[0], one.ratings[1], one.unit, weights) for one in pairs]
    )
    gaps = np.empty((len(weights), raters))
    for rater in range(raters):
        mine = np.array([rater in one.raters for one in pairs])
        gaps[:, rater] = mean_without_gaps(of_pairs[~mine]) - mean_without_gaps(of_pairs[mine])
    return gaps


class AgainstRater(NamedTuple):
    """How a metric and a rater predict the other raters, with leave-outs for intervals."""

    metric: LeftOut  # the metric predicting the mean of all raters but one
    rater: LeftOut  # the rater left out doing the same, on the same texts and documents
    difference: LeftOut  # metric less rater
    n: Any  # int; raters for whom both are defined
    n_undefined: Any  # raters for whom one is not
    n_compared: Any  # texts, documents or systems that both rest on: the fewest of any rater


def against_rater(
    metric: ArrayLike,
    ratings: ArrayLike,
    level: Level,
    coefficient: Correlation,
    *,
    layout: Layout | None = None,
) -> AgainstRater:
    """Hold metrics (..., systems, documents) against the raters' own agreement.

    Ratings are (raters, systems, documents). For each rater, rater and metric are held against the
    mean of the other raters, in the cells that this rater, another one and the metric scored; at
    document level, only in the documents in which this rater and the others tell these texts apart.
    There a metric that does not tell them apart counts 0: it does not get the mean of the documents
    that suit it. Then the mean over the raters. Negate a metric of which less is better. Raises
    ValueError unless shapes fit.
    """
    table, scores = np.asarray(ratings, np.float64), np.asarray(metric, np.float64)
    if table.ndim != 3 or scores.shape[-2:] != table.shape[1:]:
        raise ValueError(
            f"want raters x systems x documents and one system x document shape, got"
            f" {table.shape}, {scores.shape}"
        )
    n_raters, groups = len(table), layout or plain(scores.shape)
    table = table if n_raters else np.full((1, *table.shape[1:]), np.nan)
    of = EVERY_COEFFICIENT[coefficient]

    def with_rater(rater: int) -> tuple[LeftOut, LeftOut, Array]:
        others = mean_of_others(table, rater)

        def of_these(a: Array, c: Array, present: Mask) -> tuple[Any, ...]:
            a, c = np.where(present, a, np.nan), np.where(present, c, np.nan)
            b = np.where(present, table[rater], np.nan)[None]  # alike for all these metrics
            if level == "document":
                lefts = [_by_document(one, b, c[:1], coefficient, groups) for one in (a, None)]
                n = int(np.count_nonzero(~np.isnan(of(b.mT, c[:1].mT))))
            else:
                lefts = [left_out(one, c[:1], level, coefficient, groups) for one in (a, b)]
                n = int(np.count_nonzero(present if level == "global" else present.any(axis=1)))
            own = lefts[1].take(np.zeros(len(a), dtype=np.intp))
            return *lefts[0], *own, np.full(len(a), n)

        rated = np.where(np.isfinite(table[rater]), others, np.nan)
        sides = in_turn(of_these, scores.reshape(-1, *scores.shape[-2:]), rated)
        return LeftOut(*sides[:5]), LeftOut(*sides[5:10]), sides[10]

    metrics, raters, compared = zip(*map(with_rater, range(len(table))), strict=True)
    both = np.array([~np.isnan(a.value + b.value) for a, b in zip(metrics, raters, strict=True)])
    mean_metric, mean_rater = (_mean(found, both) for found in (metrics, raters))
    difference = mean_metric._replace(
        value=mean_metric.value - mean_rater.value,
        systems=mean_metric.systems - mean_rater.systems,
        documents=mean_metric.documents - mean_rater.documents,
    )
    n = both.sum(axis=0)
    fewest = np.where(both, np.array(compared), np.iinfo(np.intp).max).min(axis=0)
    found = mean_metric, mean_rater, difference
    counts = n, n_raters - n, np.where(n > 0, fewest, 0)
    if scores.ndim == 2:
        return AgainstRater(*(one.take(0) for one in found), *(one[0] for one in counts))
    return AgainstRater(*found, *counts)


def _by_document(
    metric: Array | None, rater: Array, others: Array, coefficient: Correlation, layout: Layout
) -> LeftOut:
    # Of the metrics (a document in which one has no coefficient: 0) or else of the rater, over the
    # documents in which the rater has one.
    def left_of(part: Part) -> tuple[LeftOut, Any]:
        rated, known = part.of(rater), part.of(others)
        scores = None if metric is None else part.of(metric)

        def values(of: Across) -> Array:
            of_rater = of(rated, known)
            if scores is None:
                return of_rater
            return np.where(np.isnan(of_rater), np.nan, np.nan_to_num(of(scores, known)))

        n = int(np.count_nonzero(~np.isnan(EVERY_COEFFICIENT[coefficient](rated.mT, known.mT))))
        left = left_out_documents(values, coefficient, np.isfinite(known[0]), part.layout)
        return left, np.full(len(left.systems), n)

    return over_strata(left_of, np.isfinite(others[0]), layout, "document")


def _mean(found: Sequence[LeftOut], counts: Mask) -> LeftOut:
    # Over the raters that count (raters, metrics); a leave-out only if it is defined for all.
    def mean(name: str) -> Array:
        each = np.array([getattr(one, name) for one in found])
        used = counts.reshape(*counts.shape, *[1] * (each.ndim - 2))
        n = used.sum(axis=0)
        return quotient(np.where(used, each, 0.0).sum(axis=0), n, n > 0)

    sides = mean("value"), mean("systems"), mean("documents")
    return LeftOut(*sides, *found[0][3:])
