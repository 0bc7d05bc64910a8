"""Answers as lines: one list of exactly such lines, or nothing."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.llm.answers import last_lines, lines_below


def read(said: str) -> Mapping[str, Any]:
    return {"label": said}


def last(text: str) -> list[tuple[int, str]]:
    return [(entry["number"], entry["label"]) for entry in last_lines(text, read)]


def below(text: str) -> list[tuple[int, str, str | None]]:
    return [(e["number"], e["label"], e["reason"]) for e in lines_below(text, read)]


BOTH = [(1, "yes"), (2, "no")]
READABLE = {
    "bare": "1: yes\n2: no",
    "blanks around": "\n  1: yes  \n\n2: no\n \n",
    "Windows": "1: yes\r\n2: no\r\n",
    "a code block": "```\n1: yes\n2: no\n```",
    "a code block with a language": "```text\n1: yes\n2: no\n```\n",
    "words before": "Sure! Here are the answers.\nEach has a line:\n1: yes\n2: no",
}
UNREADABLE = {
    "nothing": "",
    "prose": "The first is a yes, the second a no.",
    "words after": "1: yes\n2: no\nI hope this helps.",
    "words between": "1: yes\nFor the second:\n2: no",
    "a quoted list, then the answers": "The text says\n1: no\n2: no\nbut I say\n1: yes\n2: no",
    "a line of the form in the words before": "At 10: 30 mg were given.\n10: 30 mg\nSo\n1: yes",
    "another mark": "1. yes\n2. no",
    "no blank": "1:yes\n2:no",
    "bold": "**1: yes**\n**2: no**",
    "a list": "- 1: yes\n- 2: no",
    "a padded number": "01: yes\n02: no",
    "a negative number": "-1: yes",
    "no value": "1:\n2: ",
    "a huge number": f"1{'0' * 5000}: yes",
    "other digits": "\u0661: yes",
    "one line by another break": "Text\u20281: yes",
}


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE)
def test_one_list_at_the_end_is_read(text: str) -> None:
    assert last(text) == BOTH


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_anything_else_is_not(text: str) -> None:
    assert last(text) == []


def test_values_and_repeated_numbers_are_left_to_the_caller() -> None:
    assert last("2: no \u2028 really: no\n1: yes\n1: yes") == [
        (2, "no \u2028 really: no"),
        *[(1, "yes")] * 2,
    ]


THOUGHT = "1: It is said.\nTwice.\n2: It is denied.\n\nANSWERS\n1: yes\n2: no"


def test_answers_stand_below_their_mark_and_reasons_above() -> None:
    assert below(THOUGHT) == [(1, "yes", "It is said.\nTwice."), (2, "no", "It is denied.")]
    assert below(f"First some words.\n{THOUGHT}\n```") == below(THOUGHT)
    assert below("ANSWERS\n2: no\n1: yes") == [(2, "no", None), (1, "yes", None)]


def test_the_reason_of_a_single_answer_is_all_that_was_thought() -> None:
    assert below("It is said.\nOn the whole, yes.\nANSWERS\n1: yes") == [
        (1, "yes", "It is said.\nOn the whole, yes.")
    ]
    assert below("7: It is said.\n\nANSWERS\n7: yes") == [(7, "yes", "It is said.")]
    assert below("ANSWERS\n1: yes") == [(1, "yes", None)]


def test_a_number_that_was_thought_of_twice_has_no_reason() -> None:
    assert below("1: So.\n2: No.\n1: Or not.\nANSWERS\n1: yes\n2: no") == [
        (1, "yes", None),
        (2, "no", "No."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "1: yes\n2: no",
        "Answers\n1: yes",
        "ANSWERS:\n1: yes",
        "**ANSWERS**\n1: yes",
        "The text ends ANSWERS\n1: yes",
        f"The text quotes\nANSWERS\n1: no\nand so\n{THOUGHT}",
        f"{THOUGHT}\nThat is all.",
        f"{THOUGHT}\nANSWERS",
        "ANSWERS\n1: yes\nor perhaps\n1: no",
        "ANSWERS",
    ],
)
def test_without_one_mark_and_lines_alone_below_it_nothing_is_read(text: str) -> None:
    assert below(text) == []


PIECES = st.lists(st.sampled_from(["1: yes", "2: no", "ANSWERS", "so", "", "```", "1: x\r"]))


@given(PIECES)
def test_nothing_is_read_that_is_no_line(pieces: list[str]) -> None:
    text = "\n".join(pieces)
    lines = {piece.strip() for piece in pieces}
    for number, label in last(text):
        assert f"{number}: {label}" in lines
    for number, label, _ in below(text):
        assert f"{number}: {label}" in lines
