"""Alarms of weeks in which nothing changed but the judge's mind."""

import pytest

from tests.calibration.weekly import DOUBTS, SLIPS, weeks


@pytest.mark.calibration
@pytest.mark.parametrize("kind", [SLIPS, DOUBTS])
def test_an_unchanged_system_alarms_no_more_often_than_is_stated(kind: str) -> None:
    alarms = weeks(20, kind, seed=1)
    assert alarms.any(axis=1).sum() <= 11, (
        "of 100; at 5 % one in a hundred tries has more"
    )
