"""Metrics and raters against the other raters: by hand, and who is named for disagreeing."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from metassay.statistics.agreement import (
    compare_with_others,
    compare_with_rater,
    mean_of_others,
)
from metassay.statistics.correlation import EVERY_COEFFICIENT, LEVELS, correlate
from metassay.statistics.jackknife import interval, leave_out
from tests.support.statistics import NAN

every_level = pytest.mark.parametrize("level", LEVELS)


def rated(rng, noise=1.0, shape=(5, 30), raters=3):
    truth = rng.normal(size=shape)
    return truth, truth + noise * rng.normal(size=(raters, *shape))


def test_against_a_rater_by_hand():
    # Two raters, one system: each predicts the other alone, and so do both directions
    # alike.
    ratings = np.array([[[1.0, 2, 3, 4]], [[1.0, 3, 2, 4]]])
    # A metric that is the mean of both correlates sqrt(.9) with each.
    result = compare_with_rater(ratings.mean(axis=0), ratings, "global", "pearson")
    assert result.rater.value == pytest.approx(0.8)
    assert result.metric.value == pytest.approx(np.sqrt(0.9))
    assert result.difference.value == result.metric.value - result.rater.value
    assert (result.n, result.n_undefined) == (2, 0)
    # Without the first document the raters are 2 3 4 and 3 2 4, without the second 1 3
    # 4, 1 2 4.
    left = [np.corrcoef([2, 3, 4], [3, 2, 4]), np.corrcoef([1, 3, 4], [1, 2, 4])]
    assert result.rater.documents[:2] == pytest.approx([r[0, 1] for r in left])


@pytest.mark.parametrize("coefficient", ["spearman", "kendall"])
def test_the_rater_pooled_equals_each_against_others(coefficient):
    rng = np.random.default_rng(1)
    ratings = np.round(rated(rng)[1])
    ratings[0, 0, :4] = ratings[1, 1, 1] = NAN
    metric, table = rng.normal(size=(5, 30)), ratings.reshape(3, -1)
    result = compare_with_rater(metric, ratings, "global", coefficient)
    of = EVERY_COEFFICIENT[coefficient]
    each = [float(of(table[rater], mean_of_others(table, rater))) for rater in range(3)]
    assert result.rater.value == pytest.approx(np.mean(each), abs=1e-12)
    order = np.ix_([4, 2, 3, 0, 1], np.arange(30)[::-1])
    turned = ratings[[2, 0, 1]][:, order[0], order[1]]
    again = compare_with_rater(metric[order], turned, "global", coefficient)
    assert again.metric.value == pytest.approx(result.metric.value, abs=1e-12)


@every_level
def test_a_rater_copied_is_at_the_ceiling_and_truth_above(level):
    rng = np.random.default_rng(2)
    truth, ratings = rated(rng)

    def ends(metric):
        result = compare_with_rater(metric, ratings, level, "pearson")
        return interval(result.difference, confidence=0.95, difference=True)

    at = ends(truth + rng.normal(size=truth.shape))
    assert at.low < 0 < at.high
    if level != "system":
        assert ends(truth).low > 0
        assert ends(rng.normal(size=truth.shape)).high < 0


@every_level
def test_neither_gets_easier_texts(level):
    _, ratings = rated(np.random.default_rng(3))
    ratings[0, :, :10] = NAN
    metric = ratings[1].copy()
    metric[2, 5:] = NAN
    result = compare_with_rater(metric, ratings, level, "pearson")
    each = []
    for rater in range(3):
        others = np.nanmean(np.delete(ratings, rater, axis=0), axis=0)
        both = np.isfinite(metric) & np.isfinite(ratings[rater])
        sides = [np.where(both, side, NAN) for side in (metric, ratings[rater])]
        each.append([correlate(side, others, level, "pearson").value for side in sides])
    assert [result.metric.value, result.rater.value] == pytest.approx(
        np.mean(each, axis=0)
    )
    for part in range(3):  # wherever something is left out
        expected = result.metric[part] - result.rater[part]
        np.testing.assert_array_equal(result.difference[part], expected)


@every_level
def test_many_metrics_at_once_are_each_what_it_is_alone(level):
    rng = np.random.default_rng(5)
    _, ratings = rated(rng)
    whole, some = rng.normal(size=(2, 5, 30))
    some[0, :9] = NAN  # on other texts the raters' own agreement is another
    metrics = np.stack([whole, some, -whole])
    shared = compare_with_rater(metrics, ratings, level, "pearson")
    for place, metric in enumerate(metrics):
        alone = compare_with_rater(metric, ratings, level, "pearson")
        assert shared.rater.value[place] == alone.rater.value
        assert shared.metric.value[place] == alone.metric.value
        assert shared.n_compared[place] == alone.n_compared


def test_undefined():
    constant = compare_with_rater(
        np.ones((2, 4)), np.full((3, 2, 4), 2.0), "global", "kendall"
    )
    assert np.isnan(constant.difference.value)
    assert (constant.n, constant.n_undefined) == (0, 3)
    metric = np.random.default_rng(0).normal(size=(2, 4))
    for raters in (0, 1):
        alone = compare_with_rater(
            metric, np.ones((raters, 2, 4)), "document", "pearson"
        )
        assert np.isnan(alone.metric.value)
    # Raters who rated no text in common have nobody to be held against.
    apart = np.full((2, 2, 4), NAN)
    apart[0, :, :2], apart[1, :, 2:] = metric[:, :2], metric[:, 2:]
    assert compare_with_rater(metric, apart, "global", "pearson").n == 0
    for wrong in (np.ones((2, 4)), np.ones((3, 2, 5))):
        with pytest.raises(ValueError, match="raters x systems x documents"):
            compare_with_rater(metric, wrong, "global", "kendall")


def test_leave_outs_are_means_of_the_raters():
    rng = np.random.default_rng(6)
    _, ratings = rated(rng, shape=(4, 6))
    metric = rng.normal(size=(4, 6))
    result = compare_with_rater(metric, ratings, "global", "pearson").metric
    others = [np.delete(ratings, rater, axis=0).mean(axis=0) for rater in range(3)]
    each = [leave_out(metric, mean, "global", "pearson") for mean in others]
    assert result.systems == pytest.approx(
        np.mean([left.systems for left in each], axis=0)
    )
    assert result.documents == pytest.approx(
        np.mean([left.documents for left in each], axis=0)
    )


def grades(n, noise, rng):
    """Grades of 1 to 5 by raters who hear the quality with this much noise."""
    quality = rng.normal(size=n)
    heard = [quality + rng.normal(size=n) * much for much in noise]
    return np.clip(np.round(np.array(heard) * 1.2 + 3), 1, 5)


def gaps(table, unit=None, seed=1, n=300):
    unit = np.arange(table.shape[1]) if unit is None else unit
    return compare_with_others(
        table, unit, n=n, confidence=0.95, rng=np.random.default_rng(seed)
    )


def named(table, seed, unit=None):
    return [gap.low > 0 for gap in gaps(table, unit, seed)]


def test_gaps_by_hand():
    table = grades(20, (0.5, 0.5, 3), np.random.default_rng(3))
    table[0, 0] = table[2, 1] = NAN
    table[:, 2] = NAN
    result = gaps(table)
    r01, r02, r12 = (
        spearmanr(table[a], table[b], nan_policy="omit").statistic
        for a, b in ((0, 1), (0, 2), (1, 2))
    )
    assert result[2].value == pytest.approx(r01 - (r02 + r12) / 2)
    assert result[0].value == pytest.approx(r12 - (r01 + r02) / 2)
    assert [gap.n for gap in result] == [18, 19, 18]
    assert [gap.n_missing for gap in result] == [1, 0, 1]
    assert result[2].low < result[2].value < result[2].high
    # Nothing is said of two raters, of what is constant, or of nothing.
    assert all(np.isnan(gap[:3]).all() and gap.n == 6 for gap in gaps(np.ones((2, 6))))
    constant = gaps(np.ones((3, 6)))
    assert all(np.isnan(gap[:3]).all() and gap.n_resamples == 0 for gap in constant)
    assert np.isnan(gaps(np.zeros((3, 0)))[0].value)
    # Who is lenient or severe agrees.
    table = grades(60, (0.3, 0.3, 0.3), np.random.default_rng(4))
    table[1] += 7
    assert not any(named(table, 1))


def test_claims_of_one_text_are_drawn_together():
    """Thirty copies of six texts are six texts: what they show of a rater is what six show."""
    table = grades(6, (0.3, 0.3, 3), np.random.default_rng(8))
    copies, unit = np.repeat(table, 30, axis=1), np.repeat(np.arange(6), 30)
    for alone, many in zip(gaps(table), gaps(copies, unit), strict=True):
        assert alone[:3] == pytest.approx(many[:3])
    # Fewer than six documents have no interval.
    table = grades(40, (0.3, 0.3, 9), np.random.default_rng(6))
    result = gaps(table, np.arange(40) // 8)[2]
    assert np.isfinite(result.value)
    assert np.isnan([result.low, result.high]).all()


def test_equal_raters_are_seldom_named_and_a_careless_rater_mostly_is():
    rng = np.random.default_rng(11)
    equal = [any(named(grades(30, (0.6, 0.6, 0.6), rng), n)) for n in range(100)]
    # .05 is the level; 11 of 100 would have a chance of 1 in 100
    assert np.mean(equal) <= 0.1
    careless = np.array([named(grades(30, (0.6, 0.6, 9), rng), n) for n in range(40)])
    assert np.mean(careless[:, 2]) >= 0.7
    assert not careless[:, :2].any()
    # Nine of ten grades are the best: what little differs is missing from many
    # resamples.
    rng = np.random.default_rng(2)
    heard = [rng.normal(size=12) + rng.normal(size=(3, 12)) for _ in range(60)]
    tables = [np.digitize(each, [-1.9, -1.2]).astype(float) for each in heard]
    assert np.mean([any(named(table, n)) for n, table in enumerate(tables)]) <= 0.05


def test_equal_raters_are_seldom_named_where_they_err_by_document():
    rng, unit = np.random.default_rng(5), np.repeat(np.arange(10), 8)
    alone, together = 0, 0
    for seed in range(60):
        off = rng.normal(size=(3, 10))[:, unit] + 0.6 * rng.normal(size=(3, 80))
        table = np.clip(np.round(rng.normal(size=80) + off + 3), 1, 5)
        alone += any(named(table, seed))
        together += any(named(table, seed, unit))
    assert together <= 7 < alone  # .05 is the level
