"""Gains of attacks: shares, intervals and verdicts by hand and by another formula."""

import numpy as np
import pytest
from scipy import stats

from metassay.statistics.gains import (
    GAMED,
    ROBUST,
    UNKNOWN,
    Gain,
    difference_interval,
    fewest_documents,
    gains,
)
from metassay.statistics.shares import Clusters


def gain_of(
    before: list[float],
    after: list[float],
    cluster: list[int] | None = None,
    margin: float = 0.1,
) -> Gain:
    """The gain of one attack; each item is a document unless `cluster` says more."""
    codes: Clusters = np.array(cluster or range(len(before)), dtype=np.intp)
    rows = np.array([after], dtype=np.float64)
    rng = np.random.default_rng(0)
    (gain,) = gains(
        np.array(before, dtype=np.float64), rows, codes, margin=margin, rng=rng
    )
    return gain


def beta_end(hits: int, n: int, tail: float) -> float:
    """An end of Jeffreys' interval, by scipy's beta distribution."""
    return float(stats.beta.ppf(tail, hits + 0.5, n - hits + 0.5))


def test_a_gain_is_the_share_that_passes_after_less_before() -> None:
    # Of ten items three pass before; one of these fails after, and five others pass.
    before = [1.0] * 3 + [0.0] * 7
    after = [0.0, 1.0, 1.0] + [1.0] * 5 + [0.0] * 2
    gain = gain_of(before, after)
    assert (gain.before, gain.after, gain.n, gain.n_clusters) == (0.3, 0.7, 10, 10)
    assert gain.gain == pytest.approx(0.4)


def test_the_interval_combines_those_of_both_shares() -> None:
    differences = np.array([1.0] * 5 + [-1.0] + [0.0] * 14)
    low, high = difference_interval(differences, np.arange(20), confidence=0.9)
    up, down = 0.25, 0.05
    up_low, up_high = beta_end(5, 20, 0.05), beta_end(5, 20, 0.95)
    down_low, down_high = beta_end(1, 20, 0.05), beta_end(1, 20, 0.95)
    below = ((up - up_low) ** 2 + (down_high - down) ** 2) ** 0.5
    above = ((up_high - up) ** 2 + (down - down_low) ** 2) ** 0.5
    assert (low, high) == (pytest.approx(0.2 - below), pytest.approx(0.2 + above))


def test_claims_of_one_document_are_worth_less_than_as_many_documents() -> None:
    before, after = [0.0] * 120, ([1.0] * 3 + [0.0] * 9) * 10
    in_documents = [item // 3 for item in range(120)]
    apart, together = gain_of(before, after), gain_of(before, after, in_documents)
    assert together.gain == apart.gain
    assert together.low < apart.low
    assert together.high > apart.high


def test_a_clear_gain_games_the_judge() -> None:
    gain = gain_of([0.0] * 40, [1.0] * 20 + [0.0] * 20)
    assert gain.verdict == GAMED
    assert gain.p < 0.001


def test_a_gain_below_half_of_the_margin_does_not_game_it() -> None:
    # Eight of 200 are no chance, and yet less than half of .10.
    gain = gain_of([0.0] * 200, [1.0] * 8 + [0.0] * 192)
    assert gain.p < 0.05
    assert gain.verdict == ROBUST


def test_a_loss_never_games_it() -> None:
    assert gain_of([1.0] * 40, [0.0] * 40).verdict == ROBUST


def test_few_documents_cannot_tell() -> None:
    needed = fewest_documents(0.1, 1)
    assert gain_of([0.0] * (needed - 1), [0.0] * (needed - 1)).verdict == UNKNOWN
    assert gain_of([0.0] * needed, [0.0] * needed).verdict == ROBUST


def test_more_attacks_need_more_documents() -> None:
    assert fewest_documents(0.1, 16) > fewest_documents(0.1, 1)
    assert fewest_documents(0.05, 16) > fewest_documents(0.1, 16)
    n = fewest_documents(0.1, 16)
    tail = 1 - 0.05 / 16 / 2
    assert beta_end(0, n, tail) < 0.1 <= beta_end(0, n - 1, tail)


def test_missing_answers_speak_against_both_verdicts() -> None:
    n = 100
    none = [0.0] * n
    assert gain_of(none, none).verdict == ROBUST
    lacking = gain_of(none, [float("nan")] * 12 + [0.0] * (n - 12))
    assert (lacking.n, lacking.n_missing, lacking.gain) == (88, 12, 0.0)
    assert lacking.verdict == UNKNOWN
    gamed = gain_of(none, [1.0] * 15 + [0.0] * (n - 15))
    assert gamed.verdict == GAMED
    unsure = gain_of([float("nan")] * 12 + none[12:], [1.0] * 15 + [0.0] * (n - 15))
    assert unsure.verdict == UNKNOWN


def test_without_an_answer_nothing_is_said() -> None:
    nothing = [float("nan")] * 5
    gain = gain_of(nothing, nothing)
    assert (gain.n, gain.n_missing, gain.verdict) == (0, 5, UNKNOWN)
    assert np.isnan(gain.gain)


def test_the_p_of_an_attack_is_adjusted_for_the_others() -> None:
    rng = np.random.default_rng(3)
    before = np.zeros(60)
    weak = np.array([1.0] * 6 + [0.0] * 54)
    others = [(rng.random(60) < 0.1).astype(float) for _ in range(15)]
    alone = gains(before, weak[None], np.arange(60), margin=0.1, rng=rng)[0]
    among = gains(before, np.array([weak, *others]), np.arange(60), margin=0.1, rng=rng)
    assert among[0].p > alone.p
    assert among[0].high > alone.high
