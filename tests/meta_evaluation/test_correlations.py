import numpy as np
import pandas as pd
import pytest

from metassay.contract import empty, read, write
from metassay.meta_evaluation.agreement import agreement
from metassay.statistics.correlation import correlate
from metassay.statistics.resampling import interval
from metassay.tables import AGREEMENT, CORRELATIONS, RATINGS, SCORES
from tests.meta_evaluation.invented_study import (
    CRITERIA,
    OPTIONS,
    correlated,
    one,
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
    row = one(found, level="document", coefficient="kendall")
    assert (row["value"], row["n"], row["n_undefined"], row["n_missing"]) == (-1, 1, 2, 2)
    assert np.isnan(row["p"])
    assert np.isnan(row["low"])  # one document alone says nothing about others
    # Systems: x scores (3 + 1 + 1)/3 against (1 + 2 + 5)/3; y (2 + 3 + 2)/3 against 9/3; z has
    # both in d1 only: 1 against 3. Pairs: xy concordant, xz reversed, yz tied by people.
    row = one(found, level="system", coefficient="kendall")
    assert row["value"] == pytest.approx(0)
    assert (row["n"], row["n_undefined"], row["n_missing"]) == (3, 0, 2)
    row = one(found, level="global", coefficient="pearson")
    x, y = (3, 2, 1, 1, 3, 1, 2), (1, 2, 3, 2, 2, 5, 5)
    assert row["value"] == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert (row["n"], row["n_undefined"], row["n_missing"]) == (7, 0, 2)
    assert row["low"] <= row["value"] <= row["high"]
    assert row["recipe"] == "m|v1"
    assert set(found["n_resamples"][found["level"] == "global"]) <= set(range(150, 201))


def test_the_sign_is_true():
    ratings, scores, _ = study()
    found = correlated(scores_of(scores), ratings)
    assert (found["value"][found["level"] == "global"] < -0.5).all()
    assert (found["p"][found["level"] == "global"] < 0.01).all()


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
    assert done == [(n, 5) for n in (1, 2, 3, 4, 5)]
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
    assert (again["low"] != alone["low"]).any()


def test_metrics_share_draws():
    ratings, scores, _ = study()
    doubled = {key: 2 * value for key, value in scores.items()}
    every = pd.concat([scores_of(scores), scores_of(doubled, metric="twice")])
    found = correlated(every, ratings)
    ends = [found.loc[found["metric"] == m, ["low", "high"]].to_numpy() for m in ("m", "twice")]
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)


@pytest.mark.parametrize("resample", ["documents", "systems", "both"])
def test_resampling_is_as_asked(resample):
    ratings, scores, _ = study(documents=1)
    options = OPTIONS.model_copy(update={"resample": resample})
    found = correlated(scores_of(scores), ratings, options=options)
    known = not np.isnan(one(found, level="global", coefficient="pearson")["low"])
    assert known == (resample == "systems")


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
    row = one(correlated(scores, ratings), level="global", coefficient="kendall")
    assert row["value"] == pytest.approx(2 / np.sqrt(6))


def test_a_metric_without_a_shared_text_has_rows_that_say_so():
    ratings, scores, _ = study()
    elsewhere = {(f"other {doc}", author): value for (doc, author), value in scores.items()}
    found = correlated(scores_of(elsewhere), ratings)
    assert found["value"].isna().all()
    assert (found["n"] == 0).all()
    assert (found["n_missing"] == 18).all()
    assert (found["n_resamples"] == 0).all()


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
        assert [row[name] for name in expected._fields] == pytest.approx(
            list(expected), nan_ok=True
        )


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
    row = one(found, level="grouped", coefficient="kendall")
    # notes orders 2 1 4 3 against 1 2 3 4: four of six pairs alike.
    assert row["value"] == pytest.approx((1 + 1 / 3) / 2)
    assert (row["part"], row["n"], row["n_undefined"], row["n_missing"]) == ("each", 2, 0, 1)
    assert np.isnan(row["low"])  # the parts were rated on other documents
    lines.append(rate("errors", "x", "d3", "r", 9, part="notes"))
    row = one(correlated(every, ratings_of(*lines)), level="grouped", coefficient="kendall")
    assert row["low"] <= row["value"] <= row["high"]


def test_intervals_are_made_as_asked():
    ratings, scores, _ = study(documents=12)
    by = {
        method: correlated(
            scores_of(scores), ratings, options=OPTIONS.model_copy(update={"interval": method})
        )
        for method in ("percentile", "bca")
    }
    (whole,) = studied(scores_of(scores), ratings)
    for level in ("global", "document", "system"):
        found = {m: one(f, level=level, coefficient="pearson") for m, f in by.items()}
        expected = interval(
            whole.metrics[0].values,
            whole.human,
            level,
            "pearson",
            draws=whole.draws,
            confidence=OPTIONS.confidence,
            method="bca",
        )
        assert [found["bca"][end] for end in ("low", "high")] == pytest.approx(
            [expected.low, expected.high], nan_ok=True
        )
        assert found["bca"]["low"] != found["percentile"]["low"]
