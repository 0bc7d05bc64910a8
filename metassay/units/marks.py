"""DocLens's marks in the texts that its Table 24 scores (compat doclens-table24)."""

EMPTY_SECTION = "#####EMPTY#####"  # in the place of an absent section
LINE_BREAK = "__lf1__"  # in the place of a newline inside a section
