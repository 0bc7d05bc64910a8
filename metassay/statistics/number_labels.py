"""Numbers without grades, such as scores from 0 to 100: a judge's beside people's."""

from typing import NamedTuple

import numpy as np
import scipy.special

from metassay.statistics.classification import mean_of
from metassay.statistics.exact_sums import Array, rankdata
from metassay.statistics.shares import UNDEFINED, Clusters, Estimate

FEWEST = 4  # clusters below which a correlation has no interval
MORE_IS_BETTER = ("pearson", "spearman")


class NumberCard(NamedTuple):
    """What a judge's numbers are worth beside people's."""

    numbers: dict[str, Estimate]  # by name
    base_rate: dict[str, float]  # of a judge that gives every row people's mean


def number_card(
    judge: Array,
    people: Array,
    cluster: Clusters,
    *,
    confidence: float,
    comparable: bool = True,
) -> NumberCard:
    """Return the numbers of a judge, each with an interval; all arrays are (rows,).

    pearson and spearman, more is better; mean_absolute_error, less is better; bias: the
    judge's mean less people's. The last two only if judge and people are `comparable`,
    on the same scale.
    """
    numbers = {
        "pearson": correlation(judge, people, cluster, confidence=confidence),
        "spearman": correlation(
            rankdata(judge), rankdata(people), cluster, confidence=confidence
        ),
    }
    base_rate = {"pearson": np.nan, "spearman": np.nan}
    if comparable and judge.size:
        gap = judge - people
        numbers["mean_absolute_error"] = mean_of_errors(
            np.abs(gap), cluster, confidence=confidence
        )
        numbers["bias"] = mean_of(gap, cluster, confidence=confidence)
        deviation = float(np.mean(np.abs(people - np.mean(people))))
        base_rate |= {"mean_absolute_error": deviation, "bias": 0.0}
    return NumberCard(numbers=numbers, base_rate=base_rate)


def mean_of_errors(errors: Array, cluster: Clusters, *, confidence: float) -> Estimate:
    """Return the mean of errors (rows,) of 0 and more, with an interval by clusters.

    The interval is that of t on the scale of logarithms: a few large errors make the
    mean's own distribution skewed, and its upper end is then farther from it.
    """
    mean = mean_of(errors, cluster, confidence=confidence)
    if not mean.value > 0 or np.isnan(mean.low):
        return mean
    ratio = float(np.exp((mean.high - mean.value) / mean.value))
    return mean._replace(low=mean.value / ratio, high=mean.value * ratio)


def correlation(
    x: Array, y: Array, cluster: Clusters, *, confidence: float
) -> Estimate:
    """Return Pearson's correlation of rows (rows,), with an interval by clusters.

    The interval is by t of Fisher's z, whose variance is the jackknife's that leaves
    out clusters, and no smaller than that of independent normal rows. NaN where a side
    is constant. Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap,
    11; Fisher 1921, On the "probable error" of a coefficient of correlation.
    """
    n = x.size
    _, codes = np.unique(cluster, return_inverse=True)
    k = int(codes.max()) + 1 if n else 0
    sums = np.array(
        [np.bincount(codes, weights=v, minlength=k) for v in _moments(x, y)]
    )
    total = sums.sum(axis=1)
    value = float(_pearson(total))
    if not np.isfinite(value) or k < FEWEST or n < FEWEST:
        return Estimate(value, *UNDEFINED[1:], n, float(k))
    left_out = np.arctanh(np.clip(_pearson(total[:, None] - sums), -1 + 1e-9, 1 - 1e-9))
    usable = left_out[np.isfinite(left_out)]
    variance = float(np.sum((usable - np.mean(usable)) ** 2)) * (k - 1) / k
    variance = max(variance, 1.0 / max(n - 3, 1))
    upper = (1.0 + confidence) / 2.0
    reach = float(scipy.special.stdtrit(k - 1, upper)) * np.sqrt(variance)
    centre = np.arctanh(np.clip(value, -1 + 1e-9, 1 - 1e-9))
    low, high = np.tanh(centre - reach), np.tanh(centre + reach)
    return Estimate(value, float(low), float(high), n, float(k))


def _moments(x: Array, y: Array) -> tuple[Array, ...]:
    # Of centred values, so that sums of squares keep their digits.
    a = x - np.mean(x) if x.size else x
    b = y - np.mean(y) if y.size else y
    return np.ones(x.size), a, b, a * a, b * b, a * b


def _pearson(sums: Array) -> Array:
    n, a, b, aa, bb, ab = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (aa - a * a / n) * (bb - b * b / n)
        value = (ab - a * b / n) / np.sqrt(spread)
    return np.asarray(np.where(spread > 1e-18, value, np.nan))
