"""Which texts a regressor learns from, and with which value: tables by hand."""

from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.tuning.options import TrainingOptions
from metassay.tuning.run import rated_texts, rating_rows

PARTS: list[tuple[str, str, str, str | None]] = [
    ("d", "reference", "full", " Knee pain [1].\n"),
    ("d", "reference:2", "full", "A knee that hurts."),
    ("d", "reference", "plan", "Rest."),
    ("d", "a", "full", "The knee hurts [0][2]. "),
    ("d", "a", "plan", "Ice."),
    ("d", "b", "full", "[3]"),
    ("d", "c", "full", None),
    ("d", "e", "full", "Elbow pain."),
    ("d", "f", "full", "No pain."),
    ("n", "a", "full", "Fever."),
]
RATINGS: list[tuple[str, str, str, str, str, str, str, float | None]] = [
    ("one", "d", "a", "full", "text", "ann", "quality", 0.5),
    ("one", "d", "a", "full", "text", "ben", "quality", 1.0),
    ("one", "d", "a", "full", "text", "cid", "quality", None),
    ("two", "d", "a", "full", "text", "ann", "quality", 0.0),
    ("one", "d", "a", "full", "text", "ann", "style", 0.9),
    ("one", "d", "a", "full", "statement:0", "ann", "quality", 0.9),
    ("one", "d", "a", "plan", "text", "ann", "quality", 0.9),
    ("one", "d", "b", "full", "text", "ann", "quality", 0.9),
    ("one", "d", "c", "full", "text", "ann", "quality", 0.9),
    ("one", "d", "e", "full", "text", "ann", "quality", None),
    ("one", "d", "f", "full", "text", "ann", "style", 0.9),
    ("one", "d", "reference", "full", "text", "ann", "quality", 0.9),
    ("one", "d", "reference:2", "full", "text", "ann", "quality", 0.9),
    ("one", "n", "a", "full", "text", "ann", "quality", 0.9),
]


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    parts = pd.DataFrame(PARTS, columns=["doc_id", "author", "part", "text"])
    heads = ["study", "doc_id", "author", "part", "unit", "rater", "criterion", "value"]
    return parts, pd.DataFrame(RATINGS, columns=heads)


def test_texts_of_systems_have_the_mean_rating_and_the_reference_beside_them() -> None:
    rows, (note,) = rated_texts(*tables(), "quality")
    found: list[dict[str, Any]] = rows.to_dict("records")
    assert found == [
        {"doc_id": "d", "author": "a", "text": "The knee hurts.", "value": 0.5}
        | {"context": "Knee pain."}
    ]
    assert note == (
        "of 6 texts of systems 5 are left out: 2 are empty or failed, 1 have no reference, 2 have"
        " no rating of quality"
    )


def test_without_a_document_to_hold_out_nothing_is_trained() -> None:
    with pytest.raises(BadInput, match="documents to train on: 1, of which 1 would be held out"):
        rating_rows(*tables(), "quality", TrainingOptions(seed=1))
