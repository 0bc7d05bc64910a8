"""Clinical notes of ACI-BENCH, and what experts said of them."""

from collections.abc import Sequence

from papers.doclens.shared import (
    MEDCON,
    OTHER_JUDGE,
    claim_precision,
    claim_recall,
    claim_scores,
)
from papers.record import (
    EachValue,
    Line,
    Missing,
    Numbers,
    Record,
    lines_by,
)

# ---- where our numbers are ---------------------------------------------------------------

# Scores of systems on ACI-BENCH, test set 1, in per cent.
SCORES = Numbers(
    benchmark="aci_bench",
    table="leaderboard",
    value="macro",
    low="low",
    high="high",
    n="n_documents",
    n_undefined="n_undefined",
    scale=100,
)
# The same texts, whose sections are prepared as the paper's code does.
SCORES_OF_PREPARED_SECTIONS = Numbers(
    benchmark="aci_bench_table24",
    table="leaderboard",
    value="macro",
    low="low",
    high="high",
    n="n_documents",
    n_undefined="n_undefined",
    scale=100,
)

# ---- panels: whole notes, or their sections ----------------------------------------------

WHOLE_NOTES = [
    Line(
        title="",
        ours={"part": "full"},
        printed={"split_or_section": "full note"},
    )
]
SECTIONS = lines_by(
    "part",
    {
        "Subjective": "subjective",
        "Objective-Exam": "objective_exam",
        "Objective-Results": "objective_results",
        "Assessment and Plan": "assessment_and_plan",
    },
    printed_column="split_or_section",
)

# ---- rows: systems -----------------------------------------------------------------------

# Systems whose notes are the same here and in print.
SAME_NOTES = [
    Line(
        title="BART + SAMSum FT, full",
        ours={"author": "bart_samsum_full"},
        printed={"system_or_metric": "BART + SAMSum FT", "setting": "full"},
    ),
    Line(
        title="BART + SAMSum FT, section",
        ours={"author": "bart_samsum_section"},
        printed={"system_or_metric": "BART + SAMSum FT", "setting": "section"},
    ),
    Line(
        title="BioBART, full",
        ours={"author": "biobart_full"},
        printed={"system_or_metric": "BioBART", "setting": "full"},
    ),
    Line(
        title="BioBART, section",
        ours={"author": "biobart_section"},
        printed={"system_or_metric": "BioBART", "setting": "section"},
    ),
]
# Notes that ACI-BENCH released. Its own paper prints their ROUGE (acibench_rouge.csv),
NOTES_OF_ACI_BENCH = [
    Line(
        title="ChatGPT, full",
        ours={"author": "chatgpt"},
        printed={"system_or_metric": "ChatGPT", "setting": "full"},
    ),
    Line(
        title="GPT-4, full",
        ours={"author": "gpt4"},
        printed={"system_or_metric": "GPT-4", "setting": "full"},
    ),
]
# DocLens prints ROUGE of their sections as "Reported",
REPORTED_NOTES = [
    Line(
        title="Reported GPT-3.5-turbo",
        ours={"author": "chatgpt"},
        printed={
            "system_or_metric": "Reported GPT-3.5-turbo",
            "setting": "full, 0-shot",
        },
    ),
    Line(
        title="Reported GPT-4",
        ours={"author": "gpt4"},
        printed={"system_or_metric": "Reported GPT-4", "setting": "full, 0-shot"},
    ),
]
# and neither prints claim scores of them.
NOTES_WITHOUT_PRINTED_CLAIMS = lines_by(
    "author",
    {"ChatGPT, full": "chatgpt", "GPT-4, full": "gpt4"},
)
# Systems of ours that the paper doesn't have.
OTHER_SYSTEMS = EachValue(
    column="author",
    without=[
        "bart_samsum_full",
        "bart_samsum_section",
        "biobart_full",
        "biobart_section",
        "chatgpt",
        "gpt4",
        "reference",
    ],
)

# ---- columns: metrics --------------------------------------------------------------------

ROUGE_1_AND_2 = lines_by(
    "metric",
    {"Rouge-1": "rouge1_fmeasure", "Rouge-2": "rouge2_fmeasure"},
    ours={"judge": "none"},
    printed_column="quantity",
)
# Of whole notes the paper's Rouge-L is rougeLsum, of sections it is rougeL.
ROUGE_LSUM = Line(
    title="Rouge-L",
    ours={"metric": "rougeLsum_fmeasure", "judge": "none"},
    printed={"quantity": "Rouge-L"},
)
ROUGE_L = Line(
    title="Rouge-L",
    ours={"metric": "rougeL_fmeasure", "judge": "none"},
    printed={"quantity": "Rouge-L"},
)
METRICS_OF_RECALL = {
    "Claim recall, semantic": "claim_recall (semantic)",
    "Claim recall, lexical": "claim_recall (lexical)",
    "Rouge-1 recall": "rouge1_recall",
    "Rouge-2 recall": "rouge2_recall",
    "Rouge-L recall": "rougeLsum_recall",
}
METRICS_OF_PRECISION = {
    "Claim precision, semantic": "claim_precision (semantic)",
    "Claim precision, lexical": "claim_precision (lexical)",
    "Rouge-1 precision": "rouge1_precision",
    "Rouge-2 precision": "rouge2_precision",
    "Rouge-L precision": "rougeLsum_precision",
}

# ---- captions ----------------------------------------------------------------------------

WHOSE_NOTES = """
    The notes of ChatGPT and GPT-4 are those that ACI-BENCH released; DocLens's own notes
    by GPT models were not released.
"""
WHOSE_PRINT = """
    What is printed of ChatGPT and GPT-4 is in the paper of ACI-BENCH, not in DocLens.
"""
ORDER_OF_NOTES = """
    Kendall's tau-b over all whole notes of 12 systems. Rouge-L is rougeLsum. The paper's
    figure is of other systems; its numbers are printed nowhere else.
"""

# ---- what is missing ---------------------------------------------------------------------

PREFERENCES = Missing(
    kind="data",
    what="""
        the experts' scores and preferences were not released. MTS-Dialog is no substitute:
        claim recall by the semantic judge and ROUGE-L recall order 15 of the 600 pairs of its
        summaries in opposite ways
    """,
)


def order_of_notes(group: str, metrics: dict[str, str]) -> Record:
    """Return one half of figure 8: how alike the metrics of a group order notes."""
    return Record(
        paper="doclens",
        name=f"fig8_{group}",
        title=f"How alike metrics of {group} order notes of ACI-BENCH test 1",
        form="heatmap",
        numbers=Numbers(
            benchmark="aci_bench",
            table="recall_precision",
            value="tau",
            n="n",
            where={"group": group},
        ),
        rows=lines_by("first", metrics),
        columns=lines_by("second", metrics),
        axis="Kendall's tau-b",
        caption=ORDER_OF_NOTES,
    )


def claims_of_whole_notes(name: str, evaluator: str) -> Record:
    """Return one of tables 21 to 23."""
    return Record(
        paper="doclens",
        name=name,
        title=f"Claim scores of whole notes on ACI-BENCH test 1, beside those by {evaluator}",
        numbers=SCORES,
        panels=WHOLE_NOTES,
        rows=[*SAME_NOTES, *NOTES_WITHOUT_PRINTED_CLAIMS],
        columns=claim_scores(evaluator),
        printed_files=[f"doclens_{name}.csv"],
        caption=f"""
            Per cent of claims, mean over 40 notes, with a bootstrap interval over notes.
            {WHOSE_NOTES}
        """,
        not_comparable=OTHER_JUDGE,
    )


def claims_of_sections(name: str, evaluator: str) -> Record:
    """Return one of tables 25 to 27."""
    return Record(
        paper="doclens",
        name=name,
        title=f"Claim scores of sections on ACI-BENCH test 1, beside those by {evaluator}",
        numbers=SCORES,
        panels=SECTIONS,
        rows=[*SAME_NOTES, *NOTES_WITHOUT_PRINTED_CLAIMS],
        columns=claim_scores(evaluator),
        printed_files=[f"doclens_{name}.csv"],
        caption=f"""
            Per cent of claims, mean over those of 40 notes in which it is defined (column n
            of the .csv: systems that leave a section out have few), with a bootstrap
            interval over notes.
            {WHOSE_NOTES}
        """,
        not_comparable=OTHER_JUDGE,
    )


NOTES: Sequence[Record] = [
    Record(
        paper="doclens",
        name="fig4",
        title="Systems on whole notes of ACI-BENCH test 1, by ROUGE and by claims",
        form="dots",
        numbers=SCORES,
        panels=WHOLE_NOTES,
        rows=[*SAME_NOTES, *NOTES_OF_ACI_BENCH, OTHER_SYSTEMS],
        columns=[ROUGE_LSUM, claim_recall("GPT-4"), claim_precision("GPT-4")],
        printed_files=[
            "doclens_table20.csv",
            "doclens_table21.csv",
            "acibench_rouge.csv",
        ],
        axis="per cent",
        caption=f"""
            Mean over 40 notes, with a bootstrap interval over notes. What is printed as
            Rouge-L is rougeLsum.
            {WHOSE_PRINT}
            {WHOSE_NOTES}
        """,
        not_comparable=f"of claim scores, {OTHER_JUDGE}",
    ),
    Record(
        paper="doclens",
        name="fig7",
        title="Agreement of metrics with experts' preferences",
        form="bars",
        open=PREFERENCES,
    ),
    order_of_notes("recall", METRICS_OF_RECALL),
    order_of_notes("precision", METRICS_OF_PRECISION),
    Record(
        paper="doclens",
        name="table2",
        title="Correlation of metrics of recall with experts",
        open=PREFERENCES,
    ),
    Record(
        paper="doclens",
        name="table11",
        title="Pairs of notes on which two metrics of recall disagree",
        numbers=Numbers(
            benchmark="aci_bench",
            table="recall_conflicts",
            value="n_conflicts",
            n="n_pairs",
        ),
        rows=[
            Line(
                title="Claim Recall, semantic, and Rouge-L Recall",
                ours={"first": "claim_recall (semantic)", "second": "rougeL_recall"},
                printed={
                    "system_or_metric": "Claim Recall (GPT-4) vs Rouge-L Recall",
                },
            ),
            Line(
                title="Claim Recall, semantic and lexical",
                ours={
                    "first": "claim_recall (semantic)",
                    "second": "claim_recall (lexical)",
                },
                printed=None,
            ),
        ],
        columns=[
            Line(
                title="Subjective",
                ours={"part": "subjective"},
                printed=None,
            ),
            Line(
                title="Objective-Exam",
                ours={"part": "objective_exam"},
                printed={"split_or_section": "Objective-Exam"},
            ),
            Line(
                title="Objective-Results",
                ours={"part": "objective_results"},
                printed=None,
            ),
            Line(
                title="Assessment and Plan",
                ours={"part": "assessment_and_plan"},
                printed={"split_or_section": "Assessment and Plan"},
            ),
        ],
        printed_files=["doclens_table11.csv"],
        decimals=0,
        caption="""
            Of 2,640 pairs: 40 documents by 66 pairs of 12 systems; fewer of
            Objective-Results, where some references have no claims (column n of the .csv).
            A tie is no disagreement. Rouge-L is rougeL, as in table 24. The paper's caption
            says 2,460, its appendix 2,640.
        """,
        not_comparable="""
            eight of the 12 systems are other ones than the paper's, and so is the judge.
        """,
    ),
    Record(
        paper="doclens",
        name="table12",
        title="Agreement of the experts with each other",
        open=Missing(
            kind="data",
            what="the experts' scores and preferences were not released",
        ),
    ),
    Record(
        paper="doclens",
        name="table20",
        title="ROUGE and MEDCON of whole notes on ACI-BENCH test 1",
        numbers=SCORES,
        panels=WHOLE_NOTES,
        rows=[*SAME_NOTES, *NOTES_OF_ACI_BENCH],
        columns=[*ROUGE_1_AND_2, ROUGE_LSUM, MEDCON],
        printed_files=["doclens_table20.csv", "acibench_rouge.csv"],
        caption=f"""
            F1 x 100, mean over 40 notes, with a bootstrap interval over notes. What is
            printed as Rouge-L is rougeLsum. MEDCON is by the rule of its released code, here
            over the concepts of an invented term list (docs/metrics.md), in print over those
            of the UMLS, so that the numbers differ; name a linker of yours in params.yaml >
            metrics > medcon_released.
            {WHOSE_PRINT}
            {WHOSE_NOTES}
        """,
    ),
    claims_of_whole_notes("table21", "GPT-4"),
    claims_of_whole_notes("table22", "Mistral"),
    claims_of_whole_notes("table23", "TRUE"),
    Record(
        paper="doclens",
        name="table24",
        title="ROUGE of sections on ACI-BENCH test 1",
        numbers=SCORES_OF_PREPARED_SECTIONS,
        panels=SECTIONS,
        rows=[*SAME_NOTES, *REPORTED_NOTES],
        columns=[*ROUGE_1_AND_2, ROUGE_L],
        printed_files=["doclens_table24.csv"],
        caption="""
            F1 x 100, mean over 40 notes, with a bootstrap interval over notes. Sections are
            prepared as the original does: one that both texts lack counts, which is right
            for comparing with the print and for nothing else.
        """,
    ),
    claims_of_sections("table25", "GPT-4"),
    claims_of_sections("table26", "Mistral"),
    claims_of_sections("table27", "TRUE"),
]
