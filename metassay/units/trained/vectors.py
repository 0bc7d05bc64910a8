"""What an encoder makes of a sentence, for a model of sentence roles.

The vectors are those of its middle layers: the last ones say what a sentence is about, and the
middle ones more of what it does. Each sentence is encoded by itself; neighbours are the second
step's.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from metassay.models import encoders, extra
from metassay.models.encoders import Encoder
from metassay.models.loading import NetworkOptions

LAYERS = 4  # of MiniLM's 6
FIRST = 5  # pieces that count as a sentence's opening
METHOD = 1  # part of the store's keys; whoever changes what a vector is raises it
PACKAGES = ("transformers", "tokenizers", "torch")
BATCH_TOKENS = 4096


def load(options: NetworkOptions) -> Encoder:
    """The layers that are read; raises BadInput if the encoder cannot be loaded."""
    return encoders.load_encoder(options, LAYERS)


def vectors(encoder: Encoder, sentences: Sequence[str]) -> Iterator[Mapping[int, Any]]:
    """By place: the mean of a sentence's pieces, the largest, and the mean of the first ones.

    Each is 3 x the encoder's dimensions, in one row. Yields some sentences at a time. What
    is past the encoder's limit is not read.
    """
    read = encoders.tokens(encoder, sentences)
    order = sorted(range(len(read)), key=lambda place: len(read[place].numbers))
    for start in range(0, len(order), _BLOCK):
        block = order[start : start + _BLOCK]
        rows = encoders.vectors(encoder, [read[place].numbers for place in block], BATCH_TOKENS)
        yield {place: _pooled(row) for place, row in zip(block, rows, strict=True)}


_BLOCK = 512  # sentences whose pieces are held at once


def _pooled(row: Any) -> Any:
    torch = extra.module("torch")
    pieces = row[1:] if len(row) > 1 else row  # without the mark in front
    pools = (row.mean(0), pieces.max(0).values, pieces[:FIRST].mean(0))
    return np.asarray(torch.cat(pools).cpu().numpy())
