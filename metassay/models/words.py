"""Vectors of words: what layers of an encoder make of each word of a text, in its context.

A word's vector is the mean of those of the pieces that it overlaps, brought to length 1 and to a
grid (metassay/models/digits.py). The first "layer" is the encoder's table of pieces itself, which
knows no context and no place.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from metassay.models import extra
from metassay.models.digits import UNITS, on_grid
from metassay.models.encoders import Encoder, encoded, held
from metassay.text.spans import Span

# Numbers stay whole (7.2, 120/80, 1,000), a unit written against one is apart (20mg, 5-cm).
_WORD = re.compile(r"\d+(?:[.,/:]\d+)*|[^\W\d_][^\W_]*(?:['\u2019][^\W\d_]+)*|%")

LAYERS = 3  # the table of pieces, the middle layer and the last one


class Text(NamedTuple):
    """A text as an encoder sees it, with n words.

    `vectors`: layers x n x dimensions, float32, each of length 1, on a grid: products in float64
    are exact. Of an encoder in float64 they are the same on every processor. `rarity`: n values,
    the logarithm of the place of a word's rarest piece in the vocabulary, which has frequent pieces
    first. `cut`: words that the encoder could not read: longer than it reads at once, or of
    characters that its tokenizer drops.
    """

    words: tuple[Span, ...]
    vectors: Any
    rarity: Any
    cut: int = 0


def words(text: str) -> list[Span]:
    """The words of a text, in order: runs of letters or digits, numbers whole, and `%`."""
    return [Span(*match.span()) for match in _WORD.finditer(text)]


class _Piece(NamedTuple):
    """A stretch of a text that the encoder reads at once, and where its tokens are in the text."""

    place: int
    numbers: list[int]
    spans: list[tuple[int, int]]


def encode(encoder: Encoder, texts: Sequence[str], batch_tokens: int) -> list[Text]:
    """Each text's words with their vectors in the first, the middle and the last layer.

    A text that is longer than the encoder reads is read in halves, so nothing of it is left out.
    Batches have texts of about one length, and at most `batch_tokens` tokens with their padding.
    """
    found = [words(text) for text in texts]
    pieces = [
        piece
        for place, (text, its) in enumerate(zip(texts, found, strict=True))
        if its
        for piece in _pieces(encoder, place, text, its)
    ]
    states = _states(encoder, [piece.numbers for piece in pieces], batch_tokens)
    parts: list[list[tuple[_Piece, Any]]] = [[] for _ in texts]
    for piece, state in zip(pieces, states, strict=True):
        parts[piece.place].append((piece, state))
    size = encoder.weights.config.hidden_size
    return [_text(its, part, size) for its, part in zip(found, parts, strict=True)]


def _pieces(encoder: Encoder, place: int, text: str, its: Sequence[Span]) -> Iterator[_Piece]:
    first, last = its[0].start, its[-1].end
    read = encoder.tokenizer(text[first:last], return_offsets_mapping=True, verbose=False)
    numbers: list[int] = read["input_ids"]
    if encoder.limit is not None and len(numbers) > encoder.limit:
        if len(its) > 1:
            half = len(its) // 2
            yield from _pieces(encoder, place, text, its[:half])
            yield from _pieces(encoder, place, text, its[half:])
            return
        numbers = []
    if numbers:
        spans = [(first + start, first + end) for start, end in read["offset_mapping"]]
        yield _Piece(place, numbers, spans)


def _states(encoder: Encoder, rows: Sequence[Sequence[int]], batch_tokens: int) -> list[Any]:
    """For each row of tokens: layers x tokens x dimensions."""
    table = encoder.weights.get_input_embeddings()
    found: list[Any] = [None] * len(rows)
    for batch, numbers, output in encoded(encoder, rows, batch_tokens, output_hidden_states=True):
        hidden, first = output.hidden_states, table(numbers)
        if first.shape != hidden[0].shape:  # ALBERT's table has vectors of another size
            first = hidden[0]
        layers = extra.module("torch").stack((first, hidden[len(hidden) // 2], hidden[-1]), 1)
        for row, place in zip(held(layers).cpu().numpy(), batch, strict=True):
            found[place] = row[:, : len(rows[place])].copy()
    return found


def _text(its: Sequence[Span], parts: Sequence[tuple[_Piece, Any]], size: int) -> Text:
    sums = np.zeros((LAYERS, len(its), size))
    rarity, seen = np.zeros(len(its)), np.zeros(len(its), bool)
    at = 0
    for piece, state in parts:
        for token, (start, end) in enumerate(piece.spans):
            if start == end:  # a special token
                continue
            while at < len(its) - 1 and its[at].end <= start:
                at += 1
            for word in range(at, len(its)):  # one token may be of several words: 3rd, of 3 and rd
                if its[word].start >= end:
                    break
                if start < its[word].end:
                    sums[:, word] += state[:, token]
                    rarity[word] = max(rarity[word], np.log1p(piece.numbers[token]))
                    seen[word] = True
    return Text(tuple(its), _unit(sums), on_grid(rarity, UNITS), int((~seen).sum()))


def _unit(vectors: Any) -> Any:
    norm = np.linalg.norm(vectors, axis=-1, keepdims=True)
    units = np.divide(vectors, norm, out=np.zeros_like(vectors), where=norm > 0)
    return on_grid(units, UNITS).astype(np.float32)
