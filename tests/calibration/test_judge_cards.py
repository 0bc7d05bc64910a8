"""`pytest -m calibration`. Bounds are those promised; shares' own error is far smaller."""

import pytest

from tests.calibration import card_transfer, judge_choice
from tests.calibration.judge_cards import label_ratios, rates

pytestmark = pytest.mark.calibration


def test_every_rate_is_as_promised():
    broken = [row for row in rates() if not row.low <= row.share <= row.high]
    assert not broken


def test_so_many_labels_give_the_width_asked_for():
    for case, ratios in label_ratios().items():
        for name, ratio in ratios.items():
            assert 0.85 <= ratio <= 1.15, (case, name)


def test_a_card_that_travels_is_told_so_wrongly_in_at_most_a_twentieth():
    for world in card_transfer.WORLDS:
        holds, worse = card_transfer.shares_told(world, 0.1)
        if world.loss == 0.1:
            assert holds <= 0.07, world  # three standard errors
            assert worse <= 0.05, world


def test_the_best_of_many_judges_is_not_better_by_luck():
    for judges, labels in ((5, 60), (20, 60), (40, 400)):
        row = judge_choice.rates(judges, labels, 0.0)
        assert row.better <= 0.05, (judges, labels)
        assert row.covers >= 0.93, (judges, labels)
        assert row.naive_covers < 0.9, (judges, labels)


def test_a_better_judge_of_forty_is_shown_with_enough_labels():
    row = judge_choice.rates(40, 1200, 0.08)
    assert row.planted > 0.95
    assert row.better > 0.95


def test_a_search_for_a_better_judge_does_not_deceive():
    as_improve = judge_choice.choose_as_improve
    none = judge_choice.rates(40, 200, 0.0, studies=200, choose=as_improve)
    assert none.better <= 0.05
    assert none.covers >= 0.9  # 95 %, less three standard errors
    assert none.naive_covers < 0.75
    better = judge_choice.rates(40, 600, 0.08, studies=200, choose=as_improve)
    assert better.covers >= 0.9
    assert better.planted > 0.9
    assert better.better > 0.75
