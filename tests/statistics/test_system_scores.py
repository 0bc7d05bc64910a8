"""Correlations over a handful of systems: scipy's values, and the doubt that few systems leave."""

import numpy as np
import pytest
import scipy.stats

from metassay.statistics.system_scores import (
    FEWEST,
    correlate_systems,
    count_pairs,
    permutation_p,
)

OPTIONS = {"confidence": 0.95}


def draw(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    people = rng.normal(size=n)
    return people + rng.normal(0, 0.7, n), people


@pytest.mark.parametrize("n", [4, 7, 15])
def test_values_are_scipys_and_lie_in_their_intervals(n: int) -> None:
    score, people = draw(n)
    numbers = correlate_systems(score, people, **OPTIONS)
    for name, of in (
        ("pearson", scipy.stats.pearsonr),
        ("spearman", scipy.stats.spearmanr),
        ("kendall", scipy.stats.kendalltau),
    ):
        estimate = numbers[name]
        assert estimate.value == pytest.approx(of(score, people)[0])
        assert -1 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_an_interval_is_never_narrower_than_fishers() -> None:
    score, people = draw(12)
    estimate = correlate_systems(score, people, **OPTIONS)["pearson"]
    fisher = scipy.stats.pearsonr(score, people).confidence_interval(0.95)
    assert estimate.low <= fisher.low
    assert estimate.high >= fisher.high


def test_a_perfect_order_of_few_systems_is_no_certainty() -> None:
    ascending = np.arange(5.0)
    curved = ascending**3
    numbers = correlate_systems(curved, ascending, **OPTIONS)
    for name in ("spearman", "kendall"):
        assert numbers[name].value == numbers[name].high == 1
        assert numbers[name].low < 0.7
    few = correlate_systems(ascending[: FEWEST - 1], ascending[: FEWEST - 1], **OPTIONS)
    assert np.isnan(few["pearson"].low)


def test_a_constant_score_has_no_correlation() -> None:
    numbers = correlate_systems(np.ones(6), np.arange(6.0), **OPTIONS)
    assert all(np.isnan(estimate.value) for estimate in numbers.values())
    p, _ = permutation_p(np.ones((1, 6)), np.arange(6.0), np.random.default_rng(0))
    assert np.isnan(p[0])


@pytest.mark.parametrize("n", [5, 12])
def test_p_is_that_of_a_permutation_test(n: int) -> None:
    score, people = draw(n, seed=3)
    rng = np.random.default_rng(0)
    (p,), (of_best,) = permutation_p(score[None], people, rng)

    def statistic(x):
        return np.corrcoef(x, people)[0, 1]

    expected = scipy.stats.permutation_test(
        (score,), statistic, permutation_type="pairings", n_resamples=5000, rng=1
    ).pvalue
    assert p == pytest.approx(expected, abs=0.02)
    assert of_best == p


def test_the_best_of_many_scores_that_know_nothing_is_rarely_shown() -> None:
    rng = np.random.default_rng(5)
    shown = 0
    for _ in range(200):
        scores, people = rng.normal(size=(10, 6)), rng.normal(size=6)
        _, of_best = permutation_p(scores, people, rng)
        shown += of_best.min() < 0.05
    # Of 200 at 5 %, more than 18 are one in 200 by chance.
    assert shown <= 18


def test_ties_are_pairs_without_an_order() -> None:
    pairs = count_pairs(np.array([1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]))
    assert pairs == (2, 0, 1)
