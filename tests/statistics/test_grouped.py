import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.statistics.correlation import EVERY_COEFFICIENT, correlate, correlate_groups

NAN = np.nan


def test_by_hand():
    # Group 2: order agrees; group 5: reversed; group 7: one item; group 9: people are constant.
    metric = [1, 2, 3, 1, 2, 3, 1, 1, 2, 4, NAN]
    human = [1, 2, 4, 9, 8, 7, 1, 3, 3, 4, 1]
    group = [2, 2, 2, 5, 5, 5, 7, 9, 9, NAN, 2]
    found = correlate_groups(metric, human, group, "kendall")
    assert found[:4] == (pytest.approx(0), 2, 2, 2)
    assert found.groups.tolist() == [2, 5, 7, 9]
    assert found.values == pytest.approx([1, -1, NAN, NAN], nan_ok=True)
    assert found.sizes.tolist() == [3, 3, 1, 2]


@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
@settings(deadline=None, derandomize=True, max_examples=20)
@given(st.integers(0, 10**6))
def test_documents_as_groups_are_the_document_level(coefficient, seed):
    rng = np.random.default_rng(seed)
    metric, human = rng.integers(0, 4, (2, 4, 6)).astype(float)
    metric[rng.random(metric.shape) < 0.2] = NAN
    group = np.broadcast_to(np.arange(6.0), metric.shape)
    order = rng.permutation(24)
    rows = (array.ravel()[order] for array in (metric, human, group))
    found = correlate_groups(*rows, coefficient)
    expected = correlate(metric, human, "document", coefficient)
    assert found.value == pytest.approx(expected.value, abs=1e-12, nan_ok=True)
    assert found[1:4] == expected[1:4]


def test_one_group_equals_scipy():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 30))
    found = correlate_groups(x, y, np.zeros(30), "spearman")
    assert found.value == pytest.approx(scipy.stats.spearmanr(x, y)[0], abs=1e-12)


def test_nothing():
    found = correlate_groups([], [], [], "pearson")
    assert found[:4] == pytest.approx((NAN, 0, 0, 0), nan_ok=True)
    with pytest.raises(ValueError, match="one length"):
        correlate_groups([1.0], [1.0, 2.0], [1.0, 1.0], "pearson")
