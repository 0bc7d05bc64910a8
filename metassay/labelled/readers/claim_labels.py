"""Labelled claims of a user: a folder with claims.csv, labels.csv and perhaps verdicts.csv.

docs/benchmarks.md describes the three files with a worked example.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeVar

from metassay.core.errors import shown
from metassay.core.options import Options
from metassay.datasets.own_data import Clean, Key, validate_all
from metassay.labelled.records import ENTAILED, ItemRow, Items, LabelRow, VerdictRow
from metassay.tables.names import FULL
from metassay.tabular.decoding import csv_records, finite_number, warn_unread
from metassay.tabular.rows import Findings, Place

CLAIMS_FILE = "claims.csv"
LABELS_FILE = "labels.csv"
VERDICTS_FILE = "verdicts.csv"
SUBSET = "claims"  # of claims that name none

_SEE = "docs/benchmarks.md shows how it is written"
Line = TypeVar("Line", bound=Options)
_Label = Literal["entailed", "not_entailed", ""]


class Claim(Options):
    """A line of claims.csv; the two texts may be empty if no judge reads them."""

    item: Key
    premise: Clean = ""
    hypothesis: Clean = ""
    cluster: Clean = ""
    subset: Key = SUBSET
    kind: Key = FULL


class Label(Options):
    """A line of labels.csv; an empty label is an abstention. Comments are not read."""

    item: Key
    rater: Key
    label: _Label
    comment: Clean = ""


class Verdict(Options):
    """A line of verdicts.csv: a label, a probability of being entailed, or both."""

    item: Key
    judge: Key
    label: _Label = ""
    probability: Clean = ""
    status: Literal["ok", "unparsed", "refused", "truncated", "error", "abstained"] = "ok"


def read(folder: Path) -> Items:
    """Read the folder; each error becomes a problem with file, line and remedy."""
    items = Items()
    if not folder.is_dir():
        items.problems.add(Place(str(folder)), "is not a folder", f"create it; {_SEE}")
        return items
    items.items = [
        ItemRow(
            *(at, claim.item, [claim.premise] if claim.premise.strip() else [], claim.hypothesis),
            *(None, claim.subset, claim.kind, claim.cluster),
        )
        for at, claim in _lines(folder / CLAIMS_FILE, Claim, items.problems)
    ]
    items.labels = [
        LabelRow(at, row.item, row.rater, row.label == ENTAILED if row.label else None)
        for at, row in _lines(folder / LABELS_FILE, Label, items.problems)
    ]
    if os.path.lexists(folder / VERDICTS_FILE):
        for at, row in _lines(folder / VERDICTS_FILE, Verdict, items.problems):
            probability = _probability(row.probability, at, items.problems)
            verdict = (row.item, row.judge, row.label or None, probability, row.status)
            items.verdicts.append(VerdictRow(at, *verdict))
    warn_unread(folder, {CLAIMS_FILE, LABELS_FILE, VERDICTS_FILE}, items.warnings)
    _name_without_kind(items)
    _warn_of_absent_verdicts(items)
    return items


def _lines(path: Path, model: type[Line], problems: Findings) -> Iterator[tuple[Place, Line]]:
    """Return the lines that fit `model`; an empty field counts as a missing column."""
    columns = model.model_fields.items()
    required = tuple(name for name, column in columns if column.is_required())
    optional = tuple(name for name, column in columns if not column.is_required())
    records = csv_records(path, problems, required=required, optional=optional, remedy=_SEE)
    filled = (
        (at, {name: value for name, value in fields.items() if value or name in required})
        for at, fields in records
    )
    return validate_all(filled, model, problems)


def _probability(text: str, at: Place, problems: Findings) -> float | None:
    if not text.strip():
        return None
    number = finite_number(text.strip())
    if number is None:
        problems.add(at, "'probability' is not a finite number", "write a number from 0 to 1")
    return number


def _name_without_kind(items: Items) -> None:
    """Check that all claims have a kind, or none: a table of all kinds has all claims."""
    without_kind = [row for row in items.items if row.kind == FULL]
    if len(without_kind) < len(items.items):
        fix = "give each claim a kind, such as 'other', or none"
        for row in without_kind:
            what = "has no kind, and other claims have one"
            items.problems.add(row.at, what, fix, f"item {shown(row.item)}")


def _warn_of_absent_verdicts(items: Items) -> None:
    """Warn of judges without a row for some claims: they may have failed or not been asked."""
    for judge in sorted({row.judge for row in items.verdicts}):
        with_verdict = {row.item for row in items.verdicts if row.judge == judge}
        absent = [row.item for row in items.items if row.item not in with_verdict]
        if absent:
            what = f"{shown(judge)} has no verdict on {len(absent)} of {len(items.items)} claims"
            fix = "if it failed on them, add rows with a status, so that they count"
            first = f"first: item {shown(absent[0])}"
            items.warnings.add(Place(VERDICTS_FILE), what, fix, first)
