"""Sheets of a study that came back: imported whole, or refused by file and row; nothing in half."""

import csv
import io
import tempfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metassay.studies import FORMATS, importing, key
from metassay.studies.export import write
from metassay.studies.record import Format
from tests.fuzz.mutations import ACCIDENTS, CHANGES, ODD_TEXTS, changed, damaged
from tests.fuzz.rule import CANARY, FEW, check_line, handled
from tests.studies.invented_tables import PLAIN, study
from tests.studies.test_sheets import FORMATS as SHEETS
from tests.studies.test_sheets import cells_of, filled, put

RATERS = ("anna", "ben")


def sent(form: Format) -> dict[str, bytes]:
    """The filled-in sheets of a small study and its key, by path."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "s"
        text = f"=A1 {CANARY} of {{author}}, {{doc}}"
        write(study(raters=RATERS, documents=("d1", "d2"), text=text), form, folder)
        for rater in RATERS:
            filled(folder / f"sheets/{rater}.{form.name}")
        files = [path for path in folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}


SENT = {name: sent(form) for name, form in SHEETS.items()}


def check(name: str, change: Any) -> None:
    """Import after a change to the first sheet; `change` gets its path."""
    form = SHEETS[name]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for file, content in SENT[name].items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_bytes(content)
        change(folder / f"sheets/anna.{name}")
        before = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        files = [folder / f"sheets/{rater}.{name}" for rater in RATERS]
        ended = handled(lambda: taken(files, folder, form))
        after = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        if ended.problems:
            assert after == before, "something was written"
            return
        for note in ended.value.notes:
            check_line(note)
        rows = list(csv.DictReader(io.StringIO((folder / "ratings.csv").read_text("utf-8"))))
        assert len(rows) == len(ended.value.ratings) == ended.value.n_questions == 24
        for row in rows:
            low, high = (1, 3) if row["criterion"] == "grade" else (0, 4)
            assert row["value"] == "" or low <= float(row["value"]) <= high
        said = io.StringIO((folder / "comments.csv").read_bytes().decode("utf-8"), newline="")
        assert not any(cell[:1] in tuple("=+-@") for one in csv.reader(said) for cell in one)


def taken(files: list[Path], folder: Path, form: Format) -> importing.Results:
    """What the command does."""
    known = key.read(folder / key.FILE)
    rows = importing.read_files(files, list(SHEETS.values()))
    found = importing.unblind(rows, known, PLAIN, partial=False)
    importing.write(found, known, folder)
    return found


@given(ACCIDENTS)
@example([("insert", 0.0, 0.0, 0, 1)])
@example([("cut", 0.125, 0.15625, 0, 1)])  # words of a text where the row's id was
def test_bytes_of_csv(accidents: Any) -> None:
    check("csv", lambda path: path.write_bytes(damaged(path.read_bytes(), accidents)))


@FEW
@given(ACCIDENTS)
def test_bytes_of_workbooks(accidents: Any) -> None:
    check("xlsx", lambda path: path.write_bytes(damaged(path.read_bytes(), accidents)))


_CELLS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from(ODD_TEXTS)),
    min_size=1,
    max_size=3,
)
_ROWS = st.lists(
    st.tuples(st.sampled_from(["drop", "double", "swap", "blank"]), st.integers(0, 7)), max_size=3
)


@pytest.mark.parametrize("name", SHEETS)
def test_cells_and_rows(name: str) -> None:
    @FEW if name == "xlsx" else (lambda test: test)
    @given(_CELLS, _ROWS)
    @example([(1, 3, "1" * 5000)], [])
    @example([(1, 0, "\ufeff")], [])
    def run(cells: Any, rows: Any) -> None:
        check(name, lambda path: rewritten(path, cells, rows))

    run()


def rewritten(path: Path, cells: Any, rows: Any) -> None:
    """The sheet with these cells, and then these rows, changed."""
    table = cells_of(path)
    for row, column, text in cells:
        line = table[row % len(table)]
        # No workbook and no CSV file holds these.
        line[column % len(line)] = openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE.sub(
            "", text.encode("utf-8", "ignore").decode("utf-8")
        )[:32_000]
    for what, at in rows:
        place = at % len(table) if table else 0
        if what == "drop":
            del table[place : place + 1]
        elif what == "swap":
            table[place:] = table[place:][::-1]
        elif what == "double":
            table[place:place] = table[place : place + 1]
        else:
            table[place:place] = [[""] * 6]
    put(path, table)


@given(CHANGES)
def test_keys(changes: Any) -> None:
    import json

    def change(sheet: Path) -> None:
        path = sheet.parent.parent / key.FILE
        content = changed(json.loads(path.read_text("utf-8")), changes)
        path.write_text(json.dumps(content), encoding="utf-8")

    form = SHEETS["csv"]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for file, content in SENT["csv"].items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_bytes(content)
        change(folder / "sheets/anna.csv")
        files = [folder / f"sheets/{rater}.csv" for rater in RATERS]
        ended = handled(lambda: taken(files, folder, form))
        assert (folder / "ratings.csv").exists() == (not ended.problems)


def test_every_format_is_tried() -> None:
    assert set(FORMATS) - {"label-studio"} == set(SHEETS)
