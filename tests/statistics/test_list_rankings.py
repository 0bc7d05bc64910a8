"""Kendall's tau within lists: scipy's values, ties, texts without a rank, and its interval."""

import numpy as np
import pytest
import scipy.stats

from metassay.statistics.rankings import (
    kendall_among,
    kendall_by_list,
    mean_kendall,
    prefer_by_rank,
)

SIZES = (5, 4, 2, 6)


def lists(seed: int, raters: int = 3, missing: float = 0.1):
    """Ranks with ties of a judge and raters, by list."""
    draw = np.random.default_rng(seed)
    ranks = []
    for size in SIZES:
        of_list = draw.integers(1, size + 1, (raters + 1, size)).astype(float)
        of_list[draw.random(of_list.shape) < missing] = np.nan
        ranks.append(of_list)
    return ranks


def as_pairs(ranks):
    """Codes (judge and raters, pairs), and the list of each pair."""
    codes, of = [], []
    for place, of_list in enumerate(ranks):
        left, right = np.triu_indices(of_list.shape[1], 1)
        codes.append(prefer_by_rank(of_list[:, left], of_list[:, right]))
        of += [place] * left.size
    return np.concatenate(codes, axis=1), np.array(of)


def tau_of(x, y) -> float:
    both = np.isfinite(x) & np.isfinite(y)
    if both.sum() < 2 or len(set(x[both])) < 2 or len(set(y[both])) < 2:
        return np.nan
    return float(scipy.stats.kendalltau(x[both], y[both]).statistic)


@pytest.mark.parametrize("seed", range(5))
def test_each_list_has_the_mean_of_scipys_tau_over_its_raters(seed: int) -> None:
    ranks = lists(seed)
    codes, of = as_pairs(ranks)
    taus_of_lists = kendall_by_list(codes[0], codes[1:], of, len(SIZES))
    for place, (judge, *people) in enumerate(ranks):
        taus = [tau for p in people if np.isfinite(tau := tau_of(judge, p))]
        expected = np.mean(taus) if taus else np.nan
        assert taus_of_lists[place] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("seed", range(3))
def test_raters_among_themselves_are_the_mean_over_their_pairs(seed: int) -> None:
    ranks = lists(seed, missing=0)
    codes, of = as_pairs(ranks)
    taus_of_lists = kendall_among(codes[1:], of, len(SIZES))
    for place, (_, a, b, c) in enumerate(ranks):
        taus = [tau_of(x, y) for x, y in ((a, b), (a, c), (b, c))]
        if np.isfinite(taus).all():
            assert taus_of_lists[place] == pytest.approx(np.mean(taus))


def test_the_same_order_is_one_and_the_reverse_minus_one() -> None:
    ranks = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    codes, of = as_pairs([ranks])
    assert kendall_by_list(codes[0], codes[1:2], of, 1).tolist() == [1]
    assert kendall_by_list(codes[0], codes[2:], of, 1).tolist() == [-1]


def test_the_mean_leaves_out_lists_without_an_order() -> None:
    mean = mean_kendall(np.array([1.0, 0.5, np.nan, 0.0, 0.5]), confidence=0.95)
    assert mean.value == 0.5
    assert mean.n == 4
    assert mean.low < 0.5 < mean.high <= 1


def test_lists_that_are_all_alike_leave_doubt_that_falls_with_their_number() -> None:
    few, many = (mean_kendall(np.ones(n), confidence=0.95) for n in (5, 50))
    assert few.value == many.value == 1
    assert few.low < many.low < 1
    assert few.high == 1


@pytest.mark.parametrize("n", [6, 10, 20, 40])
def test_intervals_of_few_lists_of_two_texts_hold_their_mean(n: int) -> None:
    # A tau is 1 or -1 there; of a mean of .9, 95 % are 1. All outcomes, by their chances.
    coverage = 0.0
    for alike in range(n + 1):
        taus = np.repeat([1.0, -1.0], [alike, n - alike])
        mean = mean_kendall(taus, confidence=0.95)
        if mean.low <= 0.9 <= mean.high:
            coverage += scipy.stats.binom.pmf(alike, n, 0.95)
    assert 0.95 <= coverage <= 0.99


def test_three_lists_have_no_interval() -> None:
    mean = mean_kendall(np.array([1.0, 0.0, 0.5]), confidence=0.95)
    assert mean.value == 0.5
    assert np.isnan(mean.low)
    assert np.isnan(mean_kendall(np.array([np.nan]), confidence=0.95).value)
