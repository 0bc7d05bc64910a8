"""Roles of sentences, and the facets that a block of params.yaml makes of them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field

from metassay.core.options import Options
from metassay.text.sentences import sentences
from metassay.text.spans import Span
from metassay.units.found_facets import Facet, facet_part
from metassay.units.record import OK, Divided, Part, Text
from metassay.units.role_headings import opening

Role = Literal["background", "objective", "method", "result", "conclusion", "other"]
ROLES: tuple[Role, ...] = ("background", "objective", "method", "result", "conclusion", "other")


def _each_once(facets: dict[str, list[Role]]) -> dict[str, list[Role]]:
    named = Counter(role for roles in facets.values() for role in roles)
    twice = [role for role in ROLES if named[role] > 1]
    if twice:
        raise ValueError(f"{', '.join(twice)}: a sentence has one facet; name each role once")
    return facets


Facets = Annotated[
    dict[Facet, Annotated[list[Role], Field(min_length=1)]],
    AfterValidator(_each_once),
    Field(min_length=1),
]


class RoleOptions(Options):
    """`facets`: each facet's roles, in the order in which facets are shown.

    A sentence whose role none of them names is of no facet.
    """

    facets: Facets


class Read(NamedTuple):
    """A text as classifiers of its sentences read it.

    `spans`: its sentences in the full text. `said`: what each says, without a heading. `allowed`:
    the roles that the heading above leaves to each; None where there is none.
    """

    spans: Sequence[Span]
    said: Sequence[str]
    allowed: Sequence[frozenset[str] | None]


def read(text: Text) -> Read:
    """The sentences of a text and what headings say of them; nothing of a text that failed.

    Sentences that are given stay as they are, a heading in front of one included. Of those that we
    find ourselves a heading is no part. One holds until the next.
    """
    full, own = text.full.text or "", text.sentences is None
    spans: list[Span] = []
    said: list[str] = []
    allowed: list[frozenset[str] | None] = []
    now, before = None, 0
    for start, end in sentences(full) if text.sentences is None else text.sentences:
        for line in full[before:start].splitlines():  # where a heading has a line of its own
            above = opening(line)
            now = above.roles if above else now
        before = end
        heading = opening(full[start:end])
        at = start
        if heading:
            now, at = heading.roles, start + heading.end
        if own and at == end:
            continue
        spans.append(Span(at if own else start, end))
        said.append(full[at:end] if at < end else full[start:end])
        allowed.append(now)
    return Read(spans, said, allowed)


def divide_by_role(
    texts: Sequence[Text],
    facets: Mapping[str, Sequence[str]],
    classify: Callable[[Sequence[Read]], Sequence[Sequence[str]]],
) -> Divided:
    """The facets of each text by the roles that `classify` gives its sentences.

    Neighbouring sentences of one facet are one piece. A facet without a sentence is absent, and a
    text that failed or has no sentence stays undivided. Notes count sentences by role.
    """
    there = [place for place, text in enumerate(texts) if text.full.status == OK]
    reads = [read(texts[place]) for place in there]
    counts = Counter[str]()
    divided: list[list[Part]] = [[] for _ in texts]
    for place, its, roles in zip(there, reads, classify(reads), strict=True):
        counts.update(roles)
        full = texts[place].full.text or ""
        for facet, named in facets.items():
            own = [span for span, role in zip(its.spans, roles, strict=True) if role in named]
            if own:
                divided[place].append(facet_part(facet, full, own))
    return Divided(divided, tuple(_notes(counts, facets)))


def _notes(counts: Counter[str], facets: Mapping[str, Sequence[str]]) -> list[str]:
    if not counts:
        return []
    named = {role for roles in facets.values() for role in roles}
    listed = ", ".join(f"{role} {counts[role]:,}" for role in ROLES if counts[role])
    outside = sum(number for role, number in counts.items() if role not in named)
    said = f"; {outside:,} of them are of no facet" if outside else ""
    return [f"roles of {counts.total():,} sentences: {listed}{said}"]
