"""Every metric's value for every author."""

from metassay.tables.columns import (
    AUTHOR,
    BETTER,
    INTEGER,
    JUDGE,
    METRIC,
    PART,
    REAL,
    RECIPE,
)
from metassay.tables.parquet import Column, Table

LEADERBOARD = Table(
    name="leaderboard",
    says="each author's corpus value on each metric",
    key=("part", "metric", "judge", "author"),
    columns={
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "author": AUTHOR,
        "macro": Column(
            REAL,
            "the mean over the documents whose score is defined",
            null=True,
        ),
        "low": Column(
            REAL,
            (
                "lower end of macro's interval, from a bootstrap over clusters of "
                "documents"
            ),
            null=True,
        ),
        "high": Column(
            REAL,
            "upper end of that interval",
            null=True,
        ),
        "micro": Column(
            REAL,
            "the value of all documents pooled; null if it is not pooled",
            null=True,
        ),
        "least": Column(
            REAL,
            (
                "macro if every missing answer were worth as little as it can be; "
                "null if a bound of a score is not known"
            ),
            null=True,
        ),
        "most": Column(
            REAL,
            "macro if every missing answer were worth as much as it can be",
            null=True,
        ),
        "n_documents": Column(
            INTEGER,
            "documents for which this author has a row in `scores`",
        ),
        "n_undefined": Column(INTEGER, "how many of these documents have a null score"),
        "n_expected": Column(INTEGER, "the sum of n_expected in `scores`"),
        "n_failed": Column(INTEGER, "the sum of n_failed in `scores`"),
        "better": BETTER,
        "recipe": RECIPE,
    },
)
