"""Every metric's value for every text."""

from dataclasses import replace

from metassay.tables.columns import (
    AUTHOR,
    DOC_ID,
    INTEGER,
    PART,
    REAL,
    REAL_LIST,
    RECIPE,
    TEXT,
)
from metassay.tables.parquet import Column, Table

MEASUREMENTS = Table(
    name="measurements",
    says=(
        "scores that need no judge. Citation marks such as [3] are removed from a "
        "text and its reference before they are compared or counted"
    ),
    key=("doc_id", "author", "part", "metric", "judge"),
    columns={
        "doc_id": DOC_ID,
        "author": AUTHOR,
        "part": PART,
        "metric": Column(TEXT, "the metric's name in docs/metrics.md"),
        "judge": Column(
            TEXT,
            "the judge's name in params.yaml; `none` for metrics that need no judge",
        ),
        "value": Column(
            REAL,
            (
                "the score; null if it is undefined. What came with the data is kept "
                "to the last digit"
            ),
            null=True,
            exact=True,
        ),
        "n_expected": Column(
            INTEGER,
            (
                "how many answers there should be: the denominator if none fails. 1 "
                "for metrics without a judge"
            ),
        ),
        "n_judged": Column(INTEGER, "how many of them there are"),
        "n_failed": Column(INTEGER, "how many are missing"),
        "low": Column(
            REAL,
            (
                "the value if every missing answer were worth as little as it can "
                "be: not entailed, or the lowest grade"
            ),
            null=True,
        ),
        "high": Column(
            REAL,
            "the value if every missing answer were worth as much as it can be",
            null=True,
        ),
        "statistics": Column(
            REAL_LIST,
            (
                "numbers that the corpus value is pooled from; null if the metric is "
                "not pooled"
            ),
            null=True,
        ),
        "recipe": RECIPE,
    },
)

SCORES = replace(
    MEASUREMENTS,
    name="scores",
    says="every metric's value for every text. Metrics that need no judge (ROUGE, BLEU, lengths,"
    " ...) read texts without their citation marks, such as [3]",
)
