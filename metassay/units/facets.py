"""Facets by segments that a language model returned or a dataset has, located in the text.

Segments are searched in the text (module `locate`). A facet is the text at these
places, in the text's words and order. Segments that are not in the text are made up:
they are stored separately and never judged.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, product
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from metassay.core.errors import BadInput
from metassay.core.options import Name, Options, refuse
from metassay.llm.needs import Resources
from metassay.tables.names import FULL
from metassay.text.sentences import sentences
from metassay.text.spans import Span
from metassay.units.locate import find_all, words_between
from metassay.units.record import OK, Divided, Part, Segmentation, Text

VERSION = 2  # raised by whoever changes results of this module's kinds

_WAYS = ("exact", "loose", "fuzzy")


_IS_WHOLE = f"{FULL!r} is the whole text; choose another name"
Facet = Annotated[Name, refuse(lambda name: _IS_WHOLE if name == FULL else None)]


def check_unique(facets: Sequence[Any]) -> Sequence[Any]:
    """Check that names of facets are unique; ValueError otherwise."""
    if len(set(map(str, facets))) < len(facets):
        raise ValueError("a facet occurs twice; name each once")
    return facets


def facets_of(
    texts: Sequence[Text],
    returned: Iterable[Mapping[str, Sequence[str]] | str | None],
    facets: Iterable[str],
    whose: str,
    called: str,
) -> Divided:
    """Return the facets of each text by its segments, in the order of `facets`.

    `returned`: segments by facet; or the status of a text with unknown facets, which
    differs from their absence; or None for a text that stays undivided.

    Pieces are spans of the full text. A facet without segments is absent and has no
    part; a facet that is all made up has an empty text and no pieces. If only part of a
    segment is in the text, its other sentences are made up. Text that two facets share
    is in both. Notes have numbers and authors' names only; `whose`: their subject;
    `called`: their word for made-up segments.
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
            named = (
                _locate_facet(text, name, segments.get(name, ()), counts)
                for name in facets
            )
            parts = [part for part in named if part.pieces or part.made_up]
            counts["shared", ""] += _count_shared(text, parts)
            divided.append(parts)
    return Divided(divided, tuple(_notes(counts, whose, called)))


def _locate_facet(
    text: Text, name: str, segments: Iterable[str], counts: Counter[tuple[str, str]]
) -> Part:
    full = text.full.text or ""
    spans: list[Span] = []
    made_up: list[str] = []
    for segment in filter(str.strip, segments):
        locations = find_all(segment, full)
        spans += [location.span for location in locations.located]
        made_up += locations.made_up
        counts["segments", text.author] += 1
        if locations.made_up:
            counts["made up", text.author] += 1
        else:
            counts[
                max((location.how for location in locations.located), key=_WAYS.index),
                "",
            ] += 1
    return facet_part(name, full, spans, made_up)


def facet_part(
    name: str, full: str, spans: Iterable[Span], made_up: Sequence[str] = ()
) -> Part:
    """Return the facet of these spans of a text, in any order; neighbours become a single piece."""
    pieces: list[Span] = []
    for span in sorted(spans):
        if pieces and not words_between(full, pieces[-1].end, span.start):
            pieces[-1] = Span(pieces[-1].start, max(pieces[-1].end, span.end))
        else:
            pieces.append(span)
    return Part(
        name, " ".join(full[a:b] for a, b in pieces), pieces, OK, tuple(made_up)
    )


def _count_shared(text: Text, parts: Sequence[Part]) -> int:
    """Count the sentences with text that at least two facets share."""
    common: list[tuple[int, int]] = []
    for first, second in combinations(parts, 2):
        for a, b in product(first.pieces, second.pieces):
            start = max(a.start, b.start)
            end = min(a.end, b.end)
            if start < end:
                common.append((start, end))
    if not common:
        return 0
    spans = text.sentences
    if spans is None:
        spans = sentences(text.full.text or "")
    return sum(_overlaps(start, end, common) for start, end in spans)


def _overlaps(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(max(a, start) < min(b, end) for a, b in spans)


def _notes(counts: Counter[tuple[str, str]], whose: str, called: str) -> Iterator[str]:
    segments: dict[str, int] = {}
    made_up: dict[str, int] = {}
    for (kind, author), count in counts.items():
        if kind == "segments":
            segments[author] = count
        elif kind == "made up":
            made_up[author] = count
    total = sum(segments.values())
    n_made_up = sum(made_up.values())
    if not total:
        return
    exact, loose, fuzzy = (counts[way, ""] for way in _WAYS)
    yield (
        f"{whose} {total:,} segments for {counts['texts', '']:,} text(s): {exact:,} are in their"
        f" text to the character, {loose:,} word by word, {fuzzy:,} with small changes;"
        f" {n_made_up:,} ({n_made_up / total:.1%}) are {called}, in whole or in part"
    )
    if n_made_up:
        authors = sorted(made_up.items(), key=lambda item: (-item[1], item[0]))
        listed = ", ".join(
            f"{name} {count:,} of {segments[name]:,}" for name, count in authors
        )
        yield f"segments that are {called}, by author: {listed}"
    if counts["shared", ""]:
        yield f"{counts['shared', '']:,} sentence(s) are in more than one facet, wholly or in part"


class ReleasedFacetOptions(Options):
    """`facets`: those of the data that are used, in the order of display."""

    facets: Annotated[list[Facet], AfterValidator(check_unique), Field(min_length=1)]


def divide(
    texts: Sequence[Text],
    options: ReleasedFacetOptions,
    resources: Resources,  # noqa: ARG001
) -> Divided:
    """Divide each text into its released facets, in the block's order.

    If a text has some released facets, its other and its empty ones are absent. A text
    without any released facet, such as a system's new text, has unknown facets (status
    error). A text that failed stays undivided. Its released facets are left out, and so
    are those that the block does not name; the notes count both.

    Raises BadInput if no text has a released facet of the block.
    """
    released = chain.from_iterable(text.released for text in texts)
    known = {name for name, _ in released}
    if texts and known.isdisjoint(options.facets):
        raise BadInput(
            f"the dataset has no facet called {', '.join(options.facets)}; choose a segmentation"
            " of another kind, or correct its list of facets"
        )
    unknown = Counter[str]()
    left_out = Counter[str]()
    failed = Counter[str]()
    returned: list[dict[str, list[str]] | str | None] = []
    for text in texts:
        segments: dict[str, list[str]] = defaultdict(list)
        for name, segment in text.released:
            segments[name].append(segment)
        if text.full.status != OK:
            returned.append(None)
            failed[text.author] += sum(
                bool(segment.strip()) for _, segment in text.released
            )
        elif not text.released:
            returned.append("error")
            unknown[text.author] += 1
        else:
            returned.append(segments)
            left_out.update(name for name in segments if name not in options.facets)
    divided = facets_of(
        texts, returned, options.facets, "the dataset brings", "not verbatim in it"
    )
    notes = {
        "texts without released facets, which are unknown": unknown,
        "released facets of texts that failed, which are left out": +failed,  # no zeros
        "released facets that the block does not name": left_out,
    }
    counted = []
    for note, counts in notes.items():
        by_author = [f"{author} {count:,}" for author, count in sorted(counts.items())]
        if by_author:
            counted.append(f"{note}: {', '.join(by_author)}")
    return Divided(divided.parts, (*divided.notes, *counted))


# A facet that no text has is reported, so all texts are divided at once.
RELEASED = Segmentation(
    options=ReleasedFacetOptions, divide=divide, whole=lambda _: True
)
