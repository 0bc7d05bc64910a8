"""`pytest -m calibration`. Bounds are those promised; shares' own error is far smaller."""

import pytest

from tests.calibration import annotator_test, judge_check, next_labels

pytestmark = pytest.mark.calibration


def test_a_judge_that_is_epsilon_worse_seldom_passes():
    for seed, world in enumerate(annotator_test.WORLDS):
        published, ours = annotator_test.false_passes(world, studies=600, seed=seed)
        assert ours <= 0.05, world.what
        if world.per_document >= 5 and world.items == 100:
            assert published > 0.05, world.what


def test_the_intervals_on_the_screen_cover():
    cards, raters = judge_check.rates(studies=100)
    for table, shares in cards:
        assert (shares > 0.9).all(), table
    for case, shares in raters:
        assert (shares > 0.88).all(), case


def test_suited_chances_save_labels_and_cover():
    rows = next_labels.rates(studies=150)
    assert sum(saved >= next_labels.SAVES for _, saved, *_ in rows) >= 3
    for world, saved, _, covers in rows:
        assert saved >= next_labels.LOSES - 0.03, world.what  # of so few studies
        assert covers >= next_labels.COVERS - 0.03, world.what
