"""One judge's card and the bins of its probabilities: rows of `judge_cards` and `calibration`."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import generator
from metassay.statistics.arithmetic import Array
from metassay.statistics.auroc import auroc
from metassay.statistics.calibration import Calibration, calibration
from metassay.statistics.judge_card import judge_card
from metassay.statistics.labels import labels_needed
from metassay.statistics.pass_rate import pass_rates
from metassay.statistics.shares import Clusters, Estimate
from metassay.tables.judge_cards import CARD_STATISTICS

Row = dict[str, object]
Numbers = dict[str, Estimate]  # by statistic


class Judged(NamedTuple):
    """Every text that a judge or people judged."""

    judge: Array  # 0 to 1: from the threshold on a pass; NaN without a judgment
    people: Array  # 0 or 1; NaN where there is no right answer
    cluster: Clusters  # texts of one number are alike
    n_split: int  # texts without a right answer because half of their raters pass them
    probability: Array | None  # of passing, 0 to 1, NaN where there is none; None without any
    thresholded: bool  # whether the threshold made passes and fails of `judge`


def card(
    judged: Judged, options: MetaOptions, key: Sequence[str], more: Mapping[str, Estimate]
) -> tuple[list[Row], list[Row]]:
    """Rows of the card and of its bins, without their key and recipe.

    `key` seeds what is drawn; `more` has further numbers of the card.
    """
    rows, found = {**numbers(judged, options, key), **more}, None
    if judged.probability is not None:
        sure, p, y, of = options.confidence, judged.probability, judged.people, judged.cluster
        rng = generator(options.seed, "calibration", *key)
        found = calibration(p, y, confidence=sure, rng=rng, cluster=of)
        rows |= {name: getattr(found, name) for name in ("brier", "bias", "ece", "ece_by_chance")}
        rows["auroc"] = auroc(p, y, confidence=sure, cluster=of)
    shared = {
        "n_judged": int(np.count_nonzero(np.isfinite(judged.judge))),
        "n_missing": int(np.count_nonzero(np.isnan(judged.judge) & np.isfinite(judged.people))),
        "n_split": judged.n_split,
        "threshold": options.threshold if judged.thresholded else np.nan,
    }
    made: list[Row] = [
        {
            "statistic": name,
            **rows[name]._asdict(),
            **shared,
            "width": options.label_width if name.startswith("labels_") else np.nan,
        }
        for name in CARD_STATISTICS
        if name in rows
    ]
    return made, _bins(found) if found is not None else []


def numbers(judged: Judged, options: MetaOptions, key: Sequence[str]) -> Numbers:
    """Every number that passes and fails alone give."""
    judge, people, cluster = judged.judge, judged.people, judged.cluster
    asked = {"confidence": options.confidence, "threshold": options.threshold}
    rng = generator(options.seed, "judge_card", *key)
    found = judge_card(judge, people, rng=rng, cluster=cluster, **asked)
    counts = found[:4]
    n, worth = sum(counts), found.estimates["agreement"].n_effective
    made = {
        name: Estimate(float(count), np.nan, np.nan, n, worth)
        for name, count in zip(CARD_STATISTICS[:4], counts, strict=True)
    }
    made |= found.estimates
    rng = generator(options.seed, "pass_rates", *key)
    rates = pass_rates(judge, people, rng=rng, cluster=cluster, **asked)
    made |= {f"{name}_pass_rate": rate for name, rate in rates._asdict().items()}
    needed = labels_needed(judge, people, width=options.label_width, cluster=cluster, **asked)
    for name, labels in needed._asdict().items():
        made[f"labels_{name}"] = Estimate(labels, np.nan, np.nan, n, worth)
    return made


def _bins(found: Calibration) -> list[Row]:
    return [
        {
            "bin": place,
            "lowest": one.lowest,
            "highest": one.highest,
            "mean": one.mean,
            "passed": one.passed.value,
            "low": one.passed.low,
            "high": one.passed.high,
            "n": one.passed.n,
        }
        for place, one in enumerate(found.bins)
    ]
