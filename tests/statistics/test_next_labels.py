"""Chances that suit a number, and estimates weighted by them."""

import numpy as np
import pytest
import scipy.stats

from metassay.statistics.next_labels import (
    FLOOR,
    card_worth,
    chances,
    correlation_worth,
    draw_texts,
    strata,
    weighted_card,
    weighted_correlation,
)

NAN = float("nan")


def test_chances_add_up_and_have_a_floor():
    found = chances([0, 0, 1, 3], 2)
    assert found.sum() == pytest.approx(2)
    # Of a worth of 0 it is the floor of an equal chance; the others share the rest by worth, and
    # the last one is cut to 1: .4, .4, 1 and 2.2 times the same.
    times = 1 / (0.4 + 0.4 + (FLOOR + 0.6))
    assert found[:3] == pytest.approx([0.4 * times, 0.4 * times, times])
    assert found[3] == 1
    assert chances([5, 1], 3).tolist() == [1, 1]
    assert chances(np.zeros(4), 1).tolist() == pytest.approx([0.25] * 4)
    for worth, n in (([1, -1], 1), ([1, 1], 0), ([NAN, 1], 1)):
        with pytest.raises(ValueError, match="want worths"):
            chances(worth, n)


def test_each_text_is_drawn_as_often_as_its_chance_says():
    rng = np.random.default_rng(1)
    chance = chances(rng.random(30), 7)
    times = np.zeros(30)
    for _ in range(4000):
        got = draw_texts(chance, rng.permutation(30), rng.random())
        assert got.size == 7
        times[got] += 1
    assert times / 4000 == pytest.approx(chance, abs=0.035)


def test_strata_are_verdicts_and_places_among_probabilities():
    assert strata([1, 0, NAN, 1]).tolist() == [1, 0, -1, 1]
    p = np.r_[np.full(50, 0.01), np.linspace(0.3, 0.7, 20), np.full(50, 0.99)]
    of = strata(p)
    assert len({*of[:50].tolist()}) == 1  # all sure texts together
    assert len({*of.tolist()}) > 4
    assert (of[p < 0.5].max()) < of[p >= 0.5].min()


def test_worth_is_neyman_s():
    # Two verdicts: of 60 passed texts 9 of 10 labelled pass, of 40 failed ones 2 of 10.
    judge = np.r_[np.ones(60), np.zeros(40)]
    people = np.full(100, NAN)
    people[:10], people[60:70] = [1] * 9 + [0], [1, 1] + [0] * 8
    passed, failed = (9 + 0.9) / 11, (2 + 0.1) / 11
    worth = card_worth(judge, people, "pass_rate")
    assert worth[0] == pytest.approx(np.sqrt(passed * (1 - passed)))
    assert worth[99] == pytest.approx(np.sqrt(failed * (1 - failed)))
    fails = 0.6 * (1 - passed) + 0.4 * (1 - failed)
    specificity = 0.4 * (1 - failed) / fails
    worth = card_worth(judge, people, "specificity")
    spread = np.sqrt([passed * (1 - passed), failed * (1 - failed)])
    assert worth[[0, 99]] == pytest.approx(spread * np.abs([specificity, specificity - 1]) / fails)


def test_a_weighted_card_by_hand():
    # 60 passed by the judge, 6 labelled, 5 pass; 40 failed, 10 labelled, 2 pass.
    judge = np.r_[np.ones(60), np.zeros(40)]
    people = np.full(100, NAN)
    people[:6], people[60:70] = [1, 1, 1, 1, 1, 0], [1, 1] + [0] * 8
    chance = np.r_[np.full(60, 0.1), np.full(40, 0.25)]
    found = weighted_card(judge, people, chance, confidence=0.95, rng=np.random.default_rng(0))
    # Horvitz and Thompson: each label 10, or 4, times.
    assert found.pass_rate.value == pytest.approx((5 * 10 + 2 * 4) / 100)
    assert found.sensitivity.value == pytest.approx(50 / 58)
    assert found.specificity.value == pytest.approx(32 / 42)
    for one in found:
        assert one.low < one.value < one.high
        assert one.n == 16
    nothing = weighted_card(judge, people * NAN, chance, confidence=0.95, rng=None)
    assert np.isnan(nothing.pass_rate.value)


def test_a_number_without_a_case_is_not_told():
    judge, people = np.r_[np.ones(6), np.zeros(4)], np.ones(10)
    options = {"confidence": 0.95, "cluster": np.arange(10) // 2}
    found = weighted_card(judge, people, np.ones(10), rng=np.random.default_rng(0), **options)
    assert found.sensitivity.value == pytest.approx(0.6)
    assert np.isnan(found.specificity.value)
    assert np.isnan(found.specificity.low)


def test_a_group_without_a_label_joins_its_neighbour():
    judge = np.r_[np.ones(60), np.zeros(40)]
    people = np.full(100, NAN)
    people[:6], people[60:70] = [1, 1, 1, 1, 1, 0], [1, 1] + [0] * 8
    chance = np.r_[np.full(58, 0.1), np.full(2, 0.15), np.full(40, 0.25)]
    found = weighted_card(judge, people, chance, confidence=0.95, rng=np.random.default_rng(0))
    assert found.pass_rate.value == pytest.approx(0.58)


def test_equal_chances_give_the_plain_correlation():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 80))
    y += x
    of = np.repeat(np.arange(4), 20), np.tile(np.arange(20), 4)
    y[rng.random(80) < 0.4] = NAN
    options = {"system": of[0], "document": of[1], "confidence": 0.95}
    found = weighted_correlation(x, y, np.full(80, 0.5), level="global", **options)
    known = np.isfinite(y)
    assert found.value == pytest.approx(np.corrcoef(x[known], y[known])[0, 1])
    twice = np.r_[np.flatnonzero(known), np.flatnonzero(known)[:10]]
    chance = np.full(80, 0.5)
    chance[np.flatnonzero(known)[:10]] = 0.25
    weighted = weighted_correlation(x, y, chance, level="global", **options)
    assert weighted.value == pytest.approx(np.corrcoef(x[twice], y[twice])[0, 1])


def test_the_interval_is_by_how_far_each_document_moves_the_correlation():
    """Each document's weights changed a little: the derivative, without a formula for it."""
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(2, 80)) + 0.7 * rng.normal(size=80)
    system, document = np.repeat(np.arange(4), 20), np.tile(np.arange(20), 4)
    chance = rng.uniform(0.2, 0.9, 80)

    def correlation(of_document, factor):
        weights = np.where(document == of_document, factor, 1.0) / chance
        (xx, xy), (_, yy) = np.cov(x, y, aweights=weights)
        return xy / np.sqrt(xx * yy)

    r, h = correlation(0, 1.0), 1e-5
    moved = np.array([correlation(d, 1 + h) - correlation(d, 1 - h) for d in range(20)]) / (2 * h)
    kurtosis = 20 * np.sum(moved**4) / np.sum(moved**2) ** 2
    t = scipy.stats.t.ppf(0.975, min(19, 40 / (kurtosis - 1)))
    reach = t * np.sqrt(np.sum(moved**2) * 20 / 19) / (1 - r * r)
    found = weighted_correlation(
        x, y, chance, system=system, document=document, level="global", confidence=0.95
    )
    expected = [r, *np.tanh(np.arctanh(r) + np.array([-reach, reach]))]
    assert [found.value, found.low, found.high] == pytest.approx(expected, abs=1e-6)


def test_the_noise_in_systems_means_is_taken_off():
    rng = np.random.default_rng(2)
    found = []
    for _ in range(200):
        quality = np.linspace(-1, 1, 8)[:, None]
        own = (quality**2 - np.mean(quality**2)) / np.std(quality**2) * np.std(quality)
        x = quality + 0.1 * rng.normal(size=(8, 60))
        y = 0.6 * quality + 0.8 * own + 2 * rng.normal(size=(8, 60))
        y[:, 20:] = NAN
        of = np.repeat(np.arange(8), 60), np.tile(np.arange(60), 8)
        one = weighted_correlation(
            x.ravel(), y.ravel(), np.full(480, 1 / 3), system=of[0], document=of[1],
            level="system", confidence=0.95,
        )  # fmt: skip
        found.append(one.value)
    assert np.nanmedian(found) == pytest.approx(0.6, abs=0.06)  # .49 with the noise


def test_the_noise_in_system_means_by_hand():
    # Means of people 7/2, 3/2, 15/2 with variance 56/9; their own variances s**2 / n, 1/4, 1/4 and
    # 9/4, are 11/12 on average, of which 2/3 are in it. Means of the metric 1, 2, 4.
    x, y, system = [0, 2, 1, 3, 4, 4], [3, 4, 1, 2, 6, 9], [0, 0, 1, 1, 2, 2]
    options = {"system": system, "document": range(6), "level": "system", "confidence": 0.95}
    estimate = weighted_correlation(x, y, [1.0] * 6, **options)
    variance = 56 / 9 - 11 / 12 * 2 / 3
    assert estimate.value == pytest.approx(22 / 9 / np.sqrt(14 / 9 * variance))


def test_the_ends_of_a_metric_s_scale_are_worth_most():
    x = np.array([-2.0, -1, 0, 1, 2])
    worth = correlation_worth(x, np.full(5, NAN), list("abcde"), "global")
    assert worth[0] == pytest.approx(worth[4])
    assert worth[0] > worth[1] > worth[2]
    # By hand: E[(x y - r (x x + y y) / 2)**2 | x], y normal about r x, for x standardized.
    r, z = 0.3, -2 / np.sqrt(2)
    y = r * z + np.sqrt(1 - r * r) * np.random.default_rng(0).standard_normal(400_000)
    assert worth[0] == pytest.approx(
        np.sqrt(np.mean((z * y - r * (z * z + y * y) / 2) ** 2)), rel=0.01
    )
    of_systems = correlation_worth(x, np.full(5, NAN), list("aabbc"), "system")
    assert of_systems[4] > of_systems[0]


def test_too_little_is_not_told():
    options = {"system": [0, 0, 1], "document": [0, 1, 0], "confidence": 0.95}
    for level in ("global", "system"):
        found = weighted_correlation([1, 2, 3], [NAN, 1, NAN], [0.5] * 3, level=level, **options)
        assert np.isnan(found.value)
        assert np.isnan(found.low)


def test_texts_without_a_label_are_taken_for_others_of_their_verdict():
    # The judge passes 6 texts, of which two groups have a label, and one (chance .1) has none.
    judge = np.repeat([1.0, 1.0, 1.0, 0.0], [2, 2, 2, 10])
    chance = np.repeat([0.1, 0.5, 1.0, 0.9], [2, 2, 2, 10])
    people = np.full(16, np.nan)
    people[[2, 4, 5]], people[6:15] = 1.0, 0.0
    sure = {"confidence": 0.95, "rng": np.random.default_rng(0)}
    found = weighted_card(judge, people, chance, **sure)
    assert found.pass_rate.value == pytest.approx(6 / 16)
    assert found.sensitivity.value == found.specificity.value == pytest.approx(1)
    # Without a label of what the judge passes nothing tells how often it is right there.
    people[:6] = np.nan
    found = weighted_card(judge, people, chance, **sure)
    assert np.isnan([*found.sensitivity[:3], *found.specificity[:3]]).all()
    assert found.pass_rate.value == pytest.approx(0)
