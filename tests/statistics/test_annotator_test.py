"""The alternative annotator test: by hand, by the paper's procedure in loops, by the likelihood."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import cauchy, false_discovery_control, t, ttest_1samp

from metassay.statistics.raters import annotator_test, benjamini_yekutieli

NAN = float("nan")


def test_a_table_worked_by_hand():
    # items:    a  b  c  d
    judge = [1, 1, 0, 0]
    ratings = [
        [1, 0, 0, 1],  # ann
        [1, 1, 0, 1],  # ben
        [0, 1, 1, NAN],  # cleo
    ]
    found = annotator_test(judge, ratings, epsilon=0.2)
    # Ann against ben and cleo: a tie (1, 1), b judge (1: both; 0: none), c tie, d ann.
    ann, ben, cleo = found.contests
    assert (ann.n, ann.advantage, ann.rater_advantage) == (4, 0.75, 0.75)
    # Ben against ann and cleo: a tie, b tie, c tie, d ben (ann says 1; the judge says 0).
    assert (ben.n, ben.advantage, ben.rater_advantage) == (4, 0.75, 1.0)
    # Cleo against ann and ben: a judge, b tie, c judge; d has no label of hers.
    assert (cleo.n, cleo.advantage, cleo.rater_advantage) == (3, 1.0, pytest.approx(1 / 3))
    assert found.advantage == pytest.approx((0.75 + 0.75 + 1.0) / 3)
    assert np.isnan(found.winning_rate_published)  # nobody has 30 items
    assert not found.passes_published


def published(judge, ratings, epsilon, q=0.05):
    """The paper's procedure, item by item."""
    p, advantage = [], []
    for j, own in enumerate(ratings):
        f, h = [], []
        for i, label in enumerate(own):
            others = [r[i] for k, r in enumerate(ratings) if k != j and not np.isnan(r[i])]
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
        [np.where(rng.random(80) < 0.8, truth, rng.integers(3, size=80)) for _ in "abcd"]
    )
    ratings = np.where(rng.random((4, 80)) < 0.15, NAN, ratings)
    judge = np.where(rng.random(80) < 0.8, truth, 0).astype(float)
    judge[3] = NAN
    rate, advantage, p = published(judge, ratings, 0.1)
    found = annotator_test(judge, ratings, epsilon=0.1)
    assert found.winning_rate_published == rate
    assert found.advantage == pytest.approx(advantage, abs=1e-12)
    assert [one.p_published for one in found.contests] == pytest.approx(p, abs=1e-12)


def test_labels_that_never_differ_pass_the_published_test_at_once():
    found = annotator_test(np.ones(40), np.ones((3, 40)), epsilon=0.05)
    assert found.passes_published
    assert found.contests[0].p_published == 0
    assert found.contests[0].p == pytest.approx(t.cdf(-40 * 0.05 / np.sqrt(40 * 0.05 * 0.95), 39))


def test_the_score_has_the_variance_of_the_null_hypothesis():
    rng = np.random.default_rng(7)
    truth = rng.random(50) < 0.6
    rater = (truth == (rng.random(50) < 0.95)).astype(float)
    judge = (truth == (rng.random(50) < 0.8)).astype(float)
    other = truth.astype(float)
    epsilon, n = 0.2, 50
    found = annotator_test(judge, [rater, other], epsilon=epsilon).contests[0]
    better = (rater == other).astype(float) - (judge == other)
    b, c = np.sum(better == 1), np.sum(better == -1)

    def unlikely(x):  # shares x + epsilon, x, and the rest
        return -(
            b * np.log(x + epsilon) + c * np.log(x) + (n - b - c) * np.log(1 - 2 * x - epsilon)
        )

    x = minimize_scalar(unlikely, bounds=(1e-9, (1 - epsilon) / 2 - 1e-9), method="bounded",
                        options={"xatol": 1e-12}).x  # fmt: skip
    score = (b - c - n * epsilon) / np.sqrt(n * (2 * x + epsilon - epsilon**2))
    assert found.p == pytest.approx(t.cdf(score, n - 1), abs=1e-6)


def test_items_that_are_there_five_times_count_about_once():
    rng = np.random.default_rng(1)
    ratings = (rng.random((3, 40)) < 0.7).astype(float)
    judge = (rng.random(40) < 0.7).astype(float)
    once = annotator_test(judge, ratings)
    often = annotator_test(
        np.repeat(judge, 5), np.repeat(ratings, 5, axis=1), cluster=np.repeat(np.arange(40), 5)
    )
    for a, b in zip(once.contests, often.contests, strict=True):
        assert b.p == pytest.approx(a.p, abs=0.02)
        assert b.n_clusters == a.n == 40


def test_a_document_of_most_items_is_known_as_from_few():
    # 12 items on which the rater is nearer stand in one document, 12 ties in 12 others. They are
    # wholly alike: 12^2 / 24 + 12 / 24 = 6.5 times the variance of independent ones, and the
    # variance of as many equal documents as (144 + 12)^2 / (144^2 + 12) = 1.17 is known to less
    # than one degree of freedom, so one is taken: Cauchy's distribution.
    judge = np.repeat([0.0, 1.0], 12)
    ratings = np.ones((2, 24))
    of = np.concatenate((np.zeros(12), np.arange(1, 13)))
    contest = annotator_test(judge, ratings, epsilon=0.7, cluster=of).contests[0]
    deviation = np.where(judge == 0, 1, 0) - 0.5
    sums = np.bincount(of.astype(int), deviation)
    effect = np.sum(sums**2) * 13 / 12 / 24 / np.var(deviation, ddof=1)
    assert effect > 5.5
    score = (12 - 24 * 0.7) / np.sqrt(24 * (0.7 - 0.49) * effect)
    assert contest.p == pytest.approx(cauchy.cdf(score), abs=1e-9)


def test_ten_documents_without_a_lost_one_may_miss_the_tenth_that_is_lost():
    # Nine tenths to the tenth power is .35: a judge that is wrong in whole documents, one of ten,
    # is right in ten of them that often. By itself, each of 100 items tells far more.
    ratings = np.ones((3, 100))
    for rater in range(3):
        ratings[rater, [7 + 20 * rater, 46 + 11 * rater]] = 0  # a rater's slips, here and there
    alone = annotator_test(np.ones(100), ratings, epsilon=0.1)
    alike = annotator_test(np.ones(100), ratings, epsilon=0.1, cluster=np.arange(100) // 10)
    assert alone.passes
    assert not alike.passes
    assert all(one.p > 0.05 for one in alike.contests)


def test_one_document_tells_nothing():
    found = annotator_test(np.ones(40), np.ones((2, 40)), cluster=np.zeros(40))
    assert np.isnan(found.contests[0].p)
    assert not found.passes


def test_benjamini_yekutieli_beside_scipy():
    rng = np.random.default_rng(3)
    for _ in range(50):
        p = rng.random(6) ** 4
        expected = false_discovery_control(p, method="by") <= 0.05
        assert (benjamini_yekutieli(p, 0.05) == expected).all()
    assert not benjamini_yekutieli(np.array([NAN]), 0.05).any()
    assert benjamini_yekutieli(np.array([NAN, 0.04]), 0.05).tolist() == [False, True]


@pytest.mark.parametrize(
    ("judge", "ratings", "epsilon"), [([1, 0], [[1, 0, 1]], 0.2), ([1], [1], 0.2), ([1], [[1]], 1)]
)
def test_what_does_not_fit_is_refused(judge, ratings, epsilon):
    with pytest.raises(ValueError, match="want"):
        annotator_test(judge, ratings, epsilon=epsilon)
