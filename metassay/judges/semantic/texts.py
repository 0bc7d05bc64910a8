"""Hypothesis and premise as the semantic judge sees them: words, what they are, and vectors."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from metassay.judges.numerals import digits
from metassay.judges.reading import UNITS
from metassay.judges.semantic import known
from metassay.judges.semantic.negations import negated
from metassay.models.words import Text
from metassay.text.boundaries import boundaries
from metassay.text.tokens import content_tokens

_to_digits = digits(UNITS)


class Hypothesis(NamedTuple):
    """n words: their plain forms, what they are (n x true or false), and vectors.

    `stop`: carries no fact by itself. `digit`: has a digit in its plain form. `name`: begins with a
    capital letter, and is neither the first word nor a stop word. `negated`: a negation reaches it.
    """

    encoded: Text
    plain: list[str]
    stop: Any
    digit: Any
    name: Any
    negated: Any


class Premise(NamedTuple):
    """m words of s sentences: plain forms, the sentence of each, and vectors of words in float64.

    `starts`: the place of each sentence's first word. `sentences`: what is known of each, and
    `texts` their texts.
    """

    plain: Any
    sentence: Any
    starts: Any
    vectors: Any
    sentences: list[Hypothesis]
    texts: list[str]


def sentences(premise: str) -> list[str]:
    """The sentences of a premise; headings and all else that has a word are kept."""
    return [part for line in premise.splitlines() for part in _parts(line) if part.strip()]


def _parts(line: str) -> Iterator[str]:
    ends = [0, *boundaries(line), len(line)]
    return (line[start:end] for start, end in itertools.pairwise(ends))


def hypothesis(text: str, encoded: Text) -> Hypothesis:
    """What is known of a text of a few sentences by itself."""
    months = known.months(text)
    said = [text[word.start : word.end] for word in encoded.words]
    month = np.array([word.start in months for word in encoded.words], bool)
    plain = [
        known.MONTH if its else plain_form(word) for word, its in zip(said, month, strict=True)
    ]
    stop = np.array([not content_tokens(word) for word in said], bool) & ~month
    name = np.array([word[0].isupper() for word in said], bool) & ~stop
    name[:1] = False
    digit = np.array([any(map(str.isdigit, word)) for word in plain], bool)
    return Hypothesis(encoded, plain, stop, digit, name, negated(text))


def premise(parts: Sequence[str], encoded: Mapping[str, Text]) -> Premise | None:
    """A premise of these sentences, each with its vectors; None if it has no word."""
    held = [hypothesis(part, encoded[part]) for part in parts if encoded[part].words]
    if not held:
        return None
    sizes = [len(one.plain) for one in held]
    return Premise(
        np.array([word for one in held for word in one.plain], dtype=object),
        np.repeat(np.arange(len(held)), sizes),
        np.cumsum([0, *sizes[:-1]]),
        np.concatenate([one.encoded.vectors for one in held], 1).astype(np.float64),
        held,
        [part for part in parts if encoded[part].words],
    )


@lru_cache(maxsize=65536)
def plain_form(word: str) -> str:
    """A word without plural ending or possessive, a known name as such, a number in digits."""
    name = known.name(word)
    if name is not None:
        return name
    tokens = content_tokens(word)
    return _to_digits(tokens[0]) if tokens else word.lower()
