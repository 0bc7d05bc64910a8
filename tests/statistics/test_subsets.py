"""Exact ends over all choices of what counts, against trying them all."""

import itertools

import numpy as np
import pytest

from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.subsets import (
    least_maximum,
    least_mean,
    least_minimum,
    least_sum,
)


def case(seed: int) -> tuple[Array, Array, Mask, Mask]:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 5)), 6)
    values, weights = rng.integers(0, 5, shape).astype(float), rng.uniform(0.1, 1, shape[0])
    there = rng.random(shape) < 0.8
    return values, weights, there & (rng.random(shape) < 0.5), there


@pytest.mark.parametrize("seed", range(30))
def test_all_choices(seed: int) -> None:
    values, weights, sure, there = case(seed)
    found = np.array(
        [
            least_mean(values, weights, sure, there),
            least_maximum(values, sure, there),
            least_minimum(values, there),
            least_sum(values, sure, there),
        ]
    )
    for column in range(values.shape[1]):
        made = []
        for chosen in itertools.product([False, True], repeat=len(values)):
            rows = np.flatnonzero(chosen)
            outside = set(rows) - set(np.flatnonzero(there[:, column]))
            if len(rows) and not outside and set(np.flatnonzero(sure[:, column])) <= set(rows):
                mine = values[rows, column]
                mean = np.average(mine, weights=weights[rows])
                made.append([mean, mine.max(), mine.min(), mine.sum()])
        expected = np.min(made, axis=0) if made else np.full(4, np.nan)
        assert found[:, column] == pytest.approx(expected, nan_ok=True)


def test_a_known_mean_has_equal_ends() -> None:
    values, sure = np.array([[1 / 3], [0.75], [1.0]]), np.ones((3, 1), dtype=np.bool_)
    weights = np.array([0.1, 0.3, 0.3])
    low, high = (
        least_mean(values, weights, sure, sure),
        -least_mean(-values, weights, sure, sure),
    )
    assert low == high
