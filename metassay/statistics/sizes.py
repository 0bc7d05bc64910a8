"""Limits that options name, where nothing has to be imported to know them."""

LARGEST = 12  # metrics in an ensemble: 4,095 subsets
