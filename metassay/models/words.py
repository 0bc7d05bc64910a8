"""Vectors of words: the outputs of an encoder's layers for each word of a text, in context.

A word's vector is the mean of those of the word pieces that it overlaps, scaled to
length 1 and rounded to a grid (metassay/models/digits.py). The first "layer" is the
encoder's table of word pieces, without context or position.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from metassay.models import extra
from metassay.models.digits import UNITS, round_to_grid
from metassay.models.encoders import Encoder, encode_batches, round_states
from metassay.text.spans import Span

# Numbers stay whole (7.2, 120/80, 1,000); a unit after its number is separate (20mg,
# 5-cm).
_WORD = re.compile(r"\d+(?:[.,/:]\d+)*|[^\W\d_][^\W_]*(?:['\u2019][^\W\d_]+)*|%")

LAYERS = 3  # the table of pieces, the middle layer and the last one


class Text(NamedTuple):
    """An encoded text with n words.

    `vectors`: layers x n x dimensions, float32, each of length 1, on a grid: products
    in float64 are exact. With an encoder in float64 they are equal on every processor.
    `rarity`: n values, the logarithm of the place of a word's rarest piece in the
    vocabulary, which starts with frequent pieces. `cut`: number of words that the
    encoder cannot read: too long, or of characters that its tokenizer drops.
    """

    words: tuple[Span, ...]
    vectors: Any
    rarity: Any
    cut: int = 0


def words(text: str) -> list[Span]:
    """Find the words of a text, in order: runs of letters or digits, whole numbers, and `%`."""
    return [Span(*match.span()) for match in _WORD.finditer(text)]


class _Piece(NamedTuple):
    """A part of a text that the encoder reads at once, and the spans of its tokens."""

    place: int
    numbers: list[int]
    spans: list[tuple[int, int]]


def encode(encoder: Encoder, texts: Sequence[str], batch_tokens: int) -> list[Text]:
    """Return each text's words with their vectors in the first, the middle and the last layer.

    A text that is too long for the encoder is read in halves, so that nothing is left
    out. Batches have texts of similar length, and at most `batch_tokens` tokens with
    padding.
    """
    words_of_texts = [words(text) for text in texts]
    pieces = [
        piece
        for place, (text, spans) in enumerate(zip(texts, words_of_texts, strict=True))
        if spans
        for piece in _pieces(encoder, place, text, spans)
    ]
    states = _states(encoder, [piece.numbers for piece in pieces], batch_tokens)
    parts: list[list[tuple[_Piece, Any]]] = [[] for _ in texts]
    for piece, state in zip(pieces, states, strict=True):
        parts[piece.place].append((piece, state))
    size = encoder.weights.config.hidden_size
    return [
        _text(spans, part, size)
        for spans, part in zip(words_of_texts, parts, strict=True)
    ]


def _pieces(
    encoder: Encoder, place: int, text: str, spans: Sequence[Span]
) -> Iterator[_Piece]:
    first, last = spans[0].start, spans[-1].end
    read = encoder.tokenizer(
        text[first:last], return_offsets_mapping=True, verbose=False
    )
    numbers: list[int] = read["input_ids"]
    if encoder.limit is not None and len(numbers) > encoder.limit:
        if len(spans) > 1:
            half = len(spans) // 2
            yield from _pieces(encoder, place, text, spans[:half])
            yield from _pieces(encoder, place, text, spans[half:])
            return
        numbers = []
    if numbers:
        token_spans = [
            (first + start, first + end) for start, end in read["offset_mapping"]
        ]
        yield _Piece(place, numbers, token_spans)


def _states(
    encoder: Encoder, rows: Sequence[Sequence[int]], batch_tokens: int
) -> list[Any]:
    """Return for each row of tokens: layers x tokens x dimensions."""
    table = encoder.weights.get_input_embeddings()
    states: list[Any] = [None] * len(rows)
    outputs = encode_batches(encoder, rows, batch_tokens, output_hidden_states=True)
    for batch, numbers, output in outputs:
        hidden, first = output.hidden_states, table(numbers)
        if first.shape != hidden[0].shape:  # ALBERT's table has vectors of another size
            first = hidden[0]
        layers = extra.module("torch").stack(
            (first, hidden[len(hidden) // 2], hidden[-1]), 1
        )
        for row, place in zip(round_states(layers).cpu().numpy(), batch, strict=True):
            states[place] = row[:, : len(rows[place])].copy()
    return states


def _text(
    spans: Sequence[Span], parts: Sequence[tuple[_Piece, Any]], size: int
) -> Text:
    sums = np.zeros((LAYERS, len(spans), size))
    rarity, has_vector = np.zeros(len(spans)), np.zeros(len(spans), bool)
    first = 0
    for piece, state in parts:
        for token, (start, end) in enumerate(piece.spans):
            if start == end:  # a special token
                continue
            while first < len(spans) - 1 and spans[first].end <= start:
                first += 1
            # a token can overlap several words: 3rd
            for word in range(first, len(spans)):
                if spans[word].start >= end:
                    break
                if start < spans[word].end:
                    sums[:, word] += state[:, token]
                    rarity[word] = max(rarity[word], np.log1p(piece.numbers[token]))
                    has_vector[word] = True
    norm = np.linalg.norm(sums, axis=-1, keepdims=True)
    units = np.divide(sums, norm, out=np.zeros_like(sums), where=norm > 0)
    vectors = round_to_grid(units, UNITS).astype(np.float32)
    return Text(
        tuple(spans), vectors, round_to_grid(rarity, UNITS), int((~has_vector).sum())
    )
