"""Edit distance against a plain dynamic programme, and worked examples."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.metrics import edit_distance
from metassay.metrics.describe import Measured

OPTIONS = edit_distance.Options()
TEXTS = st.lists(st.sampled_from(["a", "bb", "aa", "c"]), max_size=8).map(" ".join)


def one(candidate: str, reference: str) -> dict[str, Measured]:
    measured = edit_distance.measure([candidate], [reference], OPTIONS)
    return {name: values[0] for name, values in measured.items()}


def levenshtein(first: Sequence[str], second: Sequence[str]) -> int:
    above = list(range(len(second) + 1))
    for row, left in enumerate(first, start=1):
        here = [row]
        for column, right in enumerate(second, start=1):
            here.append(min(above[column] + 1, here[-1] + 1, above[column - 1] + (left != right)))
        above = here
    return above[-1]


def test_by_hand() -> None:
    # cat -> dog, and "down" is missing: 2 edits, the longer text has 4 words.
    assert one("the cat sat", "the dog sat down")["edit_distance"] == Measured(0.5, (2, 4))
    # k -> s, e -> i, g added: 3 edits, 7 characters. As words they are just different.
    scores = one("kitten", "sitting")
    assert scores["edit_distance_characters"] == Measured(3 / 7, (3, 7))
    assert scores["edit_distance"].value == 1


def test_white_space_is_no_word_but_it_is_a_character() -> None:
    scores = one("a  b\n", "a b")
    assert scores["edit_distance"].value == 0
    assert scores["edit_distance_characters"].value == pytest.approx(2 / 5)


def test_missing_data() -> None:
    assert one("", "")["edit_distance"] == Measured(None, None)
    assert one("", "")["edit_distance_characters"] == Measured(None, None)
    assert one(" ", "")["edit_distance"] == Measured(None, None)
    assert one("", "a b")["edit_distance"].value == 1
    assert one("a b", "")["edit_distance_characters"].value == 1


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_equal_to_a_plain_dynamic_programme(first: str, second: str) -> None:
    scores = one(first, second)
    words = first.split(), second.split()
    longest = max(map(len, words))
    if longest:
        assert scores["edit_distance"].statistics == (levenshtein(*words), longest)
        assert scores["edit_distance_characters"].statistics == (
            levenshtein(first, second),
            max(len(first), len(second)),
        )


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_a_distance_is_symmetric_and_0_to_itself(first: str, second: str) -> None:
    assert one(first, second) == one(second, first)
    assert all(score.value in (0, None) for score in one(first, first).values())
