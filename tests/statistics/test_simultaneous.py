import numpy as np
import pytest

from metassay.statistics.jackknife import (
    LeaveOneOut,
    correct_for_choice,
    deviations,
    interval,
    joint_confidence,
)

NAN = np.nan


def rng():
    return np.random.default_rng(0)


def test_squared_deviations_sum_to_the_intervals_variance():
    left = LeaveOneOut(*map(np.array, ([0.4] * 2, [[0.1, 0.5, NAN]] * 2, [[0.3, 0.2, 0.9]] * 2)))
    for difference in (True, False):
        ends = interval(left, confidence=0.9, difference=difference)
        moves = deviations(left, difference=difference)
        assert moves.shape == (2, 6)
        assert np.sum(moves**2, axis=1) == pytest.approx(ends.of_systems + ends.of_documents)
        assert moves[0, 2] == 0  # an undefined leave-out moves nothing


def test_one_metric_needs_no_more_than_its_own_confidence():
    assert joint_confidence(np.ones((1, 4)), confidence=0.9, rng=rng()) == 0.9
    assert joint_confidence(np.zeros((3, 4)), confidence=0.9, rng=rng()) == 0.9
    # Nor do copies, nor a metric beside one that nothing moves.
    copies = np.vstack([np.arange(4.0)] * 5 + [np.zeros(4)])
    assert joint_confidence(copies, confidence=0.9, rng=rng()) == pytest.approx(0.9, abs=0.006)
    assert joint_confidence(-copies, confidence=0.9, rng=rng()) == pytest.approx(0.9, abs=0.006)


@pytest.mark.parametrize("n", [2, 10, 40])
def test_independent_metrics_need_sidaks(n):
    found = joint_confidence(np.eye(n) * 3.0, confidence=0.9, rng=rng())
    assert 1 - found == pytest.approx(1 - 0.9 ** (1 / n), rel=0.1)


def chosen(runs=120, n=20, error=0.15):
    """Plain and corrected values of the best of equally good metrics (.5 on Fisher's scale)."""
    luck = np.random.default_rng(1)
    best = []
    for _ in range(runs):
        z = 0.5 + error * luck.normal(size=n)
        found = correct_for_choice(np.tanh(z), np.eye(n) * error)
        top = np.argmax(z)
        best.append((z[top], np.arctanh(found[top])))
    return np.mean(best, axis=0) - 0.5


def test_the_best_of_equal_ones_is_no_better():
    plain, corrected = chosen()
    assert plain > 0.2  # of 20, 1.87 standard errors too high: .28
    assert abs(corrected) < plain / 3


def test_a_lone_metric_and_unknown_ones_stay():
    moves = np.ones((3, 4))
    one = np.array([NAN, 0.7, NAN])
    np.testing.assert_array_equal(correct_for_choice(one, moves), one)
    alike = np.array([0.7, 0.7, NAN])
    np.testing.assert_array_equal(correct_for_choice(alike, moves), alike)


def test_one_that_stands_far_off_keeps_its_place():
    values = np.array([0.0, 0.05, -0.05, 0.02, 0.9])
    found = correct_for_choice(values, np.eye(5) * 0.1)
    assert found[4] == pytest.approx(0.9, abs=0.03)
    # The others meet in the middle.
    assert np.ptp(found[:4]) < np.ptp(values[:4]) / 2


def test_shared_error_is_not_shrunk():
    """Where all metrics move together, the order is not luck: each keeps its value."""
    values = np.array([0.1, 0.3, 0.5])
    together = np.full((3, 4), 0.5)
    assert correct_for_choice(values, together) == pytest.approx(values, abs=0.01)


def test_next_to_no_error_changes_next_to_nothing():
    values = np.array([-0.9, 0.1, 0.123456, 0.8])
    for error in (0.0, 1e-9, 1e-4):
        found = correct_for_choice(values, np.eye(4) * error)
        assert found == pytest.approx(values, abs=1e-3)


def test_order_and_bounds():
    luck = np.random.default_rng(3)
    values, moves = luck.uniform(-1, 1, 12), luck.normal(size=(12, 30)) * 0.1
    found = correct_for_choice(values, moves)
    assert values.min() - 1e-9 <= found.min() <= found.max() <= values.max() + 1e-9
    order = luck.permutation(12)
    assert correct_for_choice(values[order], moves[order]) == pytest.approx(found[order])
