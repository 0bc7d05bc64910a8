"""Tables 21 to 27 by a language model of one's own, which writes, lists claims and judges."""

from collections.abc import Sequence

from papers.doclens.notes import (
    NOTES_WITHOUT_PRINTED_CLAIMS,
    SAME_NOTES,
    SECTIONS,
    WHOLE_NOTES,
)
from papers.record import Line, Lines, Missing, Numbers, Record
from papers.with_model import BENCHMARK, NAME, PROMPTS, SHOTS, system_name

SCORES = Numbers(
    benchmark=BENCHMARK,
    table="leaderboard",
    value="macro",
    low="low",
    high="high",
    n="n_documents",
    n_undefined="n_undefined",
    scale=100,
)
NEEDS_A_MODEL = Missing(
    kind="credentials",
    what="""
        needs a language model: python -m papers.with_model prepares it and prints the price;
        docs/datasets.md says more
    """,
)
OTHER_MODEL = """
    your model wrote the notes and judged them; the printed numbers are of other notes, by
    another judge. What can be compared is the order of the systems.
"""
METRICS = {
    "Claim Recall": "claim_recall",
    "Claim Precision": "claim_precision",
    "Citation Recall": "citation_recall",
    "Citation Precision": "citation_precision",
}
GPT4 = {0: "GPT-4", 1: "GPT-4", 2: "GPT-4-32k"}  # by the number of examples
GPT35 = {0: "GPT-3.5-turbo", 1: "GPT-3.5-turbo-16k", 2: "GPT-3.5-turbo-16k"}


def notes_of_the_model() -> list[Line]:
    """Return a row per way in which the model writes; beside it is what GPT-4 had."""
    return [
        Line(
            title=f"Your model, {unit}, {shots}-shot; printed: {GPT4[shots]}",
            ours={"author": system_name(unit, shots)},
            printed={
                "system_or_metric": GPT4[shots],
                "setting": f"{unit}, {shots}-shot",
            },
        )
        for shots in SHOTS
        for unit in PROMPTS
    ]


def printed_notes() -> list[Line]:
    """Return a row per way in which GPT-3.5 wrote, whose numbers are printed alone."""
    return [
        Line(
            title=f"{GPT35[shots]}, {unit}, {shots}-shot",
            ours=None,
            printed={
                "system_or_metric": GPT35[shots],
                "setting": f"{unit}, {shots}-shot",
            },
            printed_alone=True,
        )
        for shots in SHOTS
        for unit in PROMPTS
    ]


def scores_by_the_model(table: str, evaluator: str, panels: Lines) -> Record:
    """Return one of the tables, beside what was printed by an evaluator."""
    whole = panels is WHOLE_NOTES
    return Record(
        paper="doclens",
        name=f"{table}_model",
        title=f"{'Whole notes' if whole else 'Sections'} of ACI-BENCH test 1 by a model of"
        f" yours, beside those by {evaluator}",
        numbers=SCORES,
        panels=panels,
        rows=[
            *SAME_NOTES,
            *NOTES_WITHOUT_PRINTED_CLAIMS,
            *notes_of_the_model(),
            *printed_notes(),
        ],
        columns=[
            Line(
                title=title,
                ours={"metric": metric, "judge": NAME},
                printed={"quantity": title, "evaluator": evaluator},
            )
            for title, metric in METRICS.items()
        ],
        printed_files=[f"doclens_{table}.csv"],
        caption="""
            Per cent, mean over those of 40 notes in which it is defined (column n of the
            .csv), with a bootstrap interval over notes. The model lists the claims of
            references, too. Examples are the first of ACI-BENCH's training set that have
            the section; their citations are those of the most similar turn.
        """,
        not_comparable=OTHER_MODEL,
        open=NEEDS_A_MODEL,
    )


BY_MODEL: Sequence[Record] = [
    scores_by_the_model("table21", "GPT-4", WHOLE_NOTES),
    scores_by_the_model("table22", "Mistral", WHOLE_NOTES),
    scores_by_the_model("table23", "TRUE", WHOLE_NOTES),
    scores_by_the_model("table25", "GPT-4", SECTIONS),
    scores_by_the_model("table26", "Mistral", SECTIONS),
    scores_by_the_model("table27", "TRUE", SECTIONS),
]
