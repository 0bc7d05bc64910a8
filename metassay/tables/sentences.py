"""Tests of segmentations: gold and predicted labels of sentences."""

from metassay.tables.columns import (
    AUTHOR,
    DOC_ID,
    INTEGER,
    REAL,
    RECIPE,
    SEGMENTATION,
    TEXT,
)
from metassay.tables.parquet import Column, Table

SENTENCES = Table(
    name="sentences",
    says=(
        "the sentences of a test of segmentations and their right labels; `texts` "
        "has their texts"
    ),
    key=("doc_id", "author", "position"),
    columns={
        "doc_id": DOC_ID,
        "author": AUTHOR,
        "position": Column(INTEGER, "counted from 0 within the text"),
        "start": Column(
            INTEGER,
            "where the sentence starts in the text, in characters",
        ),
        "end": Column(INTEGER, "where it ends"),
        "label": Column(TEXT, "the facet that it is of; `none` if it is of none"),
        "confidence": Column(
            REAL,
            "how sure people were of the label, 0 to 1; null if unknown",
            null=True,
        ),
    },
)

SEGMENTED = Table(
    name="segmented",
    says="the label that a segmentation gives each sentence of a test",
    key=("segmentation", "doc_id", "author", "position"),
    columns={
        "segmentation": SEGMENTATION,
        "doc_id": DOC_ID,
        "author": AUTHOR,
        "position": Column(INTEGER, "the sentence's place in its text"),
        "status": Column(
            TEXT,
            "ok, or why there is no label",
            choices=(
                "ok",
                "unparsed",
                "refused",
                "truncated",
                "error",
            ),
        ),
        "label": Column(
            TEXT,
            (
                "the facet that covers more than half of the sentence; `none` if "
                "none does; null where status is not ok"
            ),
            null=True,
        ),
        "recipe": RECIPE,
    },
)
