"""Statements of many documents, each aligned with the passages of its own source."""

import pandas as pd

from metassay.core.kinds import Chosen
from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.checks import check_sources

_PLACE = ["doc_id", "author", "part", "position"]


def align_units(
    sources: pd.DataFrame, units: pd.DataFrame, name: str, alignment: Chosen
) -> pd.DataFrame:
    """Align every statement; returns table `alignments` with `name` as its method.

    Every statement has a row; its lists are empty where no passage is like it. Claims are not
    aligned. Raises BadInput if a statement's document has no source.
    """
    statements = units[units["kind"] == "statement"].sort_values(_PLACE)
    check_sources("units", statements["doc_id"], sources)
    passages = dict(zip(sources["doc_id"], sources["passages"], strict=True))
    options = alignment.options
    found = []
    for doc_id, group in statements.groupby("doc_id", sort=True):
        # One call per document: its passages are read once for all authors.
        found += alignment.record.align(passages[str(doc_id)], group["text"].tolist(), options)
    rows = statements[_PLACE].reset_index(drop=True)
    rows["method"] = name
    rows["passages"] = pd.Series([[i for i, _ in best] for best in found], dtype=object)
    rows["values"] = pd.Series([[value for _, value in best] for best in found], dtype=object)
    return rows[list(ALIGNMENTS.columns)]
