"""Tables to documents: everything that questions are made of, document by document.

A statement rests on the passages that it cites, in the order of citing; one that is absent or blank
is a wrong citation, and the others can still be read. A statement without citations rests on
nothing; with `borrow` it has those of the next cited statement of its part.

`compat: doclens` is what DocLens's released code does instead where published numbers depend on it
(eval_citation.py and eval_citation_model.py): words and citations are those of
`text.citations.as_doclens`; one citation of an absent passage makes all of the statement's wrong;
else the first 10 count. A repeated citation counts once, and a blank passage cannot be read.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from metassay.scoring.pairing.evidence import CITING, Document, Unit, text_or_why
from metassay.scoring.pairing.questions import Questions
from metassay.tables.checks import rows_of, without_further_references
from metassay.text.citations import as_doclens

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
        found = _units(its_units, written, doclens=options.compat == "doclens")
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


def _units(
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
