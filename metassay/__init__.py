"""Metassay: an assay for metrics. Scores texts finely, then tests the scores against people."""

__version__ = "0.1.0"
