"""Scores of single statements, each read against the passages that are aligned with it."""

from metassay.tables.columns import contracts

(STATEMENT_SCORES,) = contracts(__file__)
