"""Infer the role of each column from the user's options, usual names, or its cells.

Where these leave a choice that changes numbers, the user is asked: a problem, with the
option as its remedy.
"""

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from metassay.core.errors import quoted
from metassay.tabular.column_synonyms import (
    KIND_OF_TEXT,
    MAY_RATE,
    NO_SYSTEM,
    OF_TWO,
    USUAL,
    WINNERS,
    Role,
    fold_name,
    is_called,
    is_metadata,
    is_rater_name,
    looks_like_criterion,
)
from metassay.tabular.columns import (
    ROLES,
    SPREAD,
    SPREADS,
    THINGS,
    WIDE,
    Columns,
    Keys,
    Named,
    are_crossed,
    guess_names,
    is_pattern,
    read_names,
    roles_in,
)
from metassay.tabular.numbers import is_blank, order_grades
from metassay.tabular.rows import Findings, Place
from metassay.tabular.sheet import Sheet, combine_sheets, to_keys

# of a column's keys that must be those of the texts for it to be their column
SHARE = 0.5
_OF_IDS = re.compile(
    r"(?:^|[^a-zA-Z])(?:id|ids|key|uuid|nr|no|item|text|output|sample|example|case)(?:[^a-zA-Z]|$)"
    r"|(?:text|item|case|sample|example|output|note|answer)ids?$",
    re.IGNORECASE,
)
_WORDS = 3  # the smallest mean number of words of cells that are texts
NUMERIC = 0.9  # the smallest share of numbers in a column of numbers
# the smallest share of numbers in a column that is probably one of numbers
_MIXED = 0.5
_COUNTED = 10  # the fewest rows whose numbering is no rating


@dataclass
class Guess:
    """The roles found so far; `free` are columns without a role. Finders fill in role by role."""

    kind: str
    sheet: Sheet
    roles: dict[str, str]
    spread: Named
    free: list[str]
    keys: Keys
    options: Collection[str]  # roles and words of SPREADS that the user named
    problems: Findings
    pattern: str = ""
    metrics: Collection[str] = ()  # columns that the user named as metrics

    def take(self, role: str, column: str | None) -> None:
        """Give a free column a role that has none."""
        if role not in self.roles and column in self.free:
            self.roles[role] = column
            self.free.remove(column)

    def by_name(self, role: str) -> None:
        """Give a role the free column with a usual name."""
        if role not in self.roles:
            by_name = {fold_name(column): column for column in reversed(self.free)}
            self.take(
                role, next((by_name[n] for n in USUAL[role] if n in by_name), None)
            )

    def thing_by_name(self, role: str) -> None:
        """Give a role a column as `by_name`, except columns of grades, which are criteria."""
        free, numbers = self.free, numeric_columns(self.sheet, self.free)
        named = {fold_name(column) for column in numbers} & set(USUAL[Role.VALUE])
        texts = [
            column for column in free if self.sheet.frame[column].dtype.kind != "f"
        ]
        rated = [column for column in texts if order_grades(self.sheet.cells(column))]
        rated += [] if named else numbers
        self.free = [column for column in free if column not in rated]
        self.by_name(role)
        self.free = [column for column in free if column != self.roles.get(role)]

    def spread_over(self, role: str, columns: Sequence[str]) -> None:
        """Take the names of columns side by side as values of the role."""
        self.set_spread({column: {role: column} for column in columns})

    def set_spread(self, named: Named, pattern: str = "") -> None:
        """Take columns side by side, with the parts of their names."""
        self.spread, self.pattern = named, pattern
        self.free = [column for column in self.free if column not in named]

    def numbers(self) -> list[str]:
        """Return free columns of numbers that can be ratings or scores."""
        redcap = any(
            fold_name(c).startswith(("redcap_", "record_id"))
            for c in self.sheet.columns
        )
        is_other = partial(is_metadata, ratings=self.kind == "ratings", redcap=redcap)
        return [
            name
            for name in numeric_columns(self.sheet, self.free)
            if name in self.metrics
            or not (is_other(name) or _counts_rows(self.sheet, name))
        ]

    def ask(self, what: str, fix: str) -> None:
        """Add a problem of the file."""
        self.problems.add(Place(self.sheet.name), what, fix)

    def columns(self, *needed: str) -> Columns | None:
        """Return the columns; None, with problems, if a needed role has none."""
        lacks = [
            role for role in needed if role not in {*self.roles, *roles_in(self.spread)}
        ]
        if self.spread:
            lacks = [role for role in lacks if role not in (Role.TEXT, Role.VALUE)]
        for role in lacks:
            numbers = " of numbers" if role == Role.VALUE else ""
            what = f"no column{numbers} is clearly the {role} of the {self.kind}"
            fix = f"say which: --columns {self.kind}.{role}=COLUMN, of {listed(self.sheet.columns)}"
            if role == Role.VALUE and self.kind == "ratings":
                fix += "; or, of grades in words, their order: --scale COLUMN=WORST<...<BEST"
            self.ask(what, fix)
        return None if lacks else Columns(self.roles, self.spread, self.pattern)


def key_column(guess: Guess) -> str | None:
    """Return a column of short keys, unique per system; None if there is none."""
    frame, system = guess.sheet.frame, [*filter(None, [guess.roles.get(Role.SYSTEM)])]
    for column in guess.free:
        whole = not frame.duplicated([column, *system]).any() and all(
            to_keys(frame[column])
        )
        if whole and not has_texts(guess.sheet, column):
            return column
    return None


def share_known(sheet: Sheet, column: str, keys: Collection[str]) -> float:
    """Return the share of a column's different cells that are among the keys."""
    column_cells = sheet.frame[column]
    # With more numbers than twice the keys, the share is too small to be worth the
    # conversion.
    many = column_cells.dtype.kind == "f" and column_cells.nunique() > len(keys) / SHARE
    cells = set(sheet.cells(column)) if keys and not many else set()
    return len(cells & set(keys)) / len(cells) if cells else 0.0


def numeric_columns(sheet: Sheet, columns: Sequence[str]) -> list[str]:
    """Return the columns of numbers; the few other cells in them become problems later."""
    return [column for column in columns if sheet.share_of_numbers(column) >= NUMERIC]


def has_texts(sheet: Sheet, column: str) -> bool:
    """Whether a column has texts, not keys or numbers."""
    counts = sheet.counts(column)
    words = sum(len(str(cell).split()) * n for cell, n in counts.items())
    return words / max(int(counts.sum()), 1) >= _WORDS and not numeric_columns(
        sheet, [column]
    )


def listed(names: Iterable[str], most: int = 12) -> str:
    """List the first names of columns, systems or raters, each of them in full.

    >>> listed(["Fluency - Anna", "Fluency - Ben", "Errors - Anna"], 2)
    "'Fluency - Anna', 'Fluency - Ben' and 1 more"
    """
    first = [*names]
    more = f" and {len(first) - most} more" if len(first) > most else ""
    return ", ".join(map(quoted, first[:most])) + more


def _counts_rows(sheet: Sheet, column: str) -> bool:
    """Whether a column numbers the rows of each file, from any start, if there are many rows."""
    for part in sheet.parts or (sheet,):
        if column in part.columns:
            for sample in (replace(part, frame=part.frame.head(_COUNTED)), part):
                values = sample.values(column)
                enough = len(values) >= _COUNTED
                if not enough or not np.array_equal(
                    values, values[0] + np.arange(len(values))
                ):
                    return False
    return True


def find_columns(
    kind: str, sheet: Sheet, options: Mapping[str, str], keys: Keys, problems: Findings
) -> Columns | None:
    """Find the columns of a file of texts, ratings or scores; None, with problems, if unclear.

    `options`: the user's, of this file alone, by role or by a word of SPREADS.
    """
    guess = start_guess(kind, sheet, options, keys, problems)
    return None if guess is None else complete_guess(guess)


def start_guess(
    kind: str,
    sheet: Sheet,
    options: Mapping[str, str],
    keys: Keys,
    problems: Findings,
    *,
    aside: Collection[str] = (),
    metrics: Collection[str] = (),
) -> Guess | None:
    """Apply the user's options of a file's columns; None, with problems, if they are wrong.

    `aside` are columns of something else; `metrics` are columns that the user named as
    metrics.
    """
    roles = {role: options[role] for role in ROLES[kind] if role in options}
    spread: dict[str, dict[str, str]] = {}
    for word in SPREADS[kind]:
        if word in options and word != WIDE:
            spread = {
                name: {SPREAD[word]: name} for name in _several(options[word], sheet)
            }
    named = [*roles.values(), *spread]
    for column in named:
        if column not in sheet.columns:
            what = f"there is no column {quoted(column)}"
            fix = f"--columns: takes names of the first row: {listed(sheet.columns)}"
            problems.add(Place(sheet.name), what, fix)
    if not len(sheet.lines) or any(column not in sheet.columns for column in named):
        return None
    free = [column for column in sheet.columns if column not in {*named, *aside}]
    guess = Guess(
        kind,
        sheet,
        roles,
        spread,
        free,
        keys,
        options.keys(),
        problems,
        metrics=metrics,
    )
    return None if WIDE in options and not _apply_wide(guess, options[WIDE]) else guess


def complete_guess(guess: Guess) -> Columns | None:
    """Infer the other columns from names and cells; None, with problems, if unclear."""
    columns = _of_texts(guess) if guess.kind == "texts" else _of_values(guess)
    if columns is not None:
        for column in (*columns.spread, columns.roles.get(Role.VALUE, "")):
            if column in guess.sheet.merged:
                fix = "unmerge them, and write a value into each cell"
                what = f"column {quoted(column)} has merged cells, whose value may be of all rows"
                guess.problems.add(
                    Place(guess.sheet.name), what, fix, guess.sheet.merged[column]
                )
    return columns


def join_by_text(sheet: Sheet, other: Sheet, doc: str, system: str) -> Sheet:
    """Replace a sheet's ids of texts by the document and system of each text.

    `other` has them in columns `doc` and `system`; without these, or without a common
    column of ids of texts, the sheet is returned unchanged. The column must be named
    like ids: grades of both files can be the same few numbers.
    """
    if sheet.parts:
        return combine_sheets(
            [join_by_text(part, other, doc, system) for part in sheet.parts]
        )
    if doc in sheet.frame or doc not in other.frame:
        return sheet
    for column in sheet.columns:
        if column not in other.frame or column == system or not _OF_IDS.search(column):
            continue
        texts = to_keys(other.frame[column])
        keys = to_keys(sheet.frame[column])
        if texts.is_unique and len(keys) and keys.isin(texts).all():
            rows = other.frame.drop_duplicates(column).set_index(texts)
            columns = {
                name: to_keys(rows[name]).set_axis(rows.index).reindex(keys).to_numpy()
                for name in (doc, system)
                if name in other.frame and name not in sheet.frame
            }
            frame = sheet.frame.drop(columns=column).assign(**columns)
            note = f"texts are found by column {quoted(column)} in {quoted(other.name)}"
            return replace(
                sheet,
                frame=frame.astype(dict.fromkeys(columns, "str")),
                notes=[*sheet.notes, note],
            )
    return sheet


def _apply_wide(guess: Guess, pattern: str) -> bool:
    allowed = THINGS[guess.kind]
    if not is_pattern(pattern, allowed):
        fields = ", ".join(f"{{{role}}}" for role in allowed)
        what = f"--columns {WIDE}={quoted(pattern)} is not a form of names"
        guess.ask(what, f"write it of {fields}")
        return False
    guess.set_spread(read_names(pattern, guess.numbers(), guess.keys), pattern)
    if not guess.spread:
        what = f"no name of a column of numbers has the form {quoted(pattern)}"
        guess.ask(
            what, f"--columns: takes the form of these: {listed(guess.sheet.columns)}"
        )
    return bool(guess.spread)


def _of_texts(guess: Guess) -> Columns | None:
    for role in ("doc", "system", "reference", "source", "strata", "cluster", "family"):
        if not (role in (Role.SYSTEM, Role.FAMILY) and guess.spread):
            guess.by_name(role)
    if not guess.spread:
        guess.by_name(Role.TEXT)
    if Role.DOC not in guess.roles:
        guess.take(Role.DOC, key_column(guess))
    long = [
        c
        for c in guess.free
        if has_texts(guess.sheet, c) and not is_called(c, NO_SYSTEM)
    ]
    if Role.SYSTEM in guess.roles and Role.TEXT not in guess.roles and len(long) > 1:
        fix = "say which: --columns texts.text=COLUMN, or texts.systems=... if each is a system's"
        guess.ask(f"{listed(long)} all hold texts", fix)
        return None
    if Role.SYSTEM in guess.roles and long:
        guess.take(Role.TEXT, long[0])
    elif Role.SYSTEM not in guess.roles and not guess.spread:
        _side_by_side(guess, long)
        if not check_authors(guess):
            return None
    return guess.columns(Role.DOC, Role.TEXT)


def _side_by_side(guess: Guess, long: Sequence[str]) -> None:
    """Take a column per system; ask where a name such as `summary` is no system's."""
    text = [guess.roles.pop(Role.TEXT)] if Role.TEXT in guess.roles else []
    kinds = [*text, *(column for column in long if is_called(column, KIND_OF_TEXT))]
    systems = [
        column for column in guess.sheet.columns if column in text or column in long
    ]
    if kinds and len(systems) > 1:
        joined = shlex.quote(f"texts.systems={','.join(systems)}")
        guess.ask(
            f"{listed(kinds)} may be a system's text, like others in the row, or a reference or"
            " source",
            f"say which columns are of systems: --columns {joined}, or fewer of"
            " them, and what the others are, as in texts.reference=COLUMN",
        )
    guess.spread_over(Role.SYSTEM, systems)


def _of_values(guess: Guess) -> Columns | None:
    """Find the columns of ratings or scores."""
    thing = Role.METRIC if guess.kind == "scores" else Role.CRITERION
    find_keys(guess)
    if thing == Role.CRITERION and Role.RATER not in roles_in(guess.spread):
        guess.by_name(Role.RATER)
    if thing not in roles_in(guess.spread):
        guess.thing_by_name(thing)
    if not guess.spread and Role.VALUE not in guess.roles:
        _find_values(guess, thing)
    return guess.columns(Role.DOC, Role.VALUE) if check_rest(guess) else None


def _find_values(guess: Guess, thing: str) -> None:
    """Find the numbers, in one column or in several side by side."""
    numbers = guess.numbers()
    if thing in guess.roles:
        guess.by_name(Role.VALUE)
        if len(numbers) == 1:
            guess.take(Role.VALUE, numbers[0])
    if Role.VALUE in guess.roles or not numbers or Role.METRIC in guess.roles:
        return
    pattern, names = guess_names(numbers, guess.keys, guess.roles, THINGS[guess.kind])
    if pattern:
        guess.set_spread(names, pattern)
    elif thing == Role.METRIC:
        guess.spread_over(Role.METRIC, numbers)
    elif thing in guess.roles or (
        Role.RATER not in guess.roles and all(map(is_rater_name, numbers))
    ):
        guess.spread_over(Role.RATER, numbers)
    else:
        guess.spread_over(Role.CRITERION, numbers)
        if Role.RATER not in guess.roles and len(numbers) > 1:
            ask_rater_or_criterion(guess, numbers)


def find_keys(guess: Guess) -> None:
    """Find documents and systems, by the name of the texts' column or by their keys."""
    for role, keys in (
        (Role.DOC, guess.keys.documents),
        (Role.SYSTEM, guess.keys.systems),
    ):
        guess.take(role, guess.keys.columns.get(role))
        shares = {
            column: share_known(guess.sheet, column, keys) for column in guess.free
        }
        candidates = {
            column: share for column, share in shares.items() if share >= SHARE
        }
        # Grades from 1 to 5 look like the keys of five documents, so names count first.
        usual = [column for column in candidates if fold_name(column) in USUAL[role]]
        if (
            role not in guess.roles
            and not usual
            and len(candidates) > 1
            and role == Role.DOC
        ):
            what = f"{listed([*candidates])} all hold document ids"
            guess.ask(
                what, f"say which names them: --columns {guess.kind}.{role}=COLUMN"
            )
        guess.take(
            role, max(usual or candidates, key=candidates.__getitem__, default=None)
        )
        guess.by_name(role)


def _several(option: str, sheet: Sheet) -> list[str]:
    """Split names at commas, but not a column's name that contains commas."""
    names: list[str] = []
    rest = option.split(",")
    while rest:
        ends = [
            n
            for n in range(len(rest), 0, -1)
            if ",".join(rest[:n]).strip() in sheet.columns
        ]
        n = ends[0] if ends else 1
        names.append(",".join(rest[:n]).strip())
        rest = rest[n:]
    return names


def check_rest(guess: Guess) -> bool:
    """Ask about free columns that might be ignored or misread; whether there was no question."""
    if set(SPREADS[guess.kind]) & set(guess.options):
        return True
    n_problems = len(guess.problems.lines())
    if Role.SYSTEM not in guess.options:
        _ask_system(guess)
    if guess.kind == "ratings":
        _ask_preferences(guess)
        _ask_words(guess)
        _ask_rater(guess)
    for column in () if Role.VALUE in guess.roles else guess.free:
        share = guess.sheet.share_of_numbers(column)
        if _MIXED <= share < NUMERIC and not is_metadata(column, ratings=True):
            guess.ask(
                f"column {quoted(column)} has numbers in {share:.0%} of its cells, words in others",
                "write numbers, or leave cells empty; or name the columns to be read: --columns"
                f" {guess.kind}.{SPREADS[guess.kind][0]}=...",
            )
    return len(guess.problems.lines()) == n_problems


def check_authors(guess: Guess) -> bool:
    """Ask for the system where documents have several texts; whether there was no question."""
    doc = guess.roles.get(Role.DOC)
    if doc is None or len(guess.spread) != 1 or not guess.free:
        return True
    (text,) = guess.spread
    pairs = zip(
        *(to_keys(guess.sheet.frame[column]) for column in (doc, text)), strict=True
    )
    texts = {pair for pair in pairs if not is_blank(pair[1])}
    if len(texts) == len({key for key, _ in texts}):
        return True
    guess.ask(
        "documents have several texts, and no column clearly names the system of each",
        f"name it: --columns texts.{Role.SYSTEM}=COLUMN, of {listed(guess.free)}",
    )
    return False


def _ask_system(guess: Guess) -> None:
    """Ask which of two columns of systems is rated, as in comparisons of two texts."""
    system, keys = guess.roles.get(Role.SYSTEM), guess.keys.systems
    others = [c for c in guess.free if share_known(guess.sheet, c, keys) >= SHARE]
    named = [system, *others] if system else others
    if len(named) > 1 and len(keys) > 1:
        guess.ask(
            f"{listed(named)} all name systems, as where two texts are compared",
            "metassay import preferences FILE --out DIR reads comparisons; or say whose text is"
            f" rated: --columns {guess.kind}.{Role.SYSTEM}=COLUMN",
        )


def _ask_preferences(guess: Guess) -> None:
    """Refuse comparisons of two texts."""
    sides = [column for column in guess.sheet.columns if is_called(column, OF_TWO)]
    winners = [column for column in guess.sheet.columns if fold_name(column) in WINNERS]
    if len(sides) > 1 and winners:
        guess.ask(
            f"{listed([*sides, *winners])} say which of two texts is preferred, and a rating is of"
            " one text",
            "metassay import preferences FILE --out DIR reads them, as the share of its comparisons"
            " that each text won",
        )


def _ask_words(guess: Guess) -> None:
    """Ask for the order of grades in words."""
    for column in guess.free:
        grades = order_grades(guess.sheet.cells(column))
        if grades and not numeric_columns(guess.sheet, [column]):
            option = shlex.quote(f"{column}={'<'.join(grades)}")
            guess.ask(
                f"column {quoted(column)} has grades in words",
                f"say their order, the first counts 1, with those that nobody gave: --scale"
                f" {option}; or which columns to read: --columns {guess.kind}.criteria=...",
            )


def _ask_rater(guess: Guess) -> None:
    """Ask whether a column `expert` of numbers names raters, or has an expert's ratings."""
    roles, frame = guess.roles, guess.sheet.frame
    rater = roles.get(Role.RATER, "")
    if (
        Role.RATER in guess.options
        or Role.DOC not in roles
        or not is_called(rater, MAY_RATE)
    ):
        return
    keys = {
        roles[role] for role in (Role.DOC, Role.SYSTEM, Role.CRITERION) if role in roles
    }
    once = not frame.duplicated([*keys]).any() and not frame[rater].is_unique
    if once and numeric_columns(guess.sheet, [rater]):
        guess.ask(
            f"column {quoted(rater)} may say who rated, or be a rating itself",
            f"say which: --columns {shlex.quote(f'ratings.rater={rater}')}, or"
            " ratings.raters=... or ratings.criteria=... with all columns of ratings",
        )


def ask_rater_or_criterion(guess: Guess, numbers: Sequence[str]) -> None:
    """Ask whether columns are of raters (Ann, Ben), criteria, or both (a_x, a_y, b_x, b_y)."""
    if are_crossed(numbers):
        guess.ask(
            f"{listed(numbers)}: the names seem to have two parts each",
            "say which: --columns 'ratings.wide={criterion}_{rater}' (or {system}), as they are"
            " written, or ratings.criteria=... if each is a criterion of its own",
        )
    elif not any(map(looks_like_criterion, numbers)):
        joined = ",".join(numbers)
        guess.ask(
            f"{listed(numbers)}: raters or criteria",
            f"say which: --columns {shlex.quote(f'ratings.raters={joined}')}, or"
            f" {shlex.quote(f'ratings.criteria={joined}')}",
        )
