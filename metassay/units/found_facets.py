"""Facets made of segments that somebody else named: a language model, or who released the data.

What they returned is sought in the text (module `locate`). A facet is what the text says there, in
the text's own words and order; what isn't there is made up, is kept aside, and is never judged.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Annotated

from pydantic import AfterValidator

from metassay.core.options import Name
from metassay.tables.names import FULL
from metassay.text.sentences import sentences
from metassay.text.spans import Span
from metassay.units.locate import Located, find_all, parted
from metassay.units.record import OK, Part, Text

BETWEEN_PIECES = " "
_WAYS = ("exact", "loose", "fuzzy")


def _facet(name: str) -> str:
    if name == FULL:
        raise ValueError(f"{FULL!r} is the whole text; choose another name")
    return name


Facet = Annotated[Name, AfterValidator(_facet)]


@dataclass
class Tally:
    """What came of the segments that were returned, by author, for notes."""

    texts: Counter[str] = field(default_factory=Counter)
    segments: Counter[str] = field(default_factory=Counter)
    made_up: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)
    shared: int = 0  # sentences of which two facets have something in common

    def lines(self, whose: str, called: str) -> Iterator[str]:
        """Notes: numbers and authors' names alone. `whose`: who named segments; `called`: how
        those are called that are not in their text.
        """
        every, wrong = self.segments.total(), self.made_up.total()
        if not every:
            return
        yield (
            f"{whose} {every:,} segments for {self.texts.total():,} text(s): {self.ways['exact']:,}"
            f" are in their text to the character, {self.ways['loose']:,} word by word,"
            f" {self.ways['fuzzy']:,} with small changes; {wrong:,} ({wrong / every:.1%}) are"
            f" {called}, in whole or in part"
        )
        if wrong:
            authors = sorted(self.made_up.items(), key=lambda item: (-item[1], item[0]))
            listed = ", ".join(f"{name} {n:,} of {self.segments[name]:,}" for name, n in authors)
            yield f"segments that are {called}, by author: {listed}"
        if self.shared:
            yield f"{self.shared:,} sentence(s) are in more than one facet, wholly or in part"


def found_facets(text: Text, returned: Mapping[str, Sequence[str]], tally: Tally) -> list[Part]:
    """The facets of a text (with status ok) of the segments that were returned for each of them.

    Pieces are spans of the full text. A facet without any segment is absent and has no part; one
    that is wholly made up has an empty text and no pieces. Of a segment that is there in part, the
    sentences that are not there are made up. What two facets have in common is in both.
    """
    full = text.full.text or ""
    tally.texts[text.author] += 1
    parts = []
    for name, segments in returned.items():
        spans: list[Span] = []
        made_up: list[str] = []
        for segment in segments:
            if not segment.strip():
                continue
            found = find_all(segment, full)
            spans += [one.span for one in found.located]
            made_up += found.made_up
            _count(tally, text.author, found.located, wrong=bool(found.made_up))
        if spans or made_up:
            parts.append(facet_part(name, full, spans, made_up))
    tally.shared += _shared(text, parts)
    return parts


def facet_part(name: str, full: str, spans: Iterable[Span], made_up: Sequence[str] = ()) -> Part:
    """A facet that stands at these places of a text, in any order; neighbours become one piece."""
    pieces: list[Span] = []
    for span in sorted(spans):
        if pieces and not parted(full, pieces[-1].end, span.start):
            pieces[-1] = Span(pieces[-1].start, max(pieces[-1].end, span.end))
        else:
            pieces.append(span)
    said = BETWEEN_PIECES.join(full[start:end] for start, end in pieces)
    return Part(name, said, pieces, OK, tuple(made_up))


def unknown_facets(names: Iterable[str], status: str) -> list[Part]:
    """Every facet of a text of which nobody knows them, which is not the same as their absence."""
    return [Part(name, None, [], status) for name in names]


def by_facet(released: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Segments by the facet that they are of, in their order."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, segment in released:
        found[name].append(segment)
    return found


def _count(tally: Tally, author: str, located: Sequence[Located], *, wrong: bool) -> None:
    tally.segments[author] += 1
    if wrong:
        tally.made_up[author] += 1
    else:
        tally.ways[max((one.how for one in located), key=_WAYS.index)] += 1


def _shared(text: Text, parts: Sequence[Part]) -> int:
    """The sentences of which at least two facets have some stretch in common."""
    common = [
        Span(max(one.start, other.start), min(one.end, other.end))
        for first, second in combinations(parts, 2)
        for one in first.pieces
        for other in second.pieces
        if max(one.start, other.start) < min(one.end, other.end)
    ]
    if not common:
        return 0
    own = text.sentences if text.sentences is not None else sentences(text.full.text or "")
    return sum(
        any(max(one.start, start) < min(one.end, end) for one in common) for start, end in own
    )
