"""Sheets of a study that came back: imported whole, or refused by file and row; nothing in half."""

import csv
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metassay.studies import FORMATS, importing, key, label_studio
from metassay.studies.export import write
from metassay.studies.record import Format
from tests.fuzz.mutations import ACCIDENTS, CHANGES, ODD_TEXTS, changed, damaged
from tests.fuzz.rule import CANARY, FEW, check_line, fuzz, handled
from tests.studies.invented_tables import PLAIN, study
from tests.studies.test_sheets import FORMATS as SHEETS
from tests.studies.test_sheets import cells_of, filled, put

RATERS = ("anna", "ben")
KINDS: dict[str, Format] = {**SHEETS, "json": label_studio.KIND}


def sent(name: str) -> dict[str, bytes]:
    """The filled-in sheets of a small study and its key, by path."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "s"
        text = f"=A1 {CANARY} of {{author}}, {{doc}}"
        write(
            study(raters=RATERS, documents=("d1", "d2"), text=text), KINDS[name], folder
        )
        for rater in RATERS:
            sheet = folder / f"sheets/{rater}.{name}"
            if name == "json":
                sheet.write_text(
                    json.dumps(exported(json.loads(sheet.read_bytes()))), "utf-8"
                )
            else:
                filled(sheet)
        files = [path for path in folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def exported(tasks: list[Any]) -> list[Any]:
    """Label Studio's export with a grade, a count and a comment per task, one task skipped."""
    values = {"choices": ["2"]}, {"number": 3}, {"text": [f"{CANARY}?"]}
    names = ("answer_1", "choices"), ("answer_2", "number"), ("comment", "textarea")
    results = [
        {"id": "a", "from_name": name, "to_name": "row", "type": kind, "value": value}
        for (name, kind), value in zip(names, values, strict=True)
    ]
    return [
        {"id": n, "drafts": [], "predictions": [], "data": task["data"]}
        | {
            "annotations": [
                {"id": n, "completed_by": 1, "was_cancelled": n == 2}
                | {"result": results if n != 2 else []}
            ]
        }
        for n, task in enumerate(tasks, start=1)
    ]


SENT = {name: sent(name) for name in KINDS}


def check(name: str, change: Callable[[Path], Any], *, partial: bool = False) -> bool:
    """Whether sheets are imported after a change to the first; `change` gets its path."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for file, content in SENT[name].items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_bytes(content)
        change(folder / f"sheets/anna.{name}")
        before = {
            path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()
        }

        def take() -> importing.Results:
            """Do what the command does."""
            known = key.read(folder / key.FILE)
            files = [folder / f"sheets/{rater}.{name}" for rater in RATERS]
            rows = importing.read_files(files, [KINDS[name]])
            results = importing.unblind(rows, known, PLAIN, partial=partial)
            importing.write(results, known, folder)
            return results

        ended = handled(take)
        if ended.problems:
            after = {
                path.name: path.read_bytes()
                for path in folder.rglob("*")
                if path.is_file()
            }
            assert after == before, "something was written"
            assert name != "json" or all(".json" in line for line in ended.problems)
            return False
        for note in ended.value.notes:
            check_line(note)
        rows = list(
            csv.DictReader(io.StringIO((folder / "ratings.csv").read_text("utf-8")))
        )
        assert len(rows) == len(ended.value.ratings) == ended.value.n_questions
        if before["key.json"] != SENT[name]["key.json"]:
            return True
        assert len(rows) == 24
        for row in rows:
            low, high = (1, 3) if row["criterion"] == "grade" else (0, 4)
            assert row["value"] == "" or low <= float(row["value"]) <= high
        comments = io.StringIO(
            (folder / "comments.csv").read_bytes().decode("utf-8"), newline=""
        )
        assert not any(
            cell[:1] in tuple("=+-@") for row in csv.reader(comments) for cell in row
        )
        return True


@given(ACCIDENTS)
@example([("insert", 0.0, 0.0, 0, 1)])
@example([("cut", 0.125, 0.15625, 0, 1)])  # words of a text where the row's id was
def test_bytes_of_csv(accidents: Any) -> None:
    check("csv", lambda path: path.write_bytes(damaged(path.read_bytes(), accidents)))


@pytest.mark.parametrize("name", ["xlsx", "json"])
def test_bytes(name: str) -> None:
    def run(accidents: Any) -> None:
        check(
            name, lambda path: path.write_bytes(damaged(path.read_bytes(), accidents))
        )

    assert all(check(kind, lambda _: None) for kind in KINDS)
    fuzz(run, ACCIDENTS, few=name == "xlsx")


_CELLS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from(ODD_TEXTS)),
    min_size=1,
    max_size=3,
)
_ROWS = st.lists(
    st.tuples(st.sampled_from(["drop", "double", "swap", "blank"]), st.integers(0, 7)),
    max_size=3,
)


@pytest.mark.parametrize("name", SHEETS)
def test_cells_and_rows(name: str) -> None:
    @FEW if name == "xlsx" else (lambda test: test)
    @given(_CELLS, _ROWS)
    @example([(1, 3, "1" * 5000)], [])
    @example([(1, 0, "\ufeff")], [])
    def run(cells: Any, rows: Any) -> None:
        check(name, lambda path: rewrite(path, cells, rows))

    run()


def rewrite(path: Path, cells: Any, rows: Any) -> None:
    """Change these cells of a sheet, and then these rows."""
    table = cells_of(path)
    for row, column, text in cells:
        line = table[row % len(table)]
        # No workbook and no CSV file holds these.
        line[column % len(line)] = openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE.sub(
            "", text.encode("utf-8", "ignore").decode("utf-8")
        )[:32_000]
    for what, at in rows:
        place = at % len(table) if table else 0
        row = table[place : place + 1]
        if what == "swap":
            table[place:] = table[place:][::-1]
        elif what == "drop":
            del table[place : place + 1]
        else:
            table[place:place] = row if what == "double" else [[""] * 6]
    put(path, table)


def change_json(path: Path, changes: Any, *steps: Any) -> None:
    """Change the value of a file at these steps."""
    value = json.loads(path.read_text("utf-8"))
    holder: Any = {"": value}
    for step in ("", *steps)[:-1]:
        holder = holder[step]
    last = ("", *steps)[-1]
    holder[last] = changed(holder[last], changes)
    path.write_text(json.dumps(value if steps else holder[last]), encoding="utf-8")


def test_values() -> None:
    """Of a key, of an export of Label Studio, and of one of its results."""
    result = (0, "annotations", 0, "result")
    fuzz(
        lambda c: check("csv", lambda p: change_json(p.parents[1] / key.FILE, c)),
        CHANGES,
    )
    fuzz(
        lambda c, partial: check("json", lambda p: change_json(p, c), partial=partial),
        CHANGES,
        st.booleans(),
    )
    fuzz(lambda c: check("json", lambda p: change_json(p, c, *result)), CHANGES)


def test_every_format_is_tried() -> None:
    assert set(FORMATS) - {"label-studio"} == set(SHEETS)
