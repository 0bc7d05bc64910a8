"""The numbers that verdicts on metrics rest on."""

from metassay.tables.columns import contracts

(EVIDENCE,) = contracts(__file__)
