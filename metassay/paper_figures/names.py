"""Names of papers and of formats, for a command line that is to start at once."""

NAMES = ("doclens", "fm", "adams", "benabacha", "simsum")
FORMATS = ("svg", "pdf", "png", "tex", "md", "csv")
