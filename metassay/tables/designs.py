"""Independent units of a study."""

from metassay.tables.columns import contracts
from metassay.tables.evidence import EVIDENCE

DESIGNS, STRATA = contracts(__file__, EVIDENCE.columns)
