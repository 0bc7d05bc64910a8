"""Which metric to trust for which decision."""

from metassay.tables.columns import RECIPE
from metassay.tables.evidence import EVIDENCE
from metassay.tables.parquet import Table, boolean, integer, text

_FOR_VERDICTS_ALONE = (
    *("better", "confidence", "joint_confidence", "variance_systems", "variance_documents"),
)

CERTIFICATES = Table(
    "certificates",
    "which metric to trust for which decision, and how sure we are",
    EVIDENCE.key,
    {
        **{name: EVIDENCE.columns[name] for name in EVIDENCE.key},
        "verdict": text(
            "`use`, `these systems only`, `promising`, `cannot tell`, `explained by` a confound,"
            " `too weak`, `contrary` or `undefined`; docs/meta-evaluation.md says when"
        ),
        "advice": text("what to do about the metric, in a few words"),
        "trusted": boolean("true exactly for `use` and `these systems only`"),
        "as_good_as_rater": boolean(
            "whether the metric agrees with raters as well as a rater does, or at most `margin`"
            " less: by against_rater_low, and only where the verdict is `promising` or better"
        ),
        "only_between_systems": boolean(
            "whether half or more of the correlation goes with the system held constant, and what"
            " is left is not promising: such a metric says nothing of two texts of one system. Only"
            " where the verdict is `promising` or better"
        ),
        **{
            name: column
            for name, column in EVIDENCE.columns.items()
            if name not in (*EVIDENCE.key, *_FOR_VERDICTS_ALONE, "recipe")
        },
        "needed_systems": integer(
            "about so many systems (families) would settle it, together with needed_documents; only"
            " where the verdict is `cannot tell` or `promising`, and within a hundred times the"
            " study",
            null=True,
        ),
        "needed_documents": integer(
            "the number of documents (clusters) that goes with it", null=True
        ),
        "sentence": text("the verdict in words"),
        "recipe": RECIPE,
    },
)
