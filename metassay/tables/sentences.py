"""Tests of segmentations: labels of sentences, right ones and given ones."""

from metassay.tables.columns import AUTHOR, DOC, RECIPE, SEGMENTATION, STATUSES
from metassay.tables.parquet import Table, choice, integer, real, text

SENTENCES = Table(
    "sentences",
    "the sentences of a test of segmentations and their right labels; `texts` has their texts",
    ("doc_id", "author", "position"),
    {
        "doc_id": DOC,
        "author": AUTHOR,
        "position": integer("counted from 0 within the text"),
        "start": integer("where the sentence starts in the text, in characters"),
        "end": integer("where it ends"),
        "label": text("the facet that it is of; `none` if it is of none"),
        "confidence": real("how sure people were of the label, 0 to 1; null if unknown", null=True),
    },
)

SEGMENTED = Table(
    "segmented",
    "the label that a segmentation gives each sentence of a test",
    ("segmentation", "doc_id", "author", "position"),
    {
        "segmentation": SEGMENTATION,
        "doc_id": DOC,
        "author": AUTHOR,
        "position": integer("the sentence's place in its text"),
        "status": choice(*STATUSES, meaning="ok, or why there is no label"),
        "label": text(
            "the facet that covers more than half of the sentence; `none` if none does; null where"
            " status is not ok",
            null=True,
        ),
        "recipe": RECIPE,
    },
)
