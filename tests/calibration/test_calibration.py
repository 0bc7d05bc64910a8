"""`pytest -m calibration`. Bounds are those promised; shares' own error is far smaller."""

from itertools import pairwise

import pytest

from tests.calibration.simulations import power_curves, rates

pytestmark = pytest.mark.calibration


def test_every_rate_is_as_promised():
    broken = [row for row in rates() if not row.low <= row.share <= row.high]
    assert not broken


def test_power_rises_with_the_difference():
    _, curves = power_curves()
    for name, shares in curves.items():
        assert shares[0] < 0.1, name
        assert shares[-1] > shares[0] + 0.1, name
        assert all(b > a - 0.06 for a, b in pairwise(shares)), name
