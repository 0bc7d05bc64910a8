import numpy as np
import pytest
import scipy.stats

from metassay.statistics.components import COMPONENTS, correlate_at
from metassay.statistics.correlation import EVERY_COEFFICIENT, LEVELS
from metassay.statistics.jackknife import LeftOut, groups, interval, left_out

NAN = np.nan
NOTHING = np.empty(0)


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
    found = left_out(metric, human, relation, coefficient)

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


def test_groups_are_alike_and_in_order():
    assert groups(3).tolist() == [0, 1, 2]
    assert np.bincount(groups(45)).tolist() == [3, 2, 2, 2] * 5
    assert groups(0).size == 0


def test_an_interval_by_hand():
    # Means 1 and 2 of left-out systems: (n - 1) / n * ((1 - 1.5)**2 + .5**2) = .25, one degree of
    # freedom. Documents 1, 2, 3: 2 / 3 * 2 = 4 / 3, two degrees. Total 19 / 12.
    left = LeftOut(1.5, np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0]))
    found = interval(left, confidence=0.9, fisher=False)
    total = 1 / 4 + 4 / 3
    freedom = total**2 / ((1 / 4) ** 2 / 1 + (4 / 3) ** 2 / 2)
    reach = scipy.stats.t.ppf(0.95, freedom) * np.sqrt(total)
    assert found == pytest.approx((1.5 - reach, 1.5 + reach, 1 / 4, 4 / 3, freedom))
    over = interval(left, confidence=0.9, fisher=False, over="documents")
    reach = scipy.stats.t.ppf(0.95, 2) * np.sqrt(4 / 3)
    assert over == pytest.approx((1.5 - reach, 1.5 + reach, 0, 4 / 3, 2))
    over = interval(left, confidence=0.9, fisher=False, over="systems")
    assert (over.of_systems, over.of_documents, over.freedom) == pytest.approx((1 / 4, 0, 1))


def test_the_interval_of_a_mean_is_the_t_interval():
    """Left-out means of independent numbers: the jackknife is Student's own interval."""
    x = np.random.default_rng(0).normal(size=9)
    left = LeftOut(x.mean(), NOTHING, np.array([np.delete(x, i).mean() for i in range(9)]))
    found = interval(left, confidence=0.95, over="documents", fisher=False)
    expected = scipy.stats.t.interval(0.95, 8, x.mean(), scipy.stats.sem(x))
    assert found[:2] == pytest.approx(expected)


def test_fishers_scale_keeps_within_one():
    left = LeftOut(0.9, np.array([0.8, 0.95, 0.9]), np.array([0.7, 0.99]))
    found = interval(left, confidence=0.95)
    assert -1 <= found.low < 0.9 < found.high <= 1
    z = np.arctanh([0.7, 0.99])
    assert found.of_documents == pytest.approx(np.ptp(z) ** 2 / 4)
    # The value of 1 is in its interval, however far Fisher's scale reaches.
    perfect = interval(LeftOut(1.0, np.array([1.0, 0.5]), np.array([1.0, 0.9])), confidence=0.9)
    assert perfect.low < 1 == perfect.high
    still = interval(LeftOut(1.0, np.ones(3), np.ones(3)), confidence=0.9)
    assert (still.low, still.high) == (1, 1)


@pytest.mark.parametrize("level", LEVELS)
def test_other_systems_make_more_doubt(level):
    left = left_out(*world((6, 12), False, seed=1), level, "pearson")
    both, documents, systems = (
        interval(left, confidence=0.9, over=over) for over in ("both", "documents", "systems")
    )
    assert both.of_systems == systems.of_systems > 0
    assert both.of_documents == documents.of_documents > 0
    assert (documents.of_systems, systems.of_documents) == (0, 0)


def test_unknown():
    known = np.array([0.1, 0.3, 0.2])
    for left in (
        LeftOut(NAN, known, known),
        LeftOut(0.2, np.array([0.1, NAN]), known),
        LeftOut(0.2, known, np.array([0.1])),
        LeftOut(0.2, NOTHING, NOTHING),
    ):
        assert np.isnan(interval(left, confidence=0.9)).all()
    assert not np.isnan(
        interval(LeftOut(0.2, NOTHING, known), confidence=0.9, over="documents").low
    )


@pytest.mark.parametrize(("systems", "known"), [(3, False), (4, True)])
def test_two_means_say_nothing_of_a_third(systems, known):
    """Left out of three, two systems correlate 1 or -1 whatever they are."""
    left = left_out(*world((systems, 8), False), "system", "pearson")
    assert np.isfinite(left.systems).all() == known
    assert np.isnan(interval(left, confidence=0.9).low) != known
    assert np.isfinite(interval(left, confidence=0.9, over="documents").low)
    turned = left_out(
        *(side.T for side in world((systems, 8), False)), "between_documents", "pearson"
    )
    assert np.isfinite(turned.documents).all() == known


def test_documents_without_a_coefficient_are_no_replicates():
    # Only the first document orders anything; the others, left out, tell nothing of its like.
    metric = np.array([[1.0, 2, 3], [2, 2, 3], [4, 2, 3], [3, 2, 3]])
    human = np.random.default_rng(0).normal(size=(4, 3))
    left = left_out(metric, human, "document", "pearson")
    assert np.isnan(left.documents).all()
    assert np.isnan(interval(left, confidence=0.9, over="documents").low)


def test_nothing_at_all():
    for shape in ((0, 0), (1, 1), (3, 0), (0, 3)):
        empty = np.full(shape, NAN)
        for relation in (*LEVELS, *COMPONENTS):
            for coefficient in EVERY_COEFFICIENT:
                left = left_out(empty, empty, relation, coefficient)
                assert np.isnan(interval(left, confidence=0.9)).all()
                assert np.isnan(left.systems).all()
