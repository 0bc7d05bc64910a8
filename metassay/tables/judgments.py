"""The answers of judges."""

from metassay.tables.columns import contracts

(JUDGMENTS,) = contracts(__file__)
