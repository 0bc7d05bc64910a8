"""Run the exact tests and leave-outs of each metric's correlations, shared by several tables.

A test that reorders systems takes them for exchangeable, which versions of one system
are not. One that reorders documents takes these for exchangeable, which documents of
one topic are not. Where the user does not say which systems and documents belong
together, a relation must show in both tests, each of which reorders one of the two
alone: versions mislead the first, topics the second, and neither misleads both.
tests/calibration/rates.md has the error rates.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import factorial, prod
from typing import Literal, NamedTuple, get_args

import numpy as np

from metassay.executor.record import LOCAL, Executor
from metassay.meta_evaluation.adjustment import adjust, count_tried, together
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
from metassay.statistics.multiple_tests import significance_level
from metassay.statistics.random_numbers import generator

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


class Result(NamedTuple):
    """What a test says; arrays are (metrics, relations)."""

    plan: Plan
    decisive: bool
    smallest_p: float  # the smallest p that the number of orders allows
    p: Array  # of each metric and relation alone
    p_adjusted: Array  # for all that was tried; NaN for metrics that are not adjusted
    signs: Array  # 1 where metric and people agree, -1 where they disagree
    unbeaten: Mask  # whether no order fits better than the data's own


class LevelTests(NamedTuple):
    """One level of a study. Arrays have a row per metric of `Study.metrics`, in that order."""

    relations: tuple[Relation, ...]  # the level first, then its components
    left: LeaveOneOut  # of the level, by options.coefficient
    p: Array  # (metrics, relations) of each relation alone
    # (metrics, relations) for all that was tried; NaN for metrics that are not adjusted
    p_adjusted: Array
    # (metrics, relations) 1 where metric and people agree, -1 where they disagree
    signs: Array
    # the smallest p that the number of orders allows; NaN without a test
    smallest_p: float
    # p_adjusted of each test, required or not
    p_alone: Mapping[Exchange, Array]
    # (metrics,) confidence at which the intervals of all that was tried hold at once
    together: Array
    n_tried: Array  # (metrics,) how many metrics and criteria that is
    n_criteria: int  # how many criteria and parts that is


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

    The criteria and parts of a study are adjusted together. A remote executor shows its
    own progress instead.
    """
    by_name: dict[str, list[int]] = {}
    for place, study in enumerate(studies):
        by_name.setdefault(study.study, []).append(place)
    groups = [[studies[place] for place in places] for places in by_name.values()]
    pieces = [(group, level) for group in groups for level in LEVELS]
    shards = executor.map(
        run_levels, pieces, options, None if executor.remote else progress
    )
    of_pieces = (tests for shard in shards for tests in shard)
    levels: list[dict[Level, LevelTests]] = [{} for _ in studies]
    for places in by_name.values():
        for level in LEVELS:
            for place, tests in zip(places, next(of_pieces), strict=True):
                levels[place][level] = tests
    return [StudyTests(*pair) for pair in zip(studies, levels, strict=True)]


def run_levels(
    shard: Sequence[tuple[Sequence[Study], Level]],
    options: MetaOptions,
    progress: Callable[[int, int], None] | None = None,
) -> list[list[LevelTests]]:
    """Run the tests of some levels of some studies, each with all its criteria and parts."""
    done, total = 0, sum(len(group) for group, _ in shard)
    tests = []
    for group, level in shard:
        tests.append(run_level(group, level, options))
        done += len(group)
        if progress is not None:
            progress(done, total)
    return tests


def relations_of(study: Study, level: Level) -> tuple[Relation, ...]:
    """Return the level and its components, without documents where each has a single text."""
    parts = () if level == "system" else PARTS_OF_LEVEL[level]
    if study.nested:
        parts = tuple(part for part in parts if part != "between_documents")
    return (level, *parts)


def run_level(
    studies: Sequence[Study], level: Level, options: MetaOptions
) -> list[LevelTests]:
    """Run the tests of one level of a study's criteria and parts, adjusted together."""
    lefts = [
        leave_out(
            study.values(study.metrics),
            study.oriented,
            level,
            options.coefficient,
            study.layout,
        )
        for study in studies
    ]
    results = _run_plans(studies, level, options)
    first = studies[0].key.values()
    rng = partial(generator, options.seed, "together", *first, level)
    return [
        _join_results(study, level, left, of_study)._replace(
            together=confidence,
            n_tried=n_tried,
            n_criteria=count_criteria(studies, study, options),
        )
        for study, left, of_study, confidence, n_tried in zip(
            studies,
            lefts,
            results,
            together(studies, lefts, options, rng),
            count_tried(studies, options),
            strict=True,
        )
    ]


def count_criteria(studies: Sequence[Study], study: Study, options: MetaOptions) -> int:
    """Return for how many criteria and parts of its group a study is adjusted."""
    if study.criterion != options.primary_criterion:
        return len(studies)
    return sum(other.criterion == study.criterion for other in studies)


def _run_plans(
    studies: Sequence[Study], level: Level, options: MetaOptions
) -> list[list[Result]]:
    """Run each plan of each study; those of one kind are adjusted together."""
    results: list[list[Result]] = [[] for _ in studies]
    for exchange in get_args(Exchange):  # one at a time: all statistics take memory
        tests = [
            _reorder_by(study, _sides(study), level, options, exchange)
            for study in studies
        ]
        halved = [
            _test_system_means(each)
            if each and _counts_alone(study, exchange)
            else None
            for study, each in zip(studies, tests, strict=True)
        ]
        for same in (tests, halved):
            adjusted = adjust(studies, [each and each.test for each in same], options)
            for place, each in enumerate(same):
                if each is not None:
                    result = conclude(studies[place], each, adjusted[place])
                    results[place].append(result)
    return results


def _sides(study: Study) -> tuple[Array, Array]:
    return study.values(study.metrics), study.oriented


def conclude(study: Study, tests: Reordering, adjusted: Array) -> Result:
    """Return what a test says, with p adjusted for all that was tried."""
    return Result(
        plan=tests.plan,
        decisive=tests.decisive,
        smallest_p=_smallest_p(study, tests),
        p=tests.test.p,
        p_adjusted=adjusted,
        signs=tests.test.signs,
        unbeaten=tests.test.unbeaten,
    )


def _join_results(
    study: Study, level: Level, left: LeaveOneOut, results: Sequence[Result]
) -> LevelTests:
    """Put a study's results together."""
    relations = relations_of(study, level)
    plain = [each for each in results if each.plan.role != "enough"]
    required = [each for each in plain if each.plan.role == "required"]
    decisive = [each for each in required if each.decisive] or required
    p: Array = np.full((len(study.metrics), len(relations)), np.nan)
    p_adjusted, signs = p, p
    if required:
        p, signs = require_all(results, [each.p for each in results])
        p_adjusted, _ = require_all(results, [each.p_adjusted for each in results])
    agrees = np.sign(left.value)[:, None]
    return LevelTests(
        relations=relations,
        left=left,
        p=p,
        p_adjusted=p_adjusted,
        signs=signs,
        smallest_p=max((each.smallest_p for each in decisive), default=np.nan),
        p_alone={
            each.plan.exchange: np.where(each.signs == agrees, each.p_adjusted, np.nan)
            for each in plain
        },
        together=np.full(len(study.metrics), np.nan),
        n_tried=np.full(len(study.metrics), np.nan),
        n_criteria=1,
    )


def require_all(
    results: Sequence[Result], p_of_each: Sequence[Array]
) -> tuple[Array, Array]:
    """Return the p and signs (metrics, relations) of relations that must show in each test.

    p is the largest of the p of required tests, 1 where two of them point in opposite
    directions. A test with too few orders for a small p asks instead that no order fits
    better than the data's own. NaN where a required test cannot show a relation: none
    between systems shows where documents are reordered alone.
    """
    pairs = list(zip(results, p_of_each, strict=True))
    required = [pair for pair in pairs if pair[0].plan.role == "required"]
    decisive = [pair for pair in required if pair[0].decisive]
    others = [pair for pair in required if not pair[0].decisive]
    if not decisive:  # too few systems and documents for any p: no test decides
        decisive, others = others, []
    first, p = decisive[0]
    signs = first.signs
    for result, p_of_result in decisive[1:]:
        largest = np.maximum(p, p_of_result)  # NaN where one of them is NaN
        p = np.where(result.signs == signs, largest, np.maximum(largest, 1.0))
    for result, _ in others:
        fits_best = result.unbeaten & (result.signs == signs)
        p = np.where(fits_best, p, np.maximum(p, 1.0))
        p = np.where(result.signs == 0, np.nan, p)
    for result, p_of_result in pairs:
        if result.plan.role == "enough":
            signs = np.where(np.isnan(p), result.signs, signs)
            p = np.where(result.signs == signs, np.fmin(p, p_of_result), p)
    return p, signs


def plans(study: Study, level: Level, options: MetaOptions) -> list[Plan]:
    """Return the tests of a level that fit what is known of systems and documents."""
    relations, groups = relations_of(study, level), study.grouping
    if level == "system":
        alone = [Plan("systems", relations, "required")]
        # A hint whether a metric knows more than which class a system is of.
        role: Role = "hint" if groups.systems_named else "required"
        alone.append(Plan("documents", ("within",), role))
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
    # Then systems have no document in common, and only their means are reordered.
    if study.nested:
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
    for exchange in get_args(Exchange):
        test = _reorder_by(study, sides, level, options, exchange)
        if test is not None:
            tests.append(test)
            if _counts_alone(study, exchange):
                tests.append(_test_system_means(test))
    return tests


def _reorder_by(
    study: Study,
    sides: tuple[Array, Array],
    level: Level,
    options: MetaOptions,
    exchange: Exchange,
) -> Reordering | None:
    """Run the test that exchanges these; None if the plans have none."""
    for plan in plans(study, level, options) if len(sides[0]) else ():
        test = None
        if plan.exchange == exchange:
            test = _test(study, sides, level, options, plan)
        if test is not None:
            # Between systems there is no other test that could decide.
            decisive = level == "system" or _is_decisive(study, exchange, options)
            return Reordering(plan, test, decisive)
    return None


def _counts_alone(study: Study, exchange: Exchange) -> bool:
    """Whether what shows between systems alone may count, if it would with half of them."""
    groups = study.grouping
    apart = not groups.systems_named and not groups.systems_clump
    return exchange == "systems" and apart


def _test_system_means(tests: Reordering) -> Reordering:
    """Return the test of what systems' means show alone, as if each two systems were one."""
    relations = tests.plan.relations
    between = {"system", "between_systems"}
    places = [place if name in between else -1 for place, name in enumerate(relations)]
    test = tests.test.select(places)._replace(shrink=OF_PAIRS)
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
    # All metrics, confounds and criteria share these orders, so that another one changes
    # no result, and what is alike in two criteria is tried once.
    key = study.study, level, plan.exchange
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
            present = np.isfinite(part.select(study.human))
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
    metrics = np.stack(
        [family_means(part.select(metric), family) for metric in sides[0]]
    )
    human = family_means(part.select(sides[1]), family)
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
    return test.select(
        [relations.index(r) if r in relations else -1 for r in plan.relations]
    )


def _less_documents(side: Array) -> Array:
    return side - mean_without_gaps(side, axis=-2, keepdims=True)


def _is_decisive(study: Study, exchange: Exchange, options: MetaOptions) -> bool:
    smallest = 2.0 / _count_orders(study, exchange)
    return smallest < significance_level(options.confidence)


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
