"""Raw files of a test of judges to checked tables."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.datasets.readers import item_reader_of, reader_of
from metassay.errors import BadInput
from metassay.judge_tests.checks import check
from metassay.judge_tests.items import (
    CRITERION,
    ENTAILED,
    NOT_ENTAILED,
    ItemRow,
    Items,
    LabelRow,
    VerdictRow,
)
from metassay.judge_tests.types import Test
from metassay.pairing.pairs import pair_id
from metassay.parquet import Table, empty
from metassay.tables.judge_tests import GIVEN_VERDICTS, GOLD
from metassay.tables.names import ALL_CITATIONS, FULL, ITEM, VERDICT
from metassay.tables.pairs import PAIRS
from metassay.tables.ratings import RATINGS

INSTRUMENTS = {2: "entailment", 3: "three_way"}  # by how many labels judges choose from
CLAIM = "claim:0"  # ratings.unit: an item is one claim


class IngestedItems(NamedTuple):
    """What a test's data hold, as the tables of those names, and what to know about it."""

    pairs: pd.DataFrame
    gold: pd.DataFrame
    ratings: pd.DataFrame
    verdicts: pd.DataFrame
    warnings: tuple[str, ...]


def ingest_items(
    test: Test, reader: str, raw: Path, *, dataset: str, judges: Collection[str] = ()
) -> IngestedItems:
    """Read raw files, make the test's items of them, and check what they hold.

    Every premise of an item is a question of its own. `dataset` is whose texts the questions
    repeat; `judges` are the names that given verdicts and raters may not have. Raises BadInput with
    every problem in one go, each naming file, row and remedy.
    """
    read = item_reader_of(reader)(raw) if test.kind.reads == "items" else reader_of(reader)(raw)
    items: Items = test.kind.make(read, test.options)
    ways = test.kind.ways(test.options)
    check(items, ways, judges)
    if items.problems:
        raise BadInput(items.problems.lines())
    instrument = INSTRUMENTS[ways]
    said = _by_item(items.labels)
    return IngestedItems(
        _frame(PAIRS, [row for one in items.items for row in _pairs(one, instrument, dataset)]),
        _frame(GOLD, [_gold(one, said.get(one.item, [])) for one in items.items]),
        _frame(RATINGS, [_rating(row, dataset) for row in items.labels]),
        _frame(GIVEN_VERDICTS, [_verdict(row, f"given|reader:{reader}") for row in items.verdicts]),
        (*items.warnings.lines(), *_without_gold(items, said)),
    )


def _by_item(labels: Sequence[LabelRow]) -> dict[str, list[bool]]:
    found: dict[str, list[bool]] = {}
    for row in labels:
        if row.entailed is not None:
            found.setdefault(row.item, []).append(row.entailed)
    return found


def majority(said: Sequence[bool]) -> bool | None:
    """What more than half of the people say; None where half do, or nobody says anything."""
    if 2 * sum(said) == len(said):
        return None
    return 2 * sum(said) > len(said)


def _pairs(one: ItemRow, instrument: str, dataset: str) -> list[dict[str, Any]]:
    return [
        {
            "pair_id": pair_id(instrument, premise, one.hypothesis),
            "instrument": instrument,
            "measure": VERDICT,
            "doc_id": one.item,
            "author": ITEM,
            "part": FULL,
            "position": position,
            "citation": ALL_CITATIONS,
            "premise": premise,
            "hypothesis": one.hypothesis,
            "context": None,
            "settled": None,
            "repeats": dataset,
        }
        for position, premise in enumerate(one.premises)
    ]


def _gold(one: ItemRow, said: Sequence[bool]) -> dict[str, Any]:
    label: str | None = one.label
    if label is None and (most := majority(said)) is not None:
        label = ENTAILED if most else NOT_ENTAILED
    why = None if label is not None else "split" if said else "no_label"
    return {
        "item": one.item,
        "subset": one.subset,
        "kind": one.kind,
        "cluster": one.cluster or one.item,
        "label": label,
        "unlabelled": why,
    }


def _rating(row: LabelRow, dataset: str) -> dict[str, Any]:
    return {
        "study": dataset,
        "doc_id": row.item,
        "author": ITEM,
        "part": FULL,
        "unit": CLAIM,
        "rater": row.rater,
        "criterion": CRITERION,
        "value": None if row.entailed is None else float(row.entailed),
    }


def _verdict(row: VerdictRow, recipe: str) -> dict[str, Any]:
    return {
        "item": row.item,
        "judge": row.judge,
        "status": row.status,
        "label": row.label,
        "probability": row.probability,
        "recipe": recipe,
    }


def _without_gold(items: Items, said: Mapping[str, Sequence[bool]]) -> list[str]:
    """Items that no number can rest on, counted."""
    labels = [_gold(one, said.get(one.item, []))["unlabelled"] for one in items.items]
    split, none = labels.count("split"), labels.count("no_label")
    made = []
    if none:
        made.append(f"{none:,} of {len(labels):,} items have no gold label: no card counts them")
    if split:
        made.append(
            f"{split:,} of {len(labels):,} items have no gold label, because half of the people who"
            " labelled them say entailed: no card counts them"
        )
    return made


def _frame(table: Table, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    if not rows:
        return empty(table)
    return pd.DataFrame({name: [row[name] for row in rows] for name in table.columns})
