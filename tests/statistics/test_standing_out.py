"""A careless rater is named, and none of three equal ones more often than is said."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from metassay.statistics.agreement import below_others


def ratings(n, noise, rng):
    """Grades of 1 to 5 by raters who hear the quality with this much noise."""
    quality = rng.normal(size=n)
    heard = [quality + rng.normal(size=n) * much for much in noise]
    return np.clip(np.round(np.array(heard) * 1.2 + 3), 1, 5)


def named(table, seed, unit=None):
    unit = np.arange(table.shape[1]) if unit is None else unit
    rng = np.random.default_rng(seed)
    found = below_others(table, unit, n=300, confidence=0.95, rng=rng)
    return [one.low > 0 for one in found]


def test_by_hand():
    rng = np.random.default_rng(3)
    table = ratings(20, (0.5, 0.5, 3), rng)
    table[0, 0] = table[2, 1] = np.nan
    table[:, 2] = np.nan
    found = below_others(table, np.arange(20), n=50, confidence=0.95, rng=rng)
    of = {
        (a, b): spearmanr(table[a], table[b], nan_policy="omit").statistic
        for a, b in ((0, 1), (0, 2), (1, 2))
    }
    assert found[2].value == pytest.approx(of[0, 1] - (of[0, 2] + of[1, 2]) / 2)
    assert found[0].value == pytest.approx(of[1, 2] - (of[0, 1] + of[0, 2]) / 2)
    assert [one.n for one in found] == [18, 19, 18]
    assert [one.n_missing for one in found] == [1, 0, 1]
    assert found[2].low < found[2].value < found[2].high


def test_who_is_lenient_or_severe_agrees():
    rng = np.random.default_rng(4)
    table = ratings(60, (0.3, 0.3, 0.3), rng)
    table[1] += 7
    assert not any(named(table, 1))


def test_nothing_is_said_of_two_or_of_what_is_constant():
    once = np.arange(6)
    two = below_others(np.ones((2, 6)), once, n=20, confidence=0.9, rng=np.random.default_rng(1))
    assert all(np.isnan(one[:3]).all() and one.n == 6 for one in two)
    three = below_others(np.ones((3, 6)), once, n=20, confidence=0.9, rng=np.random.default_rng(1))
    assert all(np.isnan(one[:3]).all() and one.n_resamples == 0 for one in three)
    none = np.zeros((3, 0))
    (first, *_) = below_others(none, once[:0], n=5, confidence=0.9, rng=np.random.default_rng(1))
    assert np.isnan(first.value)


def test_claims_of_one_text_are_drawn_together():
    """Thirty copies of six texts are six texts: what they show of a rater is what six show."""
    rng = np.random.default_rng(8)
    table = ratings(6, (0.3, 0.3, 3), rng)
    copies, unit = np.repeat(table, 30, axis=1), np.repeat(np.arange(6), 30)
    each = below_others(table, np.arange(6), n=400, confidence=0.95, rng=np.random.default_rng(1))
    many = below_others(copies, unit, n=400, confidence=0.95, rng=np.random.default_rng(1))
    for one, other in zip(each, many, strict=True):
        assert one[:3] == pytest.approx(other[:3])


def test_equal_raters_are_seldom_named_and_a_careless_one_mostly_is():
    rng = np.random.default_rng(11)
    equal = [any(named(ratings(30, (0.6, 0.6, 0.6), rng), n)) for n in range(100)]
    assert np.mean(equal) <= 0.1  # .05 is the level; 11 of 100 would have a chance of 1 in 100
    careless = [named(ratings(30, (0.6, 0.6, 9), rng), n) for n in range(40)]
    assert np.mean([one[2] for one in careless]) >= 0.7
    assert not any(one[0] or one[1] for one in careless)


def test_equal_raters_are_seldom_named_where_they_err_by_document():
    rng, unit = np.random.default_rng(5), np.repeat(np.arange(10), 8)
    alone, together = 0, 0
    for seed in range(60):
        off = rng.normal(size=(3, 10))[:, unit] + 0.6 * rng.normal(size=(3, 80))
        table = np.clip(np.round(rng.normal(size=80) + off + 3), 1, 5)
        alone += any(named(table, seed))
        together += any(named(table, seed, unit))
    assert together <= 7 < alone  # .05 is the level


def test_fewer_than_six_documents_have_no_interval():
    table = ratings(40, (0.3, 0.3, 9), np.random.default_rng(6))
    unit = np.arange(40) // 8
    found = below_others(table, unit, n=50, confidence=0.95, rng=np.random.default_rng(0))
    assert np.isfinite(found[2].value)
    assert np.isnan([found[2].low, found[2].high]).all()


def test_equal_raters_are_not_named_for_a_text_or_two_below_the_ceiling():
    """Nine of ten grades are the best one: what little differs is missing from many resamples."""
    rng = np.random.default_rng(2)
    heard = [rng.normal(size=12) + rng.normal(size=(3, 12)) for _ in range(60)]
    tables = [np.digitize(one, [-1.9, -1.2]).astype(float) for one in heard]
    assert np.mean([any(named(table, n)) for n, table in enumerate(tables)]) <= 0.05
