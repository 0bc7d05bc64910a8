import numpy as np
import pandas as pd
import pytest

from metassay.meta_evaluation.agreement import AGREEMENT, agreement
from metassay.meta_evaluation.correlations import CORRELATIONS
from metassay.statistics.correlation import correlate
from metassay.statistics.jackknife import interval, leave_out
from metassay.tables.parquet import empty, read, write
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from tests.meta_evaluation.invented_study import (
    CRITERIA,
    OPTIONS,
    correlated,
    only,
    rate,
    ratings_of,
    scores_of,
    studied,
    study,
)


def test_correlations_by_hand():
    ratings = ratings_of(
        *(
            rate("errors", author, doc, "r", value)
            for doc, values in {"d1": (1, 2, 3), "d2": (2, 2, 9), "d3": (5, 5, 5)}.items()
            for author, value in zip("xyz", values, strict=True)
        )
    )
    scores = scores_of(
        {
            ("d1", "x"): 3.0,
            ("d1", "y"): 2.0,
            ("d1", "z"): 1.0,
            ("d2", "x"): 1.0,
            ("d2", "y"): 3.0,
            ("d2", "z"): None,  # its text failed
            ("d3", "x"): 1.0,
            ("d3", "y"): 2.0,
            ("d1", "reference"): 9.0,  # was not rated and takes no part
            ("d1", "w"): 9.0,
            ("d9", "x"): 9.0,
        }
    )
    found = correlated(scores, ratings)
    assert len(found) == 12
    # Document d1: all three pairs reversed, -1. d2: y - x alone, people tie; d3: people tie.
    row = only(found, level="document", coefficient="kendall")
    assert (row["value"], row["n"], row["n_undefined"], row["n_missing"]) == (-1, 1, 2, 2)
    assert np.isnan(row["p"])
    assert np.isnan(row["low"])  # one document alone says nothing about others
    # Systems: x scores (3 + 1 + 1)/3 against (1 + 2 + 5)/3; y (2 + 3 + 2)/3 against 9/3; z has
    # both in d1 only: 1 against 3. Pairs: xy concordant, xz reversed, yz tied by people.
    row = only(found, level="system", coefficient="kendall")
    assert row["value"] == pytest.approx(0)
    assert (row["n"], row["n_undefined"], row["n_missing"]) == (3, 0, 2)
    row = only(found, level="global", coefficient="pearson")
    x, y = (3, 2, 1, 1, 3, 1, 2), (1, 2, 3, 2, 2, 5, 5)
    assert row["value"] == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert (row["n"], row["n_undefined"], row["n_missing"]) == (7, 0, 2)
    assert row["low"] <= row["value"] <= row["high"]
    assert row["recipe"] == "m|v1"


def test_the_sign_is_true():
    ratings, scores, _ = study()
    found = correlated(scores_of(scores), ratings)
    assert (found["value"][found["level"] == "global"] < -0.5).all()
    # p is of the chosen coefficient alone: of 200 random orders none is as extreme.
    tested = found[(found["level"] == "global") & found["p"].notna()]
    assert list(tested["coefficient"]) == ["pearson"]
    assert (tested["p"] < 0.02).all()


def test_each_metric_judge_and_part_on_its_own():
    ratings, scores, errors = study()
    section = ratings.assign(part="plan")
    both = pd.concat([ratings, section, ratings.assign(study="s2")])
    every = pd.concat(
        [
            scores_of(scores),
            scores_of(errors, judge="nli"),
            scores_of(errors, part="plan"),
            scores_of(errors, part="other"),
        ]
    )
    done = []
    found = correlated(every, both, progress=lambda n, of: done.append((n, of)))
    groups = found.groupby(["study", "part", "metric", "judge"]).size()
    assert groups.to_dict() == {
        ("s1", "full", "m", "nli"): 12,
        ("s1", "full", "m", "none"): 12,
        ("s1", "plan", "m", "none"): 12,
        ("s2", "full", "m", "nli"): 12,
        ("s2", "full", "m", "none"): 12,
        ("s1", "each", "m", "none"): 4,
    }
    assert done == [(n, 3) for n in (1, 2, 3)]
    of_errors = found[(found["part"] == "plan") | (found["judge"] == "nli")]
    # With ties, even a metric that equals the ratings does not reach 1 by tau-c.
    of_errors = of_errors[of_errors["coefficient"] != "kendall_c"]
    assert of_errors["value"].to_numpy() == pytest.approx(1)


def test_nothing_hangs_on_order_or_company(tmp_path):
    ratings, scores, errors = study()
    alone = correlated(scores_of(scores), ratings)
    company = pd.concat([scores_of(errors, metric="a"), scores_of(scores)])
    others = pd.concat([ratings, ratings.assign(study="s0")])
    shuffled = correlated(
        company.sample(frac=1, random_state=1),
        others.sample(frac=1, random_state=2),
    )
    mine = shuffled[(shuffled["study"] == "s1") & (shuffled["metric"] == "m")]
    write(CORRELATIONS, alone, tmp_path / "alone.parquet")
    write(CORRELATIONS, mine, tmp_path / "mine.parquet")
    assert (tmp_path / "alone.parquet").read_bytes() == (tmp_path / "mine.parquet").read_bytes()
    assert len(read(CORRELATIONS, tmp_path / "mine.parquet")) == 12
    reseeded = OPTIONS.model_copy(update={"seed": 1})
    again = correlated(scores_of(scores), ratings, options=reseeded)
    assert (again["value"] == alone["value"]).all()
    # Intervals leave out and draw nothing; only the orders tried hang on the seed.
    pd.testing.assert_frame_equal(again.drop(columns="p"), alone.drop(columns="p"))
    assert (again["p"].dropna() != alone["p"].dropna()).any()


def test_a_metric_doubled_has_the_same_numbers():
    ratings, scores, _ = study()
    doubled = {key: 2 * value for key, value in scores.items()}
    every = pd.concat([scores_of(scores), scores_of(doubled, metric="twice")])
    found = correlated(every, ratings)
    numbers = ["value", "low", "high", "low_these_systems", "high_these_systems", "p"]
    mine = [found.loc[found["metric"] == m, numbers].to_numpy() for m in ("m", "twice")]
    assert mine[0] == pytest.approx(mine[1], abs=1e-12, nan_ok=True)


def test_one_document_says_nothing_of_others():
    ratings, scores, _ = study(documents=1)
    found = correlated(scores_of(scores), ratings)
    assert found["value"].notna().any()
    ends = ["low", "high", "low_these_systems", "high_these_systems"]
    assert found[ends].isna().to_numpy().all()


def test_equal_ratings_are_tied_whatever_the_order_of_summation():
    # Three raters give x .1 .2 .3 in other orders; the mean of floats depends on the order.
    ratings = ratings_of(
        *(
            rate("errors", author, "d", rater, value)
            for author, values in {
                "x": (0.1, 0.2, 0.3),
                "y": (0.3, 0.2, 0.1),
                "z": (1, 1, 1),
            }.items()
            for rater, value in zip(("r1", "r2", "r3"), values, strict=True)
        )
    )
    scores = scores_of({("d", "x"): 1.0, ("d", "y"): 2.0, ("d", "z"): 3.0})
    row = only(correlated(scores, ratings), level="global", coefficient="kendall")
    assert row["value"] == pytest.approx(2 / np.sqrt(6))


def test_a_metric_without_a_shared_text_has_rows_that_say_so():
    ratings, scores, _ = study()
    elsewhere = {(f"other {doc}", author): value for (doc, author), value in scores.items()}
    found = correlated(scores_of(elsewhere), ratings)
    assert found["value"].isna().all()
    assert (found["n"] == 0).all()
    assert (found["n_missing"] == 18).all()
    assert found[["low", "low_these_systems", "p"]].isna().to_numpy().all()


def test_empty_tables(tmp_path):
    ratings, scores, _ = study()
    for found in (
        correlated(scores_of(scores), empty(RATINGS)),
        correlated(empty(SCORES), ratings),
    ):
        assert len(found) == 0
        write(CORRELATIONS, found, tmp_path / "c.parquet")
    found = agreement(empty(RATINGS), CRITERIA, OPTIONS)
    write(AGREEMENT, found, tmp_path / "a.parquet")
    assert len(read(AGREEMENT, tmp_path / "a.parquet")) == 0


def test_values_are_those_of_correlate():
    ratings, scores, errors = study(seed=3)
    found = correlated(scores_of(scores), ratings)
    metric, human = (
        np.array([[values[f"d{d}", a] for d in range(6)] for a in "xyz"])
        for values in (scores, errors)
    )
    for row in found.to_dict("records"):
        expected = correlate(metric, human, row["level"], row["coefficient"])
        # All but its p, which takes texts for independent.
        for name in ("value", "n", "n_undefined", "n_missing"):
            assert row[name] == pytest.approx(getattr(expected, name))


def test_grouped_by_part_by_hand():
    """Two parts of the same four texts: correlations 1 and -1/3 by tau, mean 1/3."""
    plan = {("d1", "x"): 1.0, ("d1", "y"): 2.0, ("d2", "x"): 3.0, ("d2", "y"): 4.0}
    notes = {("d1", "x"): 2.0, ("d1", "y"): 1.0, ("d2", "x"): 4.0, ("d2", "y"): 3.0}
    lines = [
        rate("errors", author, doc, "r", value, part=part)
        for part in ("plan", "notes")
        for (doc, author), value in plan.items()
    ]
    lines.append(rate("errors", "x", "d3", "r", 9, part="plan"))  # a text without a score
    every = pd.concat([scores_of(plan, part="plan"), scores_of(notes, part="notes")])
    found = correlated(every, ratings_of(*lines))
    row = only(found, level="grouped", coefficient="kendall")
    # notes orders 2 1 4 3 against 1 2 3 4: four of six pairs alike.
    assert row["value"] == pytest.approx((1 + 1 / 3) / 2)
    assert (row["part"], row["n"], row["n_undefined"], row["n_missing"]) == ("each", 2, 0, 1)
    # The parts were rated on other documents, and never is there an interval for other systems.
    assert np.isnan([row["low_these_systems"], row["low"], row["p"]]).all()
    lines.append(rate("errors", "x", "d3", "r", 9, part="notes"))
    row = only(correlated(every, ratings_of(*lines)), level="grouped", coefficient="kendall")
    assert row["low_these_systems"] <= row["value"] <= row["high_these_systems"]
    assert np.isnan(row["low"])


def test_intervals_are_by_leaving_out():
    ratings, scores, _ = study(documents=12)
    found = correlated(scores_of(scores), ratings)
    (whole,) = studied(scores_of(scores), ratings)
    for row in found.to_dict("records"):
        left = leave_out(whole.metrics[0].values, whole.human, row["level"], row["coefficient"])
        for over, ends in (
            ("both", ("low", "high")),
            ("documents", ("low_these_systems", "high_these_systems")),
        ):
            expected = interval(left, confidence=OPTIONS.confidence, over=over)[:2]
            assert [row[end] for end in ends] == pytest.approx(expected, nan_ok=True)
    # Three systems have an interval for other documents, but at system level none for others.
    row = only(found, level="system", coefficient="pearson")
    assert np.isnan(row["low"])
    assert row["low_these_systems"] < row["value"] < row["high_these_systems"]
