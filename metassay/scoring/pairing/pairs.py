"""Tables to documents: everything that questions are made of, document by document.

A statement rests on the passages that it cites, in the order of citing; one that is absent or blank
is a wrong citation, and the others can still be read. A statement without citations rests on
nothing; with `borrow` it has those of the next cited statement of its part.

`compat: doclens` is what DocLens's released code does instead where published numbers depend on it
(eval_citation.py and eval_citation_model.py): words and citations are those of
`text.citations.as_doclens`; one citation of an absent passage makes all of the statement's wrong;
else the first 10 count. A repeated citation counts once, and a blank passage cannot be read.
"""

import hashlib
import json
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from metassay.scoring.pairing.evidence import (
    CITING,
    NO_CLAIMS,
    Document,
    Found,
    Query,
    Unit,
    text_or_why,
)
from metassay.scoring.pairing.measures import Question
from metassay.scoring.pairing.questions import Questions, questions_of
from metassay.tables.checks import rows_of, without_further_references
from metassay.tables.names import ALL_CITATIONS, FULL, REFERENCE, aligned_suffixes
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty
from metassay.text.citations import as_doclens, strip_citations

MOST_CITATIONS = 10  # of a statement, by DocLens's default
_DOCUMENTS = 256  # documents held as Python objects at once: bounds the memory

Texts = dict[str, dict[str, str | None]]  # author -> part -> its text, None where it failed
Repeats = dict[str, frozenset[str]]  # author -> datasets that its texts may repeat


def documents(
    sources: pd.DataFrame,
    parts: pd.DataFrame,
    units: pd.DataFrame,
    alignments: Mapping[str, pd.DataFrame],
    options: Questions,
) -> Iterator[tuple[str, Document]]:
    """All documents in order of doc_id, with what the rules of citations make of their statements.

    `alignments`: by what they add to names of metrics.
    """
    parts = without_further_references(parts)
    tables = (parts, units, *alignments.values())
    for chunk, (its_parts, its_units, *its_alignments) in chunks(sources, *tables):
        written = texts_of(its_parts)
        found = _units_of(its_units, written, doclens=options.compat == "doclens")
        aligned: dict[str, dict[Any, Sequence[int]]] = defaultdict(dict)
        names = ("doc_id", "author", "part", "position", "passages")
        for suffix, rows in zip(alignments, its_alignments, strict=True):
            for doc_id, *place, passages in rows_of(rows, *names):
                aligned[doc_id][(suffix, *place)] = passages
        for doc_id, task, dataset, passages in rows_of(
            chunk, "doc_id", "task", "dataset", "passages"
        ):
            texts, repeats = written.get(doc_id, ({}, {}))
            for key in [key for key in found[doc_id] if key[1] == CITING]:
                found[doc_id][key] = cited(found[doc_id][key], passages, options)
            known = {
                author: {part: text_or_why(text) for part, text in its.items()}
                for author, its in texts.items()
            }
            about = (task, dataset, passages, known, repeats, found[doc_id], aligned[doc_id])
            yield str(doc_id), Document(*about)


def chunks(
    sources: pd.DataFrame, *tables: pd.DataFrame
) -> Iterator[tuple[pd.DataFrame, list[pd.DataFrame]]]:
    """Sources in order of doc_id, some at a time, each time with the rows of tables about them."""
    ordered = sources.sort_values("doc_id")
    places = [table.groupby("doc_id").indices for table in tables]
    nothing = np.empty(0, dtype=np.int64)
    for start in range(0, len(ordered), _DOCUMENTS):
        chunk = ordered.iloc[start : start + _DOCUMENTS]
        yield (
            chunk,
            [
                table.iloc[np.concatenate([at.get(doc_id, nothing) for doc_id in chunk["doc_id"]])]
                for table, at in zip(tables, places, strict=True)
            ],
        )


def texts_of(parts: pd.DataFrame) -> dict[str, tuple[Texts, Repeats]]:
    """By document: the parts of each author, and what they may repeat."""
    found: dict[str, tuple[Texts, Repeats]] = defaultdict(lambda: ({}, {}))
    names = ("doc_id", "author", "part", "text", "status", "repeats")
    for doc_id, author, part, text, status, repeated in rows_of(parts, *names):
        texts, repeats = found[doc_id]
        texts.setdefault(author, {})[part] = text if status == "ok" else None
        repeats[author] = repeats.get(author, frozenset()) | set(repeated)
    return dict(found)


def _units_of(
    units: pd.DataFrame, written: dict[str, tuple[Texts, Repeats]], *, doclens: bool
) -> dict[str, dict[tuple[str, str], list[Unit]]]:
    """By document; statements are there twice, for questions about citations and for others."""
    found: dict[str, dict[tuple[str, str], list[Unit]]] = defaultdict(lambda: defaultdict(list))
    ordered = units.sort_values(["part", "position"]).fillna({"text": ""})
    names = ("doc_id", "author", "kind", *Unit._fields[:5], "start", "end")
    for doc_id, author, kind, *about, start, end in rows_of(ordered, *names):
        unit = Unit(*about)
        found[doc_id][author, kind].append(unit)
        if kind == "statement":
            said = written[doc_id][0][author][unit.part] or ""
            if doclens and said.strip():
                text, citations = as_doclens(said[start:end])
                unit = unit._replace(text=text, citations=citations)
            found[doc_id][author, CITING].append(unit)
    return found


def cited(statements: Sequence[Unit], passages: Sequence[str], options: Questions) -> list[Unit]:
    """The statements of one text with the citations that count, and the passages left to read."""
    found: list[Unit] = []
    following: dict[str, Sequence[int]] = {}
    for statement in reversed(statements):
        citations = statement.citations
        if options.borrow:
            citations = following[statement.part] = citations or following.get(statement.part, ())
        there = [place for place in citations if 0 <= place < len(passages)]
        if options.compat == "doclens" and len(there) < len(citations):
            there = []
        elif options.compat == "doclens":
            citations = there = there[:MOST_CITATIONS]
        readable = [place for place in there if passages[place].strip()]
        found.append(statement._replace(citations=citations, readable=readable))
    return found[::-1]


# The questions of a benchmark's texts: units paired with what they are read against.
# A document without reference has no questions that compare with one, and one without source none
# that read it: what rests on them is undefined, not 0. A text that failed is asked about all the
# same (settled: no_text), and so is a part whose units are unknown, with one question (settled:
# no_claims): both count as failed.


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
