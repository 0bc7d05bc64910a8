"""Records are drawn whole, the same twice, and again only where what they show has changed."""

import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure

from metassay.reporting.contract_page import TABLES
from metassay.reporting.published.printed import read_printed
from metassay.tables.parquet import read
from papers import FORMATS, pictures
from papers.cells import Cell, Cells, find_cells
from papers.draw import Inputs, Outcome, draw_paper
from papers.record import Line, Numbers, Record
from tests.papers.invented import (
    BOARD,
    COLUMNS,
    FORMS,
    PRINTED,
    ROWS,
    every_form,
    project,
    record,
    write_board,
)


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    return project(tmp_path)


def drawn(root: Path, inputs: Inputs, *records: Record, version: str = "1") -> Outcome:
    return draw_paper(
        records, inputs, root / "out", store=root / "store", version=version
    )


def cells(inputs: Inputs, of: Record) -> Cells:
    def table(benchmark: str, name: str) -> Any:
        return read(TABLES[name], inputs.table(benchmark, name))

    printed = read_printed(inputs.printed(PRINTED)) if of.printed_files else None
    return find_cells(of, table, printed)


# ---- cells -----------------------------------------------------------------------------------


def test_ours_stand_beside_what_was_printed(inputs: Inputs) -> None:
    of_record = cells(inputs, record())
    first, _, second, _ = of_record.cells
    assert first[:7] == ("", "First & 50 %", "Recall", 0.5, 0.4, 0.6, 9)
    assert (first.published, first.difference) == (0.5, 0.0)
    assert second.difference == pytest.approx(0.0012)
    # A printed dash is not a number; the third system is printed and not here.
    assert (of_record.n_printed, of_record.n_compared) == (3, 2)
    assert of_record.absent == ("Not here",)
    assert of_record.rows == ("First & 50 %", "Second_τ")


def test_a_sign_is_turned_with_its_interval_and_a_weighted_sum_has_none(
    inputs: Inputs,
) -> None:
    numbers = replace(BOARD, scale=-100)
    (cell,) = cells(
        inputs, record(numbers=numbers, rows=ROWS[:1], columns=COLUMNS[:1])
    ).cells
    assert (cell.ours, cell.low, cell.high) == pytest.approx((-50, -60, -40))
    both = ((0.5, {"metric": "claim_recall"}), (-0.25, {"metric": "words"}))
    columns = (Line(title="Both", parts=both),)
    (cell,) = cells(
        inputs, record(rows=ROWS[:1], columns=columns, printed_files=())
    ).cells
    assert (cell.ours, cell.low) == (0.25 - 25.0, None)
    lacking = (*both, (1.0, {"metric": "style"}))
    columns = (Line(title="All", parts=lacking),)
    assert not cells(
        inputs, record(rows=ROWS[:1], columns=columns, printed_files=())
    ).cells


@pytest.mark.parametrize("ours", [{"author": "three"}, None])
def test_a_printed_number_stands_alone_in_a_line_that_says_so(
    tmp_path: Path, inputs: Inputs, ours: dict[str, str] | None
) -> None:
    """Whether our table lacks the system, or the line names none of ours."""
    third = replace(ROWS[2], ours=ours, printed_alone=True)
    shown = record(rows=[ROWS[0], third])
    of_record = cells(inputs, shown)
    alone = of_record.cells[-1]
    assert (alone.row, alone.column, alone.published) == ("Not here", "Recall", 0.9)
    assert math.isnan(alone.ours)
    assert alone.difference is None
    # Counted as a printed number that stands beside none of ours.
    assert (of_record.n_printed, of_record.n_compared) == (3, 1)
    assert of_record.absent == ()
    dots = replace(shown, name="fig1", form="dots")
    drawn(tmp_path, inputs, shown, dots)
    table = (tmp_path / "out/table1.md").read_text(encoding="utf-8")
    assert "| Not here |  | 0.90 |  |  |" in table
    row = (tmp_path / "out/table1.csv").read_text(encoding="utf-8").splitlines()[-1]
    assert row == ",Not here,Recall,,,,,0.9,"
    assert (tmp_path / "out/fig1.svg").is_file()


def test_printed_numbers_without_any_of_ours_are_not_drawn(
    tmp_path: Path, inputs: Inputs
) -> None:
    alone = record(rows=[replace(ROWS[2], printed_alone=True)])
    outcome = drawn(tmp_path, inputs, alone)
    assert outcome.lacking == {"table1": [("ward", "leaderboard")]}
    assert not list((tmp_path / "out").iterdir())


def test_forms_that_need_our_number_say_so(tmp_path: Path, inputs: Inputs) -> None:
    rows = [ROWS[0], replace(ROWS[2], printed_alone=True)]
    outcome = drawn(tmp_path, inputs, record("fig2", "bars", rows=rows))
    ((problem,),) = outcome.damaged.values()
    assert "invented fig2: bars cannot show printed numbers alone" in problem


X = Line(title="x", ours={"author": "one"})


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"numbers": Numbers(benchmark="ward", table="leaderboard", value="macroo")},
            r"invented table2: table leaderboard of ward: has no column 'macroo'; it has part, ",
        ),
        (
            {"columns": (Line(title="Recall", ours={"metrik": "claim_recall"}),)},
            r"table leaderboard of ward: has no column 'metrik'",
        ),
        (
            {"columns": (Line(title="All"),)},
            r"2 rows meet author = one; add a condition to the record",
        ),
        (
            {"rows": (replace(X, printed={"System": "First"}),)},
            r"invented table2: invented_table1\.csv: has no column 'System'",
        ),
        (
            {"rows": (X,), "columns": COLUMNS[:1]},
            r"invented_table1\.csv: 3 rows meet quantity = Recall; add a condition",
        ),
        (
            {"numbers": replace(BOARD, n="n", n_undefined="n_gone")},
            r"table leaderboard of ward: has no column 'n', 'n_gone'; it has part, ",
        ),
        (
            {"numbers": Numbers(benchmark="ward", table="leaderbord", value="macro")},
            r"leaderbord: no such table; choose",
        ),
        ({"printed_files": ("no.csv",)}, r"no\.csv does not exist; restore it"),
        ({"numbers": None}, r"names no numbers; fix the record"),
        (
            {"form": "scatter", "columns": COLUMNS[:1], "numbers": BOARD},
            "invented table2: a scatter takes two columns, not 1",
        ),
    ],
)
def test_a_record_that_is_wrong_is_told_and_the_others_are_drawn(
    changes: dict[str, Any], problem: str, tmp_path: Path, inputs: Inputs
) -> None:
    drawn(tmp_path, inputs, record(), record("table2"))
    before = digest(tmp_path / "out")
    outcome = drawn(tmp_path, inputs, record(), replace(record("table2"), **changes))
    assert list(outcome.damaged) == ["table2"]
    assert re.search(problem, "\n".join(outcome.damaged["table2"]))
    of_first = {name: sha for name, sha in before.items() if name.startswith("table1.")}
    assert digest(tmp_path / "out") == of_first


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"PAR1 and then nothing", "leaderboard: .*leaderboard.parquet.*"),
        (b"", "leaderboard.parquet is damaged or is not a Parquet file"),
        ("drop", "without 'macro'"),
        ("nan", "'macro' is not a finite number in 4 row"),
        ("folder", "leaderboard.parquet is not a file"),
        ("folder of folders", "leaderboard.parquet is not a file"),
        ("pipe", "leaderboard.parquet is not a file"),
    ],
)
def test_a_damaged_table_stops_only_what_it_feeds(
    content: bytes | str, problem: str, tmp_path: Path, inputs: Inputs
) -> None:
    drawn(tmp_path, inputs, *TWO)
    before = digest(tmp_path / "out")
    board = inputs.table("ward", "leaderboard")
    whole = board.read_bytes()
    damage_table(board, content)
    outcome = drawn(tmp_path, inputs, *TWO)
    assert (outcome.drawn, outcome.unchanged) == ([], ["table2"])
    assert list(outcome.damaged) == ["table1"]
    assert re.search(problem, "".join(outcome.damaged["table1"]))
    assert {name.split(".")[0] for name in digest(tmp_path / "out")} == {"table2"}
    shutil.rmtree(board) if board.is_dir() else board.unlink()
    board.write_bytes(whole)
    drawn(tmp_path, inputs, *TWO)
    assert digest(tmp_path / "out") == before


def damage_table(file: Path, content: bytes | str) -> None:
    rows = pq.read_table(file)
    file.unlink()
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif content == "pipe":
        os.mkfifo(file)
    elif content in ("drop", "nan"):
        at = rows.column_names.index("macro")
        nan = rows.set_column(at, "macro", pa.array([math.nan] * len(rows)))
        pq.write_table(nan if content == "nan" else rows.drop_columns(["macro"]), file)
    else:
        (file / "x.parquet" if content == "folder of folders" else file).mkdir(
            parents=True
        )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\xff\xfe\x00", "is damaged; restore it"),
        (b'paper,"table\n1,2,3', "is damaged; restore it"),
        (None, "row 3: `value` is not a number"),
    ],
)
def test_a_damaged_print_stops_only_who_stands_beside_it(
    content: bytes | None, problem: str, tmp_path: Path, inputs: Inputs
) -> None:
    printed = inputs.printed(PRINTED)
    printed.write_bytes(content or printed.read_bytes().replace(b"0.75", b"7a"))
    outcome = drawn(tmp_path, inputs, *TWO)
    assert outcome.drawn == ["table2"]
    assert re.search(problem, "".join(outcome.damaged["table1"]))


# ---- files -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where every form was drawn."""
    root = tmp_path_factory.mktemp("every")
    outcome = drawn(root, project(root), *every_form())
    assert outcome.open == ["fig9"]
    return root / "out"


def test_each_form_has_its_files_and_nothing_in_a_file_is_of_its_time(
    every: Path,
) -> None:
    files = {file.name for file in every.iterdir()}
    tables = {f"table{n}.{kind}" for n in (1, 2) for kind in ("tex", "md", "csv")}
    drawings = {f"fig_{f}.{kind}" for f in FORMS for kind in FORMATS if kind != "tex"}
    assert files == tables | drawings
    page = (every / "table1.md").read_text(encoding="utf-8")
    assert "| First & 50 % | 0.50 [0.40, 0.60] | 0.50 | 0.00 | 100.00" in page.replace(
        "&amp;", "&"
    )
    assert (
        "Of 3 printed numbers, 2 stand beside ours; 1 has no counterpart here." in page
    )
    for file in every.iterdir():
        content = file.read_bytes()
        for word in (
            b"CreationDate",
            b"<dc:date",
            b"Matplotlib",
            b"Software",
            b"/Producer",
        ):
            assert word not in content, file.name
    assert b"/FontFile2" in (every / "fig_dots.pdf").read_bytes()  # TrueType, embedded
    assert b"<text" not in (every / "fig_dots.svg").read_bytes()  # outlines


def test_what_may_not_be_subtracted_is_not(tmp_path: Path, inputs: Inputs) -> None:
    drawn(tmp_path, inputs, record(not_comparable="another judge."))
    page = (tmp_path / "out/table1.md").read_text(encoding="utf-8")
    assert "No differences: another judge." in page
    assert "Recall printed |" in page
    assert "Recall difference" not in page
    assert pd.read_csv(tmp_path / "out/table1.csv")["difference"].isna().all()


_AGAIN = """
import json, sys
from pathlib import Path
from tests.papers.invented import every_form
from tests.papers.test_draw import digest, drawn
from papers.draw import inputs_in
root = Path(sys.argv[1])
drawn(root / "again", inputs_in(root), *every_form())
print(json.dumps(digest(root / "again/out")))
"""


def test_another_process_draws_the_same_bytes(every: Path) -> None:
    again = subprocess.run(
        [sys.executable, "-c", _AGAIN, str(every.parent)],
        env={
            **os.environ,
            "PYTHONHASHSEED": "7",
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        check=True,
        capture_output=True,
        text=True,
    )
    assert json.loads(again.stdout) == digest(every)


def digest(folder: Path) -> dict[str, str]:
    files = sorted(folder.iterdir())
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


# ---- what is drawn again ---------------------------------------------------------------------

TWO = (
    record(),
    record(
        "table2",
        numbers=Numbers(benchmark="clinic", table="leaderboard", value="macro"),
        printed_files=(),
    ),
)


def test_only_what_has_another_table_record_print_or_code_is_drawn_again(
    tmp_path: Path, inputs: Inputs
) -> None:
    assert drawn(tmp_path, inputs, *TWO).drawn == ["table1", "table2"]
    first = digest(tmp_path / "out")
    outcome = drawn(tmp_path, inputs, *TWO)
    assert (outcome.drawn, outcome.unchanged) == ([], ["table1", "table2"])
    assert outcome.absent == {"table1": ("Not here",), "table2": ("Not here",)}
    assert digest(tmp_path / "out") == first

    write_board(tmp_path, "clinic", {"one": 0.1, "two": 0.3})
    outcome = drawn(tmp_path, inputs, *TWO)
    assert (outcome.drawn, outcome.unchanged) == (["table2"], ["table1"])
    changed = {
        name for name, sha in digest(tmp_path / "out").items() if first[name] != sha
    }
    assert changed == {"table2.csv", "table2.md", "table2.tex"}

    assert drawn(tmp_path, inputs, record(decimals=3), TWO[1]).drawn == ["table1"]
    printed = inputs.printed(PRINTED)
    printed.write_text(
        printed.read_text(encoding="utf-8").replace("0.75", "0.76"), "utf-8"
    )
    assert drawn(tmp_path, inputs, *TWO).drawn == ["table1"]
    assert drawn(tmp_path, inputs, *TWO, version="2").drawn == ["table1", "table2"]


def test_a_killed_run_leaves_every_file_old_or_new(
    tmp_path: Path, inputs: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn(tmp_path, inputs, *TWO)
    before = digest(tmp_path / "out")
    write_board(tmp_path, "clinic", {"one": 0.1, "two": 0.3})
    replaced = Path.replace

    def killed(file: Path, path: Path) -> Path:
        if Path(path).name == "table2.csv":
            raise KeyboardInterrupt
        return replaced(file, path)

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        drawn(tmp_path, inputs, *TWO)
    monkeypatch.undo()
    half = digest(tmp_path / "out")
    assert set(half) == set(before)
    assert len({name for name in half if half[name] != before[name]}) == 2
    (tmp_path / "out/.table2.csv.abc.unfinished").write_text(
        "of a run that got no chance"
    )
    drawn(tmp_path, inputs, *TWO)
    after = digest(tmp_path / "out")
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"table2.md", "table2.csv", "table2.tex"}


def test_a_damaged_drawing_is_drawn_again(tmp_path: Path, inputs: Inputs) -> None:
    drawn(tmp_path, inputs, record())
    first = digest(tmp_path / "out")
    (stored,) = (tmp_path / "store/invented").iterdir()
    assert zipfile.is_zipfile(stored)
    whole = stored.read_bytes()
    # the count of files
    for at in (*range(0, len(whole), len(whole) // 40), len(whole) - 12):
        stored.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert drawn(tmp_path, inputs, record()).drawn == ["table1"]
        assert digest(tmp_path / "out") == first
    for damaged in (b"", whole[:100], whole[100:]):
        stored.write_bytes(damaged)
        assert drawn(tmp_path, inputs, record()).drawn == ["table1"]
    assert digest(tmp_path / "out") == first


def test_what_lacks_a_table_or_every_number_is_left_out_and_told(
    tmp_path: Path, inputs: Inputs
) -> None:
    elsewhere = record(
        "fig1",
        numbers=Numbers(benchmark="nowhere", table="leaderboard", value="macro"),
        printed_files=(),
    )
    nobody = record("fig2", rows=ROWS[2:])
    outcome = drawn(tmp_path, inputs, record(), elsewhere, nobody)
    lacking = {"fig1": [("nowhere", "leaderboard")], "fig2": [("ward", "leaderboard")]}
    assert outcome.lacking == lacking
    assert {file.stem for file in (tmp_path / "out").iterdir()} == {"table1"}


def test_formats_are_those_asked_for(tmp_path: Path, inputs: Inputs) -> None:
    chosen = ("pdf", "tex")
    store = tmp_path / "store"
    records = (record(), record("fig1", "dots"))
    draw_paper(
        records, inputs, tmp_path / "out", store=store, version="1", formats=chosen
    )
    assert set(digest(tmp_path / "out")) == {"table1.tex", "fig1.pdf"}
    assert drawn(tmp_path, inputs, *records).drawn == []


def test_names_of_bars_and_points_stand_clear_of_bars_and_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A bar below 0 has its name beyond 0; a point's name is beside all intervals."""
    figures: list[Figure] = []
    monkeypatch.setattr(pictures, "lay_out", figures.append)
    columns = ("c", "d")
    bars = tuple(Cell("", "r", column, -0.4, -0.5, -0.3) for column in columns)
    pictures.picture_files(record("fig1", "bars"), Cells(bars, ("",), ("r",), columns))
    texts = figures[0].axes[0].texts
    assert [(text.get_text(), text.xy[0]) for text in texts] == [("c", 0.0), ("d", 0.0)]  # type: ignore[attr-defined]
    # The second one's upright interval stands just to the right of the first point.
    places = {"first": (0.0, 0.0), "second": (0.06, 0.5), "third": (1.0, 1.0)}
    points = tuple(
        Cell("", row, column, value, value - half, value + half)
        for row, place in places.items()
        for half in [0.6 * (row == "second")]
        for column, value in zip(columns, place, strict=True)
    )
    pictures.picture_files(
        record("fig2", "scatter"), Cells(points, ("",), tuple(places), columns)
    )
    name = next(text for text in figures[1].axes[0].texts if text.get_text() == "first")
    assert name.get_ha() == "right"
