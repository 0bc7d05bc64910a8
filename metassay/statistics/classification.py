"""Labels and probabilities beside right answers: kappa, F1, sensitivity, AUROC, calibration.

A table (..., labels, labels) counts texts by their right label (rows) and the label that they were
given (columns). Every coefficient of a table is of the last two axes, so that a thousand resampled
tables take one call. All but kappa are 0 to 1, and more is better unless said. NaN where a number
is undefined.

Of a judge beside people, everywhere 1 is a pass and 0 a fail, NaN where there is none. "True"
means: as people say. `judge` (n,) has judgments of 0 and 1 or probabilities of passing, `people`
(n,) 0 or 1; ValueError for others. Texts of one number in `cluster` (n,) are alike (they share a
document); None takes every text by itself.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray

from metassay.statistics.exact_sums import Array, Mask, blocks, mean_without_gaps, quotient
from metassay.statistics.resampling import draw
from metassay.statistics.shares import (
    THRESHOLD,
    UNDEFINED,
    Clusters,
    Estimate,
    Tables,
    cells,
    drawn,
    effective_size,
    jeffreys,
    judgments,
    own_clusters,
    pass_or_fail,
    probabilities,
    quantile_ratio,
    share,
    worth_at_most,
)

PRIOR = 0.4  # texts added to each cell of a drawn table: 1/2 covers .987 of 20, 1/4 only .89 of 50
WAYS = 3
PRIOR_OF_THREE = 0.15  # texts added to each of the nine cells of a drawn table
BINS = 10  # at most
IN_BIN = 10  # texts that a bin should have at least
HELD = 1 << 22  # numbers drawn at a time: 32 MB, however many texts there are
DRAWS = 2_000  # of what people would say were the probabilities right

_TRUE_PASS, _FALSE_PASS, _FALSE_FAIL, _TRUE_FAIL = range(4)
_EVERY = (_TRUE_PASS, _FALSE_PASS, _FALSE_FAIL, _TRUE_FAIL)

# What is counted, among what: cells of the table of judge and people.
_SHARES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "sensitivity": ((_TRUE_PASS,), (_TRUE_PASS, _FALSE_FAIL)),
    "specificity": ((_TRUE_FAIL,), (_TRUE_FAIL, _FALSE_PASS)),
    "precision": ((_TRUE_PASS,), (_TRUE_PASS, _FALSE_PASS)),
    "negative_predictive_value": ((_TRUE_FAIL,), (_TRUE_FAIL, _FALSE_FAIL)),
    "agreement": ((_TRUE_PASS, _TRUE_FAIL), _EVERY),
}


def tables(
    right: ArrayLike, said: ArrayLike, document: ArrayLike, *, labels: int, documents: int
) -> Array:
    """One table per document: (documents, labels, labels), of codes 0 to `labels` - 1, (n,) each.

    `document` (n,): which document a text is of, 0 to `documents` - 1; some may have none.
    """
    x, y, of = (np.asarray(values, dtype=np.intp) for values in (right, said, document))
    counts = np.zeros((documents, labels, labels))
    np.add.at(counts, (of, x, y), 1.0)
    return counts


def resampled_tables(counts: Array, *, n: int, rng: np.random.Generator) -> Array:
    """The sums of n resamples of whole documents, with replacement: (n, ...) of (documents, ...).

    Sentences of a document are alike, so that other documents, not other sentences, are drawn.
    """
    times = draw((1, len(counts)), resample="documents", n=n, rng=rng).documents
    # Whole numbers below 2**53: exact in any order.
    sums: Array = times.astype(np.float64) @ counts.reshape(len(counts), -1)
    return sums.reshape(n, *counts.shape[1:])


def support(table: Tables) -> Tables:
    """How many texts have each label: (..., labels)."""
    return np.asarray(table.sum(axis=-1))


def precision(table: Tables) -> Tables:
    """Share of the texts given a label that have it; NaN for a label never given."""
    return quotient(_hits(table), table.sum(axis=-2))


def recall(table: Tables) -> Tables:
    """Share of the texts with a label that are given it; NaN for a label that no text has."""
    return quotient(_hits(table), support(table))


def f1(table: Tables) -> Tables:
    """2 hits / (texts with the label + texts given it), by label; NaN where nobody uses it.

    0 for a label that texts have and that is never given, whose precision is undefined. Source: van
    Rijsbergen 1979, Information Retrieval.
    """
    return quotient(2.0 * _hits(table), support(table) + table.sum(axis=-2))


def accuracy(table: Tables, missing: ArrayLike = 0, right: ArrayLike = 0) -> Tables:
    """Share of the texts that are given their label.

    `missing` (...) texts were given none and are not in the table; `right` of them would be right.
    """
    return quotient(_hits(table).sum(axis=-1) + right, _total(table) + missing)


def macro_f1(table: Tables, labels: Mask | None = None) -> Tables:
    """The mean F1 of `labels`; None: of those that some text of the table has or is given.

    Each label counts the same, and one that is given although no text has it counts 0, as in
    scikit-learn.
    """
    each = f1(table)
    if labels is None:
        return mean_without_gaps(each, axis=-1)
    return np.asarray(each[..., labels].mean(axis=-1))


def weighted_f1(table: Tables) -> Tables:
    """The mean F1 of the labels, each as often as texts have it."""
    worth = support(table)
    return quotient(np.where(worth > 0, f1(table) * worth, 0.0).sum(axis=-1), worth.sum(axis=-1))


def cohen_kappa(table: Tables) -> Tables:
    """Agreement beyond chance, -1 to 1; NaN where chance agrees on all.

    Source: Cohen 1960, A coefficient of agreement for nominal scales.
    """
    total = _total(table)
    by_chance = quotient((support(table) * table.sum(axis=-2)).sum(axis=-1), total * total)
    return _beyond(accuracy(table), by_chance)


def _beyond(agreement: Tables, by_chance: Tables) -> Tables:
    return quotient(agreement - by_chance, 1.0 - by_chance)


def majority_guess(table: Tables) -> Tables:
    """The accuracy of giving every text the label that most texts have."""
    return quotient(support(table).max(axis=-1), _total(table))


def failed(table: Tables, missing: ArrayLike) -> Tables:
    """Share of the texts that were given no label: `missing`, not in the table; less is better."""
    return quotient(missing, _total(table) + missing)


def accuracy_at_least(table: Tables, missing: ArrayLike) -> Tables:
    """Accuracy if every label that is missing were wrong."""
    return accuracy(table, missing)


def accuracy_at_most(table: Tables, missing: ArrayLike) -> Tables:
    """Accuracy if every label that is missing were right."""
    return accuracy(table, missing, missing)


OF_ALL: dict[str, Callable[[Tables], Tables]] = {
    "accuracy": accuracy,
    "macro_f1": macro_f1,
    "weighted_f1": weighted_f1,
    "cohen_kappa": cohen_kappa,
    "majority_guess": majority_guess,
}
OF_LABEL: dict[str, Callable[[Tables], Tables]] = {
    "precision": precision,
    "recall": recall,
    "f1": f1,
}


def _hits(table: Tables) -> Tables:
    return np.diagonal(table, axis1=-2, axis2=-1)


def _total(table: Tables) -> Tables:
    return np.asarray(table.sum(axis=(-1, -2)))


class JudgeCard(NamedTuple):
    """How a judge's judgments stand to people's, on the texts that have both."""

    true_pass: int  # both pass
    false_pass: int  # the judge passes what people failed
    false_fail: int  # the judge fails what people passed
    true_fail: int  # both fail
    estimates: dict[str, Estimate]  # by the field's names: sensitivity, ..., cohen_kappa, mcc
    n_judged: int  # texts with a judgment
    n_missing: int  # texts that people rated and that have no judgment: left out


def judge_card(
    judge: ArrayLike,
    people: ArrayLike,
    *,
    confidence: float,
    rng: np.random.Generator,
    threshold: float = THRESHOLD,
    cluster: ArrayLike | None = None,
) -> JudgeCard:
    """Everything a table of judgments by people's pass or fail says, each number with an interval.

    Probabilities from `threshold` on are a pass. All are better higher, within 0 to 1, kappa and
    MCC within -1 to 1. NaN where the number is undefined: no sensitivity without a text that people
    passed. Intervals: shares by Jeffreys'; balanced accuracy from those of its two halves (Newcombe
    1998, Zou and Donner 2008, Construction of confidence limits about effect measures); F1, kappa,
    MCC and agreement by chance by drawing the table from its posterior (Dirichlet, PRIOR a cell).
    Sources: Cohen 1960, A coefficient of agreement for nominal scales; Matthews 1975, Comparison of
    the predicted and observed secondary structure of T4 phage lysozyme.
    """
    judgment = judgments(judge, threshold)
    beside = _beside(judgment, pass_or_fail(people), cluster)
    cell, alike = cells(beside.given, beside.right), beside.cluster
    made = {}
    more: dict[str, Any] = {"cells": 4, "prior": PRIOR, "confidence": confidence, "rng": rng}
    more["most"] = worth_at_most(beside.right, alike)
    for name, (hits, base) in _SHARES.items():
        among = np.isin(cell, base)
        made[name] = share(np.isin(cell[among], hits), alike[among], confidence=confidence)
    halves = made["sensitivity"], made["specificity"]
    made["balanced_accuracy"] = _balanced_accuracy(cell, alike, *halves)
    for name, coefficient in COEFFICIENTS.items():
        made[name] = drawn(coefficient, cell, alike, **more)
    a, b, c, d = (int(count) for count in np.bincount(cell, minlength=4))
    n_judged = int(np.count_nonzero(np.isfinite(judgment)))
    return JudgeCard(a, b, c, d, made, n_judged, beside.n_missing)


def matthews(table: Tables) -> Tables:
    """Matthews' correlation of tables (..., 4); NaN where judge or people say one thing only."""
    a, b, c, d = np.moveaxis(table, -1, 0)
    return quotient(a * d - b * c, np.sqrt((a + b) * (a + c) * (d + b) * (d + c)))


def gwet_ac1(table: Tables) -> Tables:
    """Gwet's AC1 of tables (..., 4): agreement beyond chance, -1 to 1; NaN without texts.

    Chance is 2 p (1 - p), where p is the mean of the two shares of passes, so that it is small
    where nearly all texts pass. 8, 1, 1, 0: (.8 - .18) / (1 - .18) = .756098, of which kappa says
    -.111111. A judge that passes everything gets .947 where 95 % pass: hold it against that.
    Source: Gwet 2008, Computing inter-rater reliability and its variance in the presence of high
    agreement.
    """
    a, b, c, d = np.moveaxis(table, -1, 0)
    total = a + b + c + d
    passes = quotient(2 * a + b + c, 2 * total)
    return _beyond(quotient(a + d, total), 2 * passes * (1 - passes))


def _by_chance(table: Tables) -> Tables:
    # The agreement to expect if judge and people knew nothing of each other. Summed up cell by
    # cell: another order of drawn tables' cells would move the last bit of every card.
    a, b, c, d = np.moveaxis(table, -1, 0)
    total = a + b + c + d
    return quotient((a + b) * (a + c) + (d + b) * (d + c), total * total)


COEFFICIENTS: dict[str, Callable[[Tables], Tables]] = {  # of tables (..., 4) of the four cells
    "agreement_by_chance": _by_chance,
    "cohen_kappa": lambda table: _beyond(accuracy(_square(table)), _by_chance(table)),
    "mcc": matthews,
    "f1": lambda table: quotient(
        2 * table[..., 0], 2 * table[..., 0] + table[..., 1] + table[..., 2]
    ),
}


class _Beside(NamedTuple):
    # What texts were given, beside what is right, of those that have both.

    given: Array
    right: Array
    cluster: Clusters
    n_missing: int  # texts that have the right one alone


def _beside(given: Array, right: Array, cluster: ArrayLike | None) -> _Beside:
    of = own_clusters(cluster, given.size)
    if given.shape != right.shape:
        raise ValueError(f"want two rows of equal length, got {given.shape}, {right.shape}")
    both = np.isfinite(given) & np.isfinite(right)
    missing = int(np.count_nonzero(np.isfinite(right) & ~both))
    return _Beside(given[both], right[both], of[both], missing)


def _square(table: Tables, labels: int = 2) -> Tables:
    return table.reshape(*table.shape[:-1], labels, labels)


def _balanced_accuracy(
    cell: NDArray[np.intp], cluster: Clusters, passes: Estimate, fails: Estimate
) -> Estimate:
    # From the intervals of sensitivity and specificity.
    worth = passes.n_effective + fails.n_effective
    if not (passes.n and fails.n):
        return Estimate(*UNDEFINED, cell.size, worth)
    # A hard document costs passes and fails alike: the two errors go together, over clusters.
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


def three_way(
    judge: ArrayLike,
    gold: ArrayLike,
    *,
    confidence: float,
    rng: np.random.Generator,
    cluster: ArrayLike | None = None,
) -> dict[str, Estimate]:
    """`accuracy_3way`, `balanced_accuracy_3way` and `macro_f1_3way`, each with its interval.

    `judge` and `gold` (n,): labels 0, 1, 2, or NaN: such texts are left out. Balanced accuracy is
    the mean, over the labels that are right for some text, of the share that the judge finds.
    Macro-F1 is the mean of F1 over the labels that are right for some text or that the judge gives:
    both are those of scikit-learn. 0 to 1, 1 best, NaN without texts. Intervals: Jeffreys' of the
    share; of the other two from the posterior of the table. Raises ValueError for any other label.
    """
    given, right, alike, _ = _beside(_labels(judge), _labels(gold), cluster)
    x, y = given.astype(np.intp), right.astype(np.intp)
    # Labels that nobody used stay out of the drawn tables, too: else each draw would have them.
    used, found = (np.isin(np.arange(WAYS), labels) for labels in ([*x, *y], y))
    coefficients: dict[str, Callable[[Tables], Tables]] = {
        "balanced_accuracy_3way": lambda t: recall(_square(t, WAYS))[..., found].mean(axis=-1),
        "macro_f1_3way": lambda t: macro_f1(_square(t, WAYS), used),
    }
    more: dict[str, Any] = {"cells": WAYS * WAYS, "prior": PRIOR_OF_THREE, "rng": rng}
    return {"accuracy_3way": share(x == y, alike, confidence=confidence)} | {
        name: drawn(coefficient, WAYS * y + x, alike, confidence=confidence, **more)
        for name, coefficient in coefficients.items()
    }


def _labels(values: ArrayLike) -> Array:
    made = np.asarray(values, dtype=np.float64)
    if made.ndim != 1 or not np.isin(made[~np.isnan(made)], range(WAYS)).all():
        raise ValueError(f"want one row of labels 0 to {WAYS - 1}, NaN where there is none")
    return made


def auroc(
    judge: ArrayLike, people: ArrayLike, *, confidence: float, cluster: ArrayLike | None = None
) -> Estimate:
    """The probability that a text that people pass has the higher one of two probabilities.

    Equal probabilities count half. 1 is best, 1/2 is what a coin gets. NaN unless people pass one
    text and fail another. Source: Bamber 1975, The area above the ordinal dominance graph.

    Interval: Jeffreys' of a share of as many texts as have this variance: the larger of DeLong's,
    from the texts' placements summed over `cluster` (Obuchowski 1997, Nonparametric analysis of
    clustered ROC curve data), and Hanley and McNeil's as Newcombe writes it (2006, Confidence
    intervals for an effect size measure based on the Mann-Whitney statistic). Either alone covers
    too seldom where texts are few: the first at .95 and 10 passes, the second where all are apart.
    """
    p, right, alike, _ = _beside(probabilities(judge), pass_or_fail(people), cluster)
    passed = right == 1.0
    many, others = int(np.count_nonzero(passed)), int(np.count_nonzero(~passed))
    if not (many and others):
        return Estimate(*UNDEFINED, p.size, float(p.size))
    place = _placements(p, passed)
    value = float(np.mean(place[passed]))
    # By how much each text moves the value, times n: their mean is 0.
    influence = (place - value) * np.where(passed, 1.0 / many, 1.0 / others) * p.size
    worth = effective_size(influence, alike, confidence=confidence)
    effect = p.size / worth if worth > 0 else np.inf
    alone, freedom = _delong(place, passed)
    if worth == p.size:  # with clusters, their t quantile is in `worth` already
        alone /= quantile_ratio(freedom, confidence=confidence) or 1.0
    more = (many + others) / 2.0 - 1.0
    stretch = 1.0 + more * ((1.0 - value) / (2.0 - value) + value / (1.0 + value))
    hanley_mcneil = value * (1.0 - value) * stretch / (many * others)
    variance = max(alone, hanley_mcneil) * effect
    certain = (
        value * (1.0 - value) / variance if variance > 0 else min(many, others) / max(effect, 1.0)
    )
    ends = jeffreys(value * certain, certain, confidence=confidence)
    return Estimate(value, *ends, p.size, worth)


def _placements(p: Array, passed: Mask) -> Array:
    # Of each text the share of texts of the other sort that it is on the right side of.
    from scipy.stats import rankdata as rank  # slow to import, as in exact_sums.ranked

    among, many = rank(p), np.count_nonzero(passed)
    made = np.empty_like(p)
    made[passed] = (among[passed] - rank(p[passed])) / (p.size - many)
    made[~passed] = 1.0 - (among[~passed] - rank(p[~passed])) / many
    return made


def _delong(place: Array, passed: Mask) -> tuple[float, float]:
    # The variance of texts that are not alike, and its degrees of freedom (Welch's).
    sides = place[passed], place[~passed]
    variances = [float(np.var(v, ddof=1)) / v.size if v.size > 1 else 0.0 for v in sides]
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
    """How far probabilities are from what people said."""

    brier: Estimate  # mean squared difference of probability and 0/1: 0 is best, 1 worst
    bias: Estimate  # mean probability less share passed: above 0, the judge is too kind
    ece: Estimate  # mean gap between a bin's mean probability and share passed; has no interval
    ece_by_chance: Estimate  # the same were the probabilities right: mean, interval of one study
    bins: list[Bin]  # lowest probability first
    n_missing: int  # texts that people rated and that have no probability: left out


def calibration(
    judge: ArrayLike,
    people: ArrayLike,
    *,
    confidence: float,
    rng: np.random.Generator,
    cluster: ArrayLike | None = None,
) -> Calibration:
    """Brier score, bias and expected calibration error of probabilities of passing.

    Bins have equal counts, except that equal probabilities share a bin; there are as many as have
    IN_BIN texts, at most BINS. ECE is above 0 even for a perfect judge, more so with few texts:
    hold it against `ece_by_chance`, not against 0. The intervals of Brier (on the scale of
    logarithms) and bias are by t; NaN where all texts are equally far off. Everything is NaN
    without texts that have both. Sources: Brier 1950, Verification of forecasts expressed in terms
    of probability; Naeini, Cooper and Hauskrecht 2015, Obtaining well calibrated probabilities
    using Bayesian binning.
    """
    given, right, cluster, missing = _beside(probabilities(judge), pass_or_fail(people), cluster)
    order = np.argsort(given, kind="stable")
    p, y, alike = given[order], right[order], cluster[order]
    if not p.size:
        nothing = Estimate(*UNDEFINED, 0, 0.0)
        return Calibration(nothing, nothing, nothing, nothing, [], missing)
    # Equal probabilities are not torn apart.
    many = max(1, min(BINS, p.size // IN_BIN))
    place = np.searchsorted(p, p, side="left") * many // p.size
    bins = []
    for number in np.unique(place):
        here = place == number
        passed = share(y[here], alike[here], confidence=confidence)
        bins.append(Bin(float(p[here][0]), float(p[here][-1]), float(np.mean(p[here])), passed))
    by_chance = np.empty(DRAWS)
    for rows in blocks(DRAWS, p.size, numbers=HELD):
        here = by_chance[rows]
        here[:] = _ece(p, (rng.random((here.size, p.size)) < p).astype(np.float64), place)
    low, high = np.quantile(by_chance, ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0))
    n, worth = p.size, float(p.size)
    return Calibration(
        _brier((p - y) ** 2, alike, confidence),
        mean_of(p - y, alike, confidence=confidence),
        Estimate(float(_ece(p, y[None], place)[0]), np.nan, np.nan, n, worth),
        Estimate(float(np.mean(by_chance)), float(low), float(high), n, worth),
        bins,
        missing,
    )


def _ece(p: Array, said: Array, place: NDArray[np.intp]) -> Array:
    # The gap of a bin times its share of the texts: its sum of differences, over n.
    gaps = [np.abs(np.sum((p - said)[:, place == one], axis=1)) for one in np.unique(place)]
    return np.asarray(np.sum(gaps, axis=0) / p.size)


def mean_of(values: Array, cluster: Clusters, *, confidence: float) -> Estimate:
    """The mean of values (n,) with its t interval; both ends are NaN where all are equal."""
    value, n = float(np.mean(values)), values.size
    worth = effective_size(values, cluster, confidence=confidence)
    spread = float(np.std(values, ddof=1)) if n > 1 else 0.0
    if spread <= 1e-12:
        return Estimate(value, np.nan, np.nan, n, worth)
    upper = (1.0 + confidence) / 2.0
    # With clusters, their t quantile is in `worth` already.
    quantile = scipy.special.stdtrit(n - 1, upper) if worth == n else scipy.special.ndtri(upper)
    reach = float(quantile) * spread / np.sqrt(worth)
    return Estimate(value, value - reach, value + reach, n, worth)


def _brier(squares: Array, cluster: Clusters, confidence: float) -> Estimate:
    made = mean_of(squares, cluster, confidence=confidence)
    if not made.value > 0 or np.isnan(made.low):
        return made
    reach = (made.high - made.value) / made.value
    low, high = made.value * np.exp(-reach), min(made.value * np.exp(reach), 1.0)
    return made._replace(low=float(low), high=float(high))
