"""Table `pairs`: the questions of a benchmark's texts, document by document.

A statement is read against the passages that it cites, in the order of citing; a
citation of an absent or blank passage is wrong, and the others can still be read. A
statement without citations has no evidence; with `borrow` it has the citations of the
next cited statement of its part.

`compat: doclens` follows DocLens's released code where published numbers depend on it
(eval_citation.py and eval_citation_model.py): words and citations are those of
`text.citations.parse_as_doclens`; a citation of an absent passage makes all of the
statement's wrong; else the first 10 count. A repeated citation counts once, and a blank
passage cannot be read.
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
    Premise,
    Query,
    Unit,
    text_or_why,
)
from metassay.scoring.pairing.questions import Questions, questions_of
from metassay.scoring.pairing.record import Question
from metassay.tables.checks import drop_further_references, rows_of
from metassay.tables.names import ALL_CITATIONS, FULL, REFERENCE, aligned_suffixes
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty
from metassay.text.citations import parse_as_doclens, strip_citations

MOST_CITATIONS = 10  # of a statement, by DocLens's default
_DOCUMENTS = 256  # documents that are Python objects at once: bounds the memory

# author -> part -> its text, None where it failed
Texts = dict[str, dict[str, str | None]]
Repeats = dict[str, frozenset[str]]  # author -> datasets that its texts may repeat


def documents(
    sources: pd.DataFrame,
    parts: pd.DataFrame,
    units_table: pd.DataFrame,
    alignments: Mapping[str, pd.DataFrame],
    options: Questions,
) -> Iterator[tuple[str, Document]]:
    """Iterate over the documents in order of doc_id, with the citations that count.

    `alignments`: by the suffix that they add to names of metrics.
    """
    parts = drop_further_references(parts)
    tables = (parts, units_table, *alignments.values())
    for chunk, (its_parts, its_units, *its_alignments) in chunks(sources, *tables):
        written = texts_of(its_parts)
        units_by_document = _units_of(
            its_units, written, doclens=options.compat == "doclens"
        )
        aligned: dict[str, dict[Any, Sequence[int]]] = defaultdict(dict)
        names = ("doc_id", "author", "part", "position", "passages")
        for suffix, rows in zip(alignments, its_alignments, strict=True):
            for doc_id, *place, passages in rows_of(rows, *names):
                aligned[doc_id][(suffix, *place)] = passages
        for doc_id, *source in rows_of(chunk, "doc_id", "task", "dataset", "passages"):
            texts, repeats = written.get(doc_id, ({}, {}))
            units = units_by_document[doc_id]
            for key in [key for key in units if key[1] == CITING]:
                units[key] = resolve_citations(units[key], source[-1], options)
            premises: dict[str, dict[str, Premise]] = {}
            for author, author_parts in texts.items():
                premises[author] = {
                    part: text_or_why(text) for part, text in author_parts.items()
                }
            about = (*source, premises, repeats, units, aligned[doc_id])
            yield str(doc_id), Document(*about)


def chunks(
    sources: pd.DataFrame, *tables: pd.DataFrame
) -> Iterator[tuple[pd.DataFrame, list[pd.DataFrame]]]:
    """Iterate over chunks of sources in order of doc_id, with the rows of `tables` about them."""
    ordered = sources.sort_values("doc_id")
    places = [table.groupby("doc_id").indices for table in tables]
    nothing = np.empty(0, dtype=np.int64)
    for start in range(0, len(ordered), _DOCUMENTS):
        chunk = ordered.iloc[start : start + _DOCUMENTS]
        chunk_tables = []
        for table, rows_of_document in zip(tables, places, strict=True):
            rows = [rows_of_document.get(name, nothing) for name in chunk["doc_id"]]
            chunk_tables.append(table.iloc[np.concatenate(rows)])
        yield chunk, chunk_tables


def texts_of(parts: pd.DataFrame) -> dict[str, tuple[Texts, Repeats]]:
    """Return the parts of each author, and the datasets that they may repeat, by document."""
    documents: dict[str, tuple[Texts, Repeats]] = defaultdict(lambda: ({}, {}))
    names = ("doc_id", "author", "part", "text", "status", "repeats")
    for doc_id, author, part, text, status, repeated in rows_of(parts, *names):
        texts, repeats = documents[doc_id]
        texts.setdefault(author, {})[part] = text if status == "ok" else None
        repeats[author] = repeats.get(author, frozenset()) | set(repeated)
    return dict(documents)


def _units_of(
    units: pd.DataFrame, written: dict[str, tuple[Texts, Repeats]], *, doclens: bool
) -> dict[str, dict[tuple[str, str], list[Unit]]]:
    """Return units by document: statements twice, for questions about citations and for others."""
    documents: dict[str, dict[tuple[str, str], list[Unit]]] = defaultdict(
        lambda: defaultdict(list)
    )
    ordered = units.sort_values(["part", "position"]).fillna({"text": ""})
    names = ("doc_id", "author", "kind", *Unit._fields[:5], "start", "end")
    for doc_id, author, kind, *about, start, end in rows_of(ordered, *names):
        unit = Unit(*about)
        documents[doc_id][author, kind].append(unit)
        if kind == "statement":
            text = written[doc_id][0][author][unit.part] or ""
            if doclens and text.strip():
                text, citations = parse_as_doclens(text[start:end])
                unit = unit._replace(text=text, citations=citations)
            documents[doc_id][author, CITING].append(unit)
    return documents


def resolve_citations(
    statements: Sequence[Unit], passages: Sequence[str], options: Questions
) -> list[Unit]:
    """Return a text's statements with the citations that count and the passages to read."""
    resolved: list[Unit] = []
    following: dict[str, Sequence[int]] = {}
    for statement in reversed(statements):
        citations = statement.citations
        if options.borrow:
            citations = following[statement.part] = citations or following.get(
                statement.part, ()
            )
        existing = [place for place in citations if 0 <= place < len(passages)]
        if options.compat == "doclens" and len(existing) < len(citations):
            existing = []
        elif options.compat == "doclens":
            citations = existing = existing[:MOST_CITATIONS]
        readable = [place for place in existing if passages[place].strip()]
        resolved.append(statement._replace(citations=citations, readable=readable))
    return resolved[::-1]


_ENCODER = json.JSONEncoder(ensure_ascii=False)
_CHUNK = 50_000  # rows that are Python objects before they become a frame
# columns of texts that rows share
_SHARED = ("premise", "hypothesis", "context", "repeats")


def pair_id(
    instrument: str, premise: str | None, hypothesis: str, context: str | None = None
) -> str:
    """Return the first 32 hex digits of the SHA-256 of a question as compact JSON.

    This is [instrument, premise, hypothesis], and context as a fourth item unless it is
    None.
    """
    digest = _begun(instrument, premise).copy()
    digest.update(_json(hypothesis))
    digest.update(b"]" if context is None else b"," + _json(context) + b"]")
    return str(digest.hexdigest()[:32])


@lru_cache(maxsize=1024)
def _begun(instrument: str, premise: str | None) -> Any:
    # Many hypotheses share a long premise, so its hash is reused.
    return hashlib.sha256(b"[" + _json(instrument) + b"," + _json(premise) + b",")


def _json(value: str | None) -> bytes:
    return _ENCODER.encode(value).encode()


class PairRows:
    """Collects rows of `pairs`; texts that rows share are stored once, by number (null: -1)."""

    def __init__(self) -> None:
        self._rows: list[tuple[object, ...]] = []
        self._chunks: list[pd.DataFrame] = []
        self._texts: dict[str, dict[str, int]] = {name: {} for name in _SHARED}
        self._codes = {name: array("i") for name in _SHARED}

    def add(
        self,
        asks: tuple[str, str],
        place: tuple[str, str, str, int, int],
        texts: tuple[str | None, str, str | None],
        settled: str | None,
        repeats: str,
    ) -> None:
        """Add a question. asks: instrument and measure. place: doc_id, author, part,
        position, citation. texts: premise, hypothesis and context. settled: why no
        judge is asked; then there is no premise. `repeats` as in the table.
        """
        self._rows.append((pair_id(asks[0], *texts), *asks, *place, settled))
        for name, text in zip(_SHARED, (*texts, repeats), strict=True):
            numbers = self._texts[name]
            code = -1 if text is None else numbers.setdefault(text, len(numbers))
            self._codes[name].append(code)
        if len(self._rows) >= _CHUNK:
            self._flush()

    def frame(self) -> pd.DataFrame:
        """Return table `pairs`, its texts as Categoricals."""
        self._flush()
        if not self._chunks:
            return empty(PAIRS)
        rows = pd.concat(self._chunks, ignore_index=True)
        for name, numbers in self._texts.items():
            codes = np.array(self._codes[name], dtype=np.int32)
            rows[name] = pd.Categorical.from_codes(
                codes, pd.Index(list(numbers), dtype="str")
            )
        return rows[list(PAIRS.columns)]

    def _flush(self) -> None:
        if self._rows:
            names = [name for name in PAIRS.columns if name not in _SHARED]
            chunk = pd.DataFrame(self._rows, columns=names)
            # else all-null has another type
            self._chunks.append(chunk.astype({"settled": "str"}))
            self._rows = []


def repeats_of(
    dataset: str, repeats: Mapping[str, frozenset[str]], authors: Iterable[str]
) -> str:
    """Return `pairs.repeats`: the datasets that the source and these authors' texts may repeat."""
    return " ".join(
        sorted(frozenset([dataset]).union(*(repeats[author] for author in authors)))
    )


def build_pairs(
    sources: pd.DataFrame,
    parts: pd.DataFrame,
    units: pd.DataFrame,
    alignments: Mapping[str, pd.DataFrame],
    options: Questions,
) -> pd.DataFrame:
    """Ask the questions of a block; return table `pairs`, its texts as Categoricals.

    `alignments`: tables of the benchmark's alignments, by name, in its order. A
    document without reference has no questions that compare with it, and one without
    source none that read it: their scores are undefined, not 0. A text that failed has
    its questions (settled: no_text), and a part with unknown units has one (settled:
    no_claims); both count as failed.
    """
    suffixes = aligned_suffixes(options.alignments, list(alignments))
    questions = questions_of(options, suffixes.values())
    rows = PairRows()
    read = {suffix: alignments[name] for name, suffix in suffixes.items()}
    for doc_id, document in documents(sources, parts, units, read, options):
        for question in questions:
            by_part = options.against == "part"
            for author, query, premise in _questions_of(question, document, by_part):
                asks = question.instrument
                unit = query.unit
                if premise.context is None and asks.without_context is not None:
                    asks = asks.without_context
                hypothesis = (
                    unit.text if premise.hypothesis is None else premise.hypothesis
                )
                rows.add(
                    (asks.name, question.name),
                    (doc_id, author, unit.part, unit.position, query.citation),
                    (premise.text, hypothesis, premise.context),
                    premise.settled,
                    repeats_of(
                        document.dataset,
                        document.repeats,
                        (query.owner, *premise.authors),
                    ),
                )
    return rows.frame()


def _questions_of(
    question: Question, document: Document, by_part: bool
) -> Iterator[tuple[str, Query, Premise]]:
    """Ask a question of every text of a document to which it applies, by the text's author."""
    if question.tasks and document.task not in question.tasks:
        return
    if question.evidence.of_source and not document.passages:
        return
    find = question.evidence.find
    of_reference = question.whose == "reference"
    for author in sorted(document.texts):
        if question.compares and (
            author == REFERENCE or REFERENCE not in document.texts
        ):
            continue
        owner, other = (REFERENCE, author) if of_reference else (author, REFERENCE)
        for unit in _units(question, document, owner):
            citations = (
                unit.citations if question.units == "citation" else (ALL_CITATIONS,)
            )
            for citation in citations:
                query = Query(
                    owner=owner,
                    other=other,
                    unit=unit,
                    citation=citation,
                    by_part=by_part,
                )
                premise = find(document, query) if unit.status == "ok" else NO_CLAIMS
                if premise is not None:
                    yield author, query, premise


def _units(question: Question, document: Document, owner: str) -> Sequence[Unit]:
    if question.units == "text":
        return [
            Unit(
                FULL, 0, strip_citations(document.texts[owner][FULL].text or "").strip()
            )
        ]
    if question.units == "rival":
        ranked = list(enumerate(document.systems)) if owner != REFERENCE else []
        return [Unit(FULL, rank, "") for rank, rival in ranked if rival != owner]
    return document.units.get((owner, question.kind), ())
