"""Tables and figures of five papers, drawn from the tables of benchmarks, ours beside theirs.

Each paper has a module, or a folder, of records: what each table and figure shows.
`record` explains them, and `index` has them all. `draw` makes files of a record.

`python -m papers` is the command `metassay figures`. `python -m papers.stage NAME` is
the stage of a paper in papers/dvc.yaml, which `dag` writes; `page` writes
docs/figures.md.

This folder is no part of the package: it uses what users of Metassay use.
"""

NAMES = ("doclens", "fm", "adams", "benabacha", "simsum")
FORMATS = ("svg", "pdf", "png", "tex", "md", "csv")
# Raised when the same records and tables give other files; papers/dvc.yaml watches it.
VERSION = 1
