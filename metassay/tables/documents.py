"""Sources, their clusters, and texts about them."""

from metassay.tables.columns import contracts

SOURCES, DOCUMENT_CLUSTERS, TEXTS = contracts(__file__)
