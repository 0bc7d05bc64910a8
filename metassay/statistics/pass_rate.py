"""The share of texts that people would pass, from a judge on all of them and people on some."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.arithmetic import Array
from metassay.statistics.judge_card import THRESHOLD, cells, judgments, pass_or_fail
from metassay.statistics.prediction_powered import prediction_powered_mean, rogan_gladen
from metassay.statistics.shares import (
    UNDEFINED,
    Clusters,
    Estimate,
    effective_size,
    own_clusters,
    share,
)

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
    tails = ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0)
    low, high = np.quantile(by_judge * right + (1.0 - by_judge) * wrong, tails)
    ends = min(float(low), value), max(float(high), value)
    return Estimate(value, *ends, found.n, found.n * worth)


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
