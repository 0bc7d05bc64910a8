"""Kinds of evidence: what a claim, statement or text is read against.

The premise of citations is the cited passages in the order of citing, joined by
newlines; the rules of citations are in pairs.py. Passages that cannot be read are not
evidence. The other passages are read without a cited passage only if both it and one of
them can be read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple

from metassay.tables.names import FULL, REFERENCE

# in Document.units, the kind of statements with the citations that count
CITING = "citing"


class Unit(NamedTuple):
    """A claim, a statement, a whole text, or another system's text to compare with (a rival).

    If status is not ok, it stands for unknown units. `readable`: the cited passages
    that can be read, in their order. A rival's position is its place among the systems.
    """

    part: str
    position: int
    text: str
    citations: Sequence[int] = ()
    status: str = "ok"
    readable: Sequence[int] = ()


class Premise(NamedTuple):
    """What a judge reads, or why there is nothing to ask (a value of pairs.settled).

    hypothesis: if it is not the unit's text. context: other text of the question.
    authors: of premise and context, without passages of the source.
    """

    text: str | None
    settled: str | None = None
    context: str | None = None
    hypothesis: str | None = None
    authors: tuple[str, ...] = ()


NO_TEXT, NO_EVIDENCE, NO_CLAIMS = (
    Premise(None, why) for why in ("no_text", "no_evidence", "no_claims")
)


class Document(NamedTuple):
    """A document with its texts and units."""

    task: str
    dataset: str
    passages: Sequence[str]
    texts: Mapping[str, Mapping[str, Premise]]  # author -> part -> its text
    # author -> datasets that its texts may repeat
    repeats: Mapping[str, frozenset[str]]
    units: Mapping[tuple[str, str], Sequence[Unit]]  # author, Question.kind
    # Suffix of an alignment, author, part, position -> passages
    aligned: Mapping[tuple[str, str, str, int], Sequence[int]]

    @property
    def systems(self) -> list[str]:
        """The authors that are compared with each other, sorted."""
        return sorted(author for author in self.texts if author != REFERENCE)


class Query(NamedTuple):
    """A request for evidence: a unit of `owner`, to be read against the text of `other`."""

    owner: str
    other: str
    unit: Unit
    citation: int  # ALL_CITATIONS unless it is about a single citation
    by_part: bool  # against the same part of the other text, not its whole


Setting = Literal["against", "borrow", "compat", "alignment"]


@dataclass(frozen=True)
class Evidence:
    """A kind of evidence.

    `settings`: those of a benchmark's settings that change it; recipes print these.
    `compares`: it takes the text and its reference; `of_source`: passages of the
    source. `find` returns what is read, or None if there is no such question.
    """

    settings: tuple[Setting, ...]
    find: Callable[[Document, Query], Premise | None]
    compares: bool = False
    of_source: bool = False


def text_or_why(text: str | None) -> Premise:
    """Return a text as a premise; None is a text that failed, and a blank text is no evidence."""
    if text is None:
        return NO_TEXT
    return Premise(text) if text.strip() else NO_EVIDENCE


def _other_text(document: Document, query: Query) -> Premise:
    texts = document.texts[query.other]
    part = query.unit.part if query.by_part and len(texts) > 1 else FULL
    # A text with other sections left this one out; that is not a failure.
    premise = texts.get(part) or (NO_TEXT if texts[FULL] is NO_TEXT else NO_EVIDENCE)
    return premise._replace(authors=(query.other,))


def _whole_texts(document: Document, query: Query) -> Premise:
    text, other_text = (
        document.texts[author][FULL] for author in (query.owner, query.other)
    )
    if NO_TEXT in (text, other_text):
        return NO_TEXT
    return (
        NO_EVIDENCE
        if text is NO_EVIDENCE
        else other_text._replace(authors=(query.other,))
    )


def _cited(document: Document, query: Query) -> Premise:
    return _join(document, query.unit.readable)


def _cited_alone(document: Document, query: Query) -> Premise:
    readable = query.unit.readable
    return _some_of(document, [c for c in readable if c == query.citation], readable)


def _cited_rest(document: Document, query: Query) -> Premise | None:
    readable = query.unit.readable
    rest = [c for c in readable if c != query.citation]
    return (
        _some_of(document, rest, readable)
        if rest and query.citation in readable
        else None
    )


def _some_of(
    document: Document, places: Sequence[int], together: Sequence[int]
) -> Premise:
    """Return some of the cited passages; the context is all of them if there are more."""
    premise = _join(document, places)
    if premise.text is None or len(places) == len(together):
        return premise
    return premise._replace(context=_join(document, together).text)


def _aligned(document: Document, query: Query, *, suffix: str) -> Premise:
    unit = query.unit
    return _join(
        document,
        sorted(document.aligned[suffix, query.owner, unit.part, unit.position]),
    )


def _join(document: Document, places: Sequence[int]) -> Premise:
    return text_or_why("\n".join([document.passages[place] for place in places]))


def _two_texts(document: Document, query: Query, *, swapped: bool) -> Premise:
    """Return two texts to choose from; a blank text is a text like any other."""
    first = query.owner
    second = document.systems[query.unit.position]
    if swapped:
        first, second = second, first
    texts = [document.texts[author][FULL] for author in (first, second)]
    if NO_TEXT in texts:
        return NO_TEXT
    reference = document.texts.get(REFERENCE, {FULL: NO_TEXT})[FULL].text
    about = reference or _join(document, range(len(document.passages))).text
    others = (REFERENCE,) if reference else ()
    premise, hypothesis = (text.text or "" for text in texts)
    return Premise(premise, None, about, hypothesis, (first, second, *others))


OTHER_TEXT = Evidence(("against",), _other_text, compares=True)
WHOLE_TEXTS = Evidence((), _whole_texts, compares=True)
# Of citations: all cited passages, a single one, and the others.
CITED, CITED_ALONE, CITED_REST = (
    Evidence(("borrow", "compat"), find, of_source=True)
    for find in (_cited, _cited_alone, _cited_rest)
)
ALIGNED = Evidence(("alignment",), partial(_aligned, suffix=""), of_source=True)


def reading(evidence: Evidence, suffix: str) -> Evidence:
    """Return the evidence by the alignment that adds this suffix to names, if it has one."""
    if "alignment" not in evidence.settings:
        return evidence
    return replace(evidence, find=partial(_aligned, suffix=suffix))


# Two texts, the measured one first or second.
OWN_FIRST, OWN_SECOND = (
    Evidence((), partial(_two_texts, swapped=swapped)) for swapped in (False, True)
)
