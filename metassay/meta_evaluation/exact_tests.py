"""Run the exact tests and leave-outs of each metric's correlations, shared by several tables.

A test that reorders systems takes them for exchangeable, which versions of one system
are not. One that reorders documents takes these for exchangeable, which documents of
one topic are not. Where the user does not say which systems and documents belong
together, a relation must show in both tests, each of which reorders one of the two
alone: versions mislead the first, topics the second, and neither misleads both.
docs/calibration.md has the error rates.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import factorial, prod
from typing import Literal, NamedTuple

import numpy as np

from metassay.executor.record import LOCAL, Executor
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Study
from metassay.statistics.components import BETWEEN, PARTS_OF_LEVEL, Relation, rests_on
from metassay.statistics.correlation import LEVELS, Level
from metassay.statistics.exact_sums import Array, Mask, mean_without_gaps
from metassay.statistics.independence import (
    Exchange,
    Independence,
    Orders,
    combine_strata,
    draw_orders,
    draw_orders_within,
    independence_test,
    nested_test,
    prepare,
)
from metassay.statistics.jackknife import LeaveOneOut, leave_out
from metassay.statistics.layout import Part, family_means, family_sets
from metassay.statistics.random_numbers import generator

EQUAL = 1e-9  # shares of orders can equal the level exactly: 6 of 120


# Whether a relation must show in a test, or does so if it shows in this one alone; a
# hint says what is lacking.
Role = Literal["required", "enough", "hint"]


class Plan(NamedTuple):
    """What a test puts in other orders, which relations it tests, and what it is for."""

    exchange: Exchange
    relations: tuple[Relation, ...]
    role: Role


class Reordering(NamedTuple):
    """A test of all metrics by a plan."""

    plan: Plan
    test: Independence
    # whether it has enough orders for a p below 1 - confidence
    decisive: bool


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
    # p_adjusted of each test, required or not
    p_alone: Mapping[Exchange, Array]


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


def run_level(study: Study, level: Level, options: MetaOptions) -> LevelTests:
    """Run the tests of one level of one study."""
    relations = relations_of(study, level)
    metrics = study.values(study.metrics)
    left = leave_out(metrics, study.oriented, level, options.coefficient, study.layout)
    tests = reorder(study, (metrics, study.oriented), level, options)
    adjusted = np.full((len(study.metrics), len(relations)), np.nan)
    if not tests:
        return LevelTests(relations, left, adjusted, adjusted, adjusted, np.nan, {})
    p, signs = require_all(tests, lambda test: test.p)
    plain = [each for each in tests if each.plan.role != "enough"]
    alone = {each.plan.exchange: adjusted.copy() for each in plain}
    for chosen in _families(study, options):
        adjusted[chosen] = require_all(tests, partial(_adjusted_in, chosen))[0][chosen]
        for each in plain:
            agrees = each.test.signs == np.sign(left.value)[:, None]
            of_test = np.where(agrees[chosen], each.test.adjusted(chosen), np.nan)
            alone[each.plan.exchange][chosen] = of_test
    required = [each for each in plain if each.plan.role == "required"]
    decisive = [each for each in required if each.decisive]
    smallest = max(_smallest_p(study, each) for each in decisive or required)
    return LevelTests(relations, left, p, adjusted, signs, smallest, alone)


def _families(study: Study, options: MetaOptions) -> list[Mask]:
    """Return sets of metrics (metrics,) that are adjusted together; later ones hold.

    A metric chosen before seeing the data is not the best of many.
    """
    directed = np.isin(np.arange(len(study.metrics)), study.places)
    primary = [options.is_primary(m.metric, m.label) for m in study.metrics]
    places = np.flatnonzero(directed & primary)
    alone = [np.arange(len(directed)) == place for place in places]
    return [directed, *alone] if directed.any() else []


def _adjusted_in(chosen: Mask, test: Independence) -> Array:
    adjusted: Array = np.full(test.statistics.shape[:2], np.nan)
    adjusted[chosen] = test.adjusted(chosen)
    return adjusted


def require_all(
    tests: Sequence[Reordering], p_of: Callable[[Independence], Array]
) -> tuple[Array, Array]:
    """Return the p and signs (metrics, relations) of relations that must show in each test.

    p is the largest `p_of` any required test, 1 where two of them point in opposite
    directions. A test with too few orders for a small p asks instead that no order fits
    better than the data's own. NaN where a required test cannot show a relation: none
    between systems shows where documents are reordered alone.
    """
    required = [each for each in tests if each.plan.role == "required"]
    decisive = [each.test for each in required if each.decisive]
    others = [each.test for each in required if not each.decisive]
    if not decisive:  # too few systems and documents for any p: no test decides
        decisive, others = others, []
    signs = decisive[0].signs
    p = p_of(decisive[0])
    for test in decisive[1:]:
        largest = np.maximum(p, p_of(test))  # NaN where one of them is NaN
        p = np.where(test.signs == signs, largest, np.maximum(largest, 1.0))
    for test in others:
        p = np.where(test.unbeaten & (test.signs == signs), p, np.maximum(p, 1.0))
        p = np.where(test.signs == 0, np.nan, p)
    for each in tests:
        if each.plan.role == "enough":
            signs = np.where(np.isnan(p), each.test.signs, signs)
            p = np.where(each.test.signs == signs, np.fmin(p, p_of(each.test)), p)
    return p, signs


def plans(study: Study, level: Level, options: MetaOptions) -> list[Plan]:
    """Return the tests of a level that fit what is known of systems and documents."""
    relations, groups = relations_of(study, level), study.grouping
    if level == "system":
        alone = [Plan("systems", relations, "required")]
        if not groups.systems_named:
            alone.append(Plan("documents", ("within",), "required"))
        return alone
    few_systems, few_documents = (
        not _is_decisive(study, exchange, options) for exchange in ALONE
    )
    all_named = groups.systems_named and (groups.documents_named or study.nested)
    if all_named or (few_systems and few_documents):
        return [Plan("both", relations, "required")]
    # With too few of one kind to decide, a relation must show in the other test, too.
    by_systems = not groups.documents_named or few_documents
    by_documents = not groups.systems_named or few_systems
    if (
        study.nested
    ):  # systems have no document in common: only their means are reordered
        by_systems, by_documents = False, True
    return [
        Plan("systems", relations, "required" if by_systems else "hint"),
        Plan("documents", relations, "required" if by_documents else "hint"),
    ]


ALONE: tuple[Exchange, Exchange] = ("systems", "documents")
# by which a statistic between systems is too large if these are pairs of equal ones
OF_PAIRS = 2.0**0.5


def reorder(
    study: Study, sides: tuple[Array, Array], level: Level, options: MetaOptions
) -> list[Reordering]:
    """Run the tests of a level; return an empty list where there is nothing to reorder.

    `sides`: metrics (metrics, systems, documents) and people (systems, documents), turned
    so that more is better. Each stratum is reordered by itself; families are tested by
    their means.
    """
    tests = []
    for plan in plans(study, level, options) if len(sides[0]) else ():
        test = _test(study, sides, level, options, plan)
        if test is None:
            continue
        # Between systems there is no other test that could decide.
        decisive = level == "system" or _is_decisive(study, plan.exchange, options)
        tests.append(Reordering(plan, test, decisive))
        groups = study.grouping
        apart = not groups.systems_named and not groups.systems_clump
        if plan.exchange == "systems" and apart:
            tests.append(_between_systems(tests[-1]))
    return tests


def _between_systems(tests: Reordering) -> Reordering:
    """Return the test of what systems' means show alone, as if each two systems were one."""
    relations = tests.plan.relations
    between = {"system", "between_systems"}
    places = [place if name in between else -1 for place, name in enumerate(relations)]
    test = tests.test.of_relations(places)._replace(shrink=OF_PAIRS)
    return Reordering(tests.plan._replace(role="enough"), test, tests.decisive)


def _test(
    study: Study,
    sides: tuple[Array, Array],
    level: Level,
    options: MetaOptions,
    plan: Plan,
) -> Independence | None:
    """Run one test, each stratum by itself; None where there is nothing to reorder."""
    layout = study.layout
    parts = layout.parts(np.isfinite(study.human))
    key = (*study.key.values(), level, plan.exchange)
    # All metrics and confounds share these orders, so that another one changes no
    # result.
    rng = generator(options.seed, "orders", *key)
    if layout.n_strata == 1:
        return _test_part(study, parts[0], sides, options, plan, rng)
    sets = family_sets(parts, layout.n_families)
    rows = draw_orders_within(sets, options.permutations, rng).systems
    tests, weights = [], []
    for number, part in enumerate(parts):
        rng = generator(options.seed, "orders", *key, f"stratum {number}")
        # Families of a stratum take each other's places only.
        place = np.full(rows.shape[1], -1, dtype=np.intp)
        place[part.families] = np.arange(part.families.size)
        orders = Orders(place[rows[:, part.families]], len(rows), False)
        if plan.exchange == "systems":
            orders = orders._replace(documents=1, grid=True)
        elif plan.exchange == "documents":
            orders = Orders(np.arange(part.families.size)[None], len(rows), True)
        test = _test_part(study, part, sides, options, plan, rng, orders)
        if test is not None:
            tests.append(test)
            present = np.isfinite(part.of(study.human))
            # Strata weigh by texts, documents with two texts, or their number of means
            # less 1.
            counts = {name: rests_on(present, name) for name in plan.relations}
            weights.append(
                [max(0, n - (name in BETWEEN)) for name, n in counts.items()]
            )
    return combine_strata(tests, np.array(weights, dtype=np.float64)) if tests else None


def _test_part(
    study: Study,
    part: Part,
    sides: tuple[Array, Array],
    options: MetaOptions,
    plan: Plan,
    rng: np.random.Generator,
    orders: Orders | None = None,
) -> Independence | None:
    """Run the test of one stratum, with the means of families in place of their systems."""
    family = part.layout.family
    metrics = np.stack([family_means(part.of(metric), family) for metric in sides[0]])
    human = family_means(part.of(sides[1]), family)
    present = np.isfinite(human)
    nested = bool(np.all(present.sum(axis=0) <= 1))
    if nested and "document" in plan.relations:
        return None
    if nested:
        # Each document is its single rated text: scores of unrated texts take no part.
        metrics = np.where(present, metrics, np.nan)
    relations = [
        name for name in plan.relations if not (nested and name == "between_documents")
    ]
    # Topics that nobody names may be behind whatever documents differ by.
    by_topic = not (study.grouping.documents_named or nested)
    standardized, people = (
        {
            relation: prepare(
                _less_documents(side) if by_topic and relation == "global" else side,
                relation,
                options.coefficient,
            )
            for relation in relations
        }
        for side in (metrics, human)
    )
    shape = len(human), human.shape[1]
    if nested and "system" not in plan.relations:
        system = np.argmax(present, axis=0)
        run = partial(nested_test, standardized, people, system, len(human))
    else:
        run = partial(independence_test, standardized, people, shape)
    test = run(
        n=options.permutations,
        rng=rng,
        cluster=part.layout.cluster if part.layout.clustered else None,
        orders=orders or draw_orders(shape, options.permutations, rng, plan.exchange),
    )
    return test.of_relations(
        [relations.index(r) if r in relations else -1 for r in plan.relations]
    )


def _less_documents(side: Array) -> Array:
    return side - mean_without_gaps(side, axis=-2, keepdims=True)


def _is_decisive(study: Study, exchange: Exchange, options: MetaOptions) -> bool:
    return 2.0 / _count_orders(study, exchange) < 1.0 - options.confidence - EQUAL


def _smallest_p(study: Study, tests: Reordering) -> float:
    """Return the smallest two-sided p that the number of orders allows."""
    n = min(tests.test.n_orders, _count_orders(study, tests.plan.exchange))
    return min(1.0, 2.0 / n)


def _count_orders(study: Study, exchange: Exchange) -> float:
    """Count the orders of systems and documents, or signs of clusters; at most 20! of each."""
    layout = study.layout
    parts = layout.parts(np.isfinite(study.human))
    orders = 1.0
    if exchange != "documents":
        sets = np.bincount(family_sets(parts, layout.n_families))
        orders = float(prod(factorial(min(int(n), 20)) for n in sets))
    if exchange == "systems":
        return orders
    for part in parts:
        n, clustered = part.layout.n_clusters, part.layout.clustered
        orders *= 2.0 ** min(n, 60) if clustered else factorial(min(n, 20))
    return orders
