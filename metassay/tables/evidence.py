"""Statistics behind the verdicts on metrics."""

from metassay.tables.columns import contracts

(EVIDENCE,) = contracts(__file__)
