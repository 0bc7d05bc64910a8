"""Run the exact tests and leave-outs of each metric's correlations, shared by several tables."""

from collections.abc import Callable, Sequence
from functools import partial
from math import factorial, prod
from typing import NamedTuple

import numpy as np

from metassay.executor.record import LOCAL, Executor
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Study
from metassay.statistics.components import BETWEEN, PARTS_OF_LEVEL, Relation, rests_on
from metassay.statistics.correlation import LEVELS, Level
from metassay.statistics.exact_sums import Array
from metassay.statistics.independence import (
    Independence,
    Orders,
    combine_strata,
    draw_orders_within,
    independence_test,
    nested_test,
    prepare,
)
from metassay.statistics.jackknife import LeaveOneOut, leave_out
from metassay.statistics.layout import Part, family_means, family_sets
from metassay.statistics.resampling import generator


class LevelTests(NamedTuple):
    """One level of a study. Arrays have a row per metric of `Study.metrics`, in that order."""

    relations: tuple[Relation, ...]  # the level first, then its components
    left: LeaveOneOut  # of the level, by options.coefficient
    p: Array  # (metrics, relations) of each relation alone
    # (metrics, relations) for all directed metrics; NaN for the others
    p_adjusted: Array
    # (metrics, relations) 1 where metric and people agree, -1 where they disagree
    signs: Array
    # the smallest p that the number of orders allows; NaN without a test
    smallest_p: float


class StudyTests(NamedTuple):
    """A study and its tests, by level."""

    study: Study
    levels: dict[Level, LevelTests]


def run_tests(
    studies: Sequence[Study],
    options: MetaOptions,
    *,
    progress: Callable[[int, int], None] | None = None,
    executor: Executor = LOCAL,
) -> list[StudyTests]:
    """Run tests and leave-outs of all studies. `progress(done, total)` counts study and level.

    A remote executor shows its own progress instead.
    """
    families = [(study, level) for study in studies for level in LEVELS]
    shards = executor.map(
        run_levels, families, options, None if executor.remote else progress
    )
    levels = (tests for shard in shards for tests in shard)
    return [
        StudyTests(study, {level: next(levels) for level in LEVELS})
        for study in studies
    ]


def run_levels(
    shard: Sequence[tuple[Study, Level]],
    options: MetaOptions,
    progress: Callable[[int, int], None] | None = None,
) -> list[LevelTests]:
    """Run the tests of some levels of some studies."""
    tests = []
    for study, level in shard:
        tests.append(run_level(study, level, options))
        if progress is not None:
            progress(len(tests), len(shard))
    return tests


def relations_of(study: Study, level: Level) -> tuple[Relation, ...]:
    """Return the level and its components, without documents where each has a single text."""
    parts = () if level == "system" else PARTS_OF_LEVEL[level]
    if study.nested:
        parts = tuple(part for part in parts if part != "between_documents")
    return (level, *parts)


def run_test(
    study: Study, metrics: Array, human: Array, level: Level, options: MetaOptions
) -> Independence | None:
    """Run the test that fits the study's design; return None where there is nothing to permute.

    `metrics` (metrics, systems, documents) and `human` (systems, documents) are turned
    so that more is better. Each stratum is permuted by itself; families are tested by
    their means.
    """
    if not len(metrics):
        return None
    layout = study.layout
    parts = layout.parts(np.isfinite(study.human))
    # All metrics and confounds share these orders, so that another one changes no
    # result.
    rng = generator(options.seed, "orders", *study.key.values(), level)
    if layout.n_strata == 1:
        return _test_part(study, parts[0], (metrics, human), level, options, rng)
    sets = family_sets(parts, layout.n_families)
    rows = draw_orders_within(sets, options.permutations, rng).systems
    tests, weights = [], []
    for number, part in enumerate(parts):
        rng = generator(
            options.seed, "orders", *study.key.values(), level, f"stratum {number}"
        )
        # Families of a stratum take each other's places only.
        place = np.full(rows.shape[1], -1, dtype=np.intp)
        place[part.families] = np.arange(part.families.size)
        orders = Orders(place[rows[:, part.families]], len(rows), False)
        test = _test_part(study, part, (metrics, human), level, options, rng, orders)
        if test is not None:
            tests.append(test)
            present = np.isfinite(part.of(study.human))
            # Strata weigh by texts, documents with two texts, or their number of means
            # less 1.
            counts = {
                name: rests_on(present, name) for name in relations_of(study, level)
            }
            weights.append(
                [max(0, n - (name in BETWEEN)) for name, n in counts.items()]
            )
    return combine_strata(tests, np.array(weights, dtype=np.float64)) if tests else None


def _test_part(
    study: Study,
    part: Part,
    scores: tuple[Array, Array],
    level: Level,
    options: MetaOptions,
    rng: np.random.Generator,
    orders: Orders | None = None,
) -> Independence | None:
    """Run the test of one stratum, with the means of families in place of their systems."""
    family = part.layout.family
    metrics = np.stack([family_means(part.of(metric), family) for metric in scores[0]])
    human = family_means(part.of(scores[1]), family)
    present = np.isfinite(human)
    nested = bool(np.all(present.sum(axis=0) <= 1))
    if nested and level == "document":
        return None
    if nested:
        # Each document is its single rated text: scores of unrated texts take no part.
        metrics = np.where(present, metrics, np.nan)
    of_study = relations_of(study, level)
    relations = [
        name for name in of_study if not (nested and name == "between_documents")
    ]
    standardized, people = (
        {
            relation: prepare(side, relation, options.coefficient)
            for relation in relations
        }
        for side in (metrics, human)
    )
    if nested and level == "global":
        system = np.argmax(present, axis=0)
        run = partial(nested_test, standardized, people, system, len(human))
    else:
        run = partial(
            independence_test, standardized, people, (len(human), human.shape[1])
        )
    cluster = part.layout.cluster if part.layout.clustered else None
    test = run(n=options.permutations, rng=rng, cluster=cluster, orders=orders)
    return test.of_relations(
        [relations.index(r) if r in relations else -1 for r in of_study]
    )


def run_level(study: Study, level: Level, options: MetaOptions) -> LevelTests:
    """Run the tests of one level of one study."""
    relations = relations_of(study, level)
    metrics = study.values(study.metrics)
    left = leave_out(metrics, study.oriented, level, options.coefficient, study.layout)
    test = run_test(study, metrics, study.oriented, level, options)
    adjusted = np.full((len(study.metrics), len(relations)), np.nan)
    if test is None:
        return LevelTests(relations, left, adjusted, adjusted, adjusted, np.nan)
    directed = np.isin(np.arange(len(study.metrics)), study.places)
    primary = np.array([options.is_primary(m.metric, m.label) for m in study.metrics])
    if directed.any():
        adjusted[directed] = test.adjusted(directed)
    for place in np.flatnonzero(directed & primary):
        alone = np.arange(len(directed)) == place
        adjusted[alone] = test.adjusted(alone)
    smallest = 2.0 / min(test.n_orders, _count_orders(study, level))
    return LevelTests(relations, left, test.p, adjusted, test.signs, min(1.0, smallest))


def _count_orders(study: Study, level: Level) -> float:
    """Count the orders of systems and documents, or signs of clusters; at most 20! of each."""
    layout = study.layout
    parts = layout.parts(np.isfinite(study.human))
    sets = np.bincount(family_sets(parts, layout.n_families))
    orders = float(prod(factorial(min(int(n), 20)) for n in sets))
    if level == "system":
        return orders
    for part in parts:
        n, clustered = part.layout.n_clusters, part.layout.clustered
        orders *= 2.0 ** min(n, 60) if clustered else factorial(min(n, 20))
    return orders
