"""Roles of sentences, and the facets that a block of params.yaml makes of them.

`roles.txt` has what speaks for each role: phrases with their points, and headings.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import AfterValidator, Field

from metassay.core.options import Options
from metassay.text.patterns import read_patterns
from metassay.text.sentences import sentences
from metassay.text.spans import Span
from metassay.units.facets import Facet, facet_part
from metassay.units.record import OK, Divided, Part, Text

Role = Literal["background", "objective", "method", "result", "conclusion", "other"]
ROLES: tuple[Role, ...] = get_args(Role)


TABLE = read_patterns(Path(__file__).with_suffix(".txt"))


def _each_once(facets: dict[str, list[Role]]) -> dict[str, list[Role]]:
    named = Counter(role for roles in facets.values() for role in roles)
    if twice := [role for role in ROLES if named[role] > 1]:
        raise ValueError(f"{', '.join(twice)}: a sentence has one facet; name each role once")
    return facets


class RoleOptions(Options):
    """`facets`: each facet's roles, in the order in which facets are shown.

    A sentence whose role none of them names is of no facet.
    """

    facets: Annotated[
        dict[Facet, Annotated[list[Role], Field(min_length=1)]],
        AfterValidator(_each_once),
        Field(min_length=1),
    ]


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
    full, ours = text.full.text or "", text.sentences is None
    spans: list[Span] = []
    said: list[str] = []
    allowed: list[frozenset[str] | None] = []
    now, before = None, 0
    for start, end in sentences(full) if text.sentences is None else text.sentences:
        for line in full[before:start].splitlines():  # where a heading has a line of its own
            above = opening(line)
            now = above.roles if above else now
        before = at = end
        heading = opening(full[start:end])
        now, at = (heading.roles, start + heading.end) if heading else (now, start)
        if at < end or not ours:
            spans.append(Span(at if ours else start, end))
            said.append(full[at:end] or full[start:end])
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
        for facet, named in facets.items():
            spans = [span for span, role in zip(its.spans, roles, strict=True) if role in named]
            if spans:
                divided[place].append(facet_part(facet, texts[place].full.text or "", spans))
    if not counts:
        return Divided(divided)
    listed = ", ".join(f"{role} {counts[role]:,}" for role in ROLES if counts[role])
    outside = counts.total() - sum(counts[role] for roles in facets.values() for role in roles)
    more = f"; {outside:,} of them are of no facet" if outside else ""
    return Divided(divided, (f"roles of {counts.total():,} sentences: {listed}{more}",))


_HEADINGS = {
    name.strip(", "): role
    for role in ROLES
    for name in ", ".join(TABLE[f"heading {role}"].rows).split(",")
    if name.strip()
}
_AND = r"\s*(?:,\s*(?:and\b|&)?|/|&|\+|\band\b)\s*"
_NAME = "|".join(
    re.escape(name).replace(r"\ ", r"\s+").replace("'", "['\u2019]")
    for name in sorted(_HEADINGS, key=lambda name: (-len(name), name))
)
_LIST = rf"\W*(?P<names>(?:{_NAME})\b(?:{_AND}(?:{_NAME})\b)*)"  # behind markdown and brackets
_COLON, _DASH = r"(?P<colon>:[*_]{0,3})", r"(?P<dash>(?<=\s)[\u2013\u2014](?=\s))"
_STOP = r"(?:\.|[-\u2013\u2014]+)(?=\s|[A-Z])"
_LED = re.compile(rf"{_LIST}\s*[*_\])]{{0,3}}\s*(?:{_COLON}|{_DASH}|{_STOP})\s*", re.I)
_ALONE = re.compile(rf"{_LIST}[\s:.*_#\])\u2013\u2014-]*", re.I)


class Heading(NamedTuple):
    """`roles` that a heading leaves; `end`: where it ends in the text that it opens."""

    roles: frozenset[str]
    end: int


def opening(text: str) -> Heading | None:
    """The heading of a structured abstract that a text opens with, or that it is, or None.

    A name is a heading before a colon in any case; before a dash between blanks, or alone, with a
    capital; before a full stop or any other dash in capitals.
    """
    alone, led = _ALONE.fullmatch(text), _LED.match(text)
    if alone and _stands(alone["names"], ":" in text, "." in text):
        return Heading(_heading_roles(alone["names"]), len(text))
    if led and _stands(led["names"], led["colon"] is not None, led["dash"] is None):
        return Heading(_heading_roles(led["names"]), led.end())
    return None


def _stands(names: str, colon: bool, capitals: bool) -> bool:
    return colon or (names.isupper() if capitals else names[0].isupper())


def _heading_roles(names: str) -> frozenset[str]:
    plain = " ".join(names.lower().replace("\u2019", "'").split())
    if plain in _HEADINGS:
        return frozenset({_HEADINGS[plain]})
    return frozenset(
        _HEADINGS[match[0]] for match in re.finditer(_NAME, plain) if match[0] in _HEADINGS
    )
