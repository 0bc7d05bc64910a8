"""What a claim or statement is read against: the kinds of evidence, each with how it is found.

Rules of citations. The premise is the cited passages in the order of citing, joined by newlines. A
statement without citations has no evidence; with `borrow` it gets the citations of the next cited
statement of its part. A citation of a passage that is absent or blank is wrong: alone it is no
evidence. The others are asked about without one citation only where this one can be read and one of
them can, too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from metassay.tables import FULL


class Unit(NamedTuple):
    """A claim or statement; where status is not ok, it stands for all that are unknown."""

    part: str
    position: int
    text: str
    citations: Sequence[int]
    status: str = "ok"


class Found(NamedTuple):
    """A premise, or why there is nothing to ask (a value of pairs.settled)."""

    premise: str | None
    settled: str | None


NO_TEXT, NO_EVIDENCE, NO_CLAIMS = (
    Found(None, why) for why in ("no_text", "no_evidence", "no_claims")
)


class Document(NamedTuple):
    """All that is known about one document."""

    passages: Sequence[str]
    texts: Mapping[str, Mapping[str, Found]]  # author -> part -> its text
    units: Mapping[tuple[str, str], Sequence[Unit]]  # author, `claim` or `statement`
    aligned: Mapping[tuple[str, str, int], Sequence[int]]  # author, part, position -> passages


class Query(NamedTuple):
    """What evidence is looked for: a unit of `owner`, to be read against what `other` wrote."""

    owner: str
    other: str
    unit: Unit
    citation: int  # ALL_CITATIONS where it is not about one alone
    by_part: bool  # against the same part of the other text, not against all of it


@dataclass(frozen=True)
class Evidence:
    """One kind of evidence.

    `setting` names what in a benchmark's settings changes it; recipes print that. `find` gives the
    premise, or None where there is no such question.
    """

    name: str
    setting: Literal["against", "borrow", "alignment"]
    find: Callable[[Document, Query], Found | None]


def text_or_why(text: str | None) -> Found:
    """A text as a premise; None is a text that failed, a blank one is no evidence."""
    if text is None:
        return NO_TEXT
    return Found(text, None) if text.strip() else NO_EVIDENCE


def lend(statements: Sequence[Unit]) -> list[Unit]:
    """The statements, those without citations with those of the next cited one of their part."""
    lent: list[Unit] = []
    following: dict[str, Sequence[int]] = {}
    for statement in reversed(statements):
        if statement.citations:
            following[statement.part] = statement.citations
        lent.append(statement._replace(citations=following.get(statement.part, ())))
    return lent[::-1]


def _other_text(document: Document, query: Query) -> Found:
    texts = document.texts[query.other]
    wanted = query.unit.part if query.by_part and len(texts) > 1 else FULL
    # A text with sections, but not this one, did not write it; that is not a failure.
    return texts.get(wanted) or (NO_TEXT if texts[FULL] is NO_TEXT else NO_EVIDENCE)


def _cited(document: Document, query: Query) -> Found:
    return _join(document, _readable(document, query.unit))


def _cited_alone(document: Document, query: Query) -> Found:
    return _join(document, [c for c in _readable(document, query.unit) if c == query.citation])


def _cited_rest(document: Document, query: Query) -> Found | None:
    readable = _readable(document, query.unit)
    rest = [c for c in readable if c != query.citation]
    return _join(document, rest) if rest and query.citation in readable else None


def _aligned(document: Document, query: Query) -> Found:
    unit = query.unit
    return _join(document, sorted(document.aligned[query.owner, unit.part, unit.position]))


def _readable(document: Document, unit: Unit) -> list[int]:
    passages = document.passages
    return [c for c in unit.citations if 0 <= c < len(passages) and passages[c].strip()]


def _join(document: Document, places: Sequence[int]) -> Found:
    return text_or_why("\n".join([document.passages[place] for place in places]))


OTHER_TEXT = Evidence("the other text", "against", _other_text)
CITED = Evidence("all cited passages", "borrow", _cited)
CITED_ALONE = Evidence("one cited passage", "borrow", _cited_alone)
CITED_REST = Evidence("the other cited passages", "borrow", _cited_rest)
ALIGNED = Evidence("the aligned passages", "alignment", _aligned)
