"""Windows of whole sentences, by hand."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.judges.chunking import pieces, windows


def test_a_heading_stays_with_what_follows_it() -> None:
    text = "The knee hurts.\n\nEXAM:\nThe knee is swollen. No fever.\n"
    cut = [text[slice(*span)] for span in pieces(text)]
    assert cut == ["The knee hurts.", "\n\nEXAM:\nThe knee is swollen.", " No fever.\n"]


@settings(max_examples=30)
@given(st.text(max_size=200))
def test_every_character_is_in_one_piece(text: str) -> None:
    assert "".join(text[slice(*span)] for span in pieces(text)) == text


@pytest.mark.parametrize(
    ("lengths", "most", "stride", "expected"),
    [
        ([3, 4, 2, 5], 20, 20, [(0, 4)]),
        ([3, 4, 2, 5], 7, 7, [(0, 2), (2, 4)]),
        ([3, 4, 2, 5], 9, 3, [(0, 3), (2, 4)]),  # from the second: nothing new
        ([3, 4, 2, 5], 11, 3, [(0, 3), (1, 4)]),
        ([3, 4, 2, 5], 6, 6, [(0, 1), (1, 3), (3, 4)]),  # 6 tokens on would leave out the second
        ([30, 4, 30], 6, 6, [(0, 1), (1, 2), (2, 3)]),  # a long sentence is a window of its own
        ([3, 4, 9], 9, 3, [(0, 2), (2, 3)]),
        ([0], 5, 5, [(0, 1)]),
        ([0, 0, 0], 5, 5, [(0, 3)]),
    ],
)
def test_windows_are_runs_of_sentences(
    lengths: list[int], most: int, stride: int, expected: list[tuple[int, int]]
) -> None:
    assert [(run[0], run[-1] + 1) for run in windows(lengths, most, stride)] == expected


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.integers(1, 20), st.data())
def test_no_sentence_is_left_out(lengths: list[int], most: int, data: st.DataObject) -> None:
    stride = data.draw(st.integers(1, most))
    runs = list(windows(lengths, most, stride))
    assert sorted({at for run in runs for at in run}) == list(range(len(lengths)))
    assert all(len(run) == 1 or sum(lengths[at] for at in run) <= most for run in runs)
    assert all(a.start < b.start and a.stop < b.stop for a, b in pairwise(runs))
