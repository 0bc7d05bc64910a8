"""A system's true mean or pass rate from a judge on all its texts and people on some.

The judge's plain mean repeats the judge's bias on every text, and its interval shrinks around the
wrong number. The corrections ask that people saw a random sample of the texts;
`prediction_powered_mean` and `rogan_gladen` take texts for independent.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from metassay.statistics.classification import THRESHOLD, cells, judgments, pass_or_fail
from metassay.statistics.exact_sums import Array
from metassay.statistics.shares import (
    UNDEFINED,
    Clusters,
    Estimate,
    effective_size,
    ends,
    jeffreys,
    own_clusters,
    share,
)


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
    alone = np.isfinite(scores) & ~np.isfinite(people)
    missing = int(np.count_nonzero(np.isfinite(people) & ~both))
    f, y, rest = scores[both], people[both], scores[alone]
    judged = np.concatenate((f, rest))
    plain = float(np.mean(judged)) if judged.size else np.nan
    if y.size < 2:
        nothing = (np.nan, np.nan, np.nan, np.nan)
        return Corrected(*nothing, plain, y.size, rest.size, missing)
    trust = 0.0 if not rest.size else _weight(f, y, rest) if weight is None else weight
    value = float(np.mean(y - trust * f))
    variance = float(np.var(y - trust * f)) / y.size
    if rest.size:
        value += trust * float(np.mean(rest))
        variance += trust**2 * float(np.var(rest)) / rest.size
    reach = float(scipy.special.ndtri((1.0 + confidence) / 2.0)) * np.sqrt(variance)
    ends = (value - reach, value + reach)
    return Corrected(value, *ends, trust, plain, y.size, rest.size, missing)


def rogan_gladen(judge: ArrayLike, human: ArrayLike, *, confidence: float) -> RoganGladen:
    """The share of ones that people would find, from a judge's 0/1 judgments and people's on some.

    (share called one + specificity - 1) / (sensitivity + specificity - 1), cut to 0 to 1, the share
    being of all texts that the judge rated. NaN if people found no one or no zero, or if the judge
    is no better than chance. Source: Rogan and Gladen 1978,
    Estimating prevalence from the results of a screening test; interval by Lang and Reiczigel
    2014, Confidence limits for prevalence of disease adjusted for estimated sensitivity and
    specificity, made narrower by what share and rates have in common: the texts rated by both.
    Raises ValueError for values other than 0, 1 and NaN.
    """
    scores, people = _rows(judge, human)
    for values in (scores, people):
        if not np.isin(values[~np.isnan(values)], (0.0, 1.0)).all():
            raise ValueError("want judgments of 0 and 1, NaN where there is none")
    known = np.isfinite(scores)
    ones, zeros = known & (people == 1), known & (people == 0)
    missing = int(np.count_nonzero(np.isfinite(people) & ~known))
    n, alone = int(np.sum(ones | zeros)), int(np.sum(known & np.isnan(people)))
    counts = [int(np.count_nonzero(rows)) for rows in (ones, zeros)]
    if not all(counts):
        return RoganGladen(np.nan, np.nan, np.nan, np.nan, np.nan, n, alone, missing)
    sensitivity, specificity = float(np.mean(scores[ones])), 1.0 - float(np.mean(scores[zeros]))
    better = sensitivity + specificity - 1.0
    if better <= 0:
        rates = (sensitivity, specificity, n, alone, missing)
        return RoganGladen(np.nan, np.nan, np.nan, *rates)
    share = float(np.mean(scores[known]))
    value = min(max((share + specificity - 1.0) / better, 0.0), 1.0)
    total = int(np.count_nonzero(known))
    z = float(scipy.special.ndtri((1.0 + confidence) / 2.0))
    rates_found = (sensitivity, counts[0]), (specificity, counts[1])
    ends = _adjusted((share, total), *rates_found, z, n / total)
    return RoganGladen(value, *ends, sensitivity, specificity, n, alone, missing)


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


DRAWS = 10_000  # from the posterior of a corrected share


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
    two texts that have both; Rogan and Gladen's also where the judge is no better than chance.
    `n` of a corrected rate counts the texts that have both.

    Rogan and Gladen's interval is Lang and Reiczigel's, stretched where texts are clustered. The
    prediction-powered value is `prediction_powered_mean` of the judgments, cut to 0 to 1; its
    normal interval covers far too seldom with few ratings (a judge without an error among 20 seems
    to make none), so this one draws the share of passes among what the judge passes and fails from
    their posteriors (1/2 text a cell).
    """
    judgment, human = judgments(judge, threshold), pass_or_fail(people)
    of = own_clusters(cluster, judgment.size)
    judged, rated = np.isfinite(judgment), np.isfinite(human)
    f, y, alike = judgment[judged], human[judged], of[judged]
    return PassRates(
        share(f, alike, confidence=confidence),
        share(human[rated], of[rated], confidence=confidence),
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
    stretch = float(np.sqrt(1.0 / worth))
    low = max(found.value - stretch * (found.value - found.low), 0.0)
    high = min(found.value + stretch * (found.high - found.value), 1.0)
    return Estimate(found.value, low, high, found.n, found.n * worth)


WIDTH = 0.1  # from the lower end to the upper
STEPS = 60  # halvings of an interval: to the last bit
MOST = 1e9  # texts; more are as good as out of reach


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
    ratings, so that a judge without an error yet is not taken for perfect: from few ratings it is
    a rough guess, so ask again with more of them. Texts to rate are drawn at random from those
    with a judgment, and share documents as the rated ones do. Sensitivity rests on the texts that
    people pass, specificity on those that they fail, so the rarer kind needs the most ratings.
    More pass-rate labels than there are texts with a judgment means that more texts are needed, all
    of them rated. NaN with fewer than two texts that have judgment and rating.
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

    def deff(influence: Array, among: Array) -> float:
        size = int(np.count_nonzero(among))
        kept = among.astype(bool)
        if not size:
            return 1.0
        return size / effective_size(influence[kept], of[kept], confidence=confidence)

    whole = deff(powered_influence(f, y), judged[judged])
    needed = (
        whole * _powered_labels(table, f.size / whole, width, confidence),
        deff(f, y == 1) * _alone(float(table[0] / passes), width, confidence) / passes,
        deff(1.0 - f, y == 0) * _alone(float(table[3] / fails), width, confidence) / fails,
    )
    return LabelsNeeded(*(float(math.ceil(n - 1e-9)) for n in needed))


def _alone(share: float, width: float, confidence: float) -> float:
    """Independent texts at which Jeffreys' interval of this share is so wide."""

    def wide(n: float) -> bool:
        low, high = jeffreys(share * n, n, confidence=confidence)
        return high - low > width

    return _least(wide)


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


def _least(wide: Callable[[float], bool]) -> float:
    low, high = 0.5, MOST
    for _ in range(STEPS):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if wide(middle) else (low, middle)
    return high
