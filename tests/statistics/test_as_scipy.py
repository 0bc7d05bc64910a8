"""What stands here because scipy's is slow to import gives scipy's numbers, to the last bit."""

from typing import Literal

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from metassay.statistics.exact_sums import rankdata
from metassay.statistics.layout import blocks_of, differ_by_group
from metassay.statistics.partials import _isotonic

ODD = (np.nan, np.inf, -np.inf, -0.0)


@pytest.mark.parametrize("policy", ["propagate", "omit"])
def test_ranks_of_any_shape_with_ties_and_missing_values(
    policy: Literal["propagate", "omit"],
) -> None:
    rng = np.random.default_rng(0)
    for _ in range(400):
        shape = tuple(rng.integers(0, 6, size=rng.integers(1, 4)))
        values = rng.integers(0, 4, size=shape).astype(float)
        odd = rng.random(shape) < rng.choice([0.0, 0.2])
        values[odd] = rng.choice(ODD, size=odd.sum())
        for axis in (None, *range(len(shape)), -1):
            ours = rankdata(values, axis=axis, nan_policy=policy)
            theirs = scipy.stats.rankdata(values, axis=axis, nan_policy=policy)
            np.testing.assert_array_equal(ours, theirs, strict=True)


def test_p_of_kruskal_and_wallis() -> None:
    rng = np.random.default_rng(1)
    for round_ in range(400):
        group = np.arange(rng.integers(20, 90)) % rng.integers(2, 7)
        side = rng.normal(size=(1, group.size))
        if round_ % 2:  # with ties
            side = np.rint(side)
        samples = [side[0, group == number] for number in np.unique(group)]
        expected = scipy.stats.kruskal(*samples).pvalue
        assert differ_by_group(side, group) == expected


def test_blocks_are_connected_components() -> None:
    rng = np.random.default_rng(2)
    for _ in range(400):
        systems, documents = rng.integers(1, 14, size=2)
        present = rng.random((systems, documents)) < 0.4 * rng.random()
        x, y = np.nonzero(present)
        cells = (np.ones(x.size), (x, y + systems))
        edges = coo_array(cells, shape=(systems + documents,) * 2)
        expected = connected_components(edges, directed=False)[1]
        numbers = np.concatenate(blocks_of(present))
        pairs = set(zip(expected.tolist(), numbers.tolist(), strict=True))
        # one number of ours for each of theirs, and the reverse
        assert len(pairs) == len(set(expected)) == len(set(numbers))


def test_one_long_chain_is_one_block() -> None:
    n = 300
    present = np.eye(n, dtype=bool) | np.eye(n, k=1, dtype=bool)
    of_system, of_document = blocks_of(present)
    assert not of_system.any()
    assert not of_document.any()


def test_isotonic_regression() -> None:
    rng = np.random.default_rng(3)
    for round_ in range(600):
        n = int(rng.integers(1, 80))
        values = rng.normal(size=n) + rng.random() * np.arange(n) * 0.3
        if round_ % 2:  # with ties
            values = np.rint(values) / 3
        weights = rng.integers(1, 9, size=n).astype(float)
        expected = scipy.optimize.isotonic_regression(values, weights=weights).x
        np.testing.assert_array_equal(_isotonic(values, weights), expected)


def test_isotonic_regression_by_hand() -> None:
    # 3, 1 fall, so they become their mean by weight, (3 + 3 * 1) / 4
    pooled = _isotonic(np.array([0.0, 3.0, 1.0, 2.0]), np.array([1.0, 1.0, 3.0, 1.0]))
    assert pooled.tolist() == [0.0, 1.5, 1.5, 2.0]
