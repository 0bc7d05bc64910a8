"""Which column of a file is what: keys, numbers, slices; and a file read by that."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import pandas as pd

from metassay.core.errors import shown
from metassay.core.naming import MOST
from metassay.tables.names import FULL, NO_JUDGE
from metassay.tabular.column_synonyms import Role
from metassay.tabular.columns import ROLES, Keys, check_files, parse_columns, roles_in
from metassay.tabular.columns import Columns as Inferred
from metassay.tabular.infer_columns import Guess, complete_guess, find_keys, listed, start_guess
from metassay.tabular.numbers import order_grades
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet

REMEDY = "docs/meta-eval.md shows how the two files are written"
ONLY = "rating"  # the criterion where columns are of raters, and none is named
TEXT = ["doc_id", "author", "part"]  # what one score, and one rater's rating, is of


class Named(NamedTuple):
    """What columns are called: keys, those that slice the texts, and what belongs together."""

    doc: str = "doc_id"
    system: str = "system"  # `author` may stand for it, unless another name is asked for
    rater: str = "rater"
    by: tuple[str, ...] = ()
    strata: str = ""
    cluster: str = ""
    family: str = ""
    columns: tuple[str, ...] = ()  # of `--columns`, such as ratings.raters=ann,ben
    values: tuple[str, ...] = ()  # metrics and criteria that other options name

    @property
    def labels(self) -> tuple[str, ...]:
        """Every column that labels texts, once; keys label none."""
        grouping = [self.strata]
        grouping += [getattr(self, one) for one in ("cluster", "family") if not self.alone(one)]
        return tuple(dict.fromkeys([*self.by, *filter(None, grouping)]))

    def alone(self, option: str) -> bool:
        """Whether each document is its own cluster, or each system its own family.

        The standard names say so whatever the file calls the column.
        """
        keys = {"cluster": (self.doc, "doc_id"), "family": (self.system, "system", "author")}
        return getattr(self, option) in keys.get(option, ())


class Given(NamedTuple):
    """A file as a table, and what is worth knowing of it."""

    table: pd.DataFrame  # rows with a value; columns as `scores` or `ratings`
    name: str  # the file's
    names: list[str]  # metrics or criteria, in the file's order
    notes: list[str]
    cells: Sheet
    texts: pd.DataFrame  # doc_id, author, part of each `row` of `cells`, and what labels it
    keys: dict[str, str]  # each key that is there, with the column's name in the file


UNIT = "unit"
LISTED = 30  # names that a message lists


class Shape(NamedTuple):
    """What sets one of the two files apart from the other."""

    kind: str
    what: str  # the column that makes a file long, and each further column of a wide one
    optional: dict[str, str]  # key columns that may be left out, and what holds then


SCORING = Shape("scores", "metric", {"part": FULL, "judge": NO_JUDGE})
RATING = Shape(
    "ratings", "criterion", {"part": FULL, "study": "ratings", "rater": "people", UNIT: "text"}
)


class Columns(NamedTuple):
    """A file's columns by what they are for."""

    keys: dict[str, str]  # each key as tables call it, with the column's name in the file
    values: dict[str, dict[str, str]]  # those with numbers, and the keys that their names say
    labels: list[str]  # those that slice, or say what belongs together
    unread: list[str]

    @property
    def told(self) -> frozenset[str]:
        """The keys that the names of columns say."""
        return roles_in(self.values)


_KEYS = {
    Role.DOC: "doc_id",
    Role.SYSTEM: "author",
    Role.RATER: "rater",
    Role.CRITERION: "criterion",
    Role.METRIC: "metric",
}


def find_columns(
    sheet: Sheet, shape: Shape, named: Named, other: Sheet | None, keys: Keys, faults: Findings
) -> Columns:
    """Say what each column is; what is missing or there twice goes to `faults`.

    Names that docs/meta-eval.md has, and those of options, go first; then usual names, and cells.
    `other`: the other file, if there is one. A file may lack the systems only if both do.
    """
    kind = shape.kind
    said = _said(sheet, shape, named, faults)
    optional = [key for key in shape.optional if key in sheet.frame and key not in said.values()]
    labels = [name for name in named.labels if name in sheet.frame]
    _check_labels(sheet, said.values(), labels, shape, faults)
    aside = {*labels, *optional} - {*said.values(), "rater"}
    guess = start_guess(kind, sheet, said, keys, faults, aside=aside, metrics=named.values)
    found = None
    if guess is not None:
        find_keys(guess)
        if not (
            kind == "ratings" and keys.documents and Role.DOC not in guess.roles and guess.free
        ):
            _check_needed(sheet, other, guess.roles, named, faults)
        _take_unreadable(guess, shape, faults)
        found = None if faults else complete_guess(guess)
    if found is None:
        return Columns({}, {}, [], [])
    check_files(kind, sheet, found, faults)
    roles = {_KEYS[role]: column for role, column in found.roles.items() if role != Role.VALUE}
    unread = [c for c in found.unread(sheet) if c not in {*optional, *labels}]
    last = {shape.what: roles.pop(shape.what)} if shape.what in roles else {}
    roles |= {key: key for key in optional} | last
    values = _values(found, shape)
    if found.spread and not found.pattern:
        empty = [column for column in unread if not sheet.cells(column)]
        values |= {column: {shape.what: column} for column in empty if shape.what in found.each}
        unread = [column for column in unread if column not in values]
    for column in filter(lambda name: len(name) > MOST, values):
        number = sheet.columns.index(column) + 1
        what = f"the name of column {number} has {len(column):,} characters"
        faults.add(sheet.head, what, f"shorten it to {MOST}")
    return Columns(roles, values, labels, unread)


def _said(sheet: Sheet, shape: Shape, named: Named, faults: Findings) -> dict[str, str]:
    """What options and standard names say of the columns, by role."""
    kind = shape.kind
    told = parse_columns(named.columns, ("ratings", "scores"), [])[kind]
    said = {r: c for r, c in told.items() if r not in (Role.DOC, Role.SYSTEM) or c in sheet.frame}
    for role in (Role.DOC, Role.SYSTEM, Role.RATER):
        wanted = getattr(named, role)
        if role not in said and role in ROLES[kind]:
            found = _standing_for(sheet, role, wanted, faults)
            said.update({role: found} if found else {})
    if shape.what in sheet.frame:
        said |= {shape.what: shape.what, Role.VALUE: said.get(Role.VALUE, "value")}
        if said[Role.VALUE] not in sheet.frame:
            fix = f"name it in the header; {REMEDY}"
            faults.add(sheet.head, "column 'value' is missing", fix)
            del said[Role.VALUE]
    return said


def _take_unreadable(guess: Guess, shape: Shape, faults: Findings) -> None:
    """Where no column is of numbers or grades, take all for values: their cells say what to do."""
    if Role.VALUE in guess.roles or guess.spread or guess.numbers():
        return
    guess.by_name(Role.RATER if shape is RATING else Role.METRIC)
    if not guess.free:
        fix = f"name it in the header; {REMEDY}"
        faults.add(guess.sheet.head, f"no column is a {shape.what}", fix)
    elif not any(order_grades(guess.sheet.cells(column)) for column in guess.free):
        guess.spread_over(shape.what, guess.free)


def _values(found: Inferred, shape: Shape) -> dict[str, dict[str, str]]:
    """The columns with numbers, and the keys that the names of each say."""
    named = shape.what in found.roles
    if Role.VALUE in found.roles:
        column = found.roles[Role.VALUE]
        name = ONLY if shape is RATING else column
        return {column: {} if named else {shape.what: name}}
    only = {} if named or shape.what in found.each else {shape.what: ONLY}
    return {
        column: only | {_KEYS[role]: name for role, name in names.items()}
        for column, names in found.spread.items()
    }


def check_named(files: Sequence[Sheet], ratings: Sheet, named: Named, faults: list[str]) -> None:
    """Add a fault for each column asked for that none of the `files` has, and of raters not the
    `ratings`."""
    parse_columns(named.columns, ("ratings", "scores"), faults)
    groups = [one for one in ("strata", "cluster", "family") if not named.alone(one)]
    asked = [(one, getattr(named, one)) for one in ("doc", "system", "rater", *groups)]
    standard = Named()._asdict()
    for option, name in [*asked, *(("by", name) for name in named.by)]:
        where = [ratings] if option == "rater" else files
        if name == standard[option] or any(name in sheet.frame for sheet in where):
            continue
        there = "; ".join(f"{sheet.name} has {listed(sheet.columns, LISTED)}" for sheet in where)
        how = "--by " if option == "by" else f"--columns {option}="
        faults.append(f"{how}{shown(name)}: there is no such column: {there}; name one of them")
    every = [named.doc, named.system, named.rater, *named.by]
    twice = {one for one in every if every.count(one) > 1}
    faults += [
        f"column {shown(name)} is named for two of document, system, rater and --by; name it once"
        for name in sorted(twice)
    ]


def _standing(sheet: Sheet, role: str, wanted: str) -> list[str]:
    """The columns that are called as this key, in the order of the names."""
    standard = {Role.DOC: ["doc_id"], Role.SYSTEM: ["system", "author"], Role.RATER: ["rater"]}
    return [name for name in dict.fromkeys([wanted, *standard[role]]) if name in sheet.frame]


def _standing_for(sheet: Sheet, role: str, wanted: str, faults: Findings) -> str | None:
    """The one column that is this key; a fault where two could be."""
    there = _standing(sheet, role, wanted)
    if len(there) > 1:
        both = " and ".join(repr(name) for name in there)
        faults.add(sheet.head, f"has both of the columns {both}", "remove one, or rename it")
    return there[0] if there else None


def _check_needed(
    sheet: Sheet, others: Sheet | None, keys: Collection[str], named: Named, faults: Findings
) -> None:
    if Role.DOC not in keys:
        fix = f"name it in the header, or say which column it is: --columns doc=COLUMN; {REMEDY}"
        faults.add(sheet.head, f"column {named.doc!r} is missing", fix)
    standing = _standing(others, Role.SYSTEM, named.system) if others else []
    if others and standing and Role.SYSTEM not in keys:
        fix = (
            f"add it, or say which column it is: --columns system=COLUMN; {others.name} has"
            f" {standing[0]!r}; only where both files lack it are all texts by one system"
        )
        faults.add(sheet.head, f"column {named.system!r} is missing", fix)


def _check_labels(
    sheet: Sheet, keys: Collection[str], labels: Sequence[str], shape: Shape, faults: Findings
) -> None:
    for name in labels:
        if name in {*keys, shape.what} or (shape.what in sheet.frame and name == "value"):
            what = f"column {shown(name)} is a key or a number, and labels no texts"
            faults.add(sheet.head, what, "name another column")
