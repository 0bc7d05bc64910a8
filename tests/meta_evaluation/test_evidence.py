from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from metassay.meta_evaluation.confounds import confounds
from metassay.meta_evaluation.correlations import correlations
from metassay.meta_evaluation.evidence import _shown_within
from metassay.meta_evaluation.options import ANY_SHAPE
from metassay.statistics.agreement import compare_with_rater
from metassay.statistics.correlation import LEVELS
from metassay.statistics.jackknife import interval, leave_out
from metassay.statistics.pairs import calibrate, pairwise_accuracy
from tests.meta_evaluation import invented_study
from tests.meta_evaluation.invented_study import (
    CERTIFICATION,
    OPTIONS,
    gathered,
    only,
    rate,
    ratings_of,
    scores_of,
    studied,
    study,
    table_of,
    tables_of,
)

ERRORS = {"m": "higher", "errors_found": "lower", "words": "neither", "z": "higher"}


def certified(scores, ratings, better=ERRORS, options=OPTIONS, **more):
    return invented_study.certified(scores, ratings, better, options, **more)


def two_raters(documents=30):
    """Errors counted by two raters, and a metric of a third one's kind."""
    rng = np.random.default_rng(1)
    keys = [(f"d{d:02}", a) for d in range(documents) for a in ("x", "y", "z")]
    truth = {key: float(rng.integers(0, 10)) for key in keys}
    ratings = ratings_of(
        *(
            rate("errors", a, d, rater, value + float(rng.integers(0, 3)))
            for (d, a), value in truth.items()
            for rater in ("amy", "bob")
        )
    )
    return ratings, {key: -value - rng.integers(0, 3) for key, value in truth.items()}


def test_signs_are_turned_so_that_positive_is_good():
    ratings, scores, errors = study(documents=20)
    every = table_of({"m": scores, "errors_found": errors, "words": errors})
    table = certified(every, ratings)
    assert set(table["metric"]) == {"m", "errors_found"}  # words says nothing of better
    assert sorted(table["level"]) == sorted(LEVELS * 2)
    plain = correlations(gathered(every, ratings, better=ERRORS), OPTIONS)
    for metric, sign in (("m", -1), ("errors_found", 1)):
        row = only(table, metric=metric, level="global")
        same = only(plain, metric=metric, level="global", coefficient="pearson")
        # Errors: less is better. m rises as they fall; errors_found counts them, less
        # is better.
        assert row["value"] == sign * same["value"] > 0
        ends = sorted([sign * same["low"], sign * same["high"]])
        assert [row["low"], row["high"]] == ends
        assert row["low"] <= row["value"] <= row["high"]
        # of three systems
        assert (row["verdict"], row["trusted"]) == ("promising", False)


def test_accuracy_against_chance_by_hand():
    """One document of three systems: people order x < y < z, the metric x < z < y."""
    scores, ratings = tables_of([[[1], [2], [3]]], {"m": [[1.0], [3.0], [2.0]]})
    table = certified(scores, ratings)
    row = only(table, level="document")
    assert (row["accuracy"], row["epsilon"], row["n_pairs"]) == (
        pytest.approx(2 / 3),
        0,
        3,
    )
    # Dealt at random, the three scores get 3 right once, 2 twice, 1 twice and 0 once of
    # six times; no epsilon helps, as people tie nothing.
    assert row["chance"] == pytest.approx(0.5, abs=0.1)
    assert np.isnan(only(table, level="global")["accuracy"])


def test_numbers_are_those_of_the_statistics():
    ratings, scores = two_raters()
    (whole,) = studied(scores_of(scores), ratings, better=ERRORS)
    table = certified(scores_of(scores), ratings)
    metric, human = whole.metrics[0].values, -whole.human
    for level in LEVELS:
        row = only(table, level=level)
        left = leave_out(metric, human, level, "pearson")
        for over, end in (("both", ""), ("documents", "_these_systems")):
            expected = interval(left, confidence=0.9, over=over)[:2]
            assert [row[f"low{end}"], row[f"high{end}"]] == pytest.approx(
                expected, nan_ok=True
            )
        # One metric has nothing to be corrected for.
        assert row["corrected"] == row["value"] == left.value
        if not np.isnan(row["low"]):
            assert [row["corrected_low"], row["corrected_high"]] == [
                row["low"],
                row["high"],
            ]
        against = compare_with_rater(metric, -whole.raters, level, "pearson")
        numbers = [row[name] for name in ("with_raters", "rater", "against_rater")]
        assert numbers == [part.value for part in against[:3]]
        ends = interval(against.difference, confidence=0.9, difference=True)
        assert row["against_rater_low"] == pytest.approx(ends.low, nan_ok=True)
        sizes = row["n_raters"], row["n_systems"], row["n_documents"], row["design"]
        assert sizes == (2, 3, 30, "crossed")
        if level != "global":
            epsilon = calibrate(metric, human, level)
            accuracy = pairwise_accuracy(metric, human, level, epsilon=epsilon)
            assert row["accuracy"] == pytest.approx(accuracy.value)
            assert row["chance"] < row["accuracy"] or level == "system"
            assert row["n_pairs"] == {"document": 30 * 3, "system": 3}[level]


def test_as_good_as_a_rater():
    ratings, scores = two_raters()
    row = only(certified(scores_of(scores), ratings), level="global")
    assert (row["verdict"], row["as_good_as_rater"]) == ("promising", True)
    assert row["against_rater_low"] > -CERTIFICATION.margin
    assert row["n_against_rater"] == 90
    assert "It agrees with raters as well as a rater does." in row["sentence"]
    rng = np.random.default_rng(5)
    worse = {key: value + rng.normal(0, 3) for key, value in scores.items()}
    row = only(certified(scores_of(worse), ratings), level="global")
    assert (row["verdict"], row["as_good_as_rater"]) == ("promising", False)
    assert row["against_rater_high"] < 0
    # One rater alone is no ceiling.
    alone = ratings[ratings["rater"] == "amy"]
    row = only(certified(scores_of(scores), alone), level="global")
    assert (row["verdict"], row["n_raters"], row["n_against_rater"]) == (
        "promising",
        0,
        0,
    )
    assert not row["as_good_as_rater"]
    assert np.isnan([row["with_raters"], row["rater"], row["against_rater_low"]]).all()


def test_contrary_cannot_tell_and_undefined():
    ratings, scores, errors = study(documents=20)
    rng = np.random.default_rng(7)
    metrics = {
        "m": errors,  # more errors, higher score
        "errors_found": dict.fromkeys(scores, 1.0),
        "z": {key: rng.normal() for key in scores},
    }
    table = certified(table_of(metrics), ratings)
    rows = table[table["level"] == "global"].set_index("metric")
    assert {name: (row["verdict"], row["advice"]) for name, row in rows.iterrows()} == {
        "m": ("contrary", "check its direction"),
        "errors_found": ("undefined", "nothing to compare"),
        "z": ("too weak", "do not use"),
    }
    assert not rows["trusted"].any()
    contrary, undefined = rows.loc[["m", "errors_found"], "sentence"]
    assert contrary.startswith(
        "Contrary: for any two texts, m goes against low errors (Pearson"
    )
    assert "errors_found and low errors have no correlation to compute" in undefined
    settled = ~table["verdict"].isin(["cannot tell", "promising"])
    assert (
        table.loc[settled, ["needed_systems", "needed_documents"]].isna().all(axis=None)
    )


def test_among_texts_a_share_of_orders_that_equals_the_level_is_not_below_it():
    """1 - .95 is a little more than 6 of 120, as floats."""
    p = np.array([[6 / 120], [5 / 120]])
    tests: Any = SimpleNamespace(
        study=SimpleNamespace(places=[0, 1]),
        levels={"system": SimpleNamespace(p_alone={"documents": p})},
    )
    options = OPTIONS.model_copy(update={"confidence": 0.95})
    assert _shown_within(tests, "system", options) == [False, True]


def test_the_confound_that_leaves_least_is_named():
    """Quality is copying: the metric sees it by words alone, which people do not value."""
    rng = np.random.default_rng(6)
    quality = rng.normal(size=(4, 40))
    copied = quality + 0.3 * rng.normal(size=quality.shape)
    metrics = {
        "m": copied + 0.3 * rng.normal(size=quality.shape),
        "z": quality + 0.3 * rng.normal(size=quality.shape),
        "coverage": copied,
        "words": rng.normal(size=quality.shape),
    }
    scores, ratings = tables_of([quality], metrics)
    better = {**ERRORS, "coverage": "neither"}
    options = OPTIONS.model_copy(update={"coefficient": "spearman"})
    table = certified(scores, ratings, better, options)
    known = confounds(
        gathered(scores, ratings, options=options, better=better), options
    )
    row = only(table, metric="m", level="global")
    left = only(
        known, metric="m", level="global", confound="coverage", statistic=ANY_SHAPE
    )
    assert (row["confound"], row["given_confound"]) == ("coverage", left["value"])
    assert row["given_confound_p"] == pytest.approx(left["p"], nan_ok=True)
    assert row["verdict"] == "explained by coverage"
    assert only(table, metric="z", level="global")["verdict"] == "promising"


def test_progress_and_a_metric_without_direction_that_is_no_company():
    ratings, scores = two_raters()
    luck = np.random.default_rng(0)
    aside = {"m": scores, "words": {key: luck.normal() for key in scores}}
    done = []
    alone = certified(
        scores_of(scores), ratings, progress=lambda n, of: done.append((n, of))
    )
    assert done == [(1, 3), (2, 3), (3, 3)]
    better = {**ERRORS, "aside": "neither"}
    beside = certified(table_of(aside).replace({"words": "aside"}), ratings, better)
    pd.testing.assert_frame_equal(alone, beside)


def test_three_systems_in_order_are_no_proof():
    """Whatever order documents say three systems have: 2 of 6 orders are as extreme."""
    ratings, scores = two_raters(documents=60)
    shift = {"x": 0.0, "y": 3.0, "z": 7.0}
    ratings["value"] += ratings["author"].map(shift)
    scores = {
        (d, a): value - shift[a] + 2.0 * (a == "y") for (d, a), value in scores.items()
    }
    row = only(certified(scores_of(scores), ratings), level="system")
    assert (row["p"], row["smallest_p"]) == pytest.approx((1 / 3, 1 / 3))
    assert row["low_these_systems"] > 0
    assert np.isnan(row["low"])
    assert (row["verdict"], row["advice"]) == ("cannot tell", "rate more systems")


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall", "kendall_c"])
def test_two_systems_in_order_show_nothing_of_systems(coefficient):
    """Any two systems correlate by 1 or -1, whichever documents are left out."""
    rng = np.random.default_rng(2)
    grades = rng.integers(0, 2, (2, 40)) + np.array([[2.0], [4.0]])
    options = OPTIONS.model_copy(update={"coefficient": coefficient})
    row = only(
        certified(*tables_of([grades], {"m": grades}), options=options), level="system"
    )
    assert (row["value"], row["n"]) == (pytest.approx(1), 2)
    assert row["p"] == row["smallest_p"] == 1
    assert not row["trusted"]


def test_a_metric_rated_where_it_is_extreme_is_not_decided():
    rng = np.random.default_rng(3)
    texts = [(f"d{d:02d}", f"s{s}") for d in range(60) for s in range(8)]
    truth = rng.normal(size=len(texts))
    good = truth + 0.4 * rng.normal(size=len(texts))
    other = truth + 0.4 * rng.normal(size=len(texts))

    def verdicts(rated):
        by_name = {"m": good, "z": other}
        scores = pd.concat(
            [
                scores_of(dict(zip(texts, values, strict=True)), metric=name)
                for name, values in by_name.items()
            ]
        )
        chosen = np.flatnonzero(rated)
        ratings = ratings_of(
            *(rate("grade", texts[i][1], texts[i][0], "ann", truth[i]) for i in chosen)
        )
        better = {"m": "higher", "z": "higher"}
        rows = certified(scores, ratings, better)
        rows = rows[rows["level"] == "global"].set_index("metric")
        return rows["verdict"].to_dict(), rows

    at_random, rows = verdicts(rng.random(len(texts)) < 0.3)
    assert at_random == {"m": "use", "z": "use"}
    assert not rows["selected"].any()
    extreme, rows = verdicts(np.abs(good) > 1.2)
    assert extreme["m"] == "cannot tell"
    row = rows.loc["m"]
    assert row["selected"]
    assert row["advice"] == "rate a random sample of texts"
    assert "which is not the correlation over all" in row["sentence"]
    assert np.isnan(row["needed_documents"]) or pd.isna(row["needed_documents"])
