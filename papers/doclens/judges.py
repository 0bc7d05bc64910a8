"""Judges on sets whose labels are known."""

from collections.abc import Sequence

from papers.record import (
    EachValue,
    Line,
    Missing,
    Numbers,
    Record,
    estimate,
    lines_by,
)

LABELS_OF_CLAIMS = Missing(
    kind="data", what="people's labels of these claims were not released"
)


def accuracy_of_judges(test: str) -> Numbers:
    """Return the cards of the judges that a test of judges examined, in per cent."""
    return estimate(test, "judge_cards", scale=100)


# ---- MedNLI and ANLI ---------------------------------------------------------------------

# Tests of judges on a copy of these sets: of MedNLI in two labels and in three.
MEDNLI, MEDNLI_3WAY, ANLI = "mednli", "mednli_3way", "anli"
ROUNDS = ("R1", "R2", "R3")

NLI_SETS = Missing(
    kind="credentials",
    what="""
        needs MedNLI, which is only for credentialed users, and ANLI. With both, copy
        papers/benchmarks/mednli, mednli_3way and anli into benchmarks/; docs/datasets.md
        says what the data look like
    """,
)
OTHER_JUDGES = """
    ours are other judges than the paper's, whose verdicts were not released; they are
    printed alone.
"""


def list_judges(printed: Sequence[tuple[str, str]]) -> list[Line | EachValue]:
    """Return a row per judge of ours, and one per printed model and setting."""
    rows = [
        Line(
            title=f"{model}, {setting}".rstrip(", "),
            ours=None,
            printed={"system_or_metric": model, "setting": setting},
            printed_alone=True,
        )
        for model, setting in printed
    ]
    return [EachValue(column="judge"), *rows]


def styles(model: str, shots: str) -> list[tuple[str, str]]:
    """Return the four ways in which the paper asks a model."""
    endings = ("", " + JSON", " + CoT", " + JSON + CoT")
    return [(model, f"{shots}{ending}") for ending in endings]


def verdicts_on(test: str, statistic: str = "agreement") -> Numbers:
    """Return judges' accuracy in a test of judges, in per cent."""
    return estimate(
        test,
        "judge_cards",
        scale=100,
        where={
            "criterion": "entailed",
            "part": "full",
            "metric": "verdict",
            "statistic": statistic,
        },
    )


def accuracy_on_round(number: str) -> Line:
    """Return the column of one round of ANLI."""
    return Line(
        title=f"ANLI-{number}",
        ours={"study": f"{number}_test"},
        printed={"dataset": f"ANLI-{number}", "quantity": "accuracy"},
        numbers=verdicts_on(ANLI),
    )


ON_MEDNLI = Line(
    title="MedNLI",
    ours={"study": "mli_test_v1"},
    printed={"dataset": "MedNLI", "quantity": "accuracy"},
)
ON_ALL_ROUNDS = Line(
    title="ANLI, mean of R1 to R3",
    parts=[(1 / 3, {"study": f"{number}_test"}) for number in ROUNDS],
    printed={"dataset": "ANLI (R1-R3 average)"},
    numbers=verdicts_on(ANLI),
)
TWO_LABELS = [("TRUE", ""), *styles("GPT-4", "2-shot"), *styles("Mistral", "2-shot")]
THREE_LABELS = [
    ("T5-large", "fully supervised"),
    ("ClinicalT5-large", "fully supervised"),
    ("BioBART-large", "fully supervised"),
    ("SciFive-large", "fully supervised"),
    *styles("Mistral", "3-shot"),
    *styles("GPT-4", "3-shot"),
]

JUDGES: Sequence[Record] = [
    Record(
        paper="doclens",
        name="table1",
        title="Judges in two labels, on the tests of judges here",
        panels=[
            Line(
                title="",
                ours={"criterion": "entailed", "part": "full", "metric": "verdict"},
            )
        ],
        rows=[
            *lines_by(
                "judge",
                {
                    "Lexical": "lexical",
                    "Semantic": "semantic",
                    "T5-3B tuned on ANLI, as released": "t5_3b_anli",
                },
                ours={"statistic": "agreement"},
            ),
            Line(
                title="Supported",
                ours={"judge": "lexical", "statistic": "people_pass_rate"},
            ),
        ],
        columns=[
            Line(
                title="WiCE",
                ours={"study": "items of t5_3b_anli"},
                numbers=accuracy_of_judges("wice_dev"),
            ),
            Line(
                title="Changed sentences",
                ours={"study": "sentence"},
                numbers=accuracy_of_judges("minimal_pairs_aci"),
            ),
            Line(
                title="The same in their notes",
                ours={"study": "text"},
                numbers=accuracy_of_judges("minimal_pairs_aci_notes"),
            ),
        ],
        decimals=1,
        caption="""
            Per cent of items that a judge labels right: supported, or not. Last row: per
            cent that are supported. WiCE: the 100 claims with a released score of T5-3B.
            Changed sentences: 200 of ACI-BENCH test 1, as they are and in versions made by
            rule, with another meaning or the same, held against the original or its whole
            note. The semantic judge learnt from other claims of WiCE and from such
            sentences of other notes; its settings were chosen with these claims in sight.
            Intervals are for other documents. Not of the paper's data: MedNLI is only for
            credentialed users, and ANLI is not here yet.
        """,
    ),
    Record(
        paper="doclens",
        name="table6",
        title="Judges beside people on 20 claims",
        open=LABELS_OF_CLAIMS,
    ),
    Record(
        paper="doclens",
        name="table7",
        title="Judges beside people on 100 claims",
        open=LABELS_OF_CLAIMS,
    ),
    Record(
        paper="doclens",
        name="table1_nli",
        title="Judges in two labels, on MedNLI and ANLI",
        numbers=verdicts_on(MEDNLI),
        rows=list_judges(TWO_LABELS),
        columns=[ON_MEDNLI, ON_ALL_ROUNDS],
        printed_files=["doclens_table1.csv"],
        decimals=1,
        caption="""
            Per cent of items that a judge labels right: entailed, or not. Intervals are for
            other premises.
        """,
        not_comparable=OTHER_JUDGES,
        open=NLI_SETS,
    ),
    Record(
        paper="doclens",
        name="table4",
        title="Judges on each test set of MedNLI and ANLI",
        numbers=verdicts_on(MEDNLI),
        rows=list_judges(TWO_LABELS),
        columns=[*(accuracy_on_round(number) for number in ROUNDS), ON_MEDNLI],
        printed_files=["doclens_table4.csv"],
        decimals=1,
        caption="""
            Per cent of items that a judge labels right: entailed, or not. Intervals are for
            other premises.
        """,
        not_comparable=OTHER_JUDGES,
        open=NLI_SETS,
    ),
    Record(
        paper="doclens",
        name="table5",
        title="Judges on MedNLI in three labels",
        numbers=verdicts_on(MEDNLI_3WAY, "accuracy_3way"),
        rows=list_judges(THREE_LABELS),
        columns=[ON_MEDNLI],
        printed_files=["doclens_table5.csv"],
        decimals=1,
        caption="""
            Per cent of items that a judge labels right: entailed, contradicted or neutral.
            Intervals are for other premises. Four of the printed models were trained on
            MedNLI.
        """,
        not_comparable=OTHER_JUDGES,
        open=NLI_SETS,
    ),
]
