"""Where a text says what was copied out of it, if it does.

Whoever copies changes little things, so a segment is sought in three ways, and the first that finds
it counts:

- exact: character by character, from the edge of a word to the edge of a word.
- loose: word by word. Case, accents, white space, line breaks, quotes, hyphens and punctuation do
  not matter, nor do citations.
- fuzzy: at most FUZZY of its words are changed, left out or put in. None of these may be a number,
  a sign such as < or %, a unit of measure or time, a negation, a number word or a word of direction
  (left, higher, after), no word may win or lose a negating prefix, and no two words may change
  places: what a segment says otherwise is not in the text. One name for another is not seen.

Whatever finds it, the span is of the text itself, and words are never taken from the segment.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from metassay.text.citations import blanked, ends
from metassay.text.patterns import read_words
from metassay.text.sentences import sentences
from metassay.text.spans import Span

How = Literal["exact", "loose", "fuzzy"]

FUZZY = 0.15  # of a segment's words may differ; so of fewer than seven none

# A number is one token with its sign and decimals; a minus that data set apart from it is a sign
# after = < > ( and ~ alone, for elsewhere it is a dash or opens an item of a list.
_SIGN = r"(?:(?<![\w)\]%])[-\u2212]|(?<=[=<>(~])[-\u2212] ?|(?<=[=<>(~] )[-\u2212] ?)"
_NUMBER = r"(?:\d+(?:,\d{3}(?!\d))*(?:[.:/]\d+)*|(?<![\w.])\.\d+)"
_WORD = r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f])*"
_TOKEN = re.compile(rf"{_SIGN}?{_NUMBER}|{_WORD}|[<>%+\u00b1\u2264\u2265\u2191\u2193]")

_KEPT = frozenset(read_words(__file__, "kept"))
_KEPT_STEMS = ("increas", "decreas", "improv", "worsen", "reduc")
_NEGATING = ("un", "in", "im", "ir", "il", "non", "dis", "a", "an", "anti", "mis", "ab")
_BETWEEN = "\x1f"  # no token has it


class Located(NamedTuple):
    """Where a segment stands in a text, and how it was found."""

    span: Span
    how: How


class Found(NamedTuple):
    """What of a segment is in a text, in the segment's order, and what is not: its own words."""

    located: Sequence[Located]
    made_up: Sequence[str]


class _Token(NamedTuple):
    said: str
    start: int
    end: int


class _Text(NamedTuple):
    """A text as tokens; `joined` has them all with a mark before, between and after."""

    tokens: tuple[_Token, ...]
    joined: str
    starts: tuple[int, ...]  # of each token's mark in `joined`
    cited: tuple[int, ...]  # where cited statements end
    sentences: tuple[Span, ...]


def find(segment: str, text: str) -> Located | None:
    """Where the text says the segment; None if it doesn't, or the segment has no word.

    Of several places the first, but one that is equal to the character before others. A statement's
    citations behind the place belong to it. Counted in characters of `text`.
    """
    segment = segment.strip()
    found = _word_by_word(segment, text)
    if found is not None:
        return found
    said, there = _tokens(segment), _read(text)
    like = _alike(said, there)
    return like and Located(_widened(like, segment, said, text), "fuzzy")


def find_all(segment: str, text: str) -> Found:
    """All places of a segment, which may be sentences that stand apart in the text.

    Where it isn't there as a whole, word by word, each of its sentences is sought, and what `...`
    parts. What isn't found is made up: so a sentence that was put among others is known by itself.
    """
    whole = _word_by_word(segment.strip(), text)
    if whole is not None:
        return Found([whole], [])
    places = [(piece, find(piece, text)) for piece in _pieces(segment)]
    located = [place for _, place in places if place is not None]
    return Found(located, [piece for piece, place in places if place is None])


def says_something(segment: str) -> bool:
    """Whether there is a word or number in it that could be sought."""
    return bool(_tokens(segment))


def parted(text: str, left: int, right: int) -> bool:
    """Whether the text says something between two places, citations apart."""
    there = _read(text)
    at = bisect_left(there.tokens, left, key=lambda token: token.start)
    return at < len(there.tokens) and there.tokens[at].end <= right


def _pieces(segment: str) -> list[str]:
    stretches = re.split(r"\.\.\.|\u2026|\[\.\.\.\]", segment)
    said = [stretch[start:end] for stretch in stretches for start, end in sentences(stretch)]
    return said or [segment.strip()] * bool(segment.strip())


def _word_by_word(segment: str, text: str) -> Located | None:
    said, there = _tokens(segment), _read(text)
    if not said:
        return None
    places = [
        Span(there.tokens[first].start, there.tokens[first + len(said) - 1].end)
        for first in _places(said, there)
    ]
    for place in places:
        start = max(0, place.start - said[0].start)
        if text[start : start + len(segment)] == segment:
            return Located(_with_citations(Span(start, start + len(segment)), there), "exact")
    return Located(_widened(places[0], segment, said, text), "loose") if places else None


@lru_cache(maxsize=512)  # a text's segments are sought one after the other
def _read(text: str) -> _Text:
    tokens = _tokens(text)
    starts, at = [], 0
    for token in tokens:
        starts.append(at)
        at += len(_BETWEEN) + len(token.said)
    cited, own = tuple(ends(text)), tuple(sentences(text))
    return _Text(tuple(tokens), _joined(tokens), tuple(starts), cited, own)


def _tokens(text: str) -> list[_Token]:
    return [
        _Token(_plain(match.group()), *match.span()) for match in _TOKEN.finditer(blanked(text))
    ]


def _plain(token: str) -> str:
    """A token without what does not matter: case, accents, a number's ways of being written."""
    plain = unicodedata.normalize("NFKD", token).casefold()
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    plain = plain.replace(",", "").replace(" ", "").replace("\u2212", "-")
    return re.sub(r"^(-?)\.", r"\g<1>0.", plain)


def _joined(tokens: Sequence[_Token]) -> str:
    return _BETWEEN + "".join(f"{token.said}{_BETWEEN}" for token in tokens)


def _places(said: Sequence[_Token], there: _Text) -> Iterator[int]:
    """The tokens of the text at which all that is said begins, token by token."""
    wanted = _joined(said)
    at = there.joined.find(wanted)
    while at >= 0:
        yield bisect_left(there.starts, at)
        at = there.joined.find(wanted, at + 1)


def _widened(span: Span, segment: str, said: Sequence[_Token], text: str) -> Span:
    """With those marks around it that the segment has, too, and the citations behind it."""
    start, end = span
    head, tail = segment[: said[0].start], segment[said[-1].end :]
    before, after = (set(marks) - {" ", "\n", "\t"} for marks in (head, tail))
    left = len(text[:start].rstrip(" \t" + "".join(before)))
    opened = text[left:start].lstrip()
    right = end + len(text[end:]) - len(text[end:].lstrip(" \t" + "".join(after)))
    closed = text[end:right].rstrip()
    return _with_citations(Span(start - len(opened), end + len(closed)), _read(text))


def _with_citations(span: Span, there: _Text) -> Span:
    """To the end of the cited statement, if the text says nothing more before it."""
    at = bisect_left(there.cited, span.end)
    if at == len(there.cited):
        return span
    follows = bisect_left(there.tokens, span.end, key=lambda token: token.start)
    until = there.tokens[follows].start if follows < len(there.tokens) else there.cited[at]
    return Span(span.start, there.cited[at]) if there.cited[at] <= until else span


def _alike(said: Sequence[_Token], text: _Text) -> Span | None:
    """The stretch of the text that takes the fewest changes, if they are few and change no fact.

    Words at its edges that were exchanged for others count as far as its sentences go.
    """
    there, allowed = text.tokens, int(FUZZY * len(said))
    if not allowed or not there:
        return None
    # Changes that turn the first i tokens of what is said into a stretch that ends before j. Shape
    # (said + 1, there + 1). The stretch may begin anywhere (Sellers 1980).
    steps = np.arange(len(there) + 1)
    theirs = np.array([token.said for token in there])
    costs = np.zeros((len(said) + 1, len(there) + 1), dtype=np.int64)
    for row, token in enumerate(said, start=1):
        costs[row] = costs[row - 1] + 1
        np.minimum(costs[row, 1:], costs[row - 1, :-1] + (theirs != token.said), costs[row, 1:])
        costs[row] = np.minimum.accumulate(costs[row] - steps) + steps
    last = int(costs[-1].argmin())
    if costs[-1, last] > allowed:
        return None
    while last < len(there) and costs[-1, last + 1] == costs[-1, last]:
        last += 1  # as cheap, and nothing that is said is left out at the end
    first, same, exchanged = _path(costs, said, there, last)
    turned = any(_negates(*pair) or pair[::-1] in exchanged for pair in exchanged)
    if turned or _kept(said) != _kept(there[first:last]):
        return None
    begins = max((one for one in text.sentences if one.start <= there[same[0]].start), default=None)
    closes = min((one for one in text.sentences if one.end >= there[same[-1]].end), default=None)
    start = max(there[first].start, begins.start if begins else 0)
    end = there[last - 1].end
    return Span(start, min(end, closes.end) if closes else end)


def _path(
    costs: npt.NDArray[np.int64], said: Sequence[_Token], there: Sequence[_Token], last: int
) -> tuple[int, list[int], list[tuple[str, str]]]:
    """Of the cheapest stretch that ends before `last`: its first token, those that are the same,
    in order, and the words that are exchanged.
    """
    row, column = len(said), last
    same: list[int] = []
    exchanged = []
    while row:
        one, other = said[row - 1].said, there[column - 1].said if column else None
        if other is not None and costs[row, column] == costs[row - 1, column - 1] + (one != other):
            row, column = row - 1, column - 1
            if one == other:
                same.insert(0, column)
            else:
                exchanged.append((one, other))
        elif costs[row, column] == costs[row - 1, column] + 1:
            row -= 1
        else:
            column -= 1
    return column, same, exchanged


def _kept(tokens: Sequence[_Token]) -> list[str]:
    """What may not change, in order: a year and years are one unit."""
    said = (token.said for token in tokens)
    return [
        word.removesuffix("s")
        for word in said
        if word in _KEPT or word.startswith(_KEPT_STEMS) or not word.isalpha()
    ]


def _negates(one: str, other: str) -> bool:
    longer, shorter = sorted((one, other), key=len, reverse=True)
    return longer.endswith(shorter) and longer.removesuffix(shorter) in _NEGATING
