"""The table `evidence`: all numbers that a verdict on a metric rests on, before any verdict."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.meta_evaluation.analysis import Analysis
from metassay.meta_evaluation.gather import AtLevel, Gathered, directed_places
from metassay.meta_evaluation.options import ANY_SHAPE, SYSTEM, VANISHES, MetaOptions
from metassay.meta_evaluation.study import Measured, Study, frame_of, generator
from metassay.meta_evaluation.verdicts import OF_NO_OTHERS
from metassay.statistics.agreement import AgainstRater, Known, against_rater
from metassay.statistics.components import correlate_at
from metassay.statistics.correlation import LEVELS, Level, system_means
from metassay.statistics.exact_sums import Array
from metassay.statistics.jackknife import (
    Moderate,
    Over,
    between_systems,
    corrected_for_choice,
    deviations,
    interval,
    joint_confidence,
    moderator,
)
from metassay.statistics.layout import Layout
from metassay.statistics.pairs import calibrate, calibrated_chance, pairwise_accuracy
from metassay.tables.evidence import EVIDENCE

DEALINGS = 100  # of a metric's scores, for the accuracy that chance alone reaches
DEALT_PAIRS = 20_000  # with so many pairs dealt in all, fewer dealings do
# An interval of a difference of correlations, at most 4 wide, that says nothing.
NOTHING_KNOWN = 3.9

Partials = dict[tuple[str, ...], list[dict[str, Any]]]  # rows of `confounds` by names and level


class _Together(NamedTuple):
    """What the metrics of one level have in common."""

    places: list[int]  # of the directed metrics in Study.metrics
    confidence: float  # that each interval needs so that all hold at once
    moderate: Moderate  # a variance between systems, by those of all metrics
    corrected: dict[int, float]  # by place
    against: dict[int, AgainstRater]  # by place; empty with one rater
    against_confidence: float
    against_moderate: Moderate


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
    people would agree with. `certify` makes a verdict of each row. EVIDENCE says what its columns
    are; beside that:

    - p: the exact test puts systems and documents in other orders; that of a primary metric is
      adjusted for its components alone.
    - low, high: for other systems and documents (for other documents alone, where the design has
      one system or none).
    - corrected_low, corrected_high: the variance between systems is moderated by that of all
      metrics (`jackknife.moderator`), unlike variance_*; never narrower than low and high.
    - confound: of coverage, density, words and options.confounds. The system is none: whoever
      compares systems wants to know who writes better.
    - accuracy: acc_eq of Deutsch et al. 2023 with the epsilon that suits these data best; of texts
      of one document and of systems of one stratum (the mean over documents, or strata), not of any
      two texts (n**2 / 2 pairs).

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
    return frame_of(rows, EVIDENCE)


def _partials(confounds: pd.DataFrame) -> Partials:
    given_system = (confounds["confound"] == SYSTEM) & (confounds["statistic"] == "partial")
    by_key: Partials = {}
    rests = confounds[given_system | (confounds["statistic"] == ANY_SHAPE)]
    for row in rests.to_dict("records"):
        key = tuple(str(row[name]) for name in EVIDENCE.key)
        by_key.setdefault(key, []).append({str(k): v for k, v in row.items()})
    return by_key


def _together(found: Gathered, level: Level, options: MetaOptions) -> _Together:
    study, at = found.study, found.levels[level]
    places = [place for place, _ in directed_places(study)]
    defined = [i for i in places if not np.isnan(at.left[i].value)]
    known: Known = {}
    how = level, options.coefficient
    against = {
        i: against_rater(
            study.metrics[i].oriented, study.oriented_raters, *how, layout=study.layout, known=known
        )
        for i in (places if len(study.raters) > 1 else ())
    }
    rng = generator(options.seed, "together", *study.key.values(), level)
    lefts = [at.left[i] for i in defined]
    moves = deviations(lefts)
    confidence = joint_confidence(moves, confidence=options.confidence, rng=rng)
    corrected = corrected_for_choice(np.array([one.value for one in lefts]), moves)
    differences = [against[i].difference for i in defined if i in against]
    gaps = deviations(differences, difference=True)
    alone = level == "system"
    return _Together(
        places,
        confidence,
        moderator(list(map(between_systems, lefts)), moves, alone=alone),
        dict(zip(defined, map(float, corrected), strict=True)),
        against,
        joint_confidence(gaps, confidence=options.confidence, rng=rng),
        moderator([between_systems(d, difference=True) for d in differences], gaps, alone=alone),
    )


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
    key = {**study.key, **one.key, "level": level}
    # A metric that was named before anybody looked is not the best of many.
    primary = options.is_primary(one.metric, one.label)
    rests = partials.get(tuple(key.values()), [])
    return {
        **key,
        "better": study.better,
        "coefficient": options.coefficient,
        "confidence": options.confidence,
        "primary": primary,
        **_counts(study, one, level, options),
        **_intervals(found, place, level, together, options),
        **_shown(at, place),
        **_accuracy(study, one, level, options),
        **_against(together, place, options.confidence if primary else together.against_confidence),
        **_confound(rests, at.left[place].value),
        **_within_systems(rests),
        "recipe": one.recipe,
    }


def _counts(study: Study, one: Measured, level: Level, options: MetaOptions) -> dict[str, object]:
    layout = study.layout
    counted = correlate_at(one.oriented, study.oriented, level, options.coefficient, layout)
    present = np.isfinite(one.values) & np.isfinite(study.human)
    systems, documents = present.any(axis=1), present.any(axis=0)
    return {
        "value": counted.value,
        "n": counted.n,
        "n_undefined": counted.n_undefined,
        "n_tied": _tied(one.values, study.human) if level == "document" else 0,
        "n_missing": counted.n_missing,
        "n_systems": int(np.count_nonzero(systems)),
        "n_families": np.unique(layout.family[systems]).size,
        "n_documents": int(np.count_nonzero(documents)),
        "n_clusters": np.unique(layout.cluster[documents]).size,
        "n_strata": layout.n_strata,
        "design": study.design,
    }


def _tied(metric: Array, human: Array) -> int:
    """Documents whose texts people tell apart and the metric does not."""
    present = np.isfinite(metric) & np.isfinite(human)
    differs = []
    for side in (metric, human):
        most = np.where(present, side, -np.inf).max(axis=0)
        differs.append(most > np.where(present, side, np.inf).min(axis=0))
    return int(np.count_nonzero(~differs[0] & differs[1]))


def _intervals(
    found: Gathered, place: int, level: Level, together: _Together, options: MetaOptions
) -> dict[str, object]:
    study, left = found.study, found.levels[level].left[place]
    one = study.metrics[place]
    # Where there are no other systems to speak of, texts are a sample of documents.
    over: Over = "documents" if study.design in OF_NO_OTHERS else "both"
    sure = options.confidence
    whole = interval(left, confidence=sure)
    own = interval(left, confidence=sure, over=over)
    these = interval(left, confidence=sure, over="documents")
    corrected = left.value
    if not options.is_primary(one.metric, one.label):
        sure = together.confidence
        corrected = together.corrected.get(place, np.nan)
    joint = interval(left, confidence=sure, over=over, moderate=together.moderate)
    return {
        "low": own.low,
        "high": own.high,
        "low_these_systems": these.low,
        "high_these_systems": these.high,
        "variance_systems": whole.of_systems,
        "variance_documents": whole.of_documents,
        "joint_confidence": sure,
        "corrected": corrected,
        "corrected_low": float(np.minimum(np.minimum(joint.low, own.low), corrected)),
        "corrected_high": float(np.maximum(np.maximum(joint.high, own.high), corrected)),
    }


def _shown(at: AtLevel, place: int) -> dict[str, object]:
    """The smallest adjusted p of the relations that go the way of the value."""
    p = at.p_adjusted[place]
    same = at.signs[place] == np.sign(at.left[place].value)
    usable = np.where(same & ~np.isnan(p), p, np.inf)
    best = int(np.argmin(usable))
    none = np.isinf(usable[best])
    return {
        "p": np.nan if none else float(usable[best]),
        "shown_by": None if none else at.relations[best],
        "smallest_p": at.smallest_p,
    }


def _accuracy(study: Study, one: Measured, level: Level, options: MetaOptions) -> dict[str, object]:
    if level == "global":
        return {"n_pairs": 0}
    metric, human = one.oriented, study.oriented
    if level == "system" and study.layout.n_strata > 1:
        metric, human, level = *_means_by_stratum(metric, human, study.layout), "document"
    epsilon = calibrate(metric, human, level)
    found = pairwise_accuracy(metric, human, level, epsilon=epsilon)
    # The same random numbers for every metric: another one changes nothing.
    rng = generator(options.seed, "chance", study.study, study.criterion, study.part, level)
    if np.isnan(found.value):
        return {"n_pairs": 0}
    pairs = _pairs(metric + human, level)
    dealings = int(np.clip(DEALT_PAIRS // max(pairs, 1), 5, DEALINGS))
    chance = calibrated_chance(metric, human, level, n=dealings, rng=rng)
    return {"accuracy": found.value, "chance": chance, "epsilon": epsilon, "n_pairs": pairs}


def _means_by_stratum(metric: Array, human: Array, layout: Layout) -> tuple[Array, Array]:
    """(systems, strata): only systems of one stratum are compared, as texts of one document are."""
    columns = []
    for number in range(layout.n_strata):
        mine = layout.stratum == number
        columns.append(system_means(metric[:, mine], human[:, mine], np.ones((1, np.sum(mine)))))
    of_metric, of_human = (np.vstack(side).T.copy() for side in zip(*columns, strict=True))
    return of_metric, of_human


def _pairs(both: Array, level: Level) -> int:
    present = np.isfinite(both)
    counts = present.sum(axis=0) if level == "document" else np.array([present.any(axis=1).sum()])
    return int(np.sum(counts * (counts - 1) // 2))


def _against(together: _Together, place: int, confidence: float) -> dict[str, object]:
    found = together.against.get(place)
    if found is None:
        return {"n_raters": 0, "n_against_rater": 0}
    moderate = together.against_moderate
    ends = interval(found.difference, confidence=confidence, difference=True, moderate=moderate)
    known = ends.high - ends.low < NOTHING_KNOWN
    return {
        "with_raters": found.metric.value,
        "rater": found.rater.value,
        "against_rater": found.difference.value,
        "against_rater_low": ends.low if known else np.nan,
        "against_rater_high": ends.high if known else np.nan,
        "n_raters": found.n,
        "n_against_rater": found.n_compared,
    }


def _confound(rests: list[dict[str, Any]], plain: float) -> dict[str, object]:
    """The confound that leaves least, if it takes half or more of a correlation above 0."""
    known = [r for r in rests if r["statistic"] == ANY_SHAPE and not np.isnan(r["value"])]
    least = min(known, key=lambda row: (row["value"], row["confound"]), default=None)
    if least is None or not plain > 0 or least["value"] > VANISHES * plain:
        return {"confound": None}
    return {
        "confound": least["confound"],
        "given_confound": least["value"],
        "given_confound_p": least["p"],
    }


def _within_systems(rests: list[dict[str, Any]]) -> dict[str, object]:
    """What is left with the system held constant, and its p where half or more goes."""
    for row in rests:
        if row["confound"] == SYSTEM:
            return {"within_systems": row["value"], "within_systems_p": row["p"]}
    return {}


ANALYSIS = Analysis(
    (EVIDENCE,),
    lambda of: [
        evidence(of.gathered, of.made["confounds"], of.options, progress=of.watch("evidence"))
    ],
)
