"""Pass rates, their corrections, and the labels that a width needs."""

import numpy as np
import pytest

from metassay.statistics.shares import (
    jeffreys,
    labels_needed,
    pass_rates,
    powered_influence,
    prediction_powered_mean,
    rogan_gladen,
)
from tests.statistics.test_judge_card import NAN, texts


def judged(counts, passed, failed):
    """Rated texts with these counts, and others that the judge alone passed or failed."""
    judge, people = texts(*counts)
    judge = np.concatenate((judge, np.ones(passed), np.zeros(failed)))
    return judge, np.concatenate((people, np.full(passed + failed, NAN)))


def rates(judge, people, **more):
    return pass_rates(judge, people, confidence=0.95, rng=np.random.default_rng(0), **more)


def test_by_hand():
    # 20 texts rated, 10 of them passed; sensitivity .8, specificity .9. The judge passes 9 of
    # those and 45 of the other 80.
    judge, people = judged((8, 1, 2, 9), 45, 35)
    found = rates(np.append(judge, NAN), np.append(people, 1.0))  # one is rated and not judged
    assert found.judge.value == pytest.approx(54 / 100)
    assert found.people.value == pytest.approx(11 / 21)
    assert found.rogan_gladen.value == pytest.approx((0.54 + 0.9 - 1) / (0.8 + 0.9 - 1))
    assert [one.n for one in found] == [100, 21, 20, 20]
    # People pass 8 of 9 that the judge passes and 2 of 11 that it fails: had people's covariance
    # with it been shared by all texts, 54 * 8/9 + 46 * 2/11 of 100.
    assert found.prediction_powered.value == pytest.approx(0.54 * 8 / 9 + 0.46 * 2 / 11, abs=0.005)
    for one in found:
        assert 0 <= one.low < one.value < one.high <= 1


# Estimate, low and high of ppi_mean_pointestimate and ppi_mean_ci, ppi-python 0.2.3, alpha .05.
PPI_PYTHON = [
    ((40, 6, 4, 30), (300, 220), (0.5512524037367438, 0.4729341160468441, 0.6295706914266435)),
    ((9, 2, 1, 8), (55, 45), (0.5, 0.33202943839473253, 0.6679705616052675)),
    ((150, 20, 30, 60), (700, 500), (0.6624218190311585, 0.6141360234466399, 0.7107076146156771)),
]


@pytest.mark.parametrize(("counts", "alone", "expected"), PPI_PYTHON)
def test_powered_equals_ppi_python(counts, alone, expected):
    judge, people = judged(counts, *alone)
    found = rates(judge, people).prediction_powered
    assert found.value == pytest.approx(expected[0], abs=1e-9)
    # Theirs is normal; ours allows for errors that so few ratings need not have shown.
    assert found.high - found.low > 0.98 * (expected[2] - expected[1])
    if sum(counts) > 200:
        assert (found.low, found.high) == pytest.approx(expected[1:], abs=0.005)


def test_corrections_are_those_of_prediction_powered():
    judge, people = judged((40, 6, 4, 30), 300, 220)
    found = rates(judge, people)
    powered = prediction_powered_mean(judge, people, confidence=0.95)
    gladen = rogan_gladen(judge, people, confidence=0.95)
    assert found.prediction_powered.value == pytest.approx(powered.value)
    assert found.rogan_gladen[:3] == pytest.approx(gladen[:3])


def test_rogan_and_gladens_interval_widens_about_its_middle_and_holds_its_value():
    # Of 60 rated texts 2 fail: Lang and Reiczigel's middle is then far below the value, and an
    # upper end that was stretched from the value on came to stand below it.
    judge, people = judged((52, 0, 6, 2), 140, 100)
    alone = rates(judge, people).rogan_gladen
    alike = rates(judge, people, cluster=np.arange(300) // 5).rogan_gladen
    assert alone.value == alike.value == pytest.approx(0.64 / (52 / 58))
    assert (alone.low + alone.high) / 2 < alone.value - 0.05
    assert alike.low < alone.low < alone.value <= alone.high < alike.high


def test_a_judge_without_an_error_yet_is_not_taken_for_perfect():
    judge, people = judged((10, 0, 0, 10), 500, 480)
    found = rates(judge, people)
    normal = prediction_powered_mean(judge, people, confidence=0.95)
    powered = found.prediction_powered
    assert normal.high - normal.low < 0.07
    assert powered.high - powered.low > 0.15


def test_everything_rated_leaves_peoples_rate_and_nothing_rated_none():
    judge, people = texts(8, 1, 2, 9)
    found = rates(judge, people)
    assert found.prediction_powered.value == found.people.value == 0.5
    alone = rates(judge, np.full(20, NAN))
    assert alone.judge.value == pytest.approx(0.45)
    for one in alone[1:]:
        assert np.isnan(one[:3]).all()
        assert one.n == 0
    useless = rates(*judged((5, 5, 5, 5), 10, 10))
    assert np.isnan(useless.rogan_gladen.value)
    assert useless.prediction_powered.value == pytest.approx(0.5)


def test_influence_has_the_variance_of_the_rate():
    judge, people = judged((40, 6, 4, 30), 300, 220)
    moved = powered_influence(judge, people)
    powered = prediction_powered_mean(judge, people, confidence=0.95)
    error = (powered.high - powered.value) / 1.959963984540054
    assert np.mean(moved) == pytest.approx(0, abs=1e-12)
    assert np.std(moved) / np.sqrt(moved.size) == pytest.approx(error, rel=0.03)


def test_copies_of_texts_widen_nothing_and_narrow_nothing():
    judge, people = judged((40, 6, 4, 30), 60, 60)
    of = np.repeat(np.arange(judge.size), 3)
    once = rates(judge, people)
    thrice = rates(np.repeat(judge, 3), np.repeat(people, 3), cluster=of)
    for one, three in zip(once, thrice, strict=True):
        assert three.n == 3 * one.n
        assert three.high - three.low == pytest.approx(one.high - one.low, rel=0.12)


def test_labels_are_as_many_as_the_width_asks_for():
    judge, people = judged((80, 20, 20, 80), 900, 900)
    needed = labels_needed(judge, people, confidence=0.95, width=0.2)
    # Of sensitivity near .8, Jeffreys' interval is .2 wide at 60 texts; half of the texts pass.
    low, high = jeffreys(0.8 * 60, 60, confidence=0.95)
    assert high - low == pytest.approx(0.2, abs=0.005)
    assert needed.sensitivity == pytest.approx(2 * 60, rel=0.05)
    assert needed.specificity == needed.sensitivity
    # The rate's normal interval: people's variance 1/4, of which the judgments explain .6 ** 2.
    variance = (0.2 / 2 / 1.96) ** 2
    assert needed.pass_rate == pytest.approx((1 - 0.36) / (variance / 0.25 - 0.36 / 2000), rel=0.05)
    narrow = labels_needed(judge, people, confidence=0.95, width=0.1)
    assert narrow.pass_rate > 3.5 * needed.pass_rate
    # So narrow that even all 2,000 rated are too few.
    assert labels_needed(judge, people, confidence=0.95, width=0.01).pass_rate > 30_000


def test_labels_of_documents_with_many_texts_are_more():
    judge, people = judged((80, 20, 20, 80), 900, 900)
    alone = labels_needed(judge, people, confidence=0.95)
    of = np.repeat(np.arange(judge.size), 3)
    copied = labels_needed(np.repeat(judge, 3), np.repeat(people, 3), confidence=0.95, cluster=of)
    for one, three in zip(alone, copied, strict=True):
        assert three == pytest.approx(3 * one, rel=0.05)


def test_labels_need_something_to_go_by():
    assert np.isnan(labels_needed([1.0, 0.0], [1.0, NAN], confidence=0.95)).all()
    assert np.isfinite(labels_needed([1.0, 0.0], [1.0, 1.0], confidence=0.95)).all()
    with pytest.raises(ValueError, match="width"):
        labels_needed([1.0, 0.0], [1.0, 1.0], confidence=0.95, width=0)
