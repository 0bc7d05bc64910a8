"""Statements of many documents, each aligned with the passages of its own source."""

import pandas as pd

from metassay.core.kinds import Chosen
from metassay.executor.record import LOCAL, Executor
from metassay.llm.needs import executor_for, files_of
from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.checks import check_sources, rows_of
from metassay.units.record import Statements, together

_PLACE = ["doc_id", "author", "part", "position"]


def align_units(
    sources: pd.DataFrame,
    units: pd.DataFrame,
    name: str,
    alignment: Chosen,
    executor: Executor = LOCAL,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Align every statement; returns table `alignments` with `name` as its method, and notes.

    Every statement has a row; its lists are empty where no passage is like it. Claims are not
    aligned. Of passages that are the same but for upper and lower case only the first takes part
    (Adams et al. 2023 remove duplicates too). Raises BadInput if a statement's document has no
    source, and what the alignment raises.
    """
    statements = units[units["kind"] == "statement"].sort_values(_PLACE)
    check_sources("units", statements["doc_id"], sources)
    of_source = {doc: found for doc, *found in rows_of(sources, "doc_id", "passages", "group")}
    documents, places = [], []
    for doc_id, its in statements.groupby("doc_id", sort=True):
        # One entry per document: its passages are read once for all authors.
        passages, groups = of_source[doc_id]
        first: dict[str, int] = {}
        for index, text in enumerate(passages):
            first.setdefault(text.lower(), index)
        kept = list(first.values())
        parts = [passages[i] for i in kept], [groups[i] for i in kept], its["text"].tolist()
        documents.append(Statements(*parts))
        places.append(kept)
    aligned = together(
        executor_for(alignment, executor).map(
            alignment.record.align, documents, alignment.options, files=files_of(alignment)
        )
    )
    found = [
        [(kept[i], value) for i, value in chosen]
        for kept, every in zip(places, aligned.documents, strict=True)
        for chosen in every
    ]
    rows = statements[_PLACE].reset_index(drop=True)
    rows["method"] = name
    rows["passages"] = pd.Series([[i for i, _ in chosen] for chosen in found], dtype=object)
    rows["values"] = pd.Series([[value for _, value in chosen] for chosen in found], dtype=object)
    return rows[list(ALIGNMENTS.columns)], aligned.notes
