"""Roles of sentences by rules, and facets that are made of roles.

There is evidence of three kinds: headings (`role_headings.py`), phrases with points
(`role_cues.py`), and places and neighbours (`role_order.py`). The rules need no model
and no network, and only know English. A sentence's points by phrases are added to those
by its place and by the role of the sentence before, and the best sequence of roles is
chosen.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import AfterValidator, Field

from metassay.core.options import Options
from metassay.llm.needs import Resources
from metassay.text.sentences import sentences
from metassay.text.spans import Span
from metassay.units.facets import Facet, facet_part
from metassay.units.record import OK, Divided, Part, Segmentation, Text
from metassay.units.role_cues import (
    GENERAL_CUES,
    ROLES,
    STUDY_CUES,
    Role,
    is_study,
)
from metassay.units.role_headings import read_heading
from metassay.units.role_order import (
    ANY_TEXT,
    REPORT_OF_STUDY,
    Reals,
    find_best_sequence,
)

VERSION = 2  # raised by whoever changes results of this module's kinds


def _check_unique(facets: dict[str, list[Role]]) -> dict[str, list[Role]]:
    counts = Counter[str]()
    for roles in facets.values():
        counts.update(roles)
    twice = [role for role in ROLES if counts[role] > 1]
    if twice:
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
    full = text.full.text or ""
    comes_split = text.sentences is not None
    spans: list[Span] = []
    texts: list[str] = []
    allowed: list[frozenset[str] | None] = []
    current = None
    previous_end = 0
    for start, end in sentences(full) if text.sentences is None else text.sentences:
        # a heading on a line of its own, between sentences
        for line in full[previous_end:start].splitlines():
            line_heading = read_heading(line)
            if line_heading:
                current = line_heading.roles
        previous_end = end
        content = start
        heading = read_heading(full[start:end])
        if heading:
            current = heading.roles
            content = start + heading.end
        if content < end or comes_split:
            spans.append(Span(start if comes_split else content, end))
            # a heading may be all of a sentence that comes with the text
            texts.append(full[content:end] or full[start:end])
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
        full = texts[place].full.text or ""
        divided[place] = _make_parts(full, text.spans, roles, facets)
    if not counts:
        return Divided(divided)
    return Divided(divided, (_count_roles(counts, facets),))


def _make_parts(
    full: str,
    spans: Sequence[Span],
    roles: Sequence[str],
    facets: Mapping[str, Sequence[str]],
) -> list[Part]:
    """Return the facets of a text that have a sentence."""
    parts = []
    for facet, facet_roles in facets.items():
        facet_spans = [
            span for span, role in zip(spans, roles, strict=True) if role in facet_roles
        ]
        if facet_spans:
            parts.append(facet_part(facet, full, facet_spans))
    return parts


def _count_roles(counts: Counter[str], facets: Mapping[str, Sequence[str]]) -> str:
    """Return a note on the number of sentences by role."""
    listed = ", ".join(f"{role} {counts[role]:,}" for role in ROLES if counts[role])
    outside = counts.total()
    for roles in facets.values():
        outside -= sum(counts[role] for role in roles)
    remark = f"; {outside:,} of them are of no facet" if outside else ""
    return f"roles of {counts.total():,} sentences: {listed}{remark}"


# ---- roles by rules


def cue_roles(read: Read) -> list[str]:
    """Return the role of each sentence of a text: the sequence with the most points.

    Under a heading, roles are the heading's. Of equal sequences, that with earlier
    roles of ROLES is chosen. A text of one sentence has points by words only, not by
    place.
    """
    return find_sequence(count_cue_points(read.texts), read)


def find_sequence(points: Reals, read: Read) -> list[str]:
    """Return `cue_roles` of points by cues, sentences x roles."""
    if not len(points):
        return []
    allowed_points = points.copy()
    for row, allowed in zip(allowed_points, read.allowed, strict=True):
        if allowed is not None:
            row[[role not in allowed for role in ROLES]] = -np.inf
    order = REPORT_OF_STUDY if is_study(read.texts) else ANY_TEXT
    return [ROLES[role] for role in find_best_sequence(allowed_points, order)]


def count_cue_points(sentences: Sequence[str]) -> Reals:
    """Return the points of each role for each sentence by its words, 0 without a cue.

    Shape: sentences x roles.
    """
    tables = [GENERAL_CUES, STUDY_CUES] if is_study(sentences) else [GENERAL_CUES]
    points = np.zeros((len(sentences), len(ROLES)))
    for row, sentence in zip(points, sentences, strict=True):
        lower = sentence.lower().strip()
        for cues in tables:
            for column, role in enumerate(ROLES):
                for cue in cues[role]:
                    if cue.pattern.search(lower):
                        row[column] += cue.points
    return points


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
