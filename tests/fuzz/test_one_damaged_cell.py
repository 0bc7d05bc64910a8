"""One damaged cell in a random table: nothing else changes, and what is lost is named.

A value may be missing after the damage, if a line says so; or the table is refused, with the
column or row. No other value changes, no column goes, and no direction turns.
"""

import csv
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st

from metassay.api.columns import Roles
from metassay.api.eval_request import EvalRequest
from metassay.api.label_columns import find_columns
from metassay.api.label_table import find_kind, read_labels
from metassay.api.labels import PASS_FAIL, Choices
from metassay.api.meta_eval import _read_all
from metassay.api.verdict_table import read_verdicts
from metassay.core.errors import BadInput
from metassay.project.spreadsheets.read import Inputs, read_all
from metassay.tabular.files import read_sheet
from metassay.tabular.option_words import Caller
from metassay.tabular.rows import Findings
from tests.fuzz.rule import fuzz, handled

DOCUMENTS = [f"case{number}" for number in range(1, 9)]
SYSTEMS = ("alba", "brise")
RATERS = ("ann", "ben")
CRITERIA = ("fluency", "coherence", "errors")
DAMAGES = (
    "",
    " ",
    "n/a",
    "NA",
    "-",
    "nan",
    "#N/A",
    "null",
    "None",
    ".",
    "skip",
    "timeout",
    "x",
    "unsure",
    "n/a: resolved",
    "parse error",
    "30",
    "-1",
    "3.5",
    "3,5",
    "1,234",
    "1.234,5",
    "1e999",
    "inf",
    "0x1F",
    "½",
    "4/5",
    "5 stars",
    "★★★",
    "4 - good",
    "50%",
    "+2",
    "2 ",
    "'3",
    "yes",
    "no",
    "pass",
    "fail",
    "TRUE",
    "C",
    "I",
    "good",
    "poor",
    "maybe",
    "2026-03-04",
    "4-Mar",
    "#DIV/0!",
    "#REF!",
    "=1+1",
    "a remark of a rater who wrote more than a number here",
    "case1",
    "ann",
)
# What a damaged cell may be read as, if it is read: by hand, for each that holds a number.
NUMBERS = {
    "30": 30.0,
    "-1": -1.0,
    "3.5": 3.5,
    "3,5": 3.5,
    "+2": 2.0,
    "2 ": 2.0,
    "4/5": 4.0,
    "5 stars": 5.0,
    "★★★": 3.0,
    "4 - good": 4.0,
    "50%": 0.5,
    "yes": 1.0,
    "no": 0.0,
    "pass": 1.0,
    "fail": 0.0,
    "TRUE": 1.0,
}
KINDS: dict[str, Sequence[str]] = {
    "grades": ("1", "2", "3", "4", "5"),
    "shares": ("0.1", "0.25", "0.5", "0.75", "1"),
    "verdicts": ("pass", "fail"),
    "yes": ("yes", "no"),
    "out of": ("1/5", "3/5", "5/5"),
}


class Table(NamedTuple):
    """A header and rows; the columns from `first` on hold values."""

    rows: list[list[str]]
    first: int


def side_by_side(draw: random.Random) -> Table:
    """A column per criterion, a row per text and rater."""
    names = CRITERIA[: draw.randint(1, 3)]
    cells = [draw.choice([*KINDS.values()]) for _ in names]
    rows = [["doc_id", "system", "rater", *names]]
    for keys in texts(RATERS):
        rows.append([*keys, *map(draw.choice, cells)])
    return Table(rows, 3)


def long(draw: random.Random) -> Table:
    """A row per value."""
    cells = draw.choice([*KINDS.values()])
    rows = [["doc_id", "system", "rater", "criterion", "value"]]
    for keys in texts(RATERS):
        rows += [[*keys, name, draw.choice(cells)] for name in CRITERIA[:2]]
    return Table(rows, 4)


def rater_columns(draw: random.Random) -> Table:
    """A column per rater."""
    cells = draw.choice([*KINDS.values()])
    rows = [["doc_id", "system", "rater_1", "rater_2", "rater_3"]]
    for keys in texts():
        rows.append([*keys, *(draw.choice(cells) for _ in range(3))])
    return Table(rows, 2)


def two_parts(draw: random.Random) -> Table:
    """A column per criterion and rater."""
    cells = draw.choice([*KINDS.values()])
    names = [f"{name}_r{number}" for name in CRITERIA[:2] for number in (1, 2)]
    rows = [["doc_id", "system", *names]]
    for keys in texts():
        rows.append([*keys, *(draw.choice(cells) for _ in names)])
    return Table(rows, 2)


def texts(raters: Sequence[str] = ()) -> Iterator[list[str]]:
    for doc in DOCUMENTS:
        for system in SYSTEMS:
            if raters:
                yield from ([doc, system, rater] for rater in raters)
            else:
                yield [doc, system]


def verdicts(draw: random.Random) -> Table:
    """Judges and people side by side."""
    cells = draw.choice([KINDS["verdicts"], KINDS["yes"], ("1", "0")])
    names = ["judge_a", "judge_b", "human_1", "human_2", "human_3"]
    rows = [["item", *names]]
    for number in range(24):
        rows.append([f"i{number}", *(draw.choice(cells) for _ in names)])
    return Table(rows, 1)


Form = Callable[[random.Random], Table]
FORMS: tuple[Form, ...] = (side_by_side, long, rater_columns, two_parts)


class Read(NamedTuple):
    """Values by key, directions by criterion, and what is printed."""

    values: dict[tuple[str, ...], float]
    better: dict[str, str]
    lines: list[str]


def write(table: list[list[str]], folder: str, name: str = "r.csv") -> Path:
    path = Path(folder, name)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(table)
    return path


def by_meta_eval(table: list[list[str]]) -> Read:
    with tempfile.TemporaryDirectory() as folder:
        faults = Findings()
        sheet = read_sheet(write(table, folder), faults)
    if sheet is None or faults:
        raise BadInput(faults.lines())
    read = _read_all([], [sheet], EvalRequest(Roles(), {}, {}, None, [], {}))
    rated = read.ratings.table
    keys = rated[["doc_id", "author", "rater", "criterion"]].itertuples(index=False)
    return Read(
        dict(zip(map(tuple, keys), rated["value"], strict=True)),
        {name: scale.better for name, scale in read.settings.criteria.items()},
        [*read.ratings.notes, *read.settings.notes],
    )


def by_init(table: list[list[str]]) -> Read:
    with tempfile.TemporaryDirectory() as folder:
        of_texts = [[*keys, f"{keys[1]} says of {keys[0]} ..."] for keys in texts()]
        files = {
            "texts": [
                write([["doc_id", "system", "text"], *of_texts], folder, "t.csv")
            ],
            "ratings": [write(table, folder)],
        }
        read = read_all(Inputs(files))
    ratings = read.rows.ratings
    lines = [*read.tables["ratings"].sheet.notes, *read.directions]
    lines.append(f"empty: {read.empty['ratings']} missing")
    lines += [f"not read: {column}" for column in unread(read)]
    return Read(
        {
            (row.doc_id, row.author, row.rater, row.criterion): row.value
            for row in ratings
            if row.value is not None
        },
        {name: scale.better for name, scale in read.criteria.items()},
        lines,
    )


def unread(read: Any) -> list[str]:
    """The columns of ratings that init lists as not read."""
    return list(read.tables["ratings"].columns.unread(read.tables["ratings"].sheet))


def by_judge_check(table: list[list[str]]) -> Read:
    with tempfile.TemporaryDirectory() as folder:
        faults = Findings()
        sheet = read_sheet(write(table, folder), faults)
    if sheet is None or faults:
        raise BadInput(faults.lines())
    roles = find_columns(sheet, Choices(caller=Caller.TERMINAL))
    kind = find_kind(roles)
    read = read_verdicts(roles) if kind == PASS_FAIL else read_labels(roles, kind)
    values = {}
    for name, cells in {**read.judges, **read.raters}.items():
        for row, value in enumerate(np.asarray(cells, dtype=float)):
            if np.isfinite(value):
                values[str(row), name] = float(value)
    return Read(values, {}, list(read.notes))


def check(read: Any, table: Table, row: int, place: int, damage: str) -> None:
    """Read the table with and without the damage, and compare."""
    before = handled(lambda: read(table.rows))
    if before.problems:  # such as ranks by luck
        return
    row = row % (len(table.rows) - 1) + 1
    column = table.first + place % (len(table.rows[0]) - table.first)
    name = table.rows[0][column]
    damaged = [list(cells) for cells in table.rows]
    damaged[row][column] = damage
    after = handled(lambda: read(damaged))
    if after.problems:
        words = "\n".join(after.problems)
        assert name in words or f"line {row + 1}" in words, words
        return
    first, second = before.value, after.value
    changed = {
        key
        for key in {*first.values, *second.values}
        if first.values.get(key) != second.values.get(key)
    }
    words = "\n".join(second.lines)
    assert first.better == second.better, (first.better, second.better)
    assert len(changed) <= 1, f"{len(changed)} values changed: {words}"
    for key in changed:
        assert key in first.values, f"another value: {key}"
        if key in second.values:
            assert second.values[key] == NUMBERS.get(damage), (
                damage,
                second.values[key],
            )
        else:
            assert "missing" in words or "without an answer" in words, words
            assert name in words or read is by_init, words


def damages(form: Form) -> tuple[Any, ...]:
    return (
        st.integers(0, 10**6).map(lambda seed: form(random.Random(seed))),
        st.integers(0, 10**6),
        st.integers(0, 10**6),
        st.sampled_from(DAMAGES),
    )


@pytest.mark.parametrize("form", FORMS)
def test_meta_eval(form: Form) -> None:
    fuzz(lambda *drawn: check(by_meta_eval, *drawn), *damages(form))


@pytest.mark.parametrize("form", FORMS)
def test_init(form: Form) -> None:
    fuzz(lambda *drawn: check(by_init, *drawn), *damages(form))


def test_judge_check() -> None:
    fuzz(lambda *drawn: check(by_judge_check, *drawn), *damages(verdicts))
