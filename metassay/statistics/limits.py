"""Limits that options name, where nothing has to be imported to know them."""

LARGEST = 12  # metrics in an ensemble: 4,095 subsets
SYSTEMS = 1_000  # of one study: each is held against each
TEXTS = 10_000_000  # systems times documents of one study: 80 MB per metric
CRITERIA = 100  # of one call, a study each
TESTED = 2_000  # metrics times criteria of one call: minutes
