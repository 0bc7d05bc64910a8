"""The questions that the measures need answered: units paired with what may entail them.

Measures and their questions (DocLens, Xie et al. 2024, sections 3.1 to 3.3; faithfulness reads a
statement against its aligned passages, Adams et al. 2023, section 6):

- claim_recall: does an author's text entail a claim of the reference? For every author but the
  reference, also where the author's text failed (settled: no_text).
- claim_precision: does the reference entail a claim of the author? A document without reference
  has no such question: its precision is undefined, not 0.
- citation_recall: do all passages that a statement cites together entail it?
- citation_alone, citation_rest: does one cited passage alone entail it, do the others without it?
- faithfulness: do the aligned passages entail it?

A part whose claims are unknown is one question, settled no_claims: it counts as failed.

Rules of citations. The premise is the cited passages in the order of citing, joined by newlines. A
statement without citations is settled no_evidence for citation_recall and has no questions about
single citations; with `borrow` it gets the citations of the next cited statement of its part. A
citation of a passage that is absent or blank is wrong: its citation_alone is settled no_evidence. A
readable one has a citation_rest where another readable one is left.
"""

import hashlib
import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from metassay.errors import BadInput
from metassay.params import Options
from metassay.parquet import empty
from metassay.tables import ALL_CITATIONS, FULL, PAIRS, REFERENCE

NO_CLAIMS = "no_claims"
_ENTAILMENT, _ATTRIBUTION = "entailment", "attribution"
_ENCODER = json.JSONEncoder(ensure_ascii=False)
_CHUNK = 50_000  # rows held as Python objects before they become a frame


class PairOptions(Options):
    """What is asked of a text; `claim` and `citation` stand for their recall and precision.

    against: claims are judged against the whole other text (`full`) or its same part (`part`): all
    of a text without sections, no evidence where only this one is missing.
    borrow: a statement without citations has those of the next cited one.
    """

    measures: list[Literal["claim", "citation", "faithfulness"]]
    against: Literal["full", "part"]
    borrow: bool


class Unit(NamedTuple):
    """A claim or statement; where status is not ok, it stands for all that are unknown."""

    part: str
    position: int
    text: str
    citations: Sequence[int]
    status: str = "ok"


class Evidence(NamedTuple):
    """What may entail, or why there is nothing to ask."""

    premise: str | None
    settled: str | None


class Question(NamedTuple):
    """One row of `pairs` before it has its document and id."""

    instrument: str
    measure: str
    author: str
    unit: Unit
    citation: int
    evidence: Evidence


class Document(NamedTuple):
    """All that is known about one document."""

    passages: Sequence[str]
    texts: Mapping[str, Mapping[str, str | None]]  # author -> part -> text, None if it failed
    claims: Mapping[str, Sequence[Unit]]  # by author
    statements: Mapping[str, Sequence[Unit]]
    aligned: Mapping[tuple[str, str, int], Sequence[int]]  # author, part, position -> passages


def build_pairs(
    sources: pd.DataFrame,
    parts: pd.DataFrame,
    units: pd.DataFrame,
    alignments: pd.DataFrame,
    options: PairOptions,
) -> pd.DataFrame:
    """Every question of every measure; returns table `pairs`, its premises as a Categorical.

    Raises BadInput if a table lacks a row that another one needs.
    """
    _check(sources, parts, units, alignments)
    rows = _Rows()
    for doc_id, document in _documents(sources, parts, units, alignments):
        for question in _questions(document, options):
            rows.add(doc_id, question)
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


def _questions(document: Document, options: PairOptions) -> Iterator[Question]:
    for author in sorted(document.texts):
        compared = author != REFERENCE and REFERENCE in document.texts
        if compared and "claim" in options.measures:
            yield from _claim_questions(document, author, options.against)
        statements = document.statements.get(author, ())
        if "citation" in options.measures:
            for statement in _lend(statements) if options.borrow else statements:
                yield from _citation_questions(document.passages, author, statement)
        for statement in statements if "faithfulness" in options.measures else ():
            places = document.aligned[author, statement.part, statement.position]
            evidence = _join(document.passages, sorted(places))
            yield Question(_ENTAILMENT, "faithfulness", author, statement, ALL_CITATIONS, evidence)


def _claim_questions(document: Document, author: str, against: str) -> Iterator[Question]:
    for measure, whose, other in (
        ("claim_recall", REFERENCE, author),
        ("claim_precision", author, REFERENCE),
    ):
        for claim in document.claims.get(whose, ()):
            evidence = _text_of(document.texts[other], claim.part, against)
            evidence = evidence if claim.status == "ok" else Evidence(None, NO_CLAIMS)
            yield Question(_ENTAILMENT, measure, author, claim, ALL_CITATIONS, evidence)


def _text_of(texts: Mapping[str, str | None], part: str, against: str) -> Evidence:
    wanted = part if against == "part" and len(texts) > 1 else FULL
    return _evidence(texts.get(wanted, None if texts[FULL] is None else ""))  # "": not written


def _citation_questions(
    passages: Sequence[str], author: str, statement: Unit
) -> Iterator[Question]:
    readable = [c for c in statement.citations if _readable(passages, c)]

    def ask(measure: str, citation: int, cited: Sequence[int]) -> Question:
        evidence = _join(passages, cited)
        return Question(_ATTRIBUTION, measure, author, statement, citation, evidence)

    yield ask("citation_recall", ALL_CITATIONS, readable)
    for citation in statement.citations:
        alone = [c for c in readable if c == citation]
        rest = [c for c in readable if c != citation]
        yield ask("citation_alone", citation, alone)
        if alone and rest:
            yield ask("citation_rest", citation, rest)


def _readable(passages: Sequence[str], place: int) -> bool:
    return 0 <= place < len(passages) and bool(passages[place].strip())


def _join(passages: Sequence[str], places: Sequence[int]) -> Evidence:
    return _evidence("\n".join(passages[place] for place in places))


def _evidence(text: str | None) -> Evidence:
    if text is None:
        return Evidence(None, "no_text")
    return Evidence(text, None) if text.strip() else Evidence(None, "no_evidence")


def _lend(statements: Sequence[Unit]) -> list[Unit]:
    """The statements, those without citations with those of the next cited one of their part."""
    lent: list[Unit] = []
    following: dict[str, Sequence[int]] = {}
    for statement in reversed(statements):
        if statement.citations:
            following[statement.part] = statement.citations
        lent.append(statement._replace(citations=following.get(statement.part, ())))
    return lent[::-1]


def _documents(
    sources: pd.DataFrame, parts: pd.DataFrame, units: pd.DataFrame, alignments: pd.DataFrame
) -> Iterator[tuple[str, Document]]:
    of_parts, of_units, of_alignments = (
        frame.groupby("doc_id").indices for frame in (parts, units, alignments)
    )
    ordered = sources.sort_values("doc_id")
    for doc_id, passages in zip(ordered["doc_id"], ordered["passages"], strict=True):
        texts: dict[str, dict[str, str | None]] = {}
        for row in parts.iloc[of_parts.get(doc_id, [])].itertuples():
            text = str(row.text) if row.status == "ok" else None
            texts.setdefault(str(row.author), {})[str(row.part)] = text
        here = units.iloc[of_units.get(doc_id, [])]
        claims, statements = (_by_author(here[here["kind"] == k]) for k in ("claim", "statement"))
        found = alignments.iloc[of_alignments.get(doc_id, [])]
        place = (found[name].tolist() for name in ("author", "part", "position"))
        aligned = dict(zip(zip(*place, strict=True), found["passages"], strict=True))
        yield str(doc_id), Document(passages, texts, claims, statements, aligned)


def _by_author(units: pd.DataFrame) -> dict[str, list[Unit]]:
    found: dict[str, list[Unit]] = {}
    ordered = units.sort_values(["author", "part", "position"]).fillna({"text": ""})
    columns = ["author", "part", "position", "text", "citations", "status"]
    for author, *unit in zip(*(ordered[column].tolist() for column in columns), strict=True):
        found.setdefault(author, []).append(Unit(*unit))
    return found


class _Rows:
    """Rows of `pairs`; every distinct premise is held once."""

    def __init__(self) -> None:
        self._rows: list[tuple[object, ...]] = []
        self._chunks: list[pd.DataFrame] = []
        self._codes = array("i")
        self._premises: dict[str, int] = {}

    def add(self, doc_id: str, question: Question) -> None:
        instrument, measure, author, unit, citation, (premise, settled) = question
        identity = pair_id(instrument, premise, unit.text)
        place = (doc_id, author, unit.part, unit.position, citation)
        self._rows.append((identity, instrument, measure, *place, unit.text, settled))
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
    first = ", ".join(f"{k}={v!r}" for k, v in rows.loc[~matched, key].iloc[0].items())
    return [
        f"{name}: {int((~matched).sum())} row(s) have no row in {other_name}, the first is {first};"
        " run the stages before this one again"
    ]
