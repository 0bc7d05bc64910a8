"""Statements of many documents, each aligned with the passages of its own source."""

from collections.abc import Mapping, Sequence

import pandas as pd

from metassay import oracle
from metassay.checks import check_sources
from metassay.kinds import Chosen
from metassay.tables.alignments import ALIGNMENTS

_PLACE = ["doc_id", "author", "part", "position"]


def align_units(
    sources: pd.DataFrame, units: pd.DataFrame, name: str, alignment: Chosen
) -> pd.DataFrame:
    """Align every statement; returns table `alignments` with `name` as its method.

    Every statement has a row; its lists are empty where no passage is like it. Claims are not
    aligned. Raises BadInput if a statement's document has no source, and Defect if an alignment is
    not that of its oracle.
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
    _compare(alignment, passages, statements, found)
    rows["method"] = name
    rows["passages"] = pd.Series([[i for i, _ in best] for best in found], dtype=object)
    rows["values"] = pd.Series([[value for _, value in best] for best in found], dtype=object)
    return rows[list(ALIGNMENTS.columns)]


def _compare(
    alignment: Chosen,
    passages: Mapping[str, Sequence[str]],
    statements: pd.DataFrame,
    found: Sequence[Sequence[tuple[int, float]]],
) -> None:
    """Hold a sample of statements against the package that defines the values."""
    if alignment.record.oracle is None:
        return
    keys = [tuple(map(str, key)) for key in statements[_PLACE].itertuples(index=False)]
    texts = statements["text"].tolist()
    length = {doc_id: sum(map(len, lines)) for doc_id, lines in passages.items()}
    work = [len(text) * length[key[0]] for key, text in zip(keys, texts, strict=True)]
    chosen = oracle.sample(keys, work)
    differing = []
    for index in chosen:
        own = passages[keys[index][0]]
        (there,) = alignment.record.oracle(own, [texts[index]], alignment.options)
        if not _same(found[index], there):
            differing.append(f"{' > '.join(keys[index])} is {found[index]}, there {there}")
    oracle.refuse(alignment.kind, differing, len(chosen))


def _same(here: Sequence[tuple[int, float]], there: Sequence[tuple[int, float]]) -> bool:
    return [index for index, _ in here] == [index for index, _ in there] and all(
        oracle.same(one, other) for (_, one), (_, other) in zip(here, there, strict=True)
    )
