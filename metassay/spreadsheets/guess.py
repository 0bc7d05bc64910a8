"""A guess of what columns hold, as far as it got, and what the cells say of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean

from metassay.datasets.rows import Findings, Place
from metassay.errors import shown
from metassay.spreadsheets.columns import Columns, Keys
from metassay.spreadsheets.numbers import in_order, seems_a_number
from metassay.spreadsheets.sheet import Sheet
from metassay.spreadsheets.wide import Named
from metassay.spreadsheets.words import SYSTEM, TEXT, USUAL, VALUE, beside, plain

SHARE = 0.5  # of a column's keys that must be known for it to be taken for the texts' documents
_WORDS = 3  # on average, from which cells are taken for texts
NUMERIC = 0.9  # the share of numbers from which a column is one of numbers
_COUNTED = 10  # rows from which on numbers that count them are no ratings


@dataclass
class Guess:
    """What is known so far: `free` are columns without a role yet."""

    # Mutable: finders fill it in, one role after the other.

    kind: str
    sheet: Sheet
    roles: dict[str, str]
    spread: Named
    free: list[str]
    keys: Keys
    said: Collection[str]  # roles and words of SPREADS that its user told
    problems: Findings
    pattern: str = ""

    def take(self, role: str, column: str | None) -> None:
        """Give a free column a role that has none."""
        if role not in self.roles and column in self.free:
            self.roles[role] = column
            self.free.remove(column)

    def by_name(self, role: str) -> None:
        """Give a role the free column that is called as usual."""
        if role not in self.roles:
            known = {plain(column): column for column in reversed(self.free)}
            self.take(role, next((known[n] for n in USUAL[role] if n in known), None))

    def thing_by_name(self, role: str) -> None:
        """As `by_name`; but a column `quality` of grades is a criterion, and names none."""
        free, numbers = self.free, numeric(self.sheet, self.free)
        named = {plain(column) for column in numbers} & set(USUAL[VALUE])
        rated = [column for column in free if in_order(self.sheet.cells(column))]
        rated += [] if named else numbers
        self.free = [column for column in free if column not in rated]
        self.by_name(role)
        self.free = [column for column in free if column != self.roles.get(role)]

    def spread_over(self, role: str, columns: Sequence[str]) -> None:
        """Take columns side by side for one thing each."""
        self.set_spread({column: {role: column} for column in columns})

    def set_spread(self, named: Named, pattern: str = "") -> None:
        """Take columns side by side for what their names say."""
        self.spread, self.pattern = named, pattern
        self.free = [column for column in self.free if column not in named]

    def numbers(self) -> list[str]:
        """Free columns of numbers that may be ratings or scores."""
        ratings = self.kind == "ratings"
        redcap = any(plain(c).startswith(("redcap_", "record_id")) for c in self.sheet.columns)
        return [
            column
            for column in numeric(self.sheet, self.free)
            if not beside(column, ratings=ratings, redcap=redcap)
            and not _counts_rows(self.sheet, column)
        ]

    def ask(self, what: str, fix: str) -> None:
        """Add a problem of the file."""
        self.problems.add(Place(self.sheet.name), what, fix)

    def columns(self, *needed: str) -> Columns | None:
        """What was found, if each role that is needed was."""
        lacks = [role for role in needed if role not in self.roles]
        if self.spread:
            lacks = [role for role in lacks if role not in (TEXT, VALUE)]
        for role in lacks:
            numbers = " of numbers" if role == VALUE else ""
            what = f"no column{numbers} could be told to hold the {role} of {self.kind}"
            fix = f"say which: --columns {self.kind}.{role}=COLUMN, of {listed(self.sheet.columns)}"
            if role == VALUE and self.kind == "ratings":
                fix += "; or, of grades in words, their order: --scale COLUMN=WORST<...<BEST"
            self.ask(what, fix)
        return None if lacks else Columns(self.roles, self.spread, self.pattern)


def key_column(guess: Guess) -> str | None:
    """A column of short keys, as many as there can be documents; None if there is none."""
    system = guess.roles.get(SYSTEM)
    for column in guess.free:
        keys = [(cells[column], cells[system] if system else "") for _, cells in guess.sheet.rows]
        whole = all(key for key, _ in keys) and len(set(keys)) == len(keys)
        if whole and not wordy(guess.sheet, column):
            return column
    return None


def known(sheet: Sheet, column: str, keys: Collection[str]) -> float:
    """The share of a column's different cells that are among the keys."""
    held = set(sheet.cells(column))
    return len(held & set(keys)) / len(held) if held else 0.0


def numeric(sheet: Sheet, columns: Sequence[str]) -> list[str]:
    """Columns of numbers; a few cells may hold something else, which is a problem later."""
    return [column for column in columns if share_of_numbers(sheet, column) >= NUMERIC]


def share_of_numbers(sheet: Sheet, column: str) -> float:
    """Of the cells that say anything, those that are numbers."""
    numbers = sheet.numbers(column)
    cells = [cell for cell in sheet.cells(column) if not numbers.none(cell)]
    if numbers.fault:  # which numbers they are is asked later
        right = sum(map(seems_a_number, cells))
    else:
        right = sum(numbers.number(cell) is not None for cell in cells)
    return right / len(cells) if cells else 0.0


def wordy(sheet: Sheet, column: str) -> bool:
    """Whether it holds texts."""
    return words(sheet, column) >= _WORDS and not numeric(sheet, [column])


def words(sheet: Sheet, column: str) -> float:
    """Of how many words its cells are, on average."""
    return fmean([len(cell.split()) for cell in sheet.cells(column)] or [0])


def listed(columns: Sequence[str]) -> str:
    """Names of columns, a few of them; a first row that is no header may hold somebody's text."""
    more = f" and {len(columns) - 12} more" if len(columns) > 12 else ""
    return ", ".join(shown(column) for column in columns[:12]) + more


def _counts_rows(sheet: Sheet, column: str) -> bool:
    """Whether it counts the rows of each file, from anywhere, where there are many."""
    numbers = sheet.numbers(column)
    held: dict[str, list[float | None]] = {}
    for at, cells in sheet.rows:
        if column not in sheet.files.get(at.file, ()):
            held.setdefault(at.file, []).append(numbers.number(cells[column]))
    return all(
        first is not None
        and len(mine) >= _COUNTED
        and mine == [first + n for n in range(len(mine))]
        for mine in held.values()
        for first in mine[:1]
    )
