"""Ratings by people."""

import pandas as pd

from metassay.tables.columns import contracts

(RATINGS,) = contracts(__file__)

STATEMENT_UNIT = "statement:"  # in `unit`, before the number of the sentence


def statement_ratings(ratings: pd.DataFrame) -> pd.DataFrame:
    """Select the ratings of single statements, with their `number` in the whole text, from 0.

    `number` is as in table `statement_scores`.
    """
    rows = ratings[ratings["unit"].str.startswith(STATEMENT_UNIT)]
    number = rows["unit"].str.removeprefix(STATEMENT_UNIT).astype("int64")
    return rows.assign(number=number)
