"""Passages of a source that are aligned with a statement."""

from metassay.tables.columns import (
    AUTHOR,
    DOC_ID,
    INTEGER,
    INTEGER_LIST,
    PART,
    REAL_LIST,
    TEXT,
)
from metassay.tables.parquet import Column, Table

ALIGNMENTS = Table(
    name="alignments",
    says="the source passages each statement is read against",
    key=("doc_id", "author", "part", "position", "method"),
    columns={
        "doc_id": DOC_ID,
        "author": AUTHOR,
        "part": PART,
        "position": Column(INTEGER, "the statement's position"),
        "method": Column(TEXT, "the alignment's name in params.yaml"),
        "passages": Column(
            INTEGER_LIST,
            "indices into sources.passages, as the alignment orders them",
        ),
        "values": Column(REAL_LIST, "the alignment's score of each passage"),
    },
)
