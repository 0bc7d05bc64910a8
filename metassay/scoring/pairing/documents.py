"""Tables to documents: everything that questions are made of, document by document."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput, shown
from metassay.scoring.pairing.citing import CITING, cited
from metassay.scoring.pairing.evidence import Document, Found, Unit, text_or_why
from metassay.scoring.pairing.questions import Questions
from metassay.tables.checks import without_further_references
from metassay.tables.names import FULL
from metassay.text.citations import as_doclens

_DOCUMENTS = 256  # documents held as Python objects at once: bounds the memory

_Texts = dict[str, dict[str, Found]]  # of one document: author -> part -> its text
_Units = dict[tuple[str, str], list[Unit]]  # of one document: author, kind
_Aligned = dict[tuple[str, str, int], Sequence[int]]  # of one document: author, part, position


class _Written(NamedTuple):
    """What is known of one document beside its source."""

    texts: _Texts
    repeats: dict[str, frozenset[str]]
    units: _Units
    aligned: _Aligned


def documents(
    sources: pd.DataFrame,
    parts: pd.DataFrame,
    units: pd.DataFrame,
    alignments: pd.DataFrame,
    options: Questions,
) -> Iterator[tuple[str, Document]]:
    """All documents in order of doc_id, with what the rules of citations make of their statements.

    Raises BadInput if a table lacks a row that another one needs.
    """
    parts = without_further_references(parts)
    _check(sources, parts, units, alignments)
    ordered = sources.sort_values("doc_id")
    tables = (parts, units, alignments)
    places = [table.groupby("doc_id").indices for table in tables]
    nothing = np.empty(0, dtype=np.int64)
    for start in range(0, len(ordered), _DOCUMENTS):
        chunk = ordered.iloc[start : start + _DOCUMENTS]
        doc_ids = chunk["doc_id"].tolist()
        rows = [
            table.iloc[np.concatenate([of_doc.get(doc_id, nothing) for doc_id in doc_ids])]
            for table, of_doc in zip(tables, places, strict=True)
        ]
        written = _written(*rows, doclens=options.compat == "doclens")
        columns = (chunk[name].tolist() for name in ("doc_id", "task", "dataset", "passages"))
        for doc_id, task, dataset, passages in zip(*columns, strict=True):
            found = written[doc_id]
            for key in [key for key in found.units if key[1] == CITING]:
                found.units[key] = cited(
                    found.units[key],
                    passages,
                    borrow=options.borrow,
                    doclens=options.compat == "doclens",
                )
            yield str(doc_id), Document(task, dataset, passages, *found)


def _written(
    parts: pd.DataFrame, units: pd.DataFrame, alignments: pd.DataFrame, *, doclens: bool
) -> dict[str, _Written]:
    """By document; its statements are there twice, for questions about citations and for others."""
    found: dict[str, _Written] = defaultdict(lambda: _Written({}, {}, {}, {}))
    names = ["doc_id", "author", "part", "text", "status", "repeats"]
    for doc_id, author, part, text, status, repeats in _rows(parts, names):
        texts, repeated, *_ = found[doc_id]
        texts.setdefault(author, {})[part] = text_or_why(text if status == "ok" else None)
        repeated[author] = repeated.get(author, frozenset()) | set(repeats)
    ordered = units.sort_values(["part", "position"]).fillna({"text": ""})
    names = ["doc_id", "author", "kind", "part", "position", "text", "citations", "status"]
    for doc_id, author, kind, *unit, start, end in _rows(ordered, [*names, "start", "end"]):
        one, into = Unit(*unit), found[doc_id].units
        into.setdefault((author, kind), []).append(one)
        if kind == "statement":
            said = found[doc_id].texts[author][one.part].premise
            if doclens and said:
                text, citations = as_doclens(said[start:end])
                one = one._replace(text=text, citations=citations)
            into.setdefault((author, CITING), []).append(one)
    names = ["doc_id", "author", "part", "position", "passages"]
    for doc_id, author, part, position, passages in _rows(alignments, names):
        found[doc_id].aligned[author, part, position] = passages
    return found


def _rows(frame: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(frame[name].tolist() for name in names), strict=True)


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
