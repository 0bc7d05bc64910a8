import numpy as np
import pandas as pd
import pytest

from metassay.meta_evaluation.confounds import confounds
from metassay.meta_evaluation.correlations import correlations
from metassay.meta_evaluation.options import ANY_SHAPE
from metassay.statistics.agreement import against_rater
from metassay.statistics.correlation import LEVELS
from metassay.statistics.jackknife import interval, leave_out
from metassay.statistics.pairs import calibrate, pairwise_accuracy
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.parquet import empty, read, write
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
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
    tables_of,
)

ERRORS = {"m": "higher", "errors_found": "lower", "words": "neither", "z": "higher"}


def certified(scores, ratings, better=ERRORS, options=OPTIONS, **more):
    return invented_study.certified(scores, ratings, better, options, **more)


def two_raters(seed=1, documents=30):
    """Errors counted by two raters, and a metric of a third one's kind."""
    rng = np.random.default_rng(seed)
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
    every = pd.concat(
        [
            scores_of(scores),
            scores_of(errors, metric="errors_found"),
            scores_of(errors, metric="words"),
        ]
    )
    found = certified(every, ratings)
    assert set(found["metric"]) == {"m", "errors_found"}  # words says nothing of better
    assert sorted(found["level"]) == sorted(LEVELS * 2)
    plain = correlations(gathered(every, ratings, better=ERRORS), OPTIONS)
    for metric, sign in (("m", -1), ("errors_found", 1)):
        row = only(found, metric=metric, level="global")
        key = {"metric": metric, "level": "global", "coefficient": "pearson"}
        same = only(plain, **key)
        # Errors: less is better. m rises as they fall; errors_found counts them, less is better.
        assert row["value"] == sign * same["value"] > 0
        assert sorted([row["low"], row["high"]]) == sorted(
            [sign * same["low"], sign * same["high"]]
        )
        assert row["low"] <= row["value"] <= row["high"]
        assert row["verdict"] == "promising"  # of three systems
        assert not row["trusted"]


def test_accuracy_against_chance_by_hand():
    """One document of three systems: people order x < y < z, the metric x < z < y."""
    lines = [
        rate("grade", author, "d1", "amy", value)
        for author, value in (("x", 1), ("y", 2), ("z", 3))
    ]
    scores = {("d1", "x"): 1.0, ("d1", "y"): 3.0, ("d1", "z"): 2.0}
    found = certified(scores_of(scores), ratings_of(*lines))
    row = only(found, level="document")
    assert row["accuracy"] == pytest.approx(2 / 3)
    assert (row["epsilon"], row["n_pairs"]) == (0, 3)
    # Dealt at random, the three scores get 3 right once, 2 twice, 1 twice and 0 once of six times;
    # no epsilon helps, as people tie nothing.
    assert row["chance"] == pytest.approx(0.5, abs=0.1)
    assert np.isnan(only(found, level="global")["accuracy"])


def test_numbers_are_those_of_the_statistics():
    ratings, scores = two_raters()
    (studied_one,) = studied(scores_of(scores), ratings, better=ERRORS)
    found = certified(scores_of(scores), ratings)
    metric, human = studied_one.metrics[0].values, -studied_one.human
    for level in LEVELS:
        row = only(found, level=level)
        left = leave_out(metric, human, level, "pearson")
        for over, ends in (
            ("both", ("low", "high")),
            ("documents", ("low_these_systems", "high_these_systems")),
        ):
            expected = interval(left, confidence=0.9, over=over)[:2]
            assert [row[end] for end in ends] == pytest.approx(expected, nan_ok=True)
        # One metric has nothing to be corrected for.
        assert row["corrected"] == row["value"] == left.value
        if not np.isnan(row["low"]):
            assert [row["corrected_low"], row["corrected_high"]] == [row["low"], row["high"]]
        against = against_rater(metric, -studied_one.raters, level, "pearson")
        assert row["with_raters"] == against.metric.value
        assert row["rater"] == against.rater.value
        assert row["against_rater"] == against.difference.value
        ends = interval(against.difference, confidence=0.9, difference=True)
        assert row["against_rater_low"] == pytest.approx(ends.low, nan_ok=True)
        assert row["n_raters"] == 2
        assert (row["n_systems"], row["n_documents"], row["design"]) == (3, 30, "crossed")
        if level != "global":
            epsilon = calibrate(metric, human, level)
            accuracy = pairwise_accuracy(metric, human, level, epsilon=epsilon)
            assert row["accuracy"] == pytest.approx(accuracy.value)
            assert row["chance"] < row["accuracy"] or level == "system"
    assert only(found, level="document")["n_pairs"] == 30 * 3
    assert only(found, level="system")["n_pairs"] == 3


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
    assert (row["verdict"], row["n_raters"], row["n_against_rater"]) == ("promising", 0, 0)
    assert not row["as_good_as_rater"]
    assert np.isnan([row["with_raters"], row["rater"], row["against_rater_low"]]).all()


def test_contrary_cannot_tell_and_undefined():
    ratings, scores, errors = study(documents=20)
    rng = np.random.default_rng(7)
    every = pd.concat(
        [
            scores_of(errors),  # more errors, higher score
            scores_of(dict.fromkeys(scores, 1.0), metric="errors_found"),
            scores_of({key: rng.normal() for key in scores}, metric="z"),
        ]
    )
    found = certified(every, ratings)
    at = {metric: only(found, metric=metric, level="global") for metric in set(found["metric"])}
    assert {metric: row["verdict"] for metric, row in at.items()} == {
        "m": "contrary",
        "errors_found": "undefined",
        "z": "too weak",
    }
    assert not any(row["trusted"] for row in at.values())
    advice = {metric: row["advice"] for metric, row in at.items()}
    assert advice == {
        "m": "check its direction",
        "errors_found": "nothing to compare",
        "z": "do not use",
    }
    assert at["m"]["sentence"].startswith(
        "Contrary: for any two texts, m goes against low errors (Pearson −1.00"
    )
    assert at["errors_found"]["sentence"] == (
        "Undefined: for any two texts, errors_found and low errors have no correlation to compute."
    )
    for row in found.to_dict("records"):
        asked = row["verdict"] in ("cannot tell", "promising")
        assert asked or np.isnan([row["needed_systems"], row["needed_documents"]]).all()


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
    found = certified(scores, ratings, better, options)
    known = confounds(gathered(scores, ratings, options=options, better=better), options)
    row = only(found, metric="m", level="global")
    left = only(known, metric="m", level="global", confound="coverage", statistic=ANY_SHAPE)
    assert (row["confound"], row["given_confound"]) == ("coverage", left["value"])
    assert row["given_confound_p"] == pytest.approx(left["p"], nan_ok=True)
    assert row["verdict"] == "explained by coverage"
    row = only(found, metric="z", level="global")
    assert row["verdict"] == "promising"


# What is adjusted for all metrics hangs on them, by design; nothing else does.
OF_COMPANY = ["corrected", "corrected_low", "corrected_high", "p", "against_rater_low"]
OF_COMPANY += ["against_rater_high", "given_confound_p", "verdict", "trusted", "sentence"]
OF_COMPANY += ["needed_systems", "needed_documents", "shown_by", "advice", "within_systems_p"]


def test_nothing_hangs_on_order_and_little_on_company(tmp_path):
    ratings, scores = two_raters()
    luck = np.random.default_rng(0)
    alone = certified(scores_of(scores), ratings)
    other = scores_of({key: luck.normal() for key in scores}, metric="z")
    company = pd.concat([other, scores_of(scores)])
    more = certified(company, ratings)
    again = certified(
        company.sample(frac=1, random_state=1), ratings.sample(frac=1, random_state=2)
    )
    for name, frame in (("more", more), ("again", again)):
        write(CERTIFICATES, frame, tmp_path / name)
    assert (tmp_path / "more").read_bytes() == (tmp_path / "again").read_bytes()
    mine = more[more["metric"] == "m"].drop(columns=OF_COMPANY).reset_index(drop=True)
    pd.testing.assert_frame_equal(alone.drop(columns=OF_COMPANY), mine)
    mine = more[more["metric"] == "m"]
    assert (mine["p"].to_numpy() >= alone["p"].to_numpy()).all()


def test_a_metric_without_direction_is_no_company():
    ratings, scores = two_raters()
    luck = np.random.default_rng(0)
    aside = scores_of({key: luck.normal() for key in scores}, metric="length_of_something")
    better = {**ERRORS, "length_of_something": "neither"}
    alone = certified(scores_of(scores), ratings)
    beside = certified(pd.concat([scores_of(scores), aside]), ratings, better)
    pd.testing.assert_frame_equal(alone, beside)


def test_empty_tables_and_progress(tmp_path):
    ratings, scores, _ = study()
    done = []
    found = certified(scores_of(scores), ratings, progress=lambda n, total: done.append((n, total)))
    assert done == [(1, 3), (2, 3), (3, 3)]
    write(CERTIFICATES, found, tmp_path / "c.parquet")
    assert len(read(CERTIFICATES, tmp_path / "c.parquet")) == 3
    for nothing in (
        certified(scores_of(scores), empty(RATINGS)),
        certified(empty(SCORES), ratings),
    ):
        write(CERTIFICATES, nothing, tmp_path / "n.parquet")
        assert len(nothing) == 0


def test_three_systems_in_order_are_no_proof():
    """Whatever order documents say three systems have: 2 of 6 orders are as extreme."""
    ratings, scores = two_raters(documents=60)
    shift = {"x": 0.0, "y": 3.0, "z": 7.0}
    ratings["value"] += ratings["author"].map(shift)
    scores = {(d, a): value - shift[a] for (d, a), value in scores.items()}
    scores = {(d, a): value + 2.0 * (a == "y") for (d, a), value in scores.items()}
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
    scores, ratings = tables_of([grades], {"m": grades})
    options = OPTIONS.model_copy(update={"coefficient": coefficient})
    found = certified(scores, ratings, options=options)
    row = only(found, level="system")
    assert (row["value"], row["n"]) == (pytest.approx(1), 2)
    assert row["p"] == row["smallest_p"] == 1
    assert not row["trusted"]
