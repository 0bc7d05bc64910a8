"""Agreement of counts: the worked example, and plain Python on resamples written out."""

from collections.abc import Sequence
from statistics import correlation

import numpy as np
import pytest

from metassay.statistics.agreement import COUNT_COEFFICIENTS, count_agreement

A, B = [3, 0, 1, 2, 5, 4, 0, 2], [3, 1, 1, 4, 5, 2, 0, 3]


def expected(a: Sequence[int], b: Sequence[int]) -> list[float]:
    n = len(a)
    chance = sum(a.count(value) * b.count(value) for value in set(a)) / n**2
    near = [sum(abs(x - y) <= t for x, y in zip(a, b, strict=True)) / n for t in (0, 1, 2)]
    return [(near[0] - chance) / (1 - chance), *near, correlation(a, b)]


def test_the_worked_example() -> None:
    found = count_agreement(np.array([A, B], float), np.arange(8), np.ones((1, 8)))
    values = [0.407407, 0.5, 0.75, 1, 0.7797]
    assert len(COUNT_COEFFICIENTS) == len(found)
    assert found[:, 0].tolist() == pytest.approx(values, abs=5e-7)
    assert expected(A, B) == pytest.approx(values, abs=5e-7)


def test_resamples_of_documents_are_those_with_their_texts_written_out() -> None:
    """Four documents of two texts each, drawn 0 to 3 times."""
    unit = np.repeat(np.arange(4), 2)
    weights = np.array([[1, 1, 1, 1], [2, 0, 1, 1], [0, 3, 1, 0], [1, 1, 0, 2]], float)
    found = count_agreement(np.array([A, B], float), unit, weights)
    for place, drawn in enumerate(weights):
        taken = [i for i in range(8) for _ in range(int(drawn[unit[i]]))]
        of = expected([A[i] for i in taken], [B[i] for i in taken])
        assert found[:, place].tolist() == pytest.approx(of, abs=1e-12)


def test_counts_without_spread_have_no_kappa_and_no_pearson() -> None:
    found = count_agreement(np.zeros((2, 4)), np.arange(4), np.ones((1, 4)))
    assert np.isnan(found[[0, 4], 0]).all()
    assert found[1:4, 0].tolist() == [1, 1, 1]
