"""What a human study is made of: questions, rows, items, sheets, and what comes back.

There are two sides. What a form makes of a benchmark's tables knows whose text everything is
(`Target`, `Asked`, `DraftRow`, `Draft`). What a rater is sent knows only ids that tell nothing
(`SheetRow`, `Item`, `Sheet`): a format is handed a sheet and nothing else, so that it cannot
unblind anybody. The key, which joins the two, is in `key.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd

from metassay.core.options import Criterion
from metassay.tables.parquet import Table
from metassay.tabular.rows import Findings, Place


class Choice(NamedTuple):
    """One answer that may be picked: the word for it, its value, and when it is right."""

    word: str
    value: float
    means: str = ""


@dataclass(frozen=True)
class Question:
    """One thing that is asked of a row; an answer is a number or, by a choice's word, its value.

    `column` heads the sheet's column, and is the same for questions of one column that have other
    answers in other rows (a facet on 1-3, another on 1-4). `name` is unique within a study.
    """

    name: str
    column: str
    kind: Literal["choice", "number"]
    asks: str  # what the rater reads
    choices: tuple[Choice, ...] = ()  # of a choice
    low: float = 0.0  # of a number: its ends, both allowed
    high: float = 0.0
    whole: bool = False  # of a number: whole ones only
    capped: bool = False  # of a number: it counts penalties, and `high` is their cap

    @property
    def allowed(self) -> str:
        """The answers that are allowed, as sheets and messages say it."""
        if self.kind == "choice":
            return ", ".join(choice.word for choice in self.choices)
        return f"{'a whole number' if self.whole else 'a number'} {self.low:g} to {self.high:g}"


class Shown(NamedTuple):
    """Something that the rater reads, under its heading (a column of the sheet)."""

    heading: str
    text: str


class Target(NamedTuple):
    """What the answer to a question is a rating of: the key of RATINGS less study, rater."""

    doc_id: str
    author: str
    part: str
    unit: str
    criterion: str


class Asked(NamedTuple):
    """A question, and what its answer rates."""

    question: Question
    of: Target


class DraftRow(NamedTuple):
    """One row of a sheet, not yet blinded: what is read there alone, and what is asked of it."""

    shown: tuple[Shown, ...]
    asked: tuple[Asked, ...]


class Draft(NamedTuple):
    """What one rater gets whole or not at all: a text, or two; not yet blinded.

    `identity` is its place in the study, unique and sortable; `systems` whose texts it shows, which
    assignments are balanced by; `shown` is read with every row.
    """

    identity: tuple[str, ...]
    systems: tuple[str, ...]
    shown: tuple[Shown, ...]
    rows: tuple[DraftRow, ...]


class Made(NamedTuple):
    """What a form makes: items, the scale of each criterion, and what raters are told to do.

    `notes` say what was left out and how often; `datasets` whose text the items may repeat.
    """

    drafts: Sequence[Draft]
    criteria: Mapping[str, Criterion]
    instructions: tuple[str, ...]
    notes: tuple[str, ...] = ()
    datasets: frozenset[str] = frozenset()


class Answer(NamedTuple):
    """One answered question of one row: what it rates and its value; None where left empty."""

    of: Target
    value: float | None


@dataclass(frozen=True)
class Options:
    """What of `metassay study export` a form may look at."""

    seed: int
    rubric: str = ""  # a file rubrics/NAME.yaml
    claims: Literal["reference", "output", "both"] = "reference"
    disagreeing: tuple[str, str] | None = None  # labels of two metrics
    shares: bool = False  # of pairs: ask for the share of what is covered, too
    root: Path = Path()


Reads = Callable[[Table], pd.DataFrame]  # a table of the benchmark


@dataclass(frozen=True)
class Form:
    """One form: what is asked of whom, and how answers become ratings.

    `make(read, options)` makes items of a benchmark's tables; BadInput says what it lacks.
    `rate(answers)` makes ratings of one rater's answers about one item; no two may have one target.
    `together`: where not all items are asked for, all of one document are taken first.
    """

    name: str
    make: Callable[[Reads, Options], Made]
    rate: Callable[[Sequence[Answer]], list[Answer]] = list  # each answer is one
    together: bool = True


class SheetRow(NamedTuple):
    """One row as it is sent: its id (`<item>-<n>`), what is read, and the questions by column."""

    id: str
    shown: tuple[Shown, ...]
    asks: tuple[Question, ...]


class Item(NamedTuple):
    """One item as it is sent; `shown` is read with each of its rows."""

    id: str
    shown: tuple[Shown, ...]
    rows: tuple[SheetRow, ...]


@dataclass(frozen=True)
class Sheet:
    """All that one rater gets, in this rater's order: nothing here says who wrote what."""

    study: str
    rater: str
    instructions: tuple[str, ...]
    items: tuple[Item, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the questions, in the order in which they are first asked."""
        asked = (q.column for item in self.items for row in item.rows for q in row.asks)
        return tuple(dict.fromkeys(asked))

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of what is read: an item's before a row's, in the order of the items."""
        of_items = (shown.heading for item in self.items for shown in item.shown)
        of_rows = (s.heading for item in self.items for row in item.rows for s in row.shown)
        return tuple(dict.fromkeys((*of_items, *of_rows)))


class Returned(NamedTuple):
    """One row as it came back: nothing of it is believed before it is held against the key.

    `at` is the file and row; `shown` has the texts by heading where the format brings them back
    (None where it does not); `answers` what was filled in by column, as text, empty ones as "".
    """

    at: Place
    rater: str
    row: str
    shown: Mapping[str, str] | None
    answers: Mapping[str, str]
    comment: str = ""


@dataclass(frozen=True)
class Format:
    """One way to send sheets out and read them back.

    `write(sheet, folder)` writes the files of one rater into `folder` (and what all raters share,
    the same bytes each time) and gives their names. `read(path, problems)` gives the rows of one
    file that came back; what cannot be read is a problem with file and row, and never a traceback.
    """

    name: str
    endings: tuple[str, ...]  # of files that come back, with the dot and in lower case
    write: Callable[[Sheet, Path], list[str]]
    read: Callable[[Path, Findings], list[Returned]]


@dataclass(frozen=True)
class Study:
    """A study as it was sent out; `seed` and `targets` unblind it.

    `assignments` has the ids of each rater's items, in the rater's order. `targets` maps a row's id
    and a column to what is rated there.
    """

    benchmark: str
    name: str
    form: str
    seed: int
    criteria: Mapping[str, Criterion]
    instructions: tuple[str, ...]
    items: tuple[Item, ...]
    assignments: Mapping[str, tuple[str, ...]]
    targets: Mapping[tuple[str, str], Target] = field(repr=False)
    drawn_by: Mapping[str, Any] = field(default_factory=dict)  # the decision and chances of --next

    def sheets(self) -> list[Sheet]:
        """What each rater gets."""
        by_id = {item.id: item for item in self.items}
        return [
            Sheet(self.name, rater, self.instructions, tuple(by_id[item] for item in items))
            for rater, items in self.assignments.items()
        ]
