"""Scores of single statements, read with their aligned passages."""

from metassay.tables.columns import contracts

(STATEMENT_SCORES,) = contracts(__file__)
