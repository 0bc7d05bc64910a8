"""The table of measures: the questions of each, and how the answers make a score.

A new measure is a line in `_ASKS` and a paragraph in measures.txt, without new code, if
its questions are about claims, statements, citations or whole texts, and their evidence
is in `evidence.py`. Three-way labels: an instrument with three labels, and a measure
that counts one of them ({"contradicted": 1} is a rate of contradictions). A rubric item
or a facet: an instrument with labels or a grade.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from metassay.metrics.describe import JUDGED, Description
from metassay.scoring.pairing import evidence as on
from metassay.scoring.pairing import instruments as ask
from metassay.scoring.pairing.evidence import CITING, Evidence
from metassay.scoring.pairing.instruments import Instrument, Reals
from metassay.tables.columns import entries


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


def citation_use(alone: Reals, together: Reals, rest: Reals) -> Reals:
    """Return the usefulness of a citation: together and (alone or not rest).

    Each answer is in the formula once, so the bounds are exact: they differ only where
    the failed answers could decide.
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
    """
    half: Reals = (
        np.floor(np.minimum(first, second)) + np.ceil(np.maximum(first, second))
    ) / 2
    return half


def order_conflict(first: Reals, second: Reals) -> Reals:
    """Return whether the answers in two orders, each 0, one half or 1, are 0 and 1."""
    ways = np.minimum(first, _negated(second)), np.minimum(_negated(first), second)
    apart: Reals = np.floor(np.maximum(*ways))
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
    reduce: Callable[..., Reals] = lambda counted: counted

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


_YES = {"entailed": 1.0}
CLAIM_RECALL = Question(
    "claim_recall", ask.ENTAILMENT, "reference", "claim", on.OTHER_TEXT, _YES
)
CLAIM_PRECISION = Question(
    "claim_precision", ask.ENTAILMENT, "text", "claim", on.OTHER_TEXT, _YES
)
CITED_TOGETHER = Question(
    "citation_recall", ask.ATTRIBUTION, "text", "statement", on.CITED, _YES
)
EACH_CITATION = Question(
    "citation_alone", ask.ATTRIBUTION_ALONE, "text", "citation", on.CITED_ALONE, _YES
)
OTHER_CITATIONS = Question(
    "citation_rest", ask.ATTRIBUTION_REST, "text", "citation", on.CITED_REST, _YES
)
FAITHFULNESS = Question(
    "faithfulness", ask.ENTAILMENT, "text", "statement", on.ALIGNED, _YES
)
CLAIM_GRADE = Question(
    "claim_recall_grade", ask.SUPPORT_GRADE, "reference", "claim", on.OTHER_TEXT, {}
)
CONTRADICTION = Question(
    "claim_contradiction",
    ask.THREE_WAY,
    "text",
    "claim",
    on.OTHER_TEXT,
    {"contradicted": 1.0},
)
SAME = Question(
    "same_question",
    ask.SAME_QUESTION,
    "text",
    "text",
    on.WHOLE_TEXTS,
    {"same": 1.0},
    ("question",),
)
# The measured text comes first, then second.
FIRST, SECOND = (
    Question(
        f"preference_{first}",
        ask.PREFERENCE,
        "text",
        "rival",
        order,
        {first: 1.0, "neither": 0.5},
    )
    for first, order in (("first", on.OWN_FIRST), ("second", on.OWN_SECOND))
)

_MISSING = (
    "null if there is nothing to count or no answer; answers that failed are counted in n_failed,"
    " and low and high bound what they could change; "
)
_BOTH_ORDERS = (FIRST, (Extra(SECOND),))
_OR_SAME = ((Extra(SAME, absent=0.0),), np.maximum)  # one of the two is enough

# `counted` and, if it has them, `also` and `reduce`; measures.txt says what a measure
# means.
_ASKS: dict[str, tuple[Any, ...]] = {
    "claim_recall": (CLAIM_RECALL,),
    "claim_precision": (CLAIM_PRECISION,),
    "citation_recall": (CITED_TOGETHER,),
    # Without other citations, a citation is useful only if it entails alone.
    "citation_precision": (
        EACH_CITATION,
        (Extra(CITED_TOGETHER), Extra(OTHER_CITATIONS, absent=1.0)),
        citation_use,
    ),
    "faithfulness": (FAITHFULNESS,),
    "claim_recall_grade": (CLAIM_GRADE,),
    "claim_contradiction": (CONTRADICTION,),
    "same_question": (SAME,),
    "claim_recall_or_same": (CLAIM_RECALL, *_OR_SAME),
    "claim_precision_or_same": (CLAIM_PRECISION, *_OR_SAME),
    "preference": (*_BOTH_ORDERS, order_mean),
    "preference_position_bias": (*_BOTH_ORDERS, order_conflict),
}


def _descriptions() -> Iterator[Description]:
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    for entry in (dict(entries(paragraph)) for paragraph in text.split("\n\n")):
        lower, missing = entry.get("better") == "lower", _MISSING + entry["missing"]
        yield Description(
            entry["metric"],
            entry["meaning"],
            "lower" if lower else "higher",
            (0.0, 1.0),
            missing,
            entry["source"],
            JUDGED,
            "headline" not in entry,
        )


DESCRIPTIONS = {description.name: description for description in _descriptions()}
MEASURES = {name: Measure(DESCRIPTIONS[name], *asks) for name, asks in _ASKS.items()}
