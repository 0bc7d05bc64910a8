"""The questions of a benchmark's texts: units paired with what they are read against.

A document without reference has no questions that compare with one, and one without source none
that read it: what rests on them is undefined, not 0. A text that failed is asked about all the same
(settled: no_text), and so is a part whose units are unknown, with one question (settled:
no_claims): both count as failed.
"""

import hashlib
import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from metassay.scoring.pairing.documents import documents
from metassay.scoring.pairing.evidence import NO_CLAIMS, Document, Found, Query, Unit
from metassay.scoring.pairing.measures import Question
from metassay.scoring.pairing.questions import Questions, questions_of
from metassay.tables.names import ALL_CITATIONS, FULL, REFERENCE, aligned_suffixes
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty
from metassay.text.citations import strip_citations

_ENCODER = json.JSONEncoder(ensure_ascii=False)
_CHUNK = 50_000  # rows held as Python objects before they become a frame
_SHARED = ("premise", "hypothesis", "context", "repeats")  # columns of texts that rows share


def pair_id(
    instrument: str, premise: str | None, hypothesis: str, context: str | None = None
) -> str:
    """First 32 hex digits of the SHA-256 of [instrument, premise, hypothesis] as compact JSON.

    A context, if there is one, is a fourth item.
    """
    digest = _begun(instrument, premise).copy()
    digest.update(_json(hypothesis))
    digest.update(b"]" if context is None else b"," + _json(context) + b"]")
    return str(digest.hexdigest()[:32])


@lru_cache(maxsize=1024)
def _begun(instrument: str, premise: str | None) -> Any:
    # Many hypotheses share a long premise, which is thus hashed once.
    return hashlib.sha256(b"[" + _json(instrument) + b"," + _json(premise) + b",")


def _json(value: str | None) -> bytes:
    return _ENCODER.encode(value).encode()


class PairRows:
    """Rows of `pairs` as they come, and the table made of them.

    Of texts that many rows share every distinct one is held once, with a number; null is -1.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[object, ...]] = []
        self._chunks: list[pd.DataFrame] = []
        self._texts: dict[str, dict[str, int]] = {name: {} for name in _SHARED}
        self._codes = {name: array("i") for name in _SHARED}

    def add(
        self,
        asks: tuple[str, str],
        place: tuple[str, str, str, int, int],
        said: tuple[str | None, str, str | None],
        settled: str | None,
        repeats: str,
    ) -> None:
        """One question. asks: instrument and measure. place: doc_id, author, part, position,
        citation. said: premise, hypothesis and context. settled: why nobody is asked; then there is
        no premise. `repeats` as the table has it.
        """
        self._rows.append((pair_id(asks[0], *said), *asks, *place, settled))
        for name, text in zip(_SHARED, (*said, repeats), strict=True):
            known = self._texts[name]
            code = -1 if text is None else known.setdefault(text, len(known))
            self._codes[name].append(code)
        if len(self._rows) >= _CHUNK:
            self._flush()

    def frame(self) -> pd.DataFrame:
        """Table `pairs`, its texts as Categoricals."""
        self._flush()
        if not self._chunks:
            return empty(PAIRS)
        rows = pd.concat(self._chunks, ignore_index=True)
        for name, known in self._texts.items():
            codes = np.array(self._codes[name], dtype=np.int32)
            rows[name] = pd.Categorical.from_codes(codes, pd.Index(list(known), dtype="str"))
        return rows[list(PAIRS.columns)]

    def _flush(self) -> None:
        if self._rows:
            names = [name for name in PAIRS.columns if name not in _SHARED]
            chunk = pd.DataFrame(self._rows, columns=names)
            self._chunks.append(chunk.astype({"settled": "str"}))  # else all-null has another type
            self._rows = []


def repeats_of(dataset: str, known: Mapping[str, frozenset[str]], authors: Iterable[str]) -> str:
    """What the source may repeat, and each of these authors' texts, as pairs.repeats has it."""
    return " ".join(sorted(frozenset([dataset]).union(*(known[author] for author in authors))))


def build_pairs(
    sources: pd.DataFrame,
    parts: pd.DataFrame,
    units: pd.DataFrame,
    alignments: Mapping[str, pd.DataFrame],
    options: Questions,
) -> pd.DataFrame:
    """What one block of questions asks; returns table `pairs`, its texts as Categoricals.

    `alignments`: tables of the benchmark's alignments, by name, in its order.
    """
    suffixes = aligned_suffixes(options.alignments, list(alignments))
    questions, rows = questions_of(options, suffixes.values()), PairRows()
    read = {suffix: alignments[name] for name, suffix in suffixes.items()}
    for doc_id, document in documents(sources, parts, units, read, options):
        for question in questions:
            for author, query, found in _asked(question, document, options.against == "part"):
                asks, unit = question.instrument, query.unit
                if found.context is None and asks.without_context is not None:
                    asks = asks.without_context
                hypothesis = unit.text if found.hypothesis is None else found.hypothesis
                rows.add(
                    (asks.name, question.name),
                    (doc_id, author, unit.part, unit.position, query.citation),
                    (found.premise, hypothesis, found.context),
                    found.settled,
                    repeats_of(document.dataset, document.repeats, (query.owner, *found.authors)),
                )
    return rows.frame()


def _asked(
    question: Question, document: Document, by_part: bool
) -> Iterator[tuple[str, Query, Found]]:
    """A question about every text of a document that it can be asked of, by the text's author."""
    if question.tasks and document.task not in question.tasks:
        return
    if question.evidence.of_source and not document.passages:
        return
    find, of_reference = question.evidence.find, question.whose == "reference"
    for author in sorted(document.texts):
        if question.compares and (author == REFERENCE or REFERENCE not in document.texts):
            continue
        owner, other = (REFERENCE, author) if of_reference else (author, REFERENCE)
        for unit in _units(question, document, owner):
            citations = unit.citations if question.units == "citation" else (ALL_CITATIONS,)
            for citation in citations:
                query = Query(owner, other, unit, citation, by_part)
                found = find(document, query) if unit.status == "ok" else NO_CLAIMS
                if found is not None:
                    yield author, query, found


def _units(question: Question, document: Document, owner: str) -> Sequence[Unit]:
    if question.units == "text":
        return [Unit(FULL, 0, strip_citations(document.texts[owner][FULL].premise or "").strip())]
    if question.units == "rival":
        ranked = list(enumerate(document.systems)) if owner != REFERENCE else []
        return [Unit(FULL, rank, "") for rank, rival in ranked if rival != owner]
    return document.units.get((owner, question.kind), ())
