"""Which metric to trust for which decision."""

from metassay.parquet import Table, boolean, integer, text
from metassay.tables.columns import RECIPE
from metassay.tables.evidence import EVIDENCE

_FOR_VERDICTS_ALONE = (
    *("better", "confidence", "joint_low_these_systems", "variance_systems", "variance_documents"),
    "given_confound_high",
)

CERTIFICATES = Table(
    "certificates",
    "which metric to trust for which decision, and how sure we are",
    EVIDENCE.key,
    {
        **{name: EVIDENCE.columns[name] for name in EVIDENCE.key},
        "verdict": text(
            "`as good as a rater`, `holds`, `weak`, `these systems only`, `explained by` a"
            " confound, `cannot tell`, `no use`, `contrary` or `undefined`;"
            " docs/meta-evaluation.md says when"
        ),
        "holds": boolean("true exactly for `as good as a rater` and `holds`"),
        **{
            name: column
            for name, column in EVIDENCE.columns.items()
            if name not in (*EVIDENCE.key, *_FOR_VERDICTS_ALONE, "recipe")
        },
        "needed_systems": integer(
            "so many systems would most likely settle it, together with needed_documents; only"
            " where the verdict is `cannot tell`",
            null=True,
        ),
        "needed_documents": integer("the number of documents that goes with it", null=True),
        "sentence": text("the verdict in words"),
        "recipe": RECIPE,
    },
)
