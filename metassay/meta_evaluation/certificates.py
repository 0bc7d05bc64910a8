"""The table `certificates`: which metric to trust, for which decision, and how sure we are."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.contract import empty
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.sentences import sentence
from metassay.meta_evaluation.study import Measured, Study, generator
from metassay.statistics.ceiling import AgainstCeiling, against_ceiling
from metassay.statistics.correlation import LEVELS, Array, Level, correlate
from metassay.statistics.pairwise import calibrate, calibrated_chance, pairwise_accuracy
from metassay.statistics.power import detectable_correlation, detectable_difference
from metassay.tables import CERTIFICATES

DEALINGS = 100  # of a metric's scores, for the accuracy that chance alone reaches
VANISHES = 0.5  # a confound is named if so much of the correlation goes with it

_NAMES = ("study", "criterion", "part", "metric", "judge")
_DIFFERENCE = "against_ceiling"


class Known(NamedTuple):
    """What the tables `correlations` and `confounds` say already, by their keys."""

    correlations: dict[tuple[str, ...], dict[str, Any]]  # and level
    partials: dict[tuple[str, ...], dict[str, float]]  # confound -> correlation given it


def certificates(
    found: Sequence[Study],
    correlations: pd.DataFrame,
    confounds: pd.DataFrame,
    options: MetaOptions,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """One row per study, criterion, part, level and metric that says which of two texts is better.

    `correlations`, `confounds`: the tables of those names, made of the same studies by the same
    options. Signs are turned so that more of metric and criterion is better: a positive
    correlation is a metric that people would agree with. By options.coefficient:

    - verdict: told from 0 if the interval does not reach 0 and p is not above 1 - confidence: the
      interval may resample documents alone, and then says nothing of other systems.
    - accuracy is acc_eq of Deutsch et al. 2023 with the epsilon that suits these data best, and
      chance what scores dealt at random reach, each time with their own best epsilon; of texts of
      one document and of systems, not of any two texts (n**2 / 2 pairs).
    - ceiling: one rater held against the mean of the others, as the metric is; null with one rater.
    - confound: of coverage, density, words and the system, the one that leaves least of the pooled
      correlation when it is held constant; named only if half or more goes.
    - detectable: by Fisher's transform, texts or systems taken for independent; null at document
      level, where a mean over documents is tested. detectable_difference is against the metric
      closest to people beside this one.

    `progress(done, total)` is called after each metric of each study.
    """
    known = _known(correlations, confounds, options)
    total = sum(len(study.directed) for study in found)
    rows: list[dict[str, object]] = []
    done = 0
    for study in found:
        for measured in study.directed:
            rows += [_row(study, measured, level, known, options) for level in LEVELS]
            done += 1
            if progress is not None:
                progress(done, total)
    return pd.DataFrame(rows, columns=list(CERTIFICATES.columns)) if rows else empty(CERTIFICATES)


def _known(correlations: pd.DataFrame, confounds: pd.DataFrame, options: MetaOptions) -> Known:
    chosen = correlations[correlations["coefficient"] == options.coefficient]
    by_key: dict[tuple[str, ...], dict[str, Any]] = {
        tuple(str(row[name]) for name in (*_NAMES, "level")): {str(k): v for k, v in row.items()}
        for row in chosen.to_dict("records")
    }
    partials: dict[tuple[str, ...], dict[str, float]] = {}
    for row in confounds[confounds["statistic"] == "partial"].to_dict("records"):
        mine = partials.setdefault(tuple(str(row[name]) for name in _NAMES), {})
        mine[str(row["confound"])] = float(row["value"])
    return Known(by_key, partials)


def _row(
    study: Study, one: Measured, level: Level, known: Known, options: MetaOptions
) -> dict[str, object]:
    name = (study.study, study.criterion, study.part, one.metric, one.judge)
    row: dict[str, object] = {
        **dict(zip(_NAMES, name, strict=True)),
        "level": level,
        "coefficient": options.coefficient,
        **_correlation(known.correlations[(*name, level)], study, one),
        **_accuracy(study, one, level, options),
        **_ceiling(study, one, level, options),
        **_confound(known, name, level, study, one),
        "recipe": one.recipe,
    }
    row |= _power(study, one, level, row, options)
    row["verdict"] = _verdict(row, options.confidence)
    row["sentence"] = sentence(row, study.better, options)
    return row


def _correlation(row: dict[str, Any], study: Study, one: Measured) -> dict[str, object]:
    numbers = {name: row[name] for name in ("p", "n", "n_undefined", "n_missing")}
    return {
        **dict(zip(("value", "low", "high"), _turned(row, study, one), strict=True)),
        **numbers,
    }


def _turned(row: dict[str, Any], study: Study, one: Measured) -> tuple[float, float, float]:
    """Value and interval with more of both better."""
    value, low, high = (float(row[name]) for name in ("value", "low", "high"))
    return (-value, -high, -low) if one.better != study.better else (value, low, high)


def _accuracy(study: Study, one: Measured, level: Level, options: MetaOptions) -> dict[str, object]:
    if level == "global":
        return {"accuracy": np.nan, "chance": np.nan, "epsilon": np.nan, "n_pairs": 0}
    metric, human = one.oriented, study.oriented
    epsilon = calibrate(metric, human, level)
    found = pairwise_accuracy(metric, human, level, epsilon=epsilon)
    # The same random numbers for every metric: another one changes nothing.
    rng = generator(options.seed, "chance", study.study, study.criterion, study.part, level)
    chance = calibrated_chance(metric, human, level, n=DEALINGS, rng=rng)
    known = not np.isnan(found.value)
    return {
        "accuracy": found.value,
        "chance": chance if known else np.nan,
        "epsilon": epsilon if known else np.nan,
        "n_pairs": _pairs(metric + human, level) if known else 0,
    }


def _pairs(both: Array, level: Level) -> int:
    present = np.isfinite(both)
    counts = present.sum(axis=0) if level == "document" else np.array([present.any(axis=1).sum()])
    return int(np.sum(counts * (counts - 1) // 2))


def _ceiling(study: Study, one: Measured, level: Level, options: MetaOptions) -> dict[str, object]:
    found: AgainstCeiling | None = None
    if len(study.raters) > 1:
        found = against_ceiling(
            one.oriented,
            study.oriented_raters,
            level,
            options.coefficient,
            draws=study.draws,
            confidence=options.confidence,
        )
    return {
        "ceiling": found.human.value if found else np.nan,
        "ceiling_low": found.human.low if found else np.nan,
        "ceiling_high": found.human.high if found else np.nan,
        _DIFFERENCE: found.difference if found else np.nan,
        f"{_DIFFERENCE}_low": found.low if found else np.nan,
        f"{_DIFFERENCE}_high": found.high if found else np.nan,
    }


def _confound(
    known: Known, name: tuple[str, ...], level: Level, study: Study, one: Measured
) -> dict[str, object]:
    """The confound that leaves least, if it takes half or more of a correlation above 0."""
    nothing: dict[str, object] = {"confound": None, "given_confound": np.nan}
    plain = float(_turned(known.correlations[(*name, "global")], study, one)[0])
    left = {k: v for k, v in known.partials.get(name, {}).items() if not np.isnan(v)}
    if level == "system":
        left.pop("system", None)  # systems are what is compared
    if not left or not plain > 0:
        return nothing
    confound = min(sorted(left), key=lambda k: left[k])
    if left[confound] > VANISHES * plain:
        return nothing
    return {"confound": confound, "given_confound": left[confound]}


def _power(
    study: Study, one: Measured, level: Level, row: dict[str, Any], options: MetaOptions
) -> dict[str, object]:
    if level == "document":
        return {"detectable": np.nan, "detectable_difference": np.nan}
    n, alpha = int(row["n"]), 1.0 - options.confidence

    def with_people(other: Measured) -> float:
        return correlate(other.oriented, study.oriented, level, options.coefficient).value

    others = [(with_people(other), other) for other in study.directed if other is not one]
    strongest = max(
        ((value, other) for value, other in others if not np.isnan(value)),
        key=lambda pair: pair[0],
        default=None,
    )
    difference = np.nan
    if strongest is not None:
        mutual = correlate(one.oriented, strongest[1].oriented, level, options.coefficient).value
        difference = detectable_difference(n, float(row["value"]), mutual, alpha=alpha)
    return {
        "detectable": detectable_correlation(n, alpha=alpha),
        "detectable_difference": difference,
    }


def _verdict(row: dict[str, Any], confidence: float) -> str:
    if np.isnan(row["value"]):
        return "undefined"
    # Documents are resampled, not the few systems: p speaks for these.
    by_chance = row["p"] > 1.0 - confidence
    if by_chance or not (row["low"] > 0 or row["high"] < 0):
        return "not shown"
    if row["high"] < 0:
        return "contrary"
    return "like a rater" if row[f"{_DIFFERENCE}_high"] >= 0 else "shown"
