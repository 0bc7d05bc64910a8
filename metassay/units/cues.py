"""Facets by rules: what phrases, places, neighbours and headings say for each role of a sentence.

It needs no model and no network, and knows English alone. Points are of our own making, in the
scale of logarithms: 1 makes a role about three times as likely. What a sentence scores for a role
is added to what its place and the role of the sentence before it say, and the best sequence of
roles is taken.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from metassay.llm.needs import Resources
from metassay.units.record import Divided, Segmentation, Text
from metassay.units.roles import ROLES, TABLE, Read, RoleOptions, divide_by_role


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
    """The facets of each text by the rules; see `roles.divide_by_role`."""
    return divide_by_role(texts, options.facets, lambda reads: [cue_roles(one) for one in reads])


KIND = Segmentation(options=RoleOptions, divide=divide)
