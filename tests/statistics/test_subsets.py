"""Exact ends over all choices of what counts, against trying them all."""

import itertools

import numpy as np
import pytest

from metassay.statistics.subsets import (
    least_maximum,
    least_mean,
    least_minimum,
    least_sum,
)


@pytest.mark.parametrize("seed", range(30))
def test_all_choices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 5)), 6)
    values, weights = (
        rng.integers(0, 5, shape).astype(float),
        rng.uniform(0.1, 1, shape[0]),
    )
    possible = rng.random(shape) < 0.8
    sure = possible & (rng.random(shape) < 0.5)
    result = np.array(
        [
            least_mean(values, weights, sure, possible),
            least_maximum(values, sure, possible),
            least_minimum(values, possible),
            least_sum(values, sure, possible),
        ]
    )
    for column in range(values.shape[1]):
        every = []
        for choice in itertools.product([False, True], repeat=len(values)):
            rows = np.array(choice)
            fits = (sure[:, column] <= rows).all() and (
                rows <= possible[:, column]
            ).all()
            if rows.any() and fits:
                chosen = values[rows, column]
                mean = np.average(chosen, weights=weights[rows])
                every.append([mean, chosen.max(), chosen.min(), chosen.sum()])
        expected = np.min(every, axis=0) if every else np.full(4, np.nan)
        assert result[:, column] == pytest.approx(expected, nan_ok=True)


def test_a_known_mean_has_equal_ends() -> None:
    values, sure = np.array([[1 / 3], [0.75], [1.0]]), np.ones((3, 1), dtype=np.bool_)
    weights = np.array([0.1, 0.3, 0.3])
    assert least_mean(values, weights, sure, sure) == -least_mean(
        -values, weights, sure, sure
    )
