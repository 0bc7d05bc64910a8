"""Align statements of many documents with the passages of their sources."""

import pandas as pd

from metassay.core.kinds import Chosen
from metassay.executor.record import LOCAL, Executor
from metassay.llm.needs import executor_for, files_of
from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.checks import check_sources, rows_of
from metassay.units.record import Statements, concat_aligned

_PLACE = ["doc_id", "author", "part", "position"]


def align_units(
    sources: pd.DataFrame,
    units: pd.DataFrame,
    name: str,
    alignment: Chosen,
    executor: Executor = LOCAL,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Align every statement; return table `alignments` with `name` as its method, and notes.

    Every statement has a row; its lists are empty if no passage is aligned. Claims are
    not aligned. Of passages that differ only in case, the first takes part (Adams et
    al. 2023 remove duplicates, too). Raises BadInput if a statement's document has no
    source, and what the alignment raises.
    """
    statements = units[units["kind"] == "statement"].sort_values(_PLACE)
    check_sources("units", statements["doc_id"], sources)
    of_source = {
        row[0]: row[1:] for row in rows_of(sources, "doc_id", "passages", "group")
    }
    documents = []
    places = []
    for doc_id, of_document in statements.groupby("doc_id", sort=True):
        # By document: its passages are read once for all authors.
        passages, groups = of_source[doc_id]
        lower = pd.Series([text.lower() for text in passages], dtype=object)
        distinct = lower.drop_duplicates().index.tolist()
        unique = [passages[i] for i in distinct], [groups[i] for i in distinct]
        documents.append(Statements(*unique, of_document["text"].tolist()))
        places.append(distinct)
    aligned = concat_aligned(
        executor_for(alignment, executor).map(
            alignment.record.align,
            documents,
            alignment.options,
            files=files_of(alignment),
        )
    )
    chosen: list[list[int]] = []  # passages of each statement
    values: list[list[float]] = []
    for distinct, by_statement in zip(places, aligned.documents, strict=True):
        for passages in by_statement:
            chosen.append([distinct[place] for place, _ in passages])
            values.append([value for _, value in passages])
    rows = statements[_PLACE].reset_index(drop=True)
    rows["method"] = name
    rows["passages"] = pd.Series(chosen, dtype=object)
    rows["values"] = pd.Series(values, dtype=object)
    return rows[list(ALIGNMENTS.columns)], aligned.notes
