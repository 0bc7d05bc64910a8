"""Sentences that were corrupted, to train what tells fake words from others."""

from metassay.tables.columns import table

CORRUPTIONS = table(
    "corruptions",
    "statements of the reference in which a model has filled masked spans anew",
    "doc_id author part position",
    """
    doc_id author part
    position integer: the statement's position
    words texts: the words of the corrupted statement, parted at blanks
    fake integers: of each word 1 if it is of a span that is now another, else 0
    recipe
    """,
)
