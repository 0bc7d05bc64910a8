"""Adjust p and intervals for all that was tried: metrics, criteria, and metrics elsewhere.

The best of many is partly the luckiest. So each metric is adjusted for all metrics and all
criteria (and parts) of its study, unless one was named before anybody saw the ratings.
"""

from collections.abc import Callable, Sequence

import numpy as np

from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Study
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.independence import Independence, step_down
from metassay.statistics.jackknife import LeaveOneOut, deviations, joint_confidence

# Metrics (metrics,) of each study of a group that are adjusted together.
Family = tuple[Mask, ...]


def families(studies: Sequence[Study], options: MetaOptions) -> list[Family]:
    """Return which metrics of which criteria are adjusted together; later ones go first.

    `studies`: the criteria and parts of one study. A primary metric is adjusted for the
    criteria alone, a primary criterion for the metrics alone. Metrics that were fitted on
    the ratings are in no family.
    """
    directed = tuple(_directed(study, options) for study in studies)
    labels = {
        metric.label
        for study in studies
        for metric in study.metrics
        if options.is_primary(metric.metric, metric.label)
    }
    every: list[Family] = [directed]
    for label in sorted(labels):
        of_label = [
            np.array([metric.label == label for metric in study.metrics], bool)
            for study in studies
        ]
        family = zip(directed, of_label, strict=True)
        every.append(tuple(mask & chosen for mask, chosen in family))
    named = [study.criterion == options.primary_criterion for study in studies]
    if any(named):
        every += [
            tuple(mask & chosen for mask, chosen in zip(family, named, strict=True))
            for family in every
        ]
    return [family for family in every if any(mask.any() for mask in family)]


def _directed(study: Study, options: MetaOptions) -> Mask:
    return np.array(
        [
            metric.better != "neither"
            and not options.is_fitted(metric.metric, metric.label)
            for metric in study.metrics
        ],
        dtype=bool,
    )


def count_tried(studies: Sequence[Study], options: MetaOptions) -> list[Array]:
    """Return how many metrics and criteria each metric (metrics,) is adjusted for.

    A metric by a criterion counts as one; each that was the best of several elsewhere
    counts for all of these. NaN for metrics in no family.
    """

    def count(family: Family) -> list[Array]:
        n = sum(int(mask.sum()) for mask in family) * options.tried
        return [np.where(mask, float(n), np.nan) for mask in family]

    return _last_of(studies, options, count)


def adjust(
    studies: Sequence[Study],
    tests: Sequence[Independence | None],
    options: MetaOptions,
) -> list[Array]:
    """Return p (metrics, relations) of each study, adjusted (step-down max-T).

    `tests`: of the criteria and parts of a study, by one and the same plan; None where a
    study has no such test. NaN for metrics in no family, and all NaN without a test.
    """

    def move_family(family: Family) -> list[Array]:
        by_orders: dict[int, list[int]] = {}
        for place, (test, mask) in enumerate(zip(tests, family, strict=True)):
            if test is not None and mask.any():
                by_orders.setdefault(test.n_orders, []).append(place)
        p: list[Array] = [np.full(_shape(study, test), np.nan) for study, test in pairs]
        for places in by_orders.values():
            rows = [_statistics(tests[place], family[place]) for place in places]
            shrink = next(test.shrink for test in tests if test is not None)
            together = step_down(np.concatenate(rows), shrink)
            # Orders of other numbers of systems and documents are not comparable.
            together = np.minimum(1.0, together * len(by_orders))
            ends = np.cumsum([len(some) for some in rows])[:-1]
            for place, some in zip(places, np.split(together, ends), strict=True):
                p[place][family[place]] = some.reshape(-1, p[place].shape[1])
        if options.tried == 1:  # as they are, to the last digit
            return p
        return [1.0 - (1.0 - some) ** options.tried for some in p]

    pairs = list(zip(studies, tests, strict=True))
    return _last_of(studies, options, move_family)


def _shape(study: Study, test: Independence | None) -> tuple[int, int]:
    return len(study.metrics), 1 if test is None else test.statistics.shape[1]


def _statistics(test: Independence | None, chosen: Mask) -> Array:
    assert test is not None
    return test.statistics[chosen].reshape(-1, test.n_orders)


def together(
    studies: Sequence[Study],
    lefts: Sequence[LeaveOneOut],
    options: MetaOptions,
    rng: Callable[[], np.random.Generator],
) -> list[Array]:
    """Return the confidence (metrics,) at which all intervals of a family hold at once.

    `lefts`: leave-outs of each study's metrics. NaN for metrics in no family.
    """

    def move_family(family: Family) -> list[Array]:
        moves = []
        columns: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}
        for study, left, mask in zip(studies, lefts, family, strict=True):
            chosen = mask & ~np.isnan(left.value)
            # Criteria of the same texts move together; others count as independent.
            texts = tuple(study.systems), tuple(study.documents)
            block = columns.setdefault(texts, len(columns))
            moves.append((block, deviations(left.take(chosen))))
        stacked = _stack_blocks(moves)
        sure = joint_confidence(stacked, confidence=options.confidence, rng=rng())
        sure **= 1.0 / options.tried  # which leaves it as it is where nothing was tried
        return [np.where(mask, sure, np.nan) for mask in family]

    return _last_of(studies, options, move_family)


def _stack_blocks(moves: Sequence[tuple[int, Array]]) -> Array:
    """Stack rows; those of different blocks have no columns in common."""
    widths: dict[int, int] = {}
    for block, rows in moves:
        widths[block] = max(widths.get(block, 0), rows.shape[1])
    starts = dict(zip(widths, np.cumsum([0, *widths.values()])[:-1], strict=True))
    stacked = np.zeros((sum(len(rows) for _, rows in moves), sum(widths.values())))
    first = 0
    for block, rows in moves:
        last = first + len(rows)
        stacked[first:last, starts[block] : starts[block] + rows.shape[1]] = rows
        first = last
    return stacked


def _last_of(
    studies: Sequence[Study],
    options: MetaOptions,
    move_family: Callable[[Family], list[Array]],
) -> list[Array]:
    """Compute values of each family; where a metric is in several, the last one holds."""

    nobody = tuple(np.zeros(len(study.metrics), dtype=bool) for study in studies)
    values = move_family(nobody)
    for family in families(studies, options):
        of_these = move_family(family)
        for value, other, mask in zip(values, of_these, family, strict=True):
            value[mask] = other[mask]
    return values
