"""Shares of texts, and pass rates, with intervals that hold in small samples.

Texts of one document are alike. `effective_size` says how many independent texts they are worth;
every interval of a judge's card starts from that number. The interval of a number that is not a
share is of tables of counts drawn from their posterior (`drawn`).

A system's true mean or pass rate is had from a judge on all its texts and people on some: the
judge's plain mean repeats its bias on every text, and its interval shrinks around the wrong number.
The corrections ask that people saw a random sample of the texts; `prediction_powered_mean` and
`rogan_gladen` take texts for independent. Everywhere 1 is a pass and 0 a fail, NaN where there is
none.
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
Coefficient = Callable[[Tables], Tables]  # tables (..., cells) -> numbers (...), NaN if undefined

THRESHOLD = 0.5  # a probability of passing from here on is a pass
DRAWS = 10_000  # from a posterior
WIDTH = 0.1  # from the lower end to the upper
STEPS = 60  # halvings of an interval: to the last bit
MOST = 1e9  # texts; more are as good as out of reach
UNDEFINED = (np.nan, np.nan, np.nan)
FEW_CLUSTERS = 5  # that have a label: too few to tell how alike their texts are


class Estimate(NamedTuple):
    """One number of a card, its interval, and what both rest on; NaN where undefined."""

    value: float
    low: float
    high: float
    n: int  # texts that it rests on
    n_effective: float  # independent texts that they are worth: n unless texts share documents


def jeffreys(hits: float, n: float, *, confidence: float) -> tuple[float, float]:
    """Interval of a share of `hits` among n, both of which may be fractions; NaN for n of 0.

    Equal tails of Beta(hits + 1/2, n - hits + 1/2); an end is 0 or 1 where no text, or every text,
    is a hit. Source: Brown, Cai and DasGupta 2001, Interval estimation for a binomial proportion.
    """
    if not n > 0:
        return np.nan, np.nan
    a, b, tail = hits + 0.5, n - hits + 0.5, (1.0 - confidence) / 2.0
    low = 0.0 if hits <= 0 else float(scipy.special.betaincinv(a, b, tail))
    high = 1.0 if hits >= n else float(scipy.special.betaincinv(a, b, 1.0 - tail))
    return low, high


def worth_at_most(labels: Array, cluster: Clusters) -> float:
    """How many independent texts people's pass or fail labels (n,) can be worth.

    As many as there are clusters where fewer than FEW_CLUSTERS have the rarer label: whether texts
    of a cluster fail together cannot be told then, and if they do, the next cluster may fail as a
    whole. Else infinite, as `effective_size` tells. NaN is no label.
    """
    known = np.isfinite(labels)
    clusters = [np.unique(cluster[known & (labels == label)]).size for label in (0.0, 1.0)]
    n = np.unique(cluster[known]).size
    return float(n) if min(clusters) < FEW_CLUSTERS and n < known.sum() else np.inf


def share(
    hits: ArrayLike, cluster: Clusters, *, confidence: float, most: float = np.inf
) -> Estimate:
    """The share of ones among 0/1 values (n,), with Jeffreys' interval; NaN without values.

    `most`: how many independent texts they can be worth.
    """
    values = np.asarray(hits, dtype=np.float64)
    if not values.size:
        return Estimate(*UNDEFINED, 0, 0.0)
    value = float(np.mean(values))
    worth = min(effective_size(values - value, cluster, confidence=confidence), most)
    ends = jeffreys(value * worth, worth, confidence=confidence)
    return Estimate(value, *ends, values.size, worth)


def effective_size(influence: Array, cluster: Clusters, *, confidence: float) -> float:
    """How many independent texts n texts of `cluster` (n,) are worth, 1 to n.

    `influence` (n,): by how much each text moves the number asked about; its mean is taken off.
    n / design effect, which is the variance of sums over clusters by that of texts taken alone and
    never below 1; times (normal quantile / t quantile) ** 2, as few clusters, or those few that
    most of the variance comes from (Satterthwaite's degrees of freedom), tell little of it. With
    one text a cluster it is n; where no text moves the number, each cluster counts once. Sources:
    Rao and Scott 1992, A simple method for the analysis of clustered binary data; Korn and Graubard
    1998, Confidence intervals for proportions with small expected number of positive counts.
    """
    effect, freedom = design_effect(influence, cluster)
    n = influence.size
    if np.isinf(freedom):
        return float(round(n / effect))
    return n / effect * quantile_ratio(freedom, confidence=confidence)


def design_effect(influence: Array, cluster: Clusters) -> tuple[float, float]:
    """The variance of a mean of n texts by that of n independent ones, 1 or more.

    And its degrees of freedom; infinite where nothing is estimated: with one text a cluster the
    effect is 1, where no text moves the number it is n / clusters. Arguments and sources as
    `effective_size`.
    """
    n = influence.size
    _, of = np.unique(cluster, return_inverse=True)
    k = int(of.max()) + 1 if n else 0
    if k == n:
        return 1.0, np.inf
    centred = influence - np.mean(influence)
    alone = float(np.sum(centred**2)) / (n - 1)
    if k < 2 or alone <= 1e-24:
        return n / k, np.inf
    squares: Array = np.bincount(of, weights=centred).astype(np.float64) ** 2
    together = float(np.sum(squares)) * k / (k - 1) / n
    # Where a few clusters make the variance (a judge errs in four documents of sixty), it is known
    # no better than from a few: Satterthwaite's degrees of freedom.
    size, freedom = float(np.sum(squares)), k - 1.0
    kurtosis = k * float(np.sum(squares**2)) / size**2 if size > 0 else 0.0
    if kurtosis > 1.0:
        freedom = min(freedom, 2.0 * k / (kurtosis - 1.0))
    return max(1.0, together / alone), freedom


def quantile_ratio(freedom: float, *, confidence: float) -> float:
    """(normal quantile / t quantile) ** 2: what a variance of so much freedom costs; 0 of none."""
    if freedom <= 0:
        return 0.0
    upper = (1.0 + confidence) / 2.0
    normal, t = scipy.special.ndtri(upper), scipy.special.stdtrit(freedom, upper)
    return float((normal / t) ** 2)


def own_clusters(cluster: ArrayLike | None, n: int) -> Clusters:
    """The cluster of each of n texts as a whole number; each text its own where none is given."""
    if cluster is None:
        return np.arange(n, dtype=np.intp)
    _, of = np.unique(np.asarray(cluster), return_inverse=True)
    if of.shape != (n,):
        raise ValueError(f"want a cluster for each of {n} texts, got {of.shape}")
    return np.asarray(of, dtype=np.intp)


def drawn(  # noqa: PLR0913 - all but three are named
    coefficient: Coefficient,
    cell: NDArray[np.intp],
    cluster: Clusters,
    *,
    cells: int,
    prior: float,
    confidence: float,
    rng: np.random.Generator,
    most: float = np.inf,
) -> Estimate:
    """The coefficient of the table of `cell` (n,), each 0 to `cells` - 1, with its interval.

    Equal tails of DRAWS tables from a Dirichlet with `prior` texts added to each cell, of as many
    texts as these are worth (`cluster`, n), but at `most` so many. The ends are let out to hold the
    value. NaN where the coefficient is undefined for the table.
    """
    n = cell.size
    table = np.bincount(cell, minlength=cells).astype(np.float64)
    value = float(coefficient(table)) if n else np.nan
    if np.isnan(value):
        return Estimate(*UNDEFINED, n, float(n))
    # By a complex step the gradient is exact to rounding, without a formula per coefficient.
    gradient = np.imag(coefficient(table / n + 1e-30j * np.eye(cells))) / 1e-30
    worth = min(effective_size(gradient[cell], cluster, confidence=confidence), most)
    # With clusters, their t quantile is in `worth` already.
    certain = worth * (quantile_ratio(n - 1, confidence=confidence) if worth == n else 1.0)
    tables = rng.standard_gamma(table * (certain / n) + prior, size=(DRAWS, cells))
    return Estimate(value, *ends(coefficient(tables), value, confidence=confidence), n, worth)


def ends(values: Array, value: float, *, confidence: float) -> tuple[float, float]:
    """Equal tails of drawn values (n,), let out to hold `value`; NaN where it or all are."""
    known = values[np.isfinite(values)]
    if np.isnan(value) or not known.size:
        return np.nan, np.nan
    low, high = np.quantile(known, ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0))
    return min(float(low), value), max(float(high), value)


def probabilities(judge: ArrayLike) -> Array:
    """A row of judgments, checked; NaN stays. Raises ValueError for values outside 0 to 1."""
    values = np.asarray(judge, dtype=np.float64)
    if values.ndim != 1 or ((values < 0) | (values > 1)).any():
        raise ValueError("want one row of judgments or probabilities, 0 to 1")
    return values


def judgments(judge: ArrayLike, threshold: float = THRESHOLD) -> Array:
    """1 where a probability of passing is `threshold` or more, else 0; NaN stays."""
    values = probabilities(judge)
    return np.where(np.isnan(values), np.nan, values >= threshold)


def pass_or_fail(people: ArrayLike) -> Array:
    """What people said, checked: 1, 0 or NaN. Raises ValueError for anything else."""
    values = np.asarray(people, dtype=np.float64)
    if values.ndim != 1 or not np.isin(values[~np.isnan(values)], (0.0, 1.0)).all():
        raise ValueError("want one row of 0 and 1, NaN where nobody rated")
    return values


def cells(judgment: Array, human: Array) -> NDArray[np.intp]:
    """Each text's cell: 0 true pass, 1 false pass, 2 false fail, 3 true fail."""
    return np.asarray(2 * (1 - judgment) + (1 - human), dtype=np.intp)


class Corrected(NamedTuple):
    """A corrected mean with its normal interval; NaN where it cannot be had."""

    value: float
    low: float
    high: float
    weight: float  # how far the judge is trusted: 1 wholly, 0 not at all (people's mean alone)
    judge_mean: float  # the judge's plain mean over all texts, for comparison
    n: int  # texts that both people and judge rated
    n_judged: int  # texts that the judge alone rated
    n_missing: int  # texts that people rated and the judge did not: left out


def prediction_powered_mean(
    judge: ArrayLike, human: ArrayLike, *, confidence: float, weight: float | None = None
) -> Corrected:
    """The mean that people would give all texts (n,); NaN where judge or people gave none.

    weight * mean(judge alone) + mean(human - weight * judge). `weight` None chooses the one, within
    0 to 1, with the smallest variance; 1 is the estimate as first published. Without texts that the
    judge alone rated it is people's mean. NaN with fewer than two texts rated by both. The interval
    is normal: have 30 texts rated by people or more. Source: Angelopoulos et al. 2023,
    Prediction-powered inference (Science 382); Angelopoulos, Duchi, Zrnic 2023, PPI++.
    """
    scores, people = _rows(judge, human)
    both = np.isfinite(scores) & np.isfinite(people)
    f, y, rest = scores[both], people[both], scores[np.isfinite(scores) & ~np.isfinite(people)]
    judged = np.concatenate((f, rest))
    plain = float(np.mean(judged)) if judged.size else np.nan
    counts = y.size, rest.size, int(np.count_nonzero(np.isfinite(people) & ~both))
    if y.size < 2:
        return Corrected(*UNDEFINED, np.nan, plain, *counts)
    trust = 0.0 if not rest.size else _weight(f, y, rest) if weight is None else weight
    value = float(np.mean(y - trust * f))
    variance = float(np.var(y - trust * f)) / y.size
    if rest.size:
        value += trust * float(np.mean(rest))
        variance += trust**2 * float(np.var(rest)) / rest.size
    reach = float(scipy.special.ndtri((1.0 + confidence) / 2.0)) * np.sqrt(variance)
    return Corrected(value, value - reach, value + reach, trust, plain, *counts)


class RoganGladen(NamedTuple):
    """A corrected share with its interval; NaN where the judge is no better than chance."""

    value: float  # 0 to 1
    low: float
    high: float
    sensitivity: float  # share of people's ones that the judge calls one
    specificity: float  # share of people's zeros that the judge calls zero
    n: int  # texts that both rated
    n_judged: int  # texts that the judge alone rated
    n_missing: int  # texts that people rated and the judge did not: left out


def rogan_gladen(judge: ArrayLike, human: ArrayLike, *, confidence: float) -> RoganGladen:
    """The share of ones that people would find, from a judge's 0/1 judgments and people's on some.

    (share called one + specificity - 1) / (sensitivity + specificity - 1), cut to 0 to 1, the share
    being of all texts that the judge rated. NaN if people found no one or no zero, or if the judge
    is no better than chance. Source: Rogan and Gladen 1978, Estimating prevalence from the results
    of a screening test; interval by Lang and Reiczigel 2014, Confidence limits for prevalence of
    disease adjusted for estimated sensitivity and specificity, made narrower by what share and
    rates have in common: the texts rated by both. Raises ValueError for other values.
    """
    scores, people = _rows(judge, human)
    for values in (scores, people):
        if not np.isin(values[~np.isnan(values)], (0.0, 1.0)).all():
            raise ValueError("want judgments of 0 and 1, NaN where there is none")
    known = np.isfinite(scores)
    ones, zeros = known & (people == 1), known & (people == 0)
    n_ones, n_zeros, total = (int(np.count_nonzero(rows)) for rows in (ones, zeros, known))
    n, alone = n_ones + n_zeros, int(np.sum(known & np.isnan(people)))
    counts = n, alone, int(np.count_nonzero(np.isfinite(people) & ~known))
    if not (n_ones and n_zeros):
        return RoganGladen(*UNDEFINED, np.nan, np.nan, *counts)
    sensitivity, specificity = float(np.mean(scores[ones])), 1.0 - float(np.mean(scores[zeros]))
    better = sensitivity + specificity - 1.0
    if better <= 0:
        return RoganGladen(*UNDEFINED, sensitivity, specificity, *counts)
    share = float(np.mean(scores[known]))
    value = min(max((share + specificity - 1.0) / better, 0.0), 1.0)
    z = float(scipy.special.ndtri((1.0 + confidence) / 2.0))
    rates = (sensitivity, n_ones), (specificity, n_zeros)
    low, high = _adjusted((share, total), *rates, z, n / total)  # may lie beside the value
    ends = min(low, value), max(high, value)
    return RoganGladen(value, *ends, sensitivity, specificity, *counts)


def _rows(judge: ArrayLike, human: ArrayLike) -> tuple[Array, Array]:
    scores, people = np.asarray(judge, dtype=np.float64), np.asarray(human, dtype=np.float64)
    if scores.ndim != 1 or scores.shape != people.shape:
        raise ValueError(f"want two rows of equal length, got {scores.shape}, {people.shape}")
    return scores, people


def _weight(f: Array, y: Array, rest: Array) -> float:
    spread = float(np.var(np.concatenate((f, rest)), ddof=1))
    if spread <= 0:
        return 0.0
    shared = float(np.mean((y - np.mean(y)) * (f - np.mean(f))))
    return min(max(shared / (spread * (1.0 + f.size / rest.size)), 0.0), 1.0)


def _adjusted(
    share: tuple[float, int],
    sensitivity: tuple[float, int],
    specificity: tuple[float, int],
    z: float,
    overlap: float,
) -> tuple[float, float]:
    # Lang and Reiczigel's: each rate is drawn towards 1/2 by a few texts more.
    n = share[1] + z**2
    p = (share[0] * share[1] + z**2 / 2) / n
    n_one, n_zero = sensitivity[1] + 2, specificity[1] + 2
    se = (sensitivity[0] * sensitivity[1] + 1) / n_one
    sp = (specificity[0] * specificity[1] + 1) / n_zero
    better = se + sp - 1.0
    if better <= 0:
        return 0.0, 1.0
    true = min(max((p + sp - 1.0) / better, 0.0), 1.0)
    of_one, of_zero = se * (1 - se) / n_one, sp * (1 - sp) / n_zero
    shift = 2 * z**2 * (true * of_one - (1 - true) * of_zero)
    # An error of a rate is an error of the share too, as far as both come from the same texts.
    of_rates = (1 - 2 * overlap) * (true**2 * of_one + (1 - true) ** 2 * of_zero)
    least = true * (1 - true) * better**2 / n  # had people seen all texts
    reach = z * np.sqrt(max(p * (1 - p) / n + of_rates, least)) / better
    low, high = true + shift - reach, true + shift + reach
    return float(min(max(low, 0.0), 1.0)), float(min(max(high, 0.0), 1.0))


class PassRates(NamedTuple):
    """Four answers to one question, 0 to 1: what share of texts passes."""

    judge: Estimate  # the judge's own, of all texts with a judgment: off by what it gets wrong
    people: Estimate  # people's own, of the texts that they rated
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
    """The judge's pass rate, people's, and two corrected ones; arrays (n,) as for `judge_card`.

    The rated texts must be a random sample of the judged. A corrected rate is NaN with fewer than
    two texts that have both, which its `n` counts; Rogan and Gladen's also where the judge is no
    better than chance. Rogan and Gladen's interval is Lang and Reiczigel's, stretched where texts
    are clustered. The prediction-powered value is `prediction_powered_mean` of the judgments, cut
    to 0 to 1; its normal interval covers far too seldom with few ratings, so this one draws the
    share of passes among what the judge passes and fails from their posteriors (1/2 text a cell).
    """
    judgment, human = judgments(judge, threshold), pass_or_fail(people)
    of = own_clusters(cluster, judgment.size)
    judged, rated = np.isfinite(judgment), np.isfinite(human)
    f, y, alike = judgment[judged], human[judged], of[judged]
    return PassRates(
        share(f, alike, confidence=confidence),
        share(human[rated], of[rated], confidence=confidence, most=worth_at_most(human, of)),
        _rogan_gladen(f, y, alike, confidence),
        _powered(f, y, alike, confidence, rng),
    )


def powered_influence(f: Array, y: Array) -> Array:
    """How each judged text (n,) moves the prediction-powered pass rate; y is NaN where unrated.

    Its mean is 0 and its variance / n is that of the rate, for texts that are independent.
    """
    expected = np.full(f.size, float(np.nanmean(y)))
    moved = np.zeros(f.size)
    rated = np.isfinite(y)
    weight = f.size / np.count_nonzero(rated)
    for judgment in (0.0, 1.0):
        seen = rated & (f == judgment)
        if seen.any():
            expected[f == judgment] = float(np.mean(y[seen]))
    moved += expected - np.mean(expected)
    moved[rated] += weight * (y[rated] - expected[rated])
    return moved


def _powered(
    f: Array, y: Array, cluster: Clusters, confidence: float, rng: np.random.Generator
) -> Estimate:
    found = prediction_powered_mean(f, y, confidence=confidence)
    if np.isnan(found.value):
        return Estimate(*UNDEFINED, found.n, float(found.n))
    value = min(max(found.value, 0.0), 1.0)
    worth = effective_size(powered_influence(f, y), cluster, confidence=confidence) / f.size
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
    return Estimate(value, *reach, found.n, found.n * worth)


def _rogan_gladen(f: Array, y: Array, cluster: Clusters, confidence: float) -> Estimate:
    found = rogan_gladen(f, y, confidence=confidence)
    if np.isnan(found.value):
        return Estimate(*UNDEFINED, found.n, float(found.n))
    better = found.sensitivity + found.specificity - 1.0
    moved = (f - np.mean(f)) / better
    passed, failed = y == 1, y == 0
    for group, error, weight in (
        (passed, f - found.sensitivity, -found.value),
        (failed, 1.0 - f - found.specificity, 1.0 - found.value),
    ):
        of_all = f.size / np.count_nonzero(group)
        moved[group] += of_all * error[group] * weight / better
    worth = effective_size(moved, cluster, confidence=confidence) / f.size
    worth = min(worth, worth_at_most(y, cluster) / np.count_nonzero(np.isfinite(y)))
    # About its own middle, which is not the value: an end beside that would hardly move.
    more = float(np.sqrt(1.0 / worth) - 1.0) * (found.high - found.low) / 2.0
    low = max(min(found.low - more, found.value), 0.0)
    high = min(max(found.high + more, found.value), 1.0)
    return Estimate(found.value, low, high, found.n, found.n * worth)


class LabelsNeeded(NamedTuple):
    """How many texts people must rate in all, those rated already included; NaN if unknown."""

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
) -> LabelsNeeded:
    """The number of rated texts at which each interval is `width` wide; arrays as `judge_card`'s.

    It takes what is seen so far for the truth, with 1/2 text added to each cell of judgments by
    ratings, so that a judge without an error yet is not taken for perfect: a rough guess from few
    ratings. Texts to rate are drawn at random from those with a judgment, and share documents as
    the rated ones do. Sensitivity rests on the texts that people pass, specificity on those that
    they fail. More pass-rate labels than there are texts with a judgment means that more texts are
    needed, all of them rated. NaN with fewer than two texts that have judgment and rating.
    Raises ValueError unless 0 < width < 1.
    """
    if not 0 < width < 1:
        raise ValueError(f"want a width between 0 and 1, got {width}")
    judgment, human = judgments(judge, threshold), pass_or_fail(people)
    judged = np.isfinite(judgment)
    f, y = judgment[judged], human[judged]
    of = own_clusters(cluster, judgment.size)[judged]
    rated = np.isfinite(y)
    if np.count_nonzero(rated) < 2:
        return LabelsNeeded(np.nan, np.nan, np.nan)
    table = (np.bincount(cells(f[rated], y[rated]), minlength=4) + 0.5).astype(np.float64)
    table /= table.sum()
    passes, fails = table[0] + table[2], table[1] + table[3]

    def deff(influence: Array, among: Mask) -> float:
        size = int(np.count_nonzero(among))
        worth = effective_size(influence[among], of[among], confidence=confidence)
        return size / worth if size else 1.0

    whole = deff(powered_influence(f, y), judged[judged])
    whole = max(whole, np.count_nonzero(rated) / worth_at_most(y, of))
    needed = (
        whole * _powered_labels(table, f.size / whole, width, confidence),
        deff(f, y == 1) * _alone(float(table[0] / passes), width, confidence) / passes,
        deff(1.0 - f, y == 0) * _alone(float(table[3] / fails), width, confidence) / fails,
    )
    return LabelsNeeded(*(float(math.ceil(n - 1e-9)) for n in needed))


def _alone(share: float, width: float, confidence: float) -> float:
    # Independent texts at which Jeffreys' interval of this share is so wide.
    low, high = 0.5, MOST
    for _ in range(STEPS):
        middle = float(np.sqrt(low * high))
        bottom, top = jeffreys(share * middle, middle, confidence=confidence)
        low, high = (middle, high) if top - bottom > width else (low, middle)
    return high


def _powered_labels(table: Array, judged: float, width: float, confidence: float) -> float:
    # The rate's variance is that of people's 0/1 times (1 - r2) / rated + r2 / judged, where r2 is
    # what the judgments explain of them.
    passes, by_judge = table[0] + table[2], table[0] + table[1]
    shared = table[0] - passes * by_judge
    spread = passes * (1.0 - passes) * by_judge * (1.0 - by_judge)
    r2 = float(shared**2 / spread) if shared > 0 else 0.0
    alone = _alone(float(passes), width, confidence)
    if alone >= judged:
        return alone
    return (1.0 - r2) / (1.0 / alone - r2 / judged)
