"""MedBERTScore of whole texts: an encoder reads long ones in segments (Ben Abacha et al. 2023)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from pydantic import Field

from metassay.core.errors import BadInput
from metassay.metrics import med_bertscore
from metassay.metrics.describe import Measured
from metassay.models import extra
from metassay.models.encoders import Encoder, vectors

NAME = "med_bertscore_window"


class MedBertscoreWindowOptions(med_bertscore.MedBertscoreOptions):
    """`window`: how many tokens a segment has, with the encoder's marks, or fewer where it reads no
    more at once. `overlap`: how many of them the next segment has as well. `rule`: segments are
    `overlapping`, or `released`, apart (see `window_vectors`)."""

    window: int = Field(default=512, ge=3)
    overlap: int = Field(default=100, ge=0)
    rule: Literal["overlapping", "released"] = "overlapping"


class Segment(NamedTuple):
    """Tokens that are read at once; the vectors of tokens[start:end] count."""

    tokens: list[int]
    start: int
    end: int


def window_vectors(
    encoder: Encoder,
    rows: Sequence[Sequence[int]],
    batch_tokens: int,
    options: MedBertscoreWindowOptions,
) -> list[Any]:
    """For each row of tokens its vectors, as `encoders.vectors` gives them, however long it is.

    Each segment has the marks that begin and end a row, and a token that two segments have gets its
    vector from that in which it is further from an edge (as far: from the first). A row that fits
    into one segment is read as it is. Rule `released`: segments of `window` - `overlap` tokens of
    the row, marks and all, that do not overlap (the code of Ben Abacha et al. 2023). Raises
    BadInput if segments have no more tokens than overlap.
    """
    size = min(options.window, encoder.limit or options.window)
    marks = set(encoder.tokenizer.all_special_ids)
    segments = [
        _apart(row, size - options.overlap)
        if options.rule == "released"
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


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: MedBertscoreWindowOptions
) -> dict[str, list[Measured]]:
    """MedBERTScore of each candidate against the reference text at the same index of `evidence`.

    As `med_bertscore.measure`, but nothing is cut: a text that fits into a segment has the same
    value there. Raises BadInput also if segments have no more tokens than overlap.
    """
    embed = partial(window_vectors, options=options)
    return med_bertscore.score(NAME, candidates, evidence, options, embed)


KIND = replace(
    med_bertscore.KIND,
    options=MedBertscoreWindowOptions,
    measure=measure,
    descriptions=med_bertscore.described(NAME, "Long texts are read in segments that overlap"),
    files=med_bertscore.KIND.files,  # said here too, for whoever reads only this module
)
