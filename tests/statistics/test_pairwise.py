from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.statistics.correlation import LEVELS
from metassay.statistics.pairs import calibrate, calibrated_chance, pairwise_accuracy
from tests.support.statistics import NAN, checked, published, two_matrices

PUBLISHED = published()


def counted(x, y, epsilon):
    """One block, pair by pair."""
    both = np.isfinite(x) & np.isfinite(y)
    right = []
    for (a, p), (b, q) in combinations(zip(x[both], y[both], strict=True), 2):
        order = 0 if abs(a - b) <= epsilon + 1e-12 else np.sign(a - b)
        right.append(order == np.sign(p - q))
    return np.mean(right) if right else NAN


def test_by_hand():
    metric, human = np.array([[1.0], [1.2], [3.0], [0.9]]), np.array([[5.0], [5.0], [7.0], [6.0]])
    # Pairs 01 tied by people; 02 12 right; 03 13 wrong; 23 right: 3 of 6. An epsilon of .2 ties
    # 01 (right now) and 03 (wrong still); one of .3 ties 13 too.
    assert pairwise_accuracy(metric, human, "document").value == pytest.approx(3 / 6)
    assert calibrate(metric, human, "document") == pytest.approx(0.2)
    found = pairwise_accuracy(metric, human, "document", epsilon=0.2)
    # By chance: 2/6 tied by the metric, 1/6 by people: 2/36, and half of 4/6 * 5/6.
    assert found == (pytest.approx(4 / 6), pytest.approx(2 / 36 + 10 / 36), 0.2, 1, 0, 0)


@pytest.mark.parametrize("case", PUBLISHED["cases"])
def test_published_values(case):
    metric, human = np.array(case["metric"], float), np.array(case["human"], float)
    for name, plain, best, epsilon in case["pairwise"]:
        level = "document" if name == "transposed" else name
        a, b = (metric.T, human.T) if name == "transposed" else (metric, human)
        assert pairwise_accuracy(a, b, level).value == pytest.approx(plain, abs=1e-11)
        if best is None:
            continue
        mine = calibrate(a, b, level)
        found = pairwise_accuracy(a, b, level, epsilon=mine)
        assert found.value == pytest.approx(best, abs=1e-11)
        # Where 0 is as good as theirs to twelve digits, the first maximum is 0.
        assert mine == pytest.approx(epsilon if best > plain else 0, abs=1e-12)


@checked
@given(pair=two_matrices(), epsilon=st.sampled_from([0.0, 0.1, 0.25, 2.0]))
def test_equals_counting(pair, epsilon):
    metric, human = pair
    found = pairwise_accuracy(metric, human, "document", epsilon=epsilon)
    each = [counted(x, y, epsilon) for x, y in zip(metric.T, human.T, strict=True)]
    defined = [value for value in each if not np.isnan(value)]
    expected = np.mean(defined) if defined else NAN
    assert found.value == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert (found.n, found.n_undefined) == (len(defined), len(each) - len(defined))
    found = pairwise_accuracy(metric, human, "global", epsilon=epsilon)
    expected = counted(metric.ravel(), human.ravel(), epsilon)
    assert found.value == pytest.approx(expected, abs=1e-12, nan_ok=True)


@checked
@given(pair=two_matrices())
def test_no_epsilon_beats_the_calibrated(pair):
    for level in LEVELS:
        epsilon = calibrate(*pair, level)
        best = pairwise_accuracy(*pair, level, epsilon=epsilon).value
        for other in (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0):
            value = pairwise_accuracy(*pair, level, epsilon=other).value
            assert np.isnan(value) or value <= best + 1e-12
            assert np.isnan(value) or value < best - 1e-12 or other >= epsilon - 1e-12


def test_chance_is_the_mean_over_all_dealings():
    metric, human = np.array([0.0, 0.0, 1.0, 2.0]), np.array([[1.0], [1.0], [2.0], [1.0]])
    for epsilon in (0.0, 1.0):
        dealt = [
            pairwise_accuracy(metric[list(order), None], human, "document", epsilon=epsilon).value
            for order in permutations(range(4))
        ]
        found = pairwise_accuracy(metric[:, None], human, "document", epsilon=epsilon).chance
        assert found == pytest.approx(np.mean(dealt), abs=1e-12)


def test_calibrated_chance():
    metric, human = np.array([0.0, 0.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0, 1.0])
    best = []
    for order in permutations(range(4)):
        a, b = metric[list(order), None], human[:, None]
        epsilon = calibrate(a, b, "document")
        best.append(pairwise_accuracy(a, b, "document", epsilon=epsilon).value)
    # A fifth, absent, item must not be dealt a score.
    a, b = np.append(metric, 3.0)[:, None], np.append(human, NAN)[:, None]
    rng = np.random.default_rng(0)
    found = calibrated_chance(a, b, "document", n=1500, rng=rng)
    assert found == pytest.approx(np.mean(best), abs=4 * np.std(best) / np.sqrt(1500))
    assert found >= 0.5  # people tie half of the pairs


def test_undefined():
    one = np.array([[1.0, 2.0]])
    found = pairwise_accuracy(one, one, "document")
    assert found == pytest.approx((NAN, NAN, 0, 0, 2, 0), nan_ok=True)
    assert calibrate(one, one, "document") == 0
    assert np.isnan(calibrated_chance(one, one, "document", n=2, rng=np.random.default_rng(0)))
    empty = np.empty((0, 3))
    assert pairwise_accuracy(empty, empty, "global").n == 0
    constant = np.full((3, 1), 0.1)
    assert pairwise_accuracy(constant, constant, "document")[:2] == (1, 1)
    with pytest.raises(ValueError, match="epsilon"):
        pairwise_accuracy(one, one, "document", epsilon=-1)
