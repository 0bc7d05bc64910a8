"""Scores of single statements, read with their aligned passages."""

from metassay.tables.columns import (
    AUTHOR,
    BETTER,
    BOOLEAN,
    DOC_ID,
    INTEGER,
    PART,
    REAL,
    RECIPE,
    TEXT,
)
from metassay.tables.parquet import Column, Table

STATEMENT_SCORES = Table(
    name="statement_scores",
    says=(
        "scores of single statements, read against the passages that are aligned "
        "with them. A metric’s name ends in `@` and the alignment’s where the "
        "benchmark has several"
    ),
    key=("doc_id", "author", "part", "position", "metric", "judge"),
    columns={
        "doc_id": DOC_ID,
        "author": AUTHOR,
        "part": PART,
        "position": Column(INTEGER, "the statement's position in its part"),
        "number": Column(INTEGER, "its number in the whole text, from 0"),
        "metric": Column(TEXT, "the metric's name in docs/metrics.md"),
        "judge": Column(
            TEXT,
            (
                "the judge, or the checkpoint of a metric that has several; `none` "
                "without either"
            ),
        ),
        "value": Column(
            REAL,
            "the score; null if it is undefined, or if the model gave no usable answer",
            null=True,
        ),
        "failed": Column(
            BOOLEAN,
            "the value is null because the model gave no usable answer",
        ),
        "unread": Column(
            REAL,
            (
                "the share of the tokens of the aligned passages that the model did "
                "not read"
            ),
        ),
        "cut": Column(
            BOOLEAN,
            (
                "an end of the statement was not read, or it has more sentences than "
                "are read"
            ),
        ),
        "better": BETTER,
        "recipe": RECIPE,
    },
)
