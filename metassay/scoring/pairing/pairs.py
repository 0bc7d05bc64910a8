"""The questions of a benchmark's texts: units paired with what they are read against.

A document without reference has no questions that compare with one, and one without source none
that read it: what rests on them is undefined, not 0. A text that failed is asked about all the same
(settled: no_text), and so is a part whose units are unknown, with one question (settled:
no_claims): both count as failed.
"""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from metassay.scoring.pairing.documents import documents
from metassay.scoring.pairing.evidence import NO_CLAIMS, Document, Found, Query, Unit
from metassay.scoring.pairing.measures import Question
from metassay.scoring.pairing.questions import Questions, questions_of
from metassay.scoring.pairing.rows import PairRows, pair_id, repeats_of
from metassay.tables.names import ALL_CITATIONS, FULL, REFERENCE, aligned_suffixes
from metassay.text.citations import strip_citations

__all__ = ["build_pairs", "pair_id"]


def build_pairs(
    sources: pd.DataFrame,
    parts: pd.DataFrame,
    units: pd.DataFrame,
    alignments: Mapping[str, pd.DataFrame],
    options: Questions,
) -> pd.DataFrame:
    """What one block of questions asks; returns table `pairs`, its texts as Categoricals.

    `alignments`: tables of the benchmark's alignments, by name, in its order. Raises BadInput if a
    table lacks a row that another one needs.
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
