"""Tables of judgments on a text, as the page shows them."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from metassay.reporting.views.answers import ORDER, Judgment


class Single(NamedTuple):
    """One citation of a statement: does it entail alone, do the others without it."""

    number: int
    alone: Judgment | None
    rest: Judgment | None


class Citation(NamedTuple):
    """One citation; `known` where the source has that passage."""

    number: int
    known: bool


class Line(NamedTuple):
    """One claim or statement; `singles` has one list per judge; `aligned` are passages [n]."""

    number: int
    text: str
    citations: list[Citation]
    aligned: str
    judgments: list[Judgment]
    singles: list[list[Single]]


class Block(NamedTuple):
    """One table: the lines by part, heads (what, measure and judge), a count of judgments."""

    title: str
    noun: str
    heads: list[tuple[str, str]]
    single_heads: list[tuple[str, str]]
    groups: list[tuple[str, list[Line]]]
    counts: list[str]
    settled: str  # said instead of the lines where no line was put to a judge


def tally(found: Iterable[Judgment]) -> str:
    """How many there are of each word."""
    counts = Counter(judgment.word for judgment in found)
    return ", ".join(f"{counts[word]} {word}" for word in ORDER if counts[word])
