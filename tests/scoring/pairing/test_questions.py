"""Blocks of questions: names of measures, and no question twice in one benchmark."""

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


def read(measures: object) -> Questions:
    given = {"measures": measures, "against": "full", "borrow": False}
    return parse(Questions, given, where="params.yaml > questions > all")


def test_a_block_as_yaml_has_it() -> None:
    assert read(["claim_recall", "faithfulness"]) == block("claim_recall", "faithfulness")


def test_an_unknown_measure_is_bad_input_that_says_which_there_are() -> None:
    where = (
        "params.yaml > questions > all > measures: claim, fluency: not known; choose from claim_"
    )
    with pytest.raises(BadInput, match=where):
        read(["claim", "faithfulness", "fluency"])


def test_a_measure_that_is_named_twice_is_bad_input() -> None:
    with pytest.raises(BadInput, match="measures: a measure is named twice; name it once"):
        read(["faithfulness", "faithfulness"])


@pytest.mark.parametrize("measures", ["faithfulness", {"faithfulness": 1}, [["x"]], [1], None])
def test_measures_are_a_list_of_names(measures: object) -> None:
    with pytest.raises(BadInput):
        read(measures)


def test_order_is_that_of_the_table_and_shared_questions_come_once() -> None:
    asked = block("faithfulness", "citation_precision", "citation_recall")
    assert [measure.description.name for measure in measures_of(asked)] == [
        *("citation_recall", "citation_precision", "faithfulness")
    ]
    assert [question.name for question in questions_of(asked)] == [
        *("citation_recall", "citation_alone", "citation_rest", "faithfulness")
    ]


def test_a_measure_in_two_blocks_is_told_and_so_is_a_shared_question() -> None:
    blocks = {
        "one": block("claim_recall", "citation_recall"),
        "two": block("claim_recall", "faithfulness"),
        "three": block("citation_precision"),
    }
    both, shared = clashes(blocks, ["top"])
    assert both == (
        "questions > one and two ask the same of one benchmark; name these measures in one of the"
        " two only: claim_recall"
    )
    assert "one and three" in shared
    assert shared.endswith("citation_recall, citation_precision")


def test_blocks_that_ask_apart_do_not_clash() -> None:
    assert clashes({"one": block("claim_recall"), "two": block("claim_recall_grade")}, []) == []
    assert clashes({}, []) == []


def test_compat_is_none_if_it_is_left_out_and_doclens_borrows() -> None:
    given = {"measures": [], "against": "full", "borrow": True}
    assert parse(Questions, given, where="x").compat == "none"
    given["compat"] = "doclens"
    assert parse(Questions, given, where="x").compat == "doclens"
    with pytest.raises(BadInput, match="compat: doclens borrows citations; write borrow: true"):
        parse(Questions, {**given, "borrow": False}, where="x")
    with pytest.raises(BadInput, match="x > compat"):
        parse(Questions, {**given, "compat": "alce"}, where="x")


def test_a_judge_that_cannot_answer_is_told_with_what_it_cannot() -> None:
    blocks = {
        "one": block("citation_precision", "preference", "preference_position_bias"),
        "two": block("claim_recall"),
    }
    judges = {"pairs": ("entailment", "attribution", "attribution_alone", "attribution_rest")}
    said = "cannot answer instrument 'preference', which preference, preference_position_bias asks"
    (problem,) = unanswerable(blocks, judges)
    assert problem.startswith(f"judges > pairs: {said}; choose another judge")
    assert unanswerable(blocks, {"all": INSTRUMENTS}) == []
    assert len(unanswerable(blocks, {"none": ()})) == 5
