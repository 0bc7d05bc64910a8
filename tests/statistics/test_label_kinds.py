"""Classes, grades and numbers of a judge beside people's: oracles, and values by hand."""

import itertools

import krippendorff
import numpy as np
import pytest
import scipy.stats
from sklearn.metrics import (
    cohen_kappa_score,
    f1_score,
    precision_score,
    recall_score,
)

from metassay.statistics import classification
from metassay.statistics.label_rows import LabelRows, label_estimate
from metassay.statistics.label_weights import label_weights
from metassay.statistics.nominal_labels import (
    compare_judges,
    krippendorff_alpha,
    nominal_card,
)
from metassay.statistics.number_labels import correlation, number_card
from metassay.statistics.ordinal_labels import gwet_ac2, middle_grades, ordinal_card
from metassay.statistics.raters import annotator_test, compare_with_raters

N = 90
OPTIONS = {"confidence": 0.95}


def rng():
    return np.random.default_rng(3)


def drawn(n_labels, seed=0):
    """People's codes and a judge's, right in four of five."""
    draw = np.random.default_rng(seed)
    people = draw.integers(n_labels, size=N)
    judge = np.where(draw.random(N) < 0.8, people, draw.integers(n_labels, size=N))
    return judge, people


def rows_of(judge, people, n, **fields):
    has_label = people >= 0
    whole = {
        "judge": judge,
        "people": people,
        "weight": has_label.astype(float),
        "cluster": np.arange(judge.size),
        "n_judge": n,
        "n_people": n,
    }
    return LabelRows(**(whole | fields))


def table_of(rows):
    counts = np.bincount(rows.cell, minlength=rows.n_people * rows.n_judge)
    return counts.reshape(rows.n_people, rows.n_judge).astype(float)


# ---- classes


def test_numbers_of_classes_equal_scikit_learn_and_krippendorff():
    judge, people = drawn(4)
    card = nominal_card(rows_of(judge, people, 4), **OPTIONS, rng=rng())
    values = {name: number.value for name, number in card.numbers.items()}
    both = np.array([judge, people], dtype=float)
    alpha = krippendorff.alpha(both, level_of_measurement="nominal")
    assert values["agreement"] == pytest.approx(np.mean(judge == people))
    assert values["cohen_kappa"] == pytest.approx(cohen_kappa_score(people, judge))
    assert values["krippendorff_alpha"] == pytest.approx(alpha)
    most = np.bincount(people).max() / N
    assert values["majority_baseline"] == pytest.approx(most)
    for name, score in (("precision", precision_score), ("recall", recall_score)):
        expected = score(people, judge, average=None)
        result = [of_class[name].value for of_class in card.classes]
        assert result == pytest.approx(expected)
    assert card.base_rate["cohen_kappa"] == 0
    assert sum(of_class["corrected"].value for of_class in card.classes) == (
        pytest.approx(1)
    )
    for number in card.numbers.values():
        assert number.low <= number.value <= number.high


def test_ac1_of_three_classes_by_hand():
    """6 of 10 agree; mean shares are .5, .3 and .2, so chance is .62 / 2 = .31."""
    table = np.array([[4.0, 1, 0], [1, 1, 1], [0, 1, 1]])
    assert table.sum() == 10
    assert float(classification.gwet_ac1(table)) == pytest.approx(
        (0.6 - 0.31) / (1 - 0.31)
    )


def test_one_label_alone_has_no_alpha_and_no_kappa():
    table = np.array([[5.0, 0], [0, 0]])
    assert np.isnan(krippendorff_alpha(table, 5))
    assert float(classification.accuracy(table)) == 1


def test_chosen_labels_are_weighted_by_their_verdict():
    """Of 100 rows the judge calls 60 a, 30 b, 10 c; labelled are 10, 30 and 10."""
    judge = np.repeat([0, 1, 2], [60, 30, 10])
    people = np.full(100, -1)
    people[:10] = [0] * 8 + [1, 2]
    people[60:90] = [1] * 24 + [0] * 6
    people[90:] = [2] * 5 + [0] * 5
    weight = label_weights(people >= 0, np.zeros(100), [judge])
    rows = rows_of(judge, people, 3, weight=weight)
    card = nominal_card(rows, **OPTIONS, rng=rng())
    shares = [of_class["corrected"].value for of_class in card.classes]
    assert shares == pytest.approx([0.48 + 0.06 + 0.05, 0.06 + 0.24, 0.06 + 0.05])
    assert card.classes[0]["recall"].value == pytest.approx(0.48 / 0.59)
    assert card.classes[1]["precision"].value == pytest.approx(0.8)
    assert card.numbers["agreement"].value == pytest.approx(0.48 + 0.24 + 0.05)
    assert card.classes[0]["people_alone"].value == pytest.approx(19 / 50)


def test_a_verdict_with_few_labels_leaves_numbers_blank():
    judge = np.repeat([0, 1, 2], [60, 30, 10])
    people = np.where(np.arange(100) < 94, judge, -1)
    people[90:94] = -1
    people[90:93] = 2
    weight = label_weights(people >= 0, np.zeros(100), [judge])
    rows = rows_of(judge, people, 3, weight=weight)
    assert rows.lacking() == {2: 2}
    card = nominal_card(rows, **OPTIONS, rng=rng())
    assert np.isnan(card.numbers["cohen_kappa"].value)
    assert np.isnan(card.classes[2]["precision"].value)
    assert card.classes[0]["precision"].value == 1


def test_rows_of_a_document_widen_the_interval():
    judge, people = drawn(3, seed=4)
    alone = rows_of(judge, people, 3)
    threefold = rows_of(
        np.repeat(judge, 3),
        np.repeat(people, 3),
        3,
        weight=np.ones(3 * N),
        cluster=np.repeat(np.arange(N), 3),
    )
    widths = []
    for rows in (alone, threefold):
        card = nominal_card(rows, **OPTIONS, rng=rng())
        kappa = card.numbers["cohen_kappa"]
        widths.append(kappa.high - kappa.low)
    assert widths[1] == pytest.approx(widths[0], rel=0.1)


# ---- grades


def test_numbers_of_grades_equal_scikit_learn_krippendorff_and_scipy():
    judge, people = drawn(5)
    levels = np.arange(1.0, 6)
    middle = middle_grades(people[None] + 1.0, levels)
    rows = rows_of(judge, middle.code, 5)
    card = ordinal_card(rows, levels, middle.pairs, **OPTIONS, rng=rng())
    values = {name: number.value for name, number in card.numbers.items()}
    both = np.array([judge, people]) + 1.0
    expected = {
        "exact": np.mean(judge == people),
        "within_one": np.mean(np.abs(judge - people) <= 1),
        "mean_absolute_error": np.mean(np.abs(judge - people)),
        "bias": np.mean(judge - people),
        "weighted_kappa_quadratic": cohen_kappa_score(
            people, judge, weights="quadratic"
        ),
        "weighted_kappa_linear": cohen_kappa_score(people, judge, weights="linear"),
        "krippendorff_alpha": krippendorff.alpha(both, level_of_measurement="interval"),
        "pearson": scipy.stats.pearsonr(*both).statistic,
    }
    for name, value in expected.items():
        assert values[name] == pytest.approx(value), name
    for place, bias in enumerate(card.levels):
        of_level = people == place
        assert bias.value == pytest.approx(np.mean((judge - people)[of_level]))
        assert bias.n == np.count_nonzero(of_level)


def test_ac2_by_hand():
    """Three grades, quadratic weights 1, 3/4, 0: 2 of 4 rows agree, one is 1 away."""
    table = np.array([[1.0, 1, 1], [0, 1, 0], [0, 0, 0]])
    cost = np.array([[0.0, 1, 4], [1, 0, 1], [4, 1, 0]])
    observed = (2 + 0.75) / 4
    shares = np.array([3 + 1, 1 + 2, 0 + 1]) / 8
    by_chance = (3 + 4 * 0.75) / 6 * np.sum(shares * (1 - shares))
    expected = (observed - by_chance) / (1 - by_chance)
    assert float(gwet_ac2(table, cost)) == pytest.approx(expected)


def test_a_row_between_two_grades_counts_half_for_each():
    levels = np.array([1.0, 2, 3])
    ratings = np.array([[1.0, 1, 3], [2, 1, 3]])
    middle = middle_grades(ratings, levels)
    judge = np.array([0, 0, 1])
    rows = rows_of(judge, middle.code, 3, n_people=len(middle.pairs))
    card = ordinal_card(rows, levels, middle.pairs, **OPTIONS, rng=rng())
    assert card.numbers["exact"].value == pytest.approx((0.5 + 1) / 3)
    assert card.numbers["mean_absolute_error"].value == pytest.approx((0.5 + 1) / 3)
    assert card.numbers["bias"].value == pytest.approx((-0.5 - 1) / 3)


def test_half_a_class_reproduces_the_whole_table_where_raters_agree():
    """Two raters who agree are one rater."""
    judge, people = drawn(4, seed=7)
    levels = np.arange(4.0)
    cards = []
    for ratings in (people[None].astype(float), np.array([people, people], float)):
        middle = middle_grades(ratings, levels)
        rows = rows_of(judge, middle.code, 4)
        cards.append(ordinal_card(rows, levels, middle.pairs, **OPTIONS, rng=rng()))
    assert cards[0].numbers == cards[1].numbers


# ---- numbers


def test_correlations_equal_scipy_and_their_interval_is_near_fishers():
    draw = np.random.default_rng(8)
    x = draw.normal(size=200)
    y = 0.8 * x + draw.normal(size=200)
    card = number_card(y, x, np.arange(200), **OPTIONS)
    result = scipy.stats.pearsonr(x, y)
    assert card.numbers["pearson"].value == pytest.approx(result.statistic)
    ends = result.confidence_interval(0.95)
    result = card.numbers["pearson"]
    assert (result.low, result.high) == pytest.approx((ends.low, ends.high), abs=0.03)
    spearman = scipy.stats.spearmanr(x, y).statistic
    assert card.numbers["spearman"].value == pytest.approx(spearman)
    assert card.numbers["bias"].value == pytest.approx(np.mean(y - x))


def test_a_constant_side_has_no_correlation():
    result = correlation(np.ones(9), np.arange(9.0), np.arange(9), **OPTIONS)
    assert np.isnan(result.value)


# ---- the alternative annotator test, as its authors define it


def published(judge, ratings, score, epsilon):
    """Winning rate and advantage of a judge (items,), item by item and without arrays."""
    pvalues, advantages = [], []
    for left_out, labels in enumerate(ratings):
        leads, wins = [], []
        for item, label in enumerate(labels):
            others = [
                row[item]
                for place, row in enumerate(ratings)
                if place != left_out and not np.isnan(row[item])
            ]
            if np.isnan(label) or np.isnan(judge[item]) or not others:
                continue
            of_judge, of_rater = score(judge[item], others), score(label, others)
            leads.append(float(of_rater >= of_judge) - float(of_judge >= of_rater))
            wins.append(of_judge >= of_rater)
        test = scipy.stats.ttest_1samp(leads, epsilon, alternative="less")
        pvalues.append(test.pvalue)
        advantages.append(np.mean(wins))
    rejected = scipy.stats.false_discovery_control(pvalues, method="by") <= 0.05
    return np.mean(rejected), np.mean(advantages)


def accuracy(label, others):
    return np.mean([label == other for other in others])


def negative_error(label, others):
    # Rounded, as ours is: equal errors are ties whatever the order of summation.
    return -round(np.sqrt(np.mean([(label - other) ** 2 for other in others])), 9)


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "continuous"])
@pytest.mark.parametrize("seed", range(3))
def test_the_annotator_test_is_that_of_its_authors(kind, seed):
    draw = np.random.default_rng(seed)
    truth = draw.integers(1, 6, size=60).astype(float)
    if kind == "nominal":
        judge, *ratings = (
            np.where(draw.random(60) < 0.75, truth, draw.integers(1, 6, size=60))
            for _ in range(4)
        )
    else:
        steps = [draw.normal(0, size, 60) for size in (0.8, 1, 1, 1.5)]
        judge, *ratings = (truth + step for step in steps)
        if kind == "ordinal":
            judge, *ratings = (np.clip(np.round(v), 1, 5) for v in (judge, *ratings))
    ratings = np.array(ratings, dtype=float)
    ratings[draw.random(ratings.shape) < 0.1] = np.nan
    nearness = "equal" if kind == "nominal" else "squared"
    score = accuracy if kind == "nominal" else negative_error
    for epsilon in (0.1, 0.2):
        test = annotator_test(judge, ratings, epsilon=epsilon, nearness=nearness)
        expected = published(judge, ratings, score, epsilon)
        result = test.winning_rate_published, test.advantage
        assert result == pytest.approx(expected)


def test_nearness_to_the_other_raters_by_hand():
    judge = np.array([1.0, 2.0])
    ratings = np.array([[1.0, 1.0], [1.0, 3.0], [2.0, np.nan]])
    equal = compare_with_raters(judge, ratings, **OPTIONS)
    # Item 1: judge 1/2, 1/2, 1 of the others; raters 1/2, 1/2, 0. Item 2: 0 throughout.
    assert equal.judge.value == pytest.approx(2 / 5)
    assert equal.rater.value == pytest.approx(1 / 5)
    squared = compare_with_raters(judge, ratings, **OPTIONS, nearness="squared")
    assert squared.judge.value == pytest.approx((0.5 + 0.5 + 0 + 1 + 1) / 5)
    assert squared.rater.value == pytest.approx((0.5 + 0.5 + 1 + 2 + 2) / 5)
    assert squared.difference.value == pytest.approx(3 / 5 - 6 / 5)


def test_an_estimate_does_not_depend_on_the_order_of_rows():
    judge, people = drawn(3, seed=9)
    order = rng().permutation(N)
    pairs = ((judge, people), (judge[order], people[order]))
    result = [
        label_estimate(
            lambda table: classification.accuracy(
                table.reshape(*table.shape[:-1], 3, 3)
            ),
            rows_of(*pair, 3),
            **OPTIONS,
            rng=rng(),
        )
        for pair in pairs
    ]
    for first, second in itertools.pairwise(result):
        assert first == pytest.approx(second)


# ---- means over classes


@pytest.mark.parametrize("used", [(0, 1, 2), (0, 1), (2,)])
def test_means_over_classes_equal_scikit_learn_whichever_classes_people_use(used):
    draw = np.random.default_rng(4)
    people, judge = draw.choice(used, 40), draw.choice((0, 1, 2), 40)
    card = nominal_card(rows_of(judge, people, 3), rng=rng(), **OPTIONS)
    value = {name: number.value for name, number in card.numbers.items()}
    recalls = recall_score(people, judge, labels=used, average="macro")
    assert value["balanced_accuracy"] == pytest.approx(recalls)
    for average in ("macro", "weighted"):
        expected = f1_score(people, judge, average=average, zero_division=0)
        assert value[f"{average}_f1"] == pytest.approx(expected)
    each = f1_score(people, judge, labels=(0, 1, 2), average=None, zero_division=0)
    of_classes = [of["f1"].value for of in card.classes]
    assert of_classes == pytest.approx(each)
    # Giving every row the commonest class.
    commonest = np.full(40, np.bincount(people).argmax())
    base = card.base_rate
    assert base["balanced_accuracy"] == pytest.approx(1 / len(used))
    for average in ("macro", "weighted"):
        expected = f1_score(people, commonest, average=average, zero_division=0)
        assert base[f"{average}_f1"] == pytest.approx(expected)


def test_means_over_classes_by_hand():
    """Right: e e e e n n c c. The judge finds three, one and both of them."""
    judge = np.array([0, 0, 0, 2, 1, 0, 2, 2])
    people = np.array([0, 0, 0, 0, 1, 1, 2, 2])
    card = nominal_card(rows_of(judge, people, 3), rng=rng(), **OPTIONS)
    f1 = (2 * 3 / (4 + 4), 2 * 1 / (2 + 1), 2 * 2 / (2 + 3))
    expected = {
        "balanced_accuracy": (3 / 4 + 1 / 2 + 2 / 2) / 3,
        "macro_f1": sum(f1) / 3,
        "weighted_f1": (4 * f1[0] + 2 * f1[1] + 2 * f1[2]) / 8,
    }
    for name, value in expected.items():
        estimate = card.numbers[name]
        assert estimate.value == pytest.approx(value)
        assert estimate.low < estimate.value < estimate.high
    assert [of["f1"].value for of in card.classes] == pytest.approx(f1)


def test_a_judge_above_another_is_the_difference_of_their_numbers():
    first, people = drawn(3)
    second, _ = drawn(3, seed=1)
    above = compare_judges(
        first, second, people, np.arange(N), n=3, rng=rng(), **OPTIONS
    )
    cards = [
        nominal_card(rows_of(judge, people, 3), rng=rng(), **OPTIONS).numbers
        for judge in (first, second)
    ]
    for name, estimate in above.items():
        expected = cards[0][name].value - cards[1][name].value
        assert estimate.value == pytest.approx(expected)
        assert estimate.low < expected < estimate.high
    equal = compare_judges(
        first, first, people, np.arange(N), n=3, rng=rng(), **OPTIONS
    )
    assert equal["agreement"].value == 0
    nothing = np.empty(0, dtype=np.intp)
    blank = compare_judges(
        nothing, nothing, nothing, nothing, n=3, rng=rng(), **OPTIONS
    )
    assert np.isnan(blank["macro_f1"].value)
