"""Coefficients of agreement under many sets of whole weights, all sets at a time.

Ratings are (raters, items), NaN where a rater did not rate, and hold only items that the
coefficient takes: of pairs, those with both ratings; of all raters, those with two or more, for
ICC with all. An item of weight w counts as w equal items, one of weight 0 as none: a bootstrap
resample is such a set of weights (resamples, items). Results are (resamples,), NaN where the
coefficient is undefined. Meaning and sources stand in `agreement` and `reliability`.
"""

from typing import Literal

import numpy as np

from metassay.statistics.arithmetic import NOISE, Array, Mask, weighted_sums

Scale = Literal["nominal", "ordinal", "interval"]
Weights = Literal["none", "linear", "quadratic"]
Icc = Literal["icc1", "icc2", "icc3", "icc1k", "icc2k", "icc3k"]


def share_within(pair: Array, weights: Array, tolerance: float) -> Array:
    """Share of the items whose two ratings differ by at most the tolerance."""
    near = (np.abs(pair[0] - pair[1]) <= tolerance).astype(np.float64)
    share: Array = weights @ near / np.sum(weights, axis=1)
    return share


def cohen_kappa(pair: Array, weights: Array, distance: Weights) -> Array:
    """Cohen's kappa, differences counted by their `distance`."""
    values, codes = np.unique(pair, return_inverse=True)
    first, second = codes.reshape(pair.shape)
    apart = np.abs(values[:, None] - values)
    cost = {"none": np.sign(apart), "linear": apart, "quadratic": apart**2}[distance]
    given = [weights @ (row[:, None] == values).astype(np.float64) for row in pair]
    chance = np.sum(weighted_sums(cost, given[0]) * given[1], axis=1)
    observed = weighted_sums(cost[first, second][None], weights)[:, 0] * np.sum(weights, axis=1)
    return 1.0 - _ratio(observed, chance, chance > 0)


def fleiss_kappa(ratings: Array, weights: Array) -> Array:
    """Fleiss' kappa; every item counts alike, however many rated it."""
    counts = _counts(ratings)
    raters = np.sum(counts, axis=0)
    alike = (np.sum(counts**2, axis=0) - raters) / (raters * (raters - 1))
    sums = weighted_sums(np.vstack((alike, counts / raters)), weights)
    means = sums / np.sum(weights, axis=1, keepdims=True)
    chance = np.sum(means[:, 1:] ** 2, axis=1)
    return _ratio(means[:, 0] - chance, 1.0 - chance, _varied(ratings, weights))


def krippendorff_alpha(ratings: Array, weights: Array, scale: Scale) -> Array:
    """Krippendorff's alpha.

    1 - (n - 1) * sum of (within / (raters - 1)) / among, where `within` adds up the squared
    differences of an item's pairs of ratings and `among` those of all pairs of all n ratings. On
    the ordinal scale alpha's difference of two values is that of their mean ranks.
    """
    of = {"nominal": _nominal, "ordinal": _ordinal, "interval": _interval}[scale]
    within, among = of(ratings, weights)
    n = weights @ np.sum(np.isfinite(ratings), axis=0)
    return 1.0 - _ratio((n - 1.0) * within, among, _varied(ratings, weights))


def icc(ratings: Array, weights: Array, kind: Icc) -> Array:
    """The intraclass correlation of that kind, from mean squares."""
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
        "icc2": (
            between - residual,
            between + (k - 1) * residual + k * (of_raters - residual) / n,
        ),
        "icc3": (between - residual, between + (k - 1) * residual),
        "icc1k": (between - within, between),
        "icc2k": (between - residual, between + (of_raters - residual) / n),
        "icc3k": (between - residual, between),
    }[kind]
    # Without variance, what is left of it is rounding.
    return _ratio(above, below, below > (NOISE * np.max(np.abs(ratings))) ** 2)


def _nominal(ratings: Array, weights: Array) -> tuple[Array, Array]:
    counts = _counts(ratings)
    raters = np.sum(counts, axis=0)
    unlike = (raters**2 - np.sum(counts**2, axis=0)) / 2.0
    given = weights @ counts.T
    among = (np.sum(given, axis=1) ** 2 - np.sum(given**2, axis=1)) / 2.0
    return weighted_sums((unlike / (raters - 1))[None], weights)[:, 0], among


def _ordinal(ratings: Array, weights: Array) -> tuple[Array, Array]:
    # Twice the mean rank less its mean: whole numbers, so the sums are exact. The ranks are those
    # among the ratings drawn, so that each resample has its own.
    given = weights @ _counts(ratings).T
    upto = np.cumsum(given, axis=1)
    n = upto[:, -1]
    ranks = 2.0 * upto - given - n[:, None]
    known = np.isfinite(ratings)
    codes = np.searchsorted(np.unique(ratings[known]), np.where(known, ratings, 0.0))
    total, squares = np.zeros(weights.shape), np.zeros(weights.shape)
    for code, rated in zip(codes, known, strict=True):
        own = ranks[:, np.where(rated, code, 0)] * rated
        total += own
        squares += own**2
    raters = np.sum(known, axis=0)
    within = (raters * squares - total**2) / (raters - 1)
    return np.sum(weights * within, axis=1), n * np.sum(given * ranks**2, axis=1)


def _interval(ratings: Array, weights: Array) -> tuple[Array, Array]:
    # Squared differences of all pairs are n times the squares about the mean: no pair is visited.
    known = np.isfinite(ratings)
    raters = np.sum(known, axis=0)
    values = np.where(known, ratings - np.mean(ratings[known]), 0.0)
    items = np.sum(values, axis=0) / raters
    strayed = np.sum(np.where(known, values - items, 0.0) ** 2, axis=0)
    n = weights @ raters
    mean = weighted_sums((raters * items)[None], weights) / n[:, None]
    among = n * np.sum(weights * (strayed + raters * (items - mean) ** 2), axis=1)
    return weighted_sums((raters * strayed / (raters - 1))[None], weights)[:, 0], among


def _counts(ratings: Array) -> Array:
    """(values, items): how many raters gave the item the value, values ascending."""
    values = np.unique(ratings[np.isfinite(ratings)])
    return np.array([np.sum(ratings == value, axis=0) for value in values], dtype=np.float64)


def _varied(ratings: Array, weights: Array) -> Mask:
    known, drawn = np.isfinite(ratings), weights > 0
    lowest = np.min(np.where(known, ratings, np.inf), axis=0)
    highest = np.max(np.where(known, ratings, -np.inf), axis=0)
    varied: Mask = np.max(np.where(drawn, highest, -np.inf), axis=1) > np.min(
        np.where(drawn, lowest, np.inf), axis=1
    )
    return varied


def _ratio(above: Array, below: Array, defined: Mask) -> Array:
    ratio: Array = np.divide(above, below, out=np.full(below.shape, np.nan), where=defined)
    return ratio
