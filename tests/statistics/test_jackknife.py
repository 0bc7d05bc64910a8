import numpy as np
import pytest
import scipy.stats

from metassay.statistics.components import COMPONENTS, correlate_at
from metassay.statistics.correlation import EVERY_COEFFICIENT, LEVELS, taus_without
from metassay.statistics.jackknife import LeaveOneOut, interval, leave_out, units_of
from metassay.statistics.layout import Layout, default_layout

NAN = np.nan
NOTHING = np.empty(0)


def of_z(z):
    """A difference whose place on the scale of its interval is z."""
    return 2 * np.tanh(z)


def world(shape, gaps, seed=0):
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(shape[0], 1)) + rng.normal(size=shape)
    metric, human = np.round(quality + rng.normal(size=(2, *shape)), 1)  # some ties
    if gaps:
        metric[rng.random(shape) < 0.2] = NAN
        human[rng.random(shape) < 0.2] = NAN
        metric[:, 1] = NAN  # a document of which nothing is known
    return metric, human


@pytest.mark.parametrize("relation", [*LEVELS, *COMPONENTS])
@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
@pytest.mark.parametrize(("shape", "gaps"), [((5, 6), False), ((5, 6), True), ((4, 45), True)])
def test_every_leave_out_is_that_of_the_smaller_study(relation, coefficient, shape, gaps):
    metric, human = world(shape, gaps)
    found = leave_out(metric, human, relation, coefficient)

    def value(systems, documents):
        sides = (side[systems][:, documents] for side in (metric, human))
        return correlate_at(*sides, relation, coefficient).value

    every = np.ones(shape[0], bool), np.ones(shape[1], bool)
    assert found.value == pytest.approx(value(*every))
    systems = [value(np.arange(shape[0]) != i, every[1]) for i in range(shape[0])]
    assert found.systems == pytest.approx(systems, nan_ok=True, abs=1e-9)
    group = groups(shape[1])
    documents = [value(every[0], group != i) for i in range(group.max() + 1)]
    lacking = [np.isnan(value(every[0], group == i)) for i in range(group.max() + 1)]
    if relation == "document":
        documents = np.where(lacking, NAN, documents)  # they are no documents with a coefficient
    elif gaps and shape[1] < 20:
        documents[1] = NAN  # it has no text that could be left out
    assert found.documents == pytest.approx(documents, nan_ok=True, abs=1e-9)


@pytest.mark.parametrize(("items", "n"), [(9, 4), (9, 9), (300, 7), (300, 300)])
def test_taus_without_each_group_are_scipys_of_the_rest(items, n):
    rng = np.random.default_rng(items + n)
    x, y = rng.integers(0, 6, (2, 3, items)).astype(float)
    x[1, rng.random(items) < 0.3] = NAN
    x[2, :-2] = 1.0  # its only other values go with the last group
    group = np.arange(items) * n // items
    found = taus_without(x, y, group, n)
    for row in range(3):
        for number in range(0, n, 1 + n // 20):
            rest = (group != number) & np.isfinite(x[row])
            for name, variant in (("kendall", "b"), ("kendall_c", "c")):
                expected = scipy.stats.kendalltau(x[row, rest], y[row, rest], variant=variant)
                assert found[name][row, number] == pytest.approx(expected.statistic, nan_ok=True)


def groups(documents):
    return units_of(default_layout((1, documents))).document


def test_groups_are_alike_and_in_order():
    assert groups(3).tolist() == [0, 1, 2]
    assert np.bincount(groups(45)).tolist() == [3, 2, 2, 2] * 5
    assert groups(0).size == 0


@pytest.mark.parametrize("relation", [*LEVELS, *COMPONENTS])
@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
def test_families_clusters_and_strata_are_left_out_whole(relation, coefficient):
    metric, human = world((8, 12), True, seed=3)
    stratum = np.repeat([0, 1], 6)
    metric[:4, 6:] = metric[4:, :6] = NAN  # each stratum has four systems of its own
    metric[[0, 5], :] += 3  # families are no more alike than others: that is not the question
    layout = Layout(
        stratum,
        cluster=np.array([0, 0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9]),
        family=np.array([0, 0, 1, 2, 3, 4, 4, 5]),
    )

    def mean(without_family=None, without_cluster=None):
        """The strata's coefficients, each weighted by what it rests on in the whole study."""
        values, weights = [], []
        for one in (0, 1):
            whole = [side[4 * one : 4 * one + 4][:, stratum == one] for side in (metric, human)]
            found = correlate_at(*whole, relation, coefficient)
            weights.append(found.n - (relation not in ("global", "document", "within")))
            rows = layout.family[4 * one : 4 * one + 4] != without_family
            columns = layout.cluster[stratum == one] != without_cluster
            part = (side[rows][:, columns] for side in whole)
            values.append(correlate_at(*part, relation, coefficient).value)
        return np.average(values, weights=weights)

    found = leave_out(metric, human, relation, coefficient, layout)
    assert found.value == pytest.approx(mean())
    assert correlate_at(metric, human, relation, coefficient, layout).value == found.value
    known = ~np.isnan(found.systems)
    expected = np.array([mean(without_family=i) for i in range(6)])
    assert found.systems[known] == pytest.approx(expected[known])
    # Three families to a stratum: too few for an interval between their means.
    assert relation == "within" or known.all() == (relation not in ("system", "between_systems"))
    expected = np.array([mean(without_cluster=i) for i in range(10)])
    known = ~np.isnan(found.documents)
    assert found.documents[known] == pytest.approx(expected[known])
    assert known.sum() >= 6
    assert found.system_set.tolist() == [0, 0, 0, 1, 1, 1]


def test_an_interval_by_hand():
    # Means 1 and 2 of left-out systems: (n - 1) / n * ((1 - 1.5)**2 + .5**2) = .25, one degree of
    # freedom. Documents 1, 2, 3: 2 / 3 * 2 = 4 / 3, two degrees. Total 19 / 12.
    # All that on the scale of a difference, which is 2 tanh of these.
    left = LeaveOneOut(*(of_z(z) for z in (1.5, np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0]))))
    found = interval(left, confidence=0.9, difference=True)
    total = 1 / 4 + 4 / 3
    freedom = total**2 / ((1 / 4) ** 2 / 1 + (4 / 3) ** 2 / 2)
    reach = scipy.stats.t.ppf(0.95, freedom) * np.sqrt(total)
    ends = of_z(1.5 - reach), of_z(1.5 + reach)
    assert found == pytest.approx((*ends, 1 / 4, 4 / 3, freedom))
    over = interval(left, confidence=0.9, difference=True, over="documents")
    reach = scipy.stats.t.ppf(0.95, 2) * np.sqrt(4 / 3)
    assert over == pytest.approx((of_z(1.5 - reach), of_z(1.5 + reach), 0, 4 / 3, 2))
    over = interval(left, confidence=0.9, difference=True, over="systems")
    assert (over.of_systems, over.of_documents, over.freedom) == pytest.approx((1 / 4, 0, 1))


def test_the_interval_of_a_mean_is_the_t_interval():
    """Left-out means of independent numbers: the jackknife is Student's own interval."""
    x = np.random.default_rng(0).normal(size=9) / 4
    without = np.array([np.delete(x, i).mean() for i in range(9)])
    left = LeaveOneOut(of_z(x.mean()), NOTHING, of_z(without))
    found = interval(left, confidence=0.95, over="documents", difference=True)
    expected = scipy.stats.t.interval(0.95, 8, x.mean(), scipy.stats.sem(x))
    assert found[:2] == pytest.approx([of_z(end) for end in expected])


def test_a_difference_stays_where_differences_can_be():
    wild = np.array([-1.9, 1.9, 0.3, 1.2])
    found = interval(LeaveOneOut(0.4, wild, wild), confidence=0.99, difference=True)
    assert -2 <= found.low < 0.4 < found.high <= 2


def test_strata_add_their_variances():
    """Sets of leave-outs are centred each by itself: what parts them is no doubt."""
    a, b = np.array([0.1, 0.3, 0.2]), np.array([0.5, 0.55])
    sets = np.array([0, 0, 0, 1, 1])
    left = LeaveOneOut(0.3, np.concatenate((a, b)), a, sets)
    found = interval(left, confidence=0.9)
    alone = [interval(LeaveOneOut(0.3, one, a), confidence=0.9, over="systems") for one in (a, b)]
    assert found.of_systems == pytest.approx(sum(one.of_systems for one in alone))
    # One of a set says nothing of others of its kind.
    lonely = LeaveOneOut(0.3, np.array([0.1, 0.3, 0.2]), a, np.array([0, 0, 1]))
    assert np.isnan(interval(lonely, confidence=0.9).low)


def test_fishers_scale_keeps_within_one():
    left = LeaveOneOut(0.9, np.array([0.8, 0.95, 0.9]), np.array([0.7, 0.99]))
    found = interval(left, confidence=0.95)
    assert -1 <= found.low < 0.9 < found.high <= 1
    z = np.arctanh([0.7, 0.99])
    assert found.of_documents == pytest.approx(np.ptp(z) ** 2 / 4)
    # The value of 1 is in its interval, however far Fisher's scale reaches.
    perfect = interval(LeaveOneOut(1.0, np.array([1.0, 0.5]), np.array([1.0, 0.9])), confidence=0.9)
    assert perfect.low < 1 == perfect.high
    still = interval(LeaveOneOut(1.0, np.ones(3), np.ones(3)), confidence=0.9)
    assert (still.low, still.high) == (1, 1)


@pytest.mark.parametrize("level", LEVELS)
def test_other_systems_make_more_doubt(level):
    left = leave_out(*world((6, 12), False, seed=1), level, "pearson")
    both, documents, systems = (
        interval(left, confidence=0.9, over=over) for over in ("both", "documents", "systems")
    )
    assert both.of_systems == systems.of_systems > 0
    assert both.of_documents == documents.of_documents > 0
    assert (documents.of_systems, systems.of_documents) == (0, 0)


def test_unknown():
    known = np.array([0.1, 0.3, 0.2])
    for left in (
        LeaveOneOut(NAN, known, known),
        LeaveOneOut(0.2, np.array([0.1, NAN]), known),
        LeaveOneOut(0.2, known, np.array([0.1])),
        LeaveOneOut(0.2, NOTHING, NOTHING),
    ):
        assert np.isnan(interval(left, confidence=0.9)).all()
    assert not np.isnan(
        interval(LeaveOneOut(0.2, NOTHING, known), confidence=0.9, over="documents").low
    )


@pytest.mark.parametrize(("systems", "known"), [(3, False), (4, True)])
def test_two_means_say_nothing_of_a_third(systems, known):
    """Left out of three, two systems correlate 1 or -1 whatever they are."""
    left = leave_out(*world((systems, 8), False), "system", "pearson")
    assert np.isfinite(left.systems).all() == known
    assert np.isnan(interval(left, confidence=0.9).low) != known
    assert np.isfinite(interval(left, confidence=0.9, over="documents").low)
    turned = leave_out(
        *(side.T for side in world((systems, 8), False)), "between_documents", "pearson"
    )
    assert np.isfinite(turned.documents).all() == known


def test_documents_without_a_coefficient_are_no_replicates():
    # Only the first document orders anything; the others, left out, tell nothing of its like.
    metric = np.array([[1.0, 2, 3], [2, 2, 3], [4, 2, 3], [3, 2, 3]])
    human = np.random.default_rng(0).normal(size=(4, 3))
    left = leave_out(metric, human, "document", "pearson")
    assert np.isnan(left.documents).all()
    assert np.isnan(interval(left, confidence=0.9, over="documents").low)


def test_nothing_at_all():
    for shape in ((0, 0), (1, 1), (3, 0), (0, 3)):
        empty = np.full(shape, NAN)
        for relation in (*LEVELS, *COMPONENTS):
            for coefficient in EVERY_COEFFICIENT:
                left = leave_out(empty, empty, relation, coefficient)
                assert np.isnan(interval(left, confidence=0.9)).all()
                assert np.isnan(left.systems).all()
