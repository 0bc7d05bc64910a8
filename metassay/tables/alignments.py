"""Passages of a source that are aligned with a statement."""

from metassay.tables.columns import contracts

(ALIGNMENTS,) = contracts(__file__)
