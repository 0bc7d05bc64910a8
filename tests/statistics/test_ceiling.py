import numpy as np
import pytest

from metassay.statistics.ceiling import against_ceiling, human_ceiling
from metassay.statistics.correlation import LEVELS, correlate
from metassay.statistics.reliability import one_against_others
from metassay.statistics.resampling import draw

NAN = np.nan


def rated(rng, noise=1.0, shape=(5, 30), raters=3):
    truth = rng.normal(size=shape)
    return truth, truth + noise * rng.normal(size=(raters, *shape))


def draws_of(shape, n=200, seed=0):
    return draw(shape, resample="documents", n=n, rng=np.random.default_rng(seed))


def test_by_hand():
    # Two raters, one system: each predicts the other alone, and so do both directions alike.
    ratings = np.array([[[1.0, 2, 3, 4]], [[1.0, 3, 2, 4]]])
    found = human_ceiling(ratings, "global", "pearson", draws=draws_of((1, 4)), confidence=0.9)
    assert found[:1] == pytest.approx((0.8,))
    assert (found.n, found.n_undefined) == (2, 0)
    # A metric that is the mean of both correlates sqrt(.9) with each.
    metric = ratings.mean(axis=0)
    beside = against_ceiling(
        metric, ratings, "global", "pearson", draws=draws_of((1, 4)), confidence=0.9
    )
    assert beside.metric.value == pytest.approx(np.sqrt(0.9))
    assert beside.difference == pytest.approx(np.sqrt(0.9) - 0.8)


@pytest.mark.parametrize("coefficient", ["spearman", "kendall"])
def test_pooled_equals_one_against_others(coefficient):
    rng = np.random.default_rng(1)
    _, ratings = rated(rng)
    ratings = np.round(ratings)
    ratings[0, 0, :4] = ratings[1, 1, 1] = NAN
    found = human_ceiling(ratings, "global", coefficient, draws=draws_of((5, 30)), confidence=0.9)
    expected = one_against_others(ratings.reshape(3, -1), coefficient)
    assert found.value == pytest.approx(expected.value, abs=1e-12)
    assert found.low < found.value < found.high
    order = np.ix_([2, 0, 1], [4, 2, 3, 0, 1], np.arange(30)[::-1])
    again = human_ceiling(
        ratings[order], "global", coefficient, draws=draws_of((5, 30)), confidence=0.9
    )
    assert again.value == pytest.approx(found.value, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_a_rater_copied_is_at_the_ceiling_and_truth_above(level):
    rng = np.random.default_rng(2)
    truth, ratings = rated(rng)
    draws = draws_of((5, 30))
    how = {"draws": draws, "confidence": 0.95}
    fourth = truth + rng.normal(size=truth.shape)
    at = against_ceiling(fourth, ratings, level, "pearson", **how)
    assert at.low < 0 < at.high
    assert at.difference == pytest.approx(at.metric.value - at.human.value)
    if level != "system":
        above = against_ceiling(truth, ratings, level, "pearson", **how)
        assert above.low > 0
        below = against_ceiling(rng.normal(size=truth.shape), ratings, level, "pearson", **how)
        assert below.high < 0


def test_the_metric_gets_no_easier_texts():
    rng = np.random.default_rng(3)
    _, ratings = rated(rng)
    ratings[0, :, :10] = NAN
    metric = ratings[1].copy()
    metric[2] = NAN
    found = against_ceiling(
        metric, ratings, "global", "pearson", draws=draws_of((5, 30)), confidence=0.9
    )
    each = []
    for rater in range(3):
        others = np.nanmean(np.delete(ratings, rater, axis=0), axis=0)
        there = np.isfinite(metric) & np.isfinite(ratings[rater])
        each.append(correlate(np.where(there, metric, NAN), others, "global", "pearson").value)
    assert found.metric.value == pytest.approx(np.mean(each))


def test_undefined():
    nothing = human_ceiling(
        np.full((3, 2, 4), 2.0), "global", "kendall", draws=draws_of((2, 4)), confidence=0.9
    )
    assert np.isnan(nothing[:3]).all()
    assert (nothing.n, nothing.n_undefined, nothing.n_undefined_draws) == (0, 3, 200)
    one = human_ceiling(
        np.ones((1, 2, 4)), "document", "pearson", draws=draws_of((2, 4)), confidence=0.9
    )
    assert np.isnan(one.value)
    none = human_ceiling(
        np.ones((0, 2, 4)), "document", "pearson", draws=draws_of((2, 4)), confidence=0.9
    )
    assert np.isnan(none.value)
    with pytest.raises(ValueError, match="raters x systems x documents"):
        human_ceiling(np.ones((2, 4)), "global", "kendall", draws=draws_of((2, 4)), confidence=0.9)
    with pytest.raises(ValueError, match="system x document"):
        against_ceiling(
            np.ones((2, 3)), np.ones((3, 2, 4)), "global", "kendall", draws=draws_of((2, 4)),
            confidence=0.9,
        )  # fmt: skip
