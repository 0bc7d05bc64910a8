"""The card of a judge of whose rows only some are labelled."""

import numpy as np
import pytest

from metassay.meta_evaluation.card_numbers import Judgments, estimates
from metassay.meta_evaluation.options import MetaOptions
from metassay.statistics.classification import (
    AC1,
    auroc,
    calibration,
    judge_card,
)
from metassay.statistics.label_weights import label_weights
from metassay.statistics.raters import (
    accuracy_by_agreement,
    annotator_test,
    latent_classes,
)
from metassay.statistics.shares import (
    jeffreys,
    kish_size,
    labels_needed,
    quantile_ratio,
    weighted_mean,
    weighted_share,
)
from metassay.statistics.weighted_cards import (
    ENOUGH,
    PASS_RATE,
    constant_card,
    labels_lacking,
    verdict_shares,
    weighted_card,
)
from tests.support.statistics import NAN

OPTIONS = MetaOptions(resamples=1, seed=0, confidence=0.95, label_width=0.1)
SURE = {"confidence": 0.95}


def rows(*counts):
    """Verdicts and labels: (verdict, people pass, people fail, unlabelled) each."""
    verdict, people = [], []
    for side, passes, fails, unlabelled in counts:
        verdict += [float(side)] * (passes + fails + unlabelled)
        people += [1.0] * passes + [0.0] * fails + [NAN] * unlabelled
    return np.array(verdict), np.array(people)


def carded(verdict, people, cluster=None, factors=()):
    weight = label_weights(np.isfinite(people), verdict, factors)
    cluster = np.arange(verdict.size) if cluster is None else cluster
    return weighted_card(verdict, people, weight, cluster, **SURE)


def test_a_card_of_the_usual_review_queue_by_hand():
    # The judge passes 80 rows, of which 12 are labelled, 9 passes; it fails 20, all
    # labelled, 5 passes. So people pass .8 * .75 + .2 * .25 = .65 of the rows.
    card = carded(*rows((1, 9, 3, 68), (0, 5, 15, 0)))
    agreement, by_chance = 0.6 + 0.15, 0.65 * 0.8 + 0.35 * 0.2
    p = (0.65 + 0.8) / 2
    expected = {
        "sensitivity": 0.6 / 0.65,
        "specificity": 0.15 / 0.35,
        "precision": 0.75,
        "negative_predictive_value": 0.75,
        "agreement": agreement,
        "balanced_accuracy": (0.6 / 0.65 + 0.15 / 0.35) / 2,
        "agreement_by_chance": by_chance,
        "cohen_kappa": (agreement - by_chance) / (1 - by_chance),
        "f1": 1.2 / (1.2 + 0.2 + 0.05),
        AC1: (agreement - 2 * p * (1 - p)) / (1 - 2 * p * (1 - p)),
        PASS_RATE: 0.65,
    }
    values = {name: card[name].value for name in expected}
    assert values == pytest.approx(expected)
    for name, estimate in card.items():
        assert estimate.low < estimate.value < estimate.high, name
    counts = {name: card[name].n for name in ("sensitivity", "precision", "f1")}
    assert counts == {"sensitivity": 14, "precision": 12, "f1": 32}


def test_labels_of_all_rows_have_the_values_of_the_plain_card():
    rng = np.random.default_rng(0)
    people = (rng.random(120) < 0.7).astype(float)
    verdict = np.where(rng.random(120) < 0.85, people, 1 - people)
    document = np.arange(120) // 3
    plain = judge_card(verdict, people, cluster=document, rng=rng, **SURE).estimates
    card = carded(verdict, people, document)
    for name, estimate in plain.items():
        assert card[name].value == pytest.approx(estimate.value), name
        width = estimate.high - estimate.low
        assert 0.7 * width < card[name].high - card[name].low < 1.5 * width, name


def test_an_end_is_as_far_as_the_shares_move_the_number_each_alone():
    verdict, people = rows((1, 9, 3, 68), (0, 5, 15, 0))
    weight, document = label_weights(np.isfinite(people), verdict), np.arange(100)
    shares = verdict_shares(verdict, people, weight, document, **SURE)
    q, a, c = (share.value for share in shares)

    def rate(q, a, c):
        return q * a + (1 - q) * c

    down = [
        rate(q, a, c) - rate(shares.judge.low, a, c),
        rate(q, a, c) - rate(q, shares.passed.low, c),
        rate(q, a, c) - rate(q, a, shares.failed.low),
    ]
    card = weighted_card(verdict, people, weight, document, **SURE)
    low = rate(q, a, c) - np.sqrt(np.sum(np.square(down)))
    assert card[PASS_RATE].low == pytest.approx(low)
    # Precision moves with one share alone.
    precision = (shares.passed.low, shares.passed.high)
    assert card["precision"][1:3] == pytest.approx(precision)


def test_a_weighted_share_has_the_interval_of_as_many_independent_values():
    hits, document = np.array([1.0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1]), np.arange(12)
    ones = np.ones(12)
    share = weighted_share(hits, ones, document, **SURE)
    certain = 12 * quantile_ratio(11, confidence=0.95)
    assert share[:3] == pytest.approx(
        (0.75, *jeffreys(0.75 * certain, certain, **SURE))
    )
    # Unequal weights are worth fewer: (6 * 1 + 6 * 3)**2 / (6 * 1 + 6 * 9) = 9.6.
    weight = np.tile([1.0, 3.0], 6)
    assert kish_size(weight, document)[0] == pytest.approx(9.6)
    assert weighted_share(hits, weight, document, **SURE).n_effective < certain * 0.8
    # Values that are all equal, by four documents, are worth four.
    four = weighted_share(ones, ones, np.arange(12) // 3, **SURE)
    assert four.n_effective == pytest.approx(4 * quantile_ratio(3, confidence=0.95))
    mean = weighted_mean(hits, weight, np.arange(12) // 2)
    assert mean.value == pytest.approx(np.average(hits, weights=weight))
    sums = (weight * (hits - mean.value) / 24).reshape(6, 2).sum(axis=1)
    assert mean.variance == pytest.approx(np.sum(sums**2) * 6 / 5)


def test_a_verdict_with_few_labels_leaves_blank_what_rests_on_it():
    verdict, people = rows((1, 3, 1, 50), (0, 4, 16, 0))
    card = carded(verdict, people)
    assert np.isfinite(card["negative_predictive_value"].low)
    blank = {name for name, number in card.items() if np.isnan(number.value)}
    assert blank == {*card} - {"negative_predictive_value"}
    assert labels_lacking(verdict, people, 1.0) == ENOUGH - 4
    assert labels_lacking(verdict, people, 0.0) == 0
    # All of three rows that the judge fails are labelled: there is no more to label.
    card = carded(*rows((1, 20, 5, 50), (0, 1, 2, 0)))
    assert all(np.isfinite(number.low) for number in card.values())


def test_what_people_never_fail_has_no_specificity_and_no_kappa():
    card = carded(*rows((1, 20, 0, 40), (0, 6, 0, 4)))
    undefined = {name for name, number in card.items() if np.isnan(number.value)}
    assert undefined == {"specificity", "balanced_accuracy", "cohen_kappa", "mcc"}
    assert card["sensitivity"].value == pytest.approx(60 / 70)


def test_a_judge_that_never_fails_has_a_card():
    card = carded(*rows((1, 15, 5, 40)))
    assert card["sensitivity"].value == 1
    assert card["sensitivity"].low < 1  # of another 60 it may fail some
    assert card["specificity"].value == card["cohen_kappa"].value == 0
    assert np.isnan(card["negative_predictive_value"].value)


def test_giving_every_row_the_commoner_label():
    passes, fails = constant_card(0.7), constant_card(0.2)
    assert (passes["sensitivity"], passes["agreement"]) == (1, 0.7)
    assert (fails["specificity"], fails["agreement"]) == (1, 0.8)
    assert passes["cohen_kappa"] == pytest.approx(0)


def repeated(values, times):
    return np.repeat(values, times, axis=-1)


def test_a_weight_of_two_has_the_value_of_two_rows():
    rng = np.random.default_rng(5)
    people = (rng.random(90) < 0.7).astype(float)
    p = np.clip(0.3 * people + rng.random(90) * 0.7, 0, 1)
    times = 1 + (p > 0.6)
    twice = {"judge": repeated(p, times), "people": repeated(people, times)}
    shared = {"rng": rng, **SURE}
    weighted = calibration(p, people, weight=times, **shared)
    plain = calibration(twice["judge"], twice["people"], **shared)
    for name in ("brier", "bias"):
        weighed, expected = getattr(weighted, name), getattr(plain, name)
        assert weighed.value == pytest.approx(expected.value)
        # Rows that are there twice seem to say more than they do.
        assert weighed.high - weighed.low > expected.high - expected.low
    area = auroc(p, people, weight=times, **SURE)
    assert area.value == pytest.approx(auroc(**twice, **SURE).value)
    assert area.low < area.value < area.high


def test_weights_count_beside_raters_as_well():
    rng = np.random.default_rng(6)
    truth = rng.random(120) < 0.6
    ratings = np.array([truth == (rng.random(120) < 0.85) for _ in range(3)], float)
    judge = (truth == (rng.random(120) < 0.8)).astype(float)
    times = 1 + (judge == 1)
    more = repeated(judge, times), repeated(ratings, times)
    weighted = annotator_test(judge, ratings, weight=times)
    plain = annotator_test(*more)
    assert weighted.advantage == pytest.approx(plain.advantage)
    assert all(
        weighed.p >= expected.p
        for weighed, expected in zip(weighted.contests, plain.contests, strict=True)
    )
    weighed = accuracy_by_agreement(judge, ratings, weight=times, **SURE)
    expected = accuracy_by_agreement(*more, **SURE)
    for key, number in expected.items():
        assert weighed[key].value == pytest.approx(number.value), key
    latent = [
        latent_classes(*of, rng=np.random.default_rng(0), **SURE, **options)
        for of, options in (((judge, ratings), {"weight": times}), (more, {}))
    ]
    rates = [fit.sensitivity[0].value for fit in latent]
    assert rates[0] == pytest.approx(rates[1], abs=1e-4)
    ones = annotator_test(judge, ratings, weight=np.ones(120))
    assert ones == annotator_test(judge, ratings)


def test_labels_needed_go_by_the_rates_of_all_rows():
    verdict, people = rows((1, 18, 2, 180), (0, 10, 30, 0))
    weight = label_weights(np.isfinite(people), verdict)
    weighted = labels_needed(verdict, people, weight=weight, **SURE)
    plain = labels_needed(verdict, people, **SURE)
    # Of the labels a third are fails, of all rows a fifth.
    assert weighted.specificity > plain.specificity


def test_intervals_hold_the_truth_where_labels_are_chosen():
    # 200 judges of sensitivity .9 and specificity .7 on rows of which people pass .8.
    rng, names = np.random.default_rng(7), ("sensitivity", "specificity", PASS_RATE)
    truth = dict(zip(names, (0.9, 0.7, 0.8), strict=True))
    hits = dict.fromkeys(names, 0)
    for _ in range(200):
        document = np.repeat(np.arange(80), 3)
        people = np.repeat(rng.random(80), 3) < truth[PASS_RATE]
        right = rng.random(240) < np.where(people, 0.9, 0.7)
        verdict = (people == right).astype(float)
        labelled = (verdict == 0) | (rng.random(240) < 0.15)
        labels = np.where(labelled, people, NAN)
        card = carded(verdict, labels, document)
        for name in names:
            hits[name] += card[name].low <= truth[name] <= card[name].high
    assert min(hits.values()) >= 186  # 93 %


def test_labels_of_one_document_make_nothing_certain():
    """The judge fails one row, people do too; the next document may be all otherwise."""
    verdict = np.array([1.0, 1, 1, 1, 1, 0, 1, 1, 1, 1])
    people = np.array([1.0, NAN, NAN, 1, 1, 0, NAN, 1, 1, NAN])
    documents = np.arange(10) // 2
    weight = label_weights(np.isfinite(people), verdict)
    card = weighted_card(verdict, people, weight, documents, **SURE)
    assert card["sensitivity"].value == 1
    assert card["sensitivity"].low <= 0.9
    assert card["negative_predictive_value"].low == 0


def test_small_partly_labelled_tables_have_a_card():
    """Also where everybody agrees, and a verdict has labels of one document alone."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 40))
        people = (rng.random(n) < 0.95).astype(float)
        judge = np.where(rng.random(n) < 0.9, people, 1 - people)
        people[rng.random(n) < 0.5] = NAN
        judged = Judgments(
            judge=judge,
            people=people,
            cluster=np.arange(n) // 4,
            split=np.zeros(n, dtype=bool),
            probability=None,
            thresholded=False,
        )
        numbers = estimates(judged, OPTIONS, [])
        for name in ("sensitivity", "specificity", "agreement"):
            value, low, high, *_ = numbers[name]
            assert np.isnan(value) or low <= value <= high
            assert np.isnan(value) or low < high
