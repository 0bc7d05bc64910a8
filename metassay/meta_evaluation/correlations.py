"""The table `correlations`: each metric with each rated criterion of the same part."""

from collections.abc import Callable, Iterator, Sequence
from typing import get_args

import numpy as np
import pandas as pd

from metassay.meta_evaluation.gather import Gathered
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Measured, Study, generator
from metassay.parquet import empty
from metassay.statistics.components import correlate_at
from metassay.statistics.correlation import LEVELS, Array, Coefficient
from metassay.statistics.ensembles import percentiles
from metassay.statistics.grouped import correlate_groups
from metassay.statistics.jackknife import Over, interval, left_out_all
from metassay.statistics.resampling import Draws, draw, resampled
from metassay.tables.correlations import CORRELATIONS
from metassay.tables.names import EACH_PART


def correlations(
    found: Sequence[Gathered],
    options: MetaOptions,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """One row per level and coefficient, the sign as it is.

    A good metric correlates negatively with an error rate. Intervals are by leaving out systems
    and documents in turn (`jackknife`), and of grouped rows by bootstrap of documents. p is the
    exact test's, of options.coefficient, for this metric alone. n_missing counts the texts of the
    study's systems and documents that have one of score and rating but not both. `progress(done,
    total)` is called after each metric of each study.
    """
    total = sum(len(one.study.metrics) for one in found)
    rows: list[dict[str, object]] = []
    done = 0
    for one in found:
        for place in range(len(one.study.metrics)):
            rows += _rows(one, place, options)
            done += 1
            if progress is not None:
                progress(done, total)
    for same in _in_parts([one.study for one in found]):
        rows += _grouped(same, options)
    return pd.DataFrame(rows, columns=list(CORRELATIONS.columns)) if rows else empty(CORRELATIONS)


def _rows(found: Gathered, place: int, options: MetaOptions) -> Iterator[dict[str, object]]:
    study, measured = found.study, found.study.metrics[place]
    for level in LEVELS:
        sides = measured.values, study.human
        lefts = left_out_all(*sides, level, study.layout)
        # A side without differences has no coefficient of any kind: all have the same counts.
        counts = correlate_at(*sides, level, options.coefficient, study.layout)
        for coefficient in get_args(Coefficient):
            left = lefts[coefficient]
            chosen = coefficient == options.coefficient
            p = float(found.levels[level].p[place, 0]) if chosen else np.nan
            ends = {
                over: interval(left, confidence=options.confidence, over=over) for over in _OVER
            }
            yield {
                **study.key,
                "metric": measured.metric,
                "judge": measured.judge,
                "level": level,
                "coefficient": coefficient,
                **counts._replace(value=left.value)._asdict(),
                "low": ends["both"].low,
                "high": ends["both"].high,
                "low_these_systems": ends["documents"].low,
                "high_these_systems": ends["documents"].high,
                "p": p,
                "recipe": measured.recipe,
            }


_OVER: tuple[Over, ...] = ("both", "documents")


Parts = list[tuple[Study, Measured]]  # one metric in several parts of one study and criterion


def _in_parts(found: Sequence[Study]) -> Iterator[Parts]:
    """The metrics that were held against people in several parts by the same criterion."""
    by_name: dict[tuple[str, ...], Parts] = {}
    for study in found:
        for one in study.metrics:
            name = (study.study, study.criterion, one.metric, one.judge)
            by_name.setdefault(name, []).append((study, one))
    return (parts for parts in by_name.values() if len(parts) > 1)


def _grouped(parts: Parts, options: MetaOptions) -> Iterator[dict[str, object]]:
    """Items grouped by part: the mean of the parts' coefficients, however large the parts are."""
    study, measured = parts[0]
    metric = np.concatenate([one.values.ravel() for _, one in parts])
    human = np.concatenate([part.human.ravel() for part, _ in parts])
    group = np.repeat(np.arange(len(parts)), [one.values.size for _, one in parts])
    draws = draw(
        study.shape,
        resample=options.resample,
        n=options.resamples,
        rng=generator(options.seed, *study.key.values()),
        layout=study.layout,
    )
    for coefficient in get_args(Coefficient):
        value = correlate_groups(metric, human, group, coefficient)
        means = _mean_of_draws(parts, coefficient, draws)
        ends = percentiles(means[:, None], options.confidence)
        yield {
            **study.key,
            "part": EACH_PART,
            "metric": measured.metric,
            "judge": measured.judge,
            "level": "grouped",
            "coefficient": coefficient,
            "value": value.value,
            "low": np.nan,
            "high": np.nan,
            "low_these_systems": float(ends[0][0]),
            "high_these_systems": float(ends[1][0]),
            "n": value.n,
            "n_undefined": value.n_undefined,
            "n_missing": value.n_missing,
            "p": np.nan,
            "recipe": measured.recipe,
        }


def _mean_of_draws(parts: Parts, coefficient: Coefficient, draws: Draws) -> Array:
    """Each resample's mean over the parts; NaN throughout where the parts have other texts.

    The same texts are drawn in every part, as parts of one document belong together.
    """
    first = parts[0][0]
    if any(
        not (part.systems.equals(first.systems) and part.documents.equals(first.documents))
        for part, _ in parts
    ):
        return np.full(len(draws.documents), np.nan)
    of_parts = np.stack(
        [resampled(one.values, part.human, "global", coefficient, draws) for part, one in parts]
    )
    defined = np.count_nonzero(~np.isnan(of_parts), axis=0)
    total = np.nansum(of_parts, axis=0)
    return np.where(defined > 0, total / np.maximum(defined, 1), np.nan)
