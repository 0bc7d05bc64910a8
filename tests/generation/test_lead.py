"""lead.py: the first passages, each sentence cited."""

import pytest
from pydantic import ValidationError

from metassay.generation.copied import CopyOptions
from metassay.generation.copied import copy_first as write
from metassay.units.statements import statements

PASSAGES = [
    "hello . how are you ?",
    "\u2026",
    "my knee hurts",
    "it is sore [1]. it swells.\nnow",
    "ok .",
]
SPEAKERS = ["a", "b", "a", "b", "a"]


def test_the_first_passages_with_a_citation_behind_each_sentence() -> None:
    # The second passage states nothing, but counts as one of the three.
    text = write(PASSAGES, SPEAKERS, CopyOptions(passages=3))
    assert text == "hello . [0] how are you ? [0]\nmy knee hurts [2]"


def test_what_is_written_is_read_back() -> None:
    text = write(PASSAGES, SPEAKERS, CopyOptions(passages=9))
    assert [(one.text, one.citations) for one in statements(text)] == [
        ("hello .", (0,)),
        ("how are you ?", (0,)),
        ("my knee hurts", (2,)),
        ("it is sore.", (3,)),  # the passage's own citation is not to our passages
        ("it swells.", (3,)),
        ("now", (3,)),
        ("ok .", (4,)),
    ]


def test_no_passages_no_text() -> None:
    assert write([], [], CopyOptions(passages=2)) == ""
    assert write(["...", " "], ["", ""], CopyOptions(passages=2)) == ""


@pytest.mark.parametrize("passages", [0, -1, 2.0, "2", True])
def test_options_are_strict(passages: object) -> None:
    with pytest.raises(ValidationError):
        CopyOptions(passages=passages)  # type: ignore[arg-type]
