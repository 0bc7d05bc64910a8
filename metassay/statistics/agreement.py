"""Agreement between raters: kappa, Krippendorff's alpha, ICC, shares; the human ceiling.

Ratings are numbers (raters, items), NaN where a rater did not rate. 1 is perfect
agreement. A coefficient is NaN where chance correction is undefined: when all ratings
are the same value, agreement by chance is perfect, and without variation there is no
reliability. (Some programs return 1.)

Each coefficient is a function of ratings and of sets of integer weights (resamples,
items): an item of weight w counts as w equal items, an item of weight 0 is left out. It
takes the items of `rated_items`: those with two ratings or more, for ICC with all.
`agreement` weights every item 1, `agreement_interval` computes a bootstrap interval.
`compare_with_rater` compares how well a metric and a rater predict the other raters.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.correlation import (
    EVERY_COEFFICIENT,
    Level,
    map_cells,
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
    LeaveOneOut,
    average_strata,
    leave_out,
    leave_out_documents,
)
from metassay.statistics.layout import Layout, Part, default_layout, factorize
from metassay.statistics.resampling import (
    CHUNK,
    expanded_percentiles,
    expanded_tail,
    tallies,
)

Scale = Literal["nominal", "ordinal", "interval"]
Distance = Literal["none", "linear", "quadratic"]
Icc = Literal["icc1", "icc2", "icc3", "icc1k", "icc2k", "icc3k"]
Coefficient = Callable[[Array, Array], Array]  # ratings, weights -> (resamples,)
Units = Index
FEW_UNITS = 6  # fewer have too few distinct resamples for ends in the far tails


class Agreement(NamedTuple):
    """A coefficient and its number of items."""

    value: float  # 1 is perfect; NaN if undefined
    n: int  # items with enough ratings
    n_missing: int  # items with ratings, but too few


class Interval(NamedTuple):
    """A bootstrap interval and its numbers of resamples."""

    low: float
    high: float
    n_defined: int  # resamples in which the coefficient is defined
    n_undefined: int  # resamples in which it is not


def agreement(ratings: ArrayLike, of: Coefficient, *, fewest: int = 2) -> Agreement:
    """Compute a coefficient of this module from the items with at least `fewest` ratings.

    Raises ValueError unless ratings are two-dimensional.
    """
    table, missing, _ = rated_items(ratings, fewest)
    n = table.shape[1]
    value = float(of(table, np.ones((1, n)))[0]) if n else np.nan
    return Agreement(value, n, missing)


class RatedItems(NamedTuple):
    """The items with enough ratings."""

    ratings: Array  # (raters, n)
    n_missing: int  # other items that have any rating
    which: Mask  # (items,) true for the n items


def rated_items(ratings: ArrayLike, fewest: int = 2) -> RatedItems:
    """Select the items of (raters, items) with at least `fewest` ratings.

    Raises ValueError unless ratings are two-dimensional.
    """
    table = _rated(ratings)
    raters = np.sum(np.isfinite(table), axis=0)
    enough = raters >= max(fewest, 1)
    return RatedItems(
        table[:, enough], int(np.count_nonzero((raters > 0) & ~enough)), enough
    )


def _rated(ratings: ArrayLike) -> Array:
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"expected a raters x items array, got {table.shape}")
    return np.where(np.isfinite(table), table, np.nan)


def share_within(pair: Array, weights: Array, tolerance: float = 0.0) -> Array:
    """Return the share (0 to 1) of items whose two ratings differ by at most the tolerance.

    For counts this is F1: each rater gives one count per item, so that precision,
    recall and F1 (micro-averaged) are equal. Source: Ben Abacha et al. 2023, An
    investigation of evaluation metrics for automated medical note generation, tables 7
    and 8, which print F1 without a formula: this reading fits their values beside kappa
    and Pearson.
    """
    near = (np.abs(pair[0] - pair[1]) <= tolerance).astype(np.float64)
    return np.asarray(weights @ near / np.sum(weights, axis=1))


def cohen_kappa(pair: Array, weights: Array, distance: Distance = "none") -> Array:
    """Return Cohen's kappa: 1 - observed / chance disagreement of two raters.

    `none` counts any difference as 1; `linear` and `quadratic` the distance of the two
    ratings and its square. Chance rests on each rater's distribution over the items
    that both rated. NaN where both gave all items the same value. Source: Cohen 1960, A
    coefficient of agreement for nominal scales; Cohen 1968, Weighted kappa.
    """
    values, codes = np.unique(pair, return_inverse=True)
    first, second = codes.reshape(pair.shape)
    distances = np.abs(values[:, None] - values)
    cost = {"none": np.sign(distances), "linear": distances, "quadratic": distances**2}[
        distance
    ]
    counts = [weights @ (row[:, None] == values).astype(np.float64) for row in pair]
    chance = np.sum(weighted_sums(cost, counts[0]) * counts[1], axis=1)
    observed = weighted_sums(cost[first, second][None], weights)[:, 0] * np.sum(
        weights, axis=1
    )
    return 1.0 - quotient(observed, chance, chance > 0)


COUNT_COEFFICIENTS = ("kappa", "equal", "within_1", "within_2", "pearson")


def count_agreement(pair: Array, unit: Index, weights: Array) -> Array:
    """Compare two raters' counts (2, items): (5, resamples), in the order of COUNT_COEFFICIENTS.

    Weights (resamples, units) are how often each unit's items are drawn. 1 is perfect
    agreement. Kappa counts any difference as 1; kappa and pearson are NaN where
    undefined, all are where nothing is drawn. 3 0 1 2 5 4 0 2 and 3 1 1 4 5 2 0 3:
    .407407, .5, .75, 1, .779700. Source: Ben Abacha et al. 2023, tables 7 and 8.
    """
    times = weights[:, unit]
    near = [share_within(pair, times, tolerance) for tolerance in (0.0, 1.0, 2.0)]
    pearson = weighted_pearson(pair[0], pair[1], unit, weights)
    return np.stack([cohen_kappa(pair, times), *near, pearson])


def fleiss_kappa(ratings: Array, weights: Array) -> Array:
    """Return Fleiss' kappa: agreement beyond chance of any two raters of an item.

    Items can have different numbers of ratings, and count the same (Gwet 2014, Handbook
    of inter-rater reliability, 2.5). NaN if all ratings are one value. Source: Fleiss
    1971, Measuring nominal scale agreement among many raters.
    """
    counts = _counts(ratings)
    raters = np.sum(counts, axis=0)
    agreement = (np.sum(counts**2, axis=0) - raters) / (raters * (raters - 1))
    sums = weighted_sums(np.vstack((agreement, counts / raters)), weights)
    means = sums / np.sum(weights, axis=1, keepdims=True)
    chance = np.sum(means[:, 1:] ** 2, axis=1)
    return quotient(means[:, 0] - chance, 1.0 - chance, _varied(ratings, weights))


def krippendorff_alpha(ratings: Array, weights: Array, scale: Scale) -> Array:
    """Return Krippendorff's alpha: 1 - observed / expected disagreement.

    1 - (n - 1) * sum of (within / (raters - 1)) / among, where `within` is the sum of
    squared differences of an item's pairs of ratings and `among` that of all pairs of
    all n ratings. On the ordinal scale the difference of two values is that of their
    mean ranks. NaN if all ratings are one value. Source: Krippendorff 2011, Computing
    Krippendorff's Alpha-Reliability.
    """
    rated = np.isfinite(ratings)
    raters = np.sum(rated, axis=0)
    n = weights @ raters
    if scale == "interval":
        # Squared differences of all pairs are n times the squares about the mean.
        values = np.where(rated, ratings - np.mean(ratings[rated]), 0.0)
        items = np.sum(values, axis=0) / raters
        deviations = np.sum(np.where(rated, values - items, 0.0) ** 2, axis=0)
        mean = weighted_sums((raters * items)[None], weights) / n[:, None]
        among = n * np.sum(
            weights * (deviations + raters * (items - mean) ** 2), axis=1
        )
        within = weighted_sums((raters * deviations / (raters - 1))[None], weights)[
            :, 0
        ]
    elif scale == "nominal":
        counts = _counts(ratings)
        disagreements = (raters**2.0 - np.sum(counts**2, axis=0)) / 2.0
        totals = weights @ counts.T
        among = (np.sum(totals, axis=1) ** 2 - np.sum(totals**2, axis=1)) / 2.0
        within = weighted_sums((disagreements / (raters - 1))[None], weights)[:, 0]
    else:
        within, among = _ordinal(ratings, weights)
    return 1.0 - quotient((n - 1.0) * within, among, _varied(ratings, weights))


def icc(ratings: Array, weights: Array, kind: Icc) -> Array:
    """Return the intraclass correlation: the share of the ratings' variance between items.

    icc1: raters differ by item; icc2: the same raters, a sample of all (absolute
    agreement); icc3: these raters only (consistency). A `k` gives the reliability of
    the raters' mean. Takes the items that every rater rated. NaN with fewer than two
    items or raters, or without variance. Source: Shrout and Fleiss 1979, Intraclass
    correlations: uses in assessing rater reliability.
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
    deviations = np.sum((table - items) ** 2, axis=0)
    within = weighted_sums(deviations[None], weights)[:, 0] / (n * (k - 1))
    residual = np.zeros(len(weights))
    for deviation, mean in zip(table - items, (raters - overall).T, strict=True):
        residual += np.sum(weights * (deviation - mean[:, None]) ** 2, axis=1)
    residual /= (n - 1) * (k - 1)
    numerator, denominator = {
        "icc1": (between - within, between + (k - 1) * within),
        "icc2": (
            between - residual,
            between + (k - 1) * residual + k * (of_raters - residual) / n,
        ),
        "icc3": (between - residual, between + (k - 1) * residual),
        "icc1k": (between - within, between),
        "icc2k": (between - residual, between + (of_raters - residual) / n),
        "icc3k": (between - residual, between),
    }[kind]
    # A denominator this small is rounding error.
    return quotient(
        numerator, denominator, denominator > (NOISE * np.max(np.abs(ratings))) ** 2
    )


def _ordinal(ratings: Array, weights: Array) -> tuple[Array, Array]:
    # Twice the mean rank less its mean: whole numbers, so the sums are exact. Ranks are
    # among the ratings of a resample.
    counts = weights @ _counts(ratings).T
    cumulated = np.cumsum(counts, axis=1)
    n = cumulated[:, -1]
    ranks = 2.0 * cumulated - counts - n[:, None]
    rated = np.isfinite(ratings)
    codes = np.searchsorted(np.unique(ratings[rated]), np.where(rated, ratings, 0.0))
    total, squares = np.zeros((2, *weights.shape))
    for code, has_rating in zip(codes, rated, strict=True):
        rank = ranks[:, np.where(has_rating, code, 0)] * has_rating
        total += rank
        squares += rank**2
    raters = np.sum(rated, axis=0)
    within = (raters * squares - total**2) / (raters - 1)
    return np.sum(weights * within, axis=1), n * np.sum(counts * ranks**2, axis=1)


def _counts(ratings: Array) -> Array:
    """Return (values, items) how many raters gave the item the value, values ascending."""
    values = np.unique(ratings[np.isfinite(ratings)])
    return np.array(
        [np.sum(ratings == value, axis=0) for value in values], dtype=np.float64
    )


def _varied(ratings: Array, weights: Array) -> Mask:
    rated, counted = np.isfinite(ratings), weights > 0
    lowest = np.min(np.where(rated, ratings, np.inf), axis=0)
    highest = np.max(np.where(rated, ratings, -np.inf), axis=0)
    most, least = np.where(counted, highest, -np.inf), np.where(counted, lowest, np.inf)
    return np.asarray(np.max(most, axis=1) > np.min(least, axis=1))


def mean_of_others(ratings: Array, rater: int) -> Array:
    """Return the mean of all raters but `rater`, along the first axis; NaN where no other rated."""
    # Rounded, so that means of the same ratings in another order are equal.
    return np.asarray(
        np.round(mean_without_gaps(np.delete(ratings, rater, axis=0)), 12)
    )


def agreement_interval(
    ratings: ArrayLike,
    of: Coefficient,
    unit: Index,
    *,
    n: int,
    confidence: float,
    rng: np.random.Generator,
) -> Interval:
    """Return a bootstrap interval of a coefficient of ratings (raters, items), from n resamples.

    Items with the same `unit` (items,), as those of a document, are drawn together; the
    fewer effective units, the further out are the ends (`document_means.worth`,
    `expanded_percentiles`). `of` is called with equal items merged and their weights
    added. Raters are fixed. Both ends are NaN with one unit, and if fewer than half of
    the resamples have a coefficient. Raises ValueError unless ratings are
    two-dimensional.
    """
    table, unit = _rated(ratings), factorize(unit)
    items, units = table.shape[1], int(np.max(unit, initial=-1)) + 1
    if units < 2:
        return Interval(np.nan, np.nan, 0, n)
    # NaN never equals NaN, but infinities are equal.
    kinds, kind = np.unique(
        np.nan_to_num(table, nan=np.inf), axis=1, return_inverse=True
    )
    kinds = np.where(np.isfinite(kinds), kinds, np.nan)
    order = np.argsort(kind.reshape(items), kind="stable")
    starts = np.searchsorted(kind.reshape(items)[order], np.arange(kinds.shape[1]))
    values = np.empty(n)
    for rows in blocks(n, items, numbers=CHUNK):
        counts = tallies(rng.integers(units, size=(values[rows].size, units)), units)
        values[rows] = of(
            kinds, np.add.reduceat(counts[:, unit[order]], starts, axis=1)
        )
    defined = int(np.count_nonzero(~np.isnan(values)))
    (number,) = worth(np.ones((items, 1), dtype=bool), unit)
    low, high = expanded_percentiles(values[:, None], float(number), confidence)
    return Interval(float(low[0]), float(high[0]), defined, n - defined)


class AgreementGap(NamedTuple):
    """The others' agreement less a rater's agreement with them; positive: the rater agrees less."""

    value: float  # NaN if undefined
    low: float
    high: float
    n: int  # items that the rater and another one rated
    n_missing: int  # items that only the rater, or only others rated
    n_resamples: int  # resamples in which it is defined


# Two raters, their ratings of the items that both rated, and the items' units.
_Pair = tuple[tuple[int, int], Array, Index]


def compare_with_others(
    ratings: ArrayLike,
    unit: Index,
    *,
    n: int,
    confidence: float,
    rng: np.random.Generator,
) -> list[AgreementGap]:
    """For each rater, subtract the rater's agreement with the others from theirs with each other.

    Agreement is the mean Spearman correlation of pairs of raters, over the items that
    both rated: a lenient rater can agree well. Intervals rest on n resamples of units:
    items with the same `unit` (items,), as the texts and claims of a document, are
    drawn together; the ends are those of `expanded_tail`. All low ends hold jointly
    with the `confidence`, by Bonferroni, so that a rater with a low end above 0 can be
    named without prior suspicion (how often equal raters are named:
    tests/calibration/rates.md). A resample in which the value is undefined counts as no gap.
    NaN with fewer than three raters, where no two others share two items, and where
    fewer than half of the resamples are defined; no interval with fewer than FEW_UNITS
    effective units. Raises ValueError unless ratings are two-dimensional.
    """
    table, unit = _rated(ratings), factorize(unit)
    rated, raters = np.isfinite(table), len(table)
    pairs = [
        ((a, b), table[[a, b]][:, both], unit[both])
        for a, b in combinations(range(raters), 2)
        for both in [rated[a] & rated[b]]
    ]
    size = int(unit.max(initial=-1)) + 1
    gaps = np.full((1 + n, raters), np.nan)
    if raters > 2 and size:
        gaps[0] = _gaps(pairs, raters, np.ones((1, size)))
        for rows in blocks(n, size, numbers=CHUNK):
            choices = rng.integers(size, size=(len(gaps[1:][rows]), size))
            gaps[1:][rows] = _gaps(pairs, raters, tallies(choices, size))
    (n_units,) = worth(np.asarray(rated.any(axis=0, keepdims=True)).T, unit)
    tail = expanded_tail((1.0 - confidence) / max(1, raters), float(n_units))
    gaps_of_raters = []
    for rater, (value, *values) in enumerate(gaps.T):
        n_defined, low, high = int(np.isfinite(values).sum()), np.nan, np.nan
        if np.isfinite(value) and 2 * n_defined >= n and n_units >= FEW_UNITS:
            # Where nearly all ratings are equal, the few texts that differ are often
            # not drawn. Without those resamples, a single text would be enough to name
            # a rater.
            low, high = map(
                float, np.quantile(np.nan_to_num(values), (tail, 1.0 - tail))
            )
        others = np.delete(rated, rater, axis=0).any(axis=0)
        shared, missing = rated[rater] & others, rated[rater] ^ others
        counts = int(np.sum(shared)), int(np.sum(missing)), n_defined
        gaps_of_raters.append(AgreementGap(float(value), low, high, *counts))
    return gaps_of_raters


def _gaps(pairs: Sequence[_Pair], raters: int, weights: Array) -> Array:
    """Return (resamples, raters) the others' agreement less the rater's."""
    of_pairs = np.stack(
        [weighted_spearman(x, y, unit, weights) for _, (x, y), unit in pairs]
    )
    gaps = np.empty((len(weights), raters))
    for rater in range(raters):
        of_rater = np.array([rater in two for two, _, _ in pairs])
        gaps[:, rater] = mean_without_gaps(of_pairs[~of_rater]) - mean_without_gaps(
            of_pairs[of_rater]
        )
    return gaps


class AgainstRater(NamedTuple):
    """How well a metric and a rater predict the other raters, with leave-outs for intervals."""

    metric: LeaveOneOut  # the metric predicting the mean of all raters but one
    # the remaining rater predicting it, on the same texts and documents
    rater: LeaveOneOut
    difference: LeaveOneOut  # metric less rater
    n: Any  # int; raters for whom both are defined
    n_undefined: Any  # raters for whom one is not
    n_compared: Any  # texts, documents or systems of both: the minimum over raters


def compare_with_rater(
    metric: ArrayLike,
    ratings: ArrayLike,
    level: Level,
    coefficient: Correlation,
    *,
    layout: Layout | None = None,
) -> AgainstRater:
    """Compare metrics (..., systems, documents) with the raters' agreement among themselves.

    Ratings are (raters, systems, documents). For each rater, rater and metric are
    correlated with the mean of the other raters, in the cells that this rater, another
    rater and the metric scored; at document level, only in documents where the rater's
    correlation is defined. There an undefined correlation of the metric counts 0, so
    that a metric is not averaged over the documents that suit it. Results are means
    over the raters. Negate a metric of which less is better. Raises ValueError unless
    shapes fit.
    """
    table, scores = np.asarray(ratings, np.float64), np.asarray(metric, np.float64)
    if table.ndim != 3 or scores.shape[-2:] != table.shape[1:]:
        raise ValueError(
            f"expected raters x systems x documents and one system x document shape, got"
            f" {table.shape}, {scores.shape}"
        )
    n_raters, groups = len(table), layout or default_layout(scores.shape)
    table = table if n_raters else np.full((1, *table.shape[1:]), np.nan)
    of = EVERY_COEFFICIENT[coefficient]

    def leave_out_rater(rater: int) -> tuple[LeaveOneOut, LeaveOneOut, Array]:
        others = mean_of_others(table, rater)

        def leave_out_both(a: Array, c: Array, present: Mask) -> tuple[Any, ...]:
            a, c = np.where(present, a, np.nan), np.where(present, c, np.nan)
            # the same for all metrics
            b = np.where(present, table[rater], np.nan)[None]
            if level == "document":
                lefts = [
                    _correlate_documents(side, b, c[:1], coefficient, groups)
                    for side in (a, None)
                ]
                n = int(np.count_nonzero(~np.isnan(of(b.mT, c[:1].mT))))
            else:
                lefts = [
                    leave_out(side, c[:1], level, coefficient, groups)
                    for side in (a, b)
                ]
                n = int(
                    np.count_nonzero(
                        present if level == "global" else present.any(axis=1)
                    )
                )
            of_rater = lefts[1].take(np.zeros(len(a), dtype=np.intp))
            return *lefts[0], *of_rater, np.full(len(a), n)

        rated = np.where(np.isfinite(table[rater]), others, np.nan)
        sides = map_cells(leave_out_both, scores.reshape(-1, *scores.shape[-2:]), rated)
        return LeaveOneOut(*sides[:5]), LeaveOneOut(*sides[5:10]), sides[10]

    metrics, raters, compared = zip(
        *map(leave_out_rater, range(len(table))), strict=True
    )
    both = np.array(
        [~np.isnan(a.value + b.value) for a, b in zip(metrics, raters, strict=True)]
    )
    mean_metric, mean_rater = (_mean(results, both) for results in (metrics, raters))
    sides = zip(mean_metric[:3], mean_rater[:3], strict=True)
    difference = LeaveOneOut._make([*(a - b for a, b in sides), *mean_metric[3:]])
    n = both.sum(axis=0)
    fewest = np.where(both, np.array(compared), np.iinfo(np.intp).max).min(axis=0)
    results = mean_metric, mean_rater, difference
    counts = n, n_raters - n, np.where(n > 0, fewest, 0)
    if scores.ndim == 2:
        return AgainstRater(
            *(left.take(0) for left in results), *(c[0] for c in counts)
        )
    return AgainstRater(*results, *counts)


def _correlate_documents(
    metric: Array | None,
    rater: Array,
    others: Array,
    coefficient: Correlation,
    layout: Layout,
) -> LeaveOneOut:
    # Of the metrics (0 in a document where theirs is undefined) or else of the rater,
    # over the documents where the rater's coefficient is defined.
    def correlate_part(part: Part) -> tuple[LeaveOneOut, Any]:
        rated, target = part.select(rater), part.select(others)
        scores = None if metric is None else part.select(metric)

        def values(of: Across) -> Array:
            of_rater = of(rated, target)
            if scores is None:
                return of_rater
            return np.where(
                np.isnan(of_rater), np.nan, np.nan_to_num(of(scores, target))
            )

        n = int(
            np.count_nonzero(
                ~np.isnan(EVERY_COEFFICIENT[coefficient](rated.mT, target.mT))
            )
        )
        left = leave_out_documents(
            values, coefficient, np.isfinite(target[0]), part.layout
        )
        return left, np.full(len(left.systems), n)

    return average_strata(correlate_part, np.isfinite(others[0]), layout, "document")


def _mean(lefts: Sequence[LeaveOneOut], counts: Mask) -> LeaveOneOut:
    # Over the raters that count (raters, metrics); a leave-out must be defined for all.
    def mean(name: str) -> Array:
        values = np.array([getattr(left, name) for left in lefts])
        counted = counts.reshape(*counts.shape, *[1] * (values.ndim - 2))
        n = counted.sum(axis=0)
        return quotient(np.where(counted, values, 0.0).sum(axis=0), n, n > 0)

    sides = mean("value"), mean("systems"), mean("documents")
    return LeaveOneOut(*sides, *lefts[0][3:])
