"""The chances of today's total, against all that the draws could have made."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from metassay.statistics.ratio_shift import shift
from metassay.statistics.repeats import least_chance, standing


def test_chances_are_those_of_every_possible_choice() -> None:
    draws = np.random.default_rng(3).integers(-2, 3, (5, 4))
    totals = np.array([sum(choice) for choice in product(*draws.tolist())])
    found = standing(draws, 0.05)
    assert found.total == draws[:, -1].sum()
    assert found.expected == pytest.approx(draws[:, :3].sum(axis=0).mean())  # without today's
    assert found.more == pytest.approx((totals >= found.total).mean())
    assert found.fewer == pytest.approx((totals <= found.total).mean())
    assert (totals >= found.high).mean() > 0.05 >= (totals >= found.high + 1).mean()
    assert (totals <= found.low).mean() > 0.05 >= (totals <= found.low - 1).mean()


def test_what_never_varies_is_never_new() -> None:
    found = standing(np.ones((4, 3), dtype=np.int64), 0.05)
    assert (found.total, found.low, found.high, found.more, found.fewer) == (4, 4, 4, 1, 1)
    assert least_chance(4, 3) == pytest.approx(1 / 81)
    for shape in ((0, 3), (3, 1)):
        with pytest.raises(ValueError, match="at least one cluster and two draws"):
            standing(np.zeros(shape, dtype=np.int64), 0.05)


def test_a_shift_of_ratios_by_hand() -> None:
    # Worth 2 of 3, 1 of 1, 1 of 2 before; 2, 0 and 0 after: 4/6 and 2/6.
    items, before, after = (np.array(one, dtype=float) for one in ([3, 1, 2], [2, 1, 1], [2, 0, 0]))
    found = shift(before, after, items, 0.95)
    assert (found.before, found.after) == pytest.approx((4 / 6, 2 / 6))
    assert found.difference == pytest.approx(-1 / 3)
    # Without the first -2/3, the second -1/5, the third -1/4; as many as 36/14 equal documents.
    without = np.array([-2 / 3, -1 / 5, -1 / 4])
    width = stats.t.ppf(0.975, 36 / 14 - 1) * np.sqrt(
        2 / 3 * ((without - without.mean()) ** 2).sum()
    )
    assert (found.low, found.high) == pytest.approx((-1 / 3 - width, -1 / 3 + width))


def test_equal_documents_have_the_interval_of_their_mean() -> None:
    apart = np.array([0.0, -0.25, -0.5, 0.25, -1.0])
    found = shift(np.full(5, 4.0), 4 * (1 + apart), np.full(5, 4.0), 0.95)
    wanted = stats.ttest_1samp(apart, 0.0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx(tuple(wanted))


def test_no_difference_in_few_documents_is_not_certainty() -> None:
    few, many = (shift(np.ones(n), np.ones(n) - 1e-15, np.ones(n), 0.95) for n in (4, 40))
    assert few.difference == many.difference == 0
    assert few.high == -few.low == pytest.approx(1 - 0.025**0.25)
    assert many.high < 0.1
    every = shift(np.ones(4), np.zeros(4), np.ones(4), 0.95)  # nor is that all changed
    assert (every.difference, every.high) == pytest.approx((-1, -(0.025**0.25)))
    alone = shift(np.ones(1), np.zeros(1), np.ones(1), 0.95)
    assert alone.difference == -1
    assert np.isnan([alone.low, alone.high]).all()
