"""Turn raw files of a test of judges into checked tables."""

import math
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.core.errors import raise_problems, shown
from metassay.core.naming import normalise
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
from metassay.tables.parquet import frame_of
from metassay.tables.ratings import RATINGS
from metassay.tabular.rows import Findings, Rows

INSTRUMENTS = {2: "entailment", 3: "three_way"}  # by how many labels judges choose from
EVERY = (*records.THREE, records.NOT_ENTAILED)
RESERVED = (ALL_SUBSETS, MEAN_OF_SUBSETS)
_CLAIM = "claim:0"  # ratings.unit: an item is one claim


class IngestedItems(NamedTuple):
    """A test's tables, by their names, and warnings."""

    pairs: pd.DataFrame
    gold: pd.DataFrame
    ratings: pd.DataFrame
    verdicts: pd.DataFrame
    warnings: tuple[str, ...]


def count_labels(test: Test) -> int:
    """Return from how many labels judges choose in a test."""
    return getattr(test.options, "ways", 2)


def asked_instrument(test: Test) -> str:
    """Return the name of the instrument by which a test asks judges."""
    return INSTRUMENTS[count_labels(test)]


def ingest_items(
    test: Test, reader: str, raw: Path, *, dataset: str, judges: Collection[str] = ()
) -> IngestedItems:
    """Read raw files, make the test's items of them, and check these.

    Every premise of an item is a separate question. The questions repeat texts of
    `dataset`; judges and raters of the data must not have names in `judges`. Raises
    BadInput with all problems, each with file, row and remedy.
    """
    index, result = (
        (ITEM_READERS, records.Items) if test.kind.reads == "items" else (READERS, Rows)
    )
    read = check_type(reader_of(reader, index)(raw), result, reader)
    items = test.kind.make(read, test.options)
    check(items, count_labels(test), judges)
    raise_problems(items.problems.lines())
    instrument, recipe = asked_instrument(test), f"given|reader:{reader}"
    votes: dict[str, list[bool]] = {}
    for row in items.labels:
        if row.entailed is not None:
            votes.setdefault(row.item, []).append(row.entailed)
    pairs = [
        {
            "pair_id": pair_id(instrument, premise, item.hypothesis),
            "instrument": instrument,
            "measure": VERDICT,
            "doc_id": item.item,
            "author": ITEM,
            "part": FULL,
            "position": position,
            "citation": ALL_CITATIONS,
            "premise": premise,
            "hypothesis": item.hypothesis,
            "context": None,
            "settled": None,
            "repeats": dataset,
        }
        for item in items.items
        for position, premise in enumerate(item.premises)
    ]
    gold = [_gold(item, votes.get(item.item, [])) for item in items.items]
    ratings = [
        {
            "study": dataset,
            "doc_id": row.item,
            "author": ITEM,
            "part": FULL,
            "unit": _CLAIM,
            "rater": row.rater,
            "criterion": records.CRITERION,
            "value": None if row.entailed is None else float(row.entailed),
        }
        for row in items.labels
    ]
    verdicts = [row._asdict() | {"recipe": recipe} for row in items.verdicts]
    return IngestedItems(
        frame_of(PAIRS, pairs),
        frame_of(GOLD, gold),
        frame_of(RATINGS, ratings),
        frame_of(GIVEN_VERDICTS, verdicts),
        (
            *items.warnings.lines(),
            *_count_unlabelled([row["unlabelled"] for row in gold]),
        ),
    )


def majority(votes: Sequence[bool]) -> bool | None:
    """Return the vote of more than half of the people; None for a tie or no votes."""
    return None if 2 * sum(votes) == len(votes) else 2 * sum(votes) > len(votes)


def _gold(item: records.ItemRow, votes: Sequence[bool]) -> dict[str, str | None]:
    label: str | None = item.label
    if label is None and (most := majority(votes)) is not None:
        label = records.ENTAILED if most else records.NOT_ENTAILED
    why = None
    if label is None:
        why = "split" if votes else "no_label"
    key = {"item": item.item, "subset": item.subset, "kind": item.kind}
    return key | {
        "cluster": item.cluster or item.item,
        "label": label,
        "unlabelled": why,
    }


def _count_unlabelled(reasons: Sequence[str | None]) -> list[str]:
    """Count the items without a gold label."""
    why = {
        "no_label": "",
        "split": ", because half of the people who labelled them say entailed",
    }
    return [
        f"{count:,} of {len(reasons):,} items have no gold label{because}: no card counts them"
        for reason, because in why.items()
        if (count := reasons.count(reason))
    ]


def check(items: records.Items, n_labels: int, judges: Collection[str]) -> None:
    """Add to `items.problems` whatever no table could hold, or no statistic could use.

    These are repeated or unprintable keys; items without a premise, or with a blank
    text, if `judges` must read them (without judges only the verdicts in the data are
    examined); gold labels that three-way judges cannot give; verdicts or people's
    labels of unknown items; empty or invalid verdicts; names that judges and raters
    share.
    """
    problems = items.problems
    if not items.items and not problems:
        problems.add(
            records.DATASET, "has no items for this test", "choose other options"
        )
    for item in items.items:
        _check_item(item, n_labels, bool(judges), problems)
    for rows, names in (
        (items.items, ("item",)),
        (items.verdicts, ("item", "judge")),
        (items.labels, ("item", "rater")),
    ):
        _check_unique(rows, names, problems)
    keys = {item.item for item in items.items}
    by_folded = {normalise(item): item for item in keys}
    about: list[records.VerdictRow | records.LabelRow] = [
        *items.verdicts,
        *items.labels,
    ]
    for row in about if keys else ():
        if row.item not in keys:
            fix = "correct the item's key, or add the item"
            similar = by_folded.get(normalise(row.item))
            hint = f", which looks like {shown(similar)}" if similar is not None else ""
            problems.add(
                row.at, "there is no such item", fix, f"item {shown(row.item)}{hint}"
            )
    for verdict in items.verdicts:
        _check_verdict(verdict, problems)
    _check_names(items, judges)


def _check_item(
    item: records.ItemRow, n_labels: int, judged: bool, problems: Findings
) -> None:
    where = f"item {shown(item.item)}"
    names = ["item", "subset", "kind"]
    if item.cluster:
        names.append("cluster")
    for name in names:
        if not records.is_clean(getattr(item, name)):
            what = f"{name!r} is empty, has blanks at an end, or characters that do not print"
            problems.add(item.at, what, "clean it", where)
    if item.subset in RESERVED or item.subset.startswith(records.items_of("")):
        problems.add(
            item.at, "the subset's name is taken", "choose another", shown(item.subset)
        )
    if item.kind == records.ALL_KINDS:
        problems.add(
            item.at, "the kind's name is taken", "choose another", shown(item.kind)
        )
    if item.label is not None and item.label not in (
        records.THREE if n_labels == 3 else EVERY
    ):
        what = (
            f"the gold label {item.label!r} does not fit judges that give one of three"
        )
        problems.add(item.at, what, "set options > ways to 2", where)
    if not all(premise.strip() for premise in item.premises):
        problems.add(item.at, "a premise is blank", "fill it in, or remove it", where)
    fix = "add it, or write judges: [] to examine given verdicts alone"
    if judged and not item.premises:
        problems.add(item.at, "has no premise for judges to read", fix, where)
    if judged and not item.hypothesis.strip():
        problems.add(item.at, "has no hypothesis for judges to read", fix, where)


def _check_verdict(row: records.VerdictRow, problems: Findings) -> None:
    where = f"item {shown(row.item)}, judge {shown(row.judge)}"
    p = row.probability
    if p is not None and not (math.isfinite(p) and 0 <= p <= 1):
        problems.add(
            row.at, "the probability is not within 0 to 1", "correct it", where
        )
    if row.label is not None and row.label not in EVERY:
        problems.add(
            row.at, "the label is not known", f"write one of {', '.join(EVERY)}", where
        )
    if row.status == "ok" and row.label is None and p is None:
        fix = "add one, or say in its status why there is none"
        problems.add(row.at, "a verdict has neither label nor probability", fix, where)
    if row.status != "ok" and row.label is not None:
        problems.add(
            row.at, "a verdict that failed has a label", "remove one of the two", where
        )


def _check_unique(
    rows: Iterable[records.ItemRow | records.VerdictRow | records.LabelRow],
    names: Sequence[str],
    problems: Findings,
) -> None:
    keys = set()
    for row in rows:
        key = tuple(getattr(row, name) for name in names)
        if key in keys:
            where = ", ".join(
                f"{n} {shown(v)}" for n, v in zip(names, key, strict=True)
            )
            what = f"the same {' and '.join(names)} occurs twice"
            problems.add(row.at, what, "give each its own", where)
        keys.add(key)


def _check_names(items: records.Items, judges: Collection[str]) -> None:
    """Check that judges of params.yaml, judges of the data, and raters have different names."""
    owners = {name: "a judge in params.yaml" for name in (*judges, NO_JUDGE)}
    for owner, places in (
        (
            "a judge with verdicts in the data",
            {r.judge: r.at for r in reversed(items.verdicts)},
        ),
        ("a rater", {row.rater: row.at for row in reversed(items.labels)}),
    ):
        for name, at in sorted(places.items()):
            if not records.is_clean(name):
                what = f"the name of {owner} is empty, has blanks at an end or does not print"
                items.problems.add(at, what, "clean it", shown(name))
            elif name in owners:
                what = f"the name of {owner} is that of {owners[name]}"
                items.problems.add(at, what, "choose another", shown(name))
            owners.setdefault(name, owner)
