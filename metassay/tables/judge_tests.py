"""Tests of judges: gold labels and verdicts."""

from metassay.tables.columns import contracts

GOLD, GIVEN_VERDICTS, VERDICTS = contracts(__file__)
