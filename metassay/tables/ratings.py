"""What people said."""

import pandas as pd

from metassay.tables.columns import table

RATINGS = table(
    "ratings",
    "one person's judgment of one thing; never averaged here",
    "study doc_id author part unit rater criterion",
    """
    study text: the study the rating was made in
    doc_id author part
    unit text: `text`; `claim:N` for one claim; `statement:N` for one sentence of the author's text;
      `versus:AUTHOR` for a preference
    rater text: who judged
    criterion text: what was judged; its scale is declared in params.yaml
    value real?!: on the criterion's scale, to the last digit; null where the rater abstained
    """,
)

STATEMENT_UNIT = "statement:"  # in `unit`, before the number of the sentence


def of_statements(ratings: pd.DataFrame) -> pd.DataFrame:
    """The ratings of single statements, with `number`: the statement's in the whole text, from 0.

    `number` is that of table `statement_scores`.
    """
    rows = ratings[ratings["unit"].str.startswith(STATEMENT_UNIT)]
    number = rows["unit"].str.removeprefix(STATEMENT_UNIT).astype("int64")
    return rows.assign(number=number)
