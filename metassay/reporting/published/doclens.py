"""DocLens (Xie et al. 2024)."""

from collections.abc import Mapping

from metassay.format.frames import rows
from metassay.reporting.published.cells import (
    CellComparison,
    Number,
    Numbers,
    Ours,
    Place,
    Row,
)
from metassay.reporting.published.claims import ClaimComparison
from metassay.reporting.published.judges import JudgeComparison
from metassay.tables.names import FULL, NO_JUDGE

# Our authors by system and setting. DocLens's own notes by GPT-3.5 and GPT-4 (all rows of
# tables 20 to 27 with a number of shots, but not "Reported ...") were not released:
# chatgpt and gpt4 here are other texts.
SYSTEMS = {
    ("BART + SAMSum FT", "full"): "bart_samsum_full",
    ("BART + SAMSum FT", "section"): "bart_samsum_section",
    ("BioBART", "full"): "biobart_full",
    ("BioBART", "section"): "biobart_section",
    ("ChatGPT", "full"): "chatgpt",
    ("GPT-4", "full"): "gpt4",
    ("Reported GPT-3.5-turbo", "full, 0-shot"): "chatgpt",
    ("Reported GPT-4", "full, 0-shot"): "gpt4",
}
WHOLE_NOTE = "full note"
SECTIONS = {
    WHOLE_NOTE: FULL,
    "Subjective": "subjective",
    "Objective-Exam": "objective_exam",
    "Objective-Results": "objective_results",
    "Assessment and Plan": "assessment_and_plan",
}

# ---- ROUGE -------------------------------------------------------------------------------

# Of whole notes the paper's Rouge-L is rougeLsum, of sections it is rougeL.
ROUGE_OF_NOTES = {
    "Rouge-1": "rouge1_fmeasure",
    "Rouge-2": "rouge2_fmeasure",
    "Rouge-L": "rougeLsum_fmeasure",
}
ROUGE_OF_SECTIONS = {
    "Rouge-1": "rouge1_fmeasure",
    "Rouge-2": "rouge2_fmeasure",
    "Rouge-L": "rougeL_fmeasure",
}
OTHER_ROUGE = """
    Unexpected: the same texts under rouge-score 0.1.2 without stemming gave the printed
    digits. Look for another version, other texts, or another segmentation.
"""


def read_scores(ours: Ours) -> Numbers:
    """Return our means over notes in per cent, of metrics that need no judge."""
    board = ours.leaderboard[ours.leaderboard["judge"] == NO_JUDGE]
    numbers: dict[object, Number] = {}
    for part, metric, author, macro in rows(board, "part", "metric", "author", "macro"):
        numbers[part, metric, author] = None if macro is None else 100 * macro
    return numbers


def place_rouge(row: Row, metrics: Mapping[str, str]) -> Place:
    """Rows are systems, and columns are metrics, of each section."""
    section, quantity = row["split_or_section"], row["quantity"]
    system, setting = row["system_or_metric"], row["setting"]
    key = (
        SECTIONS.get(section),
        metrics.get(quantity),
        SYSTEMS.get((system, setting)),
    )
    column = quantity if section == WHOLE_NOTE else f"{section} {quantity}"
    return Place(row=f"{system}, {setting}", column=column, key=key)


TABLE_20 = CellComparison(
    title="DocLens, table 20: ROUGE of full notes on ACI-BENCH test 1",
    files=["doclens_table20.csv", "acibench_rouge.csv"],
    says="""
        F1 x 100, mean over the 40 notes; what is printed there as Rouge-L is rougeLsum. The
        rows ChatGPT and GPT-4 are printed in the ACI-BENCH paper, not in DocLens.
    """,
    reason=OTHER_ROUGE,
    numbers=read_scores,
    place=lambda row: place_rouge(row, ROUGE_OF_NOTES),
)
TABLE_24 = CellComparison(
    title="DocLens, table 24: ROUGE of sections on ACI-BENCH test 1",
    files=["doclens_table24.csv"],
    says="""
        F1 x 100, mean over the 40 notes, sections prepared as the original does (compat
        doclens-table24): a section that both texts lack counts, which is right for
        comparing with the print and for nothing else.
    """,
    reason=OTHER_ROUGE,
    numbers=read_scores,
    place=lambda row: place_rouge(row, ROUGE_OF_SECTIONS),
)

# ---- claims ------------------------------------------------------------------------------

CLAIMS = ClaimComparison(
    title="DocLens, tables 21 to 23 and 25 to 27: claim scores on ACI-BENCH test 1",
    files=[
        "doclens_table21.csv",
        "doclens_table25.csv",
        "doclens_table22.csv",
        "doclens_table26.csv",
        "doclens_table23.csv",
        "doclens_table27.csv",
    ],
    says="""
        Each of our judges stands beside the evaluators of the paper, GPT-4, Mistral and
        TRUE. Another judge means another level, so values are not comparable from judge to
        judge. What is: the order of the systems. Only four have the same texts here and in
        print, BART + SAMSum and BioBART, each on full notes and by section. The paper’s own
        notes by GPT-3.5 and GPT-4 were not released; chatgpt and gpt4 here are ACI-BENCH’s
        notes (their ROUGE is another), which have no printed claim scores, as our other
        systems have none. The claims of a system’s text were cut by GPT-4 for the paper,
        which reads a claim against the same section of the other note. What is done here is
        in the recipe: against:part is as there, against:full reads the whole note.
    """,
    metrics={"Claim Recall": "claim_recall", "Claim Precision": "claim_precision"},
    sections=SECTIONS,
    systems=SYSTEMS,
)

# ---- accuracy of judges ------------------------------------------------------------------

MEDNLI = ["mli_test_v1"]
ANLI = ["R1_test", "R2_test", "R3_test"]
OTHER_PAIRS = """
    Ours are other pairs than the paper’s, so this says no more than what to expect. The
    paper took pairs on which its evaluators disagree, which are the hard ones. Its “Human”
    is one annotator beside the majority of three others.
"""

TABLE_1 = JudgeComparison(
    title="DocLens, table 1: evaluators on MedNLI and ANLI",
    files=["doclens_table1.csv"],
    says="""
        Accuracy in two labels, entailed against the rest, of the verdicts that a judge
        gives. Where a judge abstains, ours rests on fewer items than the print. Shown
        examples, prompts and models are other ones. Averages are plain means of test sets,
        of ANLI’s over its rounds.
    """,
    statistic="agreement",
    sets={
        "MedNLI": MEDNLI,
        "ANLI (R1-R3 average)": ANLI,
        "average": [*MEDNLI, *ANLI],
    },
)
TABLE_4 = JudgeComparison(
    title="DocLens, table 4: evaluators on each test set of MedNLI and ANLI",
    files=["doclens_table4.csv"],
    says="""
        Accuracy in two labels, entailed against the rest, of the verdicts that a judge
        gives. Where a judge abstains, ours rests on fewer items than the print. Shown
        examples, prompts and models are other ones. The average is the plain mean of the
        four test sets.
    """,
    statistic="agreement",
    sets={
        "MedNLI": MEDNLI,
        "ANLI-R1": ["R1_test"],
        "ANLI-R2": ["R2_test"],
        "ANLI-R3": ["R3_test"],
        "average": [*MEDNLI, *ANLI],
    },
)
TABLE_5 = JudgeComparison(
    title="DocLens, table 5: evaluators on MedNLI in three labels",
    files=["doclens_table5.csv"],
    says="""
        Accuracy in three labels. Four of the printed models were trained on MedNLI.
    """,
    statistic="accuracy_3way",
    sets={"MedNLI": MEDNLI},
)
TABLE_6 = JudgeComparison(
    title="DocLens, table 6: evaluators beside people’s labels of 20 claims",
    files=["doclens_table6.csv"],
    says=OTHER_PAIRS,
    statistic="agreement",
)
TABLE_7 = JudgeComparison(
    title="DocLens, table 7: evaluators beside people’s labels of 100 claims",
    files=["doclens_table7.csv"],
    says=OTHER_PAIRS,
    statistic="agreement",
)
