import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.statistics.shares import prediction_powered_mean, rogan_gladen
from tests.support.statistics import NAN, published

PUBLISHED = published("ppi_values")


def test_by_hand():
    # Judge 1 too high on the two that people saw (3, 5 for 2, 4), and 7, 9 elsewhere: 8 - 1.
    judge, human = [3.0, 5, 7, 9], [2.0, 4, NAN, NAN]
    found = prediction_powered_mean(judge, human, confidence=0.95, weight=1)
    # The judge's bias is constant (variance 0), its own mean of 7 and 9 has variance 1 / 2.
    reach = 1.959964 * np.sqrt(0.5)
    assert found.value == pytest.approx(7)
    assert (found.low, found.high) == pytest.approx((7 - reach, 7 + reach), abs=1e-5)
    assert found[4:] == (6, 2, 2, 0)
    # 3 of 5 ones found, 1 of 5 zeros called one; of all 20 judgments 11 are one: .55.
    judge = [1.0] * 3 + [0] * 2 + [1] + [0] * 4 + [1] * 7 + [0] * 3
    human = [1.0] * 5 + [0] * 5 + [NAN] * 10
    found = rogan_gladen(judge, human, confidence=0.95)
    assert found[3:] == (pytest.approx(0.6), pytest.approx(0.8), 10, 10, 0)
    assert found.value == pytest.approx((0.55 + 0.8 - 1) / (0.6 + 0.8 - 1))
    assert found.low < found.value < found.high


@pytest.mark.parametrize("case", PUBLISHED["cases"])
def test_equals_ppi_python(case):
    judge = np.concatenate((case["judge"], case["judge_only"]))
    human = np.concatenate((case["human"], np.full(len(case["judge_only"]), NAN)))
    order = np.random.default_rng(0).permutation(judge.size)
    for weight, *expected in case["values"]:
        found = prediction_powered_mean(judge[order], human[order], confidence=0.9, weight=weight)
        assert found[:3] == pytest.approx(expected, abs=1e-9)
        assert found.n == len(case["human"])


@settings(deadline=None, derandomize=True, max_examples=40)
@given(seed=st.integers(0, 10**6), factor=st.floats(0.01, 100))
def test_invariances(seed, factor):
    rng = np.random.default_rng(seed)
    human = rng.normal(size=30)
    judge = human + rng.normal(size=30)
    human[rng.random(30) < 0.4] = NAN
    judge[rng.random(30) < 0.2] = NAN
    found = prediction_powered_mean(judge, human, confidence=0.9)
    order = rng.permutation(30)
    again = prediction_powered_mean(judge[order], human[order], confidence=0.9)
    assert again == pytest.approx(found, abs=1e-12)
    scaled = prediction_powered_mean(judge * factor, human * factor, confidence=0.9)
    assert scaled[:3] == pytest.approx(tuple(factor * v for v in found[:3]), abs=1e-9 * factor)
    negated = prediction_powered_mean(-judge, -human, confidence=0.9)
    assert negated[:3] == pytest.approx((-found.value, -found.high, -found.low), abs=1e-12)
    # A judge that is off by a constant is as good as one that is not.
    shifted = prediction_powered_mean(judge + 5, human, confidence=0.9)
    assert shifted[:4] == pytest.approx(found[:4], abs=1e-9)
    assert found.n + found.n_missing == np.sum(np.isfinite(human))


def test_a_useless_judge_leaves_peoples_mean():
    human = np.array([1.0, 2, 3, 4, NAN, NAN])
    constant = prediction_powered_mean(np.full(6, 7.0), human, confidence=0.9)
    assert constant.value == pytest.approx(2.5)
    assert constant.weight == 0
    alone = prediction_powered_mean(np.arange(4.0), human[:4], confidence=0.9, weight=1)
    assert (alone.value, alone.weight, alone.n_judged) == (2.5, 0, 0)
    nobody = prediction_powered_mean(np.arange(6.0), np.full(6, NAN), confidence=0.9)
    assert np.isnan(nobody[:4]).all()
    assert nobody.judge_mean == 2.5


def test_an_interval_of_rogan_and_gladen_has_its_value():
    draws = np.random.default_rng(20261127)
    for _ in range(300):
        human = draws.random(60) < draws.choice([0.05, 0.5, 0.97])
        judge = np.where(draws.random(60) < draws.choice([0.6, 0.9, 1.0]), human, ~human)
        people = np.where(draws.random(60) < draws.choice([0.2, 1.0]), human, np.nan)
        found = rogan_gladen(judge.astype(float), people, confidence=0.95)
        assert np.isnan(found.value) or found.low <= found.value <= found.high


def test_rogan_gladen_undefined_and_cut():
    half = [0.0, 1, 0, 1, 0, 1]
    for human in ([1.0, 1, 1, NAN, NAN, NAN], [NAN] * 6, [1.0, 0, 1, 0, NAN, NAN]):
        found = rogan_gladen(half, human, confidence=0.95)
        assert np.isnan(found[:3]).all()
    # A perfect judge: its share; all ones elsewhere cannot be more than 1.
    perfect = rogan_gladen([1.0, 0, 1, 1, 1, NAN], [1.0, 0, NAN, NAN, NAN, 1], confidence=0.95)
    assert perfect.value == pytest.approx(0.8)
    assert (perfect.n, perfect.n_judged, perfect.n_missing) == (2, 3, 1)
    cut = rogan_gladen([1.0, 0, 0, 0] + [1] * 20, [1.0, 1, 0, 0] + [NAN] * 20, confidence=0.95)
    assert cut.value == 1
    assert 0 <= cut.low <= cut.high <= 1
    with pytest.raises(ValueError, match="0 and 1"):
        rogan_gladen([0.5], [1.0], confidence=0.95)
    with pytest.raises(ValueError, match="equal length"):
        prediction_powered_mean([1.0], [1.0, 2.0], confidence=0.9)


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_corrected_rates_are_as_sure_as_asked_for(confidence):
    """Of 1,000 texts 100 are rated; sensitivity .9, specificity .8, and .6 pass."""
    rng, holds, studies = np.random.default_rng(3), 0, 600
    for _ in range(studies):
        truth = rng.random(1000) < 0.6
        judge = np.where(rng.random(1000) < np.where(truth, 0.9, 0.8), truth, ~truth)
        people = np.where(np.arange(1000) < 100, truth, np.nan)
        rate = rogan_gladen(judge.astype(float), people, confidence=confidence)
        holds += rate.low <= 0.6 <= rate.high
    error = np.sqrt(confidence * (1 - confidence) / studies)
    assert abs(holds / studies - confidence) < 4 * error
