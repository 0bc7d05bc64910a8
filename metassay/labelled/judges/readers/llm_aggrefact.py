"""LLM-AggreFact (Tang et al. 2024): documents and claims of several test sets, supported or not.

JSON Lines, CSV or Parquet with `dataset`, `doc`, `claim` and `label` (1: the document supports the
claim, 0: it does not). Each value of `dataset` is a subset.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from metassay.core.errors import BadInput
from metassay.datasets.own_data import Filled, Key, checked
from metassay.labelled.judges.items import ENTAILED, NOT_ENTAILED, ItemRow, Items, Label
from metassay.labelled.judges.readers.json_items import SEE, Line, cluster_of
from metassay.tables.parquet_file import load
from metassay.tabular.decoding import UNREAD, csv_records, json_lines
from metassay.tabular.rows import Place

_NEEDED = ("dataset", "doc", "claim", "label")
_FORMATS = (".jsonl", ".csv", ".parquet")


def _number(value: object) -> object:
    return int(value) if value in ("0", "1") else value  # a CSV file has text alone


class _Claim(Line):
    dataset: Key
    doc: Filled
    claim: Filled
    label: Annotated[Literal[0, 1], BeforeValidator(_number)]


def read(folder: Path) -> Items:
    """Read every file of these formats; an item's key is its file's name and its row's number.

    Claims of one document are alike.
    """
    items = Items()
    paths = sorted(path for path in folder.glob("*") if path.suffix in _FORMATS)
    if not paths:
        what = f"holds no {', '.join(_FORMATS)} file"
        items.problems.add(Place(str(folder)), what, f"put it there; {SEE}")
    for path in paths:
        for at, value in _rows(path, items):
            one = None if value is UNREAD else checked(_Claim, value, at, items.problems)
            if one is not None:
                label: Label = ENTAILED if one.label else NOT_ENTAILED
                key, cluster = f"{path.stem}:{at.row}", cluster_of(one.doc)
                items.items.append(
                    ItemRow(at, key, [one.doc], one.claim, label, one.dataset, cluster=cluster)
                )
    return items


def _rows(path: Path, items: Items) -> Iterator[tuple[Place, Any]]:
    problems = items.problems
    if path.suffix == ".jsonl":
        yield from json_lines(path, problems, remedy=SEE)
    elif path.suffix == ".csv":
        for record in csv_records(path, problems, required=_NEEDED, remedy=SEE):
            yield record.at, record.fields
    else:
        yield from _of_parquet(path, items)


def _of_parquet(path: Path, items: Items) -> Iterator[tuple[Place, Any]]:
    try:
        rows = load(path)
    except BadInput:
        items.problems.add(Place(path.name), "is damaged or no Parquet file", "fetch it again")
        return
    missing = [name for name in _NEEDED if name not in rows.column_names]
    for name in missing:
        items.problems.add(Place(path.name), f"column {name!r} is missing", SEE)
    if not missing:
        for number, row in enumerate(rows.select(list(_NEEDED)).to_pylist(), start=1):
            yield Place(path.name, number, "row"), row
