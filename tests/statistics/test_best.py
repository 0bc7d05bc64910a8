"""Which metric is best, and which are behind it, against a slow computation and planted truths."""

import numpy as np
import pytest
from scipy.stats import norm, t

from metassay.statistics.best import compare_with_best, places


def differences(values: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> object:
    return values[:, None, :] - values[:, :, None]


def slow(draws: object, best: int, n: int) -> list[float]:
    """One pair and one resample at a time, as the docstring has it."""
    every = np.asarray(draws)
    data, resampled = every[0], every[1:]
    size = len(data)
    pairs = {}
    for i in range(size):
        for j in range(size):
            deviations = [draw[i, j] - data[i, j] for draw in resampled]
            defined = [d for d in deviations if not np.isnan(d)]
            if np.isnan(data[i, j]) or 2 * len(defined) < len(deviations) or i == j:
                continue
            error = np.sqrt(np.mean(np.square(defined)))
            if error > 0:
                pairs[i, j] = (data[i, j] / error, np.array(deviations) / error)
    reached = []
    for at in range(len(resampled)):
        largest = max(
            np.inf if np.isnan(of[at]) else of[at] for _, of in pairs.values()
        )
        if np.isfinite(largest):
            largest = t.isf(norm.sf(largest), (n - 1) / 2) * np.sqrt(n / (n - 1))
        reached.append(largest)
    return [
        (1 + sum(reach >= pairs[i, best][0] for reach in reached)) / (1 + len(reached))
        if (i, best) in pairs
        else np.nan
        for i in range(size)
    ]


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("n", [4, 60])
def test_equals_a_slow_computation(gap: bool, n: int) -> None:
    rng = np.random.default_rng(n)
    values = np.linspace(0.2, 0.6, 5) + rng.normal(0, 0.08, (200, 5))
    if gap:
        values[rng.random((200, 5)) < 0.01] = np.nan
        values[0, 1] = np.nan
        values[50:, 2] = np.nan
    draws = np.asarray(differences(values))
    best = int(np.nanargmax(values[0]))
    assert np.allclose(
        compare_with_best(draws, best, n),
        slow(draws, best, n),
        atol=1e-12,
        equal_nan=True,
    )


def test_a_copy_is_as_good_and_a_far_one_is_not() -> None:
    rng = np.random.default_rng(1)
    best = 0.6 + rng.normal(0, 0.05, 1001)
    far = 0.1 + rng.normal(0, 0.05, 1001)
    near = best + rng.normal(0, 0.02, 1001)
    values = np.stack([best, best, far, near], axis=1)
    values[0] = 0.6, 0.6, 0.1, 0.59
    p = compare_with_best(np.asarray(differences(values)), 0, 100)
    assert np.isnan(p[:2]).all()  # itself, and what never differs from it
    assert p[2] < 0.005
    assert p[3] > 0.2


def test_of_one_thing_nothing_is_said() -> None:
    values = np.random.default_rng(2).normal(size=(50, 3))
    assert np.isnan(compare_with_best(np.asarray(differences(values)), 0, 1)).all()


def test_places() -> None:
    assert places(np.array([0.5, 0.7, np.nan, 0.7, -1.0])).tolist() == [3, 1, 0, 1, 4]
