"""The table `evidence`: all numbers that a verdict on a metric rests on, before any verdict."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from metassay.meta_evaluation.analysis import Analysis
from metassay.meta_evaluation.gather import AtLevel, Gathered, directed_places
from metassay.meta_evaluation.options import ANY_SHAPE, SYSTEM, VANISHES, MetaOptions
from metassay.meta_evaluation.study import Measured, Study, frame_of, generator
from metassay.meta_evaluation.verdicts import OF_NO_OTHERS
from metassay.statistics.agreement import against_rater
from metassay.statistics.components import correlate_at
from metassay.statistics.correlation import LEVELS, Level, system_means
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.jackknife import (
    LeftOut,
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

    `progress(done, total)` is called after each level of each study.
    """
    partials = _partials(confounds)
    rows: list[dict[str, object]] = []
    each = [(one, level) for one in found for level in LEVELS]
    for done, (one, level) in enumerate(each, start=1):
        rows += _of_level(one, level, partials, options)
        if progress is not None:
            progress(done, len(each))
    return frame_of(rows, EVIDENCE)


def _partials(confounds: pd.DataFrame) -> Partials:
    given_system = (confounds["confound"] == SYSTEM) & (confounds["statistic"] == "partial")
    by_key: Partials = {}
    rests = confounds[given_system | (confounds["statistic"] == ANY_SHAPE)]
    for row in rests.to_dict("records"):
        key = tuple(str(row[name]) for name in EVIDENCE.key)
        by_key.setdefault(key, []).append({str(k): v for k, v in row.items()})
    return by_key


def _of_level(
    found: Gathered, level: Level, partials: Partials, options: MetaOptions
) -> Iterator[dict[str, object]]:
    study, at = found.study, found.levels[level]
    places = [place for place, _ in directed_places(study)]
    for place, row in zip(places, _numbers(found, level, options), strict=True):
        rests = partials.get(tuple(str(row[name]) for name in EVIDENCE.key), [])
        yield {
            **row,
            **_accuracy(study, study.metrics[place], level, options),
            **_confound(rests, at.left.value[place]),
            **_within_systems(rests),
        }


def _numbers(found: Gathered, level: Level, options: MetaOptions) -> Iterator[dict[str, object]]:
    """All but accuracies and confounds."""
    study, at, layout = found.study, found.levels[level], found.study.layout
    places = [place for place, _ in directed_places(study)]
    chosen, left = study.directed, at.left.take(places)
    sides = study.values(chosen), study.oriented
    # A metric that was named before anybody looked is not the best of many.
    primary = np.array([options.is_primary(one.metric, one.label) for one in chosen], dtype=bool)
    rng = generator(options.seed, "together", *study.key.values(), level)
    columns: dict[str, object] = {
        **correlate_at(*sides, level, options.coefficient, layout)._asdict(),
        "n_tied": _tied(*sides) if level == "document" else 0,
        **_sizes(study, sides[0]),
        **_intervals(study, left, primary, level, options, rng),
        **_against(study, sides[0], left, primary, level, options, rng),
    }
    rows = study.rows(
        chosen,
        level=level,
        better=study.better,
        coefficient=options.coefficient,
        confidence=options.confidence,
        primary=primary,
        **columns,
        smallest_p=at.smallest_p,
        recipe=[one.recipe for one in chosen],
    )
    for place, row in zip(places, rows, strict=True):
        yield {**row, **_shown(at, place)}


def _sizes(study: Study, metrics: Array) -> dict[str, object]:
    layout = study.layout
    present = np.isfinite(metrics) & np.isfinite(study.human)
    systems, documents = present.any(axis=2), present.any(axis=1)
    return {
        "n_systems": np.count_nonzero(systems, axis=1),
        "n_families": [np.unique(layout.family[there]).size for there in systems],
        "n_documents": np.count_nonzero(documents, axis=1),
        "n_clusters": [np.unique(layout.cluster[there]).size for there in documents],
        "n_strata": layout.n_strata,
        "design": study.design,
    }


def _tied(metrics: Array, human: Array) -> Array:
    """(metrics,) documents whose texts people tell apart and the metric does not."""
    present = np.isfinite(metrics) & np.isfinite(human)
    differs = []
    for side in (metrics, human):
        most = np.where(present, side, -np.inf).max(axis=1)
        differs.append(most > np.where(present, side, np.inf).min(axis=1))
    return np.asarray(np.count_nonzero(~differs[0] & differs[1], axis=1))


def _intervals(
    study: Study,
    left: LeftOut,
    primary: Mask,
    level: Level,
    options: MetaOptions,
    rng: np.random.Generator,
) -> dict[str, object]:
    # Where there are no other systems to speak of, texts are a sample of documents.
    over: Over = "documents" if study.design in OF_NO_OTHERS else "both"
    whole, own, these = (
        interval(left, confidence=options.confidence, over=these)
        for these in ("both", over, "documents")
    )
    defined = np.flatnonzero(~np.isnan(left.value))
    some = left.take(defined)
    moves = deviations(some)
    together = joint_confidence(moves, confidence=options.confidence, rng=rng)
    sure = np.where(primary, options.confidence, together)
    corrected: Array = np.full(len(primary), np.nan)
    corrected[defined] = corrected_for_choice(some.value, moves)
    corrected = np.where(primary, left.value, corrected)
    moderate = moderator(between_systems(some), moves, alone=level == "system")
    joint = interval(left, confidence=sure, over=over, moderate=moderate)
    return {
        "low": own.low,
        "high": own.high,
        "low_these_systems": these.low,
        "high_these_systems": these.high,
        "variance_systems": whole.of_systems,
        "variance_documents": whole.of_documents,
        "joint_confidence": sure,
        "corrected": corrected,
        "corrected_low": np.minimum(np.minimum(joint.low, own.low), corrected),
        "corrected_high": np.maximum(np.maximum(joint.high, own.high), corrected),
    }


def _shown(at: AtLevel, place: int) -> dict[str, object]:
    """The smallest adjusted p of the relations that go the way of the value."""
    p = at.p_adjusted[place]
    same = at.signs[place] == np.sign(at.left.value[place])
    usable = np.where(same & ~np.isnan(p), p, np.inf)
    best = int(np.argmin(usable))
    none = np.isinf(usable[best])
    return {
        "p": np.nan if none else float(usable[best]),
        "shown_by": None if none else at.relations[best],
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


def _against(
    study: Study,
    metrics: Array,
    left: LeftOut,
    primary: Mask,
    level: Level,
    options: MetaOptions,
    rng: np.random.Generator,
) -> dict[str, object]:
    if len(study.raters) < 2:
        return {"n_raters": 0, "n_against_rater": 0}
    raters = study.oriented_raters
    found = against_rater(metrics, raters, level, options.coefficient, layout=study.layout)
    some = found.difference.take(~np.isnan(left.value))
    gaps = deviations(some, difference=True)
    together = joint_confidence(gaps, confidence=options.confidence, rng=rng)
    variances = between_systems(some, difference=True)
    ends = interval(
        found.difference,
        confidence=np.where(primary, options.confidence, together),
        difference=True,
        moderate=moderator(variances, gaps, alone=level == "system"),
    )
    known = ends.high - ends.low < NOTHING_KNOWN
    return {
        "with_raters": found.metric.value,
        "rater": found.rater.value,
        "against_rater": found.difference.value,
        "against_rater_low": np.where(known, ends.low, np.nan),
        "against_rater_high": np.where(known, ends.high, np.nan),
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
