"""Tests of segmentations: labels of sentences, right ones and given ones."""

from metassay.tables.columns import STATUSES, table

SENTENCES = table(
    "sentences",
    "the sentences of a test of segmentations and their right labels; `texts` has their texts",
    "doc_id author position",
    """
    doc_id author
    position integer: counted from 0 within the text
    start integer: where the sentence starts in the text, in characters
    end integer: where it ends
    label text: the facet that it is of; `none` if it is of none
    confidence real?: how sure people were of the label, 0 to 1; null if unknown
    """,
)

SEGMENTED = table(
    "segmented",
    "the label that a segmentation gives each sentence of a test",
    "segmentation doc_id author position",
    f"""
    segmentation doc_id author
    position integer: the sentence's place in its text
    status {"|".join(STATUSES)}: ok, or why there is no label
    label text?: the facet that covers more than half of the sentence; `none` if none does; null
      where status is not ok
    recipe
    """,
)
