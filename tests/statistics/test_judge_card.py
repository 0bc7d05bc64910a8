import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta
from sklearn import metrics
from statsmodels.stats.proportion import proportion_confint

from metassay.statistics.classification import gwet_ac1, judge_card
from metassay.statistics.shares import (
    effective_size,
    jeffreys,
    judgments,
    labels_needed,
    pass_rates,
    worth_at_most,
)

NAN = np.nan


def texts(true_pass, false_pass, false_fail, true_fail):
    """Judgments and people's values with these counts."""
    judge = [1.0] * (true_pass + false_pass) + [0.0] * (false_fail + true_fail)
    people = [1.0] * true_pass + [0.0] * false_pass + [1.0] * false_fail + [0.0] * true_fail
    return np.array(judge), np.array(people)


def card(judge, people, *, confidence=0.95, **more):
    return judge_card(judge, people, confidence=confidence, rng=np.random.default_rng(0), **more)


def test_by_hand():
    # People pass 10 texts and fail 10; the judge passes 8 of the first, 1 of the others. One text
    # is rated and not judged, two are judged and not rated.
    judge, people = texts(8, 1, 2, 9)
    made = card(np.append(judge, [NAN, 1, 0]), np.append(people, [1, NAN, NAN]))
    assert made[:4] == (8, 1, 2, 9)
    assert (made.n_judged, made.n_missing) == (22, 1)
    of = {name: found.value for name, found in made.estimates.items()}
    assert of["sensitivity"] == pytest.approx(8 / 10)
    assert of["specificity"] == pytest.approx(9 / 10)
    assert of["precision"] == pytest.approx(8 / 9)
    assert of["negative_predictive_value"] == pytest.approx(9 / 11)
    assert of["balanced_accuracy"] == pytest.approx((0.8 + 0.9) / 2)
    assert of["agreement"] == pytest.approx(17 / 20)
    # The judge passes 9 of 20, people 10 of 20: both pass .45 * .5, both fail .55 * .5.
    assert of["agreement_by_chance"] == pytest.approx(0.5)
    assert of["cohen_kappa"] == pytest.approx((0.85 - 0.5) / (1 - 0.5))
    assert of["f1"] == pytest.approx(2 * 8 / (9 + 10))
    assert of["mcc"] == pytest.approx((8 * 9 - 1 * 2) / np.sqrt(9 * 10 * 10 * 11))
    sizes = {name: found.n for name, found in made.estimates.items()}
    assert (sizes["sensitivity"], sizes["precision"], sizes["mcc"]) == (10, 9, 20)
    for found in made.estimates.values():
        assert found.low <= found.value <= found.high
        assert found.n_effective == found.n


@pytest.mark.parametrize("counts", [(8, 1, 2, 9), (30, 10, 5, 55), (1, 0, 0, 9), (3, 40, 2, 1)])
def test_equals_scikit_learn(counts):
    judge, people = texts(*counts)
    of = {name: found.value for name, found in card(judge, people).estimates.items()}
    assert of["sensitivity"] == pytest.approx(metrics.recall_score(people, judge))
    assert of["specificity"] == pytest.approx(metrics.recall_score(people, judge, pos_label=0))
    assert of["precision"] == pytest.approx(metrics.precision_score(people, judge))
    assert of["negative_predictive_value"] == pytest.approx(
        metrics.precision_score(people, judge, pos_label=0)
    )
    assert of["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(people, judge))
    assert of["cohen_kappa"] == pytest.approx(metrics.cohen_kappa_score(people, judge))
    assert of["mcc"] == pytest.approx(metrics.matthews_corrcoef(people, judge))
    assert of["f1"] == pytest.approx(metrics.f1_score(people, judge))
    assert of["agreement"] == pytest.approx(metrics.accuracy_score(people, judge))


@pytest.mark.parametrize(("hits", "n"), [(3, 10), (1, 7), (49, 50), (120, 400)])
def test_shares_have_jeffreys_interval(hits, n):
    expected = proportion_confint(hits, n, alpha=0.1, method="jeffreys")
    assert jeffreys(hits, n, confidence=0.9) == pytest.approx(expected)
    # Where there are many texts Wilson's says the same.
    if n > 100:
        wilson = proportion_confint(hits, n, alpha=0.1, method="wilson")
        assert jeffreys(hits, n, confidence=0.9) == pytest.approx(wilson, abs=0.002)


def test_none_and_all_of_a_few_texts_leave_doubt():
    assert jeffreys(0, 10, confidence=0.95)[0] == 0
    assert jeffreys(10, 10, confidence=0.95)[1] == 1
    # The other end is Beta(1/2, 10 1/2)'s.
    assert jeffreys(0, 10, confidence=0.95)[1] == pytest.approx(beta(0.5, 10.5).ppf(0.975))
    assert np.isnan(jeffreys(0, 0, confidence=0.95)).all()
    perfect = card(*texts(10, 0, 0, 10)).estimates
    for name in ("sensitivity", "balanced_accuracy", "cohen_kappa", "mcc"):
        assert perfect[name].value == pytest.approx(1)
        assert perfect[name].high == pytest.approx(1)
        assert 0.4 < perfect[name].low < 0.9


def test_undefined_is_nan_never_0():
    nothing = card([NAN, 1.0], [1.0, NAN])
    assert nothing[:4] == (0, 0, 0, 0)
    assert all(np.isnan(found[:3]).all() for found in nothing.estimates.values())
    assert {found.n for found in nothing.estimates.values()} == {0}
    assert all(np.isnan(found.value) for found in card([], []).estimates.values())
    no_pass = card(*texts(0, 2, 0, 8)).estimates
    for name in ("sensitivity", "balanced_accuracy", "mcc"):
        assert np.isnan(no_pass[name][:3]).all()
    assert no_pass["precision"].value == 0  # the judge passed two, people none of them
    assert no_pass["specificity"].value == pytest.approx(0.8)
    same = card(*texts(9, 0, 0, 0)).estimates
    assert np.isnan(same["cohen_kappa"].value)  # chance agrees on all
    assert same["agreement"].value == same["agreement_by_chance"].value == 1


def test_probabilities_pass_from_the_threshold_on():
    assert list(judgments([0.0, 0.49, 0.5, 1.0])) == [0, 0, 1, 1]
    assert list(judgments([0.5, 0.9], 0.9)) == [0, 1]
    assert np.isnan(judgments([NAN])).all()
    judge, people = texts(8, 1, 2, 9)
    found = card(np.where(judge == 1, 0.8, 0.6), people, threshold=0.7)
    assert found == card(judge, people)


def test_wrong_values_are_refused():
    for judge, people in (([1.2], [1.0]), ([1.0], [0.5]), ([1.0, 0.0], [1.0]), ([np.inf], [1.0])):
        with pytest.raises(ValueError, match="want"):
            card(judge, people)
    with pytest.raises(ValueError, match="cluster"):
        card([1.0, 0.0], [1.0, 0.0], cluster=[1])


def test_texts_by_themselves_are_no_clusters():
    judge, people = texts(8, 1, 2, 9)
    alone = card(judge, people, cluster=[f"d{k}" for k in range(20)])
    assert alone == card(judge, people)


def test_copies_of_texts_are_worth_no_more_than_the_texts():
    judge, people = texts(30, 6, 5, 40)
    once = card(judge, people)
    of = np.repeat(np.arange(judge.size), 3)
    thrice = card(np.repeat(judge, 3), np.repeat(people, 3), cluster=of)
    untold = card(np.repeat(judge, 3), np.repeat(people, 3))
    for name, found in thrice.estimates.items():
        one = once.estimates[name]
        assert found.value == pytest.approx(one.value)
        assert found.n == 3 * one.n
        assert found.n_effective <= one.n + 1e-9
        width = one.high - one.low
        assert found.high - found.low == pytest.approx(width, rel=0.12)
        free = untold.estimates[name]
        assert free.high - free.low < 0.7 * width


def test_effective_size_by_hand():
    # Two documents of two texts: 1 1 and 0 0, mean 1/2. Sums of the documents' deviations: 1 and
    # -1, so 2 * k / (k - 1) / n = 1; alone, 4 * 1/4 / 3 = 1/3: a design effect of 3.
    influence, cluster = np.array([0.5, 0.5, -0.5, -0.5]), np.array([0, 0, 1, 1])
    few = (1.959963984540054 / 12.706204736432095) ** 2  # normal and t with one degree of freedom
    assert effective_size(influence, cluster, confidence=0.95) == pytest.approx(4 / 3 * few)
    # Where no text moves the number, each document counts once.
    assert effective_size(np.zeros(4), cluster, confidence=0.95) == 2
    assert effective_size(influence, np.zeros(4, dtype=int), confidence=0.95) == 1
    # Documents whose texts cancel out are worth no more than their texts.
    again = effective_size(np.tile([0.5, -0.5], 50), np.repeat(np.arange(50), 2), confidence=0.95)
    assert 94 < again < 100


@settings(deadline=None, derandomize=True, max_examples=30)
@given(counts=st.tuples(*[st.integers(0, 12)] * 4), seed=st.integers(0, 99))
def test_invariances(counts, seed):
    judge, people = texts(*counts)
    made = card(judge, people).estimates
    order = np.random.default_rng(seed).permutation(judge.size)
    again = card(judge[order], people[order]).estimates
    turned = card(1 - judge, 1 - people).estimates
    other = {"sensitivity": "specificity", "precision": "negative_predictive_value"}
    other |= {second: first for first, second in other.items()}
    for name, found in made.items():
        assert again[name] == pytest.approx(found, nan_ok=True)
        mirror = turned[other.get(name, name)]
        drawn = name in ("cohen_kappa", "mcc", "agreement_by_chance")
        if name != "f1":  # of passes alone
            assert mirror == pytest.approx(found, nan_ok=True, abs=0.03 if drawn else 1e-9)
        if found.n:
            assert not found.value < found.low
            assert not found.value > found.high


def gwet_of_items(judge, people):
    """AC1 as Gwet defines it for any number of labels, from the items."""
    labels = [0, 1]
    agreed = np.mean([a == b for a, b in zip(judge, people, strict=True)])
    shares = [(np.mean(np.equal(judge, k)) + np.mean(np.equal(people, k))) / 2 for k in labels]
    chance = sum(p * (1 - p) for p in shares) / (len(labels) - 1)
    return (agreed - chance) / (1 - chance)


def test_ac1_beside_an_independent_computation():
    rng = np.random.default_rng(8)
    for _ in range(20):
        judge, people = rng.random((2, 40)) < rng.uniform(0.3, 0.97)
        counts = [np.sum(judge & people), np.sum(judge & ~people)]
        counts += [np.sum(~judge & people), np.sum(~judge & ~people)]
        table = np.array(counts, dtype=float)
        assert gwet_ac1(table) == pytest.approx(gwet_of_items(judge, people), abs=1e-12)
    assert gwet_ac1(np.array([8.0, 1, 1, 0])) == pytest.approx(0.756098, abs=1e-6)
    assert np.isnan(gwet_ac1(np.zeros(4)))


def test_few_documents_with_the_rarer_label_count_once_each():
    # 4 of 60 texts fail, in 4 of 20 documents: whether documents fail as a whole is not known.
    people = np.ones(60)
    people[[0, 3, 6, 9]] = 0
    of = np.repeat(np.arange(20), 3)
    assert worth_at_most(people, of) == 20
    found = pass_rates(people, people, confidence=0.95, rng=np.random.default_rng(0), cluster=of)
    assert found.people.n_effective == 20
    low, high = jeffreys(56 / 60 * 20, 20, confidence=0.95)
    assert (found.people.low, found.people.high) == pytest.approx((low, high))
    # Three texts count as one, so that it takes about three times the labels.
    more, alone = (
        labels_needed(people, people, confidence=0.95, cluster=cluster).pass_rate
        for cluster in (of, None)
    )
    assert more == pytest.approx(3 * alone, rel=0.1)
    people[12] = 0  # a fifth document: their alikeness is estimated
    assert np.isinf(worth_at_most(people, of))
    assert np.isinf(worth_at_most(people, np.arange(60)))
