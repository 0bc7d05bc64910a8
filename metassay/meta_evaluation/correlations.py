"""The table `correlations`: each metric with each rated criterion of the same part."""

from collections.abc import Callable, Iterator, Sequence
from typing import get_args

import numpy as np
import pandas as pd

from metassay.contract import empty
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Measured, Study
from metassay.statistics.correlation import LEVELS, Array, Coefficient, correlate
from metassay.statistics.ensembles import percentiles
from metassay.statistics.grouped import correlate_groups
from metassay.statistics.resampling import interval, resampled
from metassay.tables import CORRELATIONS, EACH_PART


def correlations(
    found: Sequence[Study],
    options: MetaOptions,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """One row per level and coefficient, the sign as it is.

    A good metric correlates negatively with an error rate. n_missing counts the texts of the
    study's systems and documents that have one of score and rating but not both. `progress(done,
    total)` is called after each metric of each study. Intervals are by options.interval, those of
    grouped rows always percentiles.
    """
    total = sum(len(study.metrics) for study in found)
    rows: list[dict[str, object]] = []
    done = 0
    for study in found:
        for measured in study.metrics:
            rows += _rows(study, measured, options)
            done += 1
            if progress is not None:
                progress(done, total)
    for same in _in_parts(found):
        rows += _grouped(same, options.confidence)
    return pd.DataFrame(rows, columns=list(CORRELATIONS.columns)) if rows else empty(CORRELATIONS)


def _rows(study: Study, measured: Measured, options: MetaOptions) -> Iterator[dict[str, object]]:
    for level in LEVELS:
        for coefficient in get_args(Coefficient):
            value = correlate(measured.values, study.human, level, coefficient)
            ends = interval(
                measured.values,
                study.human,
                level,
                coefficient,
                draws=study.draws,
                confidence=options.confidence,
                method=options.interval,
            )
            yield {
                **study.key,
                "metric": measured.metric,
                "judge": measured.judge,
                "level": level,
                "coefficient": coefficient,
                **value._asdict(),
                "low": ends.low,
                "high": ends.high,
                "n_resamples": ends.n_defined,
                "recipe": measured.recipe,
            }


Parts = list[tuple[Study, Measured]]  # one metric in several parts of one study and criterion


def _in_parts(found: Sequence[Study]) -> Iterator[Parts]:
    """The metrics that were held against people in several parts by the same criterion."""
    by_name: dict[tuple[str, ...], Parts] = {}
    for study in found:
        for one in study.metrics:
            name = (study.study, study.criterion, one.metric, one.judge)
            by_name.setdefault(name, []).append((study, one))
    return (parts for parts in by_name.values() if len(parts) > 1)


def _grouped(parts: Parts, confidence: float) -> Iterator[dict[str, object]]:
    """Items grouped by part: the mean of the parts' coefficients, however large the parts are."""
    study, measured = parts[0]
    metric = np.concatenate([one.values.ravel() for _, one in parts])
    human = np.concatenate([part.human.ravel() for part, _ in parts])
    group = np.repeat(np.arange(len(parts)), [one.values.size for _, one in parts])
    for coefficient in get_args(Coefficient):
        value = correlate_groups(metric, human, group, coefficient)
        draws = _mean_of_draws(parts, coefficient)
        ends = percentiles(draws[:, None], confidence)
        yield {
            **study.key,
            "part": EACH_PART,
            "metric": measured.metric,
            "judge": measured.judge,
            "level": "grouped",
            "coefficient": coefficient,
            "value": value.value,
            "low": float(ends[0][0]),
            "high": float(ends[1][0]),
            "n": value.n,
            "n_undefined": value.n_undefined,
            "n_missing": value.n_missing,
            "n_resamples": int(np.count_nonzero(~np.isnan(draws))),
            "p": np.nan,
            "recipe": measured.recipe,
        }


def _mean_of_draws(parts: Parts, coefficient: Coefficient) -> Array:
    """Each resample's mean over the parts; NaN throughout where the parts have other texts.

    The same texts are drawn in every part, as parts of one document belong together.
    """
    first = parts[0][0]
    n = first.draws.documents.shape[0]
    if any(
        not (part.systems.equals(first.systems) and part.documents.equals(first.documents))
        for part, _ in parts
    ):
        return np.full(n, np.nan)
    of_parts = np.stack(
        [
            resampled(one.values, part.human, "global", coefficient, first.draws)
            for part, one in parts
        ]
    )
    defined = np.count_nonzero(~np.isnan(of_parts), axis=0)
    total = np.nansum(of_parts, axis=0)
    return np.where(defined > 0, total / np.maximum(defined, 1), np.nan)
