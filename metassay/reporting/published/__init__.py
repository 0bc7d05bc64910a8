"""Our numbers beside those that papers printed. Nothing here is tuned to make them agree.

A comparison picks, from a transcribed table in `reports/published/`, the cells that we
compute too. What a paper printed for metrics or systems that were not run here is
counted, not shown.

There is a module per paper. `index` has them all, by the names that a benchmark's or a
test's params.yaml lists under `published`. `cells`, `claims` and `judges` are the three
ways to compare.
"""
