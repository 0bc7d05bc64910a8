"""Rank correlation of a few things: by hand, and against SciPy's exact tests."""

import numpy as np
import pytest
import scipy.stats

from metassay.statistics.independence import rank_order


def of(x, y, coefficient="spearman", *, n_orders=999):
    return rank_order(x, y, coefficient, n_orders=n_orders, rng=np.random.default_rng(5))


def test_four_things_cannot_show_anything_by_hand():
    # d = 0, 0, 1, -1: rho = 1 - 6 x 2 / (4 x 15) = .8; tau = (5 - 1) / 6
    rho, tau = of([1, 2, 3, 4], [1, 2, 4, 3]), of([1, 2, 3, 4], [1, 2, 4, 3], "kendall")
    assert (rho.value, tau.value) == (pytest.approx(0.8), pytest.approx(2 / 3))
    # of 24 orders 1 has rho 1, 3 have .8, and as many have the opposite: 8 are as far from 0
    assert (rho.p, rho.smallest_p, rho.n, rho.exact) == (8 / 24, 2 / 24, 4, True)
    assert of([1, 2, 3, 4], [10, 20, 30, 40]).p == 2 / 24


def test_all_orders_are_scipys_exact_test():
    rng = np.random.default_rng(1)
    for n in (5, 6, 7):
        x, y = rng.random(n), rng.random(n)
        tau = scipy.stats.kendalltau(x, y, method="exact")
        found = of(x, y, "kendall")
        assert (found.value, found.p) == (pytest.approx(tau.statistic), pytest.approx(tau.pvalue))


def test_with_ties_all_orders_are_scipys_permutations():
    x, y = [1, 1, 2, 3, 4, 4], [2, 1, 2, 5, 5, 9]
    expected = scipy.stats.permutation_test(
        (x,),
        lambda some: abs(scipy.stats.spearmanr(some, y).statistic),
        permutation_type="pairings",
        alternative="greater",
        n_resamples=np.inf,
    )
    found = of(x, y)
    assert (found.value, found.p) == (pytest.approx(expected.statistic), expected.pvalue)
    assert found.smallest_p > 2 / 720  # ties leave fewer orders that differ


def test_many_things_are_put_in_random_orders_of_which_the_datas_own_is_one():
    found = of(range(12), range(12), n_orders=199)
    assert (found.value, found.p, found.exact) == (pytest.approx(1), 1 / 200, False)


def test_what_either_lacks_is_left_out_and_two_things_say_nothing():
    assert of([1, 2, np.nan, 4, 3], [2, 1, 7, np.nan, 5]).n == 3
    for undefined in (of([1, 2], [1, 2]), of([1, 1, 1], [1, 2, 3]), of([1, np.nan, 2], [1, 2, 3])):
        assert np.isnan([undefined.value, undefined.p, undefined.smallest_p]).all()
