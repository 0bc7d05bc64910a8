"""The answers of judges."""

from metassay.tables.columns import (
    BOOLEAN,
    INTEGER,
    INTEGER_LIST,
    REAL,
    TEXT,
    TEXT_LIST,
)
from metassay.tables.parquet import Column, Table

JUDGMENTS = Table(
    name="judgments",
    says=(
        "what judges answered: one row for each pair and judge. A pair whose answer "
        "is not needed has no row: a single citation where the passages together "
        "decide"
    ),
    key=("pair_id", "judge"),
    columns={
        "pair_id": Column(TEXT, "the pair that was judged"),
        "judge": Column(TEXT, "the judge's name in params.yaml"),
        "status": Column(
            TEXT,
            "ok, or why there is no answer; abstained: the judge is not sure",
            choices=(
                "ok",
                "abstained",
                "unparsed",
                "refused",
                "truncated",
                "error",
            ),
        ),
        "label": Column(
            TEXT,
            (
                "the answer, if the instrument asks for a label: `entailed` or "
                "`not_entailed` for entailment and attribution. Null if it asks for "
                "a grade, or if status is not ok"
            ),
            null=True,
        ),
        "probability": Column(
            REAL,
            (
                "the judge's probability that the hypothesis is entailed, 0 to 1, "
                "where it gives one, also where it abstained"
            ),
            null=True,
        ),
        "grade": Column(
            REAL,
            (
                "the answer, if the instrument asks for a grade: 0 to 3 for "
                "support_grade, the level of a scale, the number of penalties. Null "
                "if it asks for a label, or if status is not ok"
            ),
            null=True,
        ),
        "explanation": Column(
            TEXT,
            "the judge's reason, verbatim",
            null=True,
        ),
        "quotes": Column(
            TEXT_LIST,
            "what the judge quotes as its evidence; mostly none",
        ),
        "quote_starts": Column(
            INTEGER_LIST,
            (
                "where each quote starts in the hypothesis, in characters; -1: it is "
                "not there"
            ),
        ),
        "tokens": Column(
            INTEGER,
            "tokens that were paid for, of prompt and answer",
            null=True,
        ),
        "attempts": Column(INTEGER, "how often the judge was asked"),
        "repaired": Column(
            BOOLEAN,
            (
                "the answer was not in just the form that was asked for (a bullet, "
                "other case, a number as text), but can mean one thing only"
            ),
        ),
        "recipe": Column(TEXT, "the judge's signature: its model, prompt and settings"),
    },
)
