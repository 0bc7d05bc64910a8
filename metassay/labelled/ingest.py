"""Raw files of a test of judges to checked tables."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.core.errors import raise_problems, shown
from metassay.core.naming import folded
from metassay.datasets.readers import ITEM_READERS, READERS, check_type, reader_of
from metassay.labelled import records
from metassay.labelled.types import Test
from metassay.scoring.pairing.pairs import pair_id
from metassay.tables.judge_tests import GIVEN_VERDICTS, GOLD
from metassay.tables.names import (
    ALL_CITATIONS,
    ALL_SUBSETS,
    FULL,
    ITEM,
    MEAN_OF_SUBSETS,
    NO_JUDGE,
    VERDICT,
)
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import Table, empty
from metassay.tables.ratings import RATINGS
from metassay.tabular.rows import Findings, Rows

INSTRUMENTS = {2: "entailment", 3: "three_way"}  # by how many labels judges choose from
EVERY = (*records.THREE, records.NOT_ENTAILED)
RESERVED = (ALL_SUBSETS, MEAN_OF_SUBSETS)
_CLAIM = "claim:0"  # ratings.unit: an item is one claim


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
    index, wanted = (ITEM_READERS, records.Items) if test.kind.reads == "items" else (READERS, Rows)
    read = check_type(reader_of(reader, index)(raw), wanted, reader)
    items = test.kind.make(read, test.options)
    ways = test.kind.ways(test.options)
    check(items, ways, judges)
    raise_problems(items.problems.lines())
    instrument, recipe = INSTRUMENTS[ways], f"given|reader:{reader}"
    said: dict[str, list[bool]] = {}
    for row in items.labels:
        if row.entailed is not None:
            said.setdefault(row.item, []).append(row.entailed)
    pairs = [
        {
            **{"pair_id": pair_id(instrument, premise, one.hypothesis), "instrument": instrument},
            **{"measure": VERDICT, "doc_id": one.item, "author": ITEM, "part": FULL},
            **{"position": position, "citation": ALL_CITATIONS, "premise": premise},
            **{"hypothesis": one.hypothesis, "context": None, "settled": None, "repeats": dataset},
        }
        for one in items.items
        for position, premise in enumerate(one.premises)
    ]
    gold = [_gold(one, said.get(one.item, [])) for one in items.items]
    ratings = [
        {
            **{"study": dataset, "doc_id": row.item, "author": ITEM, "part": FULL, "unit": _CLAIM},
            **{"rater": row.rater, "criterion": records.CRITERION},
            "value": None if row.entailed is None else float(row.entailed),
        }
        for row in items.labels
    ]
    verdicts = [row._asdict() | {"recipe": recipe} for row in items.verdicts]
    return IngestedItems(
        _frame(PAIRS, pairs),
        _frame(GOLD, gold),
        _frame(RATINGS, ratings),
        _frame(GIVEN_VERDICTS, verdicts),
        (*items.warnings.lines(), *_without_gold([row["unlabelled"] for row in gold])),
    )


def majority(said: Sequence[bool]) -> bool | None:
    """What more than half of the people say; None where half do, or nobody says anything."""
    return None if 2 * sum(said) == len(said) else 2 * sum(said) > len(said)


def _gold(one: records.ItemRow, said: Sequence[bool]) -> dict[str, str | None]:
    label: str | None = one.label
    if label is None and (most := majority(said)) is not None:
        label = records.ENTAILED if most else records.NOT_ENTAILED
    why = None if label is not None else "split" if said else "no_label"
    key = {"item": one.item, "subset": one.subset, "kind": one.kind}
    return key | {"cluster": one.cluster or one.item, "label": label, "unlabelled": why}


def _without_gold(reasons: Sequence[str | None]) -> list[str]:
    """Items that no number can rest on, counted."""
    why = {"no_label": "", "split": ", because half of the people who labelled them say entailed"}
    return [
        f"{count:,} of {len(reasons):,} items have no gold label{because}: no card counts them"
        for reason, because in why.items()
        if (count := reasons.count(reason))
    ]


def _frame(table: Table, rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    if not rows:
        return empty(table)
    return pd.DataFrame({name: [row[name] for row in rows] for name in table.columns})


def check(items: records.Items, ways: int, judges: Collection[str]) -> None:
    """Record in `items.problems`: what no table could hold, or no number could rest on.

    A key that is there twice or does not print; an item without a premise, or with a blank text,
    where there is a judge to read them (`judges` may be empty, and examine given verdicts alone); a
    gold label that three-way judges could not give; a verdict or a person's label of an item that
    is not there; a verdict that says nothing, or something else than it may; a name that judge and
    rater share.
    """
    found = items.problems
    if not items.items and not found:
        found.add(records.DATASET, "has no items for this test", "choose other options")
    for one in items.items:
        _check_item(one, ways, found)
        _check_texts(one, bool(judges), found)
    for rows, names in (
        (items.items, ("item",)),
        (items.verdicts, ("item", "judge")),
        (items.labels, ("item", "rater")),
    ):
        _check_unique(rows, names, found)
    known = {one.item for one in items.items}
    alike = {folded(item): item for item in known}
    about: list[records.VerdictRow | records.LabelRow] = [*items.verdicts, *items.labels]
    for row in about if known else ():
        if row.item not in known:
            fix, like = "correct the item's key, or add the item", alike.get(folded(row.item))
            meant = f", which looks like {shown(like)}" if like is not None else ""
            found.add(row.at, "the item is not there", fix, f"item {shown(row.item)}{meant}")
    for verdict in items.verdicts:
        _check_verdict(verdict, found)
    _check_names(items, judges)


def _check_item(one: records.ItemRow, ways: int, found: Findings) -> None:
    where = f"item {shown(one.item)}"
    for name in ("item", "subset", "kind", *(["cluster"] if one.cluster else [])):
        if not records.is_clean(getattr(one, name)):
            what = f"{name!r} is empty, has blanks at an end, or characters that do not print"
            found.add(one.at, what, "clean it", where)
    if one.subset in RESERVED or one.subset.startswith(records.items_of("")):
        found.add(one.at, "the subset's name is taken", "choose another", shown(one.subset))
    if one.kind == records.ALL_KINDS:
        found.add(one.at, "the kind's name is taken", "choose another", shown(one.kind))
    if one.label is not None and one.label not in (records.THREE if ways == 3 else EVERY):
        what = f"the gold label {one.label!r} does not fit judges that give one of three"
        found.add(one.at, what, "set options > ways to 2", where)


def _check_texts(one: records.ItemRow, judged: bool, found: Findings) -> None:
    where = f"item {shown(one.item)}"
    if not all(premise.strip() for premise in one.premises):
        found.add(one.at, "a premise is blank", "fill it in, or remove it", where)
    fix = "add it, or write judges: [] to examine given verdicts alone"
    if judged and not one.premises:
        found.add(one.at, "has no premise for judges to read", fix, where)
    if judged and not one.hypothesis.strip():
        found.add(one.at, "has no hypothesis for judges to read", fix, where)


def _check_verdict(row: records.VerdictRow, found: Findings) -> None:
    where = f"item {shown(row.item)}, judge {shown(row.judge)}"
    p = row.probability
    if p is not None and not (math.isfinite(p) and 0 <= p <= 1):
        found.add(row.at, "the probability is not within 0 to 1", "correct it", where)
    if row.label is not None and row.label not in EVERY:
        found.add(row.at, "the label is not known", f"write one of {', '.join(EVERY)}", where)
    if row.status == "ok" and row.label is None and p is None:
        fix = "add one, or say in its status why there is none"
        found.add(row.at, "a verdict has neither label nor probability", fix, where)
    if row.status != "ok" and row.label is not None:
        found.add(row.at, "a verdict that failed has a label", "remove one of the two", where)


def _check_unique(
    rows: Iterable[records.ItemRow | records.VerdictRow | records.LabelRow],
    names: Sequence[str],
    found: Findings,
) -> None:
    seen = set()
    for row in rows:
        key = tuple(getattr(row, name) for name in names)
        if key in seen:
            said = ", ".join(f"{n} {shown(v)}" for n, v in zip(names, key, strict=True))
            what = f"the same {' and '.join(names)} is there twice"
            found.add(row.at, what, "give each its own", said)
        seen.add(key)


def _check_names(items: records.Items, judges: Collection[str]) -> None:
    """Cards go by name: a judge of params.yaml, a given one and a rater have three."""
    owners = {name: "a judge in params.yaml" for name in (*judges, NO_JUDGE)}
    for whose, places in (
        ("a judge whose verdicts are given", {r.judge: r.at for r in reversed(items.verdicts)}),
        ("a rater", {row.rater: row.at for row in reversed(items.labels)}),
    ):
        for name, first in sorted(places.items()):
            if not records.is_clean(name):
                what = f"the name of {whose} is empty, has blanks at an end or does not print"
                items.problems.add(first, what, "clean it", shown(name))
            elif name in owners:
                what = f"the name of {whose} is that of {owners[name]}"
                items.problems.add(first, what, "choose another", shown(name))
            owners.setdefault(name, whose)
