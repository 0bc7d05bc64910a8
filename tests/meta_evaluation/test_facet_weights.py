"""The table of fitted weights, on invented grades and, with a mirror, ScholarSum's."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metassay.core.options import Criterion
from metassay.datasets.ingest import ingest
from metassay.meta_evaluation.facet_weights import FACET_WEIGHTS, facet_weights
from metassay.meta_evaluation.options import MetaOptions
from metassay.tables.parquet import write

OPTIONS = MetaOptions(resamples=60, confidence=0.9, seed=7)
FACETS = {"aim": 3, "outcome": 4}
CRITERIA = {
    "overall": Criterion(low=0, high=10, better="higher"),
    **{name: Criterion(low=1, high=high, better="higher") for name, high in FACETS.items()},
}


def rubric(weights, name="mine"):
    scales = [("scale", facet, weight) for facet, weight in weights.items()]
    rows = [*scales, ("penalties", "extra", None), ("overall", "overall", None)]
    return pd.DataFrame(
        {"rubric": name, "kind": kind, "criterion": criterion, "position": i, "weight": weight}
        for i, (kind, criterion, weight) in enumerate(rows)
    ).astype({"weight": "float64"})


def rating(document, author, criterion, value, rater="ann"):
    key = ("study", "doc_id", "author", "part", "unit", "rater", "criterion", "value")
    return dict(
        zip(key, ("s", document, author, "full", "text", rater, criterion, value), strict=True)
    )


def ratings(n=12, drop=()):
    """Overall is 10 x the mean of shares by weights 1 : 3, one facet absent now and then."""
    rng = np.random.default_rng(0)
    rows = []
    for place in range(n):
        for author in ("one", "two"):
            grades = {facet: float(rng.integers(1, high + 1)) for facet, high in FACETS.items()}
            if place % 4 == 3:
                grades["aim"] = np.nan
            known = {f: g / FACETS[f] for f, g in grades.items() if np.isfinite(g)}
            weight = {f: {"aim": 1, "outcome": 3}[f] for f in known}
            total = sum(known[f] * weight[f] for f in known) / sum(weight.values())
            rows += [rating(f"d{place}", author, f, g) for f, g in grades.items()]
            rows.append(rating(f"d{place}", author, "overall", 10 * total))
    return pd.DataFrame(row for row in rows if row["criterion"] not in drop)


def test_the_weights_that_made_the_scores(tmp_path):
    given = rubric({"aim": 2.0, "outcome": 2.0})
    found = facet_weights(ratings(), CRITERIA, given, OPTIONS)
    write(FACET_WEIGHTS, found, tmp_path / "facet_weights.parquet")
    weights = found.set_index(["method", "criterion"])
    assert len(found) == 4 * 2
    for method in ("complete", "renormalised", "renormalised_non_negative"):
        assert weights.loc[(method, "aim"), ["weight", "low", "high"]].tolist() == pytest.approx(
            [0.25] * 3
        )
        assert weights.loc[(method, "outcome"), "weight"] == pytest.approx(0.75)
    whole, every = weights.loc[("complete", "aim")], weights.loc[("renormalised", "aim")]
    assert (whole["n"], whole["n_missing"], whole["n_documents"]) == (18, 6, 9)
    assert (every["n"], every["n_missing"], every["n_documents"]) == (24, 0, 12)
    assert set(found["given"]) == {0.5}
    assert set(found["mse"]) == {0.0}
    assert (found["mse_given"] > 0.001).all()


def test_only_studies_that_grade_by_the_whole_rubric_have_weights():
    mine = rubric({"aim": 1.0, "outcome": 1.0})
    assert facet_weights(ratings(drop=["aim"]), CRITERIA, mine, OPTIONS).empty
    assert facet_weights(ratings(drop=["overall"]), CRITERIA, mine, OPTIONS).empty
    other = rubric({"aim": 1.0, "elsewhere": 1.0}, "other")
    assert facet_weights(ratings(), CRITERIA, other, OPTIONS).empty
    assert facet_weights(ratings(), CRITERIA, mine.head(0), OPTIONS).empty
    both = facet_weights(ratings(), CRITERIA, pd.concat([mine, other]), OPTIONS)
    assert set(both["rubric"]) == {"mine"}


def test_one_document_has_weights_and_no_interval():
    many = ratings()
    one = many.assign(author=many["doc_id"] + many["author"], doc_id="d0")
    found = facet_weights(one, CRITERIA, rubric({"aim": 1.0, "outcome": 1.0}), OPTIONS)
    assert found["weight"].notna().all()
    assert found["low"].isna().all()


def test_no_more_texts_than_weights_have_no_error():
    """Two weights fit any two texts, which says nothing of a formula; of ratios any one text."""
    few = ratings().query("doc_id == 'd0'")
    found = facet_weights(few, CRITERIA, rubric({"aim": 1.0, "outcome": 1.0}), OPTIONS)
    assert set(found["n"]) == {2}
    assert dict(zip(found["method"], found["mse"].notna(), strict=True)) == {
        "complete": False,
        "complete_non_negative": False,
        "renormalised": True,
        "renormalised_non_negative": True,
    }


def test_scholarsum_gives_back_the_formula_that_its_scores_came_from(mirror: Path):
    scale = Criterion(low=0, high=1, better="higher")
    facets = {"background": 0.1, "method": 0.3, "result": 0.3, "conclusion": 0.3}
    criteria = {name: scale for name in ("overall", *facets)}
    real = ingest("scholarsum", mirror / "scholarsum_arxiv", criteria)
    found = facet_weights(real.ratings, criteria, rubric(facets, "bmrc"), OPTIONS)
    assert found["weight"].to_numpy() == pytest.approx(found["given"].to_numpy(), abs=1e-9)
    assert set(found["mse"]) == {0.0}
    assert dict(zip(found["method"], found["n"], strict=True)) == {
        "complete": 166,
        "complete_non_negative": 166,
        "renormalised": 200,
        "renormalised_non_negative": 200,
    }
