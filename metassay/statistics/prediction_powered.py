"""A system's true mean from a judge on all its texts and people on some: corrected, with interval.

The judge's plain mean repeats the judge's bias on every text, and its interval shrinks around the
wrong number. Both corrections ask that people saw a random sample of the texts, and take texts for
independent.
"""

from typing import NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from metassay.statistics.arithmetic import Array


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
