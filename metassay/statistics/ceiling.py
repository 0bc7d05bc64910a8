"""The human ceiling: how well one rater predicts the others, and how far a metric is from it.

Ratings are (raters, systems, documents), NaN where a rater did not rate. Rater and metric are held
against the same thing, the mean of the other raters, on the same texts, at the same level and by
the same coefficient, and averaged over the rater left out.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.arithmetic import Array
from metassay.statistics.correlation import Coefficient, Level
from metassay.statistics.jackknife import LeftOut, left_out
from metassay.statistics.reliability import mean_of_others

Known = dict[tuple[int, bytes], LeftOut]  # a rater's own, by rater and cells; see `against_rater`


class AgainstRater(NamedTuple):
    """How a metric and a rater predict the other raters, with leave-outs for intervals."""

    metric: LeftOut  # the metric predicting the mean of all raters but one
    rater: LeftOut  # the rater left out doing the same, where the metric scored too
    difference: LeftOut  # metric less rater
    n: int  # raters for whom both are defined
    n_undefined: int  # raters for whom one is not


def against_rater(
    metric: ArrayLike,
    ratings: ArrayLike,
    level: Level,
    coefficient: Coefficient,
    *,
    known: Known | None = None,
) -> AgainstRater:
    """Hold a metric (systems, documents) against the raters' own agreement.

    For each rater, both take part only in the cells that this rater, another one and the metric
    scored: so that neither has the easier texts. Signs count: negate a metric of which less is
    better. `known` keeps the raters' own correlations for the next metric of the same ratings,
    level and coefficient. Raises ValueError unless shapes fit.
    """
    table, scores = np.asarray(ratings, np.float64), np.asarray(metric, np.float64)
    if table.ndim != 3 or scores.shape != table.shape[1:]:
        raise ValueError(
            f"want raters x systems x documents and one system x document shape, got"
            f" {table.shape}, {scores.shape}"
        )
    known = {} if known is None else known
    metrics, raters = [], []
    for rater, mine in enumerate(table):
        others = mean_of_others(table, rater)
        there = np.isfinite(scores) & np.isfinite(mine)
        metrics.append(left_out(np.where(there, scores, np.nan), others, level, coefficient))
        cells = (rater, there.tobytes())
        if cells not in known:
            known[cells] = left_out(np.where(there, mine, np.nan), others, level, coefficient)
        raters.append(known[cells])
    both = [i for i in range(len(table)) if not np.isnan(metrics[i].value + raters[i].value)]
    metric_mean = _mean([metrics[i] for i in both], scores.shape)
    rater_mean = _mean([raters[i] for i in both], scores.shape)
    difference = LeftOut(
        metric_mean.value - rater_mean.value,
        metric_mean.systems - rater_mean.systems,
        metric_mean.documents - rater_mean.documents,
    )
    return AgainstRater(metric_mean, rater_mean, difference, len(both), len(table) - len(both))


def _mean(found: list[LeftOut], shape: tuple[int, ...]) -> LeftOut:
    # Over raters; a leave-out counts only if it is defined for all of them.
    if not found:
        return LeftOut(np.nan, np.full(shape[0], np.nan), np.full(shape[1], np.nan))
    value = float(np.mean([one.value for one in found]))
    systems: Array = np.mean([one.systems for one in found], axis=0)
    documents: Array = np.mean([one.documents for one in found], axis=0)
    return LeftOut(value, systems, documents)
