"""Texts taken apart: claims and statements."""

from metassay.tables.columns import AUTHOR, DOC, PART, STATUSES
from metassay.tables.parquet import Table, choice, integer, integers, text

UNITS = Table(
    "units",
    "claims and statements of the leaf parts",
    ("doc_id", "author", "part", "kind", "position"),
    {
        "doc_id": DOC,
        "author": AUTHOR,
        "part": PART,
        "kind": choice("claim", "statement", meaning="a sentence, or one fact of it"),
        "position": integer("counted from 0 within doc_id, author, part and kind"),
        "text": text("the unit's words, without citations; null where not known", null=True),
        "status": choice(
            *STATUSES,
            meaning="ok; else, in one row at position 0, why the part's units are unknown",
        ),
        "citations": integers("passages cited, in order, without repeats; empty for claims"),
        "statement": integer("position of the statement a claim was cut from", null=True),
        "start": integer("where the unit starts in the part's text, in characters", null=True),
        "end": integer("where it ends", null=True),
    },
)
