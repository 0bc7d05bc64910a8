"""Units of texts: claims and statements."""

from metassay.tables.columns import AUTHOR, DOC_ID, INTEGER, INTEGER_LIST, PART, TEXT
from metassay.tables.parquet import Column, Table

UNITS = Table(
    name="units",
    says="claims and statements of the leaf parts",
    key=("doc_id", "author", "part", "kind", "position"),
    columns={
        "doc_id": DOC_ID,
        "author": AUTHOR,
        "part": PART,
        "kind": Column(
            TEXT,
            "a sentence, or one fact of it",
            choices=(
                "claim",
                "statement",
            ),
        ),
        "position": Column(
            INTEGER,
            "counted from 0 within doc_id, author, part and kind",
        ),
        "text": Column(
            TEXT,
            "the unit's words, without citations; null where not known",
            null=True,
        ),
        "status": Column(
            TEXT,
            "ok; else, in one row at position 0, why the part's units are unknown",
            choices=(
                "ok",
                "unparsed",
                "refused",
                "truncated",
                "error",
            ),
        ),
        "citations": Column(
            INTEGER_LIST,
            "passages cited, in order, without repeats; empty for claims",
        ),
        "statement": Column(
            INTEGER,
            "position of the statement a claim was cut from",
            null=True,
        ),
        "start": Column(
            INTEGER,
            "where the unit starts in the part's text, in characters",
            null=True,
        ),
        "end": Column(
            INTEGER,
            "where it ends",
            null=True,
        ),
    },
)
