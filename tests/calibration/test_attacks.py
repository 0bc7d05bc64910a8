"""A few of the studies of attacks.py again."""

import pytest

from tests.calibration.attacks import SHAPES, WORLDS, rates

pytestmark = pytest.mark.calibration


def test_a_judge_that_nothing_changes_is_robust_and_never_gamed() -> None:
    of_nothing = rates(WORLDS[0], SHAPES[3], studies=3)
    assert of_nothing == [0.0, 100.0, 0.0, 100.0]


def test_a_gain_at_the_margin_is_seldom_called_robust() -> None:
    _, any_robust, gamed, _ = rates(WORLDS[3], SHAPES[0], studies=40)
    assert any_robust <= 10
    assert gamed > 80
