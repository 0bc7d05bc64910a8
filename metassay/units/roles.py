"""Roles of sentences by rules, and facets that are made of roles.

`roles.txt` has the evidence for each role: headings, phrases with points, places,
neighbours. The rules need no model and no network, and only know English. We chose the
points, on a scale of logarithms: 1 makes a role about three times as likely. A
sentence's points by phrases are added to those by its place and by the role of the
sentence before, and the best sequence of roles is chosen.
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

VERSION = 2  # raised by whoever changes results of this module's kinds

Role = Literal["background", "objective", "method", "result", "conclusion", "other"]
ROLES: tuple[Role, ...] = get_args(Role)


TABLE = read_patterns(Path(__file__).with_suffix(".txt"))


def _check_unique(facets: dict[str, list[Role]]) -> dict[str, list[Role]]:
    counts = Counter(role for roles in facets.values() for role in roles)
    if twice := [role for role in ROLES if counts[role] > 1]:
        raise ValueError(
            f"{', '.join(twice)}: a sentence has one facet; name each role once"
        )
    return facets


class RoleOptions(Options):
    """`facets`: the roles of each facet, in the order of display.

    A sentence with another role is in no facet.
    """

    facets: Annotated[
        dict[Facet, Annotated[list[Role], Field(min_length=1)]],
        AfterValidator(_check_unique),
        Field(min_length=1),
    ]


class Read(NamedTuple):
    """A text as classifiers of its sentences read it.

    `spans`: its sentences in the full text. `texts`: of each, without a heading.
    `allowed`: the roles of each by the heading above; None without a heading.
    """

    spans: Sequence[Span]
    texts: Sequence[str]
    allowed: Sequence[frozenset[str] | None]


def read(text: Text) -> Read:
    """Read a text's sentences and their headings; a text that failed has none.

    Sentences that come with the text keep headings in front of them; those that are
    split here do not. A heading applies until the next.
    """
    full, split = text.full.text or "", text.sentences is None
    spans: list[Span] = []
    texts: list[str] = []
    allowed: list[frozenset[str] | None] = []
    current, previous = None, 0
    for start, end in sentences(full) if text.sentences is None else text.sentences:
        for line in full[previous:start].splitlines():  # a heading on a separate line
            line_heading = opening(line)
            current = line_heading.roles if line_heading else current
        previous = at = end
        heading = opening(full[start:end])
        current, at = (
            (heading.roles, start + heading.end) if heading else (current, start)
        )
        if at < end or not split:
            spans.append(Span(at if split else start, end))
            texts.append(full[at:end] or full[start:end])
            allowed.append(current)
    return Read(spans, texts, allowed)


def divide_by_role(
    texts: Sequence[Text],
    facets: Mapping[str, Sequence[str]],
    classify: Callable[[Sequence[Read]], Sequence[Sequence[str]]],
) -> Divided:
    """Divide each text into facets by the roles that `classify` gives its sentences.

    Neighbouring sentences of a facet are one piece. A facet without a sentence is
    absent, and a text that failed or has no sentence stays undivided. Notes count
    sentences by role.
    """
    readable = [place for place, text in enumerate(texts) if text.full.status == OK]
    reads = [read(texts[place]) for place in readable]
    counts = Counter[str]()
    divided: list[list[Part]] = [[] for _ in texts]
    for place, text, roles in zip(readable, reads, classify(reads), strict=True):
        counts.update(roles)
        for facet, of_facet in facets.items():
            spans = [
                s for s, role in zip(text.spans, roles, strict=True) if role in of_facet
            ]
            if spans:
                divided[place].append(
                    facet_part(facet, texts[place].full.text or "", spans)
                )
    if not counts:
        return Divided(divided)
    listed = ", ".join(f"{role} {counts[role]:,}" for role in ROLES if counts[role])
    outside = counts.total() - sum(
        counts[role] for roles in facets.values() for role in roles
    )
    remark = f"; {outside:,} of them are of no facet" if outside else ""
    return Divided(
        divided, (f"roles of {counts.total():,} sentences: {listed}{remark}",)
    )


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
# behind markdown and brackets
_LIST = rf"\W*(?P<names>(?:{_NAME})\b(?:{_AND}(?:{_NAME})\b)*)"
_COLON, _DASH = r"(?P<colon>:[*_]{0,3})", r"(?P<dash>(?<=\s)[\u2013\u2014](?=\s))"
_STOP = r"(?:\.|[-\u2013\u2014]+)(?=\s|[A-Z])"
_LED = re.compile(rf"{_LIST}\s*[*_\])]{{0,3}}\s*(?:{_COLON}|{_DASH}|{_STOP})\s*", re.I)
_ALONE = re.compile(rf"{_LIST}[\s:.*_#\])\u2013\u2014-]*", re.I)


class Heading(NamedTuple):
    """The roles under a heading, and its end in the text."""

    roles: frozenset[str]
    end: int


def opening(text: str) -> Heading | None:
    """Return the heading of a structured abstract at the start of a text, or None.

    A name is a heading before a colon in any case; before a dash between spaces, or as
    the whole text, with a capital; before a full stop or any other dash in capitals.
    """
    alone, led = _ALONE.fullmatch(text), _LED.match(text)
    if alone and _is_heading(alone["names"], ":" in text, "." in text):
        return Heading(_heading_roles(alone["names"]), len(text))
    if led and _is_heading(led["names"], led["colon"] is not None, led["dash"] is None):
        return Heading(_heading_roles(led["names"]), led.end())
    return None


def _is_heading(names: str, colon: bool, capitals: bool) -> bool:
    return colon or (names.isupper() if capitals else names[0].isupper())


def _heading_roles(names: str) -> frozenset[str]:
    plain = " ".join(names.lower().replace("\u2019", "'").split())
    if plain in _HEADINGS:
        return frozenset({_HEADINGS[plain]})
    return frozenset(
        _HEADINGS[match[0]]
        for match in re.finditer(_NAME, plain)
        if match[0] in _HEADINGS
    )


# ---- roles by rules


def _cues(before: str) -> list[tuple[int, float, re.Pattern[str]]]:
    """Return the cues of each role: its place in ROLES, points, and pattern."""
    cues = []
    for place, role in enumerate(ROLES):
        for line in TABLE[before + role].rows:
            points, cue = line.split(" ", 1)
            cues.append((place, float(points), re.compile(cue)))
    return cues


_CUES, _STUDY_CUES = _cues(""), _cues("study ")
_STUDY, _NO_STUDY = (
    re.compile(TABLE[""].named["study"]),
    re.compile(TABLE[""].named["no_study"]),
)
_ENOUGH = 0.4  # the share of a text's sentences that must be about a study
_AGAINST = 2  # the number of them that one sentence of another type outweighs


class _Order(NamedTuple):
    """Points by place and neighbour; columns are ROLES.

    `at`: by fifth of the text. `first`, `last`: added for these sentences. `after`:
    from the role of a row to that of a column, in the next sentence.
    """

    at: Any
    first: Any
    last: Any
    after: Any


def _order(name: str) -> _Order:
    rows = np.array(
        [[float(points) for points in row.split()] for row in TABLE[name].rows]
    )
    return _Order(rows[:5], rows[5], rows[6], rows[7:])


_ANY, _STUDIES = _order("order"), _order("study order")


def cue_roles(read: Read) -> list[str]:
    """Return the role of each sentence of a text: the sequence with the most points.

    Under a heading, roles are the heading's. Of equal sequences, that with earlier
    roles of ROLES is chosen. A text of one sentence has points by words only, not by
    place.
    """
    return sequence(cue_points(read.texts), read)


def sequence(points: Any, read: Read) -> list[str]:
    """Return `cue_roles` of points by cues, n x 6."""
    count = len(points)
    if not count:
        return []
    order, total = _STUDIES if is_study(read.texts) else _ANY, points.copy()
    if count > 1:
        fifths = np.searchsorted(
            [0.2, 0.4, 0.6, 0.8], np.arange(count) / (count - 1), "right"
        )
        place = order.at[fifths]
        place[0] += order.first
        place[-1] += order.last
        total += place
    for row, left in zip(total, read.allowed, strict=True):
        row[[left is not None and role not in left for role in ROLES]] = -np.inf
    return [ROLES[role] for role in _best(total, order.after)]


def is_study(sentences: Sequence[str]) -> bool:
    """Return whether a text reports a study: measurements, not a design."""
    low = [sentence.lower() for sentence in sentences]
    score = sum(
        bool(_STUDY.search(s)) - _AGAINST * bool(_NO_STUDY.search(s)) for s in low
    )
    return score >= _ENOUGH * len(low)


def cue_points(sentences: Sequence[str]) -> Any:
    """Return the points of each role for each sentence, n x 6, by words only; 0 without a cue."""
    cues = [*_CUES, *_STUDY_CUES] if is_study(sentences) else _CUES
    points = np.zeros((len(sentences), len(ROLES)))
    for row, sentence in zip(points, sentences, strict=True):
        low = sentence.lower().strip()
        for role, worth, cue in cues:
            if cue.search(low):
                row[role] += worth
    return points


def _best(points: Any, after: Any) -> list[int]:
    """Return the best path through n x roles (Viterbi)."""
    total, came = points[0], []
    for row in points[1:]:
        ways = total[:, None] + after
        came.append(ways.argmax(0))
        total = ways.max(0) + row
    path = [int(total.argmax())]
    for back in reversed(came):
        path.append(int(back[path[-1]]))
    return path[::-1]


def divide(
    texts: Sequence[Text],
    options: RoleOptions,
    resources: Resources,  # noqa: ARG001
) -> Divided:
    """Divide each text by the rules; see `divide_by_role`."""
    return divide_by_role(
        texts, options.facets, lambda reads: list(map(cue_roles, reads))
    )


CUES = Segmentation(options=RoleOptions, divide=divide)
