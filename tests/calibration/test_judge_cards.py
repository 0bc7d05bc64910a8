"""`pytest -m calibration`. Bounds are those promised; shares' own error is far smaller."""

import pytest

from tests.calibration.judge_cards import label_ratios, rates

pytestmark = pytest.mark.calibration


def test_every_rate_is_as_promised():
    broken = [row for row in rates() if not row.low <= row.share <= row.high]
    assert not broken


def test_so_many_labels_give_the_width_asked_for():
    for case, ratios in label_ratios().items():
        for name, ratio in ratios.items():
            assert 0.85 <= ratio <= 1.15, (case, name)
