import numpy as np
import pytest
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from metassay.statistics.classification import calibration
from metassay.statistics.shares import jeffreys

NAN = np.nan


def calibrated(p, people, **more):
    return calibration(p, people, confidence=0.95, rng=np.random.default_rng(0), **more)


def test_by_hand():
    # Ten texts of .2, two of them passed; ten of .8, six passed. One has no probability.
    p = [0.2] * 10 + [0.8] * 10 + [NAN, 0.5]
    people = [1.0] * 2 + [0.0] * 8 + [1.0] * 6 + [0.0] * 4 + [1.0, NAN]
    found = calibrated(p, people)
    assert found.n_missing == 1
    # .2: 2 * .64 + 8 * .04 = 1.6; .8: 6 * .04 + 4 * .64 = 2.8.
    assert found.brier.value == pytest.approx((1.6 + 2.8) / 20)
    assert found.bias.value == pytest.approx(0.5 - 8 / 20)
    assert found.ece.value == pytest.approx(0 / 2 + 0.2 / 2)
    assert np.isnan([found.ece.low, found.ece.high]).all()
    first, second = found.bins
    assert (first.lowest, first.highest, first.mean) == pytest.approx((0.2, 0.2, 0.2))
    assert (first.passed.value, second.passed.value) == pytest.approx((0.2, 0.6))
    assert second.passed[1:3] == pytest.approx(jeffreys(6, 10, confidence=0.95))
    assert (first.passed.n, second.passed.n) == (10, 10)


def test_the_bias_has_student_s_interval():
    rng = np.random.default_rng(1)
    p = rng.random(12)
    people = (rng.random(12) < 0.5).astype(float)
    off = p - people
    t = stats.t(11, loc=np.mean(off), scale=stats.sem(off))
    assert calibrated(p, people).bias[1:3] == pytest.approx(t.interval(0.95))


def test_equals_scikit_learn():
    rng = np.random.default_rng(1)
    p = rng.random(200)
    people = (rng.random(200) < p**2).astype(float)
    found = calibrated(p, people)
    assert found.brier.value == pytest.approx(brier_score_loss(people, p))
    passed, mean = calibration_curve(people, p, n_bins=10, strategy="quantile")
    assert [one.mean for one in found.bins] == pytest.approx(list(mean), abs=0.01)
    assert [one.passed.value for one in found.bins] == pytest.approx(list(passed), abs=0.051)
    assert found.ece.value == pytest.approx(np.mean(np.abs(passed - mean)), abs=0.01)
    assert found.ece.value > found.ece_by_chance.high  # it says p where p ** 2 is true
    assert found.bias.low > 0


def test_a_judge_whose_probabilities_are_right_is_not_told_from_one():
    rng = np.random.default_rng(2)
    inside = 0
    for _ in range(100):
        p = rng.beta(2, 2, 100)
        found = calibrated(p, (rng.random(100) < p).astype(float))
        inside += found.ece_by_chance.low <= found.ece.value <= found.ece_by_chance.high
    assert 88 <= inside <= 100
    assert found.ece_by_chance.value > 0.05  # so few texts show a gap in any case


def test_equal_probabilities_share_a_bin_in_any_order():
    rng = np.random.default_rng(3)
    p = rng.choice([0.1, 0.5, 0.9], 90)
    people = (rng.random(90) < p).astype(float)
    found = calibrated(p, people)
    assert [one.mean for one in found.bins] == pytest.approx([0.1, 0.5, 0.9])
    order = rng.permutation(90)
    again = calibrated(p[order], people[order])
    assert [one.passed for one in again.bins] == [one.passed for one in found.bins]
    assert again.ece.value == pytest.approx(found.ece.value)


def test_draws_of_many_texts_are_held_a_few_at_a_time(monkeypatch):
    rng = np.random.default_rng(7)
    judge = rng.random(40)
    people = (rng.random(40) < judge).astype(float)

    def found():
        return calibration(judge, people, confidence=0.95, rng=np.random.default_rng(1))

    at_once = found()
    monkeypatch.setattr("metassay.statistics.classification.CHUNK", 40 * 3)
    assert found() == at_once


def test_few_texts_have_few_bins_and_none_nothing():
    assert len(calibrated([0.3, 0.6, 0.7], [0.0, 1.0, 1.0]).bins) == 1
    nothing = calibrated([0.3, NAN], [NAN, 1.0])
    assert not nothing.bins
    assert np.isnan([found.value for found in nothing[:4]]).all()
    assert nothing.n_missing == 1
    # Equally far off, all of them: no doubt can be told from that.
    same = calibrated([0.9] * 5, [1.0] * 5)
    assert np.isnan([same.bias.low, same.brier.high]).all()
    assert same.bias.value == pytest.approx(-0.1)


def test_copies_of_texts_are_worth_no_more_than_the_texts():
    rng = np.random.default_rng(4)
    p = rng.random(60)
    people = (rng.random(60) < p).astype(float)
    once = calibrated(p, people)
    of = np.repeat(np.arange(60), 3)
    thrice = calibrated(np.repeat(p, 3), np.repeat(people, 3), cluster=of)
    for one, three in ((once.brier, thrice.brier), (once.bias, thrice.bias)):
        assert three.high - three.low == pytest.approx(one.high - one.low, rel=0.05)


def test_what_is_no_probability_is_refused():
    with pytest.raises(ValueError, match="probabilities"):
        calibrated([1.5], [1.0])
