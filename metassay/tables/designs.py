"""What of a study counts by itself."""

from metassay.tables.columns import (
    COEFFICIENT,
    CRITERION,
    JUDGE,
    METRIC,
    ONE_SIDED,
    ORIENTED,
    OTHERS,
    PART,
    STUDY,
    UPPER,
)
from metassay.tables.evidence import EVIDENCE
from metassay.tables.parquet import Table, integer, real, text

_STUDY = {"study": STUDY, "criterion": CRITERION, "part": PART}

DESIGNS = Table(
    "designs",
    "how many systems and documents of a study count by themselves, and what was found in the data",
    tuple(_STUDY),
    {
        **_STUDY,
        "design": EVIDENCE.columns["design"],
        "n_systems": integer("systems that were rated"),
        "n_families": integer("the same, families of systems counted as one"),
        "n_documents": integer("documents that were rated"),
        "n_clusters": integer("the same, clusters of documents counted as one"),
        "n_strata": integer("strata; correlations are of what varies within each"),
        "given": text("which of `strata`, `cluster` and `family` the user gave, with commas"),
        "found": text(
            "what belongs together as the data show it, and what was done about it; a line each"
        ),
        "suspected": text("what may belong together, and which column would say so; a line each"),
    },
)

STRATA = Table(
    "strata",
    "each metric's correlation with people in each stratum, where there are several",
    (*_STUDY, "metric", "judge", "level", "stratum"),
    {
        **_STUDY,
        "metric": METRIC,
        "judge": JUDGE,
        "level": EVIDENCE.columns["level"],
        "stratum": text("its name, or its systems"),
        "coefficient": COEFFICIENT,
        "value": real(f"the correlation; null if undefined. {ORIENTED}", null=True),
        "low": real(OTHERS, null=True),
        "high": UPPER,
        "n": integer("what the value rests on: texts, documents or systems, by the level"),
        "n_undefined": integer("documents that have no correlation; 0 at other levels"),
        "n_missing": ONE_SIDED,
    },
)
