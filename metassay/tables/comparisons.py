"""Two states of a benchmark, or two of its systems."""

from metassay.tables.columns import DOC, JUDGE, METRIC, PART, UPPER
from metassay.tables.parquet import Table, boolean, choice, integer, real, text

_COMPARED = ("part", "metric", "judge", "author")

CHANGES = Table(
    "changes",
    "what differs between two states of a benchmark, or two of its systems, on the same documents",
    _COMPARED,
    {
        "part": PART,
        "metric": METRIC,
        "judge": JUDGE,
        "author": text("`reference` or a system's name; of two systems compared, the second"),
        "verdict": choice(
            *("regressed", "improved", "changed", "no difference shown", "same numbers"),
            "cannot tell",
            meaning="what is shown, after adjustment for all rows; `changed` of a metric without a"
            " better direction; `same numbers` if nothing differs beyond rounding",
        ),
        "why": text("why one cannot tell, and what missing answers could do; else empty"),
        "lacks_answers": boolean(
            "whether missing answers leave the verdict open, or are more than before"
        ),
        "before": real("mean before over the documents that have both scores", null=True),
        "after": real("mean after over the same documents", null=True),
        "difference": real("after less before", null=True),
        "low": real("lower end of its interval, for other documents, of this row alone", null=True),
        "high": UPPER,
        "least": real("the smallest difference that missing answers leave possible", null=True),
        "most": real("the largest such difference", null=True),
        "p": real("of this row alone, two-sided; null if nothing differs", null=True),
        "p_adjusted": real("adjusted for all rows: what the verdict rests on", null=True),
        "smallest_p": real("no p can be smaller with so few documents that differ", null=True),
        "n": integer("documents that have both scores"),
        "n_changed": integer("how many of these differ"),
        "n_only_before": integer("documents that have the score before alone; left out"),
        "n_only_after": integer("documents that have the score after alone; left out"),
        "n_failed_before": integer("answers that are missing before"),
        "n_failed_after": integer("answers that are missing after"),
        "better": choice("higher", "lower", "neither", meaning="which direction is better"),
        "same_recipe": boolean("whether both were measured alike; if not, that may be the cause"),
    },
)

CHANGED_DOCUMENTS = Table(
    "changed_documents",
    "the documents behind each row of `changes`: those whose score moved furthest",
    (*_COMPARED, "position"),
    {
        **{name: CHANGES.columns[name] for name in _COMPARED},
        "position": integer("1 for the document that moved furthest"),
        "doc_id": DOC,
        "before": real("its score before"),
        "after": real("its score after"),
        "difference": real("after less before"),
        "n_failed": integer("answers that are missing behind these two scores"),
    },
)
