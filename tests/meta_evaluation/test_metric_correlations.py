"""Metrics and criteria with each other: against pandas, and what takes part."""

import numpy as np
import pandas as pd
import pytest

from metassay.core.options import Criterion
from metassay.meta_evaluation.correlations import METRIC_CORRELATIONS, metric_correlations
from metassay.meta_evaluation.study import studies
from metassay.tables.parquet import write

CRITERIA = {
    "errors": Criterion(low=0, high=9, better="lower"),
    "realism": Criterion(low=0, high=9, better="higher"),
}
BETTER = {"good": "higher", "bad": "lower", "words": "neither"}


def invented():
    rng = np.random.default_rng(5)
    texts = [(f"d{d}", a) for d in range(9) for a in ("one", "two", "three")]
    values = pd.DataFrame(
        {name: rng.integers(0, 9, len(texts)) * 1.0 for name in (*BETTER, *CRITERIA)},
        pd.MultiIndex.from_tuples(texts, names=["doc_id", "author"]),
    )
    values.loc[("d1", "one"), "good"] = np.nan
    values.loc[("d2", "two"), "errors"] = np.nan
    values.loc[("d3", "two"), ["errors", "realism"]] = np.nan  # nobody rated it
    return values


def tables(values):
    long = values.stack().rename_axis(["doc_id", "author", "name"]).reset_index(name="value")
    long = long.assign(part="full", judge="none", recipe="r", study="s", unit="text", rater="ann")
    scores, ratings = (long[long["name"].isin(names)] for names in (BETTER, CRITERIA))
    return scores.rename(columns={"name": "metric"}), ratings.rename(columns={"name": "criterion"})


def test_agrees_with_pandas(tmp_path):
    values = invented()
    scores, ratings = tables(values)
    found = metric_correlations(studies(scores, ratings, CRITERIA, BETTER))
    write(METRIC_CORRELATIONS, found, tmp_path / "metric_correlations.parquet")
    assert len(found) == 3 * 6  # of 4 scorers; words are neither better nor worse
    used = values.dropna(how="all", subset=list(CRITERIA))
    for row in found.to_dict("records"):
        a, b = used[row["first"]], used[row["second"]]
        sign = (-1) ** ((row["first"] in ("errors", "bad")) + (row["second"] in ("errors", "bad")))
        expected = sign * a.corr(b, method=row["coefficient"])
        assert row["value"] == pytest.approx(expected), row
        assert row["n"] == (a.notna() & b.notna()).sum()
        assert row["n_missing"] == (a.notna() ^ b.notna()).sum()
    first = found[found["coefficient"] == "kendall"][["first_is", "first", "second"]]
    assert first.to_numpy().tolist()[:3] == [
        ["people", "errors", "realism"],
        ["people", "errors", "bad"],
        ["people", "errors", "good"],
    ]


def test_without_ratings_there_is_nothing():
    scores, ratings = tables(invented())
    assert metric_correlations(studies(scores, ratings.head(0), CRITERIA, BETTER)).empty
