import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from metassay.core.options import Criterion
from metassay.meta_evaluation.judge_cards import CORRECTED, correct_means
from metassay.statistics.shares import prediction_powered_mean
from metassay.tables.parquet import empty, write
from metassay.tables.scores import SCORES
from tests.meta_evaluation.invented_study import (
    CRITERIA,
    HIGHER,
    OPTIONS,
    one,
    rate,
    ratings_of,
    scores_of,
    studied,
)

COMPARED = OPTIONS.model_copy(update={"compared": ["m"]})
Z = 1.6448536269514722  # of a 90 % interval
SHARES = {"right": Criterion(low=0, high=1, better="higher", scale="nominal")}


def correct(scores, ratings, criteria=CRITERIA, options=COMPARED, better=HIGHER):
    return correct_means(scores, studied(scores, ratings, criteria, options, better), options)


def grades(values, author="x"):
    return [rate("grade", author, doc, "amy", value) for doc, value in values.items()]


def scored(values, author="x", **more):
    return scores_of({(doc, author): value for doc, value in values.items()}, **more)


def test_prediction_powered_by_hand(tmp_path):
    people = {"d0": 1, "d1": 2, "d2": 4, "d3": 5, "d9": 3}  # d9 has no score
    metric = {"d0": 0, "d1": 1, "d2": 1, "d3": 2, "d4": 2, "d5": 3, "d6": 1, "d7": 2}
    found = correct(scored(metric), ratings_of(*grades(people)))
    write(CORRECTED, found, tmp_path / "c.parquet")
    row = one(found, study="s1", criterion="grade", part="full", metric="m", author="x")
    assert row["method"] == "prediction_powered"
    # Covariance of the four: of 1 2 4 5 with 0 1 1 2, sum (-2)(-1) + 0 + 0 + 2 = 4, over 4: 1.
    # Variance of the eight scores: mean 1.5, squares 2.25 + 3 * .25 + 3 * .25 + 2.25 = 6, over 7.
    weight = 1 / (6 / 7 * (1 + 4 / 4))
    assert row["weight"] == pytest.approx(weight)
    # The four that people rated have the mean 3 and scores of 1, the others scores of 2.
    assert row["value"] == pytest.approx(3 + weight * (2 - 1))
    # 1 2 4 5 less the weight times 0 1 1 2: variance 10/4 - 2 w + w**2 / 2; of 2 3 1 2: 1/2.
    error = (2.5 - 2 * weight + weight**2 / 2) / 4 + weight**2 / 2 / 4
    assert row["low"] == pytest.approx(row["value"] - Z * np.sqrt(error))
    assert row["high"] == pytest.approx(row["value"] + Z * np.sqrt(error))
    assert (row["metric_mean"], row["human_mean"]) == (1.5, 3)
    assert (row["n"], row["n_judged"], row["n_missing"]) == (4, 8, 1)
    assert row["recipe"] == "m|v1"


def test_rogan_gladen_by_hand():
    # Of 20 rated texts people find 10 right; the judge finds 8 of those, and 1 of the wrong. Of
    # the 80 others it finds 45.
    people = [1] * 10 + [0] * 10
    judge = [1] * 8 + [0] * 2 + [1] + [0] * 9 + [1] * 45 + [0] * 35
    metric = {f"d{n:02}": value for n, value in enumerate(judge)}
    ratings = ratings_of(
        *(rate("right", "x", f"d{n:02}", "amy", value) for n, value in enumerate(people))
    )
    found = correct(scored(metric), ratings, SHARES)
    assert list(found["method"]) == ["prediction_powered", "rogan_gladen"]
    row = one(found, method="rogan_gladen")
    assert (row["sensitivity"], row["specificity"]) == (pytest.approx(0.8), pytest.approx(0.9))
    assert row["metric_mean"] == pytest.approx(0.54)
    assert row["human_mean"] == 0.5
    assert row["value"] == pytest.approx((0.54 + 0.9 - 1) / (0.8 + 0.9 - 1))
    assert (row["n"], row["n_judged"], row["n_missing"]) == (20, 100, 0)
    assert row["low"] < row["value"] < row["high"]
    # Sensitivity and specificity are not known for sure: wider than were people to read all.
    low, high = proportion_confint(63, 100, alpha=0.1, method="wilson")
    assert row["low"] < low
    assert high < row["high"]
    assert np.isnan(row["weight"])


def test_shares_that_are_not_all_0_or_1_have_no_verdicts():
    people = {f"d{n}": n % 2 for n in range(6)}
    ratings = ratings_of(*(rate("right", "x", d, "amy", v) for d, v in people.items()))
    for extra in (0.5, 2.0):
        found = correct(scored({**people, "d9": extra}), ratings, SHARES)
        assert list(found["method"]) == ["prediction_powered"]
    # Two raters who part ways give a half.
    second = ratings_of(rate("right", "x", "d0", "bob", 1))
    found = correct(scored(people), pd.concat([ratings, second]), SHARES)
    assert list(found["method"]) == ["prediction_powered"]
    # A system of other values does not cost this one its row.
    other = ratings_of(rate("right", "y", "d0", "amy", 1), rate("right", "y", "d1", "amy", 0))
    scores = pd.concat([scored(people), scored({"d0": 0.3, "d1": 0.2}, "y")])
    found = correct(scores, pd.concat([ratings, other]), SHARES)
    methods = found.groupby("author")["method"].apply(list).to_dict()
    assert methods == {"x": ["prediction_powered", "rogan_gladen"], "y": ["prediction_powered"]}


def test_nothing_beyond_the_rated_texts_leaves_peoples_mean():
    people = {"d0": 1, "d1": 2, "d2": 5}
    row = one(correct(scored({"d0": 9, "d1": 4, "d2": 1}), ratings_of(*grades(people))))
    assert (row["value"], row["weight"]) == (pytest.approx(8 / 3), 0)
    assert (row["n"], row["n_judged"], row["n_missing"]) == (3, 3, 0)


def test_a_metric_of_which_less_is_better_is_turned_and_a_contrary_one_left_out():
    rng = np.random.default_rng(0)
    people = {f"d{n}": float(n % 5 + 1) for n in range(20)}
    falls = {d: -v + rng.normal() for d, v in people.items()} | {"e0": 0.5, "e1": 1.0}
    rises = {d: -v for d, v in falls.items()}
    contrary = one(correct(scored(falls), ratings_of(*grades(people)), better={"m": "higher"}))
    assert (contrary["weight"], contrary["value"]) == (0, pytest.approx(3))
    turned = one(correct(scored(falls), ratings_of(*grades(people)), better={"m": "lower"}))
    plain = one(correct(scored(rises), ratings_of(*grades(people)), better={"m": "higher"}))
    assert turned["weight"] > 0
    assert turned["metric_mean"] == pytest.approx(np.mean(list(falls.values())))
    for name in ("value", "low", "high", "weight"):
        assert turned[name] == pytest.approx(plain[name])


def test_too_few_or_no_scores_are_null_with_counts(tmp_path):
    ratings = ratings_of(*grades({"d0": 1, "d1": 2}), *grades({"d0": 5}, "y"))
    scores = pd.concat([scored({"d0": np.nan, "d7": 2.0}), scored({"d0": 3.0, "d1": 4.0}, "y")])
    found = correct(scores, ratings)
    write(CORRECTED, found, tmp_path / "c.parquet")
    x, y = one(found, author="x"), one(found, author="y")
    assert np.isnan([row[name] for row in (x, y) for name in ("value", "low", "high")]).all()
    assert (x["n"], x["n_judged"], x["n_missing"], x["human_mean"]) == (0, 1, 2, 1.5)
    assert (y["n"], y["n_judged"], y["n_missing"], y["human_mean"]) == (1, 2, 0, 5)
    assert (x["metric_mean"], y["metric_mean"]) == (2, 3.5)
    write(CORRECTED, correct(empty(SCORES), ratings), tmp_path / "c.parquet")
    assert len(correct(empty(SCORES), ratings)) == 0


def test_only_scores_of_the_same_part_recipe_metric_and_judge_count():
    people = {f"d{n}": float(n % 5 + 1) for n in range(10)}
    metric = {d: v / 5 for d, v in people.items()} | {"e0": 0.9, "e1": 0.7}
    mine = scored(metric)
    others = [
        scored({"e2": 9.0}, recipe="m|v2"),
        scored(metric, part="plan"),
        scored(metric, judge="nli"),
        scored(metric, metric="not compared"),
        scored(metric, "never rated"),
    ]
    ratings = ratings_of(*grades(people))
    found = correct(pd.concat([mine, *others]), ratings)
    assert sorted(found["judge"]) == ["nli", "none"]
    own = found[found["judge"] == "none"].reset_index(drop=True)
    pd.testing.assert_frame_equal(own, correct(mine, ratings), check_exact=True)
    row = one(own)
    assert row["n_judged"] == 12
    documents = sorted(metric)
    expected = prediction_powered_mean(
        [metric[d] for d in documents],
        [people.get(d, np.nan) for d in documents],
        confidence=0.9,
    )
    assert [row["value"], row["low"], row["high"]] == pytest.approx(expected[:3])
    words = correct(mine, ratings, better={"m": "neither"})
    assert len(words) == 0


def test_nothing_depends_on_the_order_of_rows():
    rng = np.random.default_rng(5)
    metric = {f"d{n:03}": rng.normal() for n in range(200)}
    people = {d: float(np.clip(round(3 + v), 1, 5)) for d, v in list(metric.items())[:50]}
    scores, ratings = scored(metric), ratings_of(*grades(people))
    found = correct(scores, ratings)
    again = correct(scores.sample(frac=1, random_state=0), ratings.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(found, again, check_exact=True)


def test_intervals_hold_the_true_mean_where_the_metrics_own_mean_is_off():
    rng = np.random.default_rng(7)
    metric, rows = {}, []
    for author in (f"x{n:03}" for n in range(100)):
        truth = rng.normal(3.0, 1.0, 200)
        judge = truth + 0.7 + rng.normal(0.0, 0.5, 200)
        metric |= {(f"d{n:03}", author): value for n, value in enumerate(judge)}
        seen = rng.choice(200, 50, replace=False)
        rows += grades({f"d{n:03}": truth[n] for n in seen}, author)
    found = correct(scores_of(metric), ratings_of(*rows))
    assert len(found) == 100
    # 90 of 100 expected, with a standard error of 3.
    assert 82 <= np.sum((found["low"] <= 3.0) & (found["high"] >= 3.0)) <= 97
    assert np.sum(found["metric_mean"] <= found["high"]) < 5
