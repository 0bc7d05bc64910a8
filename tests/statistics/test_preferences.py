"""Preferences: agreement by hand, position bias, and strengths beside statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.metrics import cohen_kappa_score

from metassay.statistics.label_rows import LabelRows
from metassay.statistics.preferences import (
    FIRST,
    PRIOR_GAME,
    SECOND,
    TIE,
    combine_orders,
    first_beside_people,
    position_card,
    preference_card,
    strength_correlation,
    strengths,
)

OPTIONS = {"confidence": 0.95}
MIRROR = np.array([SECOND, FIRST, TIE])


def rng():
    return np.random.default_rng(2)


def rows_of(judge, people):
    judge, people = np.asarray(judge), np.asarray(people)
    return LabelRows(
        judge=judge,
        people=people,
        weight=np.ones(judge.size),
        cluster=np.arange(judge.size),
        n_judge=3,
        n_people=3,
    )


def test_agreement_with_and_without_ties_by_hand():
    """Five pairs: two agree, one judge's tie, one people's tie, one opposite."""
    rows = rows_of(
        [FIRST, SECOND, TIE, FIRST, FIRST], [FIRST, SECOND, FIRST, TIE, SECOND]
    )
    card = preference_card(rows, **OPTIONS, rng=rng())
    assert card["agreement"].value == pytest.approx(2 / 5)
    assert card["agreement_without_ties"].value == pytest.approx(2 / 3)
    assert card["agreement_without_ties"].n == 3


def test_no_number_depends_on_which_text_is_called_first():
    draw = rng()
    judge, people = draw.integers(3, size=(2, 80))
    turned = draw.random(80) < 0.5
    swapped = [np.where(turned, MIRROR[codes], codes) for codes in (judge, people)]
    plain, turned_card = (
        preference_card(rows_of(*codes), **OPTIONS, rng=rng())
        for codes in ((judge, people), swapped)
    )
    for name in plain:
        assert plain[name].value == pytest.approx(turned_card[name].value)
    both = [np.concatenate((codes, MIRROR[codes])) for codes in (judge, people)]
    assert plain["cohen_kappa"].value == pytest.approx(cohen_kappa_score(*both))


def test_orders_are_joined_as_import_joins_them():
    games = np.array(
        [
            [FIRST, FIRST, FIRST, TIE, SECOND, -1, -1],
            [FIRST, SECOND, TIE, TIE, SECOND, SECOND, -1],
        ]
    )
    assert combine_orders(games).tolist() == [
        FIRST,
        TIE,
        FIRST,
        TIE,
        SECOND,
        SECOND,
        -1,
    ]


def test_position_bias_by_hand():
    """Of four pairs one goes to what is first both times, one half so, two are consistent."""
    games = np.array([[FIRST, FIRST, SECOND, TIE], [SECOND, TIE, SECOND, TIE]])
    card = position_card(games, np.arange(4), **OPTIONS, rng=rng())
    assert card["position_bias"].value == pytest.approx((1 + 0.5) / 4)
    assert card["consistency"].value == pytest.approx(2 / 4)
    # The same games by a judge that favours what comes second.
    turned = MIRROR[games]
    mirrored = position_card(turned[:, :3], np.arange(3), **OPTIONS, rng=rng())
    assert mirrored["position_bias"].value == pytest.approx(-(1 + 0.5) / 3)


def test_a_game_that_was_not_played_is_in_no_position_bias():
    games = np.array([[FIRST, FIRST], [-1, SECOND]])
    card = position_card(games, np.arange(2), **OPTIONS, rng=rng())
    assert card["consistency"].n == 1
    none = position_card(np.array([[FIRST], [-1]]), np.zeros(1), **OPTIONS, rng=rng())
    assert np.isnan(none["position_bias"].value)


def test_first_beside_people_is_a_mean_difference():
    judge = np.array([FIRST, SECOND, TIE, FIRST, -1])
    people = np.array([1.0, 0.0, -1.0, np.nan, 1.0])
    result = first_beside_people(judge, people, np.arange(5), **OPTIONS)
    assert result.value == pytest.approx(((1 - 1) + (-1 - 0) + (0 + 1)) / 3)


def games_of(systems=4, n=300):
    draw = rng()
    truth = np.linspace(-1, 1, systems)
    first = draw.integers(systems, size=n)
    second = (first + draw.integers(1, systems, size=n)) % systems
    p = 1 / (1 + np.exp(truth[second] - truth[first]))
    won = (draw.random(n) < p).astype(float)
    won[draw.random(n) < 0.15] = 0.5
    return first, second, won


def test_strengths_equal_a_logistic_regression_of_statsmodels():
    first, second, won = games_of()
    result = strengths(
        first, second, won, np.arange(won.size), systems=4, confidence=0.95
    )
    met = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    left = np.concatenate((first, [i for i, _ in met]))
    right = np.concatenate((second, [j for _, j in met]))
    share = np.concatenate((won, np.full(len(met), 0.5)))
    weight = np.concatenate((np.ones(won.size), np.full(len(met), PRIOR_GAME)))
    design = np.zeros((share.size, 4))
    design[np.arange(share.size), left] += 1
    design[np.arange(share.size), right] -= 1
    # The last system's strength is 0 there.
    model = sm.GLM(
        share, design[:, :3], family=sm.families.Binomial(), freq_weights=weight
    )
    expected = np.append(model.fit().params, 0.0)
    assert result.value == pytest.approx(expected - expected.mean(), abs=1e-6)


def test_intervals_of_strengths_are_those_of_left_out_clusters():
    first, second, won = games_of(systems=3, n=120)
    cluster = np.arange(120) // 3
    options = {"systems": 3, "confidence": 0.95}
    result = strengths(first, second, won, cluster, **options)
    left_out = []
    for k in range(40):
        rest = cluster != k
        part = strengths(first[rest], second[rest], won[rest], cluster[rest], **options)
        left_out.append(part.value)
    error = np.std(left_out, axis=0) * np.sqrt(39)
    reach = (result.high - result.low) / 2
    assert reach == pytest.approx(2.0227 * error, rel=0.15)


def test_systems_that_never_meet_have_no_strengths():
    first, second = np.array([0, 0, 2]), np.array([1, 1, 3])
    result = strengths(
        first, second, np.ones(3), np.arange(3), systems=4, confidence=0.95
    )
    assert np.isnan(result.value).all()


def test_a_system_that_wins_all_has_a_finite_strength():
    first, second = np.zeros(20, int), np.ones(20, int)
    result = strengths(
        first, second, np.ones(20), np.arange(20), systems=2, confidence=0.95
    )
    assert 1 < result.value[0] < 4


def test_few_systems_have_no_correlation():
    assert np.isnan(
        strength_correlation(np.arange(3.0), np.arange(3.0), **OPTIONS).value
    )
    result = strength_correlation(
        np.array([0.0, 1, 2, 4]), np.array([0.0, 2, 1, 4]), **OPTIONS
    )
    assert result.value == pytest.approx(np.corrcoef([0, 1, 2, 4], [0, 2, 1, 4])[0, 1])
    assert result.low < result.value < result.high
