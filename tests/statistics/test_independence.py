"""Exact tests of independence: reordered matrices, scipy, loops over every order, and worlds."""

from itertools import permutations, product

import numpy as np
import pytest
import scipy.stats

from metassay.statistics.components import COMPONENTS, value_at
from metassay.statistics.correlation import EVERY_COEFFICIENT, LEVELS
from metassay.statistics.independence import (
    Independence,
    combine_strata,
    document_orders,
    draw_orders,
    independence_test,
    nested_test,
    prepare,
    rank_order,
    step_down,
)
from tests.support.statistics import NAN

EVERY, NESTED = (*LEVELS, *COMPONENTS), ("global", "between_systems", "within")
every_coefficient = pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)


def sides(scores, coefficient, relations):
    return {relation: prepare(scores, relation, coefficient) for relation in relations}


def outcome(metrics, human, coefficient, relations, n=400, seed=0, cluster=None):
    each = sides(np.stack(metrics), coefficient, relations)
    how = {"n": n, "rng": np.random.default_rng(seed), "cluster": cluster}
    return independence_test(
        each, sides(human, coefficient, relations), human.shape, **how
    )


def two_sided(every, slack=1e-9):
    return min(
        1.0,
        2 * min(np.mean(every >= every[0] - slack), np.mean(every <= every[0] + slack)),
    )


def world(shape=(3, 4), seed=0):
    """A metric and people that share something, and system and document effects besides."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=shape)
    effects = rng.normal(size=(2, *shape)) + rng.normal(size=(2, shape[0], 1))
    return shared + effects + rng.normal(size=(2, 1, shape[1]))


def test_how_many_orders_there_are():
    """Every one of few systems, each with enough of the documents; else as many as were wanted."""
    rng = np.random.default_rng(0)
    for systems, n, exchange, number in (
        (3, 1000, "systems", 6),
        (3, 1000, "both", 6 * 501),
        (3, 99, "both", 6 * 100),
        (3, 99, "documents", 100),
        (4, 24_000, "both", 24 * 1001),
        (9, 1000, "systems", 1001),
        (9, 1000, "both", 1001),
    ):
        assert draw_orders((systems, 5), n, rng, exchange).n == number


@pytest.mark.parametrize("relation", EVERY)
@every_coefficient
@pytest.mark.parametrize("systems", [3, 5])  # every order of systems, and random ones
def test_statistics_are_those_of_the_reordered_matrices(relation, coefficient, systems):
    metric, human = world((systems, 4))
    statistics = outcome([metric], human, coefficient, [relation], n=24).statistics[
        0, 0
    ]
    rng = np.random.default_rng(0)
    between = relation in ("system", "between_systems")
    orders = draw_orders(human.shape, 24, rng, "systems" if between else "both")
    documents = document_orders(4, slice(0, orders.documents), rng)
    pairs = product if orders.grid else lambda *both: zip(*both, strict=True)
    # Pooled texts are ranked for Kendall as well.
    pooled = relation in ("global", "within", "between_documents")
    of = "spearman" if pooled and coefficient.startswith("kendall") else coefficient
    ours, values, scaled = prepare(metric, relation, coefficient).values, [], []
    for rows, columns in pairs(orders.systems, documents):
        theirs = human[rows][:, columns]
        values.append(value_at(metric, theirs, relation, of))
        # Of texts and documents the sum of products is divided by its own spread.
        products = ours * prepare(theirs, relation, coefficient).values
        sums = np.sum(products)
        scaled.append(
            sums / (np.sqrt(np.sum(products**2)) if ours.shape[1] > 1 else 1.0)
        )
        assert np.sign(round(sums, 12)) == np.sign(round(values[-1], 12))
    np.testing.assert_allclose(statistics, scaled, atol=1e-10)
    if ours.shape[1] == 1:
        factor = np.sum(statistics * values) / np.sum(np.square(values))
        np.testing.assert_allclose(statistics, factor * np.array(values), atol=1e-10)


@pytest.mark.parametrize("exchange", ["systems", "documents"])
@pytest.mark.parametrize("relation", EVERY)
@every_coefficient
def test_systems_or_documents_can_be_reordered_alone(exchange, relation, coefficient):
    metric, human = world((4, 5))
    rng = np.random.default_rng(0)
    orders = draw_orders(human.shape, 30, rng, exchange)
    each = sides(metric[None], coefficient, [relation])
    people = sides(human, coefficient, [relation])
    result = independence_test(
        each, people, human.shape, n=30, rng=np.random.default_rng(0), orders=orders
    )
    documents = document_orders(5, slice(0, orders.documents), np.random.default_rng(0))
    ours, expected = prepare(metric, relation, coefficient).values, []
    for rows, columns in product(orders.systems, documents):
        theirs = prepare(human[rows][:, columns], relation, coefficient).values
        products = ours * theirs
        size = np.sqrt(np.sum(products**2)) if ours.shape[1] > 1 else 1.0
        expected.append(np.sum(products) / size)
    np.testing.assert_allclose(result.statistics[0, 0], expected, atol=1e-10)
    still = {
        "systems": ["between_documents"],
        "documents": ["system", "between_systems"],
    }
    assert np.isnan(result.p[0, 0]) == (relation in still[exchange])


def test_whether_any_order_fits_better():
    statistics = np.array([[[3.0, 1, 2], [2, 3, 1], [1, 3, 2], [2, 2, 2]]])
    assert Independence(statistics, False).unbeaten.tolist() == [
        [True, False, True, True]
    ]


def test_a_statistic_that_counts_for_less_by_hand():
    """The mean is 2: with 2 less the mean halved, 3.5 reaches the first, too."""
    halved = 2.0
    reached = np.array([[4.0, 3.5, 1, 1, 0.5]])
    assert step_down(reached).tolist() == pytest.approx([2 / 5])
    assert step_down(reached, halved).tolist() == pytest.approx([4 / 5])
    once = Independence(reached[:, None], False, shrink=halved)
    assert once.p.tolist() == [[pytest.approx(4 / 5)]]
    assert once.adjusted(np.array([True])).tolist() == [[pytest.approx(4 / 5)]]


@every_coefficient
@pytest.mark.parametrize("systems", [3, 4, 5, 6])
@pytest.mark.parametrize("ties", [False, True])
def test_systems_equal_scipys_exact_test(coefficient, systems, ties):
    metric, human = world((systems, 2), seed=systems)
    if ties:
        metric, human = np.round(2 * metric), np.round(human)
        metric[-1] = metric[0]
    of, means = (
        EVERY_COEFFICIENT[coefficient],
        (metric.mean(axis=1), human.mean(axis=1)),
    )
    how = {"permutation_type": "pairings", "n_resamples": np.inf}
    theirs = scipy.stats.permutation_test(
        (means[1],), lambda y: float(of(means[0], y)), **how
    )
    result = outcome([metric], human, coefficient, ["system"])
    assert result.exact
    assert result.p[0, 0] == pytest.approx(theirs.pvalue)
    assert result.signs[0, 0] == np.sign(theirs.statistic)


def test_three_systems_in_order_by_hand():
    """Of 6 orders one is the same and one the reverse: 2 of 6 at least as extreme."""
    metric, human = np.array([[1.0], [2], [3]]), np.array([[1.0], [5], [6]])
    for coefficient in ("spearman", "kendall"):
        result = outcome([metric, -metric], human, coefficient, ["system"])
        assert result.n_orders == 6
        assert result.p[:, 0] == pytest.approx([1 / 3, 1 / 3])
        assert result.signs[:, 0].tolist() == [1, -1]


@pytest.mark.parametrize("relation", ["global", "document", "within"])
@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_random_orders_approach_all_orders(relation, coefficient):
    metric, human = world((3, 4), seed=7)
    ours, every = prepare(metric, relation, coefficient).values, []
    for rows, columns in product(permutations(range(3)), permutations(range(4))):
        theirs = human[list(rows)][:, list(columns)]
        products = ours * prepare(theirs, relation, coefficient).values
        every.append(np.sum(products) / np.sqrt(np.sum(products**2)))
    expected = two_sided(np.array(every))
    result = outcome([metric], human, coefficient, [relation], n=20_000)
    assert not result.exact
    error = 2 * np.sqrt(expected * (1 - expected) / result.n_orders * 6)
    assert result.p[0, 0] == pytest.approx(
        expected, abs=5 * error + 2 / result.n_orders
    )


def slow_step_down(statistics):
    """Westfall and Young, each tail by itself, as one would write it down."""
    scaled = (statistics - statistics.mean(1, keepdims=True)) / statistics.std(
        1, keepdims=True
    )
    tails = []
    for side in (scaled, -scaled):
        order = sorted(range(len(side)), key=lambda row: -side[row, 0])
        adjusted, highest = np.empty(len(side)), 0.0
        for place, row in enumerate(order):
            rest = side[order[place:]].max(axis=0)
            highest = max(highest, float(np.mean(rest >= side[row, 0] - 1e-9)))
            adjusted[row] = highest
        tails.append(adjusted)
    return np.minimum(1.0, 2 * np.minimum(*tails))


def test_step_down_equals_the_slow_loop_and_never_helps():
    rng = np.random.default_rng(0)
    statistics = rng.normal(size=(7, 300)) + 0.8 * rng.normal(size=300)
    statistics[:, 0] += np.linspace(0, 4, 7)
    statistics[3, 0] = -4.0
    alone = Independence(statistics[:, None], False).p[:, 0]
    adjusted = step_down(statistics)
    np.testing.assert_allclose(adjusted, slow_step_down(statistics))
    assert (adjusted >= alone).all()
    assert adjusted.min() < 0.1
    # Another unit, another place: the same p.
    np.testing.assert_allclose(step_down(5 * statistics - 3), adjusted)
    # One row needs no adjusting; the first finding pays for all, the last only for
    # itself.
    np.testing.assert_allclose(step_down(statistics[:1]), alone[:1])
    np.testing.assert_allclose(step_down(statistics[[6, 6]]), alone[6])
    # What no order moves has no p, and costs the others none.
    still = np.vstack([statistics[0], np.full(300, 0.3)])
    expected = [alone[0], NAN]
    np.testing.assert_array_equal(step_down(still), expected)
    np.testing.assert_array_equal(Independence(still[:, None], False).p[:, 0], expected)


@every_coefficient
def test_ties_are_ties_however_they_are_summed(coefficient):
    """Numbers like .1 and .3 make equal statistics differ by rounding; p must not see that."""
    rng = np.random.default_rng(2)
    metric = rng.choice([0.1, 0.2, 0.3], (4, 5))
    human = rng.choice([0.1, 0.7, 1 / 3], (4, 5))
    # The same study with systems and documents in another order, in another unit.
    rows, columns = np.array([2, 0, 3, 1]), np.array([4, 2, 0, 1, 3])
    turned, others = (3 * side[rows][:, columns] for side in (metric, human))
    expected = outcome([metric], human, coefficient, ["system"]).p
    other = outcome([turned], others, coefficient, ["system"]).p
    assert other == pytest.approx(expected, abs=1e-12)


def test_constants_and_gaps():
    metric, human = world((4, 6))
    flat = np.full((4, 6), 1 / 3)
    result = outcome([metric, flat], human, "pearson", EVERY, n=60)
    assert np.isnan(result.p[1]).all()
    assert (result.signs[1] == 0).all()
    assert np.isfinite(result.p[0]).all()
    assert np.isnan(outcome([metric], flat, "kendall", EVERY, n=60).p).all()
    nothing = np.full((4, 6), NAN)
    assert np.isnan(outcome([nothing], human, "spearman", EVERY, n=60).p).all()
    # The adjusted p of a family without the constant are those with it.
    pair = result.adjusted(np.array([True, True]))
    assert pair[0] == pytest.approx(result.adjusted(np.array([True, False]))[0])
    some = human.copy()
    some[0, 0] = some[2, 3] = NAN
    assert np.isfinite(outcome([metric], some, "pearson", EVERY, n=60).p).all()
    # One system or one document.
    metric, human = np.random.default_rng(3).normal(size=(2, 1, 6))
    p = outcome([metric], human, "pearson", ["global", "system"], n=60).p[0]
    assert 0 < p[0] <= 1
    assert np.isnan(p[1])
    p = outcome(
        [metric.T], human.T, "pearson", ["global", "document", "within"], n=60
    ).p[0]
    assert p[0] == pytest.approx(p[1])
    assert np.isnan(p[2])
    shared = world((4, 8))[0]
    noise = 0.1 * np.random.default_rng(4).normal(size=(2, 4, 8))
    result = outcome(
        [shared + noise[0], -shared], shared + noise[1], "pearson", EVERY, n=100
    )
    assert (result.signs == np.array([[1], [-1]])).all()


def test_true_metrics_do_not_make_the_others_findings():
    """One metric of ten is true; any finding among the other nine is to be rare all the same."""
    rng = np.random.default_rng(5)
    runs, false, true = 250, 0, 0
    for run in range(runs):
        human = rng.normal(size=(5, 12)) + rng.normal(size=(5, 1))
        metrics = [human + 0.3 * rng.normal(size=(5, 12)), *rng.normal(size=(9, 5, 12))]
        result = outcome(
            metrics, human, "pearson", ["document", "within"], n=120, seed=run
        )
        low = result.adjusted(np.ones(10, dtype=bool)) < 0.05
        true, false = true + low[0].any(), false + low[1:].any()
    assert true > 0.95 * runs
    assert false / runs <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / runs)


def test_nested_by_hand():
    # System x wrote documents 1 2 3, y wrote 4 5 6. Within x in order, within y in
    # order: of the
    # 6 x 6 orders within, the data are the one most extreme, as is the reverse: p 2 /
    # 36.
    metric = np.array([[1.0, 2, 4, NAN, NAN, NAN], [NAN, NAN, NAN, 11, 12, 14]])
    system, both = np.array([0, 0, 0, 1, 1, 1]), (metric[None], metric + 5)
    each = [sides(side, "pearson", NESTED) for side in both]
    result = nested_test(*each, system, 2, n=4000, rng=np.random.default_rng(0))
    p = dict(zip(NESTED, result.p[0], strict=True))
    assert p["within"] == pytest.approx(2 / 36, abs=0.02)
    assert p["between_systems"] == pytest.approx(1)  # two systems either way round


def test_nested_designs_do_not_take_favourites_for_knowledge():
    """Each document has one system's text; strong favourites of both, no relation."""
    rng, p = np.random.default_rng(6), []
    system = np.arange(24) % 3
    away = np.arange(3)[:, None] != system
    for run in range(200):
        metric, human = (
            np.where(away, NAN, 3 * rng.normal(size=(3, 1)) + rng.normal(size=24))
            for _ in range(2)
        )
        each = [sides(side, "pearson", NESTED) for side in (metric[None], human)]
        p.append(
            nested_test(*each, system, 3, n=200, rng=np.random.default_rng(run)).p[0]
        )
    p = np.array(p)
    # Three systems: at best 2 of 6 orders, however strong their effects.
    assert p[:, 1].min() >= 1 / 3 - 1e-9
    for column in (0, 2):
        assert np.mean(p[:, column] < 0.05) < 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 200)
    assert scipy.stats.kstest(p[:, 2], "uniform").pvalue > 0.01


def by_signs(metric, human, relation, coefficient, cluster):
    """The statistic in every order of systems and under every sign of the clusters, by loops."""
    a, b = (prepare(side, relation, coefficient).values for side in (metric, human))
    mean_a, mean_b = a.mean(axis=1, keepdims=True), b.mean(axis=1, keepdims=True)
    values = []
    for order in map(list, permutations(range(len(b)))):
        for signs in product([1, -1], repeat=cluster.max() + 1):
            e, total = np.array(signs)[cluster], 0.0
            for row, to in enumerate(order):
                total += a.shape[1] * float(mean_a[row, 0] * mean_b[to, 0])
                total += float(np.sum(e * (a - mean_a)[row] * (b - mean_b)[to]))
            values.append(total / np.sqrt(np.sum(a**2 * b[order] ** 2)))
    return np.array(values)


@pytest.mark.parametrize(
    "relation", ["global", "document", "within", "between_documents"]
)
@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_clusters_are_tested_by_every_order_of_systems_and_every_sign(
    relation, coefficient
):
    metric, human = world((3, 8), seed=4)
    cluster = np.array([0, 0, 1, 1, 1, 2, 2, 3])
    every = by_signs(metric, human, relation, coefficient, cluster)
    result = outcome(
        [metric], human, coefficient, [relation], n=12_000, cluster=cluster
    )
    assert result.statistics[0, 0, 0] == pytest.approx(every[0])
    drawn = np.unique(np.round(result.statistics[0, 0], 9))
    np.testing.assert_allclose(drawn, np.unique(np.round(every, 9)), atol=1e-9)
    assert result.p[0, 0] == pytest.approx(two_sided(every), abs=0.02)


def test_between_systems_clusters_play_no_part():
    metric, human = world((5, 8))
    clusters = None, np.arange(8) // 4
    first, second = (
        outcome([metric], human, "pearson", ["system"], 9, 0, c).p for c in clusters
    )
    assert first == second


@pytest.mark.parametrize("nested", [False, True])
def test_topics_are_no_knowledge(nested):
    """Both sides find some of five topics easier: orders of documents mislead, signs do not."""
    topic, wrong = np.repeat(np.arange(5), 12), {False: 0, True: 0}
    relations = NESTED if nested else (*NESTED, "between_documents")
    for seed in range(60):
        rng = np.random.default_rng(seed)
        system = rng.integers(0, 4, 60)
        away = nested & (np.arange(4)[:, None] != system)
        levels = [
            (rng.normal(size=(4, 1)), rng.normal(size=5)[topic]) for _ in range(2)
        ]
        metric, human = (
            np.where(away, NAN, a + b + rng.normal(size=(4, 60))) for a, b in levels
        )
        both = [sides(side, "pearson", relations) for side in (metric[None], human)]
        test, design = (
            (nested_test, (system, 4)) if nested else (independence_test, ((4, 60),))
        )
        for clustered in wrong:
            how = {"n": 300, "rng": rng, "cluster": topic if clustered else None}
            adjusted = test(*both, *design, **how).adjusted(np.ones(1, dtype=bool))
            wrong[clustered] += bool(np.nanmin(adjusted) < 0.05)
    assert wrong[False] >= 10  # of 60
    assert wrong[True] <= 7


def test_strata_add_up_in_units_of_their_own_spread():
    draw = np.random.default_rng(3)
    # two strata, three metrics, two relations
    statistics = draw.normal(size=(2, 3, 2, 50))
    statistics[1] = 10 * statistics[1] + 5
    each = [Independence(stratum, False) for stratum in statistics]
    weights = np.array([[4.0, 1.0], [9.0, 0.0]])
    totals = combine_strata(each, weights).statistics
    z = (statistics - statistics.mean(-1, keepdims=True)) / statistics.std(
        -1, keepdims=True
    )
    np.testing.assert_allclose(totals[:, 0], 2 * z[0][:, 0] + 3 * z[1][:, 0])
    np.testing.assert_allclose(totals[:, 1], z[0][:, 1])
    # What no order moves in a stratum says nothing there.
    still = [each[0], each[1]._replace(statistics=np.ones((3, 2, 50)))]
    np.testing.assert_allclose(
        combine_strata(still, weights).statistics[:, 1], z[0][:, 1]
    )


def ranked(x, y, coefficient="spearman", *, n_orders=999):
    return rank_order(
        x, y, coefficient, n_orders=n_orders, rng=np.random.default_rng(5)
    )


def test_rankings_by_hand():
    # d = 0, 0, 1, -1: rho = 1 - 6 x 2 / (4 x 15) = .8; tau = (5 - 1) / 6
    rho, tau = (
        ranked([1, 2, 3, 4], [1, 2, 4, 3]),
        ranked([1, 2, 3, 4], [1, 2, 4, 3], "kendall"),
    )
    assert (rho.value, tau.value) == (pytest.approx(0.8), pytest.approx(2 / 3))
    # of 24 orders 1 has rho 1, 3 have .8, and as many have the opposite: 8 are as far
    # from 0
    assert rho[1:] == (8 / 24, 2 / 24, 4, True)
    assert ranked([1, 2, 3, 4], [10, 20, 30, 40]).p == 2 / 24
    # Many things are put in random orders, of which the data's own is one.
    assert ranked(range(12), range(12), n_orders=199)[:3] == (
        pytest.approx(1),
        1 / 200,
        1 / 200,
    )
    assert not ranked(range(12), range(12)).exact
    # What either lacks is left out, and two things say nothing.
    assert ranked([1, 2, NAN, 4, 3], [2, 1, 7, NAN, 5]).n == 3
    for x, y in (([1, 2], [1, 2]), ([1, 1, 1], [1, 2, 3]), ([1, NAN, 2], [1, 2, 3])):
        assert np.isnan(ranked(x, y)[:3]).all()


def test_all_orders_of_rankings_are_scipys():
    rng = np.random.default_rng(1)
    for n in (5, 6, 7):
        x, y = rng.random(n), rng.random(n)
        tau = scipy.stats.kendalltau(x, y, method="exact")
        assert ranked(x, y, "kendall")[:2] == pytest.approx((tau.statistic, tau.pvalue))
    x, y = [1, 1, 2, 3, 4, 4], [2, 1, 2, 5, 5, 9]
    expected = scipy.stats.permutation_test(
        (x,),
        lambda some: abs(scipy.stats.spearmanr(some, y).statistic),
        permutation_type="pairings",
        alternative="greater",
        n_resamples=np.inf,
    )
    result = ranked(x, y)
    assert result[:2] == (pytest.approx(expected.statistic), expected.pvalue)
    assert result.smallest_p > 2 / 720  # ties leave fewer orders that differ
