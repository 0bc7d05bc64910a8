"""Statements of many documents, each aligned with the passages of its own source."""

from collections.abc import Sequence

import pandas as pd

from metassay.core.kinds import Chosen
from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.checks import check_sources
from metassay.units.record import Statements

_PLACE = ["doc_id", "author", "part", "position"]


def align_units(
    sources: pd.DataFrame, units: pd.DataFrame, name: str, alignment: Chosen
) -> pd.DataFrame:
    """Align every statement; returns table `alignments` with `name` as its method.

    Every statement has a row; its lists are empty where no passage is like it. Claims are not
    aligned. Of passages that are the same but for upper and lower case only the first takes part
    (Adams et al. 2023 remove duplicates too). Raises BadInput if a statement's document has no
    source, and what the alignment raises.
    """
    statements = units[units["kind"] == "statement"].sort_values(_PLACE)
    check_sources("units", statements["doc_id"], sources)
    passages = dict(zip(sources["doc_id"], sources["passages"], strict=True))
    groups = dict(zip(sources["doc_id"], sources["group"], strict=True))
    documents, places = [], []
    for doc_id, its in statements.groupby("doc_id", sort=True):
        # One entry per document: its passages are read once for all authors.
        kept = _first_of_each(passages[str(doc_id)])
        its_passages, its_groups = passages[str(doc_id)], groups[str(doc_id)]
        documents.append(
            Statements(
                [its_passages[i] for i in kept], [its_groups[i] for i in kept], its["text"].tolist()
            )
        )
        places.append(kept)
    found = [
        [(kept[i], value) for i, value in best]
        for kept, aligned in zip(
            places, alignment.record.align(documents, alignment.options), strict=True
        )
        for best in aligned
    ]
    rows = statements[_PLACE].reset_index(drop=True)
    rows["method"] = name
    rows["passages"] = pd.Series([[i for i, _ in best] for best in found], dtype=object)
    rows["values"] = pd.Series([[value for _, value in best] for best in found], dtype=object)
    return rows[list(ALIGNMENTS.columns)]


def _first_of_each(passages: Sequence[str]) -> list[int]:
    first: dict[str, int] = {}
    for index, text in enumerate(passages):
        first.setdefault(text.lower(), index)
    return list(first.values())
