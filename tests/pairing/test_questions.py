"""Blocks of questions: names of measures, and no question twice in one benchmark."""

import pytest

from metassay.errors import BadInput
from metassay.options import parse
from metassay.pairing.questions import Questions, clashes, measures_of, questions_of


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
    both, shared = clashes(blocks)
    assert both == (
        "questions > one and two ask the same of one benchmark; name these measures in one of the"
        " two only: claim_recall"
    )
    assert "one and three" in shared
    assert shared.endswith("citation_recall, citation_precision")


def test_blocks_that_ask_apart_do_not_clash() -> None:
    assert clashes({"one": block("claim_recall"), "two": block("claim_recall_grade")}) == []
    assert clashes({}) == []
