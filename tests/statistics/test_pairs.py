"""Orders of texts and systems: by hand, published, and pair by pair."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.statistics.correlation import LEVELS
from metassay.statistics.pairs import (
    calibrate,
    calibrated_chance,
    disagreements,
    draw_disagreements,
    pairwise_accuracy,
    preference_agreement,
)
from tests.support.statistics import NAN, checked, published, two_matrices


def counted(x, y, epsilon):
    """One block, pair by pair."""
    both = np.isfinite(x) & np.isfinite(y)
    right = []
    for (a, p), (b, q) in combinations(zip(x[both], y[both], strict=True), 2):
        order = 0 if abs(a - b) <= epsilon + 1e-12 else np.sign(a - b)
        right.append(order == np.sign(p - q))
    return np.mean(right) if right else NAN


def test_accuracy_by_hand():
    metric, human = (
        np.array([[1.0], [1.2], [3.0], [0.9]]),
        np.array([[5.0], [5.0], [7.0], [6.0]]),
    )
    # Pairs 01 tied by people; 02 12 right; 03 13 wrong; 23 right: 3 of 6. An epsilon of .2 ties
    # 01 (right now) and 03 (wrong still); an epsilon of .3 ties 13 too.
    assert pairwise_accuracy(metric, human, "document").value == pytest.approx(3 / 6)
    assert calibrate(metric, human, "document") == pytest.approx(0.2)
    result = pairwise_accuracy(metric, human, "document", epsilon=0.2)
    # By chance: 2/6 tied by the metric, 1/6 by people: 2/36, and half of 4/6 * 5/6.
    assert result == (
        pytest.approx(4 / 6),
        pytest.approx(2 / 36 + 10 / 36),
        0.2,
        1,
        0,
        0,
    )
    row = np.array([[1.0, 2.0]])
    undefined = (NAN, NAN, 0, 0, 2, 0)
    assert pairwise_accuracy(row, row, "document") == pytest.approx(
        undefined, nan_ok=True
    )
    assert calibrate(row, row, "document") == 0
    assert np.isnan(
        calibrated_chance(row, row, "document", n=2, rng=np.random.default_rng(0))
    )
    empty, constant = np.empty((0, 3)), np.full((3, 1), 0.1)
    assert pairwise_accuracy(empty, empty, "global").n == 0
    assert pairwise_accuracy(constant, constant, "document")[:2] == (1, 1)
    with pytest.raises(ValueError, match="epsilon"):
        pairwise_accuracy(row, row, "document", epsilon=-1)


@pytest.mark.parametrize("case", published()["cases"])
def test_published_accuracies(case):
    metric, human = np.array(case["metric"], float), np.array(case["human"], float)
    for name, plain, best, epsilon in case["pairwise"]:
        turned = name == "transposed"
        sides = (metric.T, human.T, "document") if turned else (metric, human, name)
        assert pairwise_accuracy(*sides).value == pytest.approx(plain, abs=1e-11)
        if best is None:
            continue
        ours = calibrate(*sides)
        assert pairwise_accuracy(*sides, epsilon=ours).value == pytest.approx(
            best, abs=1e-11
        )
        # Where 0 is as good as theirs to twelve digits, the first maximum is 0.
        assert ours == pytest.approx(epsilon if best > plain else 0, abs=1e-12)


@checked
@given(pair=two_matrices(), epsilon=st.sampled_from([0.0, 0.1, 0.25, 2.0]))
def test_accuracy_equals_counting_and_no_epsilon_beats_the_calibrated(pair, epsilon):
    metric, human = pair
    result = pairwise_accuracy(metric, human, "document", epsilon=epsilon)
    each = [counted(x, y, epsilon) for x, y in zip(metric.T, human.T, strict=True)]
    defined = [value for value in each if not np.isnan(value)]
    assert result.value == pytest.approx(
        np.mean(defined or NAN), abs=1e-12, nan_ok=True
    )
    assert (result.n, result.n_undefined) == (len(defined), len(each) - len(defined))
    result = pairwise_accuracy(metric, human, "global", epsilon=epsilon)
    expected = counted(metric.ravel(), human.ravel(), epsilon)
    assert result.value == pytest.approx(expected, abs=1e-12, nan_ok=True)
    for level in LEVELS:
        chosen = calibrate(*pair, level)
        best = pairwise_accuracy(*pair, level, epsilon=chosen).value
        for other in (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0):
            value = pairwise_accuracy(*pair, level, epsilon=other).value
            assert np.isnan(value) or value <= best + 1e-12
            assert np.isnan(value) or value < best - 1e-12 or other >= chosen - 1e-12


def test_chance_is_the_mean_over_all_orders_of_the_scores():
    metric, human = (
        np.array([0.0, 0.0, 1.0, 2.0]),
        np.array([[1.0], [1.0], [2.0], [1.0]]),
    )
    every, best = [metric[list(order), None] for order in permutations(range(4))], []
    for epsilon in (0.0, 1.0):
        accuracies = [
            pairwise_accuracy(m, human, "document", epsilon=epsilon) for m in every
        ]
        result = pairwise_accuracy(metric[:, None], human, "document", epsilon=epsilon)
        assert result.chance == pytest.approx(
            np.mean([each.value for each in accuracies])
        )
    for scores in every:
        epsilon = calibrate(scores, human, "document")
        best.append(pairwise_accuracy(scores, human, "document", epsilon=epsilon).value)
    # A fifth, absent, item must not be given a score.
    a, b = np.append(metric, 3.0)[:, None], np.vstack([human, [NAN]])
    chance = calibrated_chance(a, b, "document", n=1500, rng=np.random.default_rng(0))
    assert chance == pytest.approx(np.mean(best), abs=4 * np.std(best) / np.sqrt(1500))
    assert chance >= 0.5  # people tie half of the pairs


def test_preferences_by_hand():
    # same, opposite, metric ties, people tie, both tie, abstained, no score, same
    # (leaning).
    first = np.array([2.0, 1, 3, 4, 5, 6, NAN, 2])
    second = np.array([1.0, 2, 3, 1, 5, 1, 2, 1])
    people = np.array([1.0, 1, 0, 0.5, 0.5, NAN, 1, 2 / 3])
    result = preference_agreement(first, second, people)
    assert result == (pytest.approx(3 / 6), pytest.approx(2.5 / 4), 2, 1, 1, 1, 1, 1, 1)
    assert preference_agreement(second, first, 1 - people) == result
    negated = preference_agreement(-first, -second, people)
    assert negated[1:4] == (pytest.approx(1.5 / 4), 1, 2)
    wide = preference_agreement(first, second, people, epsilon=9)
    assert wide[1:] == (pytest.approx(0.5), 0, 0, 4, 0, 2, 1, 1)
    # .3 - .2 and .1 are one distance.
    assert preference_agreement([0.3], [0.2], [0.5], epsilon=0.1).n_both_tie == 1
    assert np.isnan(preference_agreement([], [], [])[:2]).all()
    for rows in (([1.0], [1.0], [2.0]), ([1.0], [1.0, 2.0], [1.0])):
        with pytest.raises(ValueError, match="expected"):
            preference_agreement(*rows)
    with pytest.raises(ValueError, match="epsilon"):
        preference_agreement([1.0], [1.0], [1.0], epsilon=-1.0)


def test_disagreements_by_hand():
    # Document 0: a orders 0 < 1 < 2, b 2 < 0 < 1: pairs 02 and 12. Document 1: b ties 0
    # and 1.
    a = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    b = np.array([[5.0, 5.0], [6.0, 5.0], [4.0, 9.0]])
    document, by_a, by_b, conflict, n_pairs, per_document = disagreements(a, b)
    assert document.tolist() == [0, 0]
    assert (by_a.tolist(), by_b.tolist()) == ([2, 2], [0, 1])
    # Ranks by a 1 2 3, by b 2 3 1: |1 - 3| + |2 - 1| and |2 - 3| + |3 - 1|.
    assert conflict.tolist() == [3, 3]
    assert (n_pairs, per_document.tolist()) == (6, [2, 0])
    for shape in ((0, 3), (1, 3), (3, 0)):
        assert disagreements(np.ones(shape), np.ones(shape)).n_pairs == 0


@checked
@given(seed=st.integers(0, 10**6))
def test_disagreements_equal_counting(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 4, (2, 5, 4)).astype(float)
    a[rng.random(a.shape) < 0.15] = NAN
    result = disagreements(a, b)
    expected = [
        (d, i, j) if a[i, d] > a[j, d] else (d, j, i)
        for d in range(4)
        for i, j in combinations(range(5), 2)
        if (a[i, d] - a[j, d]) * (b[i, d] - b[j, d]) < 0
    ]
    rows = zip(
        result.document, result.preferred_by_a, result.preferred_by_b, strict=True
    )
    assert sorted(tuple(int(n) for n in row) for row in rows) == sorted(expected)
    assert result.per_document.sum() == len(expected)
    turned = disagreements(b * 3, a)
    assert turned.conflict.tolist() == result.conflict.tolist()
    assert turned.preferred_by_a.tolist() == result.preferred_by_b.tolist()


def test_draws():
    rng = np.random.default_rng(1)
    pairs = disagreements(rng.normal(size=(6, 10)), rng.normal(size=(6, 10)))

    def draw(order, seed, n=15):
        rng = np.random.default_rng(seed)
        return draw_disagreements(pairs, n=n, rng=rng, order=order).tolist()

    largest = draw("largest", 0)
    rest = np.setdiff1d(np.arange(pairs.conflict.size), largest)
    assert len(largest) == 15
    assert pairs.conflict[largest].min() >= pairs.conflict[rest].max()
    for order in ("largest", "uniform"):
        assert draw(order, 3) == draw(order, 3)
        assert any(draw(order, 3) != draw(order, seed) for seed in range(4, 9))
        assert draw(order, 0, n=10**6) == list(range(pairs.conflict.size))
    drawn = [place for seed in range(2000) for place in draw("uniform", seed)]
    times, share = (
        np.bincount(drawn, minlength=pairs.conflict.size),
        15 / pairs.conflict.size,
    )
    assert times / 2000 == pytest.approx(
        share, abs=5 * np.sqrt(share * (1 - share) / 2000)
    )
