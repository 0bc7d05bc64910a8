"""Shares of texts, and pass rates, with intervals that hold in small samples.

Texts of a document are correlated. `effective_size` returns the equivalent number of
independent texts, from which every interval of a judge's card is computed. The interval
of a statistic that is not a share is of tables of counts drawn from their posterior
(`posterior_estimate`).

A system's true mean or pass rate is estimated from a judge on all its texts and people
on some: the judge's mean repeats its bias on every text, and its interval shrinks
around a wrong value. The corrections require that people rated a random sample of the
texts; `prediction_powered_mean` and `rogan_gladen` assume independent texts. 1 is a
pass, 0 a fail, NaN missing.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray

from metassay.statistics.exact_sums import Array, Mask

Clusters = NDArray[np.intp]
Tables = NDArray[Any]  # (..., cells), counts or shares, maybe complex
# tables (..., cells) -> numbers (...), NaN if undefined
Coefficient = Callable[[Tables], Tables]

THRESHOLD = 0.5  # a probability of at least this is a pass
DRAWS = 10_000  # from a posterior
WIDTH = 0.1  # from the lower to the upper end
STEPS = 60  # halvings of an interval: to the last bit
MOST = 1e9  # texts; more cannot be rated
UNDEFINED = (np.nan, np.nan, np.nan)
FEW_CLUSTERS = 5  # with a label; fewer cannot show how correlated their texts are


class Estimate(NamedTuple):
    """A statistic of a judge's card, its interval and sample sizes; NaN where undefined."""

    value: float
    low: float
    high: float
    n: int  # texts
    n_effective: float  # equivalent independent texts: n unless texts share documents


def jeffreys(hits: float, n: float, *, confidence: float) -> tuple[float, float]:
    """Return the interval of the share of `hits` among n, both may be fractions; NaN for n of 0.

    Equal tails of Beta(hits + 1/2, n - hits + 1/2); an end is 0 or 1 where no text, or
    every text, is a hit. Source: Brown, Cai and DasGupta 2001, Interval estimation for
    a binomial proportion.
    """
    if not n > 0:
        return np.nan, np.nan
    a, b, tail = hits + 0.5, n - hits + 0.5, (1.0 - confidence) / 2.0
    low = 0.0 if hits <= 0 else float(scipy.special.betaincinv(a, b, tail))
    high = 1.0 if hits >= n else float(scipy.special.betaincinv(a, b, 1.0 - tail))
    return low, high


def worth_at_most(labels: Array, cluster: Clusters) -> float:
    """Bound the effective number of independent texts with people's pass or fail labels (n,).

    The number of clusters where fewer than FEW_CLUSTERS have the rarer label: then the
    data cannot show whether texts of a cluster fail together, and if they do, the next
    cluster may fail as a whole. Else infinite: `effective_size` is enough. NaN is no
    label.
    """
    labelled = np.isfinite(labels)
    clusters = [
        np.unique(cluster[labelled & (labels == label)]).size for label in (0.0, 1.0)
    ]
    n = np.unique(cluster[labelled]).size
    return float(n) if min(clusters) < FEW_CLUSTERS and n < labelled.sum() else np.inf


def share(
    hits: ArrayLike, cluster: Clusters, *, confidence: float, most: float = np.inf
) -> Estimate:
    """Return the share of ones among 0/1 values (n,), with Jeffreys' interval; NaN without values.

    `most`: upper bound of the effective number of independent texts.
    """
    values = np.asarray(hits, dtype=np.float64)
    if not values.size:
        return Estimate(*UNDEFINED, 0, 0.0)
    value = float(np.mean(values))
    worth = min(effective_size(values - value, cluster, confidence=confidence), most)
    ends = jeffreys(value * worth, worth, confidence=confidence)
    return Estimate(value, *ends, values.size, worth)


class WeightedMean(NamedTuple):
    """A weighted mean, the variance of its sums over clusters, and degrees of freedom."""

    value: float
    variance: float
    freedom: float  # Satterthwaite's with clusters, else n - 1


def weighted_mean(values: Array, weight: Array, cluster: Clusters) -> WeightedMean:
    """Return the mean of values (n,) by weight, with its variance; n of 1 or more.

    By linearization: source: Binder 1983, On the variances of asymptotically normal
    estimators from complex surveys.
    """
    total = float(np.sum(weight))
    value = float(np.sum(weight * values)) / total
    codes, number = np.unique(cluster, return_inverse=True)
    influence = weight * (values - value) / total
    squares = np.bincount(number, weights=influence).astype(np.float64) ** 2
    k, n = codes.size, values.size
    variance = float(np.sum(squares)) * k / max(k - 1, 1)
    return WeightedMean(value, variance, freedom_of(squares) if k < n else n - 1.0)


def kish_size(weight: Array, cluster: Clusters) -> tuple[float, float]:
    """Return how many texts of equal weight, and how many clusters, weigh as much.

    Source: Kish 1965, Survey Sampling.
    """
    _, number = np.unique(cluster, return_inverse=True)
    by_cluster = np.bincount(number, weights=weight)
    total = float(np.sum(weight))
    texts, clusters = float(np.sum(weight**2)), float(np.sum(by_cluster**2))
    return total**2 / texts, total**2 / clusters


def weighted_share(
    hits: Array, weight: Array, cluster: Clusters, *, confidence: float
) -> Estimate:
    """Return the weighted share of ones among 0/1 values (n,), with Jeffreys' interval.

    Values between 0 and 1 are shares themselves. NaN without values. The interval is
    that of as many independent values as have the share's variance: that of its sums
    over `cluster` (n,), or that of the weights alone if it is larger. It is that of the
    clusters, by weight, where all values are equal or fewer than FEW_CLUSTERS have the
    rarer one: then the data cannot show whether values of a cluster are alike. The
    number is multiplied by the squared ratio of the normal and the t quantile, as the
    variance is estimated.
    """
    n = hits.size
    if not n:
        return Estimate(*UNDEFINED, 0, 0.0)
    mean = weighted_mean(hits, weight, cluster)
    texts, clusters = kish_size(weight, cluster)
    k, freedom, worth = np.unique(cluster).size, mean.freedom, texts
    if mean.variance > 0:
        # A share of n independent values is worth n of them, without a correction.
        uncorrected = mean.variance * (1.0 - 1.0 / n if k == n else 1.0)
        worth = min(worth, mean.value * (1.0 - mean.value) / uncorrected)
    with_rarer = min(np.unique(cluster[rows]).size for rows in (hits > 0, hits < 1))
    if k < n and with_rarer < FEW_CLUSTERS:
        worth, freedom = min(worth, clusters), k - 1.0
    worth *= quantile_ratio(freedom, confidence=confidence)
    ends = jeffreys(mean.value * worth, worth, confidence=confidence)
    return Estimate(mean.value, *ends, n, worth)


def effective_size(influence: Array, cluster: Clusters, *, confidence: float) -> float:
    """Return how many independent texts are equivalent to n texts of `cluster` (n,): 1 to n.

    `influence` (n,): each text's influence on the statistic, up to a constant. The size
    is n / design effect, times (normal quantile / t quantile) ** 2. The design effect
    is the variance of sums over clusters divided by that of independent texts, at least
    1; the quantiles reflect that few clusters, or few with most of the variance
    (Satterthwaite's degrees of freedom), estimate it poorly. n with one text per
    cluster; the number of clusters if all influences are equal. Sources: Rao and Scott
    1992, A simple method for the analysis of clustered binary data; Korn and Graubard
    1998, Confidence intervals for proportions with small expected number of positive
    counts.
    """
    effect, freedom = design_effect(influence, cluster)
    n = influence.size
    if np.isinf(freedom):
        return float(round(n / effect))
    return n / effect * quantile_ratio(freedom, confidence=confidence)


def design_effect(influence: Array, cluster: Clusters) -> tuple[float, float]:
    """Return the variance of a mean of n texts divided by that of n independent ones, at least 1.

    Also returns its degrees of freedom, infinite where nothing is estimated: with one
    text per cluster the effect is 1, with equal influences n / clusters. Arguments and
    sources as in `effective_size`.
    """
    n = influence.size
    _, number = np.unique(cluster, return_inverse=True)
    k = int(number.max()) + 1 if n else 0
    if k == n:
        return 1.0, np.inf
    centred = influence - np.mean(influence)
    independent = float(np.sum(centred**2)) / (n - 1)
    if k < 2 or independent <= 1e-24:
        return n / k, np.inf
    squares: Array = np.bincount(number, weights=centred).astype(np.float64) ** 2
    clustered = float(np.sum(squares)) * k / (k - 1) / n
    return max(1.0, clustered / independent), freedom_of(squares)


def freedom_of(squares: Array) -> float:
    """Return the degrees of freedom of a variance that is the sum of these squares (k,).

    A variance that comes from few clusters (a judge errs in four documents of sixty) is
    as uncertain as one from few clusters: Satterthwaite's degrees of freedom, at most
    k - 1.
    """
    k, size, freedom = squares.size, float(np.sum(squares)), squares.size - 1.0
    kurtosis = k * float(np.sum(squares**2)) / size**2 if size > 0 else 0.0
    if kurtosis > 1.0:
        freedom = min(freedom, 2.0 * k / (kurtosis - 1.0))
    return freedom


def quantile_ratio(freedom: float, *, confidence: float) -> float:
    """Return (normal quantile / t quantile) ** 2 at these degrees of freedom; 0 for none."""
    if freedom <= 0:
        return 0.0
    upper = (1.0 + confidence) / 2.0
    normal, t = scipy.special.ndtri(upper), scipy.special.stdtrit(freedom, upper)
    return float((normal / t) ** 2)


def cluster_codes(cluster: ArrayLike | None, n: int) -> Clusters:
    """Return integer codes of the clusters of n texts; None makes each text a cluster."""
    if cluster is None:
        return np.arange(n, dtype=np.intp)
    _, codes = np.unique(np.asarray(cluster), return_inverse=True)
    if codes.shape != (n,):
        raise ValueError(f"expected a cluster for each of {n} texts, got {codes.shape}")
    return np.asarray(codes, dtype=np.intp)


def posterior_estimate(  # noqa: PLR0913 - all but three are named
    coefficient: Coefficient,
    cell: NDArray[np.intp],
    cluster: Clusters,
    *,
    cells: int,
    prior: float,
    confidence: float,
    rng: np.random.Generator,
    most: float = np.inf,
    weight: Array | None = None,
) -> Estimate:
    """Compute the coefficient of the table of `cell` (n,), each 0 to `cells` - 1, with interval.

    `weight` (n,): how many texts each stands for; None: one each.
    Equal tails of DRAWS tables from a Dirichlet with `prior` texts added to each cell
    and the effective number of texts (by `cluster` (n,), at most `most`). The ends are
    widened to include the value. NaN where the coefficient is undefined for the table.
    """
    n = cell.size
    of_texts = np.ones(n) if weight is None else weight * (n / np.sum(weight))
    table = np.bincount(cell, weights=of_texts, minlength=cells)
    value = float(coefficient(table)) if n else np.nan
    if np.isnan(value):
        return Estimate(*UNDEFINED, n, float(n))
    # By a complex step the gradient is exact to rounding, without a formula per
    # coefficient.
    gradient = np.imag(coefficient(table / n + 1e-30j * np.eye(cells))) / 1e-30
    if weight is None:
        worth = effective_size(gradient[cell], cluster, confidence=confidence)
        worth = min(worth, most)
        # With clusters, their t quantile is in `worth` already.
        t = quantile_ratio(n - 1, confidence=confidence) if worth == n else 1.0
        certain = worth * t
    else:
        mean = weighted_mean(gradient[cell], of_texts, cluster)
        worth, _ = kish_size(of_texts, cluster)
        if mean.variance > 0:
            spread = np.average((gradient[cell] - mean.value) ** 2, weights=of_texts)
            worth = min(worth, float(spread) / mean.variance)
        worth *= quantile_ratio(mean.freedom, confidence=confidence)
        certain = worth
    tables = rng.standard_gamma(table * (certain / n) + prior, size=(DRAWS, cells))
    return Estimate(
        value, *ends(coefficient(tables), value, confidence=confidence), n, worth
    )


def ends(values: Array, value: float, *, confidence: float) -> tuple[float, float]:
    """Return equal tails of drawn values (n,), widened to include `value`; NaN if undefined."""
    finite = values[np.isfinite(values)]
    if np.isnan(value) or not finite.size:
        return np.nan, np.nan
    low, high = np.quantile(
        finite, ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0)
    )
    return min(float(low), value), max(float(high), value)


def probabilities(judge: ArrayLike) -> Array:
    """Check judgments (n,) and return them; NaN stays. Raises ValueError outside 0 to 1."""
    values = np.asarray(judge, dtype=np.float64)
    if values.ndim != 1 or ((values < 0) | (values > 1)).any():
        raise ValueError("expected one row of judgments or probabilities, 0 to 1")
    return values


def judgments(judge: ArrayLike, threshold: float = THRESHOLD) -> Array:
    """Return 1 where a probability of passing is at least `threshold`, else 0; NaN stays."""
    values = probabilities(judge)
    return np.where(np.isnan(values), np.nan, values >= threshold)


def pass_or_fail(people: ArrayLike) -> Array:
    """Check ratings (n,) and return them: 1, 0 or NaN. Raises ValueError for anything else."""
    values = np.asarray(people, dtype=np.float64)
    if values.ndim != 1 or not np.isin(values[~np.isnan(values)], (0.0, 1.0)).all():
        raise ValueError("expected one row of 0 and 1, NaN where nobody rated")
    return values


def cells(judgment: Array, human: Array) -> NDArray[np.intp]:
    """Return each text's cell: 0 true pass, 1 false pass, 2 false fail, 3 true fail."""
    return np.asarray(2 * (1 - judgment) + (1 - human), dtype=np.intp)


class CorrectedMean(NamedTuple):
    """A corrected mean with its normal interval; NaN where undefined."""

    value: float
    low: float
    high: float
    weight: float  # weight of the judge: 1 fully, 0 not at all (people's mean alone)
    judge_mean: float  # the judge's uncorrected mean over all texts, for comparison
    n: int  # texts that both people and judge rated
    n_judged: int  # texts that only the judge rated
    n_missing: int  # texts that people rated and the judge did not: left out


def prediction_powered_mean(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    confidence: float,
    weight: float | None = None,
) -> CorrectedMean:
    """Estimate people's mean of all texts (n,); NaN where judge or people did not rate.

    weight * mean(judge alone) + mean(human - weight * judge). `weight` None chooses the
    weight from 0 to 1 with the smallest variance; 1 is the estimate as first published.
    People's mean if the judge rated no other texts. NaN with fewer than two texts rated
    by both. The interval is normal: it needs 30 texts or more rated by people. Source:
    Angelopoulos et al. 2023, Prediction-powered inference (Science 382); Angelopoulos,
    Duchi, Zrnic 2023, PPI++.
    """
    scores, people = _rows(judge, human)
    both = np.isfinite(scores) & np.isfinite(people)
    f, y, rest = (
        scores[both],
        people[both],
        scores[np.isfinite(scores) & ~np.isfinite(people)],
    )
    judged = np.concatenate((f, rest))
    judge_mean = float(np.mean(judged)) if judged.size else np.nan
    counts = y.size, rest.size, int(np.count_nonzero(np.isfinite(people) & ~both))
    if y.size < 2:
        return CorrectedMean(*UNDEFINED, np.nan, judge_mean, *counts)
    if not rest.size:  # nothing to correct with
        lambda_ = 0.0
    elif weight is None:
        lambda_ = _weight(f, y, rest)
    else:
        lambda_ = weight
    value = float(np.mean(y - lambda_ * f))
    variance = float(np.var(y - lambda_ * f)) / y.size
    if rest.size:
        value += lambda_ * float(np.mean(rest))
        variance += lambda_**2 * float(np.var(rest)) / rest.size
    reach = float(scipy.special.ndtri((1.0 + confidence) / 2.0)) * np.sqrt(variance)
    return CorrectedMean(
        value, value - reach, value + reach, lambda_, judge_mean, *counts
    )


class RoganGladen(NamedTuple):
    """A corrected share with its interval; NaN where the judge is no better than chance."""

    value: float  # 0 to 1
    low: float
    high: float
    sensitivity: float  # share of people's ones that the judge rates one
    specificity: float  # share of people's zeros that the judge rates zero
    n: int  # texts that both rated
    n_judged: int  # texts that only the judge rated
    n_missing: int  # texts that people rated and the judge did not: left out


def rogan_gladen(
    judge: ArrayLike, human: ArrayLike, *, confidence: float
) -> RoganGladen:
    """Estimate people's share of ones from a judge's 0/1 judgments and people's ratings of some.

    (judge's share of ones + specificity - 1) / (sensitivity + specificity - 1), clipped
    to 0 to 1; the share is of all texts that the judge rated. NaN if people's ratings
    are constant, or if the judge is no better than chance. Source: Rogan and Gladen
    1978, Estimating prevalence from the results of a screening test; interval by Lang
    and Reiczigel 2014, Confidence limits for prevalence of disease adjusted for
    estimated sensitivity and specificity, narrowed by the covariance of share and
    rates, which share the texts rated by both. Raises ValueError for other values.
    """
    scores, people = map(pass_or_fail, _rows(judge, human))
    judged = np.isfinite(scores)
    ones, zeros = judged & (people == 1), judged & (people == 0)
    n_ones, n_zeros, total = (
        int(np.count_nonzero(rows)) for rows in (ones, zeros, judged)
    )
    n, n_judged = n_ones + n_zeros, int(np.sum(judged & np.isnan(people)))
    counts = n, n_judged, int(np.count_nonzero(np.isfinite(people) & ~judged))
    if not (n_ones and n_zeros):
        return RoganGladen(*UNDEFINED, np.nan, np.nan, *counts)
    sensitivity, specificity = (
        float(np.mean(scores[ones])),
        1.0 - float(np.mean(scores[zeros])),
    )
    youden = sensitivity + specificity - 1.0
    if youden <= 0:
        return RoganGladen(*UNDEFINED, sensitivity, specificity, *counts)
    share = float(np.mean(scores[judged]))
    value = min(max((share + specificity - 1.0) / youden, 0.0), 1.0)
    z = float(scipy.special.ndtri((1.0 + confidence) / 2.0))
    rates = (sensitivity, n_ones), (specificity, n_zeros)
    # may exclude the value
    low, high = _adjusted_interval((share, total), *rates, z, n / total)
    ends = min(low, value), max(high, value)
    return RoganGladen(value, *ends, sensitivity, specificity, *counts)


def _rows(judge: ArrayLike, human: ArrayLike) -> tuple[Array, Array]:
    scores, people = (
        np.asarray(judge, dtype=np.float64),
        np.asarray(human, dtype=np.float64),
    )
    if scores.ndim != 1 or scores.shape != people.shape:
        raise ValueError(
            f"expected two rows of equal length, got {scores.shape}, {people.shape}"
        )
    return scores, people


def _weight(f: Array, y: Array, rest: Array) -> float:
    spread = float(np.var(np.concatenate((f, rest)), ddof=1))
    if spread <= 0:
        return 0.0
    shared = float(np.mean((y - np.mean(y)) * (f - np.mean(f))))
    return min(max(shared / (spread * (1.0 + f.size / rest.size)), 0.0), 1.0)


def _adjusted_interval(
    share: tuple[float, int],
    sensitivity: tuple[float, int],
    specificity: tuple[float, int],
    z: float,
    overlap: float,
) -> tuple[float, float]:
    # Lang and Reiczigel: each rate is shrunk towards 1/2 by a few added texts.
    n = share[1] + z**2
    p = (share[0] * share[1] + z**2 / 2) / n
    n_one, n_zero = sensitivity[1] + 2, specificity[1] + 2
    se = (sensitivity[0] * sensitivity[1] + 1) / n_one
    sp = (specificity[0] * specificity[1] + 1) / n_zero
    youden = se + sp - 1.0
    if youden <= 0:
        return 0.0, 1.0
    true = min(max((p + sp - 1.0) / youden, 0.0), 1.0)
    var_one, var_zero = se * (1 - se) / n_one, sp * (1 - sp) / n_zero
    shift = 2 * z**2 * (true * var_one - (1 - true) * var_zero)
    # Share and rates rest partly on the same texts, so their errors are correlated.
    of_rates = (1 - 2 * overlap) * (true**2 * var_one + (1 - true) ** 2 * var_zero)
    least = true * (1 - true) * youden**2 / n  # if people had rated all texts
    reach = z * np.sqrt(max(p * (1 - p) / n + of_rates, least)) / youden
    low, high = true + shift - reach, true + shift + reach
    return float(min(max(low, 0.0), 1.0)), float(min(max(high, 0.0), 1.0))


class PassRates(NamedTuple):
    """Four estimates of the share of texts that pass, 0 to 1."""

    judge: Estimate  # the judge's, of all texts with a judgment: biased by its errors
    people: Estimate  # people's, of the texts that they rated
    rogan_gladen: Estimate  # the judge's, corrected by its sensitivity and specificity
    prediction_powered: Estimate  # the judge's, corrected text by text


def pass_rates(
    judge: ArrayLike,
    people: ArrayLike,
    *,
    confidence: float,
    rng: np.random.Generator,
    threshold: float = THRESHOLD,
    cluster: ArrayLike | None = None,
) -> PassRates:
    """Return the judge's pass rate, people's, and two corrected ones; arrays (n,) as `judge_card`.

    The rated texts must be a random sample of the judged. A corrected rate is NaN with
    fewer than two texts that have both, which its `n` counts; Rogan and Gladen's also
    where the judge is no better than chance. Rogan and Gladen's interval is Lang and
    Reiczigel's, widened where texts are clustered. The prediction-powered value is
    `prediction_powered_mean` of the judgments, clipped to 0 to 1. Its normal interval
    undercovers with few ratings, so the interval draws the share of passes among the
    judge's passes and fails from their posteriors (1/2 text per cell).
    """
    judgment, human = judgments(judge, threshold), pass_or_fail(people)
    clusters = cluster_codes(cluster, judgment.size)
    judged, rated = np.isfinite(judgment), np.isfinite(human)
    f, y, of_judged = judgment[judged], human[judged], clusters[judged]
    most = worth_at_most(human, clusters)
    return PassRates(
        share(f, of_judged, confidence=confidence),
        share(human[rated], clusters[rated], confidence=confidence, most=most),
        _rogan_gladen(f, y, of_judged, confidence),
        _powered(f, y, of_judged, confidence, rng),
    )


def powered_influence(f: Array, y: Array) -> Array:
    """Return each judged text's influence (n,) on the prediction-powered rate; y NaN if unrated.

    Its mean is 0; its variance / n is that of the rate for independent texts.
    """
    expected = np.full(f.size, float(np.nanmean(y)))
    rated = np.isfinite(y)
    weight = f.size / np.count_nonzero(rated)
    for judgment in (0.0, 1.0):
        calibrating = rated & (f == judgment)
        if calibrating.any():
            expected[f == judgment] = float(np.mean(y[calibrating]))
    influence: Array = expected - np.mean(expected)
    influence[rated] += weight * (y[rated] - expected[rated])
    return influence


def _powered(
    f: Array, y: Array, cluster: Clusters, confidence: float, rng: np.random.Generator
) -> Estimate:
    estimate = prediction_powered_mean(f, y, confidence=confidence)
    if np.isnan(estimate.value):
        return Estimate(*UNDEFINED, estimate.n, float(estimate.n))
    value = min(max(estimate.value, 0.0), 1.0)
    worth = (
        effective_size(powered_influence(f, y), cluster, confidence=confidence) / f.size
    )
    rated = np.isfinite(y)
    worth = min(worth, worth_at_most(y, cluster) / np.count_nonzero(rated))
    counts = np.bincount(cells(f[rated], y[rated]), minlength=4) * worth + 0.5
    a, b, c, d = (float(count) for count in counts)
    passed = np.count_nonzero(f) * worth + 0.5
    failed = np.count_nonzero(f == 0) * worth + 0.5
    by_judge = rng.beta(passed, failed, DRAWS)
    right, wrong = rng.beta(a, b, DRAWS), rng.beta(c, d, DRAWS)
    rates = by_judge * right + (1.0 - by_judge) * wrong
    reach = ends(rates, value, confidence=confidence)
    return Estimate(value, *reach, estimate.n, estimate.n * worth)


def _rogan_gladen(f: Array, y: Array, cluster: Clusters, confidence: float) -> Estimate:
    estimate = rogan_gladen(f, y, confidence=confidence)
    if np.isnan(estimate.value):
        return Estimate(*UNDEFINED, estimate.n, float(estimate.n))
    youden = estimate.sensitivity + estimate.specificity - 1.0
    influence = (f - np.mean(f)) / youden
    passed, failed = y == 1, y == 0
    for group, error, weight in (
        (passed, f - estimate.sensitivity, -estimate.value),
        (failed, 1.0 - f - estimate.specificity, 1.0 - estimate.value),
    ):
        of_all = f.size / np.count_nonzero(group)
        influence[group] += of_all * error[group] * weight / youden
    worth = effective_size(influence, cluster, confidence=confidence) / f.size
    worth = min(worth, worth_at_most(y, cluster) / np.count_nonzero(np.isfinite(y)))
    # Widened around the interval's middle: an end at the value would hardly move.
    widening = float(np.sqrt(1.0 / worth) - 1.0) * (estimate.high - estimate.low) / 2.0
    low = max(min(estimate.low - widening, estimate.value), 0.0)
    high = min(max(estimate.high + widening, estimate.value), 1.0)
    return Estimate(estimate.value, low, high, estimate.n, estimate.n * worth)


class LabelsNeeded(NamedTuple):
    """Number of texts for people to rate, including those already rated; NaN if unknown."""

    pass_rate: float  # for the prediction-powered pass rate
    sensitivity: float
    specificity: float


def labels_needed(
    judge: ArrayLike,
    people: ArrayLike,
    *,
    confidence: float,
    width: float = WIDTH,
    threshold: float = THRESHOLD,
    cluster: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> LabelsNeeded:
    """Return how many rated texts make each interval `width` wide; arrays as for `judge_card`.

    Assumes that the rates so far are the truth, with 1/2 text added to each cell of
    judgments by ratings, so that a judge without errors so far does not count as
    perfect: a rough guess from few ratings. Texts to rate are assumed to be a random
    sample of those with a judgment, clustered like the rated ones. Sensitivity rests on
    the texts that people pass, specificity on those that they fail. A pass-rate number
    above the number of judged texts means that more texts are needed, all of them
    rated. `weight` (n,): how many texts each rated one stands for; None: one each. NaN
    with fewer than two texts that have judgment and rating; of sensitivity also if
    people pass none of them, and of specificity if they fail none. Raises ValueError
    unless 0 < width < 1.
    """
    if not 0 < width < 1:
        raise ValueError(f"expected a width between 0 and 1, got {width}")
    judgment, human = judgments(judge, threshold), pass_or_fail(people)
    judged = np.isfinite(judgment)
    f, y = judgment[judged], human[judged]
    clusters = cluster_codes(cluster, judgment.size)[judged]
    rated = np.isfinite(y)
    if np.count_nonzero(rated) < 2:
        return LabelsNeeded(np.nan, np.nan, np.nan)
    of_rated = np.ones(int(np.count_nonzero(rated)))
    if weight is not None:
        of_rated = np.asarray(weight, dtype=np.float64)[judged][rated]
        of_rated = of_rated * (of_rated.size / np.sum(of_rated))
    counts = np.bincount(cells(f[rated], y[rated]), weights=of_rated, minlength=4)
    table: Array = (counts + 0.5) / np.sum(counts + 0.5)
    passes, fails = table[0] + table[2], table[1] + table[3]

    def deff(influence: Array, among: Mask) -> float:
        size = int(np.count_nonzero(among))
        worth = effective_size(influence[among], clusters[among], confidence=confidence)
        return size / worth if size else 1.0

    effect = deff(powered_influence(f, y), judged[judged])
    effect = max(effect, np.count_nonzero(rated) / worth_at_most(y, clusters))
    of_rate = effect * _powered_labels(table, f.size / effect, width, confidence)
    of_sensitivity, of_specificity = np.nan, np.nan
    if (y == 1).any():
        texts = _independent_texts(float(table[0] / passes), width, confidence)
        of_sensitivity = deff(f, y == 1) * texts / passes
    if (y == 0).any():
        texts = _independent_texts(float(table[3] / fails), width, confidence)
        of_specificity = deff(1.0 - f, y == 0) * texts / fails
    labels = (of_rate, of_sensitivity, of_specificity)
    return LabelsNeeded(
        *(n if np.isnan(n) else float(math.ceil(n - 1e-9)) for n in labels)
    )


def _independent_texts(share: float, width: float, confidence: float) -> float:
    # Independent texts at which Jeffreys' interval of this share has this width.
    low, high = 0.5, MOST
    for _ in range(STEPS):
        middle = float(np.sqrt(low * high))
        bottom, top = jeffreys(share * middle, middle, confidence=confidence)
        low, high = (middle, high) if top - bottom > width else (low, middle)
    return high


def _powered_labels(
    table: Array, judged: float, width: float, confidence: float
) -> float:
    # The rate's variance is that of people's 0/1 times (1 - r2) / rated + r2 / judged,
    # where r2 is the share that the judgments explain.
    passes, by_judge = table[0] + table[2], table[0] + table[1]
    shared = table[0] - passes * by_judge
    spread = passes * (1.0 - passes) * by_judge * (1.0 - by_judge)
    r2 = float(shared**2 / spread) if shared > 0 else 0.0
    alone = _independent_texts(float(passes), width, confidence)
    if alone >= judged:
        return alone
    return (1.0 - r2) / (1.0 / alone - r2 / judged)
