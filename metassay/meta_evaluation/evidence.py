"""Collect the numbers that verdicts on metrics rest on, in the table `evidence`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from metassay.meta_evaluation.analysis import Analysis
from metassay.meta_evaluation.classes import classes_at
from metassay.meta_evaluation.exact_tests import LevelTests, StudyTests, run_level
from metassay.meta_evaluation.options import ANY_SHAPE, SYSTEM, VANISHES, MetaOptions
from metassay.meta_evaluation.selected_texts import find_chosen
from metassay.meta_evaluation.study import MetricScores, Study, frame_of
from metassay.meta_evaluation.verdicts import OF_NO_OTHERS
from metassay.statistics.agreement import compare_with_rater
from metassay.statistics.components import correlate_at
from metassay.statistics.correlation import LEVELS, Level, system_means
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.jackknife import (
    LeaveOneOut,
    Over,
    correct_for_choice,
    deviations,
    interval,
    joint_confidence,
    moderator,
    variance_between_systems,
)
from metassay.statistics.layout import Layout
from metassay.statistics.multiple_tests import significance_level
from metassay.statistics.pairs import calibrate, calibrated_chance, pairwise_accuracy
from metassay.statistics.random_numbers import generator
from metassay.tables.evidence import EVIDENCE

DEALINGS = 100  # of a metric's scores, for the accuracy that chance alone reaches
DEALT_PAIRS = 20_000  # with so many pairs dealt in all, fewer dealings do
# an interval so wide (at most 4) says nothing of a difference of correlations
NOTHING_KNOWN = 3.9

# rows of `confounds` by names and level
Partials = dict[tuple[str, ...], list[dict[Any, Any]]]


def evidence(
    studies: Sequence[StudyTests],
    confounds: pd.DataFrame,
    scores: pd.DataFrame,
    options: MetaOptions,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Return one row per study, criterion, part, level and directed metric.

    `confounds`: the table of that name, made from the same `studies` and options.
    `scores`: the table, with scores of texts that nobody rated, too. Signs
    are turned so that more of metric and criterion is better: a positive correlation
    agrees with people. `certify` turns each row into a verdict. EVIDENCE describes the
    columns. In addition:

    - p: of the exact test, which puts systems and documents in other orders; of a
      primary metric it is adjusted for its components alone.
    - low, high: for other systems and documents (for other documents alone, where the
      design has one system or none).
    - corrected_low, corrected_high: the variance between systems is moderated by that
      of all metrics (`jackknife.moderator`), unlike variance_*; never narrower than low
      and high.
    - confound: coverage, density, words or one of options.confounds. Never the system,
      as whoever compares systems asks which of them writes better.
    - accuracy: acc_eq of Deutsch et al. 2023 with the epsilon that fits the data best.
      It compares texts of a document, or systems of a stratum, and is the mean over
      documents, or strata.

    `progress(done, total)` is called after each level of each study.
    """
    partials = _partials(confounds)
    rows: list[dict[str, object]] = []
    n_families = len(studies) * len(LEVELS)
    done = 0
    for tests in studies:
        selected = _selected_metrics(tests.study, scores)
        for level in LEVELS:
            rows += _evidence_rows(tests, level, partials, selected, options)
            done += 1
            if progress is not None:
                progress(done, n_families)
    return frame_of(rows, EVIDENCE)


def _partials(confounds: pd.DataFrame) -> Partials:
    of_system = (confounds["confound"] == SYSTEM) & (
        confounds["statistic"] == "partial"
    )
    rests = confounds[of_system | (confounds["statistic"] == ANY_SHAPE)]
    groups = rests.groupby(list(EVIDENCE.key), observed=True)
    return {tuple(map(str, key)): rows.to_dict("records") for key, rows in groups}


def _selected_metrics(study: Study, scores: pd.DataFrame) -> set[tuple[str, str]]:
    """Return the metrics, with judges, whose extreme scores people rated more often."""
    chosen = find_chosen(study, scores)
    return {(metric.metric, metric.judge) for metric in chosen if metric.extreme}


def _evidence_rows(
    tests: StudyTests,
    level: Level,
    partials: Partials,
    selected: set[tuple[str, str]],
    options: MetaOptions,
) -> Iterator[dict[str, object]]:
    study, left = tests.study, tests.levels[level].left
    for place, row in zip(study.places, numbers(tests, level, options), strict=True):
        rests = partials.get(tuple(str(row[name]) for name in EVIDENCE.key), [])
        yield {
            **row,
            **_accuracy(study, study.metrics[place], level, options),
            **_confound(rests, left.value[place]),
            **_select_within_systems(rests),
            "selected": (row["metric"], row["judge"]) in selected,
        }


def numbers(
    tests: StudyTests, level: Level, options: MetaOptions
) -> Iterator[dict[str, object]]:
    """Yield the rows of a level without accuracies and confounds, one per directed metric."""
    rows = list(_plain_numbers(tests, level, options))
    within = _shown_within(tests, level, options)
    more = classes_at(tests.study, level, rows, options, _numbers_alone, within)
    for row, of_classes in zip(rows, more, strict=True):
        yield {**row, **of_classes}


def _shown_within(
    tests: StudyTests, level: Level, options: MetaOptions
) -> list[bool] | list[None]:
    """Return whether each directed metric follows people among texts of one system.

    None at other levels, which compare texts themselves.
    """
    places = tests.study.places
    by_documents = tests.levels[level].p_alone.get("documents")
    if level != "system":
        return [None] * len(places)
    if by_documents is None:
        return [False] * len(places)
    level_of_p = significance_level(options.confidence)
    return [bool(by_documents[i, 0] < level_of_p) for i in places]


def _numbers_alone(
    study: Study, level: Level, options: MetaOptions
) -> list[dict[str, object]]:
    """Return the numbers of a part of a study, without comparing metrics with raters."""
    study = study._replace(raters=study.raters[:1])
    (of_level,) = run_level([study], level, options)
    tests = StudyTests(study, {level: of_level})
    return list(_plain_numbers(tests, level, options))


def _plain_numbers(
    tests: StudyTests, level: Level, options: MetaOptions
) -> Iterator[dict[str, object]]:
    study, at_level, layout = tests.study, tests.levels[level], tests.study.layout
    metrics, left = study.directed, at_level.left.take(study.places)
    sides = study.values(metrics), study.oriented
    # A metric chosen before seeing the data is not the best of many, and one that was
    # fitted on the ratings is none of them.
    primary = np.array(
        [options.is_primary(m.metric, m.label) for m in metrics], dtype=bool
    )
    fitted = np.array(
        [options.is_fitted(m.metric, m.label) for m in metrics], dtype=bool
    )
    together = at_level.together[study.places]
    columns: dict[str, object] = {
        **correlate_at(*sides, level, options.coefficient, layout)._asdict(),
        "n_tied": _tied(*sides) if level == "document" else 0,
        **_sizes(study, sides[0]),
        **_intervals(study, left, primary, together, level, options),
        **_compare_with_raters(tests, sides[0], left, primary, level, options),
    }
    rows = study.rows(
        metrics,
        level=level,
        better=study.better,
        coefficient=options.coefficient,
        confidence=options.confidence,
        primary=primary,
        fitted=fitted,
        n_tried=np.nan_to_num(at_level.n_tried[study.places]).astype(np.intp),
        **columns,
        smallest_p=at_level.smallest_p,
        recipe=[metric.recipe for metric in metrics],
    )
    for place, row in zip(study.places, rows, strict=True):
        smallest = _smallest_p(at_level, place)
        rests_on = _rests_on(at_level, place, smallest["p"], level, options)
        yield {**row, **smallest, "rests_on": rests_on}


def _sizes(study: Study, metrics: Array) -> dict[str, object]:
    layout = study.layout
    present = np.isfinite(metrics) & np.isfinite(study.human)
    systems, documents = present.any(axis=2), present.any(axis=1)
    return {
        "n_systems": np.count_nonzero(systems, axis=1),
        "n_families": [np.unique(layout.family[mask]).size for mask in systems],
        "n_documents": np.count_nonzero(documents, axis=1),
        "n_clusters": [np.unique(layout.cluster[mask]).size for mask in documents],
        "n_strata": layout.n_strata,
        "design": study.design,
    }


def _tied(metrics: Array, human: Array) -> Array:
    """Count the documents (metrics,) in which the metric ties all texts and people do not."""
    present = np.isfinite(metrics) & np.isfinite(human)
    metric_varies, people_vary = (
        np.where(present, side, -np.inf).max(axis=1)
        > np.where(present, side, np.inf).min(axis=1)
        for side in (metrics, human)
    )
    return np.asarray(np.count_nonzero(~metric_varies & people_vary, axis=1))


def _intervals(
    study: Study,
    left: LeaveOneOut,
    primary: Mask,
    together: Array,
    level: Level,
    options: MetaOptions,
) -> dict[str, object]:
    # Without other systems, texts are a sample of documents.
    over: Over = "documents" if study.design in OF_NO_OTHERS else "both"
    whole, ends, these = (
        interval(left, confidence=options.confidence, over=these)
        for these in ("both", over, "documents")
    )
    defined = np.flatnonzero(~np.isnan(left.value + together))
    metrics = left.take(defined)
    moves = deviations(metrics)
    corrected: Array = np.full(len(primary), np.nan)
    corrected[defined] = correct_for_choice(metrics.value, moves)
    corrected = np.where(primary, left.value, corrected)
    moderate = moderator(
        variance_between_systems(metrics), moves, alone=level == "system"
    )
    joint = interval(left, confidence=together, over=over, moderate=moderate)
    return {
        "low": ends.low,
        "high": ends.high,
        "low_these_systems": these.low,
        "high_these_systems": these.high,
        "variance_systems": whole.of_systems,
        "variance_documents": whole.of_documents,
        "joint_confidence": together,
        "corrected": corrected,
        "corrected_low": np.minimum(np.minimum(joint.low, ends.low), corrected),
        "corrected_high": np.maximum(np.maximum(joint.high, ends.high), corrected),
    }


def _rests_on(
    tests: LevelTests, place: int, p: float, level: Level, options: MetaOptions
) -> str | None:
    """Say which units alone show a relation where p does not: `systems` or `documents`.

    It holds if none of these is a version of another, or of the same topic.
    """
    # Shares of orders can equal the level exactly, and show nothing then.
    level_of_p = significance_level(options.confidence)
    if p < level_of_p:
        return None
    for exchange, adjusted in tests.p_alone.items():
        shown = bool(np.any(adjusted[place] < level_of_p))
        if shown and not (level == "system" and exchange == "documents"):
            return exchange
    return None


def _smallest_p(tests: LevelTests, place: int) -> dict[str, Any]:
    """Return the smallest adjusted p of the relations with the sign of the value."""
    p = tests.p_adjusted[place]
    same_sign = tests.signs[place] == np.sign(tests.left.value[place])
    usable = np.where(same_sign & ~np.isnan(p), p, np.inf)
    best = int(np.argmin(usable))
    none = np.isinf(usable[best])
    return {
        "p": np.nan if none else float(usable[best]),
        "shown_by": None if none else tests.relations[best],
    }


def _accuracy(
    study: Study, metric: MetricScores, level: Level, options: MetaOptions
) -> dict[str, object]:
    if level == "global":
        return {"n_pairs": 0}
    oriented, human = metric.oriented, study.oriented
    if level == "system" and study.layout.n_strata > 1:
        oriented, human, level = (
            *_means_by_stratum(oriented, human, study.layout),
            "document",
        )
    epsilon = calibrate(oriented, human, level)
    accuracy = pairwise_accuracy(oriented, human, level, epsilon=epsilon)
    # All metrics share their random numbers, so that another metric changes no result.
    rng = generator(
        options.seed, "chance", study.study, study.criterion, study.part, level
    )
    if np.isnan(accuracy.value):
        return {"n_pairs": 0}
    pairs = _pairs(oriented + human, level)
    dealings = int(np.clip(DEALT_PAIRS // max(pairs, 1), 5, DEALINGS))
    chance = calibrated_chance(oriented, human, level, n=dealings, rng=rng)
    return {
        "accuracy": accuracy.value,
        "chance": chance,
        "epsilon": epsilon,
        "n_pairs": pairs,
    }


def _means_by_stratum(
    metric: Array, human: Array, layout: Layout
) -> tuple[Array, Array]:
    """Return system means (systems, strata), so that strata take the place of documents."""
    columns = []
    for number in range(layout.n_strata):
        inside = layout.stratum == number
        once = np.ones((1, np.sum(inside)))
        columns.append(system_means(metric[:, inside], human[:, inside], once))
    of_metric, of_human = (
        np.vstack(side).T.copy() for side in zip(*columns, strict=True)
    )
    return of_metric, of_human


def _pairs(both: Array, level: Level) -> int:
    present = np.isfinite(both)
    counts = (
        present.sum(axis=0)
        if level == "document"
        else np.array([present.any(axis=1).sum()])
    )
    return int(np.sum(counts * (counts - 1) // 2))


def _compare_with_raters(
    tests: StudyTests,
    metrics: Array,
    left: LeaveOneOut,
    primary: Mask,
    level: Level,
    options: MetaOptions,
) -> dict[str, object]:
    study = tests.study
    compared = compared_raters(study)
    if len(compared) < 2:
        return {"n_raters": 0, "n_against_rater": 0}
    raters = -compared if study.better == "lower" else compared
    comparison = compare_with_rater(
        metrics, raters, level, options.coefficient, layout=study.layout
    )
    defined = comparison.difference.take(~np.isnan(left.value))
    gaps = deviations(defined, difference=True)
    rng = generator(options.seed, "together", *study.key.values(), level)
    # For every criterion at once, too.
    alone = 1.0 - (1.0 - options.confidence) / tests.levels[level].n_criteria
    together = joint_confidence(gaps, confidence=alone, rng=rng)
    variances = variance_between_systems(defined, difference=True)
    ends = interval(
        comparison.difference,
        confidence=np.where(primary, alone, together),
        difference=True,
        moderate=moderator(variances, gaps, alone=level == "system"),
    )
    known = ends.high - ends.low < NOTHING_KNOWN
    return {
        "with_raters": comparison.metric.value,
        "rater": comparison.rater.value,
        "against_rater": comparison.difference.value,
        "against_rater_low": np.where(known, ends.low, np.nan),
        "against_rater_high": np.where(known, ends.high, np.nan),
        "n_raters": comparison.n,
        "n_against_rater": comparison.n_compared,
    }


def compared_raters(study: Study) -> Array:
    """Return the ratings (raters, systems, documents) with which metrics are compared.

    Nobody's while a rater seems turned round: agreement with the others' mean then says
    nothing. Raters who agree less than the others are left out.
    """
    if study.doubted.turned:
        return study.raters[:0]
    places = range(len(study.raters))
    return study.raters[[i for i in places if i not in study.doubted.apart]]


def _confound(rests: list[dict[Any, Any]], plain: float) -> dict[str, object]:
    """Return the confound that leaves least, if it takes half or more of a positive correlation."""
    known = [
        r for r in rests if r["statistic"] == ANY_SHAPE and not np.isnan(r["value"])
    ]
    least = min(known, key=lambda row: (row["value"], row["confound"]), default=None)
    if least is None or not plain > 0 or least["value"] > VANISHES * plain:
        return {"confound": None}
    return {
        "confound": least["confound"],
        "given_confound": least["value"],
        "given_confound_p": least["p"],
    }


def _select_within_systems(rests: list[dict[Any, Any]]) -> dict[str, object]:
    """Return the correlation given the system, and its p where half or more goes."""
    for row in rests:
        if row["confound"] == SYSTEM:
            return {"within_systems": row["value"], "within_systems_p": row["p"]}
    return {}


ANALYSIS = Analysis(
    (EVIDENCE,),
    lambda run: [
        evidence(
            run.tests,
            run.tables["confounds"],
            run.scores,
            run.options,
            progress=run.watch("evidence"),
        )
    ],
)
