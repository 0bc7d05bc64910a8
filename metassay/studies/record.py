"""The records of a human study: questions, rows, items, sheets, and rows that come back.

There are two sides. What a form makes of a benchmark's tables names authors (`Target`,
`TargetQuestion`, `DraftRow`, `Draft`). What a rater gets has only meaningless ids
(`SheetRow`, `Item`, `Sheet`). A format sees nothing but a sheet, so it cannot unblind
anybody. The key (`key.py`) joins the two.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd

from metassay.core.options import Criterion
from metassay.tables.parquet import Table
from metassay.tabular.rows import Findings, Place


class Choice(NamedTuple):
    """An allowed answer: its word, its value, and when to choose it."""

    word: str
    value: float
    means: str = ""


@dataclass(frozen=True)
class Question:
    """A question about a row; its answer is a number, or a choice's word that stands for a value.

    `column` heads the sheet's column. Questions of one column may allow different
    answers (a facet on 1-3, another on 1-4). `name` is unique within a study.
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
        """The allowed answers, in the words of sheets and messages."""
        if self.kind == "choice":
            return ", ".join(choice.word for choice in self.choices)
        return f"{'a whole number' if self.whole else 'a number'} {self.low:g} to {self.high:g}"


class SheetText(NamedTuple):
    """A text that the rater reads, under its heading (a column of the sheet)."""

    heading: str
    text: str


class Target(NamedTuple):
    """What an answer rates: the key of RATINGS without study and rater."""

    doc_id: str
    author: str
    part: str
    unit: str
    criterion: str


class TargetQuestion(NamedTuple):
    """A question, and what its answer rates."""

    question: Question
    target: Target


class DraftRow(NamedTuple):
    """One row of a sheet, not yet blinded: its texts and its questions."""

    texts: tuple[SheetText, ...]
    questions: tuple[TargetQuestion, ...]


class Draft(NamedTuple):
    """An item, not yet blinded: a text or two that a rater gets whole or not at all.

    `identity` is its place in the study, unique and sortable. Assignments are balanced
    by `systems`, the authors of its texts. `texts` are read with every row.
    """

    identity: tuple[str, ...]
    systems: tuple[str, ...]
    texts: tuple[SheetText, ...]
    rows: tuple[DraftRow, ...]


class StudyDraft(NamedTuple):
    """What a form makes: items, the scale of each criterion, and instructions for raters.

    `notes` say what was left out and how often; `datasets` are those whose text items
    may repeat; `drawn_by` says by what texts were chosen: the decision and chances of
    --next, or the metrics that disagree, with the text of each pair that each prefers.
    """

    drafts: Sequence[Draft]
    criteria: Mapping[str, Criterion]
    instructions: tuple[str, ...]
    notes: tuple[str, ...] = ()
    datasets: frozenset[str] = frozenset()
    drawn_by: Mapping[str, Any] = {}


class Answer(NamedTuple):
    """The answer to a question: what it rates, and its value; None if it was left empty."""

    target: Target
    value: float | None


@dataclass(frozen=True)
class Options:
    """The options of `metassay study export` that forms read."""

    seed: int
    rubric: str = ""  # a file rubrics/NAME.yaml
    claims: Literal["reference", "output", "both"] = "reference"
    disagreeing: tuple[str, str] | None = None  # labels of two metrics
    # of pairs: ask for the share of the reference that is covered, too
    shares: bool = False
    questions: Path | None = None  # of reading: a CSV of questions about documents
    root: Path = Path()


ReadTable = Callable[[Table], pd.DataFrame]  # a table of the benchmark


@dataclass(frozen=True)
class Form:
    """A form: which questions it asks of texts, and how answers become ratings.

    `make(read, options)` makes items of a benchmark's tables; BadInput says what these
    lack. `rate(answers)` makes ratings of a rater's answers about one item; their
    targets differ. `together`: a part of all items takes whole documents, one after the
    other.
    """

    name: str
    make: Callable[[ReadTable, Options], StudyDraft]
    rate: Callable[[Sequence[Answer]], list[Answer]] = list  # each answer is a rating
    together: bool = True


class SheetRow(NamedTuple):
    """A blinded row: its id (`<item>-<n>`), texts, and questions of different columns."""

    id: str
    texts: tuple[SheetText, ...]
    questions: tuple[Question, ...]


class Item(NamedTuple):
    """A blinded item; `texts` are read with each of its rows."""

    id: str
    texts: tuple[SheetText, ...]
    rows: tuple[SheetRow, ...]


@dataclass(frozen=True)
class Sheet:
    """All items of a rater, blinded, in this rater's order."""

    study: str
    rater: str
    instructions: tuple[str, ...]
    items: tuple[Item, ...]

    @property
    def rows(self) -> list["SheetRow"]:
        """The rows of all items."""
        return [row for item in self.items for row in item.rows]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the questions, in the order of their first question."""
        columns = (question.column for row in self.rows for question in row.questions)
        return tuple(dict.fromkeys(columns))

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of texts: those of items before those of rows, in the items' order."""
        of_items = (text.heading for item in self.items for text in item.texts)
        of_rows = (text.heading for row in self.rows for text in row.texts)
        return tuple(dict.fromkeys((*of_items, *of_rows)))


class ReturnedRow(NamedTuple):
    """A row as it came back, not yet checked against the key.

    `at` is the file and row; `texts` are by heading (None if the format does not return
    them); `answers` are by column, "" if empty.
    """

    at: Place
    rater: str
    row: str
    texts: Mapping[str, str] | None
    answers: Mapping[str, str]
    comment: str = ""


@dataclass(frozen=True)
class Format:
    """A file format of sheets.

    `write(sheet, folder)` writes the files of one rater, and files that all raters
    share (the same bytes each time), and returns their names. `read(path, problems)`
    returns the rows of a file that came back; anything unreadable is a problem with
    file and row, never a traceback.
    """

    name: str
    endings: tuple[str, ...]  # of files that come back, with the dot and in lower case
    write: Callable[[Sheet, Path], list[str]]
    read: Callable[[Path, Findings], list[ReturnedRow]]
