"""Roles of sentences, the facets that a block of params.yaml makes of them, and roles by rules.

`roles.txt` has what speaks for each role: headings, phrases with their points, places, neighbours.
The rules need no model and no network, and know English alone. Points are of our own making, in the
scale of logarithms: 1 makes a role about three times as likely. What a sentence scores for a role
is added to what its place and the role of the sentence before it say, and the best sequence of
roles is taken.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

import numpy as np
from pydantic import AfterValidator, Field

from metassay.core.options import Options
from metassay.llm.needs import Resources
from metassay.text.patterns import read_patterns
from metassay.text.sentences import sentences
from metassay.text.spans import Span
from metassay.units.facets import Facet, facet_part
from metassay.units.record import OK, Divided, Part, Segmentation, Text

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


# ---- roles by rules


def _cues(before: str) -> list[tuple[int, float, re.Pattern[str]]]:
    """The cues of each role: its place in ROLES, points, and what is sought."""
    found = []
    for place, role in enumerate(ROLES):
        for line in TABLE[before + role].rows:
            points, cue = line.split(" ", 1)
            found.append((place, float(points), re.compile(cue)))
    return found


_CUES, _STUDY_CUES = _cues(""), _cues("study ")
_STUDY, _NO_STUDY = re.compile(TABLE[""].named["study"]), re.compile(TABLE[""].named["no_study"])
_ENOUGH = 0.4  # the share of a text's sentences that must tell of a study
_AGAINST = 2  # so many of these are outweighed by one sentence that no report has


class _Order(NamedTuple):
    """Points by place and neighbour; columns are ROLES.

    `at`: by fifth of the text. `first`, `last`: more for these sentences. `after`: from the role of
    a row to that of a column, in the next sentence.
    """

    at: Any
    first: Any
    last: Any
    after: Any


def _order(name: str) -> _Order:
    rows = np.array([[float(points) for points in row.split()] for row in TABLE[name].rows])
    return _Order(rows[:5], rows[5], rows[6], rows[7:])


_ANY, _STUDIES = _order("order"), _order("study order")


def cue_roles(read: Read) -> list[str]:
    """The role of each sentence of a text: the sequence with the most points in all.

    Under a heading it is one of the heading's. Of equal sequences the one that stays with earlier
    roles of ROLES is taken. A text of one sentence has no place to speak of, only words.
    """
    return sequence(cue_points(read.said), read)


def sequence(points: Any, read: Read) -> list[str]:
    """The same of points by cues, n x 6."""
    count = len(points)
    if not count:
        return []
    order, total = _STUDIES if is_study(read.said) else _ANY, points.copy()
    if count > 1:
        fifths = np.searchsorted([0.2, 0.4, 0.6, 0.8], np.arange(count) / (count - 1), "right")
        place = order.at[fifths]
        place[0] += order.first
        place[-1] += order.last
        total += place
    for row, left in zip(total, read.allowed, strict=True):
        row[[left is not None and role not in left for role in ROLES]] = -np.inf
    return [ROLES[role] for role in _best(total, order.after)]


def is_study(sentences: Sequence[str]) -> bool:
    """Whether a text reports a study: what was done and measured, not what was designed."""
    low = [sentence.lower() for sentence in sentences]
    told = sum(bool(_STUDY.search(one)) - _AGAINST * bool(_NO_STUDY.search(one)) for one in low)
    return told >= _ENOUGH * len(low)


def cue_points(sentences: Sequence[str]) -> Any:
    """Points of each role for each sentence of a text, n x 6, by words alone; 0 without any cue."""
    cues = [*_CUES, *_STUDY_CUES] if is_study(sentences) else _CUES
    points = np.zeros((len(sentences), len(ROLES)))
    for row, sentence in zip(points, sentences, strict=True):
        low = sentence.lower().strip()
        for role, worth, cue in cues:
            if cue.search(low):
                row[role] += worth
    return points


def _best(points: Any, after: Any) -> list[int]:
    """The best path through n x roles (Viterbi)."""
    total, came = points[0], []
    for row in points[1:]:
        ways = total[:, None] + after
        came.append(ways.argmax(0))
        total = ways.max(0) + row
    path = [int(total.argmax())]
    for back in reversed(came):
        path.append(int(back[path[-1]]))
    return path[::-1]


def divide(texts: Sequence[Text], options: RoleOptions, resources: Resources) -> Divided:  # noqa: ARG001
    """The facets of each text by the rules; see `divide_by_role`."""
    return divide_by_role(texts, options.facets, lambda reads: [cue_roles(one) for one in reads])


CUES = Segmentation(options=RoleOptions, divide=divide)
