"""A judge beside raters who disagree: by hand, and by the likelihood maximised otherwise."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from metassay.statistics.raters import by_agreement, latent_classes

NAN = float("nan")


def test_accuracy_by_agreement_by_hand():
    judge = [1, 1, 0, 1, NAN]
    ratings = [[1, 1, 1, 0, 1], [1, 1, 0, NAN, 1], [1, 0, 0, NAN, 1]]
    # Item 4 has one rating and item 5 no judgment. Items by rater left out, share of the others
    # with the judge, and with the rater:
    # 1 (judge 1): 1/1, 1/1, 1/1. 2 (judge 1; others 1 0 | 1 0 | 1 1): .5/.5, .5/.5, 1/0.
    # 3 (judge 0; others 0 0 | 1 0 | 1 0): 1/0, .5/.5, .5/.5.
    found = by_agreement(judge, ratings, confidence=0.95)
    assert found["all", "judge"].value == pytest.approx((3 + 2 + 2) / 9)
    assert found["all", "rater"].value == pytest.approx((3 + 1 + 1) / 9)
    assert found["all", "difference"].value == pytest.approx(2 / 9)
    assert found["unanimous", "judge"].value == 1
    assert found["unanimous", "rater"].value == pytest.approx(3 / 5)
    assert found["split", "judge"].value == found["split", "rater"].value == 0.5
    assert [found[items, "judge"].n for items in ("all", "unanimous", "split")] == [3, 3, 2]


def test_two_ratings_are_never_split():
    found = by_agreement([1, 0], [[1, 0], [0, 0]], confidence=0.95)
    assert found["split", "judge"].n == 0
    assert np.isnan(found["split", "difference"].value)
    assert found["all", "judge"].value == 0.75
    assert found["all", "rater"].value == 0.5


def drawn(rng, n, passing, sensitivity, specificity):
    truth = rng.random(n) < passing
    return np.array(
        [
            np.where(truth, rng.random(n) < a, rng.random(n) >= b)
            for a, b in zip(sensitivity, specificity, strict=True)
        ]
    ).astype(float)


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


def test_dawid_and_skene_is_the_maximum_of_the_likelihood():
    rng = np.random.default_rng(2)
    table = drawn(rng, 300, 0.7, (0.9, 0.8, 0.85), (0.8, 0.9, 0.75))
    found = latent_classes(table[0], table[1:], confidence=0.95, rng=rng)
    sensitivity, specificity = most_likely([table])
    assert found.why == "by three verdicts an item"
    assert [one.value for one in found.sensitivity] == pytest.approx(sensitivity, abs=2e-3)
    assert [one.value for one in found.specificity] == pytest.approx(specificity, abs=2e-3)
    assert found.sensitivity[0].low < found.sensitivity[0].value < found.sensitivity[0].high


def test_hui_and_walter_takes_two_populations_that_differ():
    rng = np.random.default_rng(5)
    tables = [drawn(rng, 400, share, (0.9, 0.85), (0.8, 0.9)) for share in (0.8, 0.4)]
    both = np.hstack(tables)
    of = np.repeat(["x", "y"], 400)
    found = latent_classes(both[0], both[1:], confidence=0.95, rng=rng, population=of)
    sensitivity, specificity = most_likely(tables)
    assert found.why == "by two populations that differ"
    assert [one.value for one in found.sensitivity] == pytest.approx(sensitivity, abs=2e-3)
    assert [one.value for one in found.specificity] == pytest.approx(specificity, abs=2e-3)
    alone = latent_classes(both[0], both[1:], confidence=0.95, rng=rng)
    alike = np.hstack([drawn(rng, 400, 0.6, (0.9, 0.85), (0.8, 0.9)) for _ in "xy"])
    same = latent_classes(alike[0], alike[1:], confidence=0.95, rng=rng, population=of)
    for one in (alone, same):
        assert one.why.startswith("not identified: ")
        assert np.isnan(one.sensitivity[0].value)


def test_the_majority_errs_where_the_model_does_not():
    # Two raters who pass nearly everything outvote a judge that is right.
    rng = np.random.default_rng(3)
    table = drawn(rng, 4000, 0.6, (0.95, 0.97, 0.96, 0.9), (0.95, 0.4, 0.4, 0.9))
    found = latent_classes(table[0], table[1:], confidence=0.95, rng=rng)
    assert found.specificity[0].value == pytest.approx(0.95, abs=0.03)
    majority = table[1:].sum(axis=0) >= 2
    assert np.mean(table[0][majority] == 1) < 0.9


@pytest.mark.parametrize(("judge", "ratings"), [([1, 0.5], [[1, 0]]), ([1, 0], [[1]])])
def test_what_is_no_verdict_is_refused(judge, ratings):
    with pytest.raises(ValueError, match="want"):
        by_agreement(judge, ratings, confidence=0.95)
