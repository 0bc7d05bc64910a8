"""The table `confounds`: is it quality that a metric sees, or copying, length, or the author."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.meta_evaluation.gather import (
    AtLevel,
    Gathered,
    directed_places,
    holding,
    run_test,
    sides,
)
from metassay.meta_evaluation.options import MEASURED, SYSTEM, VANISHES, MetaOptions
from metassay.meta_evaluation.study import Measured, Study
from metassay.parquet import empty
from metassay.statistics.confounds import most_abstractive
from metassay.statistics.correlation import LEVELS, Array, Level, correlate
from metassay.statistics.ensembles import standardise
from metassay.statistics.jackknife import LeftOut, interval, left_out
from metassay.statistics.partials import partial, partial_given_system, residuals_first
from metassay.tables.confounds import CONFOUNDS
from metassay.tables.names import NO_JUDGE

SHARES = (25, 50, 75, 100)  # per cent of the texts, those with least of the confound


class _Value(NamedTuple):
    value: float
    n: int
    needed: tuple[Array, ...]  # the numbers without which a text takes no part
    left: LeftOut | None = None  # for an interval
    p: float = np.nan  # adjusted; of what is left


def confounds(found: Sequence[Gathered], options: MetaOptions) -> pd.DataFrame:
    """One row per directed metric, confound, level and statistic.

    Metrics and people are turned so that more is better; a confound stays as measured. Confounds
    are coverage, density, words, those that options.confounds names, and the system.

    - `metric`, `people`: the confound's correlation with each, at the level.
    - `partial`: the metric with people, the confound held constant at that level (ranks first for
      Spearman). Where half or more of the plain correlation goes, p says whether what is left is
      more than chance: the exact test of the certificates on what is left of both sides, adjusted
      for all metrics of the study.
    - `partial_residuals_first`: with Spearman, the other way of making ranks partial.
    - `added`, global alone: the mean of the standardised metric and confound against people; where
      it is higher than the metric's own, people see something in the confound that the metric does
      not.
    - `lowest_25` ..., global alone: the metric against people on the quarter of the texts with
      least of the confound (ties with the last one included); `lowest_100` on all that have it.

    Confounds that a study has no scores of have no rows, nor has `system` where there is one
    system, or at system level; and there is no partial of tau-c. Intervals are those of the
    certificates. n_missing counts the texts that the study knows by a rating or by any score and
    that lack a number needed here.
    """
    rows = [row for one in found for row in _of_study(one, options)]
    return pd.DataFrame(rows, columns=list(CONFOUNDS.columns)) if rows else empty(CONFOUNDS)


def _of_study(found: Gathered, options: MetaOptions) -> Iterator[dict[str, object]]:
    study = found.study
    values = [study.human, *(one.values for one in study.metrics)]
    texts = np.any(np.isfinite(values), axis=0)
    named = {*MEASURED, *options.confounds}
    controls: dict[str, Array | None] = {
        one.metric: one.values
        for one in study.metrics
        if one.metric in named and one.judge == NO_JUDGE
    }
    if len(study.systems) > 1 and options.coefficient != "kendall_c":
        controls[SYSTEM] = None
    for name, control in controls.items():
        for level in LEVELS:
            if control is None and level == SYSTEM:
                continue
            for measured, statistic, value in _at(found, level, name, control, options):
                complete = np.all(np.isfinite(value.needed), axis=0)
                yield {
                    **study.key,
                    "metric": measured.metric,
                    "judge": measured.judge,
                    "confound": name,
                    "level": level,
                    "statistic": statistic,
                    "coefficient": options.coefficient,
                    **_numbers(value, options.confidence),
                    "n_missing": int(np.count_nonzero(texts & ~complete)),
                }


def _numbers(found: _Value, confidence: float) -> dict[str, object]:
    low = high = np.nan
    if found.left is not None:
        low, high = interval(found.left, confidence=confidence)[:2]
    return {"value": found.value, "low": low, "high": high, "p": found.p, "n": found.n}


def _at(
    found: Gathered, level: Level, name: str, control: Array | None, options: MetaOptions
) -> Iterator[tuple[Measured, str, _Value]]:
    study, at = found.study, found.levels[level]
    partials: dict[int, _Value] = {}
    for place, measured in directed_places(study):
        if measured.metric == name:
            continue  # a metric is no confound of itself
        metric, human = measured.oriented, study.oriented
        if control is None:
            given = partial_given_system(metric, human, level, options.coefficient)
            needed: tuple[Array, ...] = (metric, human)
        else:
            needed = (metric, human, control)
            for statistic, side in (("metric", metric), ("people", human)):
                yield measured, statistic, _correlated(control, side, level, options)
            if level == "global":
                for statistic, value in _pooled(metric, human, control, options):
                    yield measured, statistic, value
            if options.coefficient == "kendall_c":
                continue
            given = partial(*needed, level, options.coefficient)
        partials[place] = _Value(given.value, given.n, needed, given.left)
        if options.coefficient == "spearman":
            other_way = residuals_first(metric, human, control, level)
            yield measured, "partial_residuals_first", _Value(other_way, given.n, needed)
    p = _p_of_rest(study, at, level, control, partials, options)
    for place, value in partials.items():
        yield study.metrics[place], "partial", value._replace(p=p.get(place, np.nan))


def _p_of_rest(
    study: Study,
    at: AtLevel,
    level: Level,
    control: Array | None,
    partials: Mapping[int, _Value],
    options: MetaOptions,
) -> dict[int, float]:
    """Adjusted p of what is left, if for any metric half or more goes; by the metric's place."""
    plain = {place: at.left[place].value for place in partials}
    gone = {
        i for i in partials if partials[i].value * np.sign(plain[i]) <= VANISHES * abs(plain[i])
    }
    if not gone:
        return {}
    held = None if control is None else sides(study, control, level, options)
    human = holding(sides(study, study.oriented, level, options), held)
    places = list(partials)
    each = [holding(sides(study, study.metrics[i].oriented, level, options), held) for i in places]
    tested = run_test(study, each, human, level, options)
    if tested is None:
        return {}
    adjusted = tested.adjusted(np.ones(len(places), dtype=bool))
    # What is left counts only if it goes the way the whole goes.
    ways = np.array([[np.sign(plain[place])] for place in places])
    usable = (tested.signs == ways) & ~np.isnan(adjusted)
    smallest = np.min(np.where(usable, adjusted, np.inf), axis=1)
    return {
        place: float(p)
        for place, p in zip(places, smallest, strict=True)
        if np.isfinite(p) and place in gone
    }


def _correlated(control: Array, side: Array, level: Level, options: MetaOptions) -> _Value:
    left = left_out(control, side, level, options.coefficient)
    n = correlate(control, side, level, options.coefficient).n
    return _Value(left.value, n, (control, side), left)


def _pooled(
    metric: Array, human: Array, control: Array, options: MetaOptions
) -> Iterator[tuple[str, _Value]]:
    trio = metric, human, control
    there = np.all(np.isfinite(trio), axis=0)
    both = np.mean(standardise(np.stack((metric[there], control[there]))), axis=0)
    found = correlate(both[None], human[there][None], "global", options.coefficient)
    yield "added", _Value(found.value, int(np.count_nonzero(there)), trio)
    for share in SHARES:
        least = most_abstractive(*trio, "global", options.coefficient, share=share / 100)
        yield f"lowest_{share}", _Value(least.value, least.n, trio)
