"""Vectors of texts that are longer than an encoder reads at once: of segments, joined."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from pydantic import Field

from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.models import extra
from metassay.models.encoders import Encoder, vectors


class WindowOptions(Options):
    """`window`: how many tokens a segment has, with the encoder's marks, or fewer where it reads no
    more at once. `overlap`: how many of them the next segment has as well."""

    window: int = Field(default=512, ge=3)
    overlap: int = Field(default=100, ge=0)


class Segment(NamedTuple):
    """Tokens that are read at once; the vectors of tokens[start:end] count."""

    tokens: list[int]
    start: int
    end: int


def window_vectors(
    encoder: Encoder,
    rows: Sequence[Sequence[int]],
    batch_tokens: int,
    options: WindowOptions,
    *,
    apart: bool,
) -> list[Any]:
    """For each row of tokens its vectors, as `encoders.vectors` gives them, however long it is.

    Each segment has the marks that begin and end a row, and a token that two segments have gets its
    vector from that in which it is further from an edge (as far: from the first). A row that fits
    into one segment is read as it is. `apart`: segments of `window` - `overlap` tokens of the row,
    marks and all, that do not overlap (the released code of Ben Abacha et al. 2023). Raises
    BadInput if segments have no more tokens than overlap.
    """
    size = min(options.window, encoder.limit or options.window)
    marks = set(encoder.tokenizer.all_special_ids)
    segments = [
        _apart(row, size - options.overlap)
        if apart
        else overlapping(row, _marks(row, marks), size, options.overlap)
        for row in rows
    ]
    read = [each.tokens for some in segments for each in some]
    states, join = iter(vectors(encoder, read, batch_tokens)), extra.module("torch").cat
    return [join([next(states)[each.start : each.end] for each in some]) for some in segments]


def overlapping(
    row: Sequence[int], marks: tuple[int, int], size: int, overlap: int
) -> list[Segment]:
    """Segments of a row, of which the first and the last `marks` tokens are the encoder's."""
    head, tail = marks
    inner, room = row[head : len(row) - tail], size - head - tail
    if len(inner) <= room:
        return [Segment([*row], 0, len(row))]
    if room <= overlap:
        raise BadInput(f"`window`: {size} tokens are too few to overlap by {overlap}; raise it")
    # A segment that began in the last `overlap` tokens would have none of its own.
    starts = range(0, len(inner) - overlap, room - overlap)
    # What two segments share is parted in its middle, where a token is the first one's.
    middles = [(start + before + room + 1) // 2 for before, start in pairwise(starts)]
    segments = []
    for start, (low, high) in zip(starts, pairwise([-head, *middles, len(row)]), strict=True):
        part = [*row[:head], *inner[start : start + room], *row[len(row) - tail :]]
        segments.append(Segment(part, head + low - start, head + high - start))
    return segments


def _apart(row: Sequence[int], size: int) -> list[Segment]:
    if size < 1:
        raise BadInput("`window`: has no more tokens than `overlap`; raise it")
    return [Segment([*row[at : at + size]], 0, size) for at in range(0, len(row), size)]


def _marks(row: Sequence[int], marks: set[int]) -> tuple[int, int]:
    words = [at for at, number in enumerate(row) if number not in marks]
    return (words[0], len(row) - words[-1] - 1) if words else (0, 0)
