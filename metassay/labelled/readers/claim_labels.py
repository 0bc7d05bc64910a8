"""Anybody's own labelled claims: a folder with claims.csv, labels.csv and perhaps verdicts.csv.

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
    """One line of claims.csv; the two texts may be empty where no judge is asked anything."""

    item: Key
    premise: Clean = ""
    hypothesis: Clean = ""
    cluster: Clean = ""
    subset: Key = SUBSET
    kind: Key = FULL


class Label(Options):
    """One line of labels.csv; an empty label is an abstention. Comments are not read."""

    item: Key
    rater: Key
    label: _Label
    comment: Clean = ""


class Verdict(Options):
    """One line of verdicts.csv: a label, a probability of being entailed, or both."""

    item: Key
    judge: Key
    label: _Label = ""
    probability: Clean = ""
    status: Literal["ok", "unparsed", "refused", "truncated", "error", "abstained"] = "ok"


def read(folder: Path) -> Items:
    """Read the folder; every fault becomes a problem with file, line and remedy."""
    found = Items()
    if not folder.is_dir():
        found.problems.add(Place(str(folder)), "is not a folder", f"create it; {_SEE}")
        return found
    found.items = [
        ItemRow(
            *(at, claim.item, [claim.premise] if claim.premise.strip() else [], claim.hypothesis),
            *(None, claim.subset, claim.kind, claim.cluster),
        )
        for at, claim in _lines(folder / CLAIMS_FILE, Claim, found.problems)
    ]
    found.labels = [
        LabelRow(at, said.item, said.rater, said.label == ENTAILED if said.label else None)
        for at, said in _lines(folder / LABELS_FILE, Label, found.problems)
    ]
    if os.path.lexists(folder / VERDICTS_FILE):
        for at, given in _lines(folder / VERDICTS_FILE, Verdict, found.problems):
            probability = _probability(given.probability, at, found.problems)
            label = given.label or None
            row = VerdictRow(at, given.item, given.judge, label, probability, given.status)
            found.verdicts.append(row)
    warn_unread(folder, {CLAIMS_FILE, LABELS_FILE, VERDICTS_FILE}, found.warnings)
    _name_without_kind(found)
    _warn_of_absent_verdicts(found)
    return found


def _lines(path: Path, model: type[Line], problems: Findings) -> Iterator[tuple[Place, Line]]:
    """The records that are a `model`; an empty field is as if its column were not there."""
    columns = model.model_fields.items()
    required = tuple(name for name, column in columns if column.is_required())
    optional = tuple(name for name, column in columns if not column.is_required())
    records = csv_records(path, problems, required=required, optional=optional, remedy=_SEE)
    written = (
        (at, {name: value for name, value in fields.items() if value or name in required})
        for at, fields in records
    )
    return validate_all(written, model, problems)


def _probability(written: str, at: Place, problems: Findings) -> float | None:
    if not written.strip():
        return None
    number = finite_number(written.strip())
    if number is None:
        problems.add(at, "'probability' is not a finite number", "write a number from 0 to 1")
    return number


def _name_without_kind(found: Items) -> None:
    """Where some claims have a kind and others none, what all kinds hold is not all claims."""
    without = [row for row in found.items if row.kind == FULL]
    if len(without) < len(found.items):
        fix = "give each claim a kind, or none; 'other' is one, too"
        for row in without:
            what = "has no kind, and other claims have one"
            found.problems.add(row.at, what, fix, f"item {shown(row.item)}")


def _warn_of_absent_verdicts(found: Items) -> None:
    """A judge without a row for some claims: nobody knows whether it failed or was not asked."""
    items = [row.item for row in found.items]
    for judge in sorted({row.judge for row in found.verdicts}):
        told = {row.item for row in found.verdicts if row.judge == judge}
        absent = [item for item in items if item not in told]
        if absent:
            what = f"{shown(judge)} has no verdict on {len(absent)} of {len(items)} claims"
            fix = "if it failed on them, add rows with a status, so that they count"
            first = f"first: item {shown(absent[0])}"
            found.warnings.add(Place(VERDICTS_FILE), what, fix, first)
