"""What goes in, and what is written about it."""

from metassay.tables.columns import contracts

SOURCES, TEXTS = contracts(__file__)
