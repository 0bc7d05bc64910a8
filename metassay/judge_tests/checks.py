"""The checks common to all tests of judges: keys, texts, and that labels and verdicts fit items."""

import math
from collections.abc import Collection, Iterable

from metassay.alike import finder, spelt
from metassay.datasets.rows import Findings, Place
from metassay.errors import shown
from metassay.judge_tests.beside import ALL_KINDS, items_of
from metassay.judge_tests.items import (
    CONTRADICTED,
    ENTAILED,
    NEUTRAL,
    NOT_ENTAILED,
    ItemRow,
    Items,
    VerdictRow,
)
from metassay.tables.names import ALL_SUBSETS, MEAN_OF_SUBSETS, NO_JUDGE

THREE = (ENTAILED, NEUTRAL, CONTRADICTED)
EVERY = (*THREE, NOT_ENTAILED)
RESERVED = (ALL_SUBSETS, MEAN_OF_SUBSETS)

_KEYS = "give each its own"


def check(items: Items, ways: int, judges: Collection[str]) -> None:
    """Record in `items.problems`: what no table could hold, or no number could rest on.

    A key that is there twice or does not print; an item without a premise, or with a blank text,
    where there is a judge to read them (`judges` may be empty, and examine given verdicts alone); a
    gold label that three-way judges could not give; a verdict or a person's label of an item that
    is not there; a verdict that says nothing, or something else than it may; a name that judge and
    rater share.
    """
    found = items.problems
    if not items.items and not found:
        found.add(Place("the dataset"), "has no items for this test", "choose other options")
    for one in items.items:
        _check_item(one, ways, found)
        _check_texts(one, bool(judges), found)
    known = {one.item for one in items.items}
    _check_unique(((row.at, row.item, ("item",)) for row in items.items), found)
    _check_unique(
        ((row.at, (row.item, row.judge), ("item", "judge")) for row in items.verdicts), found
    )
    _check_unique(
        ((row.at, (row.item, row.rater), ("item", "rater")) for row in items.labels), found
    )
    about = [(row.at, row.item) for row in items.verdicts]
    about += [(row.at, row.item) for row in items.labels]
    alike = finder(known)
    for at, item in about:
        if known and item not in known:
            fix = "correct the item's key, or add the item"
            like = alike(item)
            meant = f", which looks like {spelt(like)}" if like is not None else ""
            found.add(at, "the item is not there", fix, f"item {shown(item)}{meant}")
    for verdict in items.verdicts:
        _check_verdict(verdict, found)
    _check_names(items, judges)


def _check_item(one: ItemRow, ways: int, found: Findings) -> None:
    where = f"item {shown(one.item)}"
    for name in ("item", "subset", "kind", "cluster"):
        value = getattr(one, name)
        needed = name != "cluster"
        if value != value.strip() or not value.isprintable() or (needed and not value):
            what = f"{name!r} is empty, has blanks at an end, or characters that do not print"
            found.add(one.at, what, "clean it", where)
    if one.subset in RESERVED or one.subset.startswith(items_of("")):
        found.add(one.at, "the subset's name is taken", "choose another", shown(one.subset))
    if one.kind == ALL_KINDS:
        found.add(one.at, "the kind's name is taken", "choose another", shown(one.kind))
    if one.label is not None and one.label not in (THREE if ways == 3 else EVERY):
        what = f"the gold label {one.label!r} does not fit judges that give one of three"
        found.add(one.at, what, "set options > ways to 2", where)


def _check_texts(one: ItemRow, judged: bool, found: Findings) -> None:
    where = f"item {shown(one.item)}"
    if not all(premise.strip() for premise in one.premises):
        found.add(one.at, "a premise is blank", "fill it in, or remove it", where)
    if not judged:
        return
    fix = "add it, or write judges: [] to examine given verdicts alone"
    if not one.premises:
        found.add(one.at, "has no premise for judges to read", fix, where)
    if not one.hypothesis.strip():
        found.add(one.at, "has no hypothesis for judges to read", fix, where)


def _check_verdict(row: VerdictRow, found: Findings) -> None:
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


def _check_unique(keys: Iterable[tuple[Place, object, tuple[str, ...]]], found: Findings) -> None:
    seen = set()
    for at, key, names in keys:
        if key in seen:
            parts = key if isinstance(key, tuple) else (key,)
            said = ", ".join(f"{n} {shown(v)}" for n, v in zip(names, parts, strict=True))
            found.add(at, f"the same {' and '.join(names)} is there twice", _KEYS, said)
        seen.add(key)


def _check_names(items: Items, judges: Collection[str]) -> None:
    """Cards go by name: a judge of params.yaml, a given one and a rater have three."""
    owners = {name: "a judge in params.yaml" for name in (*judges, NO_JUDGE)}
    for rows, name_of, whose in (
        (items.verdicts, "judge", "a judge whose verdicts are given"),
        (items.labels, "rater", "a rater"),
    ):
        for name in sorted({getattr(row, name_of) for row in rows}):
            first = next(row.at for row in rows if getattr(row, name_of) == name)
            if not name or name != name.strip() or not name.isprintable():
                what = f"the name of {whose} is empty, has blanks at an end or does not print"
                items.problems.add(first, what, "clean it", shown(name))
            elif name in owners:
                what = f"the name of {whose} is that of {owners[name]}"
                items.problems.add(first, what, "choose another", shown(name))
            owners.setdefault(name, whose)
