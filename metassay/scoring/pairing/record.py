"""What a measure is: the questions it asks, and how the answers make a score."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from metassay.metrics.describe import Description
from metassay.scoring.pairing import evidence as on
from metassay.scoring.pairing.evidence import CITING, Evidence
from metassay.scoring.pairing.instruments import Instrument, Reals


@dataclass(frozen=True)
class Question:
    """A question about each unit.

    name: its value in `pairs.measure`. whose, units: the claims or statements of the
    measured text, or the claims of the reference; a citation is a statement with one of
    its citations; text is the whole text, and a rival each other system's text of the
    document. counts: the worth of each label, from 0 to 1, of all others 0. The worth
    of a grade is its place on the scale. tasks: of documents of these tasks only;
    empty: of all.
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
        """Whether it takes a text and its reference: it is not asked about the reference."""
        return self.whose == "reference" or self.evidence.compares

    @property
    def cites(self) -> bool:
        """Whether it reads cited passages: it is not asked about authors who cite nowhere."""
        return "borrow" in self.evidence.settings

    @property
    def whole(self) -> bool:
        """Whether it is about whole texts, not about their units."""
        return self.units in ("text", "rival")

    @property
    def kind(self) -> str:
        """The kind of its units: as in table `units`, or statements with citations that count."""
        return CITING if self.cites else self.units


@dataclass(frozen=True)
class Extra:
    """Another question about a counted unit, whose answer goes into its worth.

    absent: the worth if the question was not asked; None: it is always asked.
    """

    question: Question
    absent: float | None = None


def counted_alone(counted: Reals) -> Reals:
    """Return the worth of the counted answers: a measure that asks one question."""
    return counted


def citation_use(alone: Reals, together: Reals, rest: Reals) -> Reals:
    """Return the usefulness of a citation: together and (alone or not rest).

    Each answer is in the formula once, so the bounds are exact: they differ only where
    the failed answers could decide.

    The passages entail the statement together, and so do the others without this one.
    The answer about the cited passage alone failed, and it decides:

    >>> yes, failed = np.array([[1.0], [1.0]]), np.array([[0.0], [1.0]])
    >>> citation_use(alone=failed, together=yes, rest=yes).tolist()
    [[0.0], [1.0]]
    """
    useful: Reals = np.minimum(together, np.maximum(alone, _negated(rest)))
    return useful


def _negated(worth: Reals) -> Reals:
    """Return the bounds of 1 - worth: the lower comes from the upper."""
    flipped: Reals = 1 - worth[::-1]
    return flipped


def order_mean(first: Reals, second: Reals) -> Reals:
    """Return 1 or 0 if both answers of two orders are, else one half.

    An answer is 0, one half or 1, and so is the result, which never falls if an answer
    rises.

    >>> order_mean(np.array([1.0, 1.0, 0.5, 0.0]), np.array([1.0, 0.0, 0.0, 0.0])).tolist()
    [1.0, 0.5, 0.5, 0.0]
    """
    both_prefer = np.floor(np.minimum(first, second))
    one_does_not_oppose = np.ceil(np.maximum(first, second))
    mean: Reals = (both_prefer + one_does_not_oppose) / 2
    return mean


def order_conflict(first: Reals, second: Reals) -> Reals:
    """Return whether the answers in two orders, each 0, one half or 1, are 0 and 1."""
    first_only = np.minimum(first, _negated(second))
    second_only = np.minimum(_negated(first), second)
    apart: Reals = np.floor(np.maximum(first_only, second_only))
    return apart


@dataclass(frozen=True)
class Measure:
    """A metric of judges' answers.

    Every row of `pairs` that asks `counted` is an item, and the score is the mean worth
    of the items. `reduce` makes an item's worth of the answers to `counted` and, in
    order, `also`: each an array (2, items) of the lowest and the highest possible worth
    (equal where the answer is known, 0 and 1 where it failed), and so is the result.
    """

    description: Description
    counted: Question
    also: tuple[Extra, ...] = ()
    reduce: Callable[..., Reals] = counted_alone

    @property
    def questions(self) -> tuple[Question, ...]:
        """All of its questions."""
        return (self.counted, *(other.question for other in self.also))

    @property
    def aligned(self) -> bool:
        """Whether it reads the passages that are aligned with statements."""
        return "alignment" in self.counted.evidence.settings

    def reading(self, suffix: str) -> "Measure":
        """Return the measure by the alignment that adds this suffix to names."""
        question = self.counted
        return replace(
            self,
            description=replace(self.description, name=self.description.name + suffix),
            counted=replace(
                question,
                name=question.name + suffix,
                evidence=on.reading(question.evidence, suffix),
            ),
        )
