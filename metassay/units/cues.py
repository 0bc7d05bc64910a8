"""Facets by rules: what phrases, places, neighbours and headings say for each role of a sentence.

It needs no model and no network, and knows English alone. Points are of our own making, in the
scale of logarithms: 1 makes a role about three times as likely. What a sentence scores for a role
is added to what its place and the role of the sentence before it say, and the best sequence of
roles is taken.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from metassay.llm.needs import Resources
from metassay.units.cue_phrases import CUES
from metassay.units.record import Divided, Segmentation, Text
from metassay.units.roles import ROLES, Read, RoleOptions, divide_by_role
from metassay.units.study_phrases import NO_STUDY, STUDY, STUDY_CUES

_Cues = Sequence[tuple[int, float, re.Pattern[str]]]


def _compiled(cues: Mapping[str, Sequence[tuple[float, str]]]) -> _Cues:
    return [
        (ROLES.index(role), points, re.compile(cue))
        for role, own in cues.items()
        for points, cue in own
    ]


_BY_CUES, _BY_STUDY_CUES = _compiled(CUES), _compiled(STUDY_CUES)
_STUDY, _NO_STUDY = re.compile(STUDY), re.compile(NO_STUDY)
_ENOUGH = 0.4  # the share of a text's sentences that must tell of a study
_AGAINST = 2  # so many of these are outweighed by one sentence that no report has

# By place, in fifths of the text.
_BETWEEN = (0.2, 0.4, 0.6, 0.8)


class _Order(NamedTuple):
    """Points by place and neighbour; columns are ROLES.

    `at`: by fifth of the text. `first`, `last`: more for these sentences. `after`: from the role of
    a row to that of a column, in the next sentence.
    """

    at: Any
    first: Any
    last: Any
    after: Any


_ANY = _Order(
    at=np.array(
        [  # background, objective, method, result, conclusion, other
            [1.9, 0.4, 0.2, -2.0, -4.0, -3.0],
            [1.0, 0.6, 0.8, -1.3, -3.5, -3.5],
            [0.3, 0.2, 1.2, -0.4, -2.8, -3.5],
            [-0.5, -0.5, 1.0, 0.4, -2.0, -3.0],
            [-1.2, -1.0, 0.4, 0.9, -0.6, -2.2],
        ]
    ),
    first=np.array([1.4, 0.0, -1.0, -2.0, -3.0, -0.5]),
    last=np.array([-1.0, -0.5, -0.7, 0.4, 2.2, 0.6]),
    after=np.array(
        [
            [0.8, 0.4, 0.0, -1.2, -2.0, -1.5],
            [-1.2, 0.2, 0.8, -0.4, -1.5, -2.0],
            [-1.8, -1.0, 0.8, 0.2, -0.8, -1.6],
            [-2.6, -1.6, -0.8, 0.8, 0.2, -0.6],
            [-3.0, -2.0, -2.0, -1.5, 1.2, 0.0],
            [-1.0, -1.5, -1.5, -1.0, -0.5, 1.5],
        ]
    ),
)
# Reports of studies keep this order much more strictly: results fill the second half.
_STUDIES = _Order(
    at=np.array(
        [
            [1.9, 0.7, 0.2, -2.4, -4.0, -3.0],
            [0.7, 0.6, 1.1, -0.8, -3.5, -3.5],
            [-0.4, -0.3, 1.0, 0.2, -2.6, -3.5],
            [-1.3, -1.2, 0.4, 1.0, -1.5, -3.0],
            [-2.0, -1.8, -0.5, 1.1, 0.4, -1.7],
        ]
    ),
    first=np.array([1.4, 0.3, -0.8, -2.0, -3.0, -0.5]),
    last=np.array([-1.0, -0.5, -0.9, 0.2, 2.4, 0.6]),
    after=np.array(
        [
            [0.8, 0.5, 0.3, -1.2, -2.4, -1.9],
            [-1.3, 0.0, 1.1, -0.2, -1.9, -2.0],
            [-2.4, -1.8, 0.8, 0.4, -1.3, -1.9],
            [-2.9, -2.6, -1.2, 0.9, 0.4, -0.8],
            [-3.0, -2.8, -2.8, -2.0, 1.2, 0.0],
            [-1.0, -1.5, -1.5, -1.0, -0.5, 1.5],
        ]
    ),
)


def cue_roles(read: Read) -> list[str]:
    """The role of each sentence of a text: the sequence with the most points in all.

    Under a heading it is one of the heading's. Of equal sequences the one that stays with earlier
    roles of ROLES is taken. A text of one sentence has no place to speak of, only words.
    """
    return sequence(cue_points(read.said), read)


def sequence(points: Any, read: Read) -> list[str]:
    """The same of points by cues, n x 6."""
    if not len(points):
        return []
    order = _STUDIES if is_study(read.said) else _ANY
    total = points + _places(len(points), order)
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
    cues = [*_BY_CUES, *_BY_STUDY_CUES] if is_study(sentences) else _BY_CUES
    points = np.zeros((len(sentences), len(ROLES)))
    for row, sentence in zip(points, sentences, strict=True):
        low = sentence.lower().strip()
        for role, worth, cue in cues:
            if cue.search(low):
                row[role] += worth
    return points


def _places(count: int, order: _Order) -> Any:
    places = np.zeros((count, len(ROLES)))
    if count > 1:
        share = np.arange(count) / (count - 1)
        places += order.at[np.searchsorted(_BETWEEN, share, side="right")]
        places[0] += order.first
        places[-1] += order.last
    return places


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


KIND = Segmentation(
    options=RoleOptions, divide=divide, facets=lambda options: tuple(options.facets)
)
