"""The table of measures: what each asks of a judge, and how the answers make a score.

A new measure is a new record in `MEASURES` and no new code, as long as its questions are about
claims, statements, citations or whole texts and read against the evidence that `evidence.py` has.
Three-way labels: an instrument with three labels, and a measure that counts one of them
({"contradicted": 1} is a rate of contradictions). A rubric item or a facet: an instrument with
labels or a grade.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from metassay.metrics.describe import JUDGED, Description
from metassay.scoring.pairing import evidence
from metassay.scoring.pairing import instruments as ask
from metassay.scoring.pairing.evidence import CITING, Evidence
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
                asked, name=asked.name + suffix, evidence=evidence.reading(asked.evidence, suffix)
            ),
        )


_YES = {"entailed": 1.0}
CLAIM_RECALL = Question(
    "claim_recall", ask.ENTAILMENT, "reference", "claim", evidence.OTHER_TEXT, _YES
)
CLAIM_PRECISION = Question(
    "claim_precision", ask.ENTAILMENT, "text", "claim", evidence.OTHER_TEXT, _YES
)
CITED_TOGETHER = Question(
    "citation_recall", ask.ATTRIBUTION, "text", "statement", evidence.CITED, _YES
)
EACH_CITATION = Question(
    "citation_alone", ask.ATTRIBUTION_ALONE, "text", "citation", evidence.CITED_ALONE, _YES
)
OTHER_CITATIONS = Question(
    "citation_rest", ask.ATTRIBUTION_REST, "text", "citation", evidence.CITED_REST, _YES
)
FAITHFULNESS = Question("faithfulness", ask.ENTAILMENT, "text", "statement", evidence.ALIGNED, _YES)
CLAIM_GRADE = Question(
    "claim_recall_grade", ask.SUPPORT_GRADE, "reference", "claim", evidence.OTHER_TEXT, {}
)
CONTRADICTION = Question(
    *("claim_contradiction", ask.THREE_WAY, "text", "claim", evidence.OTHER_TEXT),
    counts={"contradicted": 1.0},
)
SAME = Question(
    *("same_question", ask.SAME_QUESTION, "text", "text", evidence.WHOLE_TEXTS, {"same": 1.0}),
    tasks=("question",),
)
# The same two texts, once with the text that is measured first and once with it second.
FIRST, SECOND = (
    Question(
        f"preference_{first}", ask.PREFERENCE, "text", "rival", order, {first: 1.0, "neither": 0.5}
    )
    for first, order in (("first", evidence.OWN_FIRST), ("second", evidence.OWN_SECOND))
)

_DOCLENS = "DocLens, Xie et al. 2024, section "
_MEQSUM = "DocLens's evaluation of MeQSum (aggregate_scores.py of its released code)"
_MISSING = (
    "null if there is nothing to count or no answer; answers that failed are counted in n_failed,"
    " and low and high bound what they could change; "
)
_ALONE = "null without a reference"
_RIVALS = (
    "null where there is no other system; a comparison with an order unknown counts as failed if"
    " that order could change its worth, and what is known of it narrows the bounds only"
)
_CITING = "null for an author who cites nowhere in the benchmark"
_BOTH_ORDERS = (FIRST, (Also(SECOND),))
_OR_SAME = ((Also(SAME, absent=0.0),), np.maximum)  # one of the two is enough


def _measure(
    asks: tuple[Any, ...],
    name: str,
    meaning: str,
    source: str,
    missing: str,
    *,
    better: Literal["higher", "lower"] = "higher",
    headline: bool = True,
) -> Measure:
    """`asks`: what is counted and, where there is any, also and reduce."""
    about = Description(
        name, meaning, better, (0.0, 1.0), _MISSING + missing, source, JUDGED, headline
    )
    return Measure(about, *asks)


_ALL = (
    _measure(
        (CLAIM_RECALL,),
        "claim_recall",
        "share of the reference's claims that the text entails: completeness",
        _DOCLENS + "3.1",
        _ALONE,
    ),
    _measure(
        (CLAIM_PRECISION,),
        "claim_precision",
        "share of the text's claims that the reference entails: conciseness",
        _DOCLENS + "3.2",
        _ALONE,
    ),
    _measure(
        (CITED_TOGETHER,),
        "citation_recall",
        "share of the text's statements that are entailed by the passages they cite, taken"
        " together",
        _DOCLENS + "3.3",
        "a statement without citations counts as not entailed; " + _CITING,
    ),
    _measure(
        # Where no others are asked about, a citation is of use only if it entails alone.
        (EACH_CITATION, (Also(CITED_TOGETHER), Also(OTHER_CITATIONS, absent=1.0)), of_use),
        "citation_precision",
        "share of the text's citations that are of use. The passages that a statement cites have to"
        " entail it together. Then a citation is of use if its passage does so alone, or if the"
        " others do not",
        _DOCLENS + "3.3, conditions (i) and (ii)",
        "a citation counts as answered if no failed answer could change its worth; " + _CITING,
    ),
    _measure(
        (FAITHFULNESS,),
        "faithfulness",
        "share of the text's statements that are entailed by the source passages aligned with them",
        "Adams et al. 2023, sections 6.1 and 6.2: entailment by aligned sentences",
        "a statement with which nothing is aligned counts as not entailed",
    ),
    _measure(
        (CLAIM_GRADE,),
        "claim_recall_grade",
        "how far the text supports the reference's claims: the mean of their grades from 0 (not at"
        " all) to 3 (fully), divided by 3",
        "DocLens's completeness (Xie et al. 2024, section 3.1) with grades in place of entailment",
        _ALONE,
        headline=False,
    ),
    _measure(
        (CONTRADICTION,),
        "claim_contradiction",
        "share of the text's claims that the reference contradicts, by a judge that tells this from"
        " saying nothing of them",
        "DocLens's conciseness (Xie et al. 2024, section 3.2) with three labels",
        _ALONE,
        better="lower",
        headline=False,
    ),
    _measure(
        (SAME,),
        "same_question",
        "whether the text and its reference ask the same question",
        _MEQSUM,
        f"{_ALONE}, and for a text that is no question",
        headline=False,
    ),
    _measure(
        (CLAIM_RECALL, *_OR_SAME),
        "claim_recall_or_same",
        "claim_recall, where a question that asks the same as the reference has all its claims",
        _MEQSUM,
        f"{_ALONE}; of a text that is no question it is claim_recall",
        headline=False,
    ),
    _measure(
        (CLAIM_PRECISION, *_OR_SAME),
        "claim_precision_or_same",
        "claim_precision, where the reference has all claims of a question that asks the same",
        _MEQSUM,
        f"{_ALONE}; of a text that is no question it is claim_precision",
        headline=False,
    ),
    _measure(
        (*_BOTH_ORDERS, agreed),
        "preference",
        "how the text does against each other system's text of the document, on average: 1 where it"
        " is preferred in both orders, 0 where the other one is, else one half",
        _DOCLENS + "4.3 (people's preferences); both orders as in Zheng et al. 2023 (MT-Bench),"
        " section 3.4",
        _RIVALS,
    ),
    _measure(
        (*_BOTH_ORDERS, contradicting),
        "preference_position_bias",
        "share of the text's comparisons in which the judge prefers one text in one order and the"
        " other one in the other order",
        "Zheng et al. 2023 (MT-Bench), section 3.3",
        _RIVALS,
        better="lower",
        headline=False,
    ),
)
MEASURES: dict[str, Measure] = {one.description.name: one for one in _ALL}
DESCRIPTIONS: dict[str, Description] = {name: one.description for name, one in MEASURES.items()}
