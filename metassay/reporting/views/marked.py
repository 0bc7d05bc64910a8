"""A text with its facets marked: what stands where, what is absent, made up or unknown."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from metassay.reporting.facets import UNDIVIDED, Divided, Facet
from metassay.text.spans import Span

STYLES = 8  # of marks in page.css; a ninth facet looks like the first and is told by its label


class Mark(NamedTuple):
    """How one facet is shown: its name, and the number of its style."""

    name: str
    style: int


class Run(NamedTuple):
    """A stretch of a text and the facets that hold all of it; none where it is in no facet."""

    text: str
    marks: list[Mark]


class Marked(NamedTuple):
    """One text for reading: runs in order, and what cannot be marked in it.

    `made_up` has what a model returned for each facet and is not in the text, `unknown` why nobody
    knows of a facet.
    """

    runs: list[Run]
    absent: list[str]
    made_up: list[tuple[Mark, list[str]]]
    unknown: list[tuple[str, str]]


def marks_of(names: Iterable[str]) -> dict[str, Mark]:
    """Each facet's mark, by name; styles in the order of the names."""
    return {name: Mark(name, place % STYLES) for place, name in enumerate(names)}


def plain(text: str | None) -> Marked:
    """A text without facets."""
    return Marked([Run(text, [])] if text else [], [], [], [])


def marked(one: Divided, marks: Mapping[str, Mark]) -> Marked:
    """The text of one author with each facet of the benchmark marked, absent, made up or unknown.

    A facet is absent where the text is known and has no word of it, also where all that a model
    returned is made up. Nothing is said of the facets of a text that failed as a whole, or in which
    no section was found.
    """
    if one.text is None or one.status == UNDIVIDED:
        return plain(one.text)
    pieces = {name: facet.pieces for name, facet in one.facets.items() if name in marks}
    reasons = {name: one.unknown(name) for name in marks}
    return Marked(
        runs(one.text, {marks[name]: found for name, found in pieces.items()}),
        [n for n in marks if not reasons[n] and not _facet(one, n).present],
        [(marks[n], list(_facet(one, n).made_up)) for n in marks if _facet(one, n).made_up],
        [(name, reason) for name, reason in reasons.items() if reason],
    )


def runs(text: str, pieces: Mapping[Mark, Sequence[Span]]) -> list[Run]:
    """Cut a text where any piece starts or ends; each run has the marks of the pieces over it."""
    cuts = {0, len(text), *(end for found in pieces.values() for piece in found for end in piece)}
    edges = sorted(cut for cut in cuts if 0 <= cut <= len(text))
    made = []
    for start, end in pairwise(edges):
        over = [
            mark
            for mark, found in pieces.items()
            if any(piece.start <= start and end <= piece.end for piece in found)
        ]
        made.append(Run(text[start:end], sorted(over, key=lambda mark: mark.style)))
    return made


_NOTHING = Facet("ok", "", (), ())


def _facet(one: Divided, name: str) -> Facet:
    return one.facets.get(name, _NOTHING)
