"""Datasets: registry (where they come from), fetch, one reader per format, ingest."""
