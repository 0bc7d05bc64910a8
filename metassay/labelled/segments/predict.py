"""A segmentation tried on texts with given sentences: which facet does it say each one is of?"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import pandas as pd

from metassay.core.kinds import Chosen
from metassay.core.options import printed
from metassay.labelled.segments.documents import NONE, label_of
from metassay.llm.needs import Resources
from metassay.tables.names import FULL
from metassay.tables.sentences import SEGMENTED
from metassay.text.spans import Span
from metassay.units.record import OK, Divided, Part, Text

TASK = "abstract"  # what texts with labelled sentences are


class Predicted(NamedTuple):
    """Rows of SEGMENTED, and what their owner should know: lines without any text."""

    labels: pd.DataFrame
    notes: tuple[str, ...]


def texts_of(texts: pd.DataFrame, sentences: pd.DataFrame) -> list[Text]:
    """The texts as segmentations read them, with their sentences; sorted by document and author.

    Nothing of the right labels is in them.
    """
    spans: dict[tuple[str, str], list[Span]] = {}
    columns = ("doc_id", "author", "start", "end")
    ordered = sentences.sort_values(["doc_id", "author", "position"])
    for doc_id, author, start, end in zip(*(ordered[name] for name in columns), strict=True):
        spans.setdefault((doc_id, author), []).append(Span(start, end))
    written = {
        (doc_id, author): text
        for doc_id, author, text in zip(
            texts["doc_id"], texts["author"], texts["text"], strict=True
        )
    }
    return [
        Text(
            TASK,
            Part(FULL, written[key], [Span(0, len(written[key]))], OK),
            [],
            *key,
            sentences=spans[key],
        )
        for key in sorted(written)
    ]


def predict(
    texts: Sequence[Text], name: str, segmentation: Chosen, resources: Resources
) -> Predicted:
    """Divide the texts, and label each sentence by the part that covers more than half of it.

    A sentence that no part covers is `none`. Where the segmentation failed on a text, its sentences
    that no part covers have the failure's status and no label: unknown is not wrong.
    """
    block = segmentation.options.model_dump(mode="json", exclude_unset=True)
    recipe = printed({"kind": segmentation.kind} | block)
    divided: Divided = segmentation.record.divide(texts, segmentation.options, resources)
    rows = [
        (name, text.doc_id, text.author, place, *said, recipe)
        for text, parts in zip(texts, divided.parts, strict=True)
        for place, said in enumerate(_labels(text, parts))
    ]
    return Predicted(pd.DataFrame(rows, columns=list(SEGMENTED.columns)), divided.notes)


def _labels(text: Text, parts: Sequence[Part]) -> list[tuple[str, str | None]]:
    """The status and label of each sentence."""
    whole, failed = text.full.text or "", next((p.status for p in parts if p.status != OK), None)
    known = [(part.name, part.pieces) for part in parts if part.status == OK]
    found = [label_of(sentence, whole, known) for sentence in text.sentences or ()]
    return [(failed, None) if failed and label == NONE else (OK, label) for label in found]


def label_notes(segmentation: Chosen, right: Collection[str]) -> list[str]:
    """Where the facets that a segmentation may find are not the labels of the data."""
    facets = set(segmentation.record.facets(segmentation.options))
    unknown, never = sorted(facets - set(right)), sorted(set(right) - facets - {NONE})
    notes = []
    if unknown:
        notes.append(
            f"no sentence has the label {', '.join(unknown)}, which it may give: there it is wrong;"
            " options > labels can make labels of the data count as its facets"
        )
    if facets and never:
        notes.append(f"it never gives the label {', '.join(never)}, which sentences have")
    return notes
