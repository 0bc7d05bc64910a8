"""The table of measures: what each asks of a judge, and how the answers make a score.

A new measure is a line in `_ASKS`, what it means in measures.txt, and no new code, as long as its
questions are about claims, statements, citations or whole texts and read against the evidence that
`evidence.py` has.
Three-way labels: an instrument with three labels, and a measure that counts one of them
({"contradicted": 1} is a rate of contradictions). A rubric item or a facet: an instrument with
labels or a grade.
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


def of_use(alone: Reals, together: Reals, rest: Reals) -> Reals:
    """A citation is of use: together and (alone or not rest).

    Each answer is in the formula once, so its bounds are exact: where the failed answers could make
    it either, and only there, it is unknown.
    """
    useful: Reals = np.minimum(together, np.maximum(alone, _negated(rest)))
    return useful


def _negated(worth: Reals) -> Reals:
    """1 - worth, of bounds: the lower one comes from the upper one."""
    flipped: Reals = 1 - worth[::-1]
    return flipped


def agreed(first: Reals, second: Reals) -> Reals:
    """What was asked in two orders: 1 or 0 where both answers are, else one half.

    An answer is 0, one half or 1, and so is the result, which does not fall where an answer rises.
    """
    half: Reals = (np.floor(np.minimum(first, second)) + np.ceil(np.maximum(first, second))) / 2
    return half


def contradicting(first: Reals, second: Reals) -> Reals:
    """Whether the answers in two orders, each 0, one half or 1, are 0 and 1."""
    ways = np.minimum(first, _negated(second)), np.minimum(_negated(first), second)
    apart: Reals = np.floor(np.maximum(*ways))
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
    reduce: Callable[..., Reals] = lambda counted: counted

    @property
    def questions(self) -> tuple[Question, ...]:
        """All that it asks."""
        return (self.counted, *(other.question for other in self.also))

    @property
    def aligned(self) -> bool:
        """Whether it reads what statements are aligned with."""
        return "alignment" in self.counted.evidence.settings

    def reading(self, suffix: str) -> "Measure":
        """The same by the alignment that adds this suffix to names."""
        asked = self.counted
        return replace(
            self,
            description=replace(self.description, name=self.description.name + suffix),
            counted=replace(
                asked, name=asked.name + suffix, evidence=on.reading(asked.evidence, suffix)
            ),
        )


_YES = {"entailed": 1.0}
CLAIM_RECALL = Question("claim_recall", ask.ENTAILMENT, "reference", "claim", on.OTHER_TEXT, _YES)
CLAIM_PRECISION = Question("claim_precision", ask.ENTAILMENT, "text", "claim", on.OTHER_TEXT, _YES)
CITED_TOGETHER = Question("citation_recall", ask.ATTRIBUTION, "text", "statement", on.CITED, _YES)
EACH_CITATION = Question(
    "citation_alone", ask.ATTRIBUTION_ALONE, "text", "citation", on.CITED_ALONE, _YES
)
OTHER_CITATIONS = Question(
    "citation_rest", ask.ATTRIBUTION_REST, "text", "citation", on.CITED_REST, _YES
)
FAITHFULNESS = Question("faithfulness", ask.ENTAILMENT, "text", "statement", on.ALIGNED, _YES)
CLAIM_GRADE = Question(
    "claim_recall_grade", ask.SUPPORT_GRADE, "reference", "claim", on.OTHER_TEXT, {}
)
CONTRADICTION = Question(
    "claim_contradiction", ask.THREE_WAY, "text", "claim", on.OTHER_TEXT, {"contradicted": 1.0}
)
SAME = Question(
    "same_question", ask.SAME_QUESTION, "text", "text", on.WHOLE_TEXTS, {"same": 1.0}, ("question",)
)
# The same two texts, once with the text that is measured first and once with it second.
FIRST, SECOND = (
    Question(
        f"preference_{first}", ask.PREFERENCE, "text", "rival", order, {first: 1.0, "neither": 0.5}
    )
    for first, order in (("first", on.OWN_FIRST), ("second", on.OWN_SECOND))
)

_MISSING = (
    "null if there is nothing to count or no answer; answers that failed are counted in n_failed,"
    " and low and high bound what they could change; "
)
_BOTH_ORDERS = (FIRST, (Also(SECOND),))
_OR_SAME = ((Also(SAME, absent=0.0),), np.maximum)  # one of the two is enough

# What is counted and, where there is any, also and reduce; measures.txt says what it means.
_ASKS: dict[str, tuple[Any, ...]] = {
    "claim_recall": (CLAIM_RECALL,),
    "claim_precision": (CLAIM_PRECISION,),
    "citation_recall": (CITED_TOGETHER,),
    # Where no others are asked about, a citation is of use only if it entails alone.
    "citation_precision": (
        *(EACH_CITATION, (Also(CITED_TOGETHER), Also(OTHER_CITATIONS, absent=1.0)), of_use),
    ),
    "faithfulness": (FAITHFULNESS,),
    "claim_recall_grade": (CLAIM_GRADE,),
    "claim_contradiction": (CONTRADICTION,),
    "same_question": (SAME,),
    "claim_recall_or_same": (CLAIM_RECALL, *_OR_SAME),
    "claim_precision_or_same": (CLAIM_PRECISION, *_OR_SAME),
    "preference": (*_BOTH_ORDERS, agreed),
    "preference_position_bias": (*_BOTH_ORDERS, contradicting),
}


def _descriptions() -> Iterator[Description]:
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    for said in (dict(entries(paragraph)) for paragraph in text.split("\n\n")):
        lower, missing = said.get("better") == "lower", _MISSING + said["missing"]
        yield Description(
            *(said["metric"], said["meaning"], "lower" if lower else "higher", (0.0, 1.0)),
            *(missing, said["source"], JUDGED, "headline" not in said),
        )


DESCRIPTIONS = {one.name: one for one in _descriptions()}
MEASURES = {name: Measure(one, *_ASKS[name]) for name, one in DESCRIPTIONS.items()}
