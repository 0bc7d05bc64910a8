"""Which column of a file is what: keys, numbers, slices; by standard or other names."""

from collections.abc import Sequence
from typing import NamedTuple

from metassay.cli.meta_eval.cells import REMEDY, Cells
from metassay.cli.meta_eval.named import Named
from metassay.datasets.rows import Findings
from metassay.errors import shown
from metassay.tables.names import FULL, NO_JUDGE

UNIT = "unit"
LISTED = 30  # names that a message lists


class Shape(NamedTuple):
    """What sets one of the two files apart from the other."""

    what: str  # the column that makes a file long, and each further column of a wide one
    optional: dict[str, str]  # key columns that may be left out, and what holds then


SCORING = Shape("metric", {"part": FULL, "judge": NO_JUDGE})
RATING = Shape("criterion", {"part": FULL, "study": "ratings", "rater": "people", UNIT: "text"})


class Columns(NamedTuple):
    """A file's columns by what they are for."""

    keys: dict[str, str]  # each key as tables call it, with the column's name in the file
    values: list[str]  # those with numbers
    labels: list[str]  # those that slice, or say what belongs together


def find_columns(
    cells: Cells, shape: Shape, named: Named, others: Cells | None, faults: Findings
) -> Columns:
    """Say what each column is; what is missing or there twice goes to `faults`.

    `others`: the other file, if there is one. A file may lack the systems only if both do.
    """
    header = list(cells.frame.columns)
    long = shape.what in header
    keys: dict[str, str] = {}
    for key, wanted in (("doc_id", named.doc), ("author", named.system), ("rater", named.rater)):
        if key in ("doc_id", "author") or key in shape.optional:
            found = _standing_for(cells, key, wanted, faults)
            keys.update({key: found} if found else {})
    _check_needed(cells, others, keys, named, faults)
    if long and "value" not in header:
        faults.add(cells.head, "column 'value' is missing", f"name it in the header; {REMEDY}")
    keys.update({key: key for key in shape.optional if key in header and key not in keys})
    labels = [name for name in named.labels if name in header]
    _check_labels(cells, keys, labels, shape, faults)
    if long:
        return Columns(keys | {shape.what: shape.what}, ["value"], labels)
    values = [name for name in header if name not in {*keys.values(), *labels}]
    if not values:
        named_so = f"name it in the header; {REMEDY}"
        faults.add(cells.head, f"no column is a {shape.what}", named_so)
    return Columns(keys, values, labels)


def check_named(
    files: Sequence[Cells], ratings: Sequence[Cells], named: Named, mark: str, faults: list[str]
) -> None:
    """Add a fault for each column asked for that none of the `files` has, and of raters none of the
    `ratings`; `mark` leads an option's name."""
    asked = [("doc", named.doc, files), ("system", named.system, files)]
    asked += [("rater", named.rater, ratings), *(("by", name, files) for name in named.by)]
    for option in ("strata", "cluster", "family"):
        name = getattr(named, option)
        if name and not named.alone(option):
            asked.append((option, name, files))
    standard = Named()._asdict()
    for option, name, where in asked:
        if name == standard[option] or any(name in cells.frame for cells in where):
            continue
        there = "; ".join(f"{cells.name} has {_listed(cells)}" for cells in where)
        faults.append(f"{mark}{option} {shown(name)}: is no column: {there}; name one of them")
    twice = {one for one in _all(named) if _all(named).count(one) > 1}
    faults += [
        f"column {shown(name)} is asked for twice ({mark}doc, {mark}system, {mark}rater, {mark}by);"
        " one column is one thing"
        for name in sorted(twice)
    ]


def _all(named: Named) -> Sequence[str]:
    return [named.doc, named.system, named.rater, *named.by]


def _listed(cells: Cells) -> str:
    header = [str(name) for name in cells.frame.columns]
    more = f" and {len(header) - LISTED} more" if len(header) > LISTED else ""
    return ", ".join(shown(name) for name in header[:LISTED]) + more


def _standing_for(cells: Cells, key: str, wanted: str, faults: Findings) -> str | None:
    """The one column that is this key; a fault where two could be."""
    standard = {"doc_id": ("doc_id",), "author": ("system", "author"), "rater": ("rater",)}[key]
    there = [name for name in dict.fromkeys((wanted, *standard)) if name in cells.frame]
    if len(there) > 1:
        both = " and ".join(repr(name) for name in there)
        faults.add(cells.head, f"has both of the columns {both}", "remove one, or rename it")
    return there[0] if there else None


def _check_needed(
    cells: Cells, others: Cells | None, keys: dict[str, str], named: Named, faults: Findings
) -> None:
    if "doc_id" not in keys:
        fix = f"name it in the header, or say which column it is with --doc; {REMEDY}"
        faults.add(cells.head, f"column {named.doc!r} is missing", fix)
    if "author" in keys or others is None:
        return
    standing = [one for one in (named.system, "system", "author") if one in others.frame]
    if standing:
        fix = (
            f"add it, or say which column it is with --system: {others.name} has {standing[0]!r};"
            " only where both files lack it are all texts by one system"
        )
        faults.add(cells.head, f"column {named.system!r} is missing", fix)


def _check_labels(
    cells: Cells, keys: dict[str, str], labels: Sequence[str], shape: Shape, faults: Findings
) -> None:
    for name in labels:
        if name in {*keys.values(), shape.what} or (shape.what in cells.frame and name == "value"):
            what = f"column {shown(name)} is a key or a number, and labels no texts"
            faults.add(cells.head, what, "name another column")
