import numpy as np
import pandas as pd
import pytest

from metassay.core.options import Criterion
from metassay.meta_evaluation.judge_cards import judge_cards
from metassay.tables.judge_cards import CALIBRATION, JUDGE_CARDS
from metassay.tables.parquet import empty, write
from metassay.tables.scores import SCORES
from tests.meta_evaluation.invented_study import (
    HIGHER,
    OPTIONS,
    one,
    rate,
    ratings_of,
    scores_of,
    studied,
)

CRITERIA = {
    "right": Criterion(low=0, high=1, better="higher", scale="nominal"),
    "wrong": Criterion(low=0, high=1, better="lower", scale="nominal"),
    "errors": Criterion(low=0, high=10, better="lower", scale="count"),
}


def carded(scores, ratings, better=HIGHER, options=OPTIONS):
    found = studied(scores, ratings, CRITERIA, options, better)
    return judge_cards(scores, ratings, found, CRITERIA, options)


def passed(values, rater="amy", criterion="right", author="x", **more):
    return ratings_of(*(rate(criterion, author, d, rater, v, **more) for d, v in values.items()))


def scored(values, author="x", **more):
    return scores_of({(doc, author): value for doc, value in values.items()}, **more)


def value(cards, statistic, **key):
    return one(cards, statistic=statistic, **key)["value"]


# 10 texts that people passed, 8 of them by the judge; 10 that they failed, 1 of them passed by
# the judge; 5 that people did not see; one that the judge did not.
PEOPLE = {f"d{n:02}": float(n < 10) for n in range(20)} | {"d99": 1.0}
JUDGMENTS = {f"d{n:02}": float(n < 8 or n == 10) for n in range(20)}
JUDGMENTS |= {f"e{n}": float(n < 3) for n in range(5)}


def test_by_hand(tmp_path):
    cards, bins = carded(scored(JUDGMENTS), passed(PEOPLE))
    write(JUDGE_CARDS, cards, tmp_path / "cards.parquet")
    write(CALIBRATION, bins, tmp_path / "bins.parquet")
    assert len(bins) == 0
    assert [value(cards, f"{kind}") for kind in ("true_pass", "false_fail")] == [8, 2]
    assert [value(cards, f"{kind}") for kind in ("false_pass", "true_fail")] == [1, 9]
    row = one(cards, statistic="sensitivity")
    assert row["value"] == pytest.approx(0.8)
    assert row["low"] < 0.8 < row["high"]
    assert (row["n"], row["n_effective"]) == (10, 10)
    assert (row["n_judged"], row["n_missing"], row["n_split"]) == (25, 1, 0)
    assert np.isnan(row["threshold"])
    assert row["recipe"] == "m|v1"
    assert value(cards, "specificity") == pytest.approx(0.9)
    assert value(cards, "cohen_kappa") == pytest.approx(0.7)
    assert value(cards, "judge_pass_rate") == pytest.approx(12 / 25)
    assert value(cards, "people_pass_rate") == pytest.approx(11 / 21)
    expected = (12 / 25 + 0.9 - 1) / (0.8 + 0.9 - 1)
    assert value(cards, "rogan_gladen_pass_rate") == pytest.approx(expected)
    labels = one(cards, statistic="labels_sensitivity")
    assert labels["width"] == 0.1
    assert labels["value"] == int(labels["value"]) > 100
    assert not set(cards["statistic"]) & {"brier", "bias", "ece", "ece_by_chance"}


def test_probabilities_of_a_judge_have_a_threshold_and_calibration(tmp_path):
    likely = {d: 0.5 + 0.4 * (2 * v - 1) for d, v in JUDGMENTS.items()}
    cards, bins = carded(scored(likely, judge="gpt"), passed(PEOPLE))
    write(CALIBRATION, bins, tmp_path / "bins.parquet")
    sure, _ = carded(scored(JUDGMENTS, judge="gpt"), passed(PEOPLE))
    shared = cards[cards["statistic"].isin(sure["statistic"])].reset_index(drop=True)
    same = [name for name in sure.columns if name != "threshold"]
    pd.testing.assert_frame_equal(shared[same], sure[same])
    assert set(cards["threshold"]) == {0.5}
    # 17 of 20 are right at .9 or .1, three wrong.
    assert value(cards, "brier") == pytest.approx((17 * 0.01 + 3 * 0.81) / 20)
    assert list(bins["mean"]) == pytest.approx([0.1, 0.9])
    assert list(bins["passed"]) == pytest.approx([2 / 11, 8 / 9])
    strict = OPTIONS.model_copy(update={"threshold": 0.95})
    cards, _ = carded(scored(likely, judge="gpt"), passed(PEOPLE), options=strict)
    assert value(cards, "judge_pass_rate") == 0


def test_what_is_no_probability_of_passing_has_no_card():
    ratings = passed(PEOPLE)
    rouge = {d: 0.3 + 0.1 * v for d, v in JUDGMENTS.items()}
    assert not len(carded(scored(rouge), ratings)[0])
    # A share of claims comes from a judge, but not from one that was asked about the text.
    claims = scored(rouge, judge="nli").assign(n_expected=4)
    assert not len(carded(claims, ratings)[0])
    assert not len(carded(scored({**JUDGMENTS, "d03": 1.5}, judge="gpt"), ratings)[0])
    assert not len(carded(scored({**JUDGMENTS, "d03": -0.5}, judge="gpt"), ratings)[0])
    assert not len(carded(scored(JUDGMENTS), ratings, {"m": "neither"})[0])
    assert not len(carded(empty(SCORES), ratings)[0])
    assert not len(carded(scored(dict.fromkeys(JUDGMENTS, np.nan)), ratings)[0])


def test_only_pass_or_fail_of_whole_texts_counts():
    scores = scored(JUDGMENTS)
    # Counts of errors that happen to be 0 and 1; halves; claims; comparisons.
    assert not len(carded(scores, passed(PEOPLE, criterion="errors"))[0])
    assert not len(carded(scores, passed({**PEOPLE, "d01": 0.5}))[0])
    assert not len(carded(scores, passed(PEOPLE, unit="claim:0"))[0])
    assert not len(carded(scores, passed(PEOPLE, unit="versus:y"))[0])


def test_most_raters_decide_and_a_split_text_is_left_out_and_counted():
    amy, bob = passed(PEOPLE), passed({"d00": 0.0, "d01": 1.0, "d02": 0.0}, rater="bob")
    cyd = passed({"d00": 1.0}, rater="cyd")  # d00: two of three pass it; d02: one of two
    cards, _ = carded(scored(JUDGMENTS), pd.concat([amy, bob, cyd]))
    row = one(cards, statistic="sensitivity")
    assert (row["n"], row["n_split"], row["n_missing"]) == (9, 1, 1)
    assert row["value"] == pytest.approx(7 / 9)
    # The split text still has a judgment.
    assert row["n_judged"] == 25


def test_where_less_is_better_1_is_a_fail():
    expected, _ = carded(scored(JUDGMENTS), passed(PEOPLE))
    people = {d: 1 - v for d, v in PEOPLE.items()}
    judge = {d: 1 - v for d, v in JUDGMENTS.items()}
    cards, _ = carded(scored(judge), passed(people, criterion="wrong"), {"m": "lower"})
    numbers = ["value", "n", "n_effective", "n_judged", "n_missing"]
    shares = expected["statistic"].isin(("sensitivity", "precision", "judge_pass_rate", "mcc"))
    pd.testing.assert_frame_equal(cards.loc[shares, numbers], expected.loc[shares, numbers])


def test_texts_of_one_document_count_as_alike():
    systems = ("x", "y", "z")
    scores = pd.concat([scored(JUDGMENTS, name) for name in systems])
    ratings = pd.concat([passed(PEOPLE, author=name) for name in systems])
    cards, _ = carded(scores, ratings)
    single, _ = carded(scored(JUDGMENTS), passed(PEOPLE))
    assert set(cards["metric"]) == {"m"}  # one card of all systems
    for name in ("sensitivity", "cohen_kappa", "balanced_accuracy", "judge_pass_rate"):
        three, alone = one(cards, statistic=name), one(single, statistic=name)
        assert three["value"] == pytest.approx(alone["value"])
        assert three["n"] == 3 * alone["n"]
        assert three["n_effective"] <= alone["n"] + 1e-9
        width = alone["high"] - alone["low"]
        assert 0.85 * width < three["high"] - three["low"] < 1.4 * width


def test_only_texts_of_rated_systems_by_the_same_recipe_are_judged():
    others = [
        scored({"f0": 1.0}, recipe="m|v2"),
        scored(JUDGMENTS, "never rated"),
        scored(JUDGMENTS, part="plan"),
    ]
    cards, _ = carded(pd.concat([scored(JUDGMENTS), *others]), passed(PEOPLE))
    expected, _ = carded(scored(JUDGMENTS), passed(PEOPLE))
    pd.testing.assert_frame_equal(cards, expected)


def test_nothing_depends_on_the_order_of_rows_or_on_other_metrics():
    likely = {d: 0.5 + 0.3 * (2 * v - 1) for d, v in JUDGMENTS.items()}
    scores = pd.concat([scored(JUDGMENTS), scored(likely, metric="n", judge="gpt")])
    ratings = passed(PEOPLE)
    found = carded(scores, ratings)
    shuffled = scores.sample(frac=1, random_state=1), ratings.sample(frac=1, random_state=2)
    for mine, again in zip(found, carded(*shuffled), strict=True):
        pd.testing.assert_frame_equal(mine, again, check_exact=True)
    alone, _ = carded(scored(JUDGMENTS), ratings)
    of_m = found[0][found[0]["metric"] == "m"].reset_index(drop=True)
    pd.testing.assert_frame_equal(of_m, alone, check_exact=True)


def test_no_text_with_both_is_undefined_and_counted(tmp_path):
    cards, bins = carded(scored({"e0": 0.4, "e1": 1.0}, judge="gpt"), passed(PEOPLE))
    write(JUDGE_CARDS, cards, tmp_path / "cards.parquet")
    assert len(bins) == 0
    assert np.isnan(value(cards, "sensitivity"))
    assert np.isnan(value(cards, "labels_pass_rate"))
    row = one(cards, statistic="agreement")
    assert (row["n"], row["n_judged"], row["n_missing"]) == (0, 2, 21)
