"""A judge beside raters: by hand, by the papers' procedures in loops, and by the likelihood."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import cauchy, false_discovery_control, t, ttest_1samp

from metassay.statistics.raters import (
    accuracy_by_agreement,
    annotator_test,
    benjamini_yekutieli,
    latent_classes,
)
from tests.support.statistics import NAN


def test_contests_by_hand():
    # items:    a  b  c  d
    judge = [1, 1, 0, 0]
    ratings = [
        [1, 0, 0, 1],  # ann
        [1, 1, 0, 1],  # ben
        [0, 1, 1, NAN],  # cleo
    ]
    result = annotator_test(judge, ratings, epsilon=0.2)
    # Ann against ben and cleo: a tie (1, 1), b judge (1: both; 0: none), c tie, d ann.
    # Ben against ann and cleo: a tie, b tie, c tie, d ben (ann says 1; the judge says
    # 0). Cleo against ann and ben: a judge, b tie, c judge; d has no label of hers.
    contests = [(c.n, c.advantage, c.rater_advantage) for c in result.contests]
    assert contests == [(4, 0.75, 0.75), (4, 0.75, 1.0), (3, 1.0, pytest.approx(1 / 3))]
    assert result.advantage == pytest.approx((0.75 + 0.75 + 1.0) / 3)
    assert np.isnan(result.winning_rate_published)  # nobody has 30 items
    assert not result.passes_published
    # Labels that never differ pass the published test at once.
    same = annotator_test(np.ones(40), np.ones((3, 40)), epsilon=0.05)
    assert same.passes_published
    assert same.contests[0].p_published == 0
    assert same.contests[0].p == pytest.approx(
        t.cdf(-40 * 0.05 / np.sqrt(40 * 0.05 * 0.95), 39)
    )
    # One document tells nothing.
    alone = annotator_test(np.ones(40), np.ones((2, 40)), cluster=np.zeros(40))
    assert np.isnan(alone.contests[0].p)
    assert not alone.passes


def published(judge, ratings, epsilon, q=0.05):
    """The paper's procedure, item by item."""
    p, advantage = [], []
    for j, labels in enumerate(ratings):
        f, h = [], []
        for i, label in enumerate(labels):
            others = [
                r[i] for k, r in enumerate(ratings) if k != j and not np.isnan(r[i])
            ]
            if np.isnan(label) or np.isnan(judge[i]) or not others:
                continue
            of_judge = np.mean([judge[i] == o for o in others])
            of_rater = np.mean([label == o for o in others])
            f.append(of_judge >= of_rater)
            h.append(of_rater >= of_judge)
        d = np.array(h, float) - np.array(f, float)
        p.append(ttest_1samp(d, epsilon, alternative="less").pvalue)
        advantage.append(np.mean(f))
    rejected = false_discovery_control(p, method="by") <= q
    return np.mean(rejected), np.mean(advantage), p


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_published_procedure(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=80)
    ratings = np.array(
        [
            np.where(rng.random(80) < 0.8, truth, rng.integers(3, size=80))
            for _ in "abcd"
        ]
    )
    ratings = np.where(rng.random((4, 80)) < 0.15, NAN, ratings)
    judge = np.where(rng.random(80) < 0.8, truth, 0).astype(float)
    judge[3] = NAN
    rate, advantage, p = published(judge, ratings, 0.1)
    result = annotator_test(judge, ratings, epsilon=0.1)
    assert result.winning_rate_published == rate
    assert result.advantage == pytest.approx(advantage, abs=1e-12)
    assert [contest.p_published for contest in result.contests] == pytest.approx(
        p, abs=1e-12
    )
    for _ in range(12):
        p = rng.random(6) ** 4
        expected = false_discovery_control(p, method="by") <= 0.05
        assert (benjamini_yekutieli(p, 0.05) == expected).all()
    assert not benjamini_yekutieli(np.array([NAN]), 0.05).any()
    assert benjamini_yekutieli(np.array([NAN, 0.04]), 0.05).tolist() == [False, True]


def test_the_score_has_the_variance_of_the_null_hypothesis():
    rng = np.random.default_rng(7)
    truth = rng.random(50) < 0.6
    rater = (truth == (rng.random(50) < 0.95)).astype(float)
    judge = (truth == (rng.random(50) < 0.8)).astype(float)
    other, epsilon, n = truth.astype(float), 0.2, 50
    result = annotator_test(judge, [rater, other], epsilon=epsilon).contests[0]
    better = (rater == other).astype(float) - (judge == other)
    b, c = np.sum(better == 1), np.sum(better == -1)

    def unlikely(x):  # shares x + epsilon, x, and the rest
        rest = (n - b - c) * np.log(1 - 2 * x - epsilon)
        return -(b * np.log(x + epsilon) + c * np.log(x) + rest)

    bounds = 1e-9, (1 - epsilon) / 2 - 1e-9
    x = minimize_scalar(
        unlikely, bounds=bounds, method="bounded", options={"xatol": 1e-12}
    ).x
    score = (b - c - n * epsilon) / np.sqrt(n * (2 * x + epsilon - epsilon**2))
    assert result.p == pytest.approx(t.cdf(score, n - 1), abs=1e-6)


def test_items_that_are_there_five_times_count_about_once():
    rng = np.random.default_rng(1)
    ratings = (rng.random((3, 40)) < 0.7).astype(float)
    judge = (rng.random(40) < 0.7).astype(float)
    copies = np.repeat(judge, 5), np.repeat(ratings, 5, axis=1)
    once = annotator_test(judge, ratings).contests
    often = annotator_test(*copies, cluster=np.repeat(np.arange(40), 5)).contests
    for a, b in zip(once, often, strict=True):
        assert b.p == pytest.approx(a.p, abs=0.02)
        assert b.n_clusters == a.n == 40


def test_a_document_of_most_items_is_known_as_from_few():
    # 12 items on which the rater is nearer stand in one document, 12 ties in 12 others. They are
    # wholly alike: 12^2 / 24 + 12 / 24 = 6.5 times the variance of independent ones, and the
    # variance of as many equal documents as (144 + 12)^2 / (144^2 + 12) = 1.17 is known to less
    # than one degree of freedom, so one is taken: Cauchy's distribution.
    judge, ratings = np.repeat([0.0, 1.0], 12), np.ones((2, 24))
    of = np.concatenate((np.zeros(12), np.arange(1, 13)))
    contest = annotator_test(judge, ratings, epsilon=0.7, cluster=of).contests[0]
    deviation = np.where(judge == 0, 1, 0) - 0.5
    sums = np.bincount(of.astype(int), deviation)
    effect = np.sum(sums**2) * 13 / 12 / 24 / np.var(deviation, ddof=1)
    assert effect > 5.5
    score = (12 - 24 * 0.7) / np.sqrt(24 * (0.7 - 0.49) * effect)
    assert contest.p == pytest.approx(cauchy.cdf(score), abs=1e-9)


def test_ten_documents_without_a_lost_one_may_miss_the_tenth_that_is_lost():
    # Nine tenths to the tenth power is .35: a judge that is wrong in whole documents,
    # one of ten, is right in ten of them that often. By itself, each of 100 items tells
    # far more.
    ratings = np.ones((3, 100))
    for rater in range(3):
        # a rater's slips, here and there
        ratings[rater, [7 + 20 * rater, 46 + 11 * rater]] = 0
    alone = annotator_test(np.ones(100), ratings, epsilon=0.1)
    alike = annotator_test(
        np.ones(100), ratings, epsilon=0.1, cluster=np.arange(100) // 10
    )
    assert alone.passes
    assert not alike.passes
    assert all(contest.p > 0.05 for contest in alike.contests)


def test_accuracy_by_agreement_by_hand():
    judge = [1, 1, 0, 1, NAN]
    ratings = [[1, 1, 1, 0, 1], [1, 1, 0, NAN, 1], [1, 0, 0, NAN, 1]]
    # Item 4 has one rating and item 5 no judgment. Items by rater left out, share of the others
    # with the judge, and with the rater:
    # 1 (judge 1): 1/1, 1/1, 1/1. 2 (judge 1; others 1 0 | 1 0 | 1 1): .5/.5, .5/.5, 1/0.
    # 3 (judge 0; others 0 0 | 1 0 | 1 0): 1/0, .5/.5, .5/.5.
    result = accuracy_by_agreement(judge, ratings, confidence=0.95)
    for key, value in {
        ("all", "judge"): (3 + 2 + 2) / 9,
        ("all", "rater"): (3 + 1 + 1) / 9,
        ("all", "difference"): 2 / 9,
        ("unanimous", "judge"): 1,
        ("unanimous", "rater"): 3 / 5,
        ("split", "judge"): 0.5,
        ("split", "rater"): 0.5,
    }.items():
        assert result[key].value == pytest.approx(value), key
    assert [result[items, "judge"].n for items in ("all", "unanimous", "split")] == [
        3,
        3,
        2,
    ]
    # Two ratings are never split.
    pair = accuracy_by_agreement([1, 0], [[1, 0], [0, 0]], confidence=0.95)
    assert pair["split", "judge"].n == 0
    assert np.isnan(pair["split", "difference"].value)
    assert (pair["all", "judge"].value, pair["all", "rater"].value) == (0.75, 0.5)


def drawn(rng, n, passing, sensitivity, specificity):
    truth, rates = rng.random(n) < passing, zip(sensitivity, specificity, strict=True)
    verdicts = [
        np.where(truth, rng.random(n) < a, rng.random(n) >= b) for a, b in rates
    ]
    return np.array(verdicts).astype(float)


def most_likely(tables):
    """Rates that, with shares of passes, make the patterns of each population likeliest."""
    many = len(tables[0])

    def unlikely(logits):
        p = 1 / (1 + np.exp(-logits))
        sensitivity, false, passing = p[:many], p[many : 2 * many], p[2 * many :]
        total = 0.0
        for share, table in zip(passing, tables, strict=True):
            for pattern in product((0, 1), repeat=many):
                x = np.array(pattern)
                count = np.sum((table == x[:, None]).all(axis=0))
                of_pass = np.prod(np.where(x, sensitivity, 1 - sensitivity))
                of_fail = np.prod(np.where(x, false, 1 - false))
                total -= count * np.log(share * of_pass + (1 - share) * of_fail)
        return total

    start = np.r_[np.full(many, 1.5), np.full(many, -1.5), np.zeros(len(tables))]
    p = 1 / (1 + np.exp(-minimize(unlikely, start, method="BFGS").x))
    return p[:many], 1 - p[many : 2 * many]


@pytest.mark.parametrize("populations", [1, 2])
def test_latent_classes_are_the_maximum_of_the_likelihood(populations):
    """Dawid and Skene's of three verdicts; Hui and Walter's of two in two populations."""
    rng = np.random.default_rng({1: 2, 2: 5}[populations])
    if populations == 1:
        tables = [drawn(rng, 300, 0.7, (0.9, 0.8, 0.85), (0.8, 0.9, 0.75))]
    else:
        tables = [
            drawn(rng, 400, share, (0.9, 0.85), (0.8, 0.9)) for share in (0.8, 0.4)
        ]
    how = {"confidence": 0.95, "rng": rng}
    judge, *others = np.hstack(tables)
    of = np.repeat(["x", "y"], judge.size // 2)
    result = latent_classes(
        judge, others, **how, population=None if populations == 1 else of
    )
    sensitivity, specificity = most_likely(tables)
    assert [rate.value for rate in result.sensitivity] == pytest.approx(
        sensitivity, abs=2e-3
    )
    assert [rate.value for rate in result.specificity] == pytest.approx(
        specificity, abs=2e-3
    )
    assert (
        result.sensitivity[0].low
        < result.sensitivity[0].value
        < result.sensitivity[0].high
    )
    if populations == 1:
        assert result.why == "by three verdicts an item"
        return
    assert result.why == "by two populations that differ"
    alike = np.hstack([drawn(rng, 400, 0.6, (0.9, 0.85), (0.8, 0.9)) for _ in "xy"])
    for undefined in (
        latent_classes(judge, others, **how),
        latent_classes(alike[0], alike[1:], **how, population=of),
    ):
        assert undefined.why.startswith("not identified: ")
        assert np.isnan(undefined.sensitivity[0].value)


def test_the_majority_errs_where_the_model_does_not():
    # Two raters who pass nearly everything outvote a judge that is right.
    rng = np.random.default_rng(3)
    table = drawn(rng, 4000, 0.6, (0.95, 0.97, 0.96, 0.9), (0.95, 0.4, 0.4, 0.9))
    result = latent_classes(table[0], table[1:], confidence=0.95, rng=rng)
    assert result.specificity[0].value == pytest.approx(0.95, abs=0.03)
    majority = table[1:].sum(axis=0) >= 2
    assert np.mean(table[0][majority] == 1) < 0.9


def test_what_does_not_fit_is_refused():
    for judge, ratings, epsilon in (
        ([1, 0], [[1, 0, 1]], 0.2),
        ([1], [1], 0.2),
        ([1], [[1]], 1),
    ):
        with pytest.raises(ValueError, match="expected"):
            annotator_test(judge, ratings, epsilon=epsilon)
    for judge, ratings in (([1, 0.5], [[1, 0]]), ([1, 0], [[1]])):
        with pytest.raises(ValueError, match="expected"):
            accuracy_by_agreement(judge, ratings, confidence=0.95)
