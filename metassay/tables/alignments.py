"""The passages of a source that a statement is read against."""

from metassay.tables.columns import table

ALIGNMENTS = table(
    "alignments",
    "the source passages each statement is read against",
    "doc_id author part position method",
    """
    doc_id author part
    position integer: the statement's position
    method text: the alignment's name in params.yaml
    passages integers: indices into sources.passages, as the alignment orders them
    values reals: the alignment's score of each passage
    """,
)
