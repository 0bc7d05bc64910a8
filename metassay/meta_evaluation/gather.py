"""What every table of verdicts rests on: each metric's correlations, leave-outs and exact tests."""

from collections.abc import Callable, Sequence
from math import factorial
from typing import NamedTuple

import numpy as np

from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Measured, Study, generator
from metassay.statistics.arithmetic import Array
from metassay.statistics.components import PARTS_OF_LEVEL, Relation
from metassay.statistics.correlation import LEVELS, Level
from metassay.statistics.independence import (
    Independence,
    Side,
    independence_test,
    nested_test,
)
from metassay.statistics.jackknife import LeftOut, left_out
from metassay.statistics.prepared import prepared


class AtLevel(NamedTuple):
    """One level of a study. Arrays have a row per metric of `Study.metrics`, in that order."""

    relations: tuple[Relation, ...]  # the level itself first, then what it is made of
    left: tuple[LeftOut, ...]  # of the level itself, by options.coefficient
    p: Array  # (metrics, relations) of the one relation alone
    p_adjusted: Array  # (metrics, relations) for all directed metrics; NaN for the others
    signs: Array  # (metrics, relations) 1 or -1: metric and people agree or disagree there
    smallest_p: float  # below which no p can lie, so few are the orders; NaN without a test


class Gathered(NamedTuple):
    """A study and what was found in it, by level."""

    study: Study
    levels: dict[Level, AtLevel]


def gather(
    found: Sequence[Study],
    options: MetaOptions,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[Gathered]:
    """Test and leave out, once for all tables. `progress(done, total)` counts study and level."""
    total = len(found) * len(LEVELS)
    gathered = []
    for place, study in enumerate(found):
        levels: dict[Level, AtLevel] = {}
        for step, level in enumerate(LEVELS):
            levels[level] = _at(study, level, options)
            if progress is not None:
                progress(place * len(LEVELS) + step + 1, total)
        gathered.append(Gathered(study, levels))
    return gathered


def relations_of(study: Study, level: Level) -> tuple[Relation, ...]:
    """The level itself and what it is made of; where nothing is crossed, texts are documents."""
    parts = () if level == "system" else PARTS_OF_LEVEL[level]
    if study.nested:
        parts = tuple(part for part in parts if part != "between_documents")
    return (level, *parts)


def sides(study: Study, values: Array, level: Level, options: MetaOptions) -> Side:
    """One matrix prepared for the relations of a level.

    Where nothing is crossed, scores of texts that nobody rated take no part: each document is its
    one text.
    """
    if study.nested:
        values = np.where(np.isfinite(study.human), values, np.nan)
    return {
        relation: prepared(values, relation, options.coefficient)
        for relation in relations_of(study, level)
    }


def run_test(
    study: Study, metrics: Sequence[Side], human: Side, level: Level, options: MetaOptions
) -> Independence | None:
    """The test of a study's design; None where there is nothing to put in another order."""
    if not metrics or (study.nested and level == "document"):
        return None
    # The same orders for every metric and confound: another one changes nothing.
    rng = generator(options.seed, "orders", *study.key.values(), level)
    shape = (len(study.systems), len(study.documents))
    if study.nested and level == "global":
        system = np.argmax(np.isfinite(study.human), axis=0)
        return nested_test(metrics, human, system, shape[0], n=options.permutations, rng=rng)
    return independence_test(metrics, human, shape, n=options.permutations, rng=rng)


def _at(study: Study, level: Level, options: MetaOptions) -> AtLevel:
    relations = relations_of(study, level)
    human = sides(study, study.oriented, level, options)
    each = [sides(study, one.oriented, level, options) for one in study.metrics]
    left = tuple(
        left_out(one.oriented, study.oriented, level, options.coefficient) for one in study.metrics
    )
    tested = run_test(study, each, human, level, options)
    shape = (len(study.metrics), len(relations))
    if tested is None:
        nothing = np.full(shape, np.nan)
        return AtLevel(relations, left, nothing, nothing, nothing, np.nan)
    directed = np.array([one.better != "neither" for one in study.metrics], dtype=bool)
    adjusted = np.full(shape, np.nan)
    if directed.any():
        adjusted[directed] = tested.adjusted(directed)
    orders = float(factorial(min(len(study.systems), 20)))
    if level != "system":
        orders *= factorial(min(len(study.documents), 20))
    smallest = 2.0 / min(tested.n_orders, orders)
    return AtLevel(relations, left, tested.p, adjusted, tested.signs, min(1.0, smallest))


def holding(side: Side, control: Side | None) -> Side:
    """A prepared side with a control, or the system (None), held constant in each relation."""
    return {
        relation: one.less_row_means() if control is None else one.without(control[relation])
        for relation, one in side.items()
    }


def directed_places(study: Study) -> list[tuple[int, Measured]]:
    """The metrics that say which text is better, with their places in `Study.metrics`."""
    return [(i, one) for i, one in enumerate(study.metrics) if one.better != "neither"]
