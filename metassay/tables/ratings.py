"""Ratings by people."""

import pandas as pd

from metassay.tables.columns import AUTHOR, DOC_ID, PART, REAL, TEXT
from metassay.tables.parquet import Column, Table

RATINGS = Table(
    name="ratings",
    says="one person's judgment of one thing; never averaged here",
    key=("study", "doc_id", "author", "part", "unit", "rater", "criterion"),
    columns={
        "study": Column(TEXT, "the study the rating was made in"),
        "doc_id": DOC_ID,
        "author": AUTHOR,
        "part": PART,
        "unit": Column(
            TEXT,
            (
                "`text`; `claim:N` for one claim; `statement:N` for one sentence of "
                "the author's text; `versus:AUTHOR` for a preference"
            ),
        ),
        "rater": Column(TEXT, "who judged"),
        "criterion": Column(
            TEXT,
            "what was judged; its scale is declared in params.yaml",
        ),
        "value": Column(
            REAL,
            (
                "on the criterion's scale, to the last digit; null where the rater "
                "abstained"
            ),
            null=True,
            exact=True,
        ),
    },
)

STATEMENT_UNIT = "statement:"  # in `unit`, before the number of the sentence


def statement_ratings(ratings: pd.DataFrame) -> pd.DataFrame:
    """Select the ratings of single statements, with their `number` in the whole text, from 0.

    `number` is as in table `statement_scores`.
    """
    rows = ratings[ratings["unit"].str.startswith(STATEMENT_UNIT)]
    number = rows["unit"].str.removeprefix(STATEMENT_UNIT).astype("int64")
    return rows.assign(number=number)
