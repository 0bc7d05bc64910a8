"""What every table of verdicts rests on: each metric's correlations, leave-outs and exact tests."""

from collections.abc import Callable, Sequence
from functools import partial
from math import factorial, prod
from typing import NamedTuple

import numpy as np

from metassay.executor.record import LOCAL, Executor
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Measured, Study, generator
from metassay.statistics.components import BETWEEN, PARTS_OF_LEVEL, Relation, rests_on
from metassay.statistics.correlation import LEVELS, Level
from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.independence import (
    Independence,
    Orders,
    draw_orders_within,
    independence_test,
    nested_test,
    prepared,
    stratified,
)
from metassay.statistics.jackknife import LeftOut, left_out
from metassay.statistics.layout import Part, exchangeable, family_means


class AtLevel(NamedTuple):
    """One level of a study. Arrays have a row per metric of `Study.metrics`, in that order."""

    relations: tuple[Relation, ...]  # the level itself first, then what it is made of
    left: LeftOut  # of the level itself, by options.coefficient
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
    executor: Executor = LOCAL,
) -> list[Gathered]:
    """Test and leave out, once for all tables. `progress(done, total)` counts study and level.

    An executor's workers are counted by its own progress.
    """
    each = [(study, level) for study in found for level in LEVELS]
    told = None if executor.remote else progress
    levels = (one for shard in executor.map(gather_levels, each, options, told) for one in shard)
    return [Gathered(study, {level: next(levels) for level in LEVELS}) for study in found]


def gather_levels(
    shard: Sequence[tuple[Study, Level]],
    options: MetaOptions,
    progress: Callable[[int, int], None] | None = None,
) -> list[AtLevel]:
    """Some levels of some studies."""
    found = []
    for study, level in shard:
        found.append(gather_level(study, level, options))
        if progress is not None:
            progress(len(found), len(shard))
    return found


def relations_of(study: Study, level: Level) -> tuple[Relation, ...]:
    """The level itself and what it is made of; where nothing is crossed, texts are documents."""
    parts = () if level == "system" else PARTS_OF_LEVEL[level]
    if study.nested:
        parts = tuple(part for part in parts if part != "between_documents")
    return (level, *parts)


def run_test(
    study: Study, metrics: Array, human: Array, level: Level, options: MetaOptions
) -> Independence | None:
    """The test of a study's design; None where there is nothing to put in another order.

    `metrics`, `human`: (systems, documents), turned so that more is better. Strata are tested each
    by its own orders, families by their means.
    """
    if not len(metrics):
        return None
    layout = study.layout
    parts = layout.parts(np.isfinite(study.human))
    if layout.n_strata == 1:
        # The same orders for every metric and confound: another one changes nothing.
        rng = generator(options.seed, "orders", *study.key.values(), level)
        return _test_part(study, parts[0], (metrics, human), level, options, rng)
    sets = exchangeable(parts, layout.n_families)
    rng = generator(options.seed, "orders", *study.key.values(), level)
    rows = draw_orders_within(sets, options.permutations, rng).systems
    tested, weights = [], []
    for number, part in enumerate(parts):
        rng = generator(options.seed, "orders", *study.key.values(), level, f"stratum {number}")
        # Orders of all families as orders of the stratum's; they take each other's places only.
        place = np.full(rows.shape[1], -1, dtype=np.intp)
        place[part.families] = np.arange(part.families.size)
        orders = Orders(place[rows[:, part.families]], len(rows), False)
        one = _test_part(study, part, (metrics, human), level, options, rng, orders)
        if one is not None:
            tested.append(one)
            present = np.isfinite(part.of(study.human))
            weights.append([_weight(present, which) for which in relations_of(study, level)])
    return stratified(tested, np.array(weights)) if tested else None


def _weight(present: Mask, relation: Relation) -> float:
    """What a stratum's statistic counts: its texts, documents with two texts, or means less 1."""
    n = rests_on(present, relation)
    return float(max(0, n - 1) if relation in BETWEEN else n)


def _test_part(
    study: Study,
    part: Part,
    scores: tuple[Array, Array],
    level: Level,
    options: MetaOptions,
    rng: np.random.Generator,
    orders: Orders | None = None,
) -> Independence | None:
    """The test of one stratum; its families' means stand for their systems."""
    family = part.layout.family
    metrics = np.stack([family_means(part.of(one), family) for one in scores[0]])
    human = family_means(part.of(scores[1]), family)
    present = np.isfinite(human)
    nested = bool(np.all(present.sum(axis=0) <= 1))
    if nested and level == "document":
        return None
    if nested:
        # Scores of texts that nobody rated take no part: each document is its one text.
        metrics = np.where(present, metrics, np.nan)
    relations = [
        one for one in relations_of(study, level) if not (nested and one == "between_documents")
    ]
    each, people = (
        {relation: prepared(side, relation, options.coefficient) for relation in relations}
        for side in (metrics, human)
    )
    if nested and level == "global":
        system = np.argmax(present, axis=0)
        test = partial(nested_test, each, people, system, len(human))
    else:
        test = partial(independence_test, each, people, (len(human), human.shape[1]))
    cluster = part.layout.cluster if part.layout.clustered else None
    tested = test(n=options.permutations, rng=rng, cluster=cluster, orders=orders)
    wanted = relations_of(study, level)
    return tested.of_relations([relations.index(r) if r in relations else -1 for r in wanted])


def gather_level(study: Study, level: Level, options: MetaOptions) -> AtLevel:
    """One level of one study."""
    relations = relations_of(study, level)
    each = study.values(study.metrics)
    left = left_out(each, study.oriented, level, options.coefficient, study.layout)
    tested = run_test(study, each, study.oriented, level, options)
    shape = (len(study.metrics), len(relations))
    if tested is None:
        nothing = np.full(shape, np.nan)
        return AtLevel(relations, left, nothing, nothing, nothing, np.nan)
    adjusted = np.full(shape, np.nan)
    directed = np.array([one.better != "neither" for one in study.metrics], dtype=bool)
    primary = np.array([options.is_primary(one.metric, one.label) for one in study.metrics])
    if directed.any():
        adjusted[directed] = tested.adjusted(directed)
    for place in np.flatnonzero(directed & primary):
        alone = np.arange(len(directed)) == place
        adjusted[alone] = tested.adjusted(alone)
    smallest = 2.0 / min(tested.n_orders, _orders_there_are(study, level))
    return AtLevel(relations, left, tested.p, adjusted, tested.signs, min(1.0, smallest))


def _orders_there_are(study: Study, level: Level) -> float:
    """In how many orders systems and documents, or signs of clusters, can be; up to 20! of each."""
    layout = study.layout
    parts = layout.parts(np.isfinite(study.human))
    sets = np.bincount(exchangeable(parts, layout.n_families))
    orders = float(prod(factorial(min(int(n), 20)) for n in sets))
    if level == "system":
        return orders
    for part in parts:
        n, clustered = part.layout.n_clusters, part.layout.clustered
        orders *= 2.0 ** min(n, 60) if clustered else factorial(min(n, 20))
    return orders


def directed_places(study: Study) -> list[tuple[int, Measured]]:
    """The metrics that say which text is better, with their places in `Study.metrics`."""
    return [(i, one) for i, one in enumerate(study.metrics) if one.better != "neither"]
