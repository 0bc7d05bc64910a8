"""Rows, columns, numbers and captions that several figures and tables of the paper share."""

from dataclasses import replace

from papers.record import (
    Conditions,
    Line,
    Numbers,
    estimate,
    lines_by,
)


def printed_row(system_or_metric: str) -> Conditions:
    """Return the condition for a printed row."""
    return {"system_or_metric": system_or_metric}


# ==== MTS-Dialog: whole summaries =========================================================

# Of the ratings there, the rate of hallucinated facts is nearest to the paper's errors.
MTS_PEOPLE = estimate("mts_dialog", "correlations", scale=-1)
MTS_LEAST_COPIED = estimate(
    "mts_dialog",
    "least_copied",
    scale=-1,
    where={"criterion": "hallucination_rate"},
)
MTS_ALL_TEXTS = [
    Line(
        title="",
        ours={
            "criterion": "hallucination_rate",
            "part": "full",
            "level": "global",
            "coefficient": "pearson",
        },
    )
]

COVERAGE = Line(
    title="Coverage",
    ours={"metric": "coverage", "judge": "none"},
    printed=printed_row("Coverage"),
)
FAITHFULNESS_LEXICAL = Line(
    title="Faithfulness, lexical judge",
    ours={"judge": "lexical", "metric": "faithfulness"},
    printed=None,
)
FAITHFULNESS_SEMANTIC = Line(
    title="Faithfulness, semantic judge",
    ours={"judge": "semantic", "metric": "faithfulness"},
    printed=None,
)
CLAIM_PRECISION_LEXICAL = Line(
    title="Claim precision, lexical judge",
    ours={"judge": "lexical", "metric": "claim_precision"},
    printed=None,
)
CLAIM_PRECISION_SEMANTIC = Line(
    title="Claim precision, semantic judge",
    ours={"judge": "semantic", "metric": "claim_precision"},
    printed=None,
)
METRICS_WITHOUT_JUDGE = lines_by(
    "metric",
    {
        "ROUGE-1 precision": "rouge1_precision",
        "ROUGE-1 F": "rouge1_fmeasure",
        "ROUGE-2 F": "rouge2_fmeasure",
        "ROUGE-L F": "rougeL_fmeasure",
        "BLEU": "bleu",
    },
    ours={"judge": "none"},
)
METRICS = [
    FAITHFULNESS_LEXICAL,
    FAITHFULNESS_SEMANTIC,
    CLAIM_PRECISION_LEXICAL,
    CLAIM_PRECISION_SEMANTIC,
    *METRICS_WITHOUT_JUDGE,
]

MTS_SIGN = """
    Pearson's r with the rate of hallucinated facts over 400 summaries of MTS-Dialog, its
    sign turned as in the paper: above 0, more of the metric goes with fewer errors.
"""
MTS_OTHER_DATA = """
    the print is of hospital courses for credentialed users, ours of 400 summaries of
    MTS-Dialog.
"""


# ==== Invented hospital stays: single statements ==========================================

# Each statement is read against the passages that an alignment finds; after @ stands
# which. ROUGE-Gain is the default of metrics.
HOSPITAL_PEOPLE = estimate("hospital_course", "statement_correlations", scale=-1)
ANY_ERROR: Conditions = {"criterion": "error"}
HOSPITAL_ERRORS = replace(HOSPITAL_PEOPLE, where=ANY_ERROR)
HOSPITAL_LEAST_COPIED = estimate(
    "hospital_course",
    "least_copied_statements",
    scale=-1,
    where=ANY_ERROR,
)
HOSPITAL_SPREAD = Numbers(
    benchmark="hospital_course",
    table="correlation_spread",
    value="value",
    n="n",
    draws="draws",
    scale=-1,
)
TUNED_BARTSCORE = replace(
    HOSPITAL_PEOPLE,
    where={
        "criterion": "error",
        "base": "bartscore_source",
        "judge": "tuned_rouge_gain",
    },
)

STATEMENT_COVERAGE = Line(
    title="Coverage",
    ours={"metric": "coverage@rouge_gain", "judge": "none"},
    printed=printed_row("Coverage"),
)
JUDGED = [
    Line(
        title="Faithfulness, lexical judge",
        ours={"judge": "lexical", "metric": "faithfulness@rouge_gain"},
        printed=None,
    ),
    Line(
        title="Faithfulness, semantic judge",
        ours={"judge": "semantic", "metric": "faithfulness@rouge_gain"},
        printed=None,
    ),
]
BERTSCORE = Line(
    title="BERTScore",
    ours={"metric": "bertscore_source_f1@rouge_gain", "judge": "minilm"},
    printed=None,
)
BARTSCORE_UNTRAINED = Line(
    title="BARTScore, untrained",
    ours={"metric": "bartscore_source@rouge_gain", "judge": "untrained"},
    printed=None,
)
BARTSCORE_TUNED = Line(
    title="BARTScore, tuned",
    ours={"metric": "bartscore_source@rouge_gain", "judge": "tuned_rouge_gain"},
    printed=None,
)
CTC_TUNED = Line(
    title="CTC, tuned",
    ours={"metric": "ctc_consistency@rouge_gain", "judge": "tuned_rouge_gain"},
    printed=None,
)
DISTILLED = Line(
    title="Distilled",
    ours={"metric": "regressor@rouge_gain", "judge": "distilled"},
    printed=None,
)
STATEMENT_METRICS = [
    *JUDGED,
    BERTSCORE,
    BARTSCORE_UNTRAINED,
    BARTSCORE_TUNED,
    CTC_TUNED,
    DISTILLED,
]

SHARES_COPIED_LEAST = [
    Line(title="25 %", ours={"what": "alone", "share": "25"}, x=25),
    Line(title="50 %", ours={"what": "alone", "share": "50"}, x=50),
    Line(title="75 %", ours={"what": "alone", "share": "75"}, x=75),
    Line(title="100 %", ours={"what": "alone", "share": "100"}, x=100),
]
CATEGORIES_OF_ERROR = [
    Line(title="Any error", ours={"criterion": "error"}),
    Line(title="Incorrect", ours={"criterion": "incorrect"}),
    Line(title="Missing", ours={"criterion": "missing"}),
    Line(title="Not in notes", ours={"criterion": "not_in_notes"}),
    Line(title="Critical", ours={"criterion": "critical"}),
]
# Of figure 3 and table 4, which show the same numbers.
TWO_ALIGNMENTS = [
    Line(
        title="ROUGE-Gain",
        ours={"alignment": "rouge_gain"},
        printed={"setting": "source alignment: ROUGE-Gain"},
    ),
    Line(
        title="ROUGE-TopK",
        ours={"alignment": "rouge_topk"},
        printed={"setting": "source alignment: ROUGE-TopK"},
    ),
]
BY_SUMMARY_AND_BY_SENTENCE = [
    Line(
        title="By summary",
        ours={"by": "text"},
        printed=printed_row("BARTScore, summary granularity: Summary Level"),
    ),
    Line(
        title="By sentence",
        ours={"by": "statement"},
        printed=printed_row("BARTScore, summary granularity: Sentence Level"),
    ),
]
REFERENCE_AND_SYSTEMS = [
    Line(
        title="Reference",
        ours={"author": "reference"},
        printed=printed_row("Reference"),
    ),
    Line(
        title="Systems",
        ours={"author": "systems"},
        printed=printed_row("Model-Generated"),
    ),
]
COVERAGE_AND_DENSITY = [
    Line(
        title="Coverage",
        ours={"metric": "coverage"},
        printed={"quantity": "extractive coverage"},
    ),
    Line(
        title="Density",
        ours={"metric": "density"},
        printed={"quantity": "extractive density"},
    ),
]

INVENTED = """
    Of the invented hospital stays (data/hospital_course), with tiny models that say nothing
    of the real ones.
"""
SIGN = """
    Pearson's r over single statements with the share of elements that have an error, its
    sign turned as in the paper: above 0, more of the metric goes with fewer errors.
"""
OTHER_SYSTEMS = "Intervals are for other systems and other stays."
CLUSTERED = "With a bootstrap interval over stays."
OTHER_COURSES = """
    the print is of real hospital courses, for credentialed users, and of large models; ours
    is of 24 invented stays with planted errors, and of tiny models.
"""
BY_SUMMARY = f"""
    {SIGN}
    By summary: the model reads the passages of all sentences and then the whole summary, as
    far as its 512 places go; each sentence has the scores of its own words. BARTScore is
    tuned by ROUGE-Gain.
    {OTHER_SYSTEMS}
    {INVENTED}
"""
COVERAGE_EXPLAINED = """
    Coverage: share of words in stretches that are in the source, 0 to 1. Density: sum of
    the squares of these stretches' lengths, per word.
"""
