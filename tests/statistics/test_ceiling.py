import numpy as np
import pytest

from metassay.statistics.agreement import against_rater, mean_of_others
from metassay.statistics.correlation import EVERY_COEFFICIENT, LEVELS, correlate
from metassay.statistics.jackknife import interval, leave_out

NAN = np.nan


def rated(rng, noise=1.0, shape=(5, 30), raters=3):
    truth = rng.normal(size=shape)
    return truth, truth + noise * rng.normal(size=(raters, *shape))


def test_by_hand():
    # Two raters, one system: each predicts the other alone, and so do both directions alike.
    ratings = np.array([[[1.0, 2, 3, 4]], [[1.0, 3, 2, 4]]])
    # A metric that is the mean of both correlates sqrt(.9) with each.
    found = against_rater(ratings.mean(axis=0), ratings, "global", "pearson")
    assert found.rater.value == pytest.approx(0.8)
    assert found.metric.value == pytest.approx(np.sqrt(0.9))
    assert found.difference.value == found.metric.value - found.rater.value
    assert (found.n, found.n_undefined) == (2, 0)
    # Without the first document the raters are 2 3 4 and 3 2 4, without the second 1 3 4, 1 2 4.
    left = [np.corrcoef([2, 3, 4], [3, 2, 4]), np.corrcoef([1, 3, 4], [1, 2, 4])]
    assert found.rater.documents[:2] == pytest.approx([one[0, 1] for one in left])


@pytest.mark.parametrize("coefficient", ["spearman", "kendall"])
def test_the_rater_pooled_equals_one_against_others(coefficient):
    rng = np.random.default_rng(1)
    _, ratings = rated(rng)
    ratings = np.round(ratings)
    ratings[0, 0, :4] = ratings[1, 1, 1] = NAN
    metric = rng.normal(size=(5, 30))
    found = against_rater(metric, ratings, "global", coefficient)
    table = ratings.reshape(3, -1)
    of = EVERY_COEFFICIENT[coefficient]
    each = [float(of(table[rater], mean_of_others(table, rater))) for rater in range(3)]
    assert found.rater.value == pytest.approx(np.mean(each), abs=1e-12)
    order = np.ix_([4, 2, 3, 0, 1], np.arange(30)[::-1])
    turned = ratings[[2, 0, 1]][:, order[0], order[1]]
    again = against_rater(metric[order], turned, "global", coefficient)
    assert again.rater.value == pytest.approx(found.rater.value, abs=1e-12)
    assert again.metric.value == pytest.approx(found.metric.value, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_a_rater_copied_is_at_the_ceiling_and_truth_above(level):
    rng = np.random.default_rng(2)
    truth, ratings = rated(rng)

    def ends(metric):
        found = against_rater(metric, ratings, level, "pearson")
        return interval(found.difference, confidence=0.95, difference=True)

    at = ends(truth + rng.normal(size=truth.shape))
    assert at.low < 0 < at.high
    if level != "system":
        assert ends(truth).low > 0
        assert ends(rng.normal(size=truth.shape)).high < 0


@pytest.mark.parametrize("level", LEVELS)
def test_the_difference_is_metric_less_rater_wherever_something_is_left_out(level):
    rng = np.random.default_rng(4)
    _, ratings = rated(rng)
    ratings[1, :, :3] = NAN
    found = against_rater(rng.normal(size=(5, 30)), ratings, level, "spearman")
    for part in range(3):
        expected = found.metric[part] - found.rater[part]
        np.testing.assert_array_equal(found.difference[part], expected)


@pytest.mark.parametrize("level", LEVELS)
def test_neither_gets_easier_texts(level):
    rng = np.random.default_rng(3)
    _, ratings = rated(rng)
    ratings[0, :, :10] = NAN
    metric = ratings[1].copy()
    metric[2, 5:] = NAN
    found = against_rater(metric, ratings, level, "pearson")
    each = []
    for rater in range(3):
        others = np.nanmean(np.delete(ratings, rater, axis=0), axis=0)
        there = np.isfinite(metric) & np.isfinite(ratings[rater])
        sides = [np.where(there, side, NAN) for side in (metric, ratings[rater])]
        each.append([correlate(side, others, level, "pearson").value for side in sides])
    assert [found.metric.value, found.rater.value] == pytest.approx(np.mean(each, axis=0))


def test_many_metrics_at_once_are_each_what_it_is_alone():
    rng = np.random.default_rng(5)
    _, ratings = rated(rng)
    whole, some = rng.normal(size=(2, 5, 30))
    some[0, :9] = NAN  # on other texts the raters' own agreement is another
    metrics = np.stack([whole, some, -whole])
    for level in LEVELS:
        shared = against_rater(metrics, ratings, level, "pearson")
        for place, metric in enumerate(metrics):
            alone = against_rater(metric, ratings, level, "pearson")
            assert shared.rater.value[place] == alone.rater.value
            assert shared.metric.value[place] == alone.metric.value
            assert shared.n_compared[place] == alone.n_compared


def test_undefined():
    constant = against_rater(np.ones((2, 4)), np.full((3, 2, 4), 2.0), "global", "kendall")
    assert np.isnan(constant.difference.value)
    assert (constant.n, constant.n_undefined) == (0, 3)
    metric = np.random.default_rng(0).normal(size=(2, 4))
    for raters in (0, 1):
        alone = against_rater(metric, np.ones((raters, 2, 4)), "document", "pearson")
        assert np.isnan(alone.metric.value)
    # Raters who rated no text in common have nobody to be held against.
    apart = np.full((2, 2, 4), NAN)
    apart[0, :, :2], apart[1, :, 2:] = metric[:, :2], metric[:, 2:]
    assert against_rater(metric, apart, "global", "pearson").n == 0
    for wrong in (np.ones((2, 4)), np.ones((3, 2, 5))):
        with pytest.raises(ValueError, match="raters x systems x documents"):
            against_rater(metric, wrong, "global", "kendall")


def test_leave_outs_are_means_of_the_raters():
    rng = np.random.default_rng(6)
    _, ratings = rated(rng, shape=(4, 6))
    metric = rng.normal(size=(4, 6))
    found = against_rater(metric, ratings, "global", "pearson")
    each = [
        leave_out(metric, np.delete(ratings, rater, axis=0).mean(axis=0), "global", "pearson")
        for rater in range(3)
    ]
    assert found.metric.systems == pytest.approx(np.mean([one.systems for one in each], axis=0))
    assert found.metric.documents == pytest.approx(np.mean([one.documents for one in each], axis=0))
