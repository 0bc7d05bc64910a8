"""What of a study counts by itself."""

from metassay.tables.columns import table
from metassay.tables.evidence import EVIDENCE

DESIGNS = table(
    "designs",
    "how many systems and documents of a study count by themselves, and what was found in the data",
    "study criterion part",
    """
    study criterion part design
    n_systems integer: systems that were rated
    n_families
    n_documents integer: documents that were rated
    n_clusters n_strata
    given text: which of `strata`, `cluster` and `family` the user gave, with commas
    found text: what belongs together as the data show it, and what was done about it; a line each
    suspected text: what may belong together, and which column would say so; a line each
    """,
    EVIDENCE.columns,
)

STRATA = table(
    "strata",
    "each metric's correlation with people in each stratum, where there are several",
    "study criterion part metric judge level stratum",
    """
    study criterion part metric judge level
    stratum text: its name, or its systems
    coefficient value low high n n_undefined n_missing
    """,
    EVIDENCE.columns,
)
