"""Labels and probabilities against the truth: by hand, and as scikit-learn has them."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtr, ndtri
from sklearn import metrics
from sklearn.calibration import calibration_curve

from metassay.statistics import classification
from metassay.statistics.classification import (
    auroc,
    calibration,
    gwet_ac1_of_cells,
    judge_card,
)
from metassay.statistics.shares import ends, jeffreys, judgments, pass_rates
from tests.support.statistics import NAN, texts

# Four abstracts' sentences by hand: background, method, result; `none` is a label like
# others.
RIGHT = [0, 0, 0, 1, 1, 1, 2, 2]
PREDICTED = [0, 0, 1, 1, 1, 3, 2, 1]
# rows: right
TABLE = np.array([[2.0, 1, 0, 0], [0, 2, 0, 1], [0, 1, 1, 0], [0, 0, 0, 0]])


def drawing(of):
    """The function at .95, with draws of a seed."""
    return lambda judge, people, **more: of(
        judge, people, confidence=0.95, rng=np.random.default_rng(0), **more
    )


card, calibrated, rates = map(drawing, (judge_card, calibration, pass_rates))
area = partial(auroc, confidence=0.95)


def test_labels_by_hand() -> None:
    assert np.array_equal(metrics.confusion_matrix(RIGHT, PREDICTED), TABLE)
    every, texts_have = np.ones(4, dtype=bool), np.arange(4) < 3
    assert classification.support(TABLE).tolist() == [3, 3, 2, 0]
    # the last never right
    assert classification.precision(TABLE).tolist() == [1.0, 0.5, 1.0, 0.0]
    recall = [2 / 3, 2 / 3, 1 / 2, NAN]
    assert classification.recall(TABLE).tolist() == pytest.approx(recall, nan_ok=True)
    each = [0.8, 4 / 7, 2 / 3]  # 2*2/(3+2), 2*2/(3+4), 2*1/(2+1)
    assert classification.f1(TABLE).tolist()[:3] == pytest.approx(each)
    by_chance = (3 * 2 + 3 * 4 + 2 * 1 + 0) / 64
    for value, expected in (
        # `none`, nobody's, is predicted
        (classification.macro_f1(TABLE, every), sum(each) / 4),
        (
            classification.weighted_f1(TABLE, texts_have),
            (3 * 0.8 + 3 * 4 / 7 + 2 * 2 / 3) / 8,
        ),
        (classification.accuracy(TABLE), 5 / 8),
        (classification.cohen_kappa(TABLE), (5 / 8 - by_chance) / (1 - by_chance)),
    ):
        assert value == pytest.approx(expected)
    # A label that is never predicted has no precision, and an F1 of 0.
    table = np.array([[3.0, 0.0], [2.0, 0.0]])
    assert np.isnan(classification.precision(table)[1])
    assert classification.macro_f1(table, every[:2]) == pytest.approx(0.75 / 2)
    for of in (
        classification.accuracy,
        classification.cohen_kappa,
        classification.precision,
        classification.recall,
        classification.f1,
    ):
        assert np.isnan(of(np.zeros((2, 3, 3)))).all()
    assert np.isnan(classification.cohen_kappa(np.array([[4.0, 0.0], [0.0, 0.0]])))


@pytest.mark.parametrize("seed", range(6))
def test_labels_as_scikit_learn_has_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = 2 + seed
    # of odd seeds the last label is nobody's
    right = rng.integers(labels - (seed % 2), size=60)
    predicted = np.where(rng.random(60) < 0.6, right, rng.integers(labels, size=60))
    pair, every = (right, predicted), np.arange(labels)
    table = metrics.confusion_matrix(*pair, labels=every).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = metrics.precision_recall_fscore_support(
            *pair, labels=every, zero_division=NAN
        )
    names = ("precision", "recall", "f1", "support")
    for name, values in zip(names, expected, strict=True):
        assert getattr(classification, name)(table) == pytest.approx(
            values, nan_ok=True
        ), name
    by_people = np.isin(every, right)
    by_either = np.isin(every, [*right, *predicted])
    macro, weighted = (
        metrics.f1_score(*pair, average=average, zero_division=0)
        for average in ("macro", "weighted")
    )
    assert classification.macro_f1(table, by_either) == pytest.approx(macro)
    assert classification.weighted_f1(table, by_people) == pytest.approx(weighted)
    accuracy, kappa = metrics.accuracy_score(*pair), metrics.cohen_kappa_score(*pair)
    assert classification.accuracy(table) == pytest.approx(accuracy)
    assert classification.cohen_kappa(table) == pytest.approx(kappa)


def test_ends_include_the_value() -> None:
    assert np.isnan(ends(np.array([NAN]), 0.5, confidence=0.95)).all()
    assert ends(np.array([0.6, 0.7]), 0.5, confidence=0.95)[0] == 0.5


def test_a_card_by_hand():
    # People pass 10 texts and fail 10; the judge passes 8 of the first, 1 of the
    # others. One text is rated and not judged, two are judged and not rated.
    judge, people = texts(8, 1, 2, 9)
    result = card(np.append(judge, [NAN, 1, 0]), np.append(people, [1, NAN, NAN]))
    assert result[:4] == (8, 1, 2, 9)
    assert (result.n_judged, result.n_missing) == (22, 1)
    expected = {
        "sensitivity": 8 / 10,
        "specificity": 9 / 10,
        "precision": 8 / 9,
        "negative_predictive_value": 9 / 11,
        "balanced_accuracy": (0.8 + 0.9) / 2,
        # The judge passes 9 of 20, people 10 of 20: both pass .45 * .5, both fail .55 *
        # .5.
        "agreement": 17 / 20,
        "agreement_by_chance": 0.5,
        "cohen_kappa": (0.85 - 0.5) / (1 - 0.5),
        "f1": 2 * 8 / (9 + 10),
        "mcc": (8 * 9 - 1 * 2) / np.sqrt(9 * 10 * 10 * 11),
        # On average .475 pass, so that chance is 2 * .475 * .525.
        "gwet_ac1": (0.85 - 0.49875) / (1 - 0.49875),
    }
    assert {k: v.value for k, v in result.estimates.items()} == pytest.approx(expected)
    sizes = {name: estimate.n for name, estimate in result.estimates.items()}
    assert (sizes["sensitivity"], sizes["precision"], sizes["mcc"]) == (10, 9, 20)
    for estimate in result.estimates.values():
        assert estimate.low <= estimate.value <= estimate.high
        assert estimate.n_effective == estimate.n
    # Probabilities pass from the threshold on.
    assert card(np.where(judge == 1, 0.8, 0.6), people, threshold=0.7) == card(
        judge, people
    )
    np.testing.assert_array_equal(
        judgments([0.0, 0.49, 0.5, 1.0, NAN]), [0, 0, 1, 1, NAN]
    )


@pytest.mark.parametrize(
    "counts", [(8, 1, 2, 9), (30, 10, 5, 55), (1, 0, 0, 9), (3, 40, 2, 1)]
)
def test_a_card_equals_scikit_learn(counts):
    judge, people = texts(*counts)
    estimates = card(judge, people).estimates
    for name, of in {
        "sensitivity": metrics.recall_score,
        "specificity": partial(metrics.recall_score, pos_label=0),
        "precision": metrics.precision_score,
        "negative_predictive_value": partial(metrics.precision_score, pos_label=0),
        "balanced_accuracy": metrics.balanced_accuracy_score,
        "cohen_kappa": metrics.cohen_kappa_score,
        "mcc": metrics.matthews_corrcoef,
        "f1": metrics.f1_score,
        "agreement": metrics.accuracy_score,
    }.items():
        assert estimates[name].value == pytest.approx(of(people, judge)), name
        if name in ("cohen_kappa", "mcc"):  # alike if pass and fail are exchanged
            turned = card(1 - judge, 1 - people).estimates[name]
            assert turned == pytest.approx(estimates[name], abs=0.03)


def test_undefined_is_nan_never_0():
    nothing = card([NAN, 1.0], [1.0, NAN])
    assert nothing[:4] == (0, 0, 0, 0)
    assert all(np.isnan(estimate[:3]).all() for estimate in nothing.estimates.values())
    assert {estimate.n for estimate in nothing.estimates.values()} == {0}
    assert all(np.isnan(estimate.value) for estimate in card([], []).estimates.values())
    no_pass = card(*texts(0, 2, 0, 8)).estimates
    for name in ("sensitivity", "balanced_accuracy", "mcc"):
        assert np.isnan(no_pass[name][:3]).all()
    assert no_pass["precision"].value == 0  # the judge passed two, people none of them
    assert no_pass["specificity"].value == pytest.approx(0.8)
    same = card(*texts(9, 0, 0, 0)).estimates
    assert np.isnan(same["cohen_kappa"].value)  # chance agrees on all
    assert same["agreement"].value == same["agreement_by_chance"].value == 1
    perfect = card(*texts(10, 0, 0, 10)).estimates
    for name in ("sensitivity", "balanced_accuracy", "cohen_kappa", "mcc"):
        assert (perfect[name].value, perfect[name].high) == pytest.approx((1, 1))
        assert 0.4 < perfect[name].low < 0.9


def test_wrong_values_are_refused():
    passes = ([1.2], [1.0]), ([1.0], [0.5]), ([1.0, 0.0], [1.0]), ([np.inf], [1.0])
    for of, pairs in (
        (card, passes),
        (area, passes),
        (calibrated, passes),
    ):
        for judge, people in pairs:
            with pytest.raises(ValueError, match="expected"):
                of(judge, people)
    with pytest.raises(ValueError, match="cluster"):
        card([1.0, 0.0], [1.0, 0.0], cluster=[1])


RNG = np.random.default_rng(5)
PASSED = (RNG.random(90) < 0.4).astype(float)
COPIED = {
    "card": (lambda *a, **k: card(*a, **k).estimates, *texts(30, 6, 5, 40)),
    "auroc": (
        lambda *a, **k: {"": area(*a, **k)},
        np.clip(0.3 * PASSED + 0.7 * RNG.random(90), 0, 1),
        PASSED,
    ),
    "calibration": (
        lambda *a, **k: dict(zip(("brier", "bias"), calibrated(*a, **k), strict=False)),
        np.linspace(0, 1, 60),
        (RNG.random(60) < np.linspace(0, 1, 60)).astype(float),
    ),
    "pass_rates": (
        lambda *a, **k: rates(*a, **k)._asdict(),
        *(
            np.append(side, more)
            for side, more in zip(
                texts(40, 6, 4, 30),
                (np.arange(120) % 2, np.full(120, NAN)),
                strict=True,
            )
        ),
    ),
}


@pytest.mark.parametrize("name", COPIED)
def test_copies_of_texts_are_worth_no_more_than_the_texts(name):
    of, judge, people = COPIED[name]
    copies, cluster = (
        [np.repeat(side, 3) for side in (judge, people)],
        np.arange(judge.size),
    )
    once, thrice = of(judge, people), of(*copies, cluster=np.repeat(cluster, 3))
    assert of(judge, people, cluster=[f"d{k}" for k in cluster]) == once
    for key, estimate in once.items():
        width = estimate.high - estimate.low
        assert thrice[key].n == 3 * estimate.n
        assert thrice[key].value == pytest.approx(estimate.value, rel=1e-3)
        assert thrice[key].n_effective <= estimate.n * 1.1
        assert thrice[key].high - thrice[key].low == pytest.approx(width, rel=0.12)
    if name in ("card", "auroc"):
        for key, estimate in of(*copies).items():
            assert estimate.high - estimate.low < 0.7 * (once[key].high - once[key].low)


def test_ac1_beside_an_independent_computation():
    rng = np.random.default_rng(8)
    for _ in range(20):
        judge, people = rng.random((2, 40)) < rng.uniform(0.3, 0.97)
        counts = [judge & people, judge & ~people, ~judge & people, ~judge & ~people]
        # As Gwet defines it for any number of labels, from the items.
        shares = [
            (np.mean(judge == k) + np.mean(people == k)) / 2 for k in (False, True)
        ]
        chance = sum(p * (1 - p) for p in shares) / (len(shares) - 1)
        expected = (np.mean(judge == people) - chance) / (1 - chance)
        table = np.sum(counts, axis=1).astype(float)
        assert gwet_ac1_of_cells(table) == pytest.approx(expected, abs=1e-12)
    assert gwet_ac1_of_cells(np.array([8.0, 1, 1, 0])) == pytest.approx(
        0.756098, abs=1e-6
    )
    assert np.isnan(gwet_ac1_of_cells(np.zeros(4)))


def test_an_area_by_hand():
    # Of four pairs of a pass and a fail three are in order. Placements: of passes 1 and
    # 1/2, of fails 1/2 and 1, so DeLong's variance is 1/16 + 1/16, with two degrees of
    # freedom; Hanley and McNeil's, 3/16 * (1 + 1/5 + 3/7) / 4, is smaller.
    result = area([0.9, 0.4, 0.6, 0.1], [1, 1, 0, 0])
    assert (result.value, result.n, result.n_effective) == (0.75, 4, 4)
    variance = (1 / 16 + 1 / 16) * (stats.t(2).ppf(0.975) / ndtri(0.975)) ** 2
    many = 0.75 * 0.25 / variance
    assert result[1:3] == pytest.approx(jeffreys(0.75 * many, many, confidence=0.95))
    assert area([0.9, NAN, 0.4, 0.6, 0.1, 0.7], [1, 1, 1, 0, 0, NAN]) == result
    assert area([], []).n == 0
    # Perfect order of a few texts leaves doubt.
    few = area([0.9, 0.8, 0.7, 0.2, 0.1], [1, 1, 1, 0, 0])
    assert (few.value, few.high) == (1.0, 1.0)
    assert 0.2 < few.low < 0.5
    assert 0.95 < area(np.linspace(0, 1, 200), np.repeat([0.0, 1.0], 100)).low < 1


def test_where_texts_are_many_and_apart_the_interval_is_delongs():
    rng = np.random.default_rng(1)
    people = np.repeat([1.0, 0.0], 600)
    judge = 1 / (1 + np.exp(-rng.normal(people, 1.0)))
    above = judge[:600, None] > judge[None, 600:]
    variance = (
        above.mean(axis=1).var(ddof=1) / 600 + above.mean(axis=0).var(ddof=1) / 600
    )
    result = area(judge, people)
    assert result.value == pytest.approx(above.mean())
    assert result.high - result.low == pytest.approx(
        2 * 1.96 * np.sqrt(variance), rel=0.03
    )


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=30))
def test_areas_equal_scikit_learn_and_know_order_alone(places):
    judge = np.array([place / 4 for place, _ in places])
    people = np.array([float(passed) for _, passed in places])
    result = area(judge, people)
    if 0 < people.sum() < people.size:
        assert result.value == pytest.approx(metrics.roc_auc_score(people, judge))
        assert result.low - 1e-12 <= result.value <= result.high + 1e-12
    else:
        assert np.isnan(result[:3]).all()
    assert area(judge**3, people) == pytest.approx(result, nan_ok=True)
    turned = area(judge, 1 - people)[:3]
    expected = 1 - result.value, 1 - result.high, 1 - result.low
    assert turned == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("distance", [0.5, 2.0])  # AUROC .64 and .92
def test_of_few_texts_the_interval_covers_the_area(distance):
    """Quick; tests/calibration has more worlds."""
    rng = np.random.default_rng(3)
    truth, people = ndtr(distance / np.sqrt(2)), np.repeat([1.0, 0.0], [8, 16])
    results = [
        area(ndtr(rng.normal(distance * people, 1.0)), people) for _ in range(300)
    ]
    assert np.mean([result.low <= truth <= result.high for result in results]) > 0.93


def test_calibration_by_hand():
    # Ten texts of .2, two of them passed; ten of .8, six passed. One has no
    # probability.
    p = [0.2] * 10 + [0.8] * 10 + [NAN, 0.5]
    people = [1.0] * 2 + [0.0] * 8 + [1.0] * 6 + [0.0] * 4 + [1.0, NAN]
    result = calibrated(p, people)
    assert result.n_missing == 1
    # .2: 2 * .64 + 8 * .04 = 1.6; .8: 6 * .04 + 4 * .64 = 2.8.
    assert result.brier.value == pytest.approx((1.6 + 2.8) / 20)
    assert result.bias.value == pytest.approx(0.5 - 8 / 20)
    assert result.ece.value == pytest.approx(0 / 2 + 0.2 / 2)
    assert np.isnan([result.ece.low, result.ece.high]).all()
    first, second = result.bins
    assert (first.lowest, first.highest, first.mean) == pytest.approx((0.2, 0.2, 0.2))
    assert (first.passed.value, second.passed.value) == pytest.approx((0.2, 0.6))
    assert second.passed[1:3] == pytest.approx(jeffreys(6, 10, confidence=0.95))
    assert (first.passed.n, second.passed.n) == (10, 10)
    assert len(calibrated([0.3, 0.6, 0.7], [0.0, 1.0, 1.0]).bins) == 1
    nothing = calibrated([0.3, NAN], [NAN, 1.0])
    assert not nothing.bins
    assert np.isnan([estimate.value for estimate in nothing[:4]]).all()
    assert nothing.n_missing == 1
    # Equally far off, all of them: no doubt can be told from that.
    same = calibrated([0.9] * 5, [1.0] * 5)
    assert np.isnan([same.bias.low, same.brier.high]).all()
    assert same.bias.value == pytest.approx(-0.1)
    rng = np.random.default_rng(1)
    p, people = rng.random(12), (rng.random(12) < 0.5).astype(float)
    student = stats.t(11, loc=np.mean(p - people), scale=stats.sem(p - people))
    assert calibrated(p, people).bias[1:3] == pytest.approx(student.interval(0.95))


def test_calibration_equals_scikit_learn(monkeypatch):
    rng = np.random.default_rng(1)
    p = rng.random(200)
    people = (rng.random(200) < p**2).astype(float)
    result = calibrated(p, people)
    assert result.brier.value == pytest.approx(metrics.brier_score_loss(people, p))
    passed, mean = calibration_curve(people, p, n_bins=10, strategy="quantile")
    assert [each.mean for each in result.bins] == pytest.approx(list(mean), abs=0.01)
    assert [each.passed.value for each in result.bins] == pytest.approx(
        list(passed), abs=0.051
    )
    assert result.ece.value == pytest.approx(np.mean(np.abs(passed - mean)), abs=0.01)
    # it says p where p ** 2 is true
    assert result.ece.value > result.ece_by_chance.high
    assert result.bias.low > 0
    monkeypatch.setattr(classification, "CHUNK", 200 * 3)  # a few draws at a time
    assert calibrated(p, people) == result


def test_a_judge_whose_probabilities_are_right_is_not_told_from_another():
    rng, inside = np.random.default_rng(2), 0
    for _ in range(100):
        p = rng.beta(2, 2, 100)
        result = calibrated(p, (rng.random(100) < p).astype(float))
        inside += (
            result.ece_by_chance.low <= result.ece.value <= result.ece_by_chance.high
        )
    assert 88 <= inside <= 100
    assert result.ece_by_chance.value > 0.05  # so few texts show a gap in any case


def test_equal_probabilities_share_a_bin_in_any_order():
    rng = np.random.default_rng(3)
    p = rng.choice([0.1, 0.5, 0.9], 90)
    people = (rng.random(90) < p).astype(float)
    result = calibrated(p, people)
    assert [each.mean for each in result.bins] == pytest.approx([0.1, 0.5, 0.9])
    order = rng.permutation(90)
    again = calibrated(p[order], people[order])
    assert [each.passed for each in again.bins] == [each.passed for each in result.bins]
    assert again.ece.value == pytest.approx(result.ece.value)
