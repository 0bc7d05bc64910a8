"""top_section and full: by hand, and full against rouge-score."""

import pytest
from rouge_score import rouge_scorer

from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.units.alignment.rouge import FULL, TOP_SECTION, FullOptions
from metassay.units.record import Chosen, Statements

NOTE = ["knee pain", "no cough", "ibuprofen given", "knee swollen", "fever"]
OF = ["history", "history", "plan", "exam", "exam"]


def sections(statement: str, groups: list[str] = OF) -> list[int]:
    document = Statements(NOTE, groups, [statement])
    (found,) = TOP_SECTION.align([document], Options()).documents
    return [place for place, _ in found[0]]


def test_all_of_the_closest_section_in_its_order() -> None:
    assert sections("the knee is swollen") == [3, 4]
    assert sections("ibuprofen") == [2]
    assert sections("no knee pain") == [0, 1]
    assert sections("headache") == []
    # One word of three (exam) is more than one of four (history).
    assert sections("knee") == [3, 4]


def test_what_is_in_no_section_is_one() -> None:
    assert sections("fever", ["", "a", "b", "a", ""]) == [0, 4]


def test_a_source_without_sections_is_refused() -> None:
    with pytest.raises(BadInput, match=r"no passage of sources has a `group`.*; give it"):
        sections("fever", [""] * 5)


def taken(statement: str, most: int, passages: list[str] = NOTE) -> Chosen:
    document = Statements(passages, [], [statement])
    (found,) = FULL.align([document], FullOptions(tokens=most)).documents
    return found


def test_by_rouge_until_the_first_that_does_not_fit_in_source_order() -> None:
    # By value: "knee swollen", "knee pain", then the others, all 0, in their order.
    assert [i for i, _ in taken("swollen knee", 4)[0]] == [0, 3]
    assert [i for i, _ in taken("swollen knee", 7)[0]] == [0, 1, 3]  # two more would be 8 tokens
    assert [i for i, _ in taken("swollen knee", 100)[0]] == [0, 1, 2, 3, 4]
    assert taken("swollen knee", 1) == [[]]


def test_a_shorter_one_behind_the_first_that_does_not_fit_is_not_taken() -> None:
    passages = ["knee", "the left knee and the right one too", "knee pain"]
    assert [i for i, _ in taken("the left knee", 3, passages)[0]] == []


def test_the_values_are_rouge_score_s() -> None:
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2"])
    scores = [scorer.score("no knee pain", passage) for passage in NOTE]
    expected = [(s["rouge1"].fmeasure + s["rouge2"].fmeasure) / 2 for s in scores]
    assert taken("no knee pain", 100) == [list(enumerate(expected))]


def test_nothing_to_align() -> None:
    assert taken("knee", 5, []) == [[]]
    assert TOP_SECTION.align([], Options()).documents == []
