"""The passages of a source that a statement is read against."""

from metassay.tables.columns import contracts

(ALIGNMENTS,) = contracts(__file__)
