"""Statistics behind the verdicts on metrics, and the independent units of a study."""

from metassay.tables.columns import contracts

EVIDENCE, DESIGNS, STRATA = contracts(__file__)
