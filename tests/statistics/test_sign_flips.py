"""Paired tests of differences: by hand, against every sign, and against SciPy."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from metassay.statistics.changes import mean_interval, sign_flip_test

NAN = np.nan


def every_sign(differences):
    """p alone and adjusted, the long way: all signs, and the largest statistic of the rows left."""
    there = np.nan_to_num(differences)
    size = np.sqrt((there**2).sum(axis=1, keepdims=True))
    signs = np.array(list(product((1.0, -1.0), repeat=there.shape[1])))
    found = np.abs(there / size @ signs.T)
    seen = found[:, :1] - 1e-9  # the first signs are the data's own
    alone = (found >= seen).mean(axis=1)
    order = np.argsort(-seen[:, 0], kind="stable")
    adjusted, last = np.zeros(len(there)), 0.0
    for place, row in enumerate(order):
        last = max(last, (found[order[place:]].max(axis=0) >= seen[row]).mean())
        adjusted[row] = last
    return alone, adjusted


def test_p_by_hand():
    test = sign_flip_test(np.array([[1.0, 2.0, 3.0]]), n=1000, rng=np.random.default_rng(0))
    assert test.exact
    assert test.p == test.adjusted == test.smallest == [0.25]  # 2 of 8 signs are as extreme


def test_p_are_those_of_every_sign():
    rng = np.random.default_rng(1)
    differences = rng.normal(0.2, 1.0, (6, 9))
    differences[0, ::2] = 0.0
    differences[1, 3:] = NAN
    test = sign_flip_test(differences, n=10_000, rng=rng)
    alone, adjusted = every_sign(differences)
    assert test.exact
    assert test.p == pytest.approx(alone)
    assert test.adjusted == pytest.approx(adjusted)
    assert test.smallest == pytest.approx([0.5**3, 0.5**2, *[0.5**8] * 4])


def test_p_of_one_row_is_scipys():
    differences = np.random.default_rng(2).exponential(1.0, 10) - 0.4
    ours = sign_flip_test(differences[None], n=10_000, rng=np.random.default_rng(0))
    theirs = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert ours.p[0] == pytest.approx(theirs.pvalue)


def test_many_documents_are_drawn_and_p_is_never_0():
    rng = np.random.default_rng(3)
    differences = np.vstack([rng.normal(3.0, 1.0, 40), rng.normal(0.0, 1.0, 40)])
    test = sign_flip_test(differences, n=999, rng=rng)
    assert not test.exact
    assert test.p[0] == test.adjusted[0] == test.smallest[0] == pytest.approx(1 / 999)
    assert test.adjusted[1] >= test.p[1] > 0.05


def test_where_nothing_differs_there_is_no_p():
    test = sign_flip_test(np.array([[0.0, 0.0], [NAN, NAN], [1.0, 0.0]]), n=100, rng=None)
    assert np.isnan(test.p).tolist() == [True, True, False]
    assert test.smallest[2] == 1.0
    assert np.isnan(sign_flip_test(np.zeros((2, 3)), n=100, rng=None).adjusted).all()


def test_the_documents_that_do_not_differ_change_nothing():
    rng = np.random.default_rng(4)
    some = rng.normal(0.5, 1.0, (3, 8))
    more = np.hstack([some, np.zeros((3, 30))])
    one, other = (sign_flip_test(rows, n=1000, rng=None) for rows in (some, more))
    assert one.adjusted == pytest.approx(other.adjusted)


def test_reach_is_what_a_row_would_have_if_all_of_it_went_one_way():
    rng = np.random.default_rng(6)
    differences = rng.normal(0.3, 1.0, (6, 10))
    differences[0, 6:] = differences[1, :3] = 0.0
    differences[2] += 3.0
    test = sign_flip_test(differences, n=10_000, rng=rng)
    units = differences / np.sqrt((differences**2).sum(axis=1, keepdims=True))
    found = np.abs(units @ np.array(list(product((1.0, -1.0), repeat=10))).T)
    _, adjusted = every_sign(differences)
    for row, most in enumerate(np.abs(units).sum(axis=1)):
        below = found[:, 0] <= most + 1e-9
        alone = (found[below].max(axis=0) >= most - 1e-9).mean()
        assert test.reach[row] == pytest.approx(max([alone, *adjusted[~below]]))
    assert (test.reach <= test.adjusted + 1e-12).all()
    assert test.reach[2] == pytest.approx(test.adjusted[2])  # it went one way
    assert test.reach[0] > test.smallest[0]  # among other rows its six documents are few


def test_an_interval_needs_enough_that_differ_and_not_all_alike():
    rows = np.zeros((4, 20))
    rows[0, :6], rows[1, :5] = np.arange(1, 7), np.arange(1, 6)
    rows[2] = 0.3
    low, high = mean_interval(rows, np.arange(20), confidence=0.95)
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [False, True, True, True]


def test_the_interval_is_students():
    values = np.random.default_rng(5).normal(1.0, 2.0, (2, 12))
    values[1, 5:] = NAN
    low, high = mean_interval(values, np.arange(12), confidence=0.9)
    for row, (lo, hi) in enumerate(zip(low, high, strict=True)):
        there = values[row][np.isfinite(values[row])]
        wanted = stats.ttest_1samp(there, 0.0).confidence_interval(0.9)
        assert (lo, hi) == pytest.approx(tuple(wanted))
    # Two documents of each cluster say the same: as much as one.
    twice = np.repeat(values[:1], 2, axis=1)
    both = mean_interval(twice, np.repeat(np.arange(12), 2), confidence=0.9)
    assert [float(end[0]) for end in both] == pytest.approx([low[0], high[0]])
    assert np.isnan(mean_interval(np.array([[1.0, NAN]]), np.arange(2), confidence=0.95)).all()
