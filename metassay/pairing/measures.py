"""The measures: what each asks of a judge, and how the answers make a score. One table.

A new measure is a new record in `MEASURES` and no new code, as long as its questions are about
claims, statements or citations and read against the evidence that `evidence.py` has. Three-way
labels: an instrument with three labels, and a measure that counts one of them ({"contradicted": 1}
is a rate of contradictions). A rubric item or a facet: an instrument with labels or a grade. A
preference: an instrument whose labels are the choices, of which one counts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from metassay.metrics.describe import JUDGED, Description
from metassay.pairing.evidence import (
    ALIGNED,
    CITED,
    CITED_ALONE,
    CITED_REST,
    OTHER_TEXT,
    Evidence,
)
from metassay.pairing.instruments import ATTRIBUTION, ENTAILMENT, SUPPORT_GRADE, Instrument, Reals


@dataclass(frozen=True)
class Question:
    """What is asked about each unit.

    name: what `pairs.measure` says. whose, units: the claims or statements of the text that is
    measured, or the claims of the reference; a citation is a statement with one of its citations.
    counts: what each label is worth, from 0 to 1; labels that it leaves out are worth 0. A grade is
    worth its place on the scale.
    """

    name: str
    instrument: Instrument
    whose: Literal["text", "reference"]
    units: Literal["claim", "statement", "citation"]
    evidence: Evidence
    counts: Mapping[str, float]

    @property
    def compares(self) -> bool:
        """Whether it takes a text and its reference: the reference itself is not asked about."""
        return self.whose == "reference" or self.evidence is OTHER_TEXT

    @property
    def cites(self) -> bool:
        """Whether it reads what the text cites: who cites nowhere is not asked about."""
        return self.evidence.setting == "borrow"

    @property
    def kind(self) -> Literal["claim", "statement"]:
        """The kind of the units in table `units`."""
        return "claim" if self.units == "claim" else "statement"


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


_YES = {"entailed": 1.0}
_DOCLENS = "DocLens, Xie et al. 2024, section "
_MISSING = (
    "null if there is nothing to count or no answer; answers that failed are counted in n_failed,"
    " and low and high bound what they could change; "
)
_CITING = "null for an author who cites nowhere in the benchmark"


def _described(
    name: str, meaning: str, source: str, missing: str, *, headline: bool = True
) -> Description:
    return Description(
        name, meaning, "higher", (0.0, 1.0), _MISSING + missing, source, JUDGED, headline=headline
    )


CLAIM_RECALL = Question("claim_recall", ENTAILMENT, "reference", "claim", OTHER_TEXT, _YES)
CLAIM_PRECISION = Question("claim_precision", ENTAILMENT, "text", "claim", OTHER_TEXT, _YES)
CITED_TOGETHER = Question("citation_recall", ATTRIBUTION, "text", "statement", CITED, _YES)
EACH_CITATION = Question("citation_alone", ATTRIBUTION, "text", "citation", CITED_ALONE, _YES)
OTHER_CITATIONS = Question("citation_rest", ATTRIBUTION, "text", "citation", CITED_REST, _YES)
FAITHFULNESS = Question("faithfulness", ENTAILMENT, "text", "statement", ALIGNED, _YES)
CLAIM_GRADE = Question("claim_recall_grade", SUPPORT_GRADE, "reference", "claim", OTHER_TEXT, {})

_ALL = (
    Measure(
        _described(
            "claim_recall",
            "share of the reference's claims that the text entails: completeness",
            _DOCLENS + "3.1",
            "null without a reference",
        ),
        CLAIM_RECALL,
    ),
    Measure(
        _described(
            "claim_precision",
            "share of the text's claims that the reference entails: conciseness",
            _DOCLENS + "3.2",
            "null without a reference",
        ),
        CLAIM_PRECISION,
    ),
    Measure(
        _described(
            "citation_recall",
            "share of the text's statements that are entailed by the passages they cite, taken"
            " together",
            _DOCLENS + "3.3",
            "a statement without citations counts as not entailed; " + _CITING,
        ),
        CITED_TOGETHER,
    ),
    Measure(
        _described(
            "citation_precision",
            "share of the text's citations that are of use. The passages that a statement cites"
            " have to entail it together. Then a citation is of use if its passage does so alone,"
            " or if the others do not",
            _DOCLENS + "3.3, conditions (i) and (ii)",
            "a citation counts as answered if no failed answer could change its worth; " + _CITING,
        ),
        EACH_CITATION,
        # Where no others are asked about, a citation is of use only if it entails alone.
        also=(Also(CITED_TOGETHER), Also(OTHER_CITATIONS, absent=1.0)),
        reduce=of_use,
    ),
    Measure(
        _described(
            "faithfulness",
            "share of the text's statements that are entailed by the source passages aligned with"
            " them",
            "Adams et al. 2023, sections 6.1 and 6.2: entailment by aligned sentences",
            "a statement with which nothing is aligned counts as not entailed",
        ),
        FAITHFULNESS,
    ),
    Measure(
        _described(
            "claim_recall_grade",
            "how far the text supports the reference's claims: the mean of their grades from 0 (not"
            " at all) to 3 (fully), divided by 3",
            "DocLens's completeness (Xie et al. 2024, section 3.1) with grades in place of"
            " entailment",
            "null without a reference",
            headline=False,
        ),
        CLAIM_GRADE,
    ),
)
MEASURES: dict[str, Measure] = {one.description.name: one for one in _ALL}
DESCRIPTIONS: dict[str, Description] = {name: one.description for name, one in MEASURES.items()}
