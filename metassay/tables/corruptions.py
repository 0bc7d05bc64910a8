"""Sentences that were corrupted, to train what tells fake words from others."""

from metassay.tables.columns import contracts

(CORRUPTIONS,) = contracts(__file__)
