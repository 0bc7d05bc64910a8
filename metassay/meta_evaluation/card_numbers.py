"""The numbers of a judge's card, from its verdicts and people's labels as arrays.

Where only some of the judged texts are labelled, labels are weighed.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics import shares
from metassay.statistics.classification import (
    Calibration,
    auroc,
    calibration,
    judge_card,
)
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.label_weights import label_weights
from metassay.statistics.next_labels import strata
from metassay.statistics.random_numbers import generator
from metassay.statistics.shares import (
    Clusters,
    Estimate,
    LabelsNeeded,
    labels_needed,
    pass_rates,
)
from metassay.statistics.weighted_cards import PASS_RATE, weighted_card
from metassay.tables.judge_cards import CARD_STATISTICS

WIDEST = 0.999  # an interval for which labels can be counted

Row = dict[str, object]
Estimates = dict[str, Estimate]  # by statistic


class CardOptions(Protocol):
    """The options that a card depends on; `MetaOptions` has them."""

    @property
    def confidence(self) -> float:
        """Confidence of the intervals."""

    @property
    def threshold(self) -> float:
        """The probability from which a text passes."""

    @property
    def label_width(self) -> float:
        """The width of intervals for which labels are counted."""

    @property
    def seed(self) -> int:
        """Seed of all random numbers."""


class Judgments(NamedTuple):
    """Judgments of every text that a judge or people judged, as arrays (texts,)."""

    judge: Array  # 0 to 1: a pass from the threshold on; NaN without a judgment
    people: Array  # 0 or 1; NaN where there is no right answer
    cluster: Clusters  # equal numbers for texts that are alike
    split: Mask  # texts without a right answer because half of their raters pass them
    # of passing, 0 to 1, NaN where missing; None if all are missing
    probability: Array | None
    thresholded: bool  # whether the threshold turns `judge` into passes and fails
    # what labels may have been chosen by beside the verdict, such as systems, the most
    # likely one last
    factors: tuple[ArrayLike, ...] = ()


def weigh_labels(judgments: Judgments, threshold: float) -> Array | None:
    """Return the number of judged texts that each label stands for (texts,).

    0 for texts without a label or a judgment. None where no judged text waits for a
    label: there is nothing to weigh, and each label stands for its own text. Labels are
    weighed by verdict together with each factor, and with the judge's certainty.
    """
    verdict = shares.judgments(judgments.judge, threshold)
    judged, labelled = np.isfinite(verdict), np.isfinite(judgments.people)
    if not (judged & ~labelled & ~judgments.split).any():
        return None
    factors = list(judgments.factors)
    if judgments.probability is not None:
        factors.insert(0, strata(judgments.probability))
    weight = np.zeros(verdict.size)
    weight[judged] = label_weights(
        labelled[judged],
        verdict[judged],
        [np.asarray(factor)[judged] for factor in factors],
    )
    return weight


def card(
    judgments: Judgments, options: CardOptions, key: Sequence[str], more: Estimates
) -> tuple[list[Row], list[Row]]:
    """Return the rows of a judge's card and of its calibration bins, without key and recipe.

    `key` seeds the random numbers; `more` has further statistics of the card.
    """
    statistics, curve = {**estimates(judgments, options, key), **more}, None
    judge, people, cluster = judgments.judge, judgments.people, judgments.cluster
    p = judgments.probability
    if p is not None:
        weight = weigh_labels(judgments, options.threshold)
        labels = people if weight is None else np.where(weight > 0, people, np.nan)
        shared: dict[str, Any] = {
            "confidence": options.confidence,
            "cluster": cluster,
            "weight": weight,
        }
        rng = generator(options.seed, "calibration", *key)
        curve = calibration(p, labels, rng=rng, **shared)
        names = ("brier", "bias", "ece", "ece_by_chance")
        statistics |= {name: getattr(curve, name) for name in names}
        statistics["auroc"] = auroc(p, labels, **shared)
    counts = {
        "n_judged": int(np.count_nonzero(np.isfinite(judge))),
        "n_missing": int(np.count_nonzero(np.isnan(judge) & np.isfinite(people))),
        "n_split": int(np.count_nonzero(judgments.split)),
        "threshold": options.threshold if judgments.thresholded else np.nan,
    }
    rows: list[Row] = [
        {
            "statistic": name,
            **statistics[name]._asdict(),
            **counts,
            "width": options.label_width if name.startswith("labels_") else np.nan,
        }
        for name in CARD_STATISTICS
        if name in statistics
    ]
    return rows, _bins(curve) if curve is not None else []


def estimates(
    judgments: Judgments, options: CardOptions, key: Sequence[str]
) -> Estimates:
    """Return every statistic that needs no probabilities.

    Where only some of the judged texts are labelled, labels are weighed.
    """
    weight = weigh_labels(judgments, options.threshold)
    if weight is not None:
        return _weighted_estimates(judgments, weight, options)
    judge, people, cluster = judgments.judge, judgments.people, judgments.cluster
    shared = {"confidence": options.confidence, "threshold": options.threshold}
    rng = generator(options.seed, "judge_card", *key)
    numbers = judge_card(judge, people, rng=rng, cluster=cluster, **shared)
    counts = numbers[:4]
    n, worth = sum(counts), numbers.estimates["agreement"].n_effective
    statistics = {
        name: Estimate(float(count), np.nan, np.nan, n, worth)
        for name, count in zip(CARD_STATISTICS[:4], counts, strict=True)
    }
    statistics |= numbers.estimates
    rng = generator(options.seed, "pass_rates", *key)
    rates = pass_rates(judge, people, rng=rng, cluster=cluster, **shared)
    statistics |= {f"{name}_pass_rate": rate for name, rate in rates._asdict().items()}
    needed = labels_needed(
        judge, people, width=options.label_width, cluster=cluster, **shared
    )
    for name, labels in needed._asdict().items():
        statistics[f"labels_{name}"] = Estimate(labels, np.nan, np.nan, n, worth)
    return statistics


def _weighted_estimates(
    judgments: Judgments, weight: Array, options: CardOptions
) -> Estimates:
    """Return the statistics of all judged texts, from labels that stand for several."""
    verdict = shares.judgments(judgments.judge, options.threshold)
    judged = np.isfinite(verdict)
    rows = WeighedLabels(
        verdict=verdict[judged],
        people=judgments.people[judged],
        weight=weight[judged],
        cluster=judgments.cluster[judged],
    )
    numbers = weighted_card(*rows, confidence=options.confidence)
    rate, agreement = numbers.pop(PASS_RATE), numbers["agreement"]
    has_label = np.isfinite(rows.people)
    cell = shares.cells(rows.verdict[has_label], rows.people[has_label])
    counts = np.bincount(cell, minlength=4).tolist()
    n, worth = agreement.n, agreement.n_effective
    statistics = {
        name: Estimate(float(count), np.nan, np.nan, n, worth)
        for name, count in zip(CARD_STATISTICS[:4], counts, strict=True)
    }
    statistics |= numbers
    rated = np.isfinite(judgments.people)
    labels, of_labels = judgments.people[rated], judgments.cluster[rated]
    most = shares.worth_at_most(labels, of_labels)
    precision = {"confidence": options.confidence}
    statistics |= {
        "judge_pass_rate": shares.share(rows.verdict, rows.cluster, **precision),
        "people_pass_rate": shares.share(labels, of_labels, most=most, **precision),
        "prediction_powered_pass_rate": rate,
    }
    # With weights by verdict, this correction leads to the same rate and interval.
    youden = numbers["sensitivity"].value + numbers["specificity"].value - 1.0
    undefined = Estimate(*shares.UNDEFINED, rate.n, rate.n_effective)
    statistics["rogan_gladen_pass_rate"] = rate if youden > 0 else undefined
    for name in LabelsNeeded._fields:
        now = rate if name == PASS_RATE else numbers[name]
        ratio = _labels_per_label(rows, name, now, options)
        labels_in_all = math.ceil(n * ratio) if np.isfinite(ratio) else np.nan
        statistics[f"labels_{name}"] = Estimate(labels_in_all, np.nan, np.nan, n, worth)
    return statistics


class WeighedLabels(NamedTuple):
    """Judged texts, as arrays (texts,), and how many each label stands for."""

    verdict: Array  # 1 or 0
    people: Array  # 1 or 0, NaN without a label
    weight: Array
    cluster: Clusters


def _labels_per_label(
    rows: WeighedLabels, name: str, now: Estimate, options: CardOptions
) -> float:
    """Return how many times as many labels make an interval as wide as wanted.

    The ratio of the labels that the width wanted takes and those that its width now
    does, both of rows drawn at random; NaN where undefined.
    """
    if not np.isfinite(now.low):
        return np.nan
    needed = []
    for width in (options.label_width, min(now.high - now.low, WIDEST)):
        labels = labels_needed(
            rows.verdict,
            rows.people,
            confidence=options.confidence,
            width=width,
            cluster=rows.cluster,
            weight=rows.weight,
        )
        needed.append(float(getattr(labels, name)))
    return needed[0] / needed[1]


def _bins(curve: Calibration) -> list[Row]:
    return [
        {
            "bin": place,
            "lowest": bin_.lowest,
            "highest": bin_.highest,
            "mean": bin_.mean,
            "passed": bin_.passed.value,
            "low": bin_.passed.low,
            "high": bin_.passed.high,
            "n": bin_.passed.n,
        }
        for place, bin_ in enumerate(curve.bins)
    ]
