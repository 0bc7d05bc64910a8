"""The table of measures: the questions of each, and how the answers make a score.

A new measure is an entry in `_TABLE`, without new code, if its questions are about
claims, statements, citations or whole texts, and their evidence is in `evidence.py`.
Three-way labels: an instrument with three labels, and a measure that counts one of them
({"contradicted": 1} is a rate of contradictions). A rubric item or a facet: an
instrument with labels or a grade.
"""

from typing import Literal

import numpy as np

from metassay.metrics.describe import COUNTED, JUDGED, Description
from metassay.scoring.pairing import evidence as on
from metassay.scoring.pairing import instruments as ask
from metassay.scoring.pairing.record import (
    Extra,
    Measure,
    Question,
    citation_use,
    order_conflict,
    order_mean,
)

# ---- questions

_YES = {"entailed": 1.0}
CLAIM_RECALL = Question(
    name="claim_recall",
    instrument=ask.ENTAILMENT,
    whose="reference",
    units="claim",
    evidence=on.OTHER_TEXT,
    counts=_YES,
)
CLAIM_PRECISION = Question(
    name="claim_precision",
    instrument=ask.ENTAILMENT,
    whose="text",
    units="claim",
    evidence=on.OTHER_TEXT,
    counts=_YES,
)
CITED_TOGETHER = Question(
    name="citation_recall",
    instrument=ask.ATTRIBUTION,
    whose="text",
    units="statement",
    evidence=on.CITED,
    counts=_YES,
)
EACH_CITATION = Question(
    name="citation_alone",
    instrument=ask.ATTRIBUTION_ALONE,
    whose="text",
    units="citation",
    evidence=on.CITED_ALONE,
    counts=_YES,
)
OTHER_CITATIONS = Question(
    name="citation_rest",
    instrument=ask.ATTRIBUTION_REST,
    whose="text",
    units="citation",
    evidence=on.CITED_REST,
    counts=_YES,
)
FAITHFULNESS = Question(
    name="faithfulness",
    instrument=ask.ENTAILMENT,
    whose="text",
    units="statement",
    evidence=on.ALIGNED,
    counts=_YES,
)
CLAIM_GRADE = Question(
    name="claim_recall_grade",
    instrument=ask.SUPPORT_GRADE,
    whose="reference",
    units="claim",
    evidence=on.OTHER_TEXT,
    counts={},  # a grade is worth its place on the scale
)
CONTRADICTION = Question(
    name="claim_contradiction",
    instrument=ask.THREE_WAY,
    whose="text",
    units="claim",
    evidence=on.OTHER_TEXT,
    counts={"contradicted": 1.0},
)
SAME = Question(
    name="same_question",
    instrument=ask.SAME_QUESTION,
    whose="text",
    units="text",
    evidence=on.WHOLE_TEXTS,
    counts={"same": 1.0},
    tasks=("question",),
)
# Two orders: the measured text comes first, then second.
FIRST = Question(
    name="preference_first",
    instrument=ask.PREFERENCE,
    whose="text",
    units="rival",
    evidence=on.OWN_FIRST,
    counts={"first": 1.0, "neither": 0.5},
)
SECOND = Question(
    name="preference_second",
    instrument=ask.PREFERENCE,
    whose="text",
    units="rival",
    evidence=on.OWN_SECOND,
    counts={"second": 1.0, "neither": 0.5},
)

# ---- measures

_MISSING = f"{COUNTED}; "


def _describe(
    name: str,
    *,
    meaning: str,
    source: str,
    missing: str,
    better: Literal["higher", "lower"] = "higher",
    headline: bool = True,
) -> Description:
    """Describe a measure from 0 to 1; `missing`: what is special about it."""
    return Description(
        name=name,
        meaning=meaning,
        better=better,
        range=(0.0, 1.0),
        missing=_MISSING + missing,
        source=source,
        family=JUDGED,
        headline=headline,
    )


_TABLE = (
    Measure(
        description=_describe(
            "claim_recall",
            meaning="share of the reference's claims that the text entails: completeness",
            source="DocLens, Xie et al. 2024, section 3.1",
            missing="null without a reference",
        ),
        counted=CLAIM_RECALL,
    ),
    Measure(
        description=_describe(
            "claim_precision",
            meaning="share of the text's claims that the reference entails: conciseness",
            source="DocLens, Xie et al. 2024, section 3.2",
            missing="null without a reference",
        ),
        counted=CLAIM_PRECISION,
    ),
    Measure(
        description=_describe(
            "citation_recall",
            meaning=(
                "share of the text's statements that are entailed by the passages they "
                "cite, taken together"
            ),
            source="DocLens, Xie et al. 2024, section 3.3",
            missing=(
                "a statement without citations counts as not entailed; null for an author "
                "who cites nowhere in the benchmark"
            ),
        ),
        counted=CITED_TOGETHER,
    ),
    Measure(
        description=_describe(
            "citation_precision",
            meaning=(
                "share of the text's citations that are of use. The passages that a "
                "statement cites have to entail it together. Then a citation is of use if "
                "its passage does so alone, or if the others do not"
            ),
            source="DocLens, Xie et al. 2024, section 3.3, conditions (i) and (ii)",
            missing=(
                "a citation counts as answered if no failed answer could change its worth; "
                "null for an author who cites nowhere in the benchmark"
            ),
        ),
        counted=EACH_CITATION,
        also=(
            Extra(CITED_TOGETHER),
            # Without other citations, a citation is useful only if it entails alone.
            Extra(OTHER_CITATIONS, absent=1.0),
        ),
        reduce=citation_use,
    ),
    Measure(
        description=_describe(
            "faithfulness",
            meaning=(
                "share of the text's statements that are entailed by the source passages "
                "aligned with them"
            ),
            source=(
                "Adams et al. 2023, sections 6.1 and 6.2: entailment by aligned sentences"
            ),
            missing="a statement with which nothing is aligned counts as not entailed",
        ),
        counted=FAITHFULNESS,
    ),
    Measure(
        description=_describe(
            "claim_recall_grade",
            meaning=(
                "how far the text supports the reference's claims: the mean of their "
                "grades from 0 (not at all) to 3 (fully), divided by 3"
            ),
            source=(
                "DocLens's completeness (Xie et al. 2024, section 3.1) with grades in "
                "place of entailment"
            ),
            missing="null without a reference",
            headline=False,
        ),
        counted=CLAIM_GRADE,
    ),
    Measure(
        description=_describe(
            "claim_contradiction",
            meaning=(
                "share of the text's claims that the reference contradicts, by a judge "
                "that tells this from saying nothing of them"
            ),
            source="DocLens's conciseness (Xie et al. 2024, section 3.2) with three labels",
            missing="null without a reference",
            better="lower",
            headline=False,
        ),
        counted=CONTRADICTION,
    ),
    Measure(
        description=_describe(
            "same_question",
            meaning="whether the text and its reference ask the same question",
            source=(
                "DocLens's evaluation of MeQSum (aggregate_scores.py of its released code)"
            ),
            missing="null without a reference, and for a text that is no question",
            headline=False,
        ),
        counted=SAME,
    ),
    Measure(
        description=_describe(
            "claim_recall_or_same",
            meaning=(
                "claim_recall, where a question that asks the same as the reference has "
                "all its claims"
            ),
            source=(
                "DocLens's evaluation of MeQSum (aggregate_scores.py of its released code)"
            ),
            missing=(
                "null without a reference; of a text that is no question it is claim_recall"
            ),
            headline=False,
        ),
        counted=CLAIM_RECALL,
        also=(Extra(SAME, absent=0.0),),
        reduce=np.maximum,  # one of the two is enough
    ),
    Measure(
        description=_describe(
            "claim_precision_or_same",
            meaning=(
                "claim_precision, where the reference has all claims of a question that "
                "asks the same"
            ),
            source=(
                "DocLens's evaluation of MeQSum (aggregate_scores.py of its released code)"
            ),
            missing=(
                "null without a reference; of a text that is no question it is "
                "claim_precision"
            ),
            headline=False,
        ),
        counted=CLAIM_PRECISION,
        also=(Extra(SAME, absent=0.0),),
        reduce=np.maximum,
    ),
    Measure(
        description=_describe(
            "preference",
            meaning=(
                "how the text does against each other system's text of the document, on "
                "average: 1 where it is preferred in both orders, 0 where the other one "
                "is, else one half"
            ),
            source=(
                "DocLens, Xie et al. 2024, section 4.3 (people's preferences); both orders "
                "as in Zheng et al. 2023 (MT-Bench), section 3.4"
            ),
            missing=(
                "null where there is no other system; a comparison with an order unknown "
                "counts as failed if that order could change its worth, and what is known "
                "of it narrows the bounds only"
            ),
        ),
        counted=FIRST,
        also=(Extra(SECOND),),
        reduce=order_mean,
    ),
    Measure(
        description=_describe(
            "preference_position_bias",
            meaning=(
                "share of the text's comparisons in which the judge prefers one text in "
                "one order and the other one in the other order"
            ),
            source="Zheng et al. 2023 (MT-Bench), section 3.3",
            missing=(
                "null where there is no other system; a comparison with an order unknown "
                "counts as failed if that order could change its worth, and what is known "
                "of it narrows the bounds only"
            ),
            better="lower",
            headline=False,
        ),
        counted=FIRST,
        also=(Extra(SECOND),),
        reduce=order_conflict,
    ),
)
MEASURES = {measure.description.name: measure for measure in _TABLE}
DESCRIPTIONS = {name: measure.description for name, measure in MEASURES.items()}
