"""Texts taken apart: claims and statements."""

from metassay.tables.columns import STATUSES, table

UNITS = table(
    "units",
    "claims and statements of the leaf parts",
    "doc_id author part kind position",
    f"""
    doc_id author part
    kind claim|statement: a sentence, or one fact of it
    position integer: counted from 0 within doc_id, author, part and kind
    text text?: the unit's words, without citations; null where not known
    status {"|".join(STATUSES)}: ok; else, in one row at position 0, why the part's units are
      unknown
    citations integers: passages cited, in order, without repeats; empty for claims
    statement integer?: position of the statement a claim was cut from
    start integer?: where the unit starts in the part's text, in characters
    end integer?: where it ends
    """,
)
