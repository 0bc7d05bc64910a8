"""What goes in, and what is written about it."""

from metassay.tables.columns import contracts

SOURCES, DOCUMENT_CLUSTERS, TEXTS = contracts(__file__)
