"""Batches by length."""

from hypothesis import given
from hypothesis import strategies as st

from metassay.models.batches import batch_by_length, pad_rows


def test_by_hand() -> None:
    # Sorted: 1 (place 1), 2 (3), 2 (4), 9 (0), 30 (2); 3 x 2 fit into 8, 4 x 9 do not.
    assert list(batch_by_length([9, 1, 30, 2, 2], 8)) == [[1, 3, 4], [0], [2]]
    assert list(batch_by_length([], 8)) == []


@given(st.lists(st.integers(1, 50)), st.integers(1, 200))
def test_each_text_is_in_one_batch_that_fits(lengths: list[int], most: int) -> None:
    batches = list(batch_by_length(lengths, most))
    assert sorted(place for batch in batches for place in batch) == list(
        range(len(lengths))
    )
    for batch in batches:
        longest = max(lengths[place] for place in batch)
        assert len(batch) == 1 or len(batch) * longest <= most


def test_padding_stands_on_either_side() -> None:
    assert pad_rows([[5, 6], [7]], 0) == ([[5, 6], [7, 0]], [[1, 1], [1, 0]])
    assert pad_rows([[5, 6], [7]], 0, left=True) == ([[5, 6], [0, 7]], [[1, 1], [0, 1]])
