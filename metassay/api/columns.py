"""Find out which column of a file is what: a key, numbers, or labels of texts."""

from collections.abc import Sequence
from shlex import quote
from typing import NamedTuple

import pandas as pd

from metassay.core.errors import quoted
from metassay.core.naming import MOST
from metassay.tables.data_warnings import DataWarning
from metassay.tables.names import FULL, NO_JUDGE
from metassay.tabular.column_synonyms import Role
from metassay.tabular.columns import ROLES, WIDE, Keys, check_files, parse_columns
from metassay.tabular.columns import Columns as Inferred
from metassay.tabular.guess import Guess, listed
from metassay.tabular.infer_columns import (
    complete_guess,
    find_keys,
    roles_of_names,
    start_guess,
    take_ranks,
)
from metassay.tabular.numbers import order_grades
from metassay.tabular.row_choice import parse_rows
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet, to_keys

REMEDY = "docs/meta-eval.md shows how the two files are written"
ONLY = "rating"  # the criterion where columns are of raters and none is named
# the key of a text: one score, or one rating per rater
TEXT = ["doc_id", "author", "part"]
GROUPS = ("strata", "cluster", "family")


class Roles(NamedTuple):
    """The columns that the caller names, by role: keys, columns that slice or group texts."""

    doc: str = "doc_id"
    # `author` may stand for it, unless the caller gives another name
    system: str = "system"
    rater: str = "rater"
    by: tuple[str, ...] = ()
    strata: str = ""
    cluster: str = ""
    family: str = ""
    part: str = ""  # sentences or claims of a text, each with a rating of its own
    columns: tuple[str, ...] = ()  # of `--columns`, such as ratings.raters=ann,ben
    values: tuple[str, ...] = ()  # metrics and criteria that other options name
    rows: tuple[str, ...] = ()  # of `--rows`, such as Status=APPROVED
    missing: tuple[str, ...] = ()  # words that mean that nobody rated

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns that label texts, each once; a key is no label."""
        groups = [getattr(self, key) for key in GROUPS if not self.alone(key)]
        return tuple(dict.fromkeys([*self.by, *filter(None, groups)]))

    def alone(self, option: str) -> bool:
        """Return whether each document is its own cluster, or each system its own family.

        The standard names mean that, whatever the file calls the column.
        """
        keys = {
            "cluster": (self.doc, "doc_id"),
            "family": (self.system, "system", "author"),
        }
        return getattr(self, option) in keys.get(option, ())


class InputTable(NamedTuple):
    """A file as a table, with what a reader should know about it."""

    table: pd.DataFrame  # rows with a value; columns as `scores` or `ratings`
    name: str  # of the file
    names: list[str]  # metrics or criteria, in the file's order
    notes: list[str]
    cells: Sheet
    texts: pd.DataFrame  # TEXT of each `row` of `cells`, and its labels
    keys: dict[str, str]  # each key in the file, with its column's name there
    warnings: tuple[DataWarning, ...] = ()
    # metrics or criteria whose cells say which is better: pass and fail
    verdicts: frozenset[str] = frozenset()


UNIT = "unit"
LISTED = 30  # names that a message lists at most


class Shape(NamedTuple):
    """What the files of scores and of ratings differ in."""

    kind: str
    # the column that makes a file long, and each further column of a wide one
    what: str
    # key columns that may be left out, and the value they then have
    optional: dict[str, str]


SCORES_FILE = Shape("scores", "metric", {"part": FULL, "judge": NO_JUDGE})
RATINGS_FILE = Shape(
    "ratings",
    "criterion",
    {"part": FULL, "study": "ratings", "rater": "people", UNIT: "text"},
)


class Columns(NamedTuple):
    """The columns of a file by their use."""

    # each key as tables call it, with the column's name in the file
    keys: dict[str, str]
    # columns of numbers, and the keys that their names tell
    values: dict[str, dict[str, str]]
    labels: list[str]  # columns that slice or group texts
    unread: list[str]
    pattern: str = ""  # the form of names that say several keys


# other roles are keys of the same name
_KEYS = {Role.DOC: "doc_id", Role.SYSTEM: "author"}


def find_columns(
    sheet: Sheet,
    shape: Shape,
    roles: Roles,
    other: Sheet | None,
    keys: Keys,
    faults: Findings,
) -> Columns:
    """Return the use of each column; add what is missing or doubled to `faults`.

    Names from docs/meta-eval.md and from options go first, then usual names, then
    cells. `other`: the other file, if there is one. A file may lack the systems only if
    both do.
    """
    kind = shape.kind
    named = _named_columns(sheet, shape, roles, faults)
    optional = [
        key
        for key in shape.optional
        if key in sheet.frame and key not in named and key not in named.values()
    ]
    labels = [name for name in roles.labels if name in sheet.frame]
    for name in labels:
        if name in {*named.values(), shape.what} or (
            shape.what in sheet.frame and name == "value"
        ):
            what = f"column {quoted(name)} is a key or a number, and cannot label texts"
            faults.add(sheet.head, what, "name another column")
    aside = {*labels, *optional} - {*named.values(), "rater"}
    guess = start_guess(
        kind, sheet, named, keys, faults, aside=aside, metrics=roles.values
    )
    inferred = None
    if guess is not None:
        find_keys(guess)
        guess.take_usual(Role.RATER)
        take_ranks(guess)
        _check_needed(guess, other, roles)
        _take_unreadable(guess, shape)
        inferred = None if faults else complete_guess(guess)
    if inferred is None:
        return Columns({}, {}, [], [])
    check_files(kind, sheet, inferred, faults)
    columns_by_key = {
        _KEYS.get(r, r): c for r, c in inferred.roles.items() if r != Role.VALUE
    }
    unread = [c for c in inferred.unread(sheet) if c not in {*optional, *labels}]
    last = (
        {shape.what: columns_by_key.pop(shape.what)}
        if shape.what in columns_by_key
        else {}
    )
    columns_by_key |= {key: key for key in optional} | last
    values = _values(inferred, shape)
    if inferred.spread and not inferred.pattern:
        empty = [column for column in unread if not sheet.cells(column)]
        if shape.what in inferred.name_roles:
            values |= {column: {shape.what: column} for column in empty}
        unread = [column for column in unread if column not in values]
    for column in filter(lambda name: len(name) > MOST, values):
        number = sheet.columns.index(column) + 1
        what = f"the name of column {number} has {len(column):,} characters"
        faults.add(sheet.head, what, f"shorten it to {MOST}")
    return Columns(columns_by_key, values, labels, unread, inferred.pattern)


def _named_columns(
    sheet: Sheet, shape: Shape, roles: Roles, faults: Findings
) -> dict[str, str]:
    """Return the columns that options or their standard names tell, by role."""
    by_option = parse_columns(roles.columns, ("ratings", "scores"), [])[shape.kind]
    keys = (Role.DOC, Role.SYSTEM)
    columns = {r: c for r, c in by_option.items() if r not in keys or c in sheet.frame}
    if roles.part in sheet.frame:
        columns[Role.PART] = roles.part
    for role in (*keys, Role.RATER):
        if role not in columns and role in ROLES[shape.kind]:
            column = _key_column(sheet, role, getattr(roles, role), faults)
            columns.update({role: column} if column else {})
    if shape.what in sheet.frame:
        columns |= {
            shape.what: shape.what,
            Role.VALUE: columns.get(Role.VALUE, "value"),
        }
        if columns[Role.VALUE] not in sheet.frame:
            fix = f"name it in the header; {REMEDY}"
            faults.add(sheet.head, "column 'value' is missing", fix)
            del columns[Role.VALUE]
    return columns


def _take_unreadable(guess: Guess, shape: Shape) -> None:
    """Take all columns for values if none has numbers or grades: their cells tell what to do."""
    if Role.VALUE in guess.roles or guess.spread or guess.numbers():
        return
    guess.take_usual(Role.RATER if shape is RATINGS_FILE else Role.METRIC)
    if not guess.free:
        fix = f"name it in the header; {REMEDY}"
        guess.problems.add(guess.sheet.head, f"no column is a {shape.what}", fix)
    elif not any(order_grades(guess.sheet.cells(column)) for column in guess.free):
        guess.spread_over(shape.what, guess.free)


def _values(inferred: Inferred, shape: Shape) -> dict[str, dict[str, str]]:
    """Return the columns of numbers, and the keys that the name of each tells."""
    long = shape.what in inferred.roles
    if Role.VALUE in inferred.roles:
        column = inferred.roles[Role.VALUE]
        name = ONLY if shape is RATINGS_FILE else column
        return {column: {} if long else {shape.what: name}}
    only = {} if long or shape.what in inferred.name_roles else {shape.what: ONLY}
    return {
        column: only | {_KEYS.get(role, role): name for role, name in names.items()}
        for column, names in inferred.spread.items()
    }


def check_columns(
    files: Sequence[Sheet], ratings: Sheet, roles: Roles, faults: list[str]
) -> None:
    """Add a fault for each named column that no file has; `rater` must be in `ratings`."""
    caller = ratings.caller
    parse_columns(roles.columns, ("ratings", "scores"), faults, caller)
    groups = [key for key in GROUPS if not roles.alone(key)]
    columns = [
        (key, getattr(roles, key))
        for key in ("doc", "system", "rater", "part", *groups)
    ]
    all_columns = [column for sheet in files for column in sheet.columns]
    columns += [("rows", column) for column in parse_rows(roles.rows, all_columns)]
    standard = Roles()._asdict()
    for option, name in [*columns, *(("by", name) for name in roles.by)]:
        where = [ratings] if option == "rater" else files
        if name == standard.get(option) or any(name in sheet.frame for sheet in where):
            continue
        known = "; ".join(
            f"{sheet.name} has {listed(sheet.columns, LISTED)}" for sheet in where
        )
        if option in ("by", "rows"):
            named = caller.option(option, blank=quoted(name))
        else:
            named = caller.column(option, name)
        faults.append(f"{named}: there is no such column: {known}; name one of them")
    names = [roles.doc, roles.system, roles.rater, *roles.by]
    faults += [
        f"column {quoted(name)} is named for two of document, system, rater and"
        f" {caller.option('by')}; name it once"
        for name in sorted({name for name in names if names.count(name) > 1})
    ]


def _key_columns(sheet: Sheet, role: str, name: str) -> list[str]:
    """Return the columns with the name of this key, the caller's name first."""
    standard = {
        Role.DOC: ["doc_id"],
        Role.SYSTEM: ["system", "author"],
        Role.RATER: ["rater"],
    }
    return [c for c in dict.fromkeys([name, *standard[role]]) if c in sheet.frame]


def _key_column(sheet: Sheet, role: str, name: str, faults: Findings) -> str | None:
    """Return the column of this key; add a fault if there are two."""
    columns = _key_columns(sheet, role, name)
    if len(columns) > 1:
        both = " and ".join(map(repr, columns))
        faults.add(
            sheet.head, f"has both of the columns {both}", "remove one, or rename it"
        )
    return columns[0] if columns else None


def _is_board(guess: Guess) -> bool:
    """Whether a file, and no frame, has one row per system."""
    system = guess.roles.get(Role.SYSTEM)
    if system is None or "." not in guess.sheet.name:
        return False
    return not to_keys(guess.sheet.frame[system]).duplicated().any()


def _check_needed(guess: Guess, other: Sheet | None, roles: Roles) -> None:
    """Add a problem if nothing tells the documents, or the systems that the other file has."""
    head, faults = guess.sheet.head, guess.problems
    by_names = roles_of_names(guess)
    if Role.DOC not in {*guess.roles, *by_names}:
        option = guess.sheet.caller.column(Role.DOC, "COLUMN")
        fix = f"name it in the header, or say which column it is: {option}; {REMEDY}"
        if other is None and _is_board(guess):
            fix = (
                "each row is another system; if this is a leaderboard, run: metassay check"
                f" {quote(guess.sheet.name)}; else say which column it is: {option}"
            )
        faults.add(head, f"column {roles.doc!r} is missing", fix)
    theirs = _key_columns(other, Role.SYSTEM, roles.system) if other else []
    if other and theirs and Role.SYSTEM not in {*guess.roles, *by_names}:
        option = guess.sheet.caller.column(Role.SYSTEM, "COLUMN")
        form = guess.option(WIDE, "{criterion}_{system}")
        fix = (
            f"add it, or say which column it is: {option}; {other.name} has"
            f" {theirs[0]!r}; only where both files lack it are all texts by one system;"
            f" or, if names of columns say it, their form, such as {form}"
        )
        faults.add(head, f"column {roles.system!r} is missing", fix)
