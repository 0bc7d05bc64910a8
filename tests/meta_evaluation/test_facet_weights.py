"""The table of fitted weights, on invented grades and, with a mirror, ScholarSum's."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metassay.core.options import Criterion
from metassay.datasets.ingest import ingest
from metassay.meta_evaluation.facet_weights import facet_weights
from metassay.meta_evaluation.options import MetaOptions
from tests.meta_evaluation.invented_study import rate, ratings_of

OPTIONS = MetaOptions(resamples=60, confidence=0.9, seed=7)
FACETS = {"aim": 3, "outcome": 4}
ENDS = {"overall": (0, 10), "aim": (1, 3), "outcome": (1, 4)}
CRITERIA = {
    n: Criterion(low=low, high=high, better="higher") for n, (low, high) in ENDS.items()
}
METHODS = (
    "complete",
    "complete_non_negative",
    "renormalised",
    "renormalised_non_negative",
)


def rubric(weights, name="r"):
    scales = [("scale", facet, weight) for facet, weight in weights.items()]
    rows = [*scales, ("penalties", "extra", None), ("overall", "overall", None)]
    frame = pd.DataFrame(rows, columns=["kind", "criterion", "weight"])
    return frame.assign(rubric=name, position=range(len(rows))).astype(
        {"weight": "float64"}
    )


EQUAL = rubric({"aim": 1.0, "outcome": 1.0})


def ratings(drop=""):
    """Overall is 10 x the mean of shares by weights 1 : 3, one facet absent now and then."""
    rng = np.random.default_rng(0)
    rows = []
    for place, author in (
        (place, author) for place in range(12) for author in ("one", "two")
    ):
        grades = {
            facet: float(rng.integers(1, high + 1)) for facet, high in FACETS.items()
        }
        if place % 4 == 3:
            grades["aim"] = np.nan
        known = {f: g / FACETS[f] for f, g in grades.items() if np.isfinite(g)}
        weights = [{"aim": 1, "outcome": 3}[f] for f in known]
        grades["overall"] = 10 * np.average(list(known.values()), weights=weights)
        rows += [
            rate(f, author, f"d{place}", "ann", g)
            for f, g in grades.items()
            if f != drop
        ]
    return ratings_of(*rows)


def test_the_weights_that_made_the_scores():
    table = facet_weights(ratings(), CRITERIA, EQUAL, OPTIONS)
    weights = table.set_index(["method", "criterion"])
    assert len(table) == 4 * 2
    for method in ("complete", "renormalised", "renormalised_non_negative"):
        numbers = weights.loc[(method, "aim"), ["weight", "low", "high"]].tolist()
        assert numbers == pytest.approx([0.25] * 3)
        assert weights.loc[(method, "outcome"), "weight"] == pytest.approx(0.75)
    counts = weights[["n", "n_missing", "n_documents"]]
    assert counts.loc[("complete", "aim")].tolist() == [18, 6, 9]
    assert counts.loc[("renormalised", "aim")].tolist() == [24, 0, 12]
    assert set(table["given"]) == {0.5}
    assert set(table["mse"]) == {0.0}
    assert (table["mse_given"] > 0.001).all()


def test_only_studies_that_grade_by_the_whole_rubric_have_weights():
    other = rubric({"aim": 1.0, "elsewhere": 1.0}, "other")
    for rated, weights in (
        (ratings("aim"), EQUAL),
        (ratings("overall"), EQUAL),
        (ratings(), other),
        (ratings(), EQUAL.head(0)),
    ):
        assert facet_weights(rated, CRITERIA, weights, OPTIONS).empty
    both = facet_weights(ratings(), CRITERIA, pd.concat([EQUAL, other]), OPTIONS)
    assert set(both["rubric"]) == {"r"}


def test_one_document_has_no_interval_and_two_texts_no_error():
    """Two weights fit any two texts, which says nothing of a formula; of ratios any one text."""
    many = ratings()
    single = many.assign(author=many["doc_id"] + many["author"], doc_id="d0")
    table = facet_weights(single, CRITERIA, EQUAL, OPTIONS)
    assert table["weight"].notna().all()
    assert table["low"].isna().all()
    table = facet_weights(many[many["doc_id"] == "d0"], CRITERIA, EQUAL, OPTIONS)
    assert set(table["n"]) == {2}
    errors = dict(zip(table["method"], table["mse"].notna(), strict=True))
    assert errors == dict(zip(METHODS, (False, False, True, True), strict=True))


def test_scholarsum_gives_back_the_formula_that_its_scores_came_from(mirror: Path):
    scale = Criterion(low=0, high=1, better="higher")
    facets = {"background": 0.1, "method": 0.3, "result": 0.3, "conclusion": 0.3}
    criteria = dict.fromkeys(("overall", *facets), scale)
    tables = ingest("scholarsum", mirror / "scholarsum_arxiv", criteria)
    table = facet_weights(tables.ratings, criteria, rubric(facets, "bmrc"), OPTIONS)
    assert table["weight"].to_numpy() == pytest.approx(
        table["given"].to_numpy(), abs=1e-9
    )
    assert set(table["mse"]) == {0.0}
    n = dict(zip(table["method"], table["n"], strict=True))
    assert n == dict(zip(METHODS, (166, 166, 200, 200), strict=True))
