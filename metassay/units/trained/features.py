"""What a trained model sees of a sentence: its words, its place, its cues, and its neighbours.

Words are known by a hash alone, so a model's file has none of them. Several may share a number.
"""

import re
import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from metassay.units.cue_rules import cue_points, sequence
from metassay.units.roles import ROLES, Read

SIZE = 1 << 14  # numbers that words and their sequences are hashed to
AROUND = 2  # neighbours on either side whose first guesses count
_FEWEST, _MOST = 3, 10  # sentences: what shorter and longer texts count as
_FIFTHS = 5
_LONG = 75  # words: longer sentences count as these
_OPENING = 6  # words that count as a sentence's opening
_TOKEN = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*|\d+(?:[.,]\d+)*|[^\w\s]")
_YEAR = re.compile(r"(?:19|20)\d\d")

PLACE = 11 + _FIFTHS  # features of a sentence's place and length
CUE = 2 * len(ROLES)


class Shared(NamedTuple):
    """What several steps read of a text: its n sentences, their places, n x PLACE, and their cues,
    n x CUE, of which the first six columns say which role the rules choose.
    """

    said: Sequence[str]
    place: Any
    cue: Any


def hashed(sentence: str) -> Any:
    """The numbers of a sentence's words, of two in sequence, and of its opening: sorted, distinct.

    Case does not count; years are one word, and so are all other numbers.
    """
    words = tokens(sentence)
    whole = ["^", *words, "$"]
    grams = [*whole, *(" ".join(two) for two in pairwise(whole))]
    grams += [" ".join((f"first {count}", *words[:count])) for count in (2, 3, 4)]
    grams += [f"opening {word}" for word in words[:_OPENING]]
    return np.unique([zlib.crc32(gram.encode()) % SIZE for gram in grams])


def tokens(sentence: str) -> list[str]:
    """Words, numbers and signs of a sentence, in lower case."""
    return [_plain(found) for found in _TOKEN.findall(sentence.lower())]


def _plain(token: str) -> str:
    if not token[0].isdigit():
        return token
    return "<year>" if _YEAR.fullmatch(token) else "<number>"


def places(said: Sequence[str]) -> Any:
    """Where each sentence stands, and how long it is: n x PLACE.

    The only sentence of a text is neither its first nor its last one.
    """
    count = len(said)
    rows = np.zeros((count, PLACE))
    for at, (row, sentence) in enumerate(zip(rows, said, strict=True)):
        share = at / (count - 1) if count > 1 else 0.5
        length = min(max(count, _FEWEST), _MOST)
        ends = (at == 0, at == 1, at == 2, at == count - 1, at == count - 2)
        row[:5] = ends if count > 1 else 0
        row[5:11] = (
            share,
            1 - share,
            (2 * share - 1) ** 2,
            1 / length,
            length / 10,
            min(len(sentence.split()), _LONG) / 25,
        )
        row[11 + min(int(share * _FIFTHS), _FIFTHS - 1)] = 1
    return rows


def cues(read: Read) -> Any:
    """What the cue rules say: the role that they choose, and a third of each role's points."""
    points = cue_points(read.said)
    chosen = [[role == each for each in ROLES] for role in sequence(points, read)]
    return np.hstack([np.array(chosen, float), points / 3])


def shared(read: Read) -> Shared:
    """What several steps read of a text."""
    return Shared(read.said, places(read.said), cues(read))


def around(guesses: Any, place: Any) -> Any:
    """What the first guesses say of a sentence and its neighbours: n x (a number), with `place`.

    `guesses`: n x roles, probabilities. Of each of AROUND neighbours on either side, and of the
    sentence, the logarithms around their mean, and whether it is there; then the mean guess of all
    sentences before, and of all behind.
    """
    count, roles = guesses.shape
    logs = np.log(np.clip(guesses, 0.005, 1))
    logs -= logs.mean(1, keepdims=True)
    missing = np.hstack([np.zeros((AROUND, roles)), np.ones((AROUND, 1))])
    padded = np.vstack([missing, np.hstack([logs, np.zeros((count, 1))]), missing])
    near = [padded[shift : shift + count] for shift in range(2 * AROUND + 1)]
    before = np.cumsum(guesses, 0) - guesses
    behind = guesses.sum(0) - before - guesses
    before /= np.maximum(np.arange(count), 1)[:, None]
    behind /= np.maximum(np.arange(count)[::-1], 1)[:, None]
    return np.hstack([*near, 2 * before, 2 * behind, place])
