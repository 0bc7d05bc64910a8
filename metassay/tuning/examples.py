"""Statements and texts with what they are read against, and the documents that are held out."""

from collections.abc import Iterable

import pandas as pd

from metassay.core.errors import BadInput
from metassay.models.outputs import text_hash
from metassay.scoring.aggregation.statements import PLACE, Read
from metassay.tables.checks import without_further_references
from metassay.tables.names import FULL, REFERENCE
from metassay.text.citations import strip_citations


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


def rated(
    parts: pd.DataFrame, ratings: pd.DataFrame, criterion: str
) -> tuple[pd.DataFrame, list[str]]:
    """Texts of systems with the document's reference and the mean rating; and a note.

    Columns: `doc_id`, `context` (the reference), `text` and `value`, the mean over raters and
    studies of what whole texts got by this criterion. Both texts are as metrics read them: without
    citations, and blanks around. What lacks one of the three is left out, which the note counts.
    """
    full = without_further_references(parts[parts["part"] == FULL])
    texts = full[["doc_id", "author"]].assign(
        text=[strip_citations(text).strip() for text in full["text"].fillna("")]
    )
    its = texts[texts["author"] == REFERENCE].set_index("doc_id")["text"]
    whole = ratings[(ratings["unit"] == "text") & (ratings["part"] == FULL)]
    means = whole[whole["criterion"] == criterion].groupby(["doc_id", "author"])["value"].mean()
    texts = texts[texts["author"] != REFERENCE].join(means, on=["doc_id", "author"])
    texts["context"] = texts["doc_id"].map(its).fillna("")
    lacks = {
        "are empty or failed": texts["text"] == "",
        "have no reference": texts["context"] == "",
        f"have no rating of {criterion}": texts["value"].isna(),
    }
    left_out = pd.DataFrame(lacks).any(axis=1)
    counts = ", ".join(f"{lack.sum():,} {what}" for what, lack in lacks.items())
    note = f"of {len(texts):,} texts of systems {left_out.sum():,} are left out: {counts}"
    return texts[~left_out].reset_index(drop=True), [note]


def held_out(doc_ids: Iterable[str], share: float, seed: int) -> list[str]:
    """The documents to choose a checkpoint by, sorted: this share of all, and at least one.

    The seed and the documents alone decide, in whatever order they come. Raises BadInput if none
    would be left to train on.
    """
    every = sorted(set(doc_ids), key=lambda doc_id: text_hash(f"{seed}|{doc_id}"))
    count = max(1, round(share * len(every)))
    if count >= len(every):
        raise BadInput(
            f"documents to train on: {len(every)}, of which {count} would be held out; add"
            " documents, or lower training > dev_share"
        )
    return sorted(every[:count])
