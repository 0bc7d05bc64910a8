import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import t as student
from sklearn import metrics

from metassay.statistics.classification import auroc
from metassay.statistics.shares import jeffreys

NAN = np.nan


def found(judge, people, *, confidence=0.95, **more):
    return auroc(judge, people, confidence=confidence, **more)


def test_by_hand():
    # Of four pairs of a pass and a fail three are in order. Placements: of passes 1 and 1/2, of
    # fails 1/2 and 1, so DeLong's variance is 1/16 + 1/16, with two degrees of freedom; Hanley and
    # McNeil's, 3/16 * (1 + 1/5 + 3/7) / 4, is smaller.
    made = found([0.9, 0.4, 0.6, 0.1], [1, 1, 0, 0])
    assert made.value == 0.75
    assert (made.n, made.n_effective) == (4, 4)
    variance = (1 / 16 + 1 / 16) * (student(2).ppf(0.975) / ndtri(0.975)) ** 2
    many = 0.75 * 0.25 / variance
    assert made[1:3] == pytest.approx(jeffreys(0.75 * many, many, confidence=0.95))


def test_where_texts_are_many_and_apart_the_interval_is_delongs():
    rng = np.random.default_rng(1)
    people = np.repeat([1.0, 0.0], 600)
    judge = 1 / (1 + np.exp(-rng.normal(people, 1.0)))
    above = judge[:600, None] > judge[None, 600:]
    variance = above.mean(axis=1).var(ddof=1) / 600 + above.mean(axis=0).var(ddof=1) / 600
    made = found(judge, people)
    assert made.value == pytest.approx(above.mean())
    assert made.high - made.low == pytest.approx(2 * 1.96 * np.sqrt(variance), rel=0.03)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=30),
    st.integers(0, 99),
)
def test_equals_scikit_learn_and_knows_order_alone(texts, seed):
    judge = np.array([place / 4 for place, _ in texts])
    people = np.array([float(passed) for _, passed in texts])
    made = found(judge, people)
    if 0 < people.sum() < people.size:
        assert made.value == pytest.approx(metrics.roc_auc_score(people, judge))
        assert made.low <= made.value + 1e-12
        assert made.high >= made.value - 1e-12
    else:
        assert np.isnan(made[:3]).all()
    order = np.random.default_rng(seed).permutation(judge.size)
    assert found(judge[order], people[order]) == pytest.approx(made, nan_ok=True)
    assert found(judge**3, people) == pytest.approx(made, nan_ok=True)
    turned = found(judge, 1 - people)
    assert turned.value == pytest.approx(1 - made.value, nan_ok=True)
    assert (turned.low, turned.high) == pytest.approx((1 - made.high, 1 - made.low), nan_ok=True)


def test_what_is_missing_is_left_out():
    made = found([0.9, NAN, 0.4, 0.6, 0.1, 0.7], [1, 1, 1, 0, 0, NAN])
    assert made == found([0.9, 0.4, 0.6, 0.1], [1, 1, 0, 0])
    assert found([], []).n == 0
    assert np.isnan(found([0.3, 0.4], [1, 1]).value)


def test_perfect_order_of_a_few_texts_leaves_doubt():
    made = found([0.9, 0.8, 0.7, 0.2, 0.1], [1, 1, 1, 0, 0])
    assert (made.value, made.high) == (1.0, 1.0)
    assert 0.2 < made.low < 0.5
    many = found(np.linspace(0, 1, 200), np.repeat([0.0, 1.0], 100))
    assert 0.95 < many.low < 1


def test_copies_of_texts_are_worth_no_more_than_the_texts():
    rng = np.random.default_rng(2)
    people = (rng.random(60) < 0.4).astype(float)
    judge = np.clip(0.3 * people + 0.7 * rng.random(60), 0, 1)
    once = found(judge, people)
    of = np.repeat(np.arange(60), 3)
    thrice = found(np.repeat(judge, 3), np.repeat(people, 3), cluster=of)
    assert thrice.value == pytest.approx(once.value)
    assert (thrice.n, thrice.n_effective) == (180, pytest.approx(60, rel=0.1))
    assert thrice.high - thrice.low == pytest.approx(once.high - once.low, rel=0.12)
    untold = found(np.repeat(judge, 3), np.repeat(people, 3))
    assert untold.high - untold.low < 0.7 * (once.high - once.low)


@pytest.mark.parametrize("distance", [0.5, 2.0])  # AUROC .64 and .92
def test_of_few_texts_the_interval_covers(distance):
    """Quick; tests/calibration has more worlds."""
    from scipy.special import ndtr

    rng = np.random.default_rng(3)
    truth, runs = ndtr(distance / np.sqrt(2)), 300
    people = np.repeat([1.0, 0.0], [8, 16])
    hits = 0
    for _ in range(runs):
        made = found(ndtr(rng.normal(distance * people, 1.0)), people)
        hits += made.low <= truth <= made.high
    assert hits / runs > 0.93


def test_wrong_values_are_refused():
    for judge, people in (([1.2, 0.1], [1, 0]), ([0.5, 0.1], [0.5, 0]), ([0.5], [1, 0])):
        with pytest.raises(ValueError, match="want"):
            found(judge, people)
