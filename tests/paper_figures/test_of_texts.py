"""Tables for figures of single texts' numbers, by hand."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from metassay.paper_figures.derived_tables import (
    SYSTEMS,
    WHOLE_SOURCE,
    aligned_passages,
    by_kind_of_author,
    facet_grades,
    means_of_first,
    rating_violins,
    text_numbers,
)
from metassay.paper_figures.printed import PRINTED_PAPERS


def scores(rows: list[tuple[str, str, str, float]]) -> pd.DataFrame:
    """(doc_id, author, metric, value), of whole texts and no judge."""
    frame = pd.DataFrame(rows, columns=["doc_id", "author", "metric", "value"])
    return frame.assign(part="full", judge="none")


def ratings(rows: list[tuple[str, str, str, float]]) -> pd.DataFrame:
    """(doc_id, author, criterion, value) by one rater of one study."""
    frame = pd.DataFrame(rows, columns=["doc_id", "author", "criterion", "value"])
    return frame.assign(part="full", study="s", unit="text", rater="r")


def test_every_text_of_every_system_counts_once() -> None:
    """Three texts of two systems: not the mean of the systems' means, and no other part."""
    rows = [("d", "x", "words", 10.0), ("d", "y", "words", 40.0), ("e", "x", "words", 10.0)]
    frame = scores([*rows, ("d", "reference", "words", 7.0), ("e", "x", "other", np.nan)])
    part = frame.assign(part="plan", value=999.0)
    found = by_kind_of_author({"scores": pd.concat([frame, part])})
    rows = found.set_index("author").to_dict("index")
    assert rows[SYSTEMS]["value"] == 20.0
    assert rows[SYSTEMS]["n"] == 3
    assert rows["reference"]["value"] == 7.0
    assert rows[SYSTEMS]["low"] < 20.0 < rows[SYSTEMS]["high"]


def test_statements_without_a_passage_count_as_none_aligned() -> None:
    alignments = pd.DataFrame(
        [("d", "x", [3, 1]), ("d", "x", []), ("e", "x", [0]), ("d", "reference", [1] * 5)],
        columns=["doc_id", "author", "passages"],
    ).assign(method="rouge_topk")
    sources = pd.DataFrame({"doc_id": ["d", "e"], "passages": [["a"] * 4, ["a"] * 10]})
    found = aligned_passages({"alignments": alignments, "sources": sources}).set_index("method")
    assert found["value"].to_dict() == {"rouge_topk": 1.0, WHOLE_SOURCE: 6.0}
    assert found["n"].to_dict() == {"rouge_topk": 3, WHOLE_SOURCE: 3}


def test_first_documents_are_by_key_and_beside_them_all() -> None:
    """Document i is worth i: the first 44 have the mean 21.5, all 50 have 24.5."""
    given = [(f"d{i:02d}", "x", "bleu", float(i)) for i in reversed(range(50))]
    rated = [(doc_id, author, "overall", value) for doc_id, author, _, value in given]
    found = means_of_first({"scores": scores(given), "ratings": ratings(rated)})
    values = found.set_index(["documents", "metric"])["value"].to_dict()
    assert PRINTED_PAPERS == 44
    assert values == {
        **{("first", "bleu"): 21.5, ("first", "overall"): 21.5},
        **{("all", "bleu"): 24.5, ("all", "overall"): 24.5},
    }
    assert set(found["n"]) == {44, 50}


def test_ratings_are_drawn_on_their_own_scale() -> None:
    found = rating_violins({"ratings": ratings([("d", "x", "c", 1.0), ("e", "x", "c", 4.0)])})
    assert found["mean"].tolist() == [2.5]
    assert found["all_ratings"].iloc[0] == [1.0, 4.0]


def test_grades_of_a_facet_are_by_people_and_by_metrics() -> None:
    given = scores([("d", "x", "fm_result", 0.5), ("d", "x", "fm_method", np.nan)])
    people = ratings([("d", "x", "result", 0.75), ("d", "x", "overall", 1.0)])
    again = people.assign(rater="q", value=0.25)
    found = facet_grades({"scores": given, "ratings": pd.concat([people, again])})
    assert found.to_dict("records") == [
        {"doc_id": "d", "author": "x", "facet": "result", "by": "fm", "value": 0.5},
        {"doc_id": "d", "author": "x", "facet": "result", "by": "people", "value": 0.5},
    ]


def test_the_spread_over_texts_keeps_every_text() -> None:
    given = scores([(d, a, "numbers", float(n)) for n, (d, a) in enumerate(product("de", "xy"))])
    sources = pd.DataFrame({"doc_id": ["d", "e"], "passages": [["fever cough"], ["fever"]]})
    parts = pd.DataFrame(
        [(d, a, "full", "fever") for d, a in product("de", "xy")],
        columns=["doc_id", "author", "part", "text"],
    )
    found = text_numbers({"scores": given, "sources": sources, "parts": parts})
    own = found.set_index(["quantity", "author"]).to_dict("index")
    assert own["numbers", "x"]["draws"] == [0.0, 2.0]
    assert own["numbers", "y"]["value"] == 2.0
    # "fever" is 1 of the 1 word of the other source for d, 1 of 2 for e; one more is counted.
    fever = [np.log10(1e6 * 2 / 1), np.log10(1e6 * 2 / 2)]
    assert own["popularity", "x"]["draws"] == pytest.approx(fever)
