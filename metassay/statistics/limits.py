"""Limits that options mention, in a module without imports."""

LARGEST = 12  # metrics in an ensemble: 4,095 subsets
SYSTEMS = 1_000  # of a study: each is compared with each
TEXTS = 10_000_000  # systems times documents of a study: 80 MB per metric
CRITERIA = 100  # of a call, a study each
TESTED = 2_000  # metrics times criteria of a call: minutes
