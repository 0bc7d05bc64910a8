"""Locate segments that were copied out of a text.

Copies differ in details, so a segment is searched in three ways, and the first match
counts:

- exact: character by character, between edges of words.
- loose: word by word. Case, accents, white space, line breaks, quotes, hyphens and
  punctuation do not matter, nor do citations.
- fuzzy: at most FUZZY of its words are changed, left out or added. None of these may be
  a number, a sign such as < or %, a unit of measure or time, a negation, a number word
  or a word of direction (left, higher, after), no word may gain or lose a negating
  prefix, and no two words may swap: else the segment states another fact. A name in
  place of another is not noticed.

The result is always a span of the text, never words of the segment.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from metassay.text.citations import blank_citations, ends
from metassay.text.sentences import sentences
from metassay.text.spans import Span

How = Literal["exact", "loose", "fuzzy"]

FUZZY = 0.15  # of a segment's words may differ: none of fewer than seven

# A number is a token with its sign and decimals; a minus before a space is a sign only
# after = < > ( and ~, elsewhere a dash or the mark of a list item.
_SIGN = r"(?:(?<![\w)\]%])[-\u2212]|(?<=[=<>(~])[-\u2212] ?|(?<=[=<>(~] )[-\u2212] ?)"
_NUMBER = r"(?:\d+(?:,\d{3}(?!\d))*(?:[.:/]\d+)*|(?<![\w.])\.\d+)"
_WORD = r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f])*"
_TOKEN = re.compile(rf"{_SIGN}?{_NUMBER}|{_WORD}|[<>%+\u00b1\u2264\u2265\u2191\u2193]")

# Words that may not differ: negations, directions, number words, units of measure and time.
_FACTS = frozenset(
    """
    no not non nor never none neither nothing without cannot t deny denies denied
    negative absent absence lack lacks lacked fail fails failed left right both
    bilateral up down before after above below higher lower high low more less most
    least greater smaller fewer zero one two three four five six seven eight nine
    ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
    twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million
    half twice double triple once first second third g kg mg mcg μg l dl ml mmol m
    cm mm minute minutes hour hours day days daily week weeks weekly month months
    monthly year years percent
    """.split()
)
_FACT_STEMS = ("increas", "decreas", "improv", "worsen", "reduc")
_NEGATING = ("un", "in", "im", "ir", "il", "non", "dis", "a", "an", "anti", "mis", "ab")
_BETWEEN = "\x1f"  # no token has it


class Located(NamedTuple):
    """The place of a segment in a text, and the way of the match."""

    span: Span
    how: How


class Locations(NamedTuple):
    """The pieces of a segment that are in a text, in order, and the words of those that are not."""

    located: Sequence[Located]
    made_up: Sequence[str]


class _Token(NamedTuple):
    word: str
    start: int
    end: int


class _Text(NamedTuple):
    """A text as tokens; `joined` has all of them, with a mark before, between and after."""

    tokens: tuple[_Token, ...]
    joined: str
    starts: tuple[int, ...]  # of each token's mark in `joined`
    cited: tuple[int, ...]  # where cited statements end
    sentences: tuple[Span, ...]


def find(segment: str, text: str) -> Located | None:
    """Locate the segment in the text; None if it is not there, or has no word.

    Of several places, the first exact match or else the first. Citations after the
    place belong to it. Spans are in characters of `text`.

    >>> text = "She denied any chest pain, or cough."
    >>> find("chest pain", text)
    Located(span=Span(start=15, end=25), how='exact')
    >>> find("CHEST-PAIN or cough", text).how
    'loose'
    """
    segment = segment.strip()
    location = _word_by_word(segment, text)
    if location is not None:
        return location
    tokens = _tokens(segment)
    read = _read(text)
    span = _fuzzy(tokens, read)
    return span and Located(_widened(span, segment, tokens, text), "fuzzy")


def find_all(segment: str, text: str) -> Locations:
    """Locate a segment as a whole, or each of its sentences, which may be apart in the text.

    `...` separates pieces, too. A piece that is not found is made up, such as a
    sentence that was inserted between others.
    """
    whole = _word_by_word(segment.strip(), text)
    if whole is not None:
        return Locations([whole], [])
    places = [(piece, find(piece, text)) for piece in _pieces(segment)]
    located = [place for _, place in places if place is not None]
    return Locations(located, [piece for piece, place in places if place is None])


def says_something(segment: str) -> bool:
    """Return whether it has a word or number that could be searched.

    >>> says_something("5 mg"), says_something("...")
    (True, False)
    """
    return bool(_tokens(segment))


def words_between(text: str, left: int, right: int) -> bool:
    """Return whether the text has words, other than citations, between two places."""
    read = _read(text)
    at = bisect_left(read.tokens, left, key=lambda token: token.start)
    return at < len(read.tokens) and read.tokens[at].end <= right


def _pieces(segment: str) -> list[str]:
    stretches = re.split(r"\.\.\.|\u2026|\[\.\.\.\]", segment)
    pieces: list[str] = []
    for stretch in stretches:
        pieces += [stretch[start:end] for start, end in sentences(stretch)]
    return pieces or [segment.strip()] * bool(segment.strip())


def _word_by_word(segment: str, text: str) -> Located | None:
    tokens = _tokens(segment)
    read = _read(text)
    if not tokens:
        return None
    places = [
        Span(read.tokens[first].start, read.tokens[first + len(tokens) - 1].end)
        for first in _places(tokens, read)
    ]
    for place in places:
        start = max(0, place.start - tokens[0].start)
        if text[start : start + len(segment)] == segment:
            return Located(
                _extend_to_citations(Span(start, start + len(segment)), read), "exact"
            )
    return (
        Located(_widened(places[0], segment, tokens, text), "loose") if places else None
    )


@lru_cache(maxsize=512)  # a text's segments are searched one after the other
def _read(text: str) -> _Text:
    tokens = _tokens(text)
    starts = []
    place = 0
    for token in tokens:
        starts.append(place)
        place += len(_BETWEEN) + len(token.word)
    cited = tuple(ends(text))
    spans = tuple(sentences(text))
    return _Text(tuple(tokens), _join(tokens), tuple(starts), cited, spans)


def _tokens(text: str) -> list[_Token]:
    return [
        _Token(_plain(match.group()), *match.span())
        for match in _TOKEN.finditer(blank_citations(text))
    ]


def _plain(token: str) -> str:
    """Return a token without differences of case, accents, or the spelling of numbers."""
    plain = unicodedata.normalize("NFKD", token).casefold()
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    plain = plain.replace(",", "").replace(" ", "").replace("\u2212", "-")
    return re.sub(r"^(-?)\.", r"\g<1>0.", plain)


def _join(tokens: Sequence[_Token]) -> str:
    return _BETWEEN + "".join(f"{token.word}{_BETWEEN}" for token in tokens)


def _places(tokens: Sequence[_Token], text: _Text) -> Iterator[int]:
    """Find the tokens of the text at which the sequence of tokens begins."""
    joined = _join(tokens)
    at = text.joined.find(joined)
    while at >= 0:
        yield bisect_left(text.starts, at)
        at = text.joined.find(joined, at + 1)


def _widened(span: Span, segment: str, tokens: Sequence[_Token], text: str) -> Span:
    """Extend a span by marks around it that the segment has, too, and by citations after it."""
    start, end = span
    head = segment[: tokens[0].start]
    tail = segment[tokens[-1].end :]
    before, after = (set(marks) - {" ", "\n", "\t"} for marks in (head, tail))
    left = len(text[:start].rstrip(" \t" + "".join(before)))
    opened = text[left:start].lstrip()
    right = end + len(text[end:]) - len(text[end:].lstrip(" \t" + "".join(after)))
    closed = text[end:right].rstrip()
    return _extend_to_citations(
        Span(start - len(opened), end + len(closed)), _read(text)
    )


def _extend_to_citations(span: Span, text: _Text) -> Span:
    """Extend a span to the end of its cited statement, if no words are between."""
    at = bisect_left(text.cited, span.end)
    if at == len(text.cited):
        return span
    follows = bisect_left(text.tokens, span.end, key=lambda token: token.start)
    until = text.tokens[follows].start if follows < len(text.tokens) else text.cited[at]
    return Span(span.start, text.cited[at]) if text.cited[at] <= until else span


def _fuzzy(tokens: Sequence[_Token], text: _Text) -> Span | None:
    """Return the stretch of the text with the fewest changes, if they are few and change no fact.

    It ends with its sentences, also if words at its edges were exchanged.
    """
    others = text.tokens
    limit = int(FUZZY * len(tokens))
    if not limit or not others:
        return None
    # Changes that turn the first i tokens into a stretch of the others that ends before
    # j. Shape (tokens + 1, others + 1). The stretch may begin anywhere (Sellers 1980).
    steps = np.arange(len(others) + 1)
    words = np.array([token.word for token in others])
    costs = np.zeros((len(tokens) + 1, len(others) + 1), dtype=np.int64)
    for row, token in enumerate(tokens, start=1):
        costs[row] = costs[row - 1] + 1
        np.minimum(
            costs[row, 1:], costs[row - 1, :-1] + (words != token.word), costs[row, 1:]
        )
        costs[row] = np.minimum.accumulate(costs[row] - steps) + steps
    last = int(costs[-1].argmin())
    if costs[-1, last] > limit:
        return None
    while last < len(others) and costs[-1, last + 1] == costs[-1, last]:
        last += 1  # as cheap, and no token is left out at the end
    first, equal, exchanged = _path(costs, tokens, others, last)
    turned = any(_negates(*pair) or pair[::-1] in exchanged for pair in exchanged)
    if turned or _facts(tokens) != _facts(others[first:last]):
        return None
    begins = (s.start for s in text.sentences if s.start <= others[equal[0]].start)
    closes = (s.end for s in text.sentences if s.end >= others[equal[-1]].end)
    start = others[first].start
    end = others[last - 1].end
    return Span(max(start, max(begins, default=0)), min(end, min(closes, default=end)))


def _path(
    costs: npt.NDArray[np.int64],
    tokens: Sequence[_Token],
    others: Sequence[_Token],
    last: int,
) -> tuple[int, list[int], list[tuple[str, str]]]:
    """Trace the cheapest stretch that ends before `last`: its first token, the equal
    tokens in order, and the exchanged words.
    """
    row = len(tokens)
    column = last
    equal: list[int] = []
    exchanged = []
    while row:
        token = tokens[row - 1].word
        other = others[column - 1].word if column else None
        if other is not None and costs[row, column] == costs[row - 1, column - 1] + (
            token != other
        ):
            row = row - 1
            column = column - 1
            if token == other:
                equal.insert(0, column)
            else:
                exchanged.append((token, other))
        elif costs[row, column] == costs[row - 1, column] + 1:
            row -= 1
        else:
            column -= 1
    return column, equal, exchanged


def _facts(tokens: Sequence[_Token]) -> list[str]:
    """Return the words that may not change, in order; `year` and `years` are equal."""
    words = (token.word for token in tokens)
    return [
        word.removesuffix("s")
        for word in words
        if word in _FACTS or word.startswith(_FACT_STEMS) or not word.isalpha()
    ]


def _negates(word: str, other: str) -> bool:
    longer, shorter = sorted((word, other), key=len, reverse=True)
    return longer.endswith(shorter) and longer.removesuffix(shorter) in _NEGATING
