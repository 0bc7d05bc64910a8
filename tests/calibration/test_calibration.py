"""`pytest -m calibration`. Bounds are those promised; shares' own error is far smaller."""

from itertools import pairwise

import pytest

from tests.calibration import comparisons
from tests.calibration.facet_weights import covers
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


@pytest.mark.parametrize("method", ["complete", "renormalised"])
def test_intervals_of_facet_weights_cover(method):
    shares = covers(method, 44, noise=0.07, non_negative=False, runs=150)
    assert (shares > 0.88).all()
    assert 0.92 < shares.mean() < 0.98


def test_a_comparison_raises_no_more_false_alarms_than_promised():
    # Of 150 at 5 %, more than 15 are one in 300 by chance.
    assert all(share <= 0.1 for _, _, share in comparisons.false_alarms(studies=150))


def test_intervals_are_shown_where_they_hold():
    coverage = {name: shares for name, *shares in comparisons.coverage(studies=400)}
    assert all(there == 0 for (there, _), *_ in coverage.values())  # of 5 documents
    assert all(covered > 0.9 for *_, (_, covered) in coverage.values())
    assert coverage["a fifth of the texts fail, the others stay"][2][1] > 0.92


def test_a_system_that_regressed_is_named():
    power = {
        (lost, documents): row
        for lost, documents, *row in comparisons.power(studies=60)
    }
    assert power[0.2, 26][0] > 0.95
    assert power[0.1, 26][0] > 0.75
    assert power[0.2, 5][0] == 0
