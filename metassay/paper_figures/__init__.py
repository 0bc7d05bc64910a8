"""Tables and figures of the papers, ours beside theirs: a record each, drawn by one engine."""

NAMES = ("doclens", "fm", "adams", "benabacha", "simsum")
FORMATS = ("svg", "pdf", "png", "tex", "md", "csv")
