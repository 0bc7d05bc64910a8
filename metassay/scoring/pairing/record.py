"""What a measure is: what is asked of a judge, and how the answers make a score."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from metassay.metrics.describe import Description
from metassay.scoring.pairing.citing import CITING
from metassay.scoring.pairing.evidence import Evidence
from metassay.scoring.pairing.instruments import Instrument, Reals


@dataclass(frozen=True)
class Question:
    """What is asked about each unit.

    name: what `pairs.measure` says. whose, units: the claims or statements of the text that is
    measured, or the claims of the reference; a citation is a statement with one of its citations;
    text is the whole text, and a rival each other system's text of the document. counts: what each
    label is worth, from 0 to 1; labels that it leaves out are worth 0. A grade is worth its place
    on the scale. tasks: of documents of these tasks only; none: of all.
    """

    name: str
    instrument: Instrument
    whose: Literal["text", "reference"]
    units: Literal["claim", "statement", "citation", "text", "rival"]
    evidence: Evidence
    counts: Mapping[str, float]
    tasks: tuple[str, ...] = ()

    @property
    def compares(self) -> bool:
        """Whether it takes a text and its reference: the reference itself is not asked about."""
        return self.whose == "reference" or self.evidence.compares

    @property
    def cites(self) -> bool:
        """Whether it reads what the text cites: who cites nowhere is not asked about."""
        return "borrow" in self.evidence.settings

    @property
    def whole(self) -> bool:
        """Whether it is about whole texts, and not about what they were cut into."""
        return self.units in ("text", "rival")

    @property
    def kind(self) -> str:
        """The kind of its units: that of table `units`, or statements with citations that count."""
        return CITING if self.cites else self.units


@dataclass(frozen=True)
class Also:
    """Another question about the same unit, whose answer goes into the worth of a counted one.

    absent: the worth where the question was not asked; None: it is always asked.
    """

    question: Question
    absent: float | None = None


def own_worth(counted: Reals) -> Reals:
    """An answer is worth what its question says."""
    return counted


def of_use(alone: Reals, together: Reals, rest: Reals) -> Reals:
    """A citation is of use: together and (alone or not rest).

    Each answer is in the formula once, so its bounds are exact: where the failed answers could make
    it either, and only there, it is unknown.
    """
    useful: Reals = np.minimum(together, np.maximum(alone, negated(rest)))
    return useful


def negated(worth: Reals) -> Reals:
    """1 - worth, of bounds: the lower one comes from the upper one."""
    flipped: Reals = 1 - worth[::-1]
    return flipped


def either(one: Reals, other: Reals) -> Reals:
    """One of the two is enough."""
    return np.maximum(one, other)


def agreed(first: Reals, second: Reals) -> Reals:
    """What was asked in two orders: 1 or 0 where both answers are, else one half.

    An answer is 0, one half or 1, and so is the result, which does not fall where an answer rises.
    """
    half: Reals = (np.floor(np.minimum(first, second)) + np.ceil(np.maximum(first, second))) / 2
    return half


def contradicting(first: Reals, second: Reals) -> Reals:
    """Whether the answers in two orders, each 0, one half or 1, are 0 and 1."""
    one_way = np.minimum(first, negated(second))
    other_way = np.minimum(negated(first), second)
    apart: Reals = np.floor(np.maximum(one_way, other_way))
    return apart


@dataclass(frozen=True)
class Measure:
    """One metric that judges answer.

    Every row of `pairs` that asks `counted` is one item, and the score is the mean worth of the
    items. `reduce` makes the worth of an item from the answers to `counted` and, in order, `also`:
    each an array (2, items) of the lowest and the highest worth that it can have (equal where the
    answer is known, 0 and 1 where it failed), and so is the result.
    """

    description: Description
    counted: Question
    also: tuple[Also, ...] = ()
    reduce: Callable[..., Reals] = own_worth

    @property
    def questions(self) -> tuple[Question, ...]:
        """All that it asks."""
        return (self.counted, *(other.question for other in self.also))
