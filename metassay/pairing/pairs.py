"""The questions of a benchmark's texts: units paired with what they are read against.

A document without reference has no questions that compare with one: what rests on them is
undefined, not 0. A text that failed is asked about all the same (settled: no_text), and so is a
part whose units are unknown, with one question (settled: no_claims): both count as failed.
"""

import hashlib
import json
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from metassay.errors import BadInput, shown
from metassay.pairing.evidence import (
    NO_CLAIMS,
    Document,
    Found,
    Query,
    Unit,
    lend,
    text_or_why,
)
from metassay.pairing.measures import Question
from metassay.pairing.questions import Questions, questions_of
from metassay.parquet import empty
from metassay.tables import ALL_CITATIONS, FULL, PAIRS, REFERENCE

_ENCODER = json.JSONEncoder(ensure_ascii=False)
_CHUNK = 50_000  # rows held as Python objects before they become a frame
_DOCUMENTS = 256  # documents held as Python objects at once: bounds the memory
_ALL_TOGETHER = (ALL_CITATIONS,)


def build_pairs(
    sources: pd.DataFrame,
    parts: pd.DataFrame,
    units: pd.DataFrame,
    alignments: pd.DataFrame,
    options: Questions,
) -> pd.DataFrame:
    """What one block of questions asks; returns table `pairs`, its premises as a Categorical.

    Raises BadInput if a table lacks a row that another one needs.
    """
    _check(sources, parts, units, alignments)
    questions, rows = questions_of(options), _Rows()
    for doc_id, document in _documents(sources, (parts, units, alignments), borrow=options.borrow):
        for question in questions:
            for author, query, found in _asked(question, document, options.against == "part"):
                rows.add(question, doc_id, author, query, found)
    return rows.frame()


def pair_id(instrument: str, premise: str | None, hypothesis: str) -> str:
    """First 32 hex digits of the SHA-256 of [instrument, premise, hypothesis] as compact JSON."""
    digest = _begun(instrument, premise).copy()
    digest.update(_json(hypothesis) + b"]")
    return str(digest.hexdigest()[:32])


@lru_cache(maxsize=1024)
def _begun(instrument: str, premise: str | None) -> Any:
    # Many hypotheses share a long premise, which is thus hashed once.
    return hashlib.sha256(b"[" + _json(instrument) + b"," + _json(premise) + b",")


def _json(value: str | None) -> bytes:
    return _ENCODER.encode(value).encode()


def _asked(
    question: Question, document: Document, by_part: bool
) -> Iterator[tuple[str, Query, Found]]:
    """A question about every text of a document that it can be asked of, by the text's author."""
    find, of_reference = question.evidence.find, question.whose == "reference"
    for author in sorted(document.texts):
        if question.compares and (author == REFERENCE or REFERENCE not in document.texts):
            continue
        owner, other = (REFERENCE, author) if of_reference else (author, REFERENCE)
        for unit in document.units.get((owner, question.kind), ()):
            citations = unit.citations if question.units == "citation" else _ALL_TOGETHER
            for citation in citations:
                query = Query(owner, other, unit, citation, by_part)
                found = find(document, query) if unit.status == "ok" else NO_CLAIMS
                if found is not None:
                    yield author, query, found


def _documents(
    sources: pd.DataFrame, tables: Sequence[pd.DataFrame], *, borrow: bool
) -> Iterator[tuple[str, Document]]:
    """All documents in order of doc_id; `tables` are parts, units and alignments."""
    ordered = sources.sort_values("doc_id")
    places = [table.groupby("doc_id").indices for table in tables]
    nothing = np.empty(0, dtype=np.int64)
    for start in range(0, len(ordered), _DOCUMENTS):
        chunk = ordered.iloc[start : start + _DOCUMENTS]
        doc_ids = chunk["doc_id"].tolist()
        parts, units, alignments = (
            table.iloc[np.concatenate([of_doc.get(doc_id, nothing) for doc_id in doc_ids])]
            for table, of_doc in zip(tables, places, strict=True)
        )
        texts, said, aligned = _texts(parts), _units(units, borrow=borrow), _places(alignments)
        for doc_id, passages in zip(doc_ids, chunk["passages"], strict=True):
            yield str(doc_id), Document(passages, texts[doc_id], said[doc_id], aligned[doc_id])


def _texts(parts: pd.DataFrame) -> dict[str, dict[str, dict[str, Found]]]:
    """By document, author and part."""
    found: dict[str, dict[str, dict[str, Found]]] = defaultdict(dict)
    columns = (parts[name].tolist() for name in ("doc_id", "author", "part", "text", "status"))
    for doc_id, author, part, text, status in zip(*columns, strict=True):
        readable = text_or_why(text if status == "ok" else None)
        found[doc_id].setdefault(author, {})[part] = readable
    return found


def _units(units: pd.DataFrame, *, borrow: bool) -> dict[str, dict[tuple[str, str], list[Unit]]]:
    """By document, and author and kind; in order of part and position."""
    found: dict[str, dict[tuple[str, str], list[Unit]]] = defaultdict(dict)
    ordered = units.sort_values(["part", "position"]).fillna({"text": ""})
    names = ["doc_id", "author", "kind", "part", "position", "text", "citations", "status"]
    columns = (ordered[name].tolist() for name in names)
    for doc_id, author, kind, *unit in zip(*columns, strict=True):
        found[doc_id].setdefault((author, kind), []).append(Unit(*unit))
    for of_author in found.values() if borrow else ():
        of_author.update({key: lend(some) for key, some in of_author.items() if key[1] != "claim"})
    return found


def _places(alignments: pd.DataFrame) -> dict[str, dict[tuple[str, str, int], Sequence[int]]]:
    """The aligned passages by document, and author, part and position."""
    found: dict[str, dict[tuple[str, str, int], Sequence[int]]] = defaultdict(dict)
    names = ("doc_id", "author", "part", "position", "passages")
    columns = (alignments[name].tolist() for name in names)
    for doc_id, author, part, position, passages in zip(*columns, strict=True):
        found[doc_id][author, part, position] = passages
    return found


class _Rows:
    """Rows of `pairs`; every distinct premise is held once."""

    def __init__(self) -> None:
        self._rows: list[tuple[object, ...]] = []
        self._chunks: list[pd.DataFrame] = []
        self._codes = array("i")
        self._premises: dict[str, int] = {}

    def add(self, question: Question, doc_id: str, author: str, query: Query, found: Found) -> None:
        instrument, unit, premise = question.instrument.name, query.unit, found.premise
        identity = pair_id(instrument, premise, unit.text)
        place = (doc_id, author, unit.part, unit.position, query.citation)
        self._rows.append((identity, instrument, question.name, *place, unit.text, found.settled))
        known = self._premises
        self._codes.append(-1 if premise is None else known.setdefault(premise, len(known)))
        if len(self._rows) >= _CHUNK:
            self._flush()

    def frame(self) -> pd.DataFrame:
        self._flush()
        if not self._chunks:
            return empty(PAIRS)
        rows = pd.concat(self._chunks, ignore_index=True)
        codes = np.array(self._codes, dtype=np.int32)
        rows["premise"] = pd.Categorical.from_codes(codes, pd.Index(list(self._premises)))
        return rows[list(PAIRS.columns)]

    def _flush(self) -> None:
        if self._rows:
            names = [name for name in PAIRS.columns if name != "premise"]
            chunk = pd.DataFrame(self._rows, columns=names)
            self._chunks.append(chunk.astype({"settled": "str"}))  # else all-null has another type
            self._rows = []


def _check(
    sources: pd.DataFrame, parts: pd.DataFrame, units: pd.DataFrame, alignments: pd.DataFrame
) -> None:
    statements = units[units["kind"] == "statement"]
    whole = parts[parts["part"] == FULL]
    problems = [
        *_unmatched("parts", parts, "sources", sources, ["doc_id"]),
        *_unmatched("parts", parts, "parts with part full", whole, ["doc_id", "author"]),
        *_unmatched("units", units, "parts", parts, ["doc_id", "author", "part"]),
        *_unmatched(
            "units", statements, "alignments", alignments, ["doc_id", "author", "part", "position"]
        ),
    ]
    methods = sorted(alignments["method"].unique())
    if len(methods) > 1:
        problems.append(f"alignments: {methods} are in one table; a benchmark has one alignment")
    if problems:
        raise BadInput(problems)


def _unmatched(
    name: str, rows: pd.DataFrame, other_name: str, other: pd.DataFrame, key: list[str]
) -> list[str]:
    matched = pd.MultiIndex.from_frame(rows[key]).isin(pd.MultiIndex.from_frame(other[key]))
    if matched.all():
        return []
    first = ", ".join(f"{k}={shown(v)}" for k, v in rows.loc[~matched, key].iloc[0].items())
    return [
        f"{name}: {int((~matched).sum())} row(s) have no row in {other_name}, the first is {first};"
        " run the stages before this one again"
    ]
