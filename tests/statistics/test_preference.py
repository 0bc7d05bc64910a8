from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.statistics.pairs import (
    disagreements,
    draw_disagreements,
    preference_agreement,
)

NAN = np.nan


def test_preferences_by_hand():
    # same, opposite, metric ties, people tie, both tie, abstained, no score, same (leaning).
    first = [2.0, 1, 3, 4, 5, 6, NAN, 2]
    second = [1.0, 2, 3, 1, 5, 1, 2, 1]
    people = [1.0, 1, 0, 0.5, 0.5, NAN, 1, 2 / 3]
    found = preference_agreement(first, second, people)
    assert found[2:] == (2, 1, 1, 1, 1, 1, 1)
    assert found.value == pytest.approx(3 / 6)
    assert found.decisive == pytest.approx(2.5 / 4)
    wide = preference_agreement(first, second, people, epsilon=9)
    assert wide[2:] == (0, 0, 4, 0, 2, 1, 1)
    assert wide.decisive == pytest.approx(0.5)
    # .3 - .2 and .1 are one distance.
    assert preference_agreement([0.3], [0.2], [0.5], epsilon=0.1).n_both_tie == 1


def test_disagreements_by_hand():
    # Document 0: a orders 0 < 1 < 2, b 2 < 0 < 1: pairs 02 and 12. Document 1: b ties 0 and 1.
    a = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    b = np.array([[5.0, 5.0], [6.0, 5.0], [4.0, 9.0]])
    found = disagreements(a, b)
    assert found.document.tolist() == [0, 0]
    assert found.preferred_by_a.tolist() == [2, 2]
    assert found.preferred_by_b.tolist() == [0, 1]
    # Ranks by a 1 2 3, by b 2 3 1: |1 - 3| + |2 - 1| and |2 - 3| + |3 - 1|.
    assert found.conflict.tolist() == [3, 3]
    assert found.n_pairs == 6
    assert found.per_document.tolist() == [2, 0]


@settings(deadline=None, derandomize=True, max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_disagreements_equal_counting(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 4, (2, 5, 4)).astype(float)
    a[rng.random(a.shape) < 0.15] = NAN
    found = disagreements(a, b)
    expected = set()
    for d in range(4):
        for i, j in combinations(range(5), 2):
            if (a[i, d] - a[j, d]) * (b[i, d] - b[j, d]) < 0:
                expected.add((d, i, j) if a[i, d] > a[j, d] else (d, j, i))
    got = zip(found.document, found.preferred_by_a, found.preferred_by_b, strict=True)
    assert {tuple(int(n) for n in row) for row in got} == expected
    assert found.per_document.sum() == len(expected)
    for d in range(4):
        x, y = (m[:, d][np.isfinite(a[:, d])] for m in (a, b))
        if x.size > 1 and np.unique(x).size == x.size and np.unique(y).size == y.size:
            tau = scipy.stats.kendalltau(x, y)[0]
            assert found.per_document[d] == round((1 - tau) / 2 * x.size * (x.size - 1) / 2)
    order = rng.permutation(4)
    again = disagreements(a[:, order], b[:, order])
    assert again.per_document.tolist() == found.per_document[order].tolist()
    turned = disagreements(b * 3, a)
    assert turned.conflict.tolist() == found.conflict.tolist()
    assert turned.preferred_by_a.tolist() == found.preferred_by_b.tolist()
    assert disagreements(a, a).document.size == 0


def test_draws():
    rng = np.random.default_rng(1)
    found = disagreements(rng.normal(size=(6, 10)), rng.normal(size=(6, 10)))

    def draw(order, seed, n=15):
        return draw_disagreements(found, n=n, rng=np.random.default_rng(seed), order=order)

    largest = draw("largest", 0)
    rest = np.setdiff1d(np.arange(found.conflict.size), largest)
    assert largest.size == 15
    assert found.conflict[largest].min() >= found.conflict[rest].max()
    for order in ("largest", "uniform"):
        assert draw(order, 3).tolist() == draw(order, 3).tolist()
        assert any(draw(order, 3).tolist() != draw(order, seed).tolist() for seed in range(4, 9))
        assert draw(order, 0, n=10**6).tolist() == list(range(found.conflict.size))
    times = np.bincount(
        np.concatenate([draw("uniform", s) for s in range(2000)]), minlength=found.conflict.size
    )
    share = 15 / found.conflict.size
    assert times / 2000 == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 2000))


def test_nothing_and_wrong():
    for shape in ((0, 3), (1, 3), (3, 0)):
        assert disagreements(np.ones(shape), np.ones(shape)).n_pairs == 0
    empty = preference_agreement([], [], [])
    assert np.isnan(empty[:2]).all()
    for wrong in (([1.0], [1.0], [2.0]), ([1.0], [1.0, 2.0], [1.0])):
        with pytest.raises(ValueError, match="want"):
            preference_agreement(*wrong)
    with pytest.raises(ValueError, match="epsilon"):
        preference_agreement([1.0], [1.0], [1.0], epsilon=-1.0)
