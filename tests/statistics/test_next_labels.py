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
from tests.support.statistics import NAN


def test_chances_add_up_and_have_a_floor():
    result = chances([0, 0, 1, 3], 2)
    assert result.sum() == pytest.approx(2)
    # Of a worth of 0 it is the floor of an equal chance; the others share the rest by
    # worth, and the last is cut to 1: .4, .4, 1 and 2.2 times the same.
    times = 1 / (0.4 + 0.4 + (FLOOR + 0.6))
    assert result.tolist() == pytest.approx([0.4 * times, 0.4 * times, times, 1])
    assert chances([5, 1], 3).tolist() == [1, 1]
    assert chances(np.zeros(4), 1).tolist() == pytest.approx([0.25] * 4)
    for worth, n in (([1, -1], 1), ([1, 1], 0), ([NAN, 1], 1)):
        with pytest.raises(ValueError, match="expected worths"):
            chances(worth, n)


def test_each_text_is_drawn_as_often_as_its_chance_says():
    rng, times = np.random.default_rng(1), np.zeros(30)
    chance = chances(rng.random(30), 7)
    for _ in range(4000):
        drawn = draw_texts(chance, rng.permutation(30), rng.random())
        assert drawn.size == 7
        times[drawn] += 1
    assert times / 4000 == pytest.approx(chance, abs=0.035)


def test_strata_are_verdicts_and_places_among_probabilities():
    assert strata([1, 0, NAN, 1]).tolist() == [1, 0, -1, 1]
    p = np.r_[np.full(50, 0.01), np.linspace(0.3, 0.7, 20), np.full(50, 0.99)]
    of = strata(p)
    assert len({*of[:50].tolist()}) == 1  # all sure texts together
    assert len({*of.tolist()}) > 4
    assert (of[p < 0.5].max()) < of[p >= 0.5].min()


def labelled(passed, failed):
    """Of 60 texts that a judge passes and 40 that it fails the first have these labels."""
    people = np.full(100, NAN)
    people[: len(passed)], people[60 : 60 + len(failed)] = passed, failed
    return np.r_[np.ones(60), np.zeros(40)], people


def carded(judge, people, chance, **more):
    rng = np.random.default_rng(0)
    return weighted_card(judge, people, chance, confidence=0.95, rng=rng, **more)


def test_worth_is_neyman_s():
    judge, people = labelled([1] * 9 + [0], [1, 1] + [0] * 8)
    passed, failed = (9 + 0.9) / 11, (2 + 0.1) / 11
    spread = np.sqrt([passed * (1 - passed), failed * (1 - failed)])
    assert card_worth(judge, people, "pass_rate")[[0, 99]] == pytest.approx(spread)
    fails = 0.6 * (1 - passed) + 0.4 * (1 - failed)
    specificity = 0.4 * (1 - failed) / fails
    worth = card_worth(judge, people, "specificity")
    assert worth[[0, 99]] == pytest.approx(
        spread * np.abs([specificity, specificity - 1]) / fails
    )


def test_a_weighted_card_by_hand():
    # 60 passed by the judge, 6 labelled, 5 pass; 40 failed, 10 labelled, 2 pass.
    judge, people = labelled([1, 1, 1, 1, 1, 0], [1, 1] + [0] * 8)
    chance = np.r_[np.full(60, 0.1), np.full(40, 0.25)]
    card = carded(judge, people, chance)
    # Horvitz and Thompson: each label 10, or 4, times.
    assert card.pass_rate.value == pytest.approx((5 * 10 + 2 * 4) / 100)
    assert card.sensitivity.value == pytest.approx(50 / 58)
    assert card.specificity.value == pytest.approx(32 / 42)
    for estimate in card:
        assert estimate.low < estimate.value < estimate.high
        assert estimate.n == 16
    assert np.isnan(carded(judge, people * NAN, chance).pass_rate.value)
    # A group without a label joins its neighbour.
    chance[58:60] = 0.15
    assert carded(judge, people, chance).pass_rate.value == pytest.approx(0.58)
    # A number without a case is not told.
    cluster = np.arange(10) // 2
    card = carded(
        np.r_[np.ones(6), np.zeros(4)], np.ones(10), np.ones(10), cluster=cluster
    )
    assert card.sensitivity.value == pytest.approx(0.6)
    assert np.isnan([card.specificity.value, card.specificity.low]).all()


def test_texts_without_a_label_are_taken_for_others_of_their_verdict():
    # The judge passes 6 texts, of which two groups have a label, and one (chance .1)
    # has none.
    judge = np.repeat([1.0, 1.0, 1.0, 0.0], [2, 2, 2, 10])
    chance = np.repeat([0.1, 0.5, 1.0, 0.9], [2, 2, 2, 10])
    people = np.full(16, NAN)
    people[[2, 4, 5]], people[6:15] = 1.0, 0.0
    card = carded(judge, people, chance)
    assert card.pass_rate.value == pytest.approx(6 / 16)
    assert card.sensitivity.value == card.specificity.value == pytest.approx(1)
    # Without a label of what the judge passes nothing tells how often it is right
    # there.
    people[:6] = NAN
    card = carded(judge, people, chance)
    assert np.isnan([*card.sensitivity[:3], *card.specificity[:3]]).all()
    assert card.pass_rate.value == pytest.approx(0)


OF = {"system": np.repeat(np.arange(4), 20), "document": np.tile(np.arange(20), 4)}
SURE = {"confidence": 0.95, "level": "global"}


def test_equal_chances_give_the_plain_correlation():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 80))
    y += x
    y[rng.random(80) < 0.4] = NAN
    known, chance = np.flatnonzero(np.isfinite(y)), np.full(80, 0.5)
    for items in (known, np.r_[known, known[:10]]):
        value = weighted_correlation(x, y, chance, **OF, **SURE).value
        assert value == pytest.approx(np.corrcoef(x[items], y[items])[0, 1])
        chance[known[:10]] = 0.25  # as if they were there twice
    for level in ("global", "system"):
        few = {
            "system": [0, 0, 1],
            "document": [0, 1, 0],
            "confidence": 0.95,
            "level": level,
        }
        undefined = weighted_correlation([1, 2, 3], [NAN, 1, NAN], [0.5] * 3, **few)
        assert np.isnan([undefined.value, undefined.low]).all()


def test_the_interval_is_by_how_far_each_document_moves_the_correlation():
    """Each document's weights changed a little: the derivative, without a formula for it."""
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(2, 80)) + 0.7 * rng.normal(size=80)
    chance = rng.uniform(0.2, 0.9, 80)

    def correlation(of_document, factor):
        weights = np.where(OF["document"] == of_document, factor, 1.0) / chance
        (xx, xy), (_, yy) = np.cov(x, y, aweights=weights)
        return xy / np.sqrt(xx * yy)

    r, h = correlation(0, 1.0), 1e-5
    moved = np.array(
        [correlation(d, 1 + h) - correlation(d, 1 - h) for d in range(20)]
    ) / (2 * h)
    kurtosis = 20 * np.sum(moved**4) / np.sum(moved**2) ** 2
    t = scipy.stats.t.ppf(0.975, min(19, 40 / (kurtosis - 1)))
    reach = t * np.sqrt(np.sum(moved**2) * 20 / 19) / (1 - r * r)
    expected = [r, *np.tanh(np.arctanh(r) + np.array([-reach, reach]))]
    result = weighted_correlation(x, y, chance, **OF, **SURE)
    assert result[:3] == pytest.approx(expected, abs=1e-6)


def test_the_noise_in_systems_means_is_taken_off():
    rng, values = np.random.default_rng(2), []
    of = {"system": np.repeat(np.arange(8), 60), "document": np.tile(np.arange(60), 8)}
    for _ in range(200):
        quality = np.linspace(-1, 1, 8)[:, None]
        other = (
            (quality**2 - np.mean(quality**2)) / np.std(quality**2) * np.std(quality)
        )
        x = quality + 0.1 * rng.normal(size=(8, 60))
        y = 0.6 * quality + 0.8 * other + 2 * rng.normal(size=(8, 60))
        y[:, 20:] = NAN
        sides = x.ravel(), y.ravel(), np.full(480, 1 / 3)
        result = weighted_correlation(*sides, **of, level="system", confidence=0.95)
        values.append(result.value)
    assert np.nanmedian(values) == pytest.approx(0.6, abs=0.06)  # .49 with the noise
    # Means of people 7/2, 3/2, 15/2 with variance 56/9; their own variances s**2 / n, 1/4, 1/4 and
    # 9/4, are 11/12 on average, of which 2/3 are in it. Means of the metric 1, 2, 4.
    x, y, system = [0, 2, 1, 3, 4, 4], [3, 4, 1, 2, 6, 9], [0, 0, 1, 1, 2, 2]
    of = {"system": system, "document": range(6), "level": "system", "confidence": 0.95}
    variance = 56 / 9 - 11 / 12 * 2 / 3
    value = weighted_correlation(x, y, [1.0] * 6, **of).value
    assert value == pytest.approx(22 / 9 / np.sqrt(14 / 9 * variance))


def test_the_ends_of_a_metric_s_scale_are_worth_most():
    x, nobody = np.array([-2.0, -1, 0, 1, 2]), np.full(5, NAN)
    worth = correlation_worth(x, nobody, list("abcde"), "global")
    assert worth[0] == pytest.approx(worth[4])
    assert worth[0] > worth[1] > worth[2]
    # By hand: E[(x y - r (x x + y y) / 2)**2 | x], y normal about r x, for x
    # standardized.
    r, z = 0.3, -2 / np.sqrt(2)
    y = r * z + np.sqrt(1 - r * r) * np.random.default_rng(0).standard_normal(400_000)
    expected = np.sqrt(np.mean((z * y - r * (z * z + y * y) / 2) ** 2))
    assert worth[0] == pytest.approx(expected, rel=0.01)
    of_systems = correlation_worth(x, nobody, list("aabbc"), "system")
    assert of_systems[4] > of_systems[0]
