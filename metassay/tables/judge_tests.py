"""Tests of judges: items, their right answers, and what judges say of them."""

from metassay.tables.columns import contracts

GOLD, GIVEN_VERDICTS, VERDICTS = contracts(__file__)
