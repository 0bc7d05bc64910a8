"""The table of measures: what each asks of a judge, and how the answers make a score.

A new measure is a new record in `MEASURES` and no new code, as long as its questions are about
claims, statements, citations or whole texts and read against the evidence that `evidence.py` has.
Three-way labels: an instrument with three labels, and a measure that counts one of them
({"contradicted": 1} is a rate of contradictions). A rubric item or a facet: an instrument with
labels or a grade.
"""

from typing import Literal

from metassay.metrics.describe import JUDGED, Description
from metassay.scoring.pairing.evidence import (
    ALIGNED,
    CITED,
    CITED_ALONE,
    CITED_REST,
    OTHER_TEXT,
    OWN_FIRST,
    OWN_SECOND,
    WHOLE_TEXTS,
)
from metassay.scoring.pairing.instruments import (
    ATTRIBUTION,
    ATTRIBUTION_ALONE,
    ATTRIBUTION_REST,
    ENTAILMENT,
    PREFERENCE,
    SAME_QUESTION,
    SUPPORT_GRADE,
    THREE_WAY,
)
from metassay.scoring.pairing.record import (
    Also,
    Measure,
    Question,
    agreed,
    contradicting,
    either,
    of_use,
)

_YES = {"entailed": 1.0}
_DOCLENS = "DocLens, Xie et al. 2024, section "
_MEQSUM = "DocLens's evaluation of MeQSum (aggregate_scores.py of its released code)"
_MISSING = (
    "null if there is nothing to count or no answer; answers that failed are counted in n_failed,"
    " and low and high bound what they could change; "
)
_RIVALS = (
    "null where there is no other system; a comparison with an order unknown counts as failed if"
    " that order could change its worth, and what is known of it narrows the bounds only"
)
_CITING = "null for an author who cites nowhere in the benchmark"


def _described(
    name: str,
    meaning: str,
    source: str,
    missing: str,
    *,
    better: Literal["higher", "lower"] = "higher",
    headline: bool = True,
) -> Description:
    return Description(
        name, meaning, better, (0.0, 1.0), _MISSING + missing, source, JUDGED, headline=headline
    )


CLAIM_RECALL = Question("claim_recall", ENTAILMENT, "reference", "claim", OTHER_TEXT, _YES)
CLAIM_PRECISION = Question("claim_precision", ENTAILMENT, "text", "claim", OTHER_TEXT, _YES)
CITED_TOGETHER = Question("citation_recall", ATTRIBUTION, "text", "statement", CITED, _YES)
EACH_CITATION = Question("citation_alone", ATTRIBUTION_ALONE, "text", "citation", CITED_ALONE, _YES)
OTHER_CITATIONS = Question("citation_rest", ATTRIBUTION_REST, "text", "citation", CITED_REST, _YES)
FAITHFULNESS = Question("faithfulness", ENTAILMENT, "text", "statement", ALIGNED, _YES)
CLAIM_GRADE = Question("claim_recall_grade", SUPPORT_GRADE, "reference", "claim", OTHER_TEXT, {})
CONTRADICTION = Question(
    "claim_contradiction", THREE_WAY, "text", "claim", OTHER_TEXT, {"contradicted": 1.0}
)
SAME = Question(
    *("same_question", SAME_QUESTION, "text", "text", WHOLE_TEXTS, {"same": 1.0}), ("question",)
)
# The same two texts, once with the text that is measured first and once with it second.
FIRST = Question(
    *("preference_first", PREFERENCE, "text", "rival", OWN_FIRST, {"first": 1.0, "neither": 0.5})
)
SECOND = Question(
    *("preference_second", PREFERENCE, "text", "rival", OWN_SECOND, {"second": 1.0, "neither": 0.5})
)

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
    Measure(
        _described(
            "claim_contradiction",
            "share of the text's claims that the reference contradicts, by a judge that tells this"
            " from saying nothing of them",
            "DocLens's conciseness (Xie et al. 2024, section 3.2) with three labels",
            "null without a reference",
            better="lower",
            headline=False,
        ),
        CONTRADICTION,
    ),
    Measure(
        _described(
            "same_question",
            "whether the text and its reference ask the same question",
            _MEQSUM,
            "null without a reference, and for a text that is no question",
            headline=False,
        ),
        SAME,
    ),
    Measure(
        _described(
            "claim_recall_or_same",
            "claim_recall, where a question that asks the same as the reference has all its claims",
            _MEQSUM,
            "null without a reference; of a text that is no question it is claim_recall",
            headline=False,
        ),
        CLAIM_RECALL,
        also=(Also(SAME, absent=0.0),),
        reduce=either,
    ),
    Measure(
        _described(
            "claim_precision_or_same",
            "claim_precision, where the reference has all claims of a question that asks the same",
            _MEQSUM,
            "null without a reference; of a text that is no question it is claim_precision",
            headline=False,
        ),
        CLAIM_PRECISION,
        also=(Also(SAME, absent=0.0),),
        reduce=either,
    ),
    Measure(
        _described(
            "preference",
            "how the text does against each other system's text of the document, on average: 1"
            " where it is preferred in both orders, 0 where the other one is, else one half",
            _DOCLENS + "4.3 (people's preferences); both orders as in Zheng et al. 2023 (MT-Bench),"
            " section 3.4",
            _RIVALS,
        ),
        FIRST,
        also=(Also(SECOND),),
        reduce=agreed,
    ),
    Measure(
        _described(
            "preference_position_bias",
            "share of the text's comparisons in which the judge prefers one text in one order and"
            " the other one in the other order",
            "Zheng et al. 2023 (MT-Bench), section 3.3",
            _RIVALS,
            better="lower",
            headline=False,
        ),
        FIRST,
        also=(Also(SECOND),),
        reduce=contradicting,
    ),
)
MEASURES: dict[str, Measure] = {one.description.name: one for one in _ALL}
DESCRIPTIONS: dict[str, Description] = {name: one.description for name, one in MEASURES.items()}
