"""Metrics against counts, beside scipy and numpy on the same invented texts."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr

from metassay.paper_figures.statement_tables import metrics_of_notes

SYSTEMS = ("a", "b", "c")
STUDIES = {"visits": range(24), "films": range(24, 40), "exam": range(40, 60)}
RATES = ["factual_precision", "factual_recall", "factual_f1", "hallucination_rate", "omission_rate"]
COUNTS = ["hallucination_count", "omission_count"]


@pytest.fixture(scope="module")
def frames() -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(8)
    scores, ratings = [], []
    for study, numbers in STUDIES.items():
        criteria = COUNTS if study == "exam" else RATES
        for number, author in product(numbers, (*SYSTEMS, "reference")):
            doc_id, quality = f"d{number:02}", rng.normal()
            for criterion, rater in product(criteria, ("r1", "r2")):
                good = 1 if criterion.startswith("factual") else -1
                value = good * quality + rng.normal(0, 0.4)
                if rng.random() < 0.05:
                    value = np.nan
                ratings.append(("text", study, doc_id, author, "full", rater, criterion, value))
            for metric, judge, noise in (
                *(("best", "none", 0.3), ("good", "none", 0.4), ("poor", "none", 3.0)),
                *(("poor", "j", 5.0), ("errors", "none", 1.0), ("length", "none", 0.1)),
                ("near", "none", 0.4),
            ):
                value = (-1 if metric == "errors" else 1) * quality + rng.normal(0, noise)
                if metric == "good" and rng.random() < 0.3:
                    value = np.nan
                scores.append((doc_id, author, "full", metric, judge, value))
                scores.append((doc_id, author, "plan", metric, judge, rng.normal()))
    keys = ["doc_id", "author", "part"]
    board = [("best", "none", "higher"), ("good", "none", "higher"), ("poor", "none", "higher")]
    board += [("poor", "j", "higher"), ("errors", "none", "lower"), ("length", "none", "neither")]
    board.append(("near", "none", "higher"))
    return {
        "scores": pd.DataFrame(scores, columns=[*keys, "metric", "judge", "value"]),
        "ratings": pd.DataFrame(
            ratings, columns=["unit", "study", *keys, "rater", "criterion", "value"]
        ),
        "leaderboard": pd.DataFrame(board, columns=["metric", "judge", "better"]),
    }


@pytest.fixture(scope="module")
def found(frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    table = metrics_of_notes(frames)
    return table.set_index(["study", "criterion", "metric", "judge"]).sort_index()


def by_hand(
    frames: dict[str, pd.DataFrame], study: str, criterion: str, metric: str, judge: str = "none"
) -> tuple[float, int]:
    ratings, scores = frames["ratings"], frames["scores"]
    means: dict[tuple[str, str], list[float]] = {}
    for row in ratings.itertuples():
        wanted = (row.study, row.criterion) == (study, criterion) and row.author in SYSTEMS
        if wanted and not np.isnan(row.value):
            means.setdefault((row.doc_id, row.author), []).append(row.value)
    pairs = [
        (row.value, float(np.mean(means[row.doc_id, row.author])))
        for row in scores.itertuples()
        if (row.metric, row.judge, row.part) == (metric, judge, "full")
        and (row.doc_id, row.author) in means
        and not np.isnan(row.value)
    ]
    x, y = zip(*pairs, strict=True)
    sign = -1 if metric == "errors" else 1
    return sign * float(pearsonr(x, y)[0]), len(pairs)


def test_each_correlation_is_scipys(frames: dict[str, pd.DataFrame], found: pd.DataFrame) -> None:
    names = [("best", "none"), ("good", "none"), ("poor", "j"), ("errors", "none")]
    for study in STUDIES:
        for criterion in COUNTS if study == "exam" else RATES:
            for metric, judge in names:
                row = found.loc[study, criterion, metric, judge]
                r, n = by_hand(frames, study, criterion, metric, judge)
                assert row["value"] == pytest.approx(r, abs=1e-12)
                assert row["n"] == n
                assert row["low"] <= row["value"] <= row["high"]
    assert "length" not in found.index.get_level_values("metric")


def test_aggregate_and_averages(frames: dict[str, pd.DataFrame], found: pd.DataFrame) -> None:
    for metric in ("best", "errors"):
        r = {key: by_hand(frames, *key, metric)[0] for key in product(("visits", "films"), RATES)}
        r |= {("exam", of): by_hand(frames, "exam", of, metric)[0] for of in COUNTS}
        for study in ("visits", "films"):
            f1, hallucinated, omitted = (r[study, name] for name in RATES[2:])
            row = found.loc[study, "aggregate", metric, "none"]
            assert row["value"] == pytest.approx((2 * f1 - hallucinated - omitted) / 4, abs=1e-12)
        mean = {name: (r["visits", name] + r["films", name]) / 2 for name in RATES}
        for rate, count in zip(RATES[3:], COUNTS, strict=True):
            mean[rate] = (mean[rate] + r["exam", count]) / 2
        for name, value in mean.items():
            assert found.loc["average", name, metric, "none"]["value"] == pytest.approx(value)
        together = (2 * mean[RATES[2]] - mean[RATES[3]] - mean[RATES[4]]) / 4
        row = found.loc["average", "aggregate", metric, "none"]
        assert row["value"] == pytest.approx(together)


def test_the_best_has_the_good_sign(found: pd.DataFrame) -> None:
    every = found.drop(index="good", level="metric")  # which has no place
    recall = every.loc["visits", "factual_recall"]
    omission = every.loc["visits", "omission_rate"]
    assert recall["value"].idxmax() == recall["place"].eq(1).idxmax()
    assert omission["value"].idxmin() == omission["place"].eq(1).idxmax()
    assert sorted(recall["place"]) == [1, 2, 3, 4, 5]


def test_a_metric_of_other_texts_has_no_place(found: pd.DataFrame) -> None:
    """It scores seven in ten texts."""
    good = found.xs("good", level="metric")
    assert good[["place", "p"]].isna().all(axis=None)
    assert good["value"].notna().all()


def test_what_is_far_behind_is_told_and_what_is_near_is_not(found: pd.DataFrame) -> None:
    average = found.drop(index="good", level="metric").loc["average", "aggregate"]
    assert average.loc[("poor", "j"), "p"] < 0.05
    assert average["p"].isna().sum() == 1
    near = average[average["place"] == 2]["p"].iloc[0]
    assert near > average.loc[("poor", "j"), "p"]


def test_without_counts_there_is_nothing(frames: dict[str, pd.DataFrame]) -> None:
    assert metrics_of_notes({**frames, "ratings": frames["ratings"][:0]}).empty
