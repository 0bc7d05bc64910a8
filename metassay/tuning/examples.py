"""Statements with the passages that they are read against, and the documents that are held out."""

from collections.abc import Iterable

import pandas as pd

from metassay.core.errors import BadInput
from metassay.models.outputs import text_hash

PLACE = ["doc_id", "author", "part", "position"]


def statements(units: pd.DataFrame) -> pd.DataFrame:
    """Every statement whose text is known: PLACE and `text`."""
    known = (units["kind"] == "statement") & (units["status"] == "ok") & units["text"].notna()
    return units.loc[known, [*PLACE, "text"]]


def aligned(sources: pd.DataFrame, units: pd.DataFrame, alignments: pd.DataFrame) -> pd.DataFrame:
    """Every statement with passages: PLACE, `text` and `context`, in order.

    `context` has its passages in the order of the source, with blanks between. As metrics read
    them, texts have no blanks around, and what is blank on either side is left out.
    """
    rows = statements(units).merge(alignments[[*PLACE, "passages"]], on=PLACE)
    passages = {
        doc_id: [text.strip() for text in texts]
        for doc_id, texts in zip(sources["doc_id"], sources["passages"], strict=True)
    }
    rows["context"] = [
        " ".join(filter(None, (passages[doc_id][index] for index in sorted(chosen))))
        for doc_id, chosen in zip(rows["doc_id"], rows["passages"], strict=True)
    ]
    rows["text"] = rows["text"].str.strip()
    full = (rows["context"] != "") & (rows["text"] != "")
    return rows.loc[full, [*PLACE, "text", "context"]].sort_values(PLACE, ignore_index=True)


def held_out(doc_ids: Iterable[str], share: float, seed: int) -> list[str]:
    """The documents to choose a checkpoint by, sorted: this share of all, and at least one.

    The seed and the documents alone decide, in whatever order they come. Raises BadInput if none
    would be left to train on.
    """
    every = sorted(set(doc_ids), key=lambda doc_id: text_hash(f"{seed}|{doc_id}"))
    count = max(1, round(share * len(every)))
    if count >= len(every):
        raise BadInput(
            f"documents with statements to train on: {len(every)}, of which {count} would be held"
            " out; add documents, or lower training > dev_share"
        )
    return sorted(every[:count])
