"""Questions to judges."""

from metassay.tables.columns import contracts

(PAIRS,) = contracts(__file__)
