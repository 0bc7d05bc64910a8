"""Corrupted sentences, to train models that detect fake words."""

from metassay.tables.columns import (
    AUTHOR,
    DOC_ID,
    INTEGER,
    INTEGER_LIST,
    PART,
    RECIPE,
    TEXT_LIST,
)
from metassay.tables.parquet import Column, Table

CORRUPTIONS = Table(
    name="corruptions",
    says="statements of the reference in which a model has filled masked spans anew",
    key=("doc_id", "author", "part", "position"),
    columns={
        "doc_id": DOC_ID,
        "author": AUTHOR,
        "part": PART,
        "position": Column(INTEGER, "the statement's position"),
        "words": Column(
            TEXT_LIST,
            "the words of the corrupted statement, parted at blanks",
        ),
        "fake": Column(
            INTEGER_LIST,
            "of each word 1 if it is of a span that is now another, else 0",
        ),
        "recipe": RECIPE,
    },
)
