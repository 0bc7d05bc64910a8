"""Every metric's value for every author."""

from metassay.tables.columns import AUTHOR, PART, RECIPE
from metassay.tables.parquet import Table, choice, integer, real, text

LEADERBOARD = Table(
    "leaderboard",
    "each author's corpus value on each metric",
    ("part", "metric", "judge", "author"),
    {
        "part": PART,
        "metric": text("the metric"),
        "judge": text("the judge, or `none`"),
        "author": AUTHOR,
        "macro": real("the mean over the documents whose score is defined", null=True),
        "low": real("lower end of macro's interval, from a bootstrap over documents", null=True),
        "high": real("upper end of that interval", null=True),
        "micro": real("the value of all documents pooled; null if it is not pooled", null=True),
        "least": real(
            "macro if every missing answer were worth as little as it can be; null if a bound of a"
            " score is not known",
            null=True,
        ),
        "most": real("macro if every missing answer were worth as much as it can be", null=True),
        "n_documents": integer("documents for which this author has a row in `scores`"),
        "n_undefined": integer("how many of these documents have a null score"),
        "n_expected": integer("the sum of n_expected in `scores`"),
        "n_failed": integer("the sum of n_failed in `scores`"),
        "better": choice("higher", "lower", "neither", meaning="which direction is better"),
        "recipe": RECIPE,
    },
)
