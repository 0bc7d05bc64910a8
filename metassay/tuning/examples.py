"""Statements with the passages that they are read against, and the documents that are held out."""

from collections.abc import Iterable

import pandas as pd

from metassay.core.errors import BadInput
from metassay.models.outputs import text_hash
from metassay.scoring.aggregation.statements import PLACE, Read


def aligned(read: Read) -> pd.DataFrame:
    """Every statement with passages, of the one alignment that was read.

    Columns: PLACE, `text` and `context`, which has the passages in the order of the source, with
    blanks between. As metrics read them, texts have no blanks around, and what is blank on either
    side is left out.
    """
    rows = read.statements[PLACE].assign(
        text=[text.strip() for text in read.texts],
        context=[
            " ".join(filter(None, (text.strip() for text in passages)))
            for passages in read.passages("")
        ],
    )
    return rows[(rows["text"] != "") & (rows["context"] != "")].reset_index(drop=True)


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
