"""The table `evidence`: all numbers that a verdict on a metric rests on, before any verdict."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.meta_evaluation.gather import AtLevel, Gathered, directed_places
from metassay.meta_evaluation.options import VANISHES, MetaOptions
from metassay.meta_evaluation.study import Measured, Study, generator
from metassay.parquet import empty
from metassay.statistics.arithmetic import Array
from metassay.statistics.ceiling import AgainstRater, Known, against_rater
from metassay.statistics.correlation import LEVELS, Level, correlate
from metassay.statistics.jackknife import Over, interval
from metassay.statistics.pairwise import calibrate, calibrated_chance, pairwise_accuracy
from metassay.statistics.simultaneous import corrected_for_choice, deviations, joint_confidence
from metassay.tables.evidence import EVIDENCE

DEALINGS = 100  # of a metric's scores, for the accuracy that chance alone reaches
DEALT_PAIRS = 20_000  # with so many pairs dealt in all, fewer dealings do

_NAMES = ("study", "criterion", "part", "metric", "judge")
Partials = dict[tuple[str, ...], list[dict[str, Any]]]  # rows of `confounds` by names and level


class _Together(NamedTuple):
    """What the metrics of one level have in common."""

    places: list[int]  # of the directed metrics in Study.metrics
    confidence: float  # that each interval needs so that all hold at once
    corrected: dict[int, float]  # by place
    against: dict[int, AgainstRater]  # by place; empty with one rater
    against_confidence: float


def evidence(
    found: Sequence[Gathered],
    confounds: pd.DataFrame,
    options: MetaOptions,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """One row per study, criterion, part, level and metric that says which of two texts is better.

    `confounds`: the table of that name, made of the same evidence by the same options. Signs are
    turned so that more of metric and criterion is better: a positive correlation is a metric that
    people would agree with. `certify` makes a verdict of each row.

    - p: the exact test that puts systems and documents in other orders, adjusted for all metrics
      of the level; the level itself and its components are tested, and the smallest p in the
      direction of the value is taken.
    - low, high: for other systems and documents; low_these_systems: for these systems;
      joint_low_these_systems: the same, so that it holds for all metrics of the level at once.
    - variance_systems, variance_documents: what low and high are made of (`jackknife.interval`).
    - confound: of coverage, density, words, options.confounds and the system, the one that leaves
      least of the correlation at this level; named only if half or more goes.
    - with_raters, rater: metric and one rater, both held against the mean of the other raters on
      the same texts; null with one rater.
    - accuracy: acc_eq of Deutsch et al. 2023 with the epsilon that suits these data best, beside
      what scores dealt at random reach with their own best epsilon; of texts of one document and
      of systems, not of any two texts (n**2 / 2 pairs).

    `progress(done, total)` is called after each metric, level and study.
    """
    partials = _partials(confounds)
    total = sum(len(one.study.directed) for one in found) * len(LEVELS)
    rows: list[dict[str, object]] = []
    for one in found:
        for level in LEVELS:
            together = _together(one, level, options)
            for place in together.places:
                rows.append(_row(one, place, level, together, partials, options))
                if progress is not None:
                    progress(len(rows), total)
    if not rows:
        return empty(EVIDENCE)
    return pd.DataFrame(rows, columns=list(EVIDENCE.columns))


def _partials(confounds: pd.DataFrame) -> Partials:
    by_key: Partials = {}
    for row in confounds[confounds["statistic"] == "partial"].to_dict("records"):
        key = tuple(str(row[name]) for name in (*_NAMES, "level"))
        by_key.setdefault(key, []).append({str(k): v for k, v in row.items()})
    return by_key


def _together(found: Gathered, level: Level, options: MetaOptions) -> _Together:
    study, at = found.study, found.levels[level]
    places = [place for place, _ in directed_places(study)]
    defined = [i for i in places if not np.isnan(at.left[i].value)]
    against: dict[int, AgainstRater] = {}
    if len(study.raters) > 1:
        known: Known = {}
        for i in places:
            against[i] = against_rater(
                study.metrics[i].oriented,
                study.oriented_raters,
                level,
                options.coefficient,
                known=known,
            )
    corrected: dict[int, float] = {}
    confidence = against_confidence = options.confidence
    if defined:
        rng = generator(options.seed, "together", *study.key.values(), level)
        moves = deviations([at.left[i] for i in defined], fisher=True)
        confidence = joint_confidence(moves, confidence=options.confidence, rng=rng)
        values = np.array([at.left[i].value for i in defined])
        found_values = corrected_for_choice(values, moves)
        corrected = {i: float(v) for i, v in zip(defined, found_values, strict=True)}
        if against:
            moves = deviations([against[i].difference for i in defined], fisher=False)
            against_confidence = joint_confidence(moves, confidence=options.confidence, rng=rng)
    return _Together(places, confidence, corrected, against, against_confidence)


def _row(
    found: Gathered,
    place: int,
    level: Level,
    together: _Together,
    partials: Partials,
    options: MetaOptions,
) -> dict[str, object]:
    study, at = found.study, found.levels[level]
    one = study.metrics[place]
    name = (study.study, study.criterion, study.part, one.metric, one.judge)
    return {
        **dict(zip(_NAMES, name, strict=True)),
        "level": level,
        "better": study.better,
        "coefficient": options.coefficient,
        "confidence": options.confidence,
        **_counts(study, one, level, options),
        **_intervals(study, at, place, together, options),
        **_shown(at, place),
        **_accuracy(study, one, level, options),
        **_against(together.against.get(place), together.against_confidence),
        **_confound(partials.get((*name, level), []), at.left[place].value),
        "recipe": one.recipe,
    }


def _counts(study: Study, one: Measured, level: Level, options: MetaOptions) -> dict[str, object]:
    counted = correlate(one.oriented, study.oriented, level, options.coefficient)
    present = np.isfinite(one.values) & np.isfinite(study.human)
    return {
        "value": counted.value,
        "n": counted.n,
        "n_undefined": counted.n_undefined,
        "n_missing": counted.n_missing,
        "n_systems": int(np.count_nonzero(present.any(axis=1))),
        "n_documents": int(np.count_nonzero(present.any(axis=0))),
        "design": _design(study),
    }


def _design(study: Study) -> str:
    if study.nameless:
        return "no systems"
    if len(study.systems) == 1:
        return "one system"
    return "nested" if study.nested else "crossed"


def _intervals(
    study: Study, at: AtLevel, place: int, together: _Together, options: MetaOptions
) -> dict[str, object]:
    left = at.left[place]
    # Texts that no systems wrote are a sample of documents and nothing else.
    over: Over = "documents" if study.nameless else "both"
    whole = interval(left, confidence=options.confidence)
    both = interval(left, confidence=options.confidence, over=over)
    these = interval(left, confidence=options.confidence, over="documents")
    joint = interval(left, confidence=together.confidence, over=over)
    corrected = together.corrected.get(place, np.nan)
    return {
        "low": both.low,
        "high": both.high,
        "low_these_systems": these.low,
        "high_these_systems": these.high,
        "joint_low_these_systems": interval(
            left, confidence=together.confidence, over="documents"
        ).low,
        "variance_systems": whole.of_systems,
        "variance_documents": whole.of_documents,
        "corrected": corrected,
        "corrected_low": float(np.minimum(joint.low, corrected)),
        "corrected_high": float(np.maximum(joint.high, corrected)),
    }


def _shown(at: AtLevel, place: int) -> dict[str, object]:
    """The smallest adjusted p of the relations that go the way of the value."""
    p = at.p_adjusted[place]
    same = at.signs[place] == np.sign(at.left[place].value)
    usable = np.where(same & ~np.isnan(p), p, np.inf)
    best = int(np.argmin(usable))
    if np.isinf(usable[best]):
        return {"p": np.nan, "shown_by": None, "smallest_p": at.smallest_p}
    relation = at.relations[best]
    return {"p": float(usable[best]), "shown_by": relation, "smallest_p": at.smallest_p}


def _accuracy(study: Study, one: Measured, level: Level, options: MetaOptions) -> dict[str, object]:
    if level == "global":
        return {"accuracy": np.nan, "chance": np.nan, "epsilon": np.nan, "n_pairs": 0}
    metric, human = one.oriented, study.oriented
    epsilon = calibrate(metric, human, level)
    found = pairwise_accuracy(metric, human, level, epsilon=epsilon)
    # The same random numbers for every metric: another one changes nothing.
    rng = generator(options.seed, "chance", study.study, study.criterion, study.part, level)
    known = not np.isnan(found.value)
    pairs = _pairs(metric + human, level) if known else 0
    dealings = int(np.clip(DEALT_PAIRS // max(pairs, 1), 5, DEALINGS))
    chance = calibrated_chance(metric, human, level, n=dealings, rng=rng)
    return {
        "accuracy": found.value,
        "chance": chance if known else np.nan,
        "epsilon": epsilon if known else np.nan,
        "n_pairs": pairs,
    }


def _pairs(both: Array, level: Level) -> int:
    present = np.isfinite(both)
    counts = present.sum(axis=0) if level == "document" else np.array([present.any(axis=1).sum()])
    return int(np.sum(counts * (counts - 1) // 2))


def _against(found: AgainstRater | None, confidence: float) -> dict[str, object]:
    if found is None:
        nothing = ("with_raters", "rater", "against_rater", "against_rater_low")
        return {**dict.fromkeys((*nothing, "against_rater_high"), np.nan), "n_raters": 0}
    ends = interval(found.difference, confidence=confidence, fisher=False)
    return {
        "with_raters": found.metric.value,
        "rater": found.rater.value,
        "against_rater": found.difference.value,
        "against_rater_low": ends.low,
        "against_rater_high": ends.high,
        "n_raters": found.n,
    }


def _confound(partials: list[dict[str, Any]], plain: float) -> dict[str, object]:
    """The confound that leaves least, if it takes half or more of a correlation above 0."""
    known = [row for row in partials if not np.isnan(row["value"])]
    least = min(known, key=lambda row: (row["value"], row["confound"]), default=None)
    if least is None or not plain > 0 or least["value"] > VANISHES * plain:
        nothing = ("given_confound", "given_confound_p", "given_confound_high")
        return {"confound": None, **dict.fromkeys(nothing, np.nan)}
    return {
        "confound": least["confound"],
        "given_confound": least["value"],
        "given_confound_p": least["p"],
        "given_confound_high": least["high"],
    }
