"""Facets that somebody else named, a language model or who released the data, found in the text.

What was released, by hand or by a model, and is not in the text word by word is kept aside, too.

What they returned is sought in the text (module `locate`). A facet is what the text says there, in
the text's own words and order; what isn't there is made up, is kept aside, and is never judged.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from metassay.core.errors import BadInput
from metassay.core.options import Name, Options, without
from metassay.llm.needs import Resources
from metassay.tables.names import FULL
from metassay.text.sentences import sentences
from metassay.text.spans import Span
from metassay.units.locate import find_all, words_between
from metassay.units.record import OK, Divided, Part, Segmentation, Text

_WAYS = ("exact", "loose", "fuzzy")


_IS_WHOLE = f"{FULL!r} is the whole text; choose another name"
Facet = Annotated[Name, without(lambda name: _IS_WHOLE if name == FULL else None)]


def each_once(facets: Sequence[Any]) -> Sequence[Any]:
    """The names of facets; ValueError if one is there twice."""
    if len(set(map(str, facets))) < len(facets):
        raise ValueError("a facet is there twice; name each once")
    return facets


def facets_of(
    texts: Sequence[Text],
    returned: Iterable[Mapping[str, Sequence[str]] | str | None],
    facets: Iterable[str],
    whose: str,
    called: str,
) -> Divided:
    """The facets of each text by the segments that were returned for it, in the order of `facets`.

    `returned`: segments by facet; or the status of a text whose facets nobody knows, which is not
    the same as their absence; or None for one that stays undivided.

    Pieces are spans of the full text. A facet without any segment is absent and has no part; one
    that is wholly made up has an empty text and no pieces. Of a segment that is there in part, the
    sentences that are not there are made up. What two facets have in common is in both. Notes are
    numbers and authors' names alone; `whose`: who named segments; `called`: how those are called
    that are not in their text.
    """
    counts = Counter[tuple[str, str]]()
    divided: list[list[Part]] = []
    for text, segments in zip(texts, returned, strict=True):
        if segments is None:
            divided.append([])
        elif isinstance(segments, str):
            divided.append([Part(name, None, [], segments) for name in facets])
        else:
            counts["texts", ""] += 1
            every = (_found(text, name, segments.get(name, ()), counts) for name in facets)
            parts = [part for part in every if part.pieces or part.made_up]
            counts["shared", ""] += _shared(text, parts)
            divided.append(parts)
    return Divided(divided, tuple(_notes(counts, whose, called)))


def _found(
    text: Text, name: str, segments: Iterable[str], counts: Counter[tuple[str, str]]
) -> Part:
    full = text.full.text or ""
    spans: list[Span] = []
    made_up: list[str] = []
    for segment in filter(str.strip, segments):
        found = find_all(segment, full)
        spans += [one.span for one in found.located]
        made_up += found.made_up
        counts["segments", text.author] += 1
        if found.made_up:
            counts["made up", text.author] += 1
        else:
            counts[max((one.how for one in found.located), key=_WAYS.index), ""] += 1
    return facet_part(name, full, spans, made_up)


def facet_part(name: str, full: str, spans: Iterable[Span], made_up: Sequence[str] = ()) -> Part:
    """A facet that stands at these places of a text, in any order; neighbours become one piece."""
    pieces: list[Span] = []
    for span in sorted(spans):
        if pieces and not words_between(full, pieces[-1].end, span.start):
            pieces[-1] = Span(pieces[-1].start, max(pieces[-1].end, span.end))
        else:
            pieces.append(span)
    return Part(name, " ".join(full[a:b] for a, b in pieces), pieces, OK, tuple(made_up))


def _shared(text: Text, parts: Sequence[Part]) -> int:
    """The sentences of which at least two facets have some stretch in common."""
    both = (
        (max(one.start, other.start), min(one.end, other.end))
        for first, second in combinations(parts, 2)
        for one in first.pieces
        for other in second.pieces
    )
    common = [(start, end) for start, end in both if start < end]
    if not common:
        return 0
    every = text.sentences if text.sentences is not None else sentences(text.full.text or "")
    return sum(any(max(a, start) < min(b, end) for a, b in common) for start, end in every)


def _notes(counts: Counter[tuple[str, str]], whose: str, called: str) -> Iterator[str]:
    segments, wrong = (
        {author: n for (kind, author), n in counts.items() if kind == name}
        for name in ("segments", "made up")
    )
    every, lost = sum(segments.values()), sum(wrong.values())
    if not every:
        return
    exact, loose, fuzzy = (counts[way, ""] for way in _WAYS)
    yield (
        f"{whose} {every:,} segments for {counts['texts', '']:,} text(s): {exact:,} are in their"
        f" text to the character, {loose:,} word by word, {fuzzy:,} with small changes; {lost:,}"
        f" ({lost / every:.1%}) are {called}, in whole or in part"
    )
    if lost:
        authors = sorted(wrong.items(), key=lambda item: (-item[1], item[0]))
        listed = ", ".join(f"{name} {n:,} of {segments[name]:,}" for name, n in authors)
        yield f"segments that are {called}, by author: {listed}"
    if counts["shared", ""]:
        yield f"{counts['shared', '']:,} sentence(s) are in more than one facet, wholly or in part"


class ReleasedFacetOptions(Options):
    """`facets`: those of the data that are taken, in the order in which they are shown."""

    facets: Annotated[list[Facet], AfterValidator(each_once), Field(min_length=1)]


def divide(texts: Sequence[Text], options: ReleasedFacetOptions, resources: Resources) -> Divided:  # noqa: ARG001
    """The released facets of each text, in the block's order.

    A facet that is released as empty, or not, of a text of which others are, is absent. A text of
    which no facet is released has unknown facets (status error): a system's new text, for example.
    One that failed stays undivided. Its released facets are left out, as are those that the block
    doesn't name; the notes count both.

    Raises BadInput if no facet of the block is released of any text.
    """
    if texts and not any(name in options.facets for text in texts for name, _ in text.released):
        raise BadInput(
            f"the dataset brings no facet called {', '.join(options.facets)}; choose a segmentation"
            " of another kind, or correct its list of facets"
        )
    unknown, left_out, lost = Counter[str](), Counter[str](), Counter[str]()
    returned: list[dict[str, list[str]] | str | None] = []
    for text in texts:
        segments: dict[str, list[str]] = defaultdict(list)
        for name, segment in text.released:
            segments[name].append(segment)
        if text.full.status != OK:
            returned.append(None)
            lost[text.author] += sum(bool(said.strip()) for _, said in text.released)
        elif not text.released:
            returned.append("error")
            unknown[text.author] += 1
        else:
            returned.append(segments)
            left_out.update(name for name in segments if name not in options.facets)
    found = facets_of(texts, returned, options.facets, "the dataset brings", "not verbatim in it")
    notes = {
        "texts without released facets, which are unknown": unknown,
        "released facets of texts that failed, which are left out": +lost,  # no zeros
        "released facets that the block does not name": left_out,
    }
    listed = {
        note: ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
        for note, counts in notes.items()
    }
    return Divided(
        found.parts, (*found.notes, *(f"{note}: {some}" for note, some in listed.items() if some))
    )


# What is not released of any text is told: all texts are divided at once.
RELEASED = Segmentation(options=ReleasedFacetOptions, divide=divide, whole=lambda _: True)
