"""Scores or ratings as they were given: a table, and what is worth knowing of it."""

from typing import NamedTuple

import pandas as pd

from metassay.cli.meta_eval.cells import Cells

TEXT = ["doc_id", "author", "part"]  # what one score, and one rater's rating, is of


class Given(NamedTuple):
    """A file as a table, and what is worth knowing of it."""

    table: pd.DataFrame  # rows with a value; columns as `scores` or `ratings`
    name: str  # the file's
    names: list[str]  # metrics or criteria, in the file's order
    notes: list[str]
    cells: Cells
    texts: (
        pd.DataFrame
    )  # of each row of `cells`: doc_id, author, part, and the columns that label it
    keys: dict[str, str]  # each key that is there, with the column's name in the file
