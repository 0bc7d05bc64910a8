"""Segments of long texts: every token once, from where it is furthest from an edge."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.metrics.med_bertscore import (
    MedBertscoreWindowOptions,
    overlapping,
    window_vectors,
)
from metassay.models.loading import NetworkOptions

torch = pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")

from metassay.models.encoders import Encoder, load_encoder  # noqa: E402 - it needs them
from tests.models import tiny  # noqa: E402


def segments_of(window: int, overlap: int, rule: str = "overlapping") -> MedBertscoreWindowOptions:
    settings: dict[str, Any] = {"window": window, "overlap": overlap, "rule": rule}
    return MedBertscoreWindowOptions.model_construct(**settings)


@given(
    st.integers(0, 60), st.integers(1, 12), st.integers(0, 14), st.sampled_from([(1, 1), (0, 1)])
)
def test_every_token_once_from_where_it_is_furthest_from_an_edge(
    count: int, more: int, overlap: int, marks: tuple[int, int]
) -> None:
    room = overlap + more
    row = [-1] * marks[0] + list(range(count)) + [-2] * marks[1]
    segments = overlapping(row, marks, room + sum(marks), overlap)
    assert [token for one in segments for token in one.tokens[one.start : one.end]] == row
    inner = [[token for token in one.tokens if token >= 0] for one in segments]
    for one, its in zip(segments, inner, strict=True):
        assert one.tokens == [-1] * marks[0] + its + [-2] * marks[1]
        assert len(its) <= room
    for before, after in pairwise(inner):
        assert len(before) == room
        assert before[room - overlap :] == after[:overlap]
        assert len(after) > overlap
    # By a search over all segments that have the token; the ends of the text are no edges.
    for token in range(count):
        far = []
        for at, its in enumerate(inner):
            left = its.index(token) if token in its else -1
            right = len(its) - 1 - left if token in its else -1
            left = 99 if at == 0 and token in its else left
            far.append(min(left, 99 if at == len(inner) - 1 and token in its else right))
        chosen = [token in one.tokens[one.start : one.end] for one in segments].index(True)
        assert chosen == far.index(max(far))


def test_by_hand() -> None:
    """Seven tokens by five, two of which overlap: 3 and 4 are in both; the middle is after 3."""
    segments = overlapping([9, 0, 1, 2, 3, 4, 5, 6, 8], (1, 1), 7, 2)
    assert [one.tokens for one in segments] == [[9, 0, 1, 2, 3, 4, 8], [9, 3, 4, 5, 6, 8]]
    assert [one.tokens[one.start : one.end] for one in segments] == [[9, 0, 1, 2, 3], [4, 5, 6, 8]]


@pytest.fixture
def encoder(tmp_path: Path) -> Encoder:
    model = tiny.encoder(tmp_path / "bert", "bert", places=16)
    block = {"model": str(model), "device": "cpu", "dtype": "float64"}
    return load_encoder(parse(NetworkOptions, block, where="test"))


def test_vectors_are_those_of_the_segments(encoder: Encoder) -> None:
    row = [1, *range(5, 40), 2]
    (joined,) = window_vectors(encoder, [row], 64, segments_of(12, 4))
    with torch.no_grad():
        parts = [
            encoder.weights(torch.tensor([one.tokens]))[0][0, one.start : one.end]
            for one in overlapping(row, (1, 1), 12, 4)
        ]
    assert torch.allclose(joined, torch.cat(parts), atol=1e-5)
    # The encoder reads 16 at most.
    wide = [window_vectors(encoder, [row], 64, segments_of(size, 4))[0] for size in (16, 512)]
    assert torch.equal(*wide)


def test_apart_the_marks_are_in_the_first_and_last_alone(encoder: Encoder) -> None:
    row = [1, *range(5, 40), 2]
    (joined,) = window_vectors(encoder, [row], 64, segments_of(12, 4, "released"))
    with torch.no_grad():
        parts = [encoder.weights(torch.tensor([row[at : at + 8]]))[0][0] for at in range(0, 37, 8)]
    assert torch.allclose(joined, torch.cat(parts), atol=1e-5)


def test_too_few_tokens_to_overlap(encoder: Encoder) -> None:
    options = segments_of(12, 100)
    with pytest.raises(BadInput, match="12 tokens are too few to overlap by 100"):
        window_vectors(encoder, [[1, *range(5, 40), 2]], 64, options)
    with pytest.raises(BadInput, match="no more tokens than `overlap`"):
        window_vectors(encoder, [[1, *range(5, 40), 2]], 64, segments_of(12, 100, "released"))
    row = [1, 5, 6, 2]  # there is nothing to overlap
    assert len(window_vectors(encoder, [row], 64, options)[0]) == 4
