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
    step_down,
)

NAN = np.nan
EVERY = (*LEVELS, *COMPONENTS)


def sides(scores, coefficient, relations):
    return {relation: prepare(scores, relation, coefficient) for relation in relations}


def outcome(metrics, human, coefficient, relations, n=400, seed=0):
    each = sides(np.stack(metrics), coefficient, relations)
    rng = np.random.default_rng(seed)
    return independence_test(each, sides(human, coefficient, relations), human.shape, n=n, rng=rng)


def by_ranks(relation, coefficient):
    """What the statistic of a relation is: pooled texts are ranked for Kendall as well."""
    pooled = relation in ("global", "within", "between_documents")
    return "spearman" if pooled and coefficient.startswith("kendall") else coefficient


def world(shape=(3, 4), seed=0):
    """A metric and people that share something, and system and document effects besides."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=shape)
    own = rng.normal(size=(2, *shape)) + rng.normal(size=(2, shape[0], 1))
    return shared + own + rng.normal(size=(2, 1, shape[1]))


def test_how_many_orders_there_are():
    """Every one of few systems, each with enough of the documents; else as many as were asked."""
    rng = np.random.default_rng(0)
    for systems, n, alone, number in (
        *((3, 1000, True, 6), (3, 1000, False, 6 * 501), (3, 99, False, 6 * 100)),
        *((4, 24_000, False, 24 * 1001), (9, 1000, True, 1001), (9, 1000, False, 1001)),
    ):
        assert draw_orders((systems, 5), n, rng, alone=alone).n == number


@pytest.mark.parametrize("relation", EVERY)
@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
@pytest.mark.parametrize("systems", [3, 5])  # every order of systems, and random ones
def test_statistics_are_those_of_the_reordered_matrices(relation, coefficient, systems):
    metric, human = world((systems, 4))
    found = outcome([metric], human, coefficient, [relation], n=24).statistics[0, 0]
    alone = relation in ("system", "between_systems")
    rng = np.random.default_rng(0)
    orders = draw_orders(human.shape, 24, rng, alone=alone)
    documents = document_orders(4, slice(0, orders.documents), rng)
    pairs = product if orders.grid else lambda *both: zip(*both, strict=True)
    of = by_ranks(relation, coefficient)
    mine = prepare(metric, relation, coefficient).values
    values, scaled = [], []
    for rows, columns in pairs(orders.systems, documents):
        theirs = human[rows][:, columns]
        values.append(value_at(metric, theirs, relation, of))
        # Of texts and documents the sum of products is divided by its own spread.
        products = mine * prepare(theirs, relation, coefficient).values
        spread = np.sqrt(np.sum(products**2)) if mine.shape[1] > 1 else 1.0
        scaled.append(np.sum(products) / spread)
        sums = np.sum(products)
        assert np.sign(round(sums, 12)) == np.sign(round(values[-1], 12))
    np.testing.assert_allclose(found, scaled, atol=1e-10)
    if mine.shape[1] == 1:
        factor = np.sum(found * values) / np.sum(np.square(values))
        np.testing.assert_allclose(found, factor * np.array(values), atol=1e-10)


@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
@pytest.mark.parametrize("systems", [3, 4, 5, 6])
@pytest.mark.parametrize("ties", [False, True])
def test_systems_equal_scipys_exact_test(coefficient, systems, ties):
    metric, human = world((systems, 2), seed=systems)
    if ties:
        metric, human = np.round(2 * metric), np.round(human)
        metric[-1] = metric[0]
    of = EVERY_COEFFICIENT[coefficient]
    means = metric.mean(axis=1), human.mean(axis=1)
    theirs = scipy.stats.permutation_test(
        (means[1],),
        lambda y: float(of(means[0], y)),
        permutation_type="pairings",
        n_resamples=np.inf,
    )
    found = outcome([metric], human, coefficient, ["system"])
    assert found.exact
    assert found.p[0, 0] == pytest.approx(theirs.pvalue)
    assert found.signs[0, 0] == np.sign(theirs.statistic)


def test_three_systems_in_order_by_hand():
    """Of 6 orders one is the same and one the reverse: 2 of 6 at least as extreme."""
    metric, human = np.array([[1.0], [2], [3]]), np.array([[1.0], [5], [6]])
    for coefficient in ("spearman", "kendall"):
        found = outcome([metric], human, coefficient, ["system"])
        assert (found.p[0, 0], found.n_orders) == (pytest.approx(1 / 3), 6)
        reverse = outcome([-metric], human, coefficient, ["system"])
        assert (reverse.p[0, 0], reverse.signs[0, 0]) == (pytest.approx(1 / 3), -1)


@pytest.mark.parametrize("relation", ["global", "document", "within"])
@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_random_orders_approach_all_orders(relation, coefficient):
    metric, human = world((3, 4), seed=7)
    mine = prepare(metric, relation, coefficient).values
    every = []
    for rows, columns in product(permutations(range(3)), permutations(range(4))):
        theirs = human[list(rows)][:, list(columns)]
        products = mine * prepare(theirs, relation, coefficient).values
        every.append(np.sum(products) / np.sqrt(np.sum(products**2)))
    every = np.array(every)
    tails = np.mean(every >= every[0] - 1e-9), np.mean(every <= every[0] + 1e-9)
    expected = min(1.0, 2 * min(tails))
    found = outcome([metric], human, coefficient, [relation], n=20_000)
    assert not found.exact
    error = 2 * np.sqrt(expected * (1 - expected) / found.n_orders * 6)
    assert found.p[0, 0] == pytest.approx(expected, abs=5 * error + 2 / found.n_orders)


def slow_step_down(statistics):
    """Westfall and Young, each tail by itself, as one would write it down."""
    scaled = (statistics - statistics.mean(1, keepdims=True)) / statistics.std(1, keepdims=True)
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


def alone_of(statistics):
    return Independence(statistics[:, None], False).p[:, 0]


def test_step_down_equals_the_slow_one_and_never_helps():
    rng = np.random.default_rng(0)
    statistics = rng.normal(size=(7, 300)) + 0.8 * rng.normal(size=300)
    statistics[:, 0] += np.linspace(0, 4, 7)
    statistics[3, 0] = -4.0
    alone, adjusted = alone_of(statistics), step_down(statistics)
    np.testing.assert_allclose(adjusted, slow_step_down(statistics))
    assert (adjusted >= alone).all()
    assert adjusted.min() < 0.1
    # Another unit, another place: the same p.
    np.testing.assert_allclose(step_down(5 * statistics - 3), adjusted)
    # One row needs no adjusting; the first finding pays for all, the last only for itself.
    np.testing.assert_allclose(step_down(statistics[:1]), alone[:1])
    both = step_down(np.vstack([statistics[6], statistics[6]]))
    np.testing.assert_allclose(both, alone[6])


def test_what_no_order_moves_has_no_p_and_costs_none():
    rng = np.random.default_rng(1)
    statistics = np.vstack([rng.normal(size=100), np.full(100, 0.3)])
    alone, adjusted = alone_of(statistics), step_down(statistics)
    assert np.isnan([alone[1], adjusted[1]]).all()
    assert adjusted[0] == alone[0]


@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
def test_ties_are_ties_however_they_are_summed(coefficient):
    """Numbers like .1 and .3 make equal statistics differ by rounding; p must not see that."""
    rng = np.random.default_rng(2)
    metric = rng.choice([0.1, 0.2, 0.3], (4, 5))
    human = rng.choice([0.1, 0.7, 1 / 3], (4, 5))
    order = np.array([2, 0, 3, 1]), np.array([4, 2, 0, 1, 3])
    one = outcome([metric], human, coefficient, ["system"])
    # The same study with systems and documents in another order, in another unit.
    sides = [3 * side[order[0]][:, order[1]] for side in (metric, human)]
    other = outcome([sides[0]], sides[1], coefficient, ["system"])
    assert one.p == pytest.approx(other.p, abs=1e-12)


def test_constants_and_gaps():
    metric, human = world((4, 6))
    flat = np.full((4, 6), 1 / 3)
    found = outcome([metric, flat], human, "pearson", EVERY, n=60)
    assert np.isnan(found.p[1]).all()
    assert (found.signs[1] == 0).all()
    assert np.isfinite(found.p[0]).all()
    assert np.isnan(outcome([metric], flat, "kendall", EVERY, n=60).p).all()
    nothing = np.full((4, 6), NAN)
    assert np.isnan(outcome([nothing], human, "spearman", EVERY, n=60).p).all()
    # The adjusted p of a family without the constant are those with it.
    pair = found.adjusted(np.array([True, True]))
    assert pair[0] == pytest.approx(found.adjusted(np.array([True, False]))[0])
    # Only people's gaps: the statistic of the data's own order is the plain sum still.
    some = human.copy()
    some[0, 0] = some[2, 3] = NAN
    assert np.isfinite(outcome([metric], some, "pearson", EVERY, n=60).p).all()


def test_one_system_or_one_document():
    rng = np.random.default_rng(3)
    metric, human = rng.normal(size=(2, 1, 6))
    found = outcome([metric], human, "pearson", ["global", "system"], n=60)
    assert np.isnan(found.p[0, 1])
    assert 0 < found.p[0, 0] <= 1
    found = outcome([metric.T], human.T, "pearson", ["global", "document", "within"], n=60)
    assert np.isnan(found.p[0, 2])
    assert found.p[0, 0] == pytest.approx(found.p[0, 1])


def test_signs_say_which_way():
    shared = world((4, 8))[0]
    noise = 0.1 * np.random.default_rng(4).normal(size=(2, 4, 8))
    found = outcome([shared + noise[0], -shared], shared + noise[1], "pearson", EVERY, n=100)
    assert (found.signs == np.array([[1], [-1]])).all()


def test_true_metrics_do_not_make_the_others_findings():
    """One metric of ten is true; any finding among the other nine is to be rare all the same."""
    rng = np.random.default_rng(5)
    runs, false, true = 250, 0, 0
    for run in range(runs):
        human = rng.normal(size=(5, 12)) + rng.normal(size=(5, 1))
        metrics = [human + 0.3 * rng.normal(size=(5, 12)), *rng.normal(size=(9, 5, 12))]
        found = outcome(metrics, human, "pearson", ["document", "within"], n=120, seed=run)
        low = found.adjusted(np.ones(10, dtype=bool)) < 0.05
        true, false = true + low[0].any(), false + low[1:].any()
    assert true > 0.95 * runs
    assert false / runs <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / runs)


def nested(rng, systems=3, documents=24, effect=3.0):
    """Each document has one system's text; strong favourites of metric and people, no relation."""
    system = np.arange(documents) % systems
    both = []
    for _ in range(2):
        scores = np.full((systems, documents), NAN)
        level = effect * rng.normal(size=systems)
        scores[system, np.arange(documents)] = level[system] + rng.normal(size=documents)
        both.append(scores)
    return system, *both


NESTED = ("global", "between_systems", "within")


def test_nested_by_hand():
    # System x wrote documents 1 2 3, y wrote 4 5 6. Within x in order, within y in order: of the
    # 6 x 6 orders within, the data are the one most extreme, as is the reverse: p 2 / 36.
    metric = np.array([[1.0, 2, 4, NAN, NAN, NAN], [NAN, NAN, NAN, 11, 12, 14]])
    system = np.array([0, 0, 0, 1, 1, 1])
    human = metric + 5
    each = sides(human, "pearson", NESTED)
    rng = np.random.default_rng(0)
    found = nested_test(sides(metric[None], "pearson", NESTED), each, system, 2, n=4000, rng=rng)
    p = dict(zip(NESTED, found.p[0], strict=True))
    assert p["within"] == pytest.approx(2 / 36, abs=0.02)
    assert p["between_systems"] == pytest.approx(1)  # two systems either way round


def test_nested_designs_do_not_take_favourites_for_knowledge():
    rng = np.random.default_rng(6)
    p = []
    for run in range(200):
        system, metric, human = nested(rng)
        each = [sides(side, "pearson", NESTED) for side in (metric[None], human)]
        orders = np.random.default_rng(run)
        p.append(nested_test(*each, system, 3, n=200, rng=orders).p[0])
    p = np.array(p)
    # Three systems: at best 2 of 6 orders, however strong their effects.
    assert p[:, 1].min() >= 1 / 3 - 1e-9
    for column in (0, 2):
        assert np.mean(p[:, column] < 0.05) < 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 200)
    assert scipy.stats.kstest(p[:, 2], "uniform").pvalue > 0.01


def by_signs(metric, human, relation, coefficient, cluster):
    """The statistic in every order of systems and under every sign of the clusters, by loops."""
    one, other = (prepare(side, relation, coefficient) for side in (metric, human))
    a, b = one.values, other.values
    mean_a, mean_b = a.mean(axis=1, keepdims=True), b.mean(axis=1, keepdims=True)
    found = []
    orders = permutations(range(len(human))) if len(b) > 1 else [(0,)]
    for order in map(list, orders):
        for signs in product([1, -1], repeat=cluster.max() + 1):
            e = np.array(signs)[cluster]
            total = 0.0
            for row, to in enumerate(order):
                total += a.shape[1] * float(mean_a[row, 0] * mean_b[to, 0])
                rests = (a - mean_a)[row] * (b - mean_b)[to]
                total += float(np.sum(e * rests))
            found.append(total / np.sqrt(np.sum(a**2 * b[order] ** 2)))
    return np.array(found)


@pytest.mark.parametrize("relation", ["global", "document", "within", "between_documents"])
@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_clusters_are_tested_by_every_order_of_systems_and_every_sign(relation, coefficient):
    metric, human = world((3, 8), seed=4)
    cluster = np.array([0, 0, 1, 1, 1, 2, 2, 3])
    every = by_signs(metric, human, relation, coefficient, cluster)
    one, other = (sides(x, coefficient, [relation]) for x in (metric[None], human))
    rng = np.random.default_rng(0)
    found = independence_test(one, other, (3, 8), n=12_000, rng=rng, cluster=cluster)
    assert found.statistics[0, 0, 0] == pytest.approx(every[0])
    drawn = np.unique(np.round(found.statistics[0, 0], 9))
    np.testing.assert_allclose(drawn, np.unique(np.round(every, 9)), atol=1e-9)
    up = np.mean(every >= every[0] - 1e-9)
    down = np.mean(every <= every[0] + 1e-9)
    assert found.p[0, 0] == pytest.approx(min(1, 2 * min(up, down)), abs=0.02)


def test_between_systems_clusters_play_no_part():
    metric, human = world((5, 8))
    each = sides(metric[None], "pearson", ["system"])
    other = sides(human, "pearson", ["system"])
    found = [
        independence_test(
            each, other, (5, 8), n=9, rng=np.random.default_rng(0), cluster=cluster
        ).p[0, 0]
        for cluster in (None, np.arange(8) // 4)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("nested", [False, True])
def test_topics_are_no_knowledge(nested):
    """Both sides find some of five topics easier: orders of documents mislead, signs do not."""
    topic = np.repeat(np.arange(5), 12)
    wrong = {False: 0, True: 0}
    relations = ["global", "between_systems", "within"]
    for seed in range(60):
        rng = np.random.default_rng(seed)
        system = rng.integers(0, 4, 60)
        metric, human = (
            rng.normal(size=(4, 1)) + rng.normal(size=5)[topic] + rng.normal(size=(4, 60))
            for _ in range(2)
        )
        if nested:
            away = np.arange(4)[:, None] != system
            metric, human = (np.where(away, NAN, side) for side in (metric, human))
        else:
            relations = ["global", "between_systems", "between_documents", "within"]
        one, other = (sides(side, "pearson", relations) for side in (metric[None], human))
        for clustered in wrong:
            more = {"n": 300, "rng": rng, "cluster": topic if clustered else None}
            if nested:
                tested = nested_test(one, other, system, 4, **more)
            else:
                tested = independence_test(one, other, (4, 60), **more)
            wrong[clustered] += bool(np.nanmin(tested.adjusted(np.ones(1, dtype=bool))) < 0.05)
    assert wrong[False] >= 10  # of 60
    assert wrong[True] <= 7


def test_strata_add_up_in_units_of_their_own_spread():
    draw = np.random.default_rng(3)
    statistics = draw.normal(size=(2, 3, 2, 50))  # two strata, three metrics, two relations
    statistics[1] = 10 * statistics[1] + 5
    each = [Independence(one, False) for one in statistics]
    weights = np.array([[4.0, 1.0], [9.0, 0.0]])
    found = combine_strata(each, weights).statistics
    z = [(one - one.mean(-1, keepdims=True)) / one.std(-1, keepdims=True) for one in statistics]
    np.testing.assert_allclose(found[:, 0], 2 * z[0][:, 0] + 3 * z[1][:, 0])
    np.testing.assert_allclose(found[:, 1], z[0][:, 1])
    # What no order moves in a stratum says nothing there.
    still = each[1]._replace(statistics=np.ones((3, 2, 50)))
    np.testing.assert_allclose(
        combine_strata([each[0], still], weights).statistics[:, 1], z[0][:, 1]
    )
