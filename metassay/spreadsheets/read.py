"""Two or three spreadsheets of one's own, read whole: every problem at once, or what they hold."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from metassay.datasets.checks import check
from metassay.datasets.rows import Findings, Place, Rows
from metassay.errors import BadInput, shown
from metassay.metrics.catalogue import descriptions
from metassay.metrics.describe import RELEASED
from metassay.naming import LONGEST, name_problem
from metassay.options import Criterion
from metassay.params import bad_criteria
from metassay.spreadsheets.columns import (
    DOC,
    METRIC,
    ROLES,
    SPREADS,
    SYSTEM,
    Columns,
    Keys,
    find_columns,
)
from metassay.spreadsheets.convert import Read, add_ratings, add_scores, add_texts
from metassay.spreadsheets.scales import guessed_scale, worse_is_more
from metassay.spreadsheets.sheet import Sheet, read_sheet
from metassay.tables import REFERENCE

KINDS = ("texts", "ratings", "scores")
_OWN = "own_"  # before the name of a metric that is one of ours
_CALLED_REFERENCE = {"reference", "gold", "ground truth", "gold standard", "human reference"}


class Asked(NamedTuple):
    """What the command was given: files by kind, and what is said of their columns and numbers."""

    files: Mapping[str, Path]
    columns: Sequence[str] = ()  # "doc=visit_id", "ratings.doc=id"
    reference: str | None = None  # who of the systems wrote the references
    lower: Sequence[str] = ()  # metrics and criteria of which less is better
    neither: Sequence[str] = ()  # metrics that say nothing of how good a text is
    scales: Sequence[str] = ()  # "fluency=1..5"


class Found(NamedTuple):
    """What the files hold: rows that are sound, and what was guessed or counted."""

    reads: Mapping[str, Read]
    rows: Rows
    criteria: Mapping[str, Criterion]
    reference: str  # what its author is called in the file; "" where it has a column
    renamed: Mapping[str, str]  # metrics: as the file calls them -> as they are called here
    empty: Mapping[str, int]  # by kind, cells without a text or number


def read_all(asked: Asked) -> Found:
    """Read the files; BadInput has every problem of all of them, with file, row and remedy."""
    rows = Rows()
    said = _said(asked)
    sheets: dict[str, Sheet] = {}
    for kind, path in asked.files.items():
        own = Findings()
        sheet = read_sheet(path, own)
        rows.problems.merge(own)
        if sheet is not None:
            sheets[kind] = sheet
    reads = _reads(sheets, said, rows.problems)
    if "texts" not in reads:
        raise BadInput(rows.problems.lines())
    systems = _systems(reads["texts"])
    reference = _reference(asked.reference, systems, rows.problems, sheets["texts"].name)
    empty = {"texts": add_texts(reads["texts"], reference, rows)}
    others = [name for name in systems if name != reference]
    if "ratings" in reads:
        empty["ratings"] = add_ratings(reads["ratings"], others, rows)
    renamed: dict[str, str] = {}
    if "scores" in reads:
        renamed = _renamed(_metrics(reads["scores"]), reads["scores"], rows.problems)
        better = _directions(asked, renamed)
        empty["scores"] = add_scores(reads["scores"], others, renamed, better, rows)
    criteria = _criteria(asked, rows)
    _unknown(asked, criteria, renamed, rows.problems)
    check(rows, criteria)
    if rows.problems:
        raise BadInput(rows.problems.lines())
    return Found(reads, rows, criteria, reference, renamed, empty)


def _said(asked: Asked) -> dict[str, dict[str, str]]:
    """By kind what is said of its columns; a role without a file is said of every file."""
    found: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
    problems = []
    for one in asked.columns:
        left, equals, column = one.partition("=")
        kind, dot, role = left.rpartition(".")
        taken = [k for k in KINDS if kind in ("", k) and role in (*ROLES[k], *SPREADS[k])]
        if not equals or not column or not taken or (dot and kind not in asked.files):
            known = sorted({*sum(ROLES.values(), ()), *sum(SPREADS.values(), ())})
            problems.append(
                f"--columns {shown(one)}: write ROLE=COLUMN, or FILE.ROLE=COLUMN for one of"
                f" {', '.join(asked.files)}; roles are {', '.join(known)}"
            )
        for k in taken:
            if dot or role not in found[k]:
                found[k][role] = column
    if problems:
        raise BadInput(problems)
    return found


def _reads(
    sheets: Mapping[str, Sheet], said: Mapping[str, Mapping[str, str]], problems: Findings
) -> dict[str, Read]:
    reads: dict[str, Read] = {}
    keys = Keys()
    for kind in (kind for kind in KINDS if kind in sheets):
        sheet = sheets[kind]
        own = dict(said[kind])
        if kind != "texts":  # said of all files, it may be what another one calls it
            own = {r: c for r, c in own.items() if r not in (DOC, SYSTEM) or c in sheet.columns}
        columns = find_columns(kind, sheet, own, keys, problems)
        if columns is not None:
            reads[kind] = Read(sheet, columns)
        if kind == "texts" and columns is not None:
            documents = frozenset(sheet.cells(columns.roles[DOC]))
            keys = Keys(documents, frozenset(_systems(reads["texts"])))
    return reads


def _systems(texts: Read) -> list[str]:
    columns: Columns = texts.columns
    if columns.each == SYSTEM:
        return list(columns.spread)
    column = columns.get(SYSTEM)
    return list(dict.fromkeys(texts.sheet.cells(column))) if column else []


def _reference(said: str | None, systems: Sequence[str], problems: Findings, file: str) -> str:
    if said is not None and said not in systems:
        what = f"--reference: no system is called {shown(said)}"
        problems.add(Place(file), what, f"there are {', '.join(map(shown, systems))}")
    if said is not None:
        return said
    return next((one for one in systems if one.casefold() in _CALLED_REFERENCE), "")


def _metrics(scores: Read) -> list[str]:
    if scores.columns.each:
        return list(scores.columns.spread)
    column = scores.columns.get(METRIC)
    return list(dict.fromkeys(scores.sheet.cells(column))) if column else []


def _renamed(metrics: Sequence[str], read: Read, problems: Findings) -> dict[str, str]:
    """What each metric is called here: in the letters that names have, and not as one of ours."""
    ours = {n.casefold() for n, one in descriptions().items() if one.family != RELEASED}
    found: dict[str, str] = {}
    for metric in metrics:
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", metric).strip("_-")[: LONGEST - len(_OWN)]
        if name.casefold() in ours or name_problem(name):
            name = f"{_OWN}{name}"
        at, fix = Place(read.sheet.name), "rename it"
        if problem := name_problem(name):
            problems.add(at, f"metric {shown(metric)} cannot be a name", f"{fix}: {problem}")
        elif name_problem(name, list(found.values())):
            problems.add(at, f"metric {shown(metric)} would be called as another one, {name}", fix)
        found[metric] = name
    return found


def _directions(asked: Asked, renamed: Mapping[str, str]) -> dict[str, str]:
    """Each metric's direction, by the name that it has here."""
    found = {}
    for metric, name in renamed.items():
        if {metric, name} & set(asked.lower):
            found[name] = "lower"
        elif {metric, name} & set(asked.neither):
            found[name] = "neither"
        else:
            found[name] = "lower" if worse_is_more(metric) else "higher"
    return found


def _criteria(asked: Asked, rows: Rows) -> dict[str, Criterion]:
    values: dict[str, list[float]] = {}
    for rating in rows.ratings:
        values.setdefault(rating.criterion, [])
        if rating.value is not None:
            values[rating.criterion].append(rating.value)
    for problem in bad_criteria(values):
        rows.problems.add(
            rows.ratings[0].at._replace(row=None), f"criterion {problem}", "rename it"
        )
    said = {}
    for one in asked.scales:
        match = re.fullmatch(r"(.+)=(-?[\d.]+)\.\.(-?[\d.]+)", one)
        if match is None or match[1] not in values or float(match[2]) >= float(match[3]):
            raise BadInput(
                f"--scale {shown(one)}: write CRITERION=LOW..HIGH, such as fluency=1..5, of"
                f" {', '.join(map(shown, values)) or 'the ratings'}"
            )
        said[match[1]] = (float(match[2]), float(match[3]))
    return {
        name: guessed_scale(found, said.get(name), name in asked.lower or worse_is_more(name))
        for name, found in values.items()
    }


def _unknown(
    asked: Asked, criteria: Iterable[str], renamed: Mapping[str, str], problems: Findings
) -> None:
    known = {*criteria, *renamed, *renamed.values()}
    for option, names in (("--lower", asked.lower), ("--neither", asked.neither)):
        for name in names:
            if name not in known:
                what = f"{option}: nothing is called {shown(name)}"
                listed = ", ".join(map(shown, sorted({*criteria, *renamed})))
                problems.add(Place("the files"), what, f"there are {listed}")


def reference_there(rows: Rows) -> bool:
    """Whether any document has a reference."""
    return any(text.author == REFERENCE for text in rows.texts)
