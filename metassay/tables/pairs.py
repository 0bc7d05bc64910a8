"""Questions to judges."""

from metassay.tables.columns import DOC_ID, INTEGER, REPEATED_TEXT, TEXT
from metassay.tables.parquet import Column, Table

PAIRS = Table(
    name="pairs",
    says=(
        "the questions put to judges. There is one row for each place that a "
        "question comes from. Equal questions have the same pair_id and are asked "
        "once"
    ),
    key=("pair_id", "measure", "doc_id", "author", "part", "position", "citation"),
    columns={
        "pair_id": Column(
            TEXT,
            "hash of instrument, premise, hypothesis and, if there is one, context",
        ),
        "instrument": Column(
            TEXT,
            "what is asked of premise and hypothesis: entailment, attribution, ...",
        ),
        "measure": Column(
            TEXT,
            (
                "the question's place in a measure: mostly the measure's own name. "
                "citation_precision asks citation_recall (all passages cited), "
                "citation_alone (one of them) and citation_rest (the others); "
                "preference asks with the text first and with it second"
            ),
        ),
        "doc_id": DOC_ID,
        "author": Column(
            TEXT,
            "whose text is measured; for claim_recall the claims are the reference's",
        ),
        "part": Column(TEXT, "the part the unit belongs to"),
        "position": Column(
            INTEGER,
            (
                "the unit's position within its part; of a preference the place of "
                "the other text's author among the document's systems, sorted"
            ),
        ),
        "citation": Column(
            INTEGER,
            (
                "the citation that is asked about; of a rubric the reference, where "
                "a document has several; -1 if the question is not about a single one"
            ),
        ),
        "premise": Column(
            REPEATED_TEXT,
            "what the hypothesis is read against; null exactly where settled is set",
            null=True,
        ),
        "hypothesis": Column(
            REPEATED_TEXT,
            (
                "the claim or statement; of a preference the second text; of a "
                "rubric the text that a criterion is about"
            ),
        ),
        "context": Column(
            REPEATED_TEXT,
            (
                "what else the question rests on. For a single citation: all "
                "passages that its statement cites. For a preference: what both "
                "texts are about. For a rubric: the criterion, as canonical JSON"
            ),
            null=True,
        ),
        "repeats": Column(
            REPEATED_TEXT,
            (
                "datasets whose text premise, hypothesis and context may repeat, "
                "with spaces between"
            ),
        ),
        "settled": Column(
            TEXT,
            (
                "why no judge is asked. no_evidence: there is nothing to read, which "
                "is worth 0 (not entailed), or the lowest level of a scale. "
                "not_applicable: the criterion is not about this text, which has no "
                "penalty. no_text: the text failed; no_claims: its claims or facets "
                "are unknown; no_reference: it is not known whether the reference "
                "has the part. These three count as failed"
            ),
            null=True,
            choices=(
                "no_evidence",
                "no_text",
                "no_claims",
                "not_applicable",
                "no_reference",
            ),
        ),
    },
)
