"""Impressions of radiology reports (MIMIC-III), and short versions of questions (MeQSum).

The texts of the paper's systems were not released. Their printed numbers stand alone,
below those of the systems that were run here. If you run a system under the name in
`REPORT_SYSTEMS` or `QUESTION_SYSTEMS`, its numbers stand beside the printed ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from papers.doclens.shared import (
    MEDCON,
    OTHER_JUDGE,
    claim_precision,
    claim_recall,
    claim_scores,
)
from papers.record import EachValue, Line, Missing, Numbers, Record

REPORTS = "mimic_reports"
QUESTIONS = "meqsum"


class Printed(NamedTuple):
    """A row of the printed tables."""

    model: str
    shots: str


# Printed rows, by the name that the system would have here.
REPORT_SYSTEMS = {
    "gpt35_0shot": Printed("GPT-3.5-turbo", "0-shot"),
    "gpt4_0shot": Printed("GPT-4", "0-shot"),
    "gpt35_6shot": Printed("GPT-3.5-turbo", "6-shot"),
    "gpt4_6shot": Printed("GPT-4", "6-shot"),
    "gpt35_12shot": Printed("GPT-3.5-turbo-16k", "12-shot"),
    "gpt4_12shot": Printed("GPT-4", "12-shot"),
}
QUESTION_SYSTEMS = {
    "gpt35_0shot": Printed("GPT-3.5-turbo", "0-shot"),
    "gpt4_0shot": Printed("GPT-4", "0-shot"),
    "gpt35_1shot": Printed("GPT-3.5-turbo", "1-shot"),
    "gpt4_1shot": Printed("GPT-4", "1-shot"),
    "gpt35_2shot": Printed("GPT-3.5-turbo-16k", "2-shot"),
    "gpt4_2shot": Printed("GPT-4", "2-shot"),
}
# Tables 34 and 35 print 6-shot and 12-shot in two rows, which tables 32 and 33 and the
# text call 1-shot and 2-shot.
MISPRINTED_SYSTEMS = {
    **QUESTION_SYSTEMS,
    "gpt4_1shot": Printed("GPT-4", "6-shot"),
    "gpt4_2shot": Printed("GPT-4", "12-shot"),
}
# Table 36 compares two ways to ask one model.
CITATION_SYSTEMS = {
    "gpt4_6shot_uncited": Printed("GPT-4", "no citation, 6-shot"),
    "gpt4_6shot": Printed("GPT-4", "with citation, 6-shot"),
    "gpt4_12shot_uncited": Printed("GPT-4", "no citation, 12-shot"),
    "gpt4_12shot": Printed("GPT-4", "with citation, 12-shot"),
}


def score(benchmark: str) -> Numbers:
    """Return the scores of systems on whole texts, in per cent."""
    return Numbers(
        benchmark=benchmark,
        table="leaderboard",
        value="macro",
        low="low",
        high="high",
        n="n_documents",
        n_undefined="n_undefined",
        scale=100,
        where={"part": "full"},
    )


def list_systems(systems: Mapping[str, Printed]) -> list[Line | EachValue]:
    """Return a row per system that was run here, and one per printed system."""
    printed = [
        Line(
            title=f"{row.model}, {row.shots}",
            ours={"author": name},
            printed={"system_or_metric": row.model, "setting": row.shots},
            printed_alone=True,
        )
        for name, row in systems.items()
    ]
    return [EachValue(column="author", without=["reference", *systems]), *printed]


# ---- columns -----------------------------------------------------------------------------

ROUGE_L = Line(
    title="Rouge-L",
    ours={"metric": "rougeL_fmeasure", "judge": "none"},
    printed={"quantity": "Rouge-L"},
)
BERTSCORE = Line(
    title="BERTScore",
    ours={"metric": "bertscore_f1", "judge": "none"},
    printed={"quantity": "BERTScore"},
)
RADGRAPH = Line(
    title="F1-RadGraph",
    ours={"metric": "f1_radgraph_partial", "judge": "none"},
    printed={"quantity": "F1-RadGraph"},
)


def bleu(benchmark: str) -> Line:
    """Return the column of BLEU, which our table has in per cent already."""
    return Line(
        title="BLEU",
        ours={"metric": "bleu", "judge": "none"},
        printed={"quantity": "BLEU"},
        numbers=replace(score(benchmark), scale=1),
    )


def citation_scores(evaluator: str) -> list[Line]:
    """Return citation recall and precision by our semantic judge, beside an evaluator's."""
    return [
        Line(
            title="Citation Recall, semantic",
            ours={"metric": "citation_recall", "judge": "semantic"},
            printed={"quantity": "Citation Recall", "evaluator": evaluator},
        ),
        Line(
            title="Citation Precision, semantic",
            ours={"metric": "citation_precision", "judge": "semantic"},
            printed={"quantity": "Citation Precision", "evaluator": evaluator},
        ),
    ]


# ---- captions ----------------------------------------------------------------------------

MIMIC = Missing(
    kind="credentials",
    what="""
        needs reports of MIMIC-III, which is only for credentialed users. With credentials,
        copy papers/benchmarks/mimic_reports into benchmarks/; docs/datasets.md says what
        the data look like
    """,
)
PRINTED_ALONE = """
    The paper's systems are printed alone, for their texts were not released.
"""
OTHER_QUESTIONS = f"""
    ours are of 100 other questions and, where a judge is needed, by other judges; the print
    is of the test set of MEDIQA 2021. {PRINTED_ALONE}
"""
OTHER_REPORTS = f"""
    ours are of the reports that you drew, theirs of 200 others. {PRINTED_ALONE}
"""
OF_QUESTIONS = """
    Per cent, mean over 100 questions of MeQSum that are held out, with a bootstrap interval
    over questions.
"""
OF_REPORTS = """
    Per cent, mean over reports, with a bootstrap interval over reports.
"""
SINGLE_CLAIM = """
    A short question is its own single claim. For an LLM judge the paper counts "asks the
    same", too; ours are claims alone.
"""
OUR_MODELS = """
    BERTScore reads by all-MiniLM-L6-v2 here. MEDCON is over the concepts of an invented term
    list here, in print over those of the UMLS.
"""


def claims_of_questions(
    name: str, evaluator: str, systems: Mapping[str, Printed]
) -> Record:
    """Return one of tables 33 to 35."""
    return Record(
        paper="doclens",
        name=name,
        title=f"Question summaries, claims, beside those by {evaluator}",
        numbers=score(QUESTIONS),
        rows=list_systems(systems),
        columns=[*claim_scores(evaluator), *citation_scores(evaluator)],
        printed_files=[f"doclens_{name}.csv"],
        caption=f"{OF_QUESTIONS} {SINGLE_CLAIM}",
        not_comparable=OTHER_QUESTIONS,
    )


def claims_of_reports(name: str, evaluator: str) -> Record:
    """Return one of tables 29 to 31."""
    return Record(
        paper="doclens",
        name=name,
        title=f"Radiology reports, claims, beside those by {evaluator}",
        numbers=score(REPORTS),
        rows=list_systems(REPORT_SYSTEMS),
        columns=[*claim_scores(evaluator), *citation_scores(evaluator)],
        printed_files=[f"doclens_{name}.csv"],
        caption=OF_REPORTS,
        not_comparable=f"{OTHER_JUDGE} {OTHER_REPORTS}",
        open=MIMIC,
    )


REPORTS_AND_QUESTIONS: Sequence[Record] = [
    Record(
        paper="doclens",
        name="fig5",
        title="Systems on radiology reports",
        form="dots",
        numbers=score(REPORTS),
        rows=list_systems(REPORT_SYSTEMS),
        columns=[ROUGE_L, claim_recall("GPT-4"), claim_precision("GPT-4")],
        printed_files=["doclens_table28.csv", "doclens_table29.csv"],
        axis="per cent",
        caption=OF_REPORTS,
        not_comparable=f"{OTHER_JUDGE} {OTHER_REPORTS}",
        open=MIMIC,
    ),
    Record(
        paper="doclens",
        name="fig6",
        title="Systems on question summaries",
        form="dots",
        numbers=score(QUESTIONS),
        rows=list_systems(QUESTION_SYSTEMS),
        columns=[ROUGE_L, claim_recall("GPT-4"), claim_precision("GPT-4")],
        printed_files=["doclens_table32.csv", "doclens_table33.csv"],
        axis="per cent",
        caption=f"{OF_QUESTIONS} {SINGLE_CLAIM}",
        not_comparable=OTHER_QUESTIONS,
    ),
    Record(
        paper="doclens",
        name="table28",
        title="Radiology reports, existing metrics",
        numbers=score(REPORTS),
        rows=list_systems(REPORT_SYSTEMS),
        columns=[ROUGE_L, BERTSCORE, bleu(REPORTS), RADGRAPH],
        printed_files=["doclens_table28.csv"],
        caption=f"""
            {OF_REPORTS} BERTScore reads by all-MiniLM-L6-v2 here. F1-RadGraph is there if
            your benchmark has the metric f1_radgraph.
        """,
        not_comparable=OTHER_REPORTS,
        open=MIMIC,
    ),
    claims_of_reports("table29", "GPT-4"),
    claims_of_reports("table30", "Mistral"),
    claims_of_reports("table31", "TRUE"),
    Record(
        paper="doclens",
        name="table32",
        title="Question summaries, existing metrics",
        numbers=score(QUESTIONS),
        rows=list_systems(QUESTION_SYSTEMS),
        columns=[ROUGE_L, BERTSCORE, bleu(QUESTIONS), MEDCON],
        printed_files=["doclens_table32.csv"],
        caption=f"{OF_QUESTIONS} {OUR_MODELS}",
        not_comparable=OTHER_QUESTIONS,
    ),
    claims_of_questions("table33", "GPT-4", QUESTION_SYSTEMS),
    claims_of_questions("table34", "Mistral", MISPRINTED_SYSTEMS),
    claims_of_questions("table35", "TRUE", MISPRINTED_SYSTEMS),
    Record(
        paper="doclens",
        name="table36",
        title="Radiology reports with and without citations",
        numbers=score(REPORTS),
        rows=list_systems(CITATION_SYSTEMS),
        columns=[
            ROUGE_L,
            bleu(REPORTS),
            RADGRAPH,
            *claim_scores("GPT-4"),
        ],
        printed_files=["doclens_table36.csv"],
        caption=OF_REPORTS,
        not_comparable=f"{OTHER_JUDGE} {OTHER_REPORTS}",
        open=MIMIC,
    ),
]
