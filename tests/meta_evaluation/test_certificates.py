import numpy as np
import pandas as pd
import pytest

from metassay.contract import empty, read, write
from metassay.meta_evaluation.certificates import certificates
from metassay.meta_evaluation.correlations import correlations
from metassay.statistics.ceiling import against_ceiling
from metassay.statistics.correlation import LEVELS
from metassay.statistics.pairwise import calibrate, pairwise_accuracy
from metassay.statistics.power import detectable_correlation
from metassay.tables import CERTIFICATES, CONFOUNDS, RATINGS, SCORES
from tests.meta_evaluation.invented_study import (
    OPTIONS,
    one,
    rate,
    ratings_of,
    scores_of,
    studied,
    study,
)

ERRORS = {"m": "higher", "errors_found": "lower", "words": "neither", "z": "higher"}
STRICT = OPTIONS.model_copy(update={"confidence": 0.99})


def certified(scores, ratings, better=ERRORS, confounds=None, options=OPTIONS, **more):
    found = studied(scores, ratings, options=options, better=better)
    known = empty(CONFOUNDS) if confounds is None else confounds
    return certificates(found, correlations(found, options), known, options, **more)


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
    assert list(found["level"]) == list(LEVELS) * 2
    plain = correlations(studied(every, ratings, better=ERRORS), OPTIONS)
    for metric, sign in (("m", -1), ("errors_found", 1)):
        row = one(found, metric=metric, level="global")
        key = {"metric": metric, "level": "global", "coefficient": "pearson"}
        same = one(plain, **key)
        # Errors: less is better. m rises as they fall; errors_found counts them, less is better.
        assert row["value"] == sign * same["value"] > 0
        assert sorted([row["low"], row["high"]]) == sorted(
            [sign * same["low"], sign * same["high"]]
        )
        assert row["low"] < row["value"] <= row["high"]
        assert row["verdict"] == "shown"


def test_accuracy_against_chance_by_hand():
    """One document of three systems: people order x < y < z, the metric x < z < y."""
    lines = [
        rate("grade", author, "d1", "amy", value)
        for author, value in (("x", 1), ("y", 2), ("z", 3))
    ]
    scores = {("d1", "x"): 1.0, ("d1", "y"): 3.0, ("d1", "z"): 2.0}
    found = certified(scores_of(scores), ratings_of(*lines))
    row = one(found, level="document")
    assert row["accuracy"] == pytest.approx(2 / 3)
    assert (row["epsilon"], row["n_pairs"]) == (0, 3)
    # Dealt at random, the three scores get 3 right once, 2 twice, 1 twice and 0 once of six times;
    # no epsilon helps, as people tie nothing.
    assert row["chance"] == pytest.approx(0.5, abs=0.1)
    assert np.isnan(one(found, level="global")["accuracy"])
    assert "It orders or ties 67% of 3 pairs of texts as people do" in row["sentence"]


def test_numbers_are_those_of_the_statistics():
    ratings, scores = two_raters()
    (studied_one,) = studied(scores_of(scores), ratings, better=ERRORS)
    found = certified(scores_of(scores), ratings)
    metric, human = studied_one.metrics[0].values, -studied_one.human
    for level in LEVELS:
        row = one(found, level=level)
        ceiling = against_ceiling(
            metric,
            -studied_one.raters,
            level,
            "pearson",
            draws=studied_one.draws,
            confidence=OPTIONS.confidence,
        )
        assert row["ceiling"] == pytest.approx(ceiling.human.value)
        assert row["against_ceiling_low"] == pytest.approx(ceiling.low, nan_ok=True)
        if level != "global":
            epsilon = calibrate(metric, human, level)
            accuracy = pairwise_accuracy(metric, human, level, epsilon=epsilon)
            assert row["accuracy"] == pytest.approx(accuracy.value)
            assert row["chance"] < row["accuracy"] or level == "system"
        if level != "document":
            smallest = detectable_correlation(row["n"], alpha=1 - OPTIONS.confidence)
            assert row["detectable"] == pytest.approx(smallest, nan_ok=True)
    assert one(found, level="document")["n_pairs"] == 30 * 3
    assert one(found, level="system")["n_pairs"] == 3


def test_like_a_rater():
    ratings, scores = two_raters()
    row = one(certified(scores_of(scores), ratings), level="global")
    assert row["verdict"] == "like a rater"
    assert "the metric is not told apart from that" in row["sentence"]
    rng = np.random.default_rng(5)
    worse = {key: value + rng.normal(0, 6) for key, value in scores.items()}
    row = one(certified(scores_of(worse), ratings), level="global")
    assert row["verdict"] == "shown"
    assert row["against_ceiling_high"] < 0
    assert "the metric stays below that" in row["sentence"]


def test_contrary_not_shown_and_undefined():
    ratings, scores, errors = study(documents=20)
    rng = np.random.default_rng(4)
    every = pd.concat(
        [
            scores_of(errors),  # more errors, higher score
            scores_of(dict.fromkeys(scores, 1.0), metric="errors_found"),
            scores_of({key: rng.normal() for key in scores}, metric="z"),
        ]
    )
    found = certified(every, ratings)
    at = {metric: one(found, metric=metric, level="global") for metric in set(found["metric"])}
    assert {metric: row["verdict"] for metric, row in at.items()} == {
        "m": "contrary",
        "errors_found": "undefined",
        "z": "not shown",
    }
    assert at["m"]["sentence"].startswith(
        "Over all texts, m goes against low errors: Pearson −1.00"
    )
    assert at["errors_found"]["sentence"] == (
        "Over all texts, nothing can be said of errors_found and low errors: there is no"
        " correlation (60 texts)."
    )
    assert at["z"]["detectable_difference"] > 0 or np.isnan(at["z"]["detectable_difference"])


def test_a_confound_is_named_if_half_goes_with_it():
    ratings, scores, _ = study(documents=20)
    value = one(certified(scores_of(scores), ratings), level="global")["value"]

    def given(**left):
        rows = [
            {
                "study": "s1",
                "criterion": "errors",
                "part": "full",
                "metric": "m",
                "judge": "none",
                "confound": confound,
                "statistic": statistic,
                "value": left_over,
            }
            for confound, left_over in left.items()
            for statistic in ("partial", "metric")
        ]
        return one(
            certified(scores_of(scores), ratings, confounds=pd.DataFrame(rows)), level="global"
        )

    row = given(coverage=0.51 * value, words=0.9 * value)
    assert (row["confound"], row["given_confound"] is None) == (None, False)
    row = given(coverage=0.49 * value, words=0.2 * value, density=np.nan)
    assert (row["confound"], row["given_confound"]) == ("words", 0.2 * value)
    assert "Beware: with words held constant, .1" in row["sentence"]


def test_nothing_hangs_on_order_or_company(tmp_path):
    ratings, scores = two_raters()
    alone = certified(scores_of(scores), ratings)
    company = pd.concat([scores_of(scores, metric="z"), scores_of(scores)])
    more = certified(company.sample(frac=1, random_state=1), ratings.sample(frac=1, random_state=2))
    mine = more[more["metric"] == "m"].assign(detectable_difference=np.nan)
    alone["detectable_difference"] = np.nan  # against the best of the others: that is company
    write(CERTIFICATES, alone, tmp_path / "alone.parquet")
    write(CERTIFICATES, mine, tmp_path / "mine.parquet")
    assert (tmp_path / "alone.parquet").read_bytes() == (tmp_path / "mine.parquet").read_bytes()


def test_empty_tables_and_progress(tmp_path):
    ratings, scores, _ = study()
    done = []
    found = certified(scores_of(scores), ratings, progress=lambda n, total: done.append((n, total)))
    assert done == [(1, 1)]
    write(CERTIFICATES, found, tmp_path / "c.parquet")
    assert len(read(CERTIFICATES, tmp_path / "c.parquet")) == 3
    for nothing in (
        certified(scores_of(scores), empty(RATINGS)),
        certified(empty(SCORES), ratings),
    ):
        write(CERTIFICATES, nothing, tmp_path / "n.parquet")
        assert len(nothing) == 0


def test_three_systems_in_order_are_no_proof():
    """Every resample of documents keeps the order of the systems; there are just three of them."""
    ratings, scores = two_raters(documents=60)
    shift = {"x": 0.0, "y": 3.0, "z": 7.0}
    ratings["value"] += ratings["author"].map(shift)
    scores = {(d, a): value - shift[a] for (d, a), value in scores.items()}
    scores = {(d, a): value + 2.0 * (a == "y") for (d, a), value in scores.items()}
    row = one(certified(scores_of(scores), ratings, options=STRICT), level="system")
    assert row["low"] > 0
    assert row["p"] > 0.01
    assert row["verdict"] == "not shown"
    assert "3 systems, p = ." in row["sentence"]


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall", "kendall_c"])
def test_two_systems_in_order_show_nothing_of_systems(coefficient):
    """Any two systems correlate by 1 or -1, in every resample of their documents."""
    rng = np.random.default_rng(2)
    keys = [(f"d{d:02}", a) for d in range(40) for a in ("x", "y")]
    grades = {(d, a): 2.0 + 2.0 * (a == "y") + float(rng.integers(0, 2)) for d, a in keys}
    ratings = ratings_of(*(rate("grade", a, d, "amy", v) for (d, a), v in grades.items()))
    options = OPTIONS.model_copy(update={"coefficient": coefficient})
    found = certified(scores_of(grades), ratings, options=options)
    row = one(found, level="system")
    assert (row["value"], row["low"], row["n"]) == (pytest.approx(1), pytest.approx(1), 2)
    assert row["verdict"] == "not shown"
    assert one(found, level="global")["verdict"] == "shown"
