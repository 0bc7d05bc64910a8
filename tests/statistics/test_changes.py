"""Did values change: by hand, against every sign and every choice of draws, and against SciPy."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from metassay.statistics.changes import (
    least_chance,
    mean_interval,
    sign_flip_test,
    standing,
)
from tests.support.statistics import NAN


def statistics_of(differences):
    """The statistic of each row under every sign; the first signs are the data's."""
    filled = np.nan_to_num(differences)
    units = filled / np.sqrt((filled**2).sum(axis=1, keepdims=True))
    signs = np.array(list(product((1.0, -1.0), repeat=filled.shape[1])))
    return np.abs(units).sum(axis=1), np.abs(units @ signs.T)


def every_sign(differences):
    """p alone and adjusted, the long way: the largest statistic of the rows left."""
    _, values = statistics_of(differences)
    seen = values[:, :1] - 1e-9
    alone = (values >= seen).mean(axis=1)
    order = np.argsort(-seen[:, 0], kind="stable")
    adjusted, last = np.zeros(len(values)), 0.0
    for place, row in enumerate(order):
        last = max(last, (values[order[place:]].max(axis=0) >= seen[row]).mean())
        adjusted[row] = last
    return alone, adjusted


def test_p_by_hand():
    test = sign_flip_test(
        np.array([[1.0, 2.0, 3.0]]), n=1000, rng=np.random.default_rng(0)
    )
    assert test.exact
    # 2 of 8 signs are as extreme
    assert test.p == test.adjusted == test.smallest == [0.25]
    # Where nothing differs there is no p.
    test = sign_flip_test(
        np.array([[0.0, 0.0], [NAN, NAN], [1.0, 0.0]]), n=100, rng=None
    )
    assert np.isnan(test.p).tolist() == [True, True, False]
    assert test.smallest[2] == 1.0
    assert np.isnan(sign_flip_test(np.zeros((2, 3)), n=100, rng=None).adjusted).all()


def test_p_are_those_of_every_sign():
    rng = np.random.default_rng(1)
    differences = rng.normal(0.2, 1.0, (6, 9))
    differences[0, ::2] = 0.0
    differences[1, 3:] = NAN
    # Documents that do not differ change nothing.
    for rows in (differences, np.hstack([differences, np.zeros((6, 30))])):
        test = sign_flip_test(rows, n=10_000, rng=rng)
        alone, adjusted = every_sign(differences)
        assert test.exact
        assert test.p == pytest.approx(alone)
        assert test.adjusted == pytest.approx(adjusted)
        assert test.smallest == pytest.approx([0.5**3, 0.5**2, *[0.5**8] * 4])
    theirs = stats.permutation_test(
        (differences[2],), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert test.p[2] == pytest.approx(theirs.pvalue)


def test_many_documents_are_drawn_and_p_is_never_0():
    rng = np.random.default_rng(3)
    differences = np.vstack([rng.normal(3.0, 1.0, 40), rng.normal(0.0, 1.0, 40)])
    test = sign_flip_test(differences, n=999, rng=rng)
    assert not test.exact
    assert test.p[0] == test.adjusted[0] == test.smallest[0] == pytest.approx(1 / 999)
    assert test.adjusted[1] >= test.p[1] > 0.05


def test_reach_is_what_a_row_would_have_if_all_of_it_went_the_same_way():
    rng = np.random.default_rng(6)
    differences = rng.normal(0.3, 1.0, (6, 10))
    differences[0, 6:] = differences[1, :3] = 0.0
    differences[2] += 3.0
    test = sign_flip_test(differences, n=10_000, rng=rng)
    most, values = statistics_of(differences)
    _, adjusted = every_sign(differences)
    for row, reach in enumerate(most):
        below = values[:, 0] <= reach + 1e-9
        alone = (values[below].max(axis=0) >= reach - 1e-9).mean()
        assert test.reach[row] == pytest.approx(max([alone, *adjusted[~below]]))
    assert (test.reach <= test.adjusted + 1e-12).all()
    assert test.reach[2] == pytest.approx(test.adjusted[2])  # it all goes the same way
    # among other rows its six documents are few
    assert test.reach[0] > test.smallest[0]


def test_the_interval_is_students_and_needs_enough_that_differ():
    values = np.random.default_rng(5).normal(1.0, 2.0, (2, 12))
    values[1, 5:] = NAN
    low, high = mean_interval(values, np.arange(12), confidence=0.9)
    for row, ends in enumerate(zip(low, high, strict=True)):
        sample = values[row][np.isfinite(values[row])]
        expected = stats.ttest_1samp(sample, 0.0).confidence_interval(0.9)
        assert ends == pytest.approx(tuple(expected))
    # Two documents of each cluster say the same: as much as one.
    twice = np.repeat(values[:1], 2, axis=1)
    both = mean_interval(twice, np.repeat(np.arange(12), 2), confidence=0.9)
    assert [float(end[0]) for end in both] == pytest.approx([low[0], high[0]])
    rows = np.zeros((4, 20))
    rows[0, :6], rows[1, :5], rows[2] = np.arange(1, 7), np.arange(1, 6), 0.3
    for ends in mean_interval(rows, np.arange(20), confidence=0.95):
        assert np.isnan(ends).tolist() == [False, True, True, True]
    assert np.isnan(
        mean_interval(np.array([[1.0, NAN]]), np.arange(2), confidence=0.95)
    ).all()


def test_standings_are_those_of_every_possible_choice():
    draws = np.random.default_rng(3).integers(-2, 3, (5, 4))
    totals = np.array([sum(choice) for choice in product(*draws.tolist())])
    result = standing(draws, 0.05)
    assert result.total == draws[:, -1].sum()
    # without today's
    assert result.expected == pytest.approx(draws[:, :3].sum(axis=0).mean())
    assert result.more == pytest.approx((totals >= result.total).mean())
    assert result.fewer == pytest.approx((totals <= result.total).mean())
    assert (totals >= result.high).mean() > 0.05 >= (totals >= result.high + 1).mean()
    assert (totals <= result.low).mean() > 0.05 >= (totals <= result.low - 1).mean()
    # What never varies is never new.
    assert standing(np.ones((4, 3), dtype=np.int64), 0.05) == (4, 4, 4, 4, 1, 1)
    assert least_chance(4, 3) == pytest.approx(1 / 81)
    for shape in ((0, 3), (3, 1)):
        with pytest.raises(ValueError, match="at least one cluster and two draws"):
            standing(np.zeros(shape, dtype=np.int64), 0.05)
