"""`pytest -m calibration`: the sentinel keeps to its rate, and sees what it is for."""

import pytest

from tests.calibration.drift import RATE, WATCHES, confirmed, power, silent

pytestmark = pytest.mark.calibration


@pytest.mark.parametrize("watch", WATCHES, ids=lambda watch: watch.spread)
def test_a_judge_that_does_not_change_raises_no_more_alarms_than_stated(watch):
    result = silent(watch, watches=60, seed=7)
    assert 0 < result.rate <= RATE


@pytest.mark.parametrize("watch", WATCHES, ids=lambda watch: watch.spread)
def test_a_model_that_changes_is_noticed(watch):
    assert power(watch, 0.15, one_sided=False, watches=60, seed=8)[0] > 0.85
    one_way, _ = power(watch, 0.10, one_sided=True, watches=60, seed=9)
    assert one_way > power(watch, 0.10, one_sided=False, watches=60, seed=9)[0]


def test_a_second_check_confirms_a_change_and_seldom_luck():
    changed, false = (
        confirmed(WATCHES[0], share, watches=40, seed=5) for share in (0.15, 0.0)
    )
    assert changed[1] > 0.9
    assert false[0] > 0
    assert false[1] < 0.5
