"""What a claim, statement or text is read against: the kinds of evidence, and how each is found.

The premise of citations is the cited passages in the order of citing, joined by newlines; the rules
of citations are in documents.py. Passages that cannot be read are no evidence; the others are asked
about without one citation only where this one can be read and one of them can, too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple

from metassay.tables.names import FULL, REFERENCE

CITING = "citing"  # the kind, in Document.units, of statements with the citations that count


class Unit(NamedTuple):
    """A claim, a statement, a whole text, or another system's text to compare with (a rival).

    Where status is not ok, it stands for all that are unknown. `readable`: the passages that its
    citations leave to read, in their order. A rival's position is its place among the systems.
    """

    part: str
    position: int
    text: str
    citations: Sequence[int] = ()
    status: str = "ok"
    readable: Sequence[int] = ()


class Found(NamedTuple):
    """What a judge is to read, or why there is nothing to ask (a value of pairs.settled).

    hypothesis: where it is not the unit's text. context: what else the question rests on. authors:
    whose texts premise and context are, beside passages of the source.
    """

    premise: str | None
    settled: str | None = None
    context: str | None = None
    hypothesis: str | None = None
    authors: tuple[str, ...] = ()


NO_TEXT, NO_EVIDENCE, NO_CLAIMS = (
    Found(None, why) for why in ("no_text", "no_evidence", "no_claims")
)


class Document(NamedTuple):
    """All that is known about one document."""

    task: str
    dataset: str
    passages: Sequence[str]
    texts: Mapping[str, Mapping[str, Found]]  # author -> part -> its text
    repeats: Mapping[str, frozenset[str]]  # author -> datasets that its texts may repeat
    units: Mapping[tuple[str, str], Sequence[Unit]]  # author, Question.kind
    # What metrics that read an alignment have at their end, author, part, position -> passages
    aligned: Mapping[tuple[str, str, str, int], Sequence[int]]

    @property
    def systems(self) -> list[str]:
        """The authors that are compared with each other, sorted."""
        return sorted(author for author in self.texts if author != REFERENCE)


class Query(NamedTuple):
    """What evidence is looked for: a unit of `owner`, to be read against what `other` wrote."""

    owner: str
    other: str
    unit: Unit
    citation: int  # ALL_CITATIONS where it is not about one alone
    by_part: bool  # against the same part of the other text, not against all of it


Setting = Literal["against", "borrow", "compat", "alignment"]


@dataclass(frozen=True)
class Evidence:
    """One kind of evidence.

    `settings` name what in a benchmark's settings changes it; recipes print these. `compares`: it
    takes the text and its reference; `of_source`: passages of the source. `find` gives what is
    read, or None where there is no such question.
    """

    name: str
    settings: tuple[Setting, ...]
    find: Callable[[Document, Query], Found | None]
    compares: bool = False
    of_source: bool = False


def text_or_why(text: str | None) -> Found:
    """A text as a premise; None is a text that failed, a blank one is no evidence."""
    if text is None:
        return NO_TEXT
    return Found(text) if text.strip() else NO_EVIDENCE


def _other_text(document: Document, query: Query) -> Found:
    texts = document.texts[query.other]
    wanted = query.unit.part if query.by_part and len(texts) > 1 else FULL
    # A text with sections, but not this one, did not write it; that is not a failure.
    found = texts.get(wanted) or (NO_TEXT if texts[FULL] is NO_TEXT else NO_EVIDENCE)
    return found._replace(authors=(query.other,))


def _whole_texts(document: Document, query: Query) -> Found:
    own, other = (document.texts[author][FULL] for author in (query.owner, query.other))
    if NO_TEXT in (own, other):
        return NO_TEXT
    return NO_EVIDENCE if own is NO_EVIDENCE else other._replace(authors=(query.other,))


def _cited_alone(document: Document, query: Query) -> Found:
    readable = query.unit.readable
    return _one_of(document, [c for c in readable if c == query.citation], readable)


def _cited_rest(document: Document, query: Query) -> Found | None:
    readable = query.unit.readable
    rest = [c for c in readable if c != query.citation]
    return _one_of(document, rest, readable) if rest and query.citation in readable else None


def _one_of(document: Document, places: Sequence[int], together: Sequence[int]) -> Found:
    """Some of the cited passages; the context is all of them, unless these are all."""
    found = _join(document, places)
    if found.premise is None or len(places) == len(together):
        return found
    return found._replace(context=_join(document, together).premise)


def _aligned(document: Document, query: Query, *, suffix: str) -> Found:
    unit = query.unit
    return _join(document, sorted(document.aligned[suffix, query.owner, unit.part, unit.position]))


def _join(document: Document, places: Sequence[int]) -> Found:
    return text_or_why("\n".join([document.passages[place] for place in places]))


def _two_texts(document: Document, query: Query, *, swapped: bool) -> Found:
    """Two texts to choose from; a blank one is a text like any other."""
    first, second = query.owner, document.systems[query.unit.position]
    if swapped:
        first, second = second, first
    texts = [document.texts[author][FULL] for author in (first, second)]
    if NO_TEXT in texts:
        return NO_TEXT
    reference = document.texts.get(REFERENCE, {FULL: NO_TEXT})[FULL].premise
    about = reference or _join(document, range(len(document.passages))).premise
    others = (REFERENCE,) if reference else ()
    premise, hypothesis = (text.premise or "" for text in texts)
    return Found(premise, None, about, hypothesis, (first, second, *others))


OTHER_TEXT = Evidence("the other text", ("against",), _other_text, compares=True)
WHOLE_TEXTS = Evidence("the whole other text", (), _whole_texts, compares=True)
CITED = Evidence(
    "all cited passages",
    ("borrow", "compat"),
    lambda document, query: _join(document, query.unit.readable),
    of_source=True,
)
CITED_ALONE = Evidence("one cited passage", ("borrow", "compat"), _cited_alone, of_source=True)
CITED_REST = Evidence("the other cited passages", ("borrow", "compat"), _cited_rest, of_source=True)
ALIGNED = Evidence(
    "the aligned passages", ("alignment",), partial(_aligned, suffix=""), of_source=True
)


def reading(evidence: Evidence, suffix: str) -> Evidence:
    """The same evidence by the alignment that adds this suffix to names, where it has one."""
    if "alignment" not in evidence.settings:
        return evidence
    return replace(evidence, find=partial(_aligned, suffix=suffix))


OWN_FIRST = Evidence("two texts, its own first", (), partial(_two_texts, swapped=False))
OWN_SECOND = Evidence("two texts, its own second", (), partial(_two_texts, swapped=True))
