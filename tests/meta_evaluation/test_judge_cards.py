"""Judges that pass or fail texts beside people, and means corrected by people's ratings."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from metassay.core.options import Criterion
from metassay.meta_evaluation.analysis import Evaluation
from metassay.meta_evaluation.judge_cards import correct_means, judge_cards
from metassay.meta_evaluation.study_warnings import find_chosen_labels
from metassay.statistics.shares import prediction_powered_mean
from metassay.tables.parquet import empty
from metassay.tables.scores import SCORES
from tests.meta_evaluation import invented_study
from tests.meta_evaluation.invented_study import (
    HIGHER,
    OPTIONS,
    only,
    rate,
    ratings_of,
    scores_of,
    studied,
)

CRITERIA = {
    "right": Criterion(low=0, high=1, better="higher", scale="nominal"),
    "wrong": Criterion(low=0, high=1, better="lower", scale="nominal"),
    "errors": Criterion(low=0, high=10, better="lower", scale="count"),
    "grade": invented_study.CRITERIA["grade"],
}
COMPARED = OPTIONS.model_copy(update={"compared": ["m"]})
Z = 1.6448536269514722  # of a 90 % interval
COUNTS = ["n", "n_judged", "n_missing"]


def carded(scores, ratings, better=HIGHER, options=OPTIONS):
    studies = studied(scores, ratings, CRITERIA, options, better)
    return judge_cards(scores, ratings, studies, CRITERIA, options)


def correct(scores, ratings, better=HIGHER):
    return correct_means(
        scores, studied(scores, ratings, CRITERIA, COMPARED, better), COMPARED
    )


def passed(values, rater="amy", criterion="right", author="x", **more):
    return ratings_of(
        *(rate(criterion, author, d, rater, v, **more) for d, v in values.items())
    )


def graded(values, author="x"):
    return passed(values, criterion="grade", author=author)


def scored(values, author="x", **more):
    return scores_of({(doc, author): value for doc, value in values.items()}, **more)


# 10 texts that people passed, 8 of them by the judge; 10 that they failed, 1 of them passed by
# the judge; 5 that people did not see; one that the judge did not.
PEOPLE = {f"d{n:02}": float(n < 10) for n in range(20)} | {"d99": 1.0}
JUDGMENTS = {f"d{n:02}": float(n < 8 or n == 10) for n in range(20)}
JUDGMENTS |= {f"e{n}": float(n < 3) for n in range(5)}
LIKELY = {d: 0.5 + 0.4 * (2 * v - 1) for d, v in JUDGMENTS.items()}


def test_a_card_by_hand():
    seen = {doc: value for doc, value in JUDGMENTS.items() if doc in PEOPLE}
    cards, bins = carded(scored(seen), passed(PEOPLE))
    assert len(bins) == 0
    expected = {
        "true_pass": 8,
        "false_fail": 2,
        "false_pass": 1,
        "true_fail": 9,
        "sensitivity": 0.8,
        "specificity": 0.9,
        "cohen_kappa": 0.7,
        "judge_pass_rate": 9 / 20,
        "people_pass_rate": 11 / 21,
        "rogan_gladen_pass_rate": 1 / 2,
        "prediction_powered_pass_rate": 1 / 2,
    }
    value = cards.set_index("statistic")["value"]
    assert value[list(expected)].to_dict() == pytest.approx(expected)
    row = only(cards, statistic="sensitivity")
    assert row["low"] < 0.8 < row["high"]
    assert (row["n"], row["n_effective"]) == (10, 10)
    assert (row["n_judged"], row["n_missing"], row["n_split"]) == (20, 1, 0)
    assert np.isnan(row["threshold"])
    assert row["recipe"] == "m|v1"
    labels = only(cards, statistic="labels_sensitivity")
    assert labels["width"] == 0.1
    assert labels["value"] == int(labels["value"]) > 100
    assert not set(cards["statistic"]) & {"brier", "bias", "ece", "ece_by_chance"}


def test_ratings_of_some_texts_speak_for_those_with_the_same_verdict():
    # The judge passes 12 of 25 texts. People pass 8 of 9 that they saw of these, and 2
    # of 11 that they saw of the others.
    cards, _ = carded(scored(JUDGMENTS), passed(PEOPLE))
    right, missed = 12 / 25 * 8 / 9, 13 / 25 * 2 / 11
    rate = right + missed
    expected = {
        "true_pass": 8,  # counted, not weighted
        "false_fail": 2,
        "sensitivity": right / rate,
        "specificity": 13 / 25 * 9 / 11 / (1 - rate),
        "precision": 8 / 9,
        "judge_pass_rate": 12 / 25,
        "people_pass_rate": 11 / 21,
        "rogan_gladen_pass_rate": rate,
        "prediction_powered_pass_rate": rate,
    }
    value = cards.set_index("statistic")["value"]
    assert value[list(expected)].to_dict() == pytest.approx(expected)
    rates = [
        only(cards, statistic=f"{name}_pass_rate")
        for name in ("prediction_powered", "rogan_gladen")
    ]
    assert rates[0]["low"] < rate < rates[0]["high"]
    assert rates[0]["low"] == rates[1]["low"]
    row = only(cards, statistic="sensitivity")
    assert (row["n"], row["n_judged"], row["n_missing"]) == (10, 25, 1)


def test_a_study_says_by_what_its_rated_texts_were_chosen():
    # The metric passes 80 of 100 texts of each system; people rated all others, and of
    # these every eighth.
    texts = {f"d{n:03}": float(n % 5 > 0) for n in range(100)}
    seen = {doc: n % 3 / 2 > 0 for n, (doc, v) in enumerate(texts.items())
            if not v or n % 8 == 1}  # fmt: skip
    names, criteria = ("x", "y"), {"right": CRITERIA["right"]}
    scores = pd.concat([scored(texts, name) for name in names])
    ratings = pd.concat([passed(seen, author=name) for name in names])
    run = Evaluation(scores, ratings, criteria, HIGHER, OPTIONS)
    (warning,) = find_chosen_labels(run)
    assert (warning.kind, warning.study, warning.criterion) == ("labels", "s1", "right")
    n_seen = 2 * sum(texts[doc] for doc in seen)
    assert warning.finding == (
        "Labels were chosen. People labelled 100% of the texts that m fails (40 of 40) and"
        f" {n_seen / 160:.0%} of the others ({n_seen:.0f} of 160). All numbers are weighted by"
        " this."
    )
    some = {doc: value for doc, value in seen.items() if not texts[doc]}
    run = Evaluation(scores, passed(some, author="x"), criteria, HIGHER, OPTIONS)
    _, few = find_chosen_labels(run)
    assert few.remedy == "Label 5 more texts that m passes."
    assert not [
        *find_chosen_labels(Evaluation(*study_of_all(), criteria, HIGHER, OPTIONS))
    ]


def study_of_all():
    people = {doc: value for doc, value in PEOPLE.items() if doc in JUDGMENTS}
    judged = {doc: JUDGMENTS[doc] for doc in people}
    return scored(judged), passed(people)


def test_probabilities_of_a_judge_have_a_threshold_and_calibration():
    cards, bins = carded(scored(LIKELY, judge="gpt"), passed(PEOPLE))
    sure, _ = carded(scored(JUDGMENTS, judge="gpt"), passed(PEOPLE))
    shared = cards[cards["statistic"].isin(sure["statistic"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(
        *(card.drop(columns="threshold") for card in (shared, sure))
    )
    assert set(cards["threshold"]) == {0.5}
    # Of 12 texts with .9, 9 are rated and 8 right; of 13 with .1, 11 are rated, 9 right.
    passes, fails = 12 / 9 * (8 * 0.01 + 0.81), 13 / 11 * (9 * 0.01 + 2 * 0.81)
    brier = only(cards, statistic="brier")["value"]
    assert brier == pytest.approx((passes + fails) / 25)
    assert list(bins["mean"]) == pytest.approx([0.1, 0.9])
    assert list(bins["passed"]) == pytest.approx([2 / 11, 8 / 9])
    strict = OPTIONS.model_copy(update={"threshold": 0.95})
    cards, _ = carded(scored(LIKELY, judge="gpt"), passed(PEOPLE), options=strict)
    assert only(cards, statistic="judge_pass_rate")["value"] == 0


def test_what_neither_passes_nor_fails_whole_texts_has_no_card():
    rouge, people = {d: 0.3 + 0.1 * v for d, v in JUDGMENTS.items()}, passed(PEOPLE)
    for scores, ratings, better in (
        (scored(rouge), people, HIGHER),
        # A share of claims comes from a judge, but not from one that was asked about
        # the text.
        (scored(rouge, judge="nli").assign(n_expected=4), people, HIGHER),
        (scored({**JUDGMENTS, "d03": 1.5}, judge="gpt"), people, HIGHER),
        (scored({**JUDGMENTS, "d03": -0.5}, judge="gpt"), people, HIGHER),
        (scored(JUDGMENTS), people, {"m": "neither"}),
        (empty(SCORES), people, HIGHER),
        (scored(dict.fromkeys(JUDGMENTS, np.nan)), people, HIGHER),
        # Counts of errors that happen to be 0 and 1; halves; claims; comparisons.
        (scored(JUDGMENTS), passed(PEOPLE, criterion="errors"), HIGHER),
        (scored(JUDGMENTS), passed({**PEOPLE, "d01": 0.5}), HIGHER),
        (scored(JUDGMENTS), passed(PEOPLE, unit="claim:0"), HIGHER),
        (scored(JUDGMENTS), passed(PEOPLE, unit="versus:y"), HIGHER),
    ):
        assert not len(carded(scores, ratings, better)[0])


def test_most_raters_decide_and_a_split_text_is_left_out_and_counted():
    amy, bob = passed(PEOPLE), passed({"d00": 0.0, "d01": 1.0, "d02": 0.0}, rater="bob")
    # d00: two of three pass it; d02: one of two
    cyd = passed({"d00": 1.0}, rater="cyd")
    cards, _ = carded(scored(JUDGMENTS), pd.concat([amy, bob, cyd]))
    row = only(cards, statistic="sensitivity")
    assert (row["n"], row["n_split"], row["n_missing"]) == (9, 1, 1)
    assert only(cards, statistic="precision")["value"] == pytest.approx(7 / 8)
    # The split text still has a judgment.
    assert row["n_judged"] == 25


def test_where_less_is_better_1_is_a_fail():
    expected, _ = carded(scored(JUDGMENTS), passed(PEOPLE))
    people, judge = (
        {d: 1 - v for d, v in values.items()} for values in (PEOPLE, JUDGMENTS)
    )
    cards, _ = carded(scored(judge), passed(people, criterion="wrong"), {"m": "lower"})
    numbers = ["value", "n", "n_effective", "n_judged", "n_missing"]
    shares = expected["statistic"].isin(
        ("sensitivity", "precision", "judge_pass_rate", "mcc")
    )
    pd.testing.assert_frame_equal(
        cards.loc[shares, numbers], expected.loc[shares, numbers]
    )


def test_texts_of_one_document_count_as_alike():
    systems = ("x", "y", "z")
    scores = pd.concat([scored(JUDGMENTS, name) for name in systems])
    cards, _ = carded(
        scores, pd.concat([passed(PEOPLE, author=name) for name in systems])
    )
    single, _ = carded(scored(JUDGMENTS), passed(PEOPLE))
    assert set(cards["metric"]) == {"m"}  # one card of all systems
    for name in ("sensitivity", "cohen_kappa", "balanced_accuracy", "judge_pass_rate"):
        three, alone = only(cards, statistic=name), only(single, statistic=name)
        assert three["value"] == pytest.approx(alone["value"])
        assert three["n"] == 3 * alone["n"]
        assert three["n_effective"] <= alone["n"] + 1e-9
        width = alone["high"] - alone["low"]
        assert 0.85 * width < three["high"] - three["low"] < 1.4 * width


def test_nothing_depends_on_the_order_of_rows_or_on_other_texts_and_metrics():
    ratings = passed(PEOPLE)
    expected, _ = carded(scored(JUDGMENTS), ratings)
    others = [
        scored({"f0": 1.0}, recipe="m|v2"),
        scored(JUDGMENTS, "never rated"),
        scored(JUDGMENTS, part="plan"),
        scored(LIKELY, metric="n", judge="gpt"),
    ]
    scores = pd.concat([scored(JUDGMENTS), *others]).sample(frac=1, random_state=1)
    cards, _ = carded(scores, ratings.sample(frac=1, random_state=2))
    of_m = cards[cards["metric"] == "m"].reset_index(drop=True)
    pd.testing.assert_frame_equal(of_m, expected, check_exact=True)


def test_no_text_with_both_is_undefined_and_counted():
    cards, bins = carded(scored({"e0": 0.4, "e1": 1.0}, judge="gpt"), passed(PEOPLE))
    assert len(bins) == 0
    value = cards.set_index("statistic")["value"]
    assert value[["sensitivity", "labels_pass_rate"]].isna().all()
    row = only(cards, statistic="agreement")
    assert [row[name] for name in COUNTS] == [0, 2, 21]


def test_rogan_gladen_by_hand():
    # Of 20 rated texts people find 10 right; the judge finds 8 of those, and 1 of the
    # wrong. Of the 80 others it finds 45.
    people = {f"d{n:02}": float(n < 10) for n in range(20)}
    judge = [1] * 8 + [0] * 2 + [1] + [0] * 9 + [1] * 45 + [0] * 35
    table = correct(
        scored({f"d{n:02}": value for n, value in enumerate(judge)}), passed(people)
    )
    assert list(table["method"]) == ["prediction_powered", "rogan_gladen"]
    row = only(table, method="rogan_gladen")
    numbers = [
        row[name]
        for name in ("sensitivity", "specificity", "metric_mean", "human_mean")
    ]
    assert numbers == pytest.approx([0.8, 0.9, 0.54, 0.5])
    assert row["value"] == pytest.approx((0.54 + 0.9 - 1) / (0.8 + 0.9 - 1))
    assert [row[name] for name in COUNTS] == [20, 100, 0]
    # Sensitivity and specificity are not known for sure: wider than were people to read
    # all.
    low, high = proportion_confint(63, 100, alpha=0.1, method="wilson")
    assert row["low"] < low < row["value"] < high < row["high"]
    assert np.isnan(row["weight"])


def test_shares_that_are_not_all_0_or_1_have_no_verdicts():
    people = {f"d{n}": n % 2 for n in range(6)}
    ratings = passed(people)
    for scores, rated in (
        (scored({**people, "d9": 0.5}), ratings),
        (scored({**people, "d9": 2.0}), ratings),
        # Two raters who part ways give a half.
        (scored(people), pd.concat([ratings, passed({"d0": 1}, rater="bob")])),
    ):
        assert list(correct(scores, rated)["method"]) == ["prediction_powered"]
    # A system of other values does not cost this one its row.
    other = passed({"d0": 1, "d1": 0}, author="y")
    scores = pd.concat([scored(people), scored({"d0": 0.3, "d1": 0.2}, "y")])
    methods = (
        correct(scores, pd.concat([ratings, other]))
        .groupby("author")["method"]
        .apply(list)
    )
    assert methods["x"] == ["prediction_powered", "rogan_gladen"]
    assert methods["y"] == ["prediction_powered"]


def test_a_metric_of_which_less_is_better_is_turned_and_a_contrary_one_left_out():
    rng = np.random.default_rng(0)
    people = {f"d{n}": float(n % 5 + 1) for n in range(20)}
    falls = {d: -v + rng.normal() for d, v in people.items()} | {"e0": 0.5, "e1": 1.0}
    rises = {d: -v for d, v in falls.items()}
    contrary, turned, plain = (
        only(correct(scored(values), graded(people), {"m": better}))
        for values, better in ((falls, "higher"), (falls, "lower"), (rises, "higher"))
    )
    assert (contrary["weight"], contrary["value"]) == (0, pytest.approx(3))
    assert turned["weight"] > 0
    assert turned["metric_mean"] == pytest.approx(np.mean(list(falls.values())))
    for name in ("value", "low", "high", "weight"):
        assert turned[name] == pytest.approx(plain[name])
    # Nothing beyond the rated texts leaves people's mean.
    row = only(
        correct(
            scored({"d0": 9, "d1": 4, "d2": 1}), graded({"d0": 1, "d1": 2, "d2": 5})
        )
    )
    assert (row["value"], row["weight"]) == (pytest.approx(8 / 3), 0)
    assert [row[name] for name in COUNTS] == [3, 3, 0]


def test_too_few_or_no_scores_are_null_with_counts():
    ratings = pd.concat([graded({"d0": 1, "d1": 2}), graded({"d0": 5}, "y")])
    scores = pd.concat(
        [scored({"d0": np.nan, "d7": 2.0}), scored({"d0": 3.0, "d1": 4.0}, "y")]
    )
    table = correct(scores, ratings).set_index("author")
    assert table[["value", "low", "high"]].isna().all(axis=None)
    counts = table[[*COUNTS, "human_mean", "metric_mean"]]
    assert counts.loc["x"].tolist() == [0, 1, 2, 1.5, 2]
    assert counts.loc["y"].tolist() == [1, 2, 0, 5, 3.5]


def test_only_scores_of_the_same_part_recipe_metric_and_judge_count():
    people = {f"d{n}": float(n % 5 + 1) for n in range(10)}
    metric = {d: v / 5 for d, v in people.items()} | {"e0": 0.9, "e1": 0.7}
    people["d10"] = 2.0  # has no score
    scores, ratings = scored(metric), graded(people)
    others = [
        scored({"e2": 9.0}, recipe="m|v2"),
        scored(metric, part="plan"),
        scored(metric, judge="nli"),
        scored(metric, metric="not compared"),
        scored(metric, "never rated"),
    ]
    every = pd.concat([scores, *others]).sample(frac=1, random_state=0)
    table = correct(every, ratings.sample(frac=1, random_state=1))
    assert sorted(table["judge"]) == ["nli", "none"]
    alone = table[table["judge"] == "none"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, correct(scores, ratings), check_exact=True)
    row = only(alone)
    assert (row["method"], row["recipe"]) == ("prediction_powered", "m|v1")
    assert [row[name] for name in COUNTS] == [10, 12, 1]
    documents = sorted({**metric, **people})
    sides = ([values.get(d, np.nan) for d in documents] for values in (metric, people))
    expected = prediction_powered_mean(*sides, confidence=0.9)
    numbers = [row[name] for name in ("value", "low", "high", "weight")]
    assert numbers == pytest.approx([*expected[:3], expected.weight])
    assert row["metric_mean"] == pytest.approx(np.mean(list(metric.values())))
    assert row["human_mean"] == pytest.approx(np.mean(list(people.values())))
    assert correct(scores, ratings, {"m": "neither"}).empty
