"""Readers of tests of judges: raw files to items; `metassay.datasets.readers` is their index."""
