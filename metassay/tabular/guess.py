"""The roles of a table's columns as far as they are found, and what cells say of a column."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from metassay.core.errors import quoted
from metassay.tabular.column_synonyms import (
    USUAL,
    Role,
    fold_name,
    is_metadata,
    last_step,
)
from metassay.tabular.columns import Columns, Keys, Named, roles_in
from metassay.tabular.numbers import order_grades
from metassay.tabular.rows import Findings, Place
from metassay.tabular.sheet import Sheet, to_keys

# of a column's keys that must be those of the texts for it to be their column
SHARE = 0.5
NUMERIC = 0.9  # the smallest share of numbers in a column of numbers
# the smallest share of numbers in a column that is probably one of numbers
MIXED = 0.5
_WORDS = 3  # the smallest mean number of words of cells that are texts
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

    def take_usual(self, role: str) -> None:
        """Give a role the free column with a usual name."""
        if role in self.roles:
            return
        # A nested field, `metadata.model`, may have the name in its last step.
        for named in (fold_name, last_step):
            by_name = {named(column): column for column in reversed(self.free)}
            usual = (by_name[name] for name in USUAL[role] if name in by_name)
            self.take(role, next(usual, None))

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
        self.take_usual(role)
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
        free = [name for name in self.free if name not in self.sheet.chosen]
        graded = [name for name in free if self._is_scaled(name)]
        return [
            name
            for name in free
            if name in graded
            or (
                self.sheet.share_of_numbers(name) >= NUMERIC
                and (
                    name in self.metrics
                    or not (is_other(name) or _counts_rows(self.sheet, name))
                )
            )
        ]

    def _is_scaled(self, column: str) -> bool:
        """Whether the cells of a column are grades of a scale that the user gave."""
        if not self.sheet.words:
            return False
        cells = {cell.casefold() for cell in self.sheet.cells(column)}
        scales = (
            {word.casefold() for word in words} for words in self.sheet.words.values()
        )
        return bool(cells) and any(cells <= scale for scale in scales)

    def list_likely_ratings(self) -> list[str]:
        """Return free columns that may be ratings: of numbers, mostly so, or of usual grades."""
        numbers, others = {*self.numbers()}, {*numeric_columns(self.sheet, self.free)}
        return [
            name
            for name in self.free
            if name in numbers or (name not in others and self._has_grades(name))
        ]

    def _has_grades(self, column: str) -> bool:
        mixed = self.sheet.share_of_numbers(column) >= MIXED
        return mixed or bool(order_grades(self.sheet.cells(column)))

    def ask(self, what: str, fix: str) -> None:
        """Add a problem of the file."""
        self.problems.add(Place(self.sheet.name), what, fix)

    def option(self, role: str, *columns: str) -> str:
        """Write the option that names columns of this file by their role."""
        return self.sheet.caller.column(f"{self.kind}.{role}", *columns)

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
            option = self.option(role, "COLUMN")
            fix = f"say which: {option}, of {listed(self.sheet.columns)}"
            if role == Role.VALUE and self.kind == "ratings":
                scale = self.sheet.caller.option(
                    "scale", "WORST<...<BEST", key="COLUMN"
                )
                fix += f"; or, of grades in words, their order: {scale}"
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
    """Whether a column only numbers the rows of each file; False for few rows."""
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
