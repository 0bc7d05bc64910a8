"""The texts that there are, and likely ones in the place of those that are not written yet."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.datasets.ingest import Ingested
from metassay.parquet import read
from metassay.tables.documents import TEXTS
from metassay.tables.names import FULL, REFERENCE
from metassay.text.sections import divide

_LIKE = 1500  # characters of the source that stand for a text without a reference

Likely = dict[tuple[str, str], str]  # by document and part


class Texts(NamedTuple):
    """Texts so far, and how many of them are stand-ins."""

    texts: pd.DataFrame
    invented: int


def not_run(given: Ingested, name: str, folder: Path) -> Texts:
    """The texts of a system that takes too long to be run here, or stand-ins for them all.

    `folder` has the systems' texts.
    """
    path = folder / f"{name}.parquet"
    if path.exists():
        return Texts(read(TEXTS, path), 0)
    docs = given.sources["doc_id"].tolist()
    rows = [(doc_id, name, FULL, None, "error", "not written yet") for doc_id in docs]
    frame = pd.DataFrame(rows, columns=list(TEXTS.columns))
    return filled(frame, stand_ins(given, by_section=False))


def stand_ins(given: Ingested, *, by_section: bool) -> Likely:
    """What a text may be like, by document and part: the reference, else the source's beginning."""
    likely: Likely = {}
    sources, texts = given.sources, given.texts
    for doc_id, passages in zip(sources["doc_id"], sources["passages"], strict=True):
        if any(passage.strip() for passage in passages):
            likely[str(doc_id), FULL] = "\n".join(passages)[:_LIKE]
    known = texts[(texts["author"] == REFERENCE) & (texts["part"] == FULL)]
    for doc_id, text in zip(known["doc_id"], known["text"], strict=True):
        if (doc_id, FULL) in likely and isinstance(text, str):
            likely[doc_id, FULL] = text
    if by_section:
        for doc_id in sources.loc[sources["task"] == "note", "doc_id"]:
            whole = likely.pop((doc_id, FULL), "")
            for part, pieces in divide(whole, compat="none").items():
                likely[doc_id, part] = "\n\n".join(whole[start:end] for start, end in pieces)
    return likely


def filled(texts: pd.DataFrame, likely: Likely) -> Texts:
    """The texts, with a stand-in for each that has no answer yet, if one is known."""
    rows, invented = [], 0
    for row in texts.astype(object).to_dict("records"):
        text = likely.get((row["doc_id"], row["part"]))
        if row["status"] != "error":
            rows.append(row)
        elif text is not None:
            rows.append(row | {"text": text, "status": "ok"})
            invented += 1
        elif row["part"] == FULL:  # a section that the reference lacks may be left out
            rows.append(row)
    return Texts(pd.DataFrame(rows, columns=list(TEXTS.columns)), invented)
