"""Notes of stages about the data."""

from metassay.tables.columns import contracts

(NOTES,) = contracts(__file__)
