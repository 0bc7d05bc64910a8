"""The human ceiling: how well one rater predicts the others, and how far a metric is from it.

Ratings are (raters, systems, documents), NaN where a rater did not rate. Rater and metric are held
against the same thing, the mean of the other raters, at the same level and by the same
coefficient, and averaged over the rater left out.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.arithmetic import Array
from metassay.statistics.correlation import Coefficient, Level, correlate
from metassay.statistics.reliability import mean_of_others
from metassay.statistics.resampling import Draws, resampled


class Ceiling(NamedTuple):
    """How well one rater predicts the others; percentile interval."""

    value: float  # mean over the raters for whom it is defined; NaN if for none
    low: float
    high: float
    n: int  # raters for whom it is defined
    n_undefined: int  # raters for whom it is not
    n_undefined_draws: int  # resamples without a value


class AgainstCeiling(NamedTuple):
    """A metric's prediction of the raters beside a rater's own; percentile intervals."""

    metric: Ceiling  # the metric predicting the mean of all raters but one
    human: Ceiling  # the rater left out doing the same, where the metric scored too
    difference: float  # metric less human; NaN if undefined
    low: float
    high: float  # below 0: below the ceiling; low above 0: above; else not told apart


def human_ceiling(
    ratings: ArrayLike, level: Level, coefficient: Coefficient, *, draws: Draws, confidence: float
) -> Ceiling:
    """Correlate each rater with the mean of the others; average over raters.

    The interval is over `draws` (of `resampling.draw`) of documents or systems; the raters stay.
    Both ends are NaN if fewer than half of the draws have a value. Raises ValueError unless
    ratings are three-dimensional.
    """
    table = _table(ratings)
    values, samples = _predicting(table, table, level, coefficient, draws)
    return _ceiling(values, samples, confidence)


def against_ceiling(
    metric: ArrayLike,
    ratings: ArrayLike,
    level: Level,
    coefficient: Coefficient,
    *,
    draws: Draws,
    confidence: float,
) -> AgainstCeiling:
    """Hold a metric (systems, documents) against the raters' own agreement.

    For each rater, both take part only in the cells that this rater, another one and the metric
    scored: so that neither has the easier texts. Signs count: negate a metric of which less is
    better. Raises ValueError unless shapes fit.
    """
    table, scores = _table(ratings), np.asarray(metric, dtype=np.float64)
    if scores.shape != table.shape[1:]:
        raise ValueError(f"want one system x document shape, got {scores.shape}, {table.shape[1:]}")
    there = np.isfinite(scores) & np.isfinite(table)
    people = np.where(there, table, np.nan)
    copies = np.where(there, scores, np.nan)
    values, samples = _predicting(copies, table, level, coefficient, draws)
    human_values, human_samples = _predicting(people, table, level, coefficient, draws)
    found = _ceiling(values, samples, confidence), _ceiling(human_values, human_samples, confidence)
    difference = found[0].value - found[1].value
    low, high = _ends(_mean(samples) - _mean(human_samples), confidence)
    if np.isnan(difference):
        low = high = np.nan
    return AgainstCeiling(*found, difference, low, high)


def _table(ratings: ArrayLike) -> Array:
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 3:
        raise ValueError(f"want raters x systems x documents, got {table.shape}")
    return table


def _predicting(
    predictions: Array, ratings: Array, level: Level, coefficient: Coefficient, draws: Draws
) -> tuple[Array, Array]:
    # Each rater's stand-in with the mean of the others: (raters,) and (raters, resamples).
    values, samples = [], []
    for rater, prediction in enumerate(predictions):
        others = mean_of_others(ratings, rater)
        values.append(correlate(prediction, others, level, coefficient).value)
        samples.append(resampled(prediction, others, level, coefficient, draws))
    return np.array(values), np.array(samples).reshape(len(values), len(draws.systems))


def _mean(values: Array) -> Array:
    # Over the raters where defined, along the first axis.
    known = ~np.isnan(values)
    count = np.sum(known, axis=0)
    total = np.sum(np.where(known, values, 0.0), axis=0)
    mean: Array = np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0)
    return mean


def _ends(samples: Array, confidence: float) -> tuple[float, float]:
    defined = samples[~np.isnan(samples)]
    if not defined.size or 2 * defined.size < samples.size:
        return np.nan, np.nan
    low, high = np.quantile(defined, ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0))
    return float(low), float(high)


def _ceiling(values: Array, samples: Array, confidence: float) -> Ceiling:
    means = _mean(samples)
    known = values[~np.isnan(values)]
    value = float(np.mean(known)) if known.size else np.nan
    low, high = _ends(means, confidence) if known.size else (np.nan, np.nan)
    undefined = int(np.count_nonzero(np.isnan(means)))
    return Ceiling(value, low, high, known.size, values.size - known.size, undefined)
