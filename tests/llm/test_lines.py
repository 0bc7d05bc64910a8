"""Answers as lines, without thoughts: a list of exactly such lines, or nothing."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.llm.lines import last_lines, lines_below
from metassay.llm.thoughts import remove_thoughts


def read(label: str) -> Mapping[str, Any]:
    return {"label": label}


def last(text: str) -> list[tuple[int, str]]:
    return [
        (entry["number"], entry["label"]) for entry in last_lines(text, read).entries
    ]


def below(text: str) -> list[tuple[int, str, str | None]]:
    return [
        (e["number"], e["label"], e["reason"]) for e in lines_below(text, read).entries
    ]


READABLE = {
    "bare": "1: yes\n2: no",
    "blanks around": "\n  1: yes  \n\n2: no\n \n",
    "Windows": "1: yes\r\n2: no\r\n",
    "a code block": "```\n1: yes\n2: no\n```",
    "a code block with a language": "```text\n1: yes\n2: no\n```\n",
    "words after": "1: yes\n2: no\nI hope this helps.",
    "words before": "Sure! Here are the answers.\nEach has a line:\n1: yes\n2: no",
}
UNREADABLE = {
    "nothing": "",
    "prose": "The first is a yes, the second a no.",
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
    "a line by another break": "Text\u20281: yes",
}


@pytest.mark.parametrize("name", [*READABLE, *UNREADABLE])
def test_a_list_at_the_end_is_read_and_anything_else_is_not(name: str) -> None:
    expected = [(1, "yes"), (2, "no")] if name in READABLE else []
    assert last((READABLE | UNREADABLE)[name]) == expected


def test_values_and_repeated_numbers_are_left_to_the_caller() -> None:
    values = [(2, "no \u2028 really: no"), (1, "yes"), (1, "yes")]
    assert last("2: no \u2028 really: no\n1: yes\n1: yes") == values


THOUGHT = "1: It is said.\nTwice.\n2: It is denied.\n\nANSWERS\n1: yes\n2: no"
BOTH = [(1, "yes", "It is said.\nTwice."), (2, "no", "It is denied.")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (THOUGHT, BOTH),
        (f"First some words.\n{THOUGHT}\n```", BOTH),
        ("ANSWERS\n2: no\n1: yes", [(2, "no", None), (1, "yes", None)]),
        # The reason of a single answer is all that was thought.
        (
            "It is.\nOn the whole.\nANSWERS\n1: yes",
            [(1, "yes", "It is.\nOn the whole.")],
        ),
        ("7: It is said.\n\nANSWERS\n7: yes", [(7, "yes", "It is said.")]),
        ("ANSWERS\n1: yes", [(1, "yes", None)]),
        # A number that was thought of twice has no reason.
        (
            "1: So.\n2: No.\n1: Or.\nANSWERS\n1: yes\n2: no",
            [(1, "yes", None), (2, "no", "No.")],
        ),
        # Without a single mark and lines alone below it nothing is read.
        ("1: yes\n2: no", []),
        ("Answers\n1: yes", []),
        ("ANSWERS:\n1: yes", []),
        ("**ANSWERS**\n1: yes", []),
        ("The text ends ANSWERS\n1: yes", []),
        (f"The text quotes\nANSWERS\n1: no\nand so\n{THOUGHT}", []),
        (f"{THOUGHT}\nThat is all.", BOTH),
        (f"{THOUGHT}\nANSWERS", []),
        ("ANSWERS\n1: yes\nor perhaps\n1: no", []),
        ("ANSWERS", []),
    ],
)
def test_answers_stand_below_their_mark_and_reasons_above(
    text: str, expected: Any
) -> None:
    assert below(text) == expected


@given(
    st.lists(st.sampled_from(["1: yes", "2: no", "ANSWERS", "so", "", "```", "1: x\r"]))
)
def test_nothing_is_read_that_is_no_line(pieces: list[str]) -> None:
    text = "\n".join(pieces)
    read_lines = [*last(text), *(entry[:2] for entry in below(text))]
    assert {f"{number}: {label}" for number, label in read_lines} <= {
        p.strip() for p in pieces
    }


@pytest.mark.parametrize(
    ("raw", "answer"),
    [
        ("It hurts.", "It hurts."),
        ("<think>\nA knee.\n</think>\n\nIt hurts.", "It hurts."),
        (" \n<think></think>It hurts.", "It hurts."),
        ("<think>An elbow?</think>", ""),
        ("<think>\nIt hurts.", None),
        # As of a model whose template opens the block: only the end of it is in the
        # answer.
        ("A knee, then.\n</think>\n\nIt hurts.", "It hurts."),
        # No block that the answer begins with.
        *(
            (text, text)
            for text in (
                "It hurts. <think>Does it?\n</think>\n",
                '{"items": ["He wrote </think> in a form."]}',
                "He wrote </think>\nand left.",
            )
        ),
    ],
)
def test_what_comes_after_thinking(raw: str, answer: str | None) -> None:
    assert remove_thoughts(raw) == answer
