"""Corrupted sentences, to train models that detect fake words."""

from metassay.tables.columns import contracts

(CORRUPTIONS,) = contracts(__file__)
