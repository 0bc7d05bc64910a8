"""Statements of many documents, each aligned with the passages of its own source."""

import pandas as pd

from metassay.alignment import ALIGNMENTS
from metassay.errors import BadInput
from metassay.params import Options
from metassay.tables import ALIGNMENTS as TABLE

_PLACE = ["doc_id", "author", "part", "position"]


def align_units(
    sources: pd.DataFrame, units: pd.DataFrame, name: str, options: Options
) -> pd.DataFrame:
    """Align every statement; returns table `alignments` with `name` as its method.

    The class of `options` says which kind of alignment it is. Every statement has a row; its lists
    are empty where no passage is like it. Claims are not aligned. Raises BadInput if a statement's
    document has no source.
    """
    align = {kind.options: kind.align for kind in ALIGNMENTS.values()}[type(options)]
    passages = dict(zip(sources["doc_id"], sources["passages"], strict=True))
    statements = units[units["kind"] == "statement"].sort_values(_PLACE)
    unknown = [doc for doc in statements["doc_id"].unique() if doc not in passages]
    if unknown:
        raise BadInput(f"units: doc_id {doc!r} is not in sources; add it there" for doc in unknown)
    found = []
    for doc_id, group in statements.groupby("doc_id", sort=True):
        # One call per document: its passages are read once for all authors.
        found += align(passages[str(doc_id)], group["text"].tolist(), options)
    rows = statements[_PLACE].reset_index(drop=True)
    rows["method"] = name
    rows["passages"] = pd.Series([[i for i, _ in best] for best in found], dtype=object)
    rows["values"] = pd.Series([[value for _, value in best] for best in found], dtype=object)
    return rows[list(TABLE.columns)]
