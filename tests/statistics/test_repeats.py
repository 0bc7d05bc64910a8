"""The chances of today's total, against all that the draws could have made."""

from itertools import product

import numpy as np
import pytest

from metassay.statistics.changes import least_chance, standing


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
