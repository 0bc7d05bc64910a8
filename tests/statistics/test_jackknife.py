"""Leave-outs against smaller studies, intervals by hand, and what many metrics lend each other."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

from metassay.statistics.components import COMPONENTS, correlate_at
from metassay.statistics.correlation import EVERY_COEFFICIENT, LEVELS, taus_without
from metassay.statistics.jackknife import (
    LeaveOneOut,
    Spread,
    correct_for_choice,
    deviations,
    interval,
    joint_confidence,
    leave_out,
    moderator,
    smallest_study,
    units_of,
    variance_between_systems,
)
from metassay.statistics.layout import Layout, default_layout
from tests.support.statistics import NAN

NOTHING = np.empty(0)
every_relation = pytest.mark.parametrize("relation", [*LEVELS, *COMPONENTS])
every_coefficient = pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)


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


def groups(documents):
    return units_of(default_layout((1, documents))).document


@every_relation
@every_coefficient
@pytest.mark.parametrize(
    ("shape", "gaps"), [((5, 6), False), ((5, 6), True), ((4, 45), True)]
)
def test_every_leave_out_is_that_of_the_smaller_study(
    relation, coefficient, shape, gaps
):
    metric, human = world(shape, gaps)
    left = leave_out(metric, human, relation, coefficient)

    def value(systems=slice(None), documents=slice(None)):
        rest = (side[systems][:, documents] for side in (metric, human))
        return correlate_at(*rest, relation, coefficient).value

    assert left.value == pytest.approx(value())
    systems = [value(systems=np.arange(shape[0]) != i) for i in range(shape[0])]
    assert left.systems == pytest.approx(systems, nan_ok=True, abs=1e-9)
    group = groups(shape[1])
    numbers = range(group.max() + 1)
    documents = [value(documents=group != i) for i in numbers]
    if relation == "document":  # others are no documents with a coefficient
        lacking = [np.isnan(value(documents=group == i)) for i in numbers]
        documents = np.where(lacking, NAN, documents)
    elif gaps and shape[1] < 20:
        documents[1] = NAN  # it has no text that could be left out
    assert left.documents == pytest.approx(documents, nan_ok=True, abs=1e-9)


@pytest.mark.parametrize(
    ("items", "n"), [(9, 4), (9, 9), (300, 2), (300, 7), (300, 300)]
)
def test_taus_without_each_group_are_scipys_of_the_rest(items, n):
    rng = np.random.default_rng(items + n)
    x, y = rng.integers(0, 6, (2, 3, items)).astype(float)
    x[1, rng.random(items) < 0.3] = NAN
    x[2, :-2] = 1.0  # its only other values go with the last group
    group = np.arange(items) * n // items
    taus = taus_without(x, y, group, n)
    for row in range(3):
        for number in range(0, n, 1 + n // 20):
            rest = (group != number) & np.isfinite(x[row])
            for name, variant in (("kendall", "b"), ("kendall_c", "c")):
                expected = scipy.stats.kendalltau(
                    x[row, rest], y[row, rest], variant=variant
                )
                assert taus[name][row, number] == pytest.approx(
                    expected.statistic, nan_ok=True
                )


@every_relation
@every_coefficient
def test_families_clusters_and_strata_are_left_out_whole(relation, coefficient):
    metric, human = world((8, 12), True, seed=3)
    stratum = np.repeat([0, 1], 6)
    metric[:4, 6:] = metric[4:, :6] = NAN  # each stratum has four systems of its own
    # families are no more alike than others: that is not the question
    metric[[0, 5], :] += 3
    cluster = np.array([0, 0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9])
    layout = Layout(stratum, cluster=cluster, family=np.array([0, 0, 1, 2, 3, 4, 4, 5]))

    def mean(without_family=None, without_cluster=None):
        """The strata's coefficients, each weighted by what it rests on in the whole study."""
        values, weights = [], []
        for number in (0, 1):
            rows = slice(4 * number, 4 * number + 4)
            whole = [side[rows][:, stratum == number] for side in (metric, human)]
            n = correlate_at(*whole, relation, coefficient).n
            weights.append(n - (relation not in ("global", "document", "within")))
            systems = layout.family[rows] != without_family
            documents = layout.cluster[stratum == number] != without_cluster
            rest = (side[systems][:, documents] for side in whole)
            values.append(correlate_at(*rest, relation, coefficient).value)
        return np.average(values, weights=weights)

    left = leave_out(metric, human, relation, coefficient, layout)
    assert left.value == pytest.approx(mean())
    assert (
        correlate_at(metric, human, relation, coefficient, layout).value == left.value
    )
    known = ~np.isnan(left.systems)
    expected = np.array([mean(without_family=i) for i in range(6)])
    assert left.systems[known] == pytest.approx(expected[known])
    # Three families to a stratum: too few for an interval between their means.
    assert relation == "within" or known.all() == (
        relation not in ("system", "between_systems")
    )
    expected = np.array([mean(without_cluster=i) for i in range(10)])
    known = ~np.isnan(left.documents)
    assert left.documents[known] == pytest.approx(expected[known])
    assert known.sum() >= 6
    assert left.system_set.tolist() == [0, 0, 0, 1, 1, 1]
    assert groups(3).tolist() == [0, 1, 2]
    assert np.bincount(groups(45)).tolist() == [3, 2, 2, 2] * 5
    assert groups(0).size == 0


def test_an_interval_by_hand():
    # Means 1 and 2 of left-out systems: (n - 1) / n * ((1 - 1.5)**2 + .5**2) = .25, one
    # degree of freedom. Documents 1, 2, 3: 2 / 3 * 2 = 4 / 3, two degrees. Total 19 /
    # 12. All that on the scale of a difference, which is 2 tanh of these.
    left = LeaveOneOut(
        *(of_z(z) for z in (1.5, np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0])))
    )
    total = 1 / 4 + 4 / 3
    freedom = total**2 / ((1 / 4) ** 2 / 1 + (4 / 3) ** 2 / 2)
    for over, parts, freedom_over in (
        ("both", (1 / 4, 4 / 3), freedom),
        ("documents", (0, 4 / 3), 2),
        ("systems", (1 / 4, 0), 1),
    ):
        ends = interval(left, confidence=0.9, difference=True, over=over)
        reach = scipy.stats.t.ppf(0.95, freedom_over) * np.sqrt(sum(parts))
        assert ends == pytest.approx(
            (of_z(1.5 - reach), of_z(1.5 + reach), *parts, freedom_over)
        )
    wild = np.array([-1.9, 1.9, 0.3, 1.2])
    ends = interval(LeaveOneOut(0.4, wild, wild), confidence=0.99, difference=True)
    assert -2 <= ends.low < 0.4 < ends.high <= 2
    # Left-out means of independent numbers: the jackknife is Student's own interval.
    x = np.random.default_rng(0).normal(size=9) / 4
    without = np.array([np.delete(x, i).mean() for i in range(9)])
    left = LeaveOneOut(of_z(x.mean()), NOTHING, of_z(without))
    ends = interval(left, confidence=0.95, over="documents", difference=True)
    expected = scipy.stats.t.interval(0.95, 8, x.mean(), scipy.stats.sem(x))
    assert ends[:2] == pytest.approx([of_z(end) for end in expected])


def test_strata_add_their_variances():
    """Sets of leave-outs are centred each by itself: what parts them is no doubt."""
    a, b = np.array([0.1, 0.3, 0.2]), np.array([0.5, 0.55])
    left = LeaveOneOut(0.3, np.concatenate((a, b)), a, np.array([0, 0, 0, 1, 1]))
    alone = [
        interval(LeaveOneOut(0.3, x, a), confidence=0.9, over="systems") for x in (a, b)
    ]
    ends = interval(left, confidence=0.9)
    assert ends.of_systems == pytest.approx(sum(each.of_systems for each in alone))
    # A set of a single leave-out says nothing of others of its kind.
    lonely = LeaveOneOut(0.3, np.array([0.1, 0.3, 0.2]), a, np.array([0, 0, 1]))
    assert np.isnan(interval(lonely, confidence=0.9).low)


def test_fishers_scale_stays_within_1():
    left = LeaveOneOut(0.9, np.array([0.8, 0.95, 0.9]), np.array([0.7, 0.99]))
    ends = interval(left, confidence=0.95)
    assert -1 <= ends.low < 0.9 < ends.high <= 1
    assert ends.of_documents == pytest.approx(np.ptp(np.arctanh([0.7, 0.99])) ** 2 / 4)
    # The value of 1 is in its interval, however far Fisher's scale reaches.
    perfect = interval(
        LeaveOneOut(1.0, np.array([1.0, 0.5]), np.array([1.0, 0.9])), confidence=0.9
    )
    assert perfect.low < 1 == perfect.high
    assert interval(LeaveOneOut(1.0, np.ones(3), np.ones(3)), confidence=0.9)[:2] == (
        1,
        1,
    )


def test_unknown():
    known = np.array([0.1, 0.3, 0.2])
    for left in (
        LeaveOneOut(NAN, known, known),
        LeaveOneOut(0.2, np.array([0.1, NAN]), known),
        LeaveOneOut(0.2, known, np.array([0.1])),
        LeaveOneOut(0.2, NOTHING, NOTHING),
    ):
        assert np.isnan(interval(left, confidence=0.9)).all()
    ends = interval(LeaveOneOut(0.2, NOTHING, known), confidence=0.9, over="documents")
    assert np.isfinite(ends.low)
    # Only the first document orders anything; the others, left out, tell nothing of its
    # like.
    metric = np.array([[1.0, 2, 3], [2, 2, 3], [4, 2, 3], [3, 2, 3]])
    human = np.random.default_rng(0).normal(size=(4, 3))
    left = leave_out(metric, human, "document", "pearson")
    assert np.isnan(left.documents).all()
    assert np.isnan(interval(left, confidence=0.9, over="documents").low)
    for shape in ((0, 0), (1, 1), (3, 0), (0, 3)):
        empty = np.full(shape, NAN)
        for relation in (*LEVELS, *COMPONENTS):
            left = leave_out(empty, empty, relation, "kendall")
            assert np.isnan(interval(left, confidence=0.9)).all()
            assert np.isnan(left.systems).all()


@pytest.mark.parametrize(("systems", "known"), [(3, False), (4, True)])
def test_two_means_say_nothing_of_a_third(systems, known):
    """Left out of three, two systems correlate 1 or -1 whatever they are."""
    both = world((systems, 8), False)
    left = leave_out(*both, "system", "pearson")
    assert np.isfinite(left.systems).all() == known
    assert np.isnan(interval(left, confidence=0.9).low) != known
    assert np.isfinite(interval(left, confidence=0.9, over="documents").low)
    turned = leave_out(*(side.T for side in both), "between_documents", "pearson")
    assert np.isfinite(turned.documents).all() == known


def needed(variances, shape=(4, 10), useful=0.3, level="document"):
    return smallest_study(
        variances, shape, np.arctanh(useful), confidence=0.95, level=level
    )


@pytest.mark.parametrize("variances", [(0.05, 0.001), (0.001, 0.05), (0.02, 0.02)])
def test_what_a_study_needs_is_just_enough(variances):
    systems, documents = needed(variances)

    def settles(s, d):
        parts = variances[0] * 4 / s, variances[1] * 10 / d
        freedom = sum(parts) ** 2 / (parts[0] ** 2 / (s - 1) + parts[1] ** 2 / (d - 1))
        reach = scipy.stats.t.ppf(0.975, freedom) + scipy.stats.norm.ppf(0.8)
        return reach * np.sqrt(sum(parts)) <= np.arctanh(0.3)

    assert settles(systems, documents)
    assert not settles(max(2, systems * 0.85), max(2, documents * 0.85))
    # More of what makes the doubt, and more where there is more of it.
    if variances[0] != variances[1]:
        assert (systems / 4 > documents / 10) == (variances[0] > variances[1])
    assert np.prod(needed(variances, useful=0.6)) < systems * documents
    assert np.prod(needed(tuple(4 * v for v in variances))) > systems * documents


def test_needed_by_fisher_and_not_at_all():
    none = NAN, NAN
    # ((1.96 + .8416) / artanh .3)**2 + 3 = 84.9 systems, whatever is known of this
    # study.
    for variances, more, expected in (
        (none, {"level": "system"}, (85, 10)),
        ((0.5, 0.5), {"level": "system"}, (85, 10)),
        (none, {}, (85, 10)),
        (none, {"shape": (120, 10), "level": "system"}, (120, 10)),
        ((50.0, 50.0), {}, none),  # not within a hundred times the study
        (none, {"useful": 0.01, "level": "system"}, none),
        ((0.02, 0.02), {"useful": 0.0}, none),  # nothing to tell apart
        ((1e-4, 1e-4), {}, (4, 10)),  # enough already
        ((-1.0, 0.1), {}, none),
        ((0.1, -1e9), {}, none),
        ((0.1, 0.1), {"shape": (0, 9), "level": "global"}, none),
    ):
        assert needed(variances, **more) == pytest.approx(expected, nan_ok=True)


def drawn(n, freedom, prior, common):
    """Variances as Smyth 2004 has them: 1 / sigma^2 is chi-square of the prior's degrees."""
    rng = np.random.default_rng(0)
    true = common * prior / rng.chisquare(prior, n)
    return Spread(
        true * rng.chisquare(freedom, n) / freedom, np.full(n, float(freedom))
    )


def alike(n):
    return Spread(np.full(n, 0.1), np.full(n, 4.0))


def test_moderation_is_smyths_estimate():
    """800 metrics that have nothing in common: the prior is found, and pulls as it says."""
    small = moderator(drawn(800, freedom=7, prior=10, common=0.04), np.eye(800))(
        Spread(0.0, 7.0)
    )
    prior = small.freedom - 7
    assert prior == pytest.approx(10, rel=0.25)
    assert small.variance == pytest.approx(prior * 0.04 / (prior + 7), rel=0.1)


def test_moderation_by_hand():
    # Three metrics of equal variance: their logarithms differ less than chance makes
    # them, so the prior has all degrees of freedom that three independent metrics of 4
    # have, less one's own.
    moderated = moderator(alike(3), np.eye(3))(Spread(0.02, 4.0))
    assert moderated.freedom == pytest.approx(4 + 2 * 4)
    half, prior = 2.0, 8.0
    e = np.log(0.1) - scipy.special.digamma(half) + np.log(half)
    common = np.exp(e + scipy.special.digamma(prior / 2) - np.log(prior / 2))
    assert moderated.variance == pytest.approx((prior * common + 4 * 0.02) / 12)
    # Where an interval rests on systems alone, they keep their own degrees of freedom.
    alone = moderator(alike(3), np.eye(3), alone=True)(Spread(0.02, 4.0))
    assert alone == Spread(moderated.variance, 4.0)
    # A variance above what all have in common stays.
    assert moderator(alike(3), np.eye(3))(Spread(3.0, 4.0)).variance == 3.0
    # Metrics that move alike lend each other nothing.
    spreads = drawn(20, freedom=7, prior=50, common=0.04)
    copies = np.tile(np.random.default_rng(1).normal(size=28), (20, 1))
    first = Spread(spreads.variance[0], spreads.freedom[0])
    assert moderator(spreads, copies)(first) == first
    assert moderator(spreads, -copies)(first) == first
    # four groups of five
    some = moderator(spreads, np.kron(np.eye(4), np.ones((5, 1))))(first)
    assert some.freedom == pytest.approx(7 + 3 * 7)
    # Two metrics say nothing of a third.
    for n in (0, 1, 2):
        spreads = alike(n + 2)
        spreads.variance[n:] = NAN, 0.0
        raw = Spread(0.02, 4.0)
        assert moderator(spreads, np.eye(n + 2))(raw) == raw
    unknown = LeaveOneOut(0.5, np.array([0.5, NAN]), np.array([0.1, 0.2]))
    assert np.isnan(variance_between_systems(unknown)).all()
    known = variance_between_systems(
        unknown._replace(systems=np.array([0.1, 0.3, 0.2]))
    )
    z = np.arctanh([0.1, 0.3, 0.2])
    assert known == pytest.approx((2 / 3 * np.sum((z - z.mean()) ** 2), 2))


def test_intervals_of_many_metrics_hold_at_once():
    """Where every variance has four degrees of freedom, moderated ones still are large enough."""
    rng, misses = np.random.default_rng(3), 0
    for _ in range(400):
        sd = np.exp(0.3 * rng.normal(size=20))
        draws = sd[:, None] * rng.normal(size=(20, 5))
        spreads = Spread(draws.var(axis=1, ddof=1) / 5, np.full(20, 4.0))
        centred = draws - draws.mean(axis=1, keepdims=True)
        moderated = moderator(spreads, np.hstack([np.eye(20), 1e-9 * centred]))(spreads)
        reach = scipy.special.stdtrit(moderated.freedom, (2 - 0.05 / 20) / 2)
        misses += np.sum(
            np.abs(draws.mean(axis=1)) > reach * np.sqrt(moderated.variance)
        )
    # 5 % of studies are promised to have any; two standard errors more are luck.
    assert misses / 400 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


def test_squared_deviations_sum_to_the_intervals_variance():
    left = LeaveOneOut(
        *map(np.array, ([0.4] * 2, [[0.1, 0.5, NAN]] * 2, [[0.3, 0.2, 0.9]] * 2))
    )
    for difference in (True, False):
        ends = interval(left, confidence=0.9, difference=difference)
        moves = deviations(left, difference=difference)
        assert moves.shape == (2, 6)
        assert np.sum(moves**2, axis=1) == pytest.approx(
            ends.of_systems + ends.of_documents
        )
        assert moves[0, 2] == 0  # an undefined leave-out moves nothing


def test_a_single_metric_needs_its_confidence_and_independent_ones_sidaks():
    def joint(moves):
        return joint_confidence(moves, confidence=0.9, rng=np.random.default_rng(0))

    assert joint(np.ones((1, 4))) == joint(np.zeros((3, 4))) == 0.9
    # Nor do copies need more, nor a metric beside one that nothing moves.
    copies = np.vstack([np.arange(4.0)] * 5 + [np.zeros(4)])
    assert joint(copies) == pytest.approx(0.9, abs=0.006)
    assert joint(-copies) == pytest.approx(0.9, abs=0.006)
    for n in (2, 10, 40):
        assert 1 - joint(np.eye(n) * 3.0) == pytest.approx(1 - 0.9 ** (1 / n), rel=0.1)


def test_the_best_of_equal_metrics_is_no_better():
    """Of 20 equally good metrics (.5 on Fisher's scale) the best is 1.87 errors too high: .28."""
    luck, best = np.random.default_rng(1), []
    for _ in range(120):
        z = 0.5 + 0.15 * luck.normal(size=20)
        corrected = correct_for_choice(np.tanh(z), np.eye(20) * 0.15)
        best.append((z.max(), np.arctanh(corrected[np.argmax(z)])))
    plain, corrected = np.mean(best, axis=0) - 0.5
    assert plain > 0.2
    assert abs(corrected) < plain / 3


def test_what_needs_no_correction_gets_none():
    moves = np.ones((3, 4))
    for values in ([NAN, 0.7, NAN], [0.7, 0.7, NAN]):  # alone, alike, unknown
        np.testing.assert_array_equal(
            correct_for_choice(np.array(values), moves), values
        )
    # A metric that stands far off keeps its place; the others meet in the middle.
    values = np.array([0.0, 0.05, -0.05, 0.02, 0.9])
    corrected = correct_for_choice(values, np.eye(5) * 0.1)
    assert corrected[4] == pytest.approx(0.9, abs=0.03)
    assert np.ptp(corrected[:4]) < np.ptp(values[:4]) / 2
    # Where all metrics move together, the order is not luck: each keeps its value.
    values = np.array([0.1, 0.3, 0.5])
    assert correct_for_choice(values, np.full((3, 4), 0.5)) == pytest.approx(
        values, abs=0.01
    )
    # Next to no error changes next to nothing.
    values = np.array([-0.9, 0.1, 0.123456, 0.8])
    for error in (0.0, 1e-9, 1e-4):
        corrected = correct_for_choice(values, np.eye(4) * error)
        assert corrected == pytest.approx(values, abs=1e-3)
