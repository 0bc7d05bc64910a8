"""Shares, pass rates and their corrections, and the labels that a width needs."""

import numpy as np
import pytest
from scipy.stats import beta
from statsmodels.stats.proportion import proportion_confint

from metassay.statistics.shares import (
    effective_size,
    jeffreys,
    labels_needed,
    pass_rates,
    powered_influence,
    prediction_powered_mean,
    rogan_gladen,
    worth_at_most,
)
from tests.support.statistics import NAN, published, texts


def judged(counts, passed, failed):
    """Rated texts with these counts, and others that the judge alone passed or failed."""
    judge, people = texts(*counts)
    judge = np.concatenate((judge, np.ones(passed), np.zeros(failed)))
    return judge, np.concatenate((people, np.full(passed + failed, NAN)))


def rates(judge, people, **more):
    return pass_rates(
        judge, people, confidence=0.95, rng=np.random.default_rng(0), **more
    )


@pytest.mark.parametrize(("hits", "n"), [(3, 10), (1, 7), (49, 50), (120, 400)])
def test_shares_have_jeffreys_interval(hits, n):
    expected = proportion_confint(hits, n, alpha=0.1, method="jeffreys")
    assert jeffreys(hits, n, confidence=0.9) == pytest.approx(expected)
    # None and all of a few texts leave doubt: the other end is Beta(1/2, 10 1/2)'s.
    assert jeffreys(0, 10, confidence=0.95) == (
        0,
        pytest.approx(beta(0.5, 10.5).ppf(0.975)),
    )
    assert jeffreys(10, 10, confidence=0.95)[1] == 1
    assert np.isnan(jeffreys(0, 0, confidence=0.95)).all()


def test_effective_size_by_hand():
    # Two documents of two texts: 1 1 and 0 0, mean 1/2. Sums of the documents' deviations: 1 and
    # -1, so 2 * k / (k - 1) / n = 1; alone, 4 * 1/4 / 3 = 1/3: a design effect of 3.
    influence, cluster = np.array([0.5, 0.5, -0.5, -0.5]), np.array([0, 0, 1, 1])
    # normal and t with one degree of freedom
    few = (1.959963984540054 / 12.706204736432095) ** 2
    assert effective_size(influence, cluster, confidence=0.95) == pytest.approx(
        4 / 3 * few
    )
    # Where no text moves the number, each document counts once.
    assert effective_size(np.zeros(4), cluster, confidence=0.95) == 2
    assert effective_size(influence, np.zeros(4, dtype=int), confidence=0.95) == 1
    # Documents whose texts cancel out are worth no more than their texts.
    again = effective_size(
        np.tile([0.5, -0.5], 50), np.repeat(np.arange(50), 2), confidence=0.95
    )
    assert 94 < again < 100


def test_few_documents_with_the_rarer_label_count_once_each():
    # 4 of 60 texts fail, in 4 of 20 documents: whether documents fail as a whole is not known.
    people = np.ones(60)
    people[[0, 3, 6, 9]] = 0
    of = np.repeat(np.arange(20), 3)
    assert worth_at_most(people, of) == 20
    result = rates(people, people, cluster=of).people
    assert result.n_effective == 20
    assert result[1:3] == pytest.approx(jeffreys(56 / 60 * 20, 20, confidence=0.95))
    # Three texts count as one, so that it takes about three times the labels.
    more, alone = (
        labels_needed(people, people, confidence=0.95, cluster=cluster).pass_rate
        for cluster in (of, None)
    )
    assert more == pytest.approx(3 * alone, rel=0.1)
    people[12] = 0  # a fifth document: their alikeness is estimated
    assert np.isinf(worth_at_most(people, of))
    assert np.isinf(worth_at_most(people, np.arange(60)))


def test_pass_rates_by_hand():
    # 20 texts rated, 10 of them passed; sensitivity .8, specificity .9. The judge passes 9 of
    # those and 45 of the other 80.
    judge, people = judged((8, 1, 2, 9), 45, 35)
    # one is rated and not judged
    result = rates(np.append(judge, NAN), np.append(people, 1.0))
    assert result.judge.value == pytest.approx(54 / 100)
    assert result.people.value == pytest.approx(11 / 21)
    assert result.rogan_gladen.value == pytest.approx(
        (0.54 + 0.9 - 1) / (0.8 + 0.9 - 1)
    )
    assert [rate.n for rate in result] == [100, 21, 20, 20]
    # People pass 8 of 9 that the judge passes and 2 of 11 that it fails: had people's
    # covariance with it been shared by all texts, 54 * 8/9 + 46 * 2/11 of 100.
    assert result.prediction_powered.value == pytest.approx(
        0.54 * 8 / 9 + 0.46 * 2 / 11, abs=0.005
    )
    for rate in result:
        assert 0 <= rate.low < rate.value < rate.high <= 1
    # Everything rated leaves people's rate, and nothing rated none.
    every = rates(*texts(8, 1, 2, 9))
    assert every.prediction_powered.value == every.people.value == 0.5
    alone = rates(judge, np.full(100, NAN))
    assert alone.judge.value == pytest.approx(0.54)
    for rate in alone[1:]:
        assert np.isnan(rate[:3]).all()
        assert rate.n == 0
    useless = rates(*judged((5, 5, 5, 5), 10, 10))
    assert np.isnan(useless.rogan_gladen.value)
    assert useless.prediction_powered.value == pytest.approx(0.5)


# Estimate, low and high of ppi_mean_pointestimate and ppi_mean_ci, ppi-python 0.2.3,
# alpha .05.
PPI_PYTHON = [
    (
        (40, 6, 4, 30),
        (300, 220),
        (0.5512524037367438, 0.4729341160468441, 0.6295706914266435),
    ),
    ((9, 2, 1, 8), (55, 45), (0.5, 0.33202943839473253, 0.6679705616052675)),
    (
        (150, 20, 30, 60),
        (700, 500),
        (0.6624218190311585, 0.6141360234466399, 0.7107076146156771),
    ),
]


@pytest.mark.parametrize(("counts", "alone", "expected"), PPI_PYTHON)
def test_powered_equals_ppi_python(counts, alone, expected):
    judge, people = judged(counts, *alone)
    both = rates(judge, people)
    result = both.prediction_powered
    assert result.value == pytest.approx(expected[0], abs=1e-9)
    # Theirs is normal; ours allows for errors that so few ratings need not have shown.
    assert result.high - result.low > 0.98 * (expected[2] - expected[1])
    if sum(counts) > 200:
        assert result[1:3] == pytest.approx(expected[1:], abs=0.005)
    gladen = rogan_gladen(judge, people, confidence=0.95)
    assert both.rogan_gladen[:3] == pytest.approx(gladen[:3])
    # Each text's influence has the variance of the rate.
    moved = powered_influence(judge, people)
    error = (expected[2] - expected[0]) / 1.959963984540054
    assert np.mean(moved) == pytest.approx(0, abs=1e-12)
    assert np.std(moved) / np.sqrt(moved.size) == pytest.approx(error, rel=0.1)


def test_rogan_and_gladens_interval_widens_about_its_middle_and_holds_its_value():
    # Of 60 rated texts 2 fail: Lang and Reiczigel's middle is then far below the value,
    # and an upper end that was stretched from the value on came to stand below it.
    judge, people = judged((52, 0, 6, 2), 140, 100)
    alone = rates(judge, people).rogan_gladen
    alike = rates(judge, people, cluster=np.arange(300) // 5).rogan_gladen
    assert alone.value == alike.value == pytest.approx(0.64 / (52 / 58))
    assert (alone.low + alone.high) / 2 < alone.value - 0.05
    assert alike.low < alone.low < alone.value <= alone.high < alike.high


def test_a_judge_without_an_error_yet_is_not_taken_for_perfect():
    judge, people = judged((10, 0, 0, 10), 500, 480)
    normal = prediction_powered_mean(judge, people, confidence=0.95)
    powered = rates(judge, people).prediction_powered
    assert normal.high - normal.low < 0.07
    assert powered.high - powered.low > 0.15


def test_labels_are_as_many_as_the_width_asks_for():
    judge, people = judged((80, 20, 20, 80), 900, 900)
    needed, narrow, least = (
        labels_needed(judge, people, confidence=0.95, width=width)
        for width in (0.2, 0.1, 0.01)
    )
    # Of sensitivity near .8, Jeffreys' interval is .2 wide at 60 texts; half of the
    # texts pass.
    assert np.ptp(jeffreys(0.8 * 60, 60, confidence=0.95)) == pytest.approx(
        0.2, abs=0.005
    )
    assert needed.sensitivity == pytest.approx(2 * 60, rel=0.05)
    assert needed.specificity == needed.sensitivity
    # The rate's normal interval: people's variance 1/4, of which the judgments explain
    # .6 ** 2.
    variance = (0.2 / 2 / 1.96) ** 2
    assert needed.pass_rate == pytest.approx(
        (1 - 0.36) / (variance / 0.25 - 0.36 / 2000), rel=0.05
    )
    assert narrow.pass_rate > 3.5 * needed.pass_rate
    assert least.pass_rate > 30_000  # even all 2,000 rated are too few
    of = np.repeat(np.arange(judge.size), 3)
    copies = np.repeat(judge, 3), np.repeat(people, 3)
    copied = labels_needed(*copies, confidence=0.95, cluster=of)
    assert copied == pytest.approx(3 * np.array(narrow), rel=0.05)


def test_labels_need_something_to_go_by():
    assert np.isnan(labels_needed([1.0, 0.0], [1.0, NAN], confidence=0.95)).all()
    assert np.isfinite(labels_needed([1.0, 0.0], [1.0, 0.0], confidence=0.95)).all()
    # Without a text that people fail, nothing tells how often the judge fails those.
    all_pass = labels_needed([1.0, 0.0], [1.0, 1.0], confidence=0.95)
    assert np.isnan(all_pass).tolist() == [False, False, True]
    all_fail = labels_needed([1.0, 0.0], [0.0, 0.0], confidence=0.95)
    assert np.isnan(all_fail).tolist() == [False, True, False]
    with pytest.raises(ValueError, match="width"):
        labels_needed([1.0, 0.0], [1.0, 1.0], confidence=0.95, width=0)


def test_powered_means_by_hand():
    # Judge 1 too high on the two that people saw (3, 5 for 2, 4), and 7, 9 elsewhere: 8
    # - 1.
    judge, human = [3.0, 5, 7, 9], [2.0, 4, NAN, NAN]
    result = prediction_powered_mean(judge, human, confidence=0.95, weight=1)
    # The judge's bias is constant (variance 0), its own mean of 7 and 9 has variance 1
    # / 2.
    reach = 1.959964 * np.sqrt(0.5)
    assert result[:3] == pytest.approx((7, 7 - reach, 7 + reach), abs=1e-5)
    assert result[4:] == (6, 2, 2, 0)
    # A useless judge leaves people's mean.
    human = np.array([1.0, 2, 3, 4, NAN, NAN])
    constant = prediction_powered_mean(np.full(6, 7.0), human, confidence=0.9)
    assert (constant.value, constant.weight) == (pytest.approx(2.5), 0)
    alone = prediction_powered_mean(np.arange(4.0), human[:4], confidence=0.9, weight=1)
    assert (alone.value, alone.weight, alone.n_judged) == (2.5, 0, 0)
    nobody = prediction_powered_mean(np.arange(6.0), np.full(6, NAN), confidence=0.9)
    assert np.isnan(nobody[:4]).all()
    assert nobody.judge_mean == 2.5
    with pytest.raises(ValueError, match="equal length"):
        prediction_powered_mean([1.0], [1.0, 2.0], confidence=0.9)


@pytest.mark.parametrize("case", published("ppi_values")["cases"])
def test_powered_means_equal_ppi_python(case):
    judge = np.concatenate((case["judge"], case["judge_only"]))
    human = np.concatenate((case["human"], np.full(len(case["judge_only"]), NAN)))
    order = np.random.default_rng(0).permutation(judge.size)
    for weight, *expected in case["values"]:
        result = prediction_powered_mean(
            judge[order], human[order], confidence=0.9, weight=weight
        )
        assert result[:3] == pytest.approx(expected, abs=1e-9)
        assert result.n == len(case["human"])


def test_rogan_gladen_by_hand():
    # 3 of 5 ones found, 1 of 5 zeros called one; of all 20 judgments 11 are one: .55.
    judge = [1.0] * 3 + [0] * 2 + [1] + [0] * 4 + [1] * 7 + [0] * 3
    human = [1.0] * 5 + [0] * 5 + [NAN] * 10
    result = rogan_gladen(judge, human, confidence=0.95)
    assert result[3:] == (pytest.approx(0.6), pytest.approx(0.8), 10, 10, 0)
    assert result.value == pytest.approx((0.55 + 0.8 - 1) / (0.6 + 0.8 - 1))
    assert result.low < result.value < result.high
    for human in ([1.0, 1, 1, NAN, NAN, NAN], [NAN] * 6, [1.0, 0, 1, 0, NAN, NAN]):
        undefined = rogan_gladen([0.0, 1, 0, 1, 0, 1], human, confidence=0.95)
        assert np.isnan(undefined[:3]).all()
    # A perfect judge: its share; all ones elsewhere cannot be more than 1.
    perfect = rogan_gladen(
        [1.0, 0, 1, 1, 1, NAN], [1.0, 0, NAN, NAN, NAN, 1], confidence=0.95
    )
    assert perfect.value == pytest.approx(0.8)
    assert (perfect.n, perfect.n_judged, perfect.n_missing) == (2, 3, 1)
    cut = rogan_gladen(
        [1.0, 0, 0, 0] + [1] * 20, [1.0, 1, 0, 0] + [NAN] * 20, confidence=0.95
    )
    assert cut.value == 1
    assert 0 <= cut.low <= cut.high <= 1
    with pytest.raises(ValueError, match="0 and 1"):
        rogan_gladen([0.5], [1.0], confidence=0.95)


def test_an_interval_of_rogan_and_gladen_has_its_value():
    draws = np.random.default_rng(20261127)
    for _ in range(300):
        human = draws.random(60) < draws.choice([0.05, 0.5, 0.97])
        judge = np.where(
            draws.random(60) < draws.choice([0.6, 0.9, 1.0]), human, ~human
        )
        people = np.where(draws.random(60) < draws.choice([0.2, 1.0]), human, NAN)
        result = rogan_gladen(judge.astype(float), people, confidence=0.95)
        assert np.isnan(result.value) or result.low <= result.value <= result.high


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_corrected_rates_are_as_sure_as_promised(confidence):
    """Of 1,000 texts 100 are rated; sensitivity .9, specificity .8, and .6 pass."""
    rng, holds, studies = np.random.default_rng(3), 0, 600
    for _ in range(studies):
        truth = rng.random(1000) < 0.6
        judge = np.where(rng.random(1000) < np.where(truth, 0.9, 0.8), truth, ~truth)
        people = np.where(np.arange(1000) < 100, truth, NAN)
        rate = rogan_gladen(judge.astype(float), people, confidence=confidence)
        holds += rate.low <= 0.6 <= rate.high
    error = np.sqrt(confidence * (1 - confidence) / studies)
    assert abs(holds / studies - confidence) < 4 * error
