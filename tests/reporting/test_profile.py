"""What texts are like: popularity by hand, differences to the reference, failed texts."""

import math

import pandas as pd
import pytest

from metassay.format.frames import records
from metassay.meta_evaluation.summaries import popularity, profile_table
from metassay.statistics.document_means import Resampling

HOW = Resampling(resamples=200, confidence=0.95, seed=1)
SOURCES = pd.DataFrame(
    {"doc_id": ["d1", "d2"], "passages": [["Fever, fever.", "A cough."], ["the rash"]]}
)


def texts_of(*found):
    """Parts `full` of (doc_id, author, text)."""
    frame = pd.DataFrame(found, columns=["doc_id", "author", "text"])
    return frame.assign(part="full")


def scores_of(metric, *found):
    frame = pd.DataFrame(found, columns=["doc_id", "author", "value"])
    return frame.assign(part="full", metric=metric, judge="none").astype({"value": "float64"})


def test_popularity_by_hand():
    texts = texts_of(
        ("d1", "reference", "Cough."),
        ("d2", "reference", "It is fever [0]."),
        ("d1", "a", "Fever, rash and pain [3]."),
        ("d2", "a", "Cough"),
        ("d1", "b", None),
        ("d2", "b", "It was the."),
    )
    found = popularity(SOURCES, texts)
    # Of d1 the other document has 2 content words: rash once, fever once. One is added to each.
    six = math.log10(1e6 * 2 / 2)
    assert found["d1", "a"] == pytest.approx((six + six + math.log10(1e6 * 1 / 2)) / 3)
    # Of d2 it has 4: fever twice, cough twice.
    assert found["d2", "a"] == pytest.approx(math.log10(1e6 * 3 / 4))
    assert found["d2", "reference"] == pytest.approx(math.log10(1e6 * 3 / 4))
    assert found["d1", "b"] is None
    assert found["d2", "b"] is None


def test_popularity_of_a_single_document_is_unknown():
    found = popularity(SOURCES[:1], texts_of(("d1", "a", "fever"), ("d1", "reference", "fever")))
    assert set(found.values()) == {None}


def test_differences_are_of_the_same_documents_and_missing_texts_are_counted():
    scores = scores_of(
        "words",
        *(("d1", "reference", 10), ("d2", "reference", 20), ("d3", "reference", 60)),
        *(("d1", "a", 7), ("d2", "a", 18), ("d3", "a", None)),
    )
    table = profile_table(SOURCES, texts_of(), scores, HOW)
    reference, a = records(table)
    assert (reference["author"], reference["mean"], reference["median"]) == ("reference", 30, 20)
    assert reference["difference"] is None
    assert (a["mean"], a["n"], a["n_missing"]) == (12.5, 2, 1)
    assert (a["difference"], a["n_difference"]) == (-2.5, 2)  # -3 and -2
    assert (a["difference_low"], a["difference_high"]) == (-3, -2)
    assert (a["p10"], a["p90"]) == (pytest.approx(8.1), pytest.approx(16.9))


def test_without_a_reference_there_is_no_difference_and_without_scores_no_row():
    scores = scores_of("numbers", ("d1", "a", 1), ("d2", "a", 3))
    (a,) = records(profile_table(SOURCES, texts_of(), scores, HOW))
    assert a["mean"] == 2
    assert a["difference"] is None
    assert profile_table(SOURCES, texts_of(), scores[:0], HOW).empty
