"""The human ceiling: how well one rater predicts the others, and how far a metric is from it.

Ratings are (raters, systems, documents), NaN where a rater did not rate. Rater and metric are held
against the same thing, the mean of the other raters, on the same texts of the same documents, at
the same level and by the same coefficient, and averaged over the rater left out.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.agreement import mean_of_others
from metassay.statistics.correlation import EVERY_COEFFICIENT, Coefficient, Level
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.jackknife import (
    Counted,
    LeftOut,
    left_out,
    left_out_documents,
    over_strata,
)
from metassay.statistics.layout import Layout, Part, plain

Known = dict[tuple[int, bytes], LeftOut]  # a rater's own, by rater and cells; see `against_rater`


class AgainstRater(NamedTuple):
    """How a metric and a rater predict the other raters, with leave-outs for intervals."""

    metric: LeftOut  # the metric predicting the mean of all raters but one
    rater: LeftOut  # the rater left out doing the same, on the same texts and documents
    difference: LeftOut  # metric less rater
    n: int  # raters for whom both are defined
    n_undefined: int  # raters for whom one is not
    n_compared: int  # texts, documents or systems that both rest on: the fewest of any rater


def against_rater(
    metric: ArrayLike,
    ratings: ArrayLike,
    level: Level,
    coefficient: Coefficient,
    *,
    layout: Layout | None = None,
    known: Known | None = None,
) -> AgainstRater:
    """Hold a metric (systems, documents) against the raters' own agreement.

    For each rater, both take part only in the cells that this rater, another one and the metric
    scored; at document level, only in the documents in which this rater and the others tell these
    texts apart. There a metric that does not tell them apart counts 0: it does not get the mean of
    the documents that suit it. Signs count: negate a metric of which less is better. `known` keeps
    the raters' own correlations for the next metric of the same ratings, level and coefficient.
    Raises ValueError unless shapes fit.
    """
    table, scores = np.asarray(ratings, np.float64), np.asarray(metric, np.float64)
    if table.ndim != 3 or scores.shape != table.shape[1:]:
        raise ValueError(
            f"want raters x systems x documents and one system x document shape, got"
            f" {table.shape}, {scores.shape}"
        )
    known, layout = {} if known is None else known, layout or plain(scores.shape)
    metrics, raters, compared = [], [], []
    for rater, mine in enumerate(table):
        others = mean_of_others(table, rater)
        there = np.isfinite(scores) & np.isfinite(mine) & np.isfinite(others)
        a, b, c = (np.where(there, side, np.nan) for side in (scores, mine, others))
        cells = (rater, there.tobytes())
        if level == "document":
            of_metric, of_rater, n = _by_document(a, b, c, coefficient, layout)
        else:
            of_metric = left_out(a, c, level, coefficient, layout)
            of_rater = known.get(cells) or left_out(b, c, level, coefficient, layout)
            n = int(np.count_nonzero(there if level == "global" else there.any(axis=1)))
        known[cells] = of_rater
        metrics.append(of_metric)
        raters.append(of_rater)
        compared.append(n)
    both = [i for i in range(len(table)) if not np.isnan(metrics[i].value + raters[i].value)]
    if not both:
        nothing = left_out(np.full(scores.shape, np.nan), scores, level, coefficient, layout)
        return AgainstRater(nothing, nothing, nothing, 0, len(table), 0)
    metric_mean = _mean([metrics[i] for i in both])
    rater_mean = _mean([raters[i] for i in both])
    difference = metric_mean._replace(
        value=metric_mean.value - rater_mean.value,
        systems=metric_mean.systems - rater_mean.systems,
        documents=metric_mean.documents - rater_mean.documents,
    )
    n_undefined = len(table) - len(both)
    fewest = min(compared[i] for i in both)
    return AgainstRater(metric_mean, rater_mean, difference, len(both), n_undefined, fewest)


def _by_document(
    metric: Array, rater: Array, others: Array, coefficient: Coefficient, layout: Layout
) -> tuple[LeftOut, LeftOut, int]:
    """Both over the documents in which the rater has a coefficient; a metric without one has 0."""
    of = EVERY_COEFFICIENT[coefficient]

    def left_of(part: Part, *, of_metric: bool) -> Counted:
        sides = [part.of(side) for side in (metric, rater, others)]

        def values(rows: Mask) -> Array:
            mine, by_rater, known = (side[rows].T for side in sides)
            of_rater = of(by_rater, known)
            if not of_metric:
                return of_rater
            return np.where(np.isnan(of_rater), np.nan, np.nan_to_num(of(mine, known)))

        n = int(np.count_nonzero(~np.isnan(of(sides[1].T, sides[2].T))))
        return Counted(left_out_documents(values, np.isfinite(sides[2]), part.layout), n)

    found = [
        over_strata(partial(left_of, of_metric=one), np.isfinite(others), layout, "document")
        for one in (True, False)
    ]
    n = int(np.count_nonzero(~np.isnan(of(rater.T, others.T))))
    return found[0], found[1], n


def _mean(found: list[LeftOut]) -> LeftOut:
    # Over raters; a leave-out counts only if it is defined for all of them.
    return found[0]._replace(
        value=float(np.mean([one.value for one in found])),
        systems=np.mean([one.systems for one in found], axis=0),
        documents=np.mean([one.documents for one in found], axis=0),
    )
