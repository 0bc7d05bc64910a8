"""Which metric to trust for which decision."""

from metassay.tables.columns import contracts
from metassay.tables.evidence import EVIDENCE

(CERTIFICATES,) = contracts(__file__, EVIDENCE.columns)
