"""Labels and probabilities against the truth: kappa, F1, sensitivity, AUROC, calibration.

A table (..., labels, labels) counts texts by their true label (rows) and predicted
label (columns). Each coefficient reduces the last two axes, so that a thousand
resampled tables take one call. All but kappa are 0 to 1, more is better unless stated.
NaN where undefined.

Where a judge is compared with people, 1 is a pass and 0 a fail, NaN missing; people are
the truth. `judge` (n,) has judgments 0 and 1 or probabilities of passing, `people` (n,)
0 or 1; other values raise ValueError. Texts with the same number in `cluster` (n,)
share a document and are correlated; None treats texts as independent.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray

from metassay.statistics.exact_sums import (
    Array,
    Mask,
    blocks,
    quotient,
)
from metassay.statistics.shares import (
    THRESHOLD,
    UNDEFINED,
    Clusters,
    Coefficient,
    Estimate,
    Tables,
    cells,
    cluster_codes,
    effective_size,
    jeffreys,
    judgments,
    kish_size,
    pass_or_fail,
    posterior_estimate,
    probabilities,
    quantile_ratio,
    share,
    weighted_mean,
    weighted_share,
    worth_at_most,
)

AC1 = "gwet_ac1"
# texts added to each cell of a drawn table: 1/2 covers .987 of 20, 1/4 only .89 of 50
PRIOR = 0.4
BINS = 10  # at most
IN_BIN = 10  # texts per bin at least
CHUNK = 1 << 22  # numbers drawn at a time: 32 MB
DRAWS = 2_000  # simulated ratings by people if the probabilities were right

_TRUE_PASS, _FALSE_PASS, _FALSE_FAIL, _TRUE_FAIL = range(4)
_EVERY = (_TRUE_PASS, _FALSE_PASS, _FALSE_FAIL, _TRUE_FAIL)

# Numerator and denominator of each share, as cells of the table of judge and people.
SHARES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "sensitivity": ((_TRUE_PASS,), (_TRUE_PASS, _FALSE_FAIL)),
    "specificity": ((_TRUE_FAIL,), (_TRUE_FAIL, _FALSE_PASS)),
    "precision": ((_TRUE_PASS,), (_TRUE_PASS, _FALSE_PASS)),
    "negative_predictive_value": ((_TRUE_FAIL,), (_TRUE_FAIL, _FALSE_FAIL)),
    "agreement": ((_TRUE_PASS, _TRUE_FAIL), _EVERY),
}


def support(table: Tables) -> Tables:
    """Count the texts with each true label: (..., labels)."""
    return np.asarray(table.sum(axis=-1))


def precision(table: Tables) -> Tables:
    """Return the precision of each label; NaN for a label never predicted."""
    return quotient(_hits(table), table.sum(axis=-2))


def recall(table: Tables) -> Tables:
    """Return the recall of each label; NaN for a label that no text has."""
    return quotient(_hits(table), support(table))


def f1(table: Tables) -> Tables:
    """Return 2 hits / (texts with the label + texts predicted to have it); NaN if there are none.

    0 for a label that texts have and that is never predicted (its precision is
    undefined). Source: van Rijsbergen 1979, Information Retrieval.
    """
    return quotient(2.0 * _hits(table), support(table) + table.sum(axis=-2))


def accuracy(table: Tables) -> Tables:
    """Return the share of texts with a correct label."""
    return quotient(_hits(table).sum(axis=-1), _total(table))


def macro_f1(table: Tables, labels: Mask) -> Tables:
    """Return the mean F1 of `labels`: those that texts have or are predicted to have.

    Each label counts the same; one that is predicted though no text has it counts 0, as
    in scikit-learn.
    """
    return np.asarray(f1(table)[..., labels].mean(axis=-1))


def weighted_f1(table: Tables, labels: Mask) -> Tables:
    """Return the mean F1 of `labels`, those that texts have, each as often as texts have it."""
    sums = (f1(table) * support(table))[..., labels].sum(axis=-1)
    return quotient(sums, support(table)[..., labels].sum(axis=-1))


def cohen_kappa(table: Tables) -> Tables:
    """Return Cohen's kappa, -1 to 1; NaN where agreement by chance is 1.

    Source: Cohen 1960, A coefficient of agreement for nominal scales.
    """
    total = _total(table)
    by_chance = quotient(
        (support(table) * table.sum(axis=-2)).sum(axis=-1), total * total
    )
    return _correct_for_chance(accuracy(table), by_chance)


def gwet_ac1(table: Tables) -> Tables:
    """Return Gwet's AC1: agreement beyond chance, -1 to 1; NaN without texts.

    Chance is the sum of p (1 - p) over the labels, by their number less 1, where p is
    the mean of both sides' shares of a label; it is small where nearly all texts have
    one label. A judge that passes everything gets .947 where 95 % pass: compare with
    that. Source: Gwet 2008, Computing inter-rater reliability and its variance in the
    presence of high agreement.

    >>> round(float(gwet_ac1(np.array([[8.0, 1.0], [1.0, 0.0]]))), 6)
    0.756098
    """
    mean = (support(table) + table.sum(axis=-2)) / 2.0
    p = quotient(mean, _total(table)[..., None])
    by_chance = (p * (1.0 - p)).sum(axis=-1) / max(table.shape[-1] - 1, 1)
    return _correct_for_chance(accuracy(table), by_chance)


def gwet_ac1_of_cells(table: Tables) -> Tables:
    """Return Gwet's AC1 of tables (..., 4) of the four cells of passes and fails."""
    return gwet_ac1(_square(table))


def _correct_for_chance(agreement: Tables, by_chance: Tables) -> Tables:
    return quotient(agreement - by_chance, 1.0 - by_chance)


def _hits(table: Tables) -> Tables:
    return np.diagonal(table, axis1=-2, axis2=-1)


def _total(table: Tables) -> Tables:
    return np.asarray(table.sum(axis=(-1, -2)))


class JudgeCard(NamedTuple):
    """A judge compared with people, on the texts that both rated."""

    true_pass: int  # both pass
    false_pass: int  # the judge passes what people failed
    false_fail: int  # the judge fails what people passed
    true_fail: int  # both fail
    # by the field's names: sensitivity, ..., cohen_kappa, mcc
    estimates: dict[str, Estimate]
    n_judged: int  # texts with a judgment
    n_missing: int  # texts that people rated and the judge did not: left out


def judge_card(
    judge: ArrayLike,
    people: ArrayLike,
    *,
    confidence: float,
    rng: np.random.Generator,
    threshold: float = THRESHOLD,
    cluster: ArrayLike | None = None,
) -> JudgeCard:
    """Return the measures of a judge's passes and fails against people's, each with an interval.

    Probabilities of at least `threshold` are a pass. Higher is better; 0 to 1, kappa
    and MCC -1 to
    1. NaN where undefined: no sensitivity without a text that people passed. Intervals:
    shares by Jeffreys'; balanced accuracy from those of its two halves (Newcombe 1998,
    Zou and Donner 2008, Construction of confidence limits about effect measures); F1,
    kappa, MCC and agreement by chance by drawing the table from its posterior
    (Dirichlet, PRIOR a cell). Sources: Cohen 1960, A coefficient of agreement for
    nominal scales; Matthews 1975, Comparison of the predicted and observed secondary
    structure of T4 phage lysozyme.
    """
    judgment = judgments(judge, threshold)
    predicted, right, clusters, missing = _label_pairs(
        judgment, pass_or_fail(people), cluster
    )
    cell = cells(predicted, right)
    estimates = {}
    options: dict[str, Any] = {
        "cells": 4,
        "prior": PRIOR,
        "confidence": confidence,
        "rng": rng,
    }
    options["most"] = worth_at_most(right, clusters)
    for name, (hits, base) in SHARES.items():
        among = np.isin(cell, base)
        estimates[name] = share(
            np.isin(cell[among], hits), clusters[among], confidence=confidence
        )
    halves = estimates["sensitivity"], estimates["specificity"]
    estimates["balanced_accuracy"] = _balanced_accuracy(cell, clusters, *halves)
    for name, coefficient in COEFFICIENTS.items():
        estimates[name] = posterior_estimate(coefficient, cell, clusters, **options)
    a, b, c, d = (int(count) for count in np.bincount(cell, minlength=4))
    n_judged = int(np.count_nonzero(np.isfinite(judgment)))
    return JudgeCard(a, b, c, d, estimates, n_judged, missing)


def matthews(table: Tables) -> Tables:
    """Return Matthews' correlation of tables (..., 4); NaN where judge or people are constant."""
    a, b, c, d = np.moveaxis(table, -1, 0)
    return quotient(a * d - b * c, np.sqrt((a + b) * (a + c) * (d + b) * (d + c)))


def _expected_agreement(table: Tables) -> Tables:
    # The agreement to expect if judge and people were independent. Summed cell by cell:
    # another order of the drawn tables' cells would change the last bit of every card.
    a, b, c, d = np.moveaxis(table, -1, 0)
    total = a + b + c + d
    return quotient((a + b) * (a + c) + (d + b) * (d + c), total * total)


def _kappa_of_judge(table: Tables) -> Tables:
    # Undefined where people pass, or fail, every text: then it is 0 for any judge, and
    # says nothing about this one.
    a, b, c, d = np.moveaxis(table, -1, 0)
    kappa = _correct_for_chance(accuracy(_square(table)), _expected_agreement(table))
    return np.where((a + c == 0) | (b + d == 0), np.nan, kappa)


COEFFICIENTS: dict[str, Coefficient] = {  # of tables (..., 4) of the four cells
    "agreement_by_chance": _expected_agreement,
    "cohen_kappa": _kappa_of_judge,
    "mcc": matthews,
    "f1": lambda t: quotient(2 * t[..., 0], 2 * t[..., 0] + t[..., 1] + t[..., 2]),
    AC1: gwet_ac1_of_cells,
}


def _label_pairs(
    predicted: Array, right: Array, cluster: ArrayLike | None
) -> tuple[Array, Array, Clusters, int]:
    # Predicted and true values and clusters of the texts that have both; texts with a
    # true one alone.
    clusters = cluster_codes(cluster, predicted.size)
    if predicted.shape != right.shape:
        raise ValueError(
            f"expected two arrays of equal length, got {predicted.shape}, {right.shape}"
        )
    both = np.isfinite(predicted) & np.isfinite(right)
    missing = int(np.count_nonzero(np.isfinite(right) & ~both))
    return predicted[both], right[both], clusters[both], missing


def _square(table: Tables, labels: int = 2) -> Tables:
    return table.reshape(*table.shape[:-1], labels, labels)


def _balanced_accuracy(
    cell: NDArray[np.intp], cluster: Clusters, passes: Estimate, fails: Estimate
) -> Estimate:
    # From the intervals of sensitivity and specificity.
    worth = passes.n_effective + fails.n_effective
    if not (passes.n and fails.n):
        return Estimate(*UNDEFINED, cell.size, worth)
    # A hard document lowers both shares: their errors correlate, over clusters.
    passed = np.isin(cell, (_TRUE_PASS, _FALSE_FAIL))
    of_passes = np.where(passed, (cell == _TRUE_PASS) - passes.value, 0.0)
    of_fails = np.where(passed, 0.0, (cell == _TRUE_FAIL) - fails.value)
    _, of = np.unique(cluster, return_inverse=True)
    x, y = np.bincount(of, weights=of_passes), np.bincount(of, weights=of_fails)
    size = float(np.sqrt(np.sum(x * x) * np.sum(y * y)))
    common = float(np.sum(x * y)) / size if size > 0 else 0.0

    def half_reach(a: float, b: float) -> float:
        return float(np.sqrt(max(a * a + b * b + 2.0 * common * a * b, 0.0))) / 2.0

    value = (passes.value + fails.value) / 2.0
    low = value - half_reach(passes.value - passes.low, fails.value - fails.low)
    high = value + half_reach(passes.high - passes.value, fails.high - fails.value)
    return Estimate(value, max(low, 0.0), min(high, 1.0), cell.size, worth)


def auroc(
    judge: ArrayLike,
    people: ArrayLike,
    *,
    confidence: float,
    cluster: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> Estimate:
    """Return the probability that a passed text has a higher value than a failed text.

    Equal values count half. 1 is best, 1/2 is chance. NaN unless people pass a text and
    fail another. `weight` (n,): how many texts each stands for (`label_weights`); None:
    one each. Source: Bamber 1975, The area above the ordinal dominance graph.

    Interval: Jeffreys' of a share of as many texts as have this variance: the larger of
    DeLong's, from the texts' placements summed over `cluster` (Obuchowski 1997,
    Nonparametric analysis of clustered ROC curve data), and Hanley and McNeil's as
    Newcombe writes it (2006, Confidence intervals for an effect size measure based on
    the Mann-Whitney statistic). Either alone covers too seldom where texts are few: the
    first at .95 and 10 passes, the second where all are apart.
    """
    judged, labels = probabilities(judge), pass_or_fail(people)
    p, right, clusters, _ = _label_pairs(judged, labels, cluster)
    passed = right == 1.0
    n_passed, n_failed = int(np.count_nonzero(passed)), int(np.count_nonzero(~passed))
    if not (n_passed and n_failed):
        return Estimate(*UNDEFINED, p.size, float(p.size))
    if weight is not None:
        weights = np.asarray(weight, np.float64)[np.isfinite(judged + labels)]
        return _weighted_auroc(p, passed, weights, clusters, confidence)
    place = _placements(p, passed, np.ones(p.size))
    value = float(np.mean(place[passed]))
    # Each text's influence on the value, times n: the mean is 0.
    influence = (
        (place - value) * np.where(passed, 1.0 / n_passed, 1.0 / n_failed) * p.size
    )
    worth = effective_size(influence, clusters, confidence=confidence)
    effect = p.size / worth if worth > 0 else np.inf
    alone, freedom = _delong(place, passed)
    if worth == p.size:  # with clusters, their t quantile is in `worth` already
        alone /= quantile_ratio(freedom, confidence=confidence) or 1.0
    variance = max(alone, _hanley_mcneil(value, n_passed, n_failed)) * effect
    certain = min(n_passed, n_failed) / max(effect, 1.0)
    if variance > 0:
        certain = value * (1.0 - value) / variance
    ends = jeffreys(value * certain, certain, confidence=confidence)
    return Estimate(value, *ends, p.size, worth)


def _placements(p: Array, passed: Mask, weight: Array) -> Array:
    # For each text, the share by weight of the texts of the other class that are ranked
    # on the right side of it; equal values count half.
    placements = np.empty_like(p)
    for side in (True, False):
        others, of_others = p[passed != side], weight[passed != side]
        order = np.argsort(others, kind="stable")
        below = np.concatenate(([0.0], np.cumsum(of_others[order])))
        here = p[passed == side]
        less = below[np.searchsorted(others[order], here, side="left")]
        at_most = below[np.searchsorted(others[order], here, side="right")]
        share = (less + at_most) / 2.0 / below[-1]
        placements[passed == side] = share if side else 1.0 - share
    return placements


def _weighted_auroc(
    p: Array, passed: Mask, weight: Array, cluster: Clusters, confidence: float
) -> Estimate:
    place = _placements(p, passed, weight)
    sizes = [float(np.sum(weight[passed == side])) for side in (True, False)]
    value = float(np.sum((weight * place)[passed])) / sizes[0]
    # The mean of these is 0, and their variance is that of the value.
    influence = (place - value) * np.where(passed, 1.0 / sizes[0], 1.0 / sizes[1])
    mean = weighted_mean(influence, weight, cluster)
    variance = mean.variance * float(np.sum(weight)) ** 2
    n_passed, n_failed = (
        kish_size(weight[passed == side], cluster[passed == side])[0]
        for side in (True, False)
    )
    variance = max(variance, _hanley_mcneil(value, n_passed, n_failed))
    certain = min(n_passed, n_failed)
    if variance > 0:
        certain = value * (1.0 - value) / variance
    certain *= quantile_ratio(mean.freedom, confidence=confidence)
    ends = jeffreys(value * certain, certain, confidence=confidence)
    return Estimate(value, *ends, p.size, certain)


def _hanley_mcneil(value: float, n_passed: float, n_failed: float) -> float:
    pairs_per_text = (n_passed + n_failed) / 2.0 - 1.0
    stretch = 1.0 + pairs_per_text * (
        (1.0 - value) / (2.0 - value) + value / (1.0 + value)
    )
    return value * (1.0 - value) * stretch / (n_passed * n_failed)


def _delong(place: Array, passed: Mask) -> tuple[float, float]:
    # The variance for independent texts, and its degrees of freedom (Welch's).
    sides = place[passed], place[~passed]
    variances = [
        float(np.var(v, ddof=1)) / v.size if v.size > 1 else 0.0 for v in sides
    ]
    freedoms = [v.size - 1 for v in sides]
    total = sum(variances)
    parts = [v * v / f for v, f in zip(variances, freedoms, strict=True) if f > 0]
    return total, total * total / sum(parts) if sum(parts) > 0 else float(min(freedoms))


class Bin(NamedTuple):
    """Texts of about the same probability."""

    lowest: float  # probability in the bin
    highest: float
    mean: float  # probability
    passed: Estimate  # share of them that people passed


class Calibration(NamedTuple):
    """How far probabilities are from people's passes and fails."""

    # mean squared difference of probability and 0/1: 0 is best, 1 worst
    brier: Estimate
    bias: Estimate  # mean probability less share passed: above 0, the judge is too kind
    # mean gap between a bin's mean probability and share passed; has no interval
    ece: Estimate
    # the ECE if the probabilities were right: mean, interval of one study
    ece_by_chance: Estimate
    bins: list[Bin]  # lowest probability first
    n_missing: int  # texts that people rated and that have no probability: left out


def calibration(
    judge: ArrayLike,
    people: ArrayLike,
    *,
    confidence: float,
    rng: np.random.Generator,
    cluster: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> Calibration:
    """Return Brier score, bias and expected calibration error of probabilities of passing.

    `weight` (n,): how many texts each stands for (`label_weights`); None: one each.
    Bins have equal counts, except that equal probabilities share a bin; each has at
    least IN_BIN texts, and there are at most BINS. ECE is above 0 even for a perfect
    judge, more so with few texts: compare it with `ece_by_chance`, not with 0. The
    intervals of Brier (on the scale of logarithms) and bias are by t; NaN where all
    texts are equally far off. Everything is NaN without texts that have both. Sources:
    Brier 1950, Verification of forecasts expressed in terms of probability; Naeini,
    Cooper and Hauskrecht 2015, Obtaining well calibrated probabilities using Bayesian
    binning.
    """
    judged, labels = probabilities(judge), pass_or_fail(people)
    p, y, clusters, missing = _label_pairs(judged, labels, cluster)
    order = np.argsort(p, kind="stable")
    p, y, clusters = p[order], y[order], clusters[order]
    weights, of_labels = np.ones(p.size), None
    if weight is not None:
        of_both = np.asarray(weight, np.float64)[np.isfinite(judged + labels)]
        weights = of_labels = of_both[order]
    if not p.size:
        undefined = Estimate(*UNDEFINED, 0, 0.0)
        return Calibration(undefined, undefined, undefined, undefined, [], missing)
    # Equal probabilities share a bin.
    n_bins = max(1, min(BINS, p.size // IN_BIN))
    place = np.searchsorted(p, p, side="left") * n_bins // p.size
    bins = []
    for number in np.unique(place):
        texts = place == number
        values, in_bin = p[texts], weights[texts]
        mean = float(np.sum(values * in_bin) / np.sum(in_bin))
        if of_labels is None:
            passed = share(y[texts], clusters[texts], confidence=confidence)
        else:
            passed = weighted_share(
                y[texts], in_bin, clusters[texts], confidence=confidence
            )
        bins.append(Bin(float(values[0]), float(values[-1]), mean, passed))
    by_chance = np.empty(DRAWS)
    for rows in blocks(DRAWS, p.size, numbers=CHUNK):
        drawn_ratings = rng.random((by_chance[rows].size, p.size)) < p
        by_chance[rows] = _ece(p, drawn_ratings.astype(np.float64), place, weights)
    low, high = np.quantile(
        by_chance, ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0)
    )
    n, worth = p.size, float(p.size)
    return Calibration(
        _brier((p - y) ** 2, clusters, confidence, of_labels),
        mean_of(p - y, clusters, confidence=confidence, weight=of_labels),
        Estimate(float(_ece(p, y[None], place, weights)[0]), np.nan, np.nan, n, worth),
        Estimate(float(np.mean(by_chance)), float(low), float(high), n, worth),
        bins,
        missing,
    )


def _ece(p: Array, passed: Array, place: NDArray[np.intp], weight: Array) -> Array:
    # The gap of a bin times its share of the texts: its sum of differences divided by
    # the number of texts.
    differences = (p - passed) * weight
    gaps = [
        np.abs(np.sum(differences[:, place == number], axis=1))
        for number in np.unique(place)
    ]
    return np.asarray(np.sum(gaps, axis=0) / np.sum(weight))


def mean_of(
    values: Array,
    cluster: Clusters,
    *,
    confidence: float,
    weight: Array | None = None,
) -> Estimate:
    """Return the mean of values (n,) with its t interval; both ends are NaN if all are equal.

    `weight` (n,): how many texts each value stands for; None: one each.
    """
    value, n = float(np.mean(values)), values.size
    if weight is not None:
        mean = weighted_mean(values, weight, cluster)
        worth, _ = kish_size(weight, cluster)
        if mean.variance <= 1e-24:
            return Estimate(mean.value, np.nan, np.nan, n, worth)
        upper = (1.0 + confidence) / 2.0
        t = float(scipy.special.stdtrit(max(mean.freedom, 1.0), upper))
        reach = t * float(np.sqrt(mean.variance))
        return Estimate(mean.value, mean.value - reach, mean.value + reach, n, worth)
    worth = effective_size(values, cluster, confidence=confidence)
    spread = float(np.std(values, ddof=1)) if n > 1 else 0.0
    if spread <= 1e-12:
        return Estimate(value, np.nan, np.nan, n, worth)
    upper = (1.0 + confidence) / 2.0
    # With clusters, their t quantile is in `worth` already.
    quantile = (
        scipy.special.stdtrit(n - 1, upper)
        if worth == n
        else scipy.special.ndtri(upper)
    )
    reach = float(quantile) * spread / np.sqrt(worth)
    return Estimate(value, value - reach, value + reach, n, worth)


def _brier(
    squares: Array, cluster: Clusters, confidence: float, weight: Array | None
) -> Estimate:
    mean = mean_of(squares, cluster, confidence=confidence, weight=weight)
    if not mean.value > 0 or np.isnan(mean.low):
        return mean
    reach = (mean.high - mean.value) / mean.value
    low, high = mean.value * np.exp(-reach), min(mean.value * np.exp(reach), 1.0)
    return mean._replace(low=float(low), high=float(high))
