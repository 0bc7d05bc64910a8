"""Blocks of questions: names of measures, and no question twice in one benchmark."""

from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.scoring.pairing.instruments import INSTRUMENTS
from metassay.scoring.pairing.questions import (
    Questions,
    clashes,
    measures_of,
    questions_of,
    unanswerable,
)


def block(*measures: str) -> Questions:
    return Questions(measures=measures, against="full", borrow=False)


def read(**changes: Any) -> Questions:
    written = {"measures": [], "against": "full", "borrow": False} | changes
    return parse(Questions, written, where="params.yaml > questions > all")


def test_a_block_as_yaml_has_it() -> None:
    both = ["claim_recall", "faithfulness"]
    assert read(measures=both) == block(*both)
    assert read().compat == "none"
    assert read(borrow=True, compat="doclens").compat == "doclens"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"measures": ["claim", "faithfulness", "fluency"]},
            "questions > all > measures: claim, fluency: not known; choose from claim_",
        ),
        (
            {"measures": ["faithfulness"] * 2},
            "measures: a measure is named twice; name it once",
        ),
        *(
            ({"measures": m}, "measures")
            for m in ("faithfulness", {"faithfulness": 1}, [1], None)
        ),
        (
            {"compat": "doclens"},
            "compat: doclens borrows citations; write borrow: true",
        ),
        ({"borrow": True, "compat": "alce"}, "all > compat"),
    ],
)
def test_blocks_that_are_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        read(**changes)


def test_order_is_that_of_the_table_and_shared_questions_come_once() -> None:
    three = block("faithfulness", "citation_precision", "citation_recall")
    names = [measure.description.name for measure in measures_of(three)]
    assert names == ["citation_recall", "citation_precision", "faithfulness"]
    asks = [question.name for question in questions_of(three)]
    assert asks == [
        "citation_recall",
        "citation_alone",
        "citation_rest",
        "faithfulness",
    ]


def test_a_measure_in_two_blocks_clashes_and_so_does_a_shared_question() -> None:
    blocks = {
        "first": block("claim_recall", "citation_recall"),
        "second": block("claim_recall", "faithfulness"),
        "third": block("citation_precision", "claim_recall_grade"),
    }
    both, shared = clashes(blocks, ["top"])
    assert both == (
        "questions > first and second ask the same of one benchmark; name these measures in one of"
        " the two only: claim_recall"
    )
    assert "first and third" in shared
    assert shared.endswith("citation_recall, citation_precision")


def test_a_judge_that_cannot_answer_is_named_with_what_it_cannot() -> None:
    blocks = {
        "first": block("citation_precision", "preference", "preference_position_bias"),
        "second": block("claim_recall"),
    }
    judges = {
        "pairs": ("entailment", "attribution", "attribution_alone", "attribution_rest")
    }
    (problem,) = unanswerable(blocks, judges)
    which = "'preference', which preference, preference_position_bias asks"
    assert (
        f"judges > pairs: cannot answer instrument {which}; choose another judge"
        in problem
    )
    assert unanswerable(blocks, {"all": INSTRUMENTS}) == []
    assert len(unanswerable(blocks, {"none": ()})) == 5
