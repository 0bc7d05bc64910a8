"""Likely texts, parts and claims in the place of those that models have not given yet.

A text that is not written yet is taken to be like its reference, facets that nobody has found yet
to be its sentences, shared out evenly, and claims that are not listed yet to be clauses by rule.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.kinds import choose
from metassay.datasets.ingest import Ingested
from metassay.llm.session import Session
from metassay.tables.documents import TEXTS
from metassay.tables.names import FULL, REFERENCE
from metassay.tables.parquet import read
from metassay.text.sections import divide
from metassay.text.sentences import sentences
from metassay.text.spans import Span
from metassay.units import DECOMPOSITIONS
from metassay.units.facets import facet_part
from metassay.units.record import OK

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


def shared_out(parts: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Rows of PARTS without unknown facets, and of how many texts these were."""
    unknown = (parts["part"] != FULL) & (parts["status"] == "error")
    whole: Any = parts[parts["part"] == FULL].set_index(["doc_id", "author"])["text"]
    parts = parts.copy()
    groups = parts[unknown].groupby(["doc_id", "author"], sort=False).groups
    for key, rows in groups.items():
        text = str(whole[key])
        for index, spans in zip(rows, _evenly(sentences(text), len(rows)), strict=True):
            parts.loc[index, ["text", "status"]] = [facet_part("", text, spans).text, OK]
    return parts, len(groups)


def _evenly(spans: Sequence[Span], count: int) -> Iterator[Sequence[Span]]:
    for place in range(count):
        yield spans[len(spans) * place // count : len(spans) * (place + 1) // count]


def with_clauses(
    units: pd.DataFrame, parts: pd.DataFrame, sources: pd.DataFrame, session: Session
) -> tuple[pd.DataFrame, int]:
    """Rows of UNITS with clauses for claims that are unknown, and of how many parts these are."""
    place = ["doc_id", "author", "part"]
    unknown = (units["kind"] == "claim") & (units["status"] == "error")
    lost = pd.MultiIndex.from_frame(units.loc[unknown, place])
    if lost.empty:
        return units, 0
    by_rule = choose(DECOMPOSITIONS, {"kind": "clauses"}, where="clauses")
    theirs = parts[pd.MultiIndex.from_frame(parts[place]).isin(lost)]
    clauses = by_rule.record.take_apart(
        theirs, sources, by_rule.options, session.provide(by_rule)
    ).units
    claims = clauses[clauses["kind"] == "claim"]
    return pd.concat([units[~unknown], claims], ignore_index=True), len(theirs)
