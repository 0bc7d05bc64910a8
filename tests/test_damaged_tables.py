"""Damaged tables: named with a remedy, or read as they were; never a crash, never other numbers."""

import os
import random
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metassay.core.errors import BadInput
from metassay.project.validation import table_problems
from metassay.reporting.contract_page import TABLES
from metassay.tables.parquet import Column, Table, read, write
from metassay.tracking.sentinel.anchors import read_stored
from tests.fuzz.mutations import spoilt

SECRET = "Zanzibar"  # stands in every text; no message may show it
ROWS = 120
DAMAGED = ("texts", "scores", "units", "sources", "pairs")


def cell(column: Column, name: str, row: int) -> object:
    """A value of the column's type, other than the one of the next row."""
    if column.choices:
        return column.choices[row % len(column.choices)]
    if pa.types.is_list(column.type):
        element = Column(column.type.value_type, "")
        return [cell(element, name, row + more) for more in range(row % 4)]
    words = (
        f" {SECRET} has had a cough for {row % 9} days, and no fever"
        if name == "text"
        else ""
    )
    by_type = {pa.int64(): row, pa.float64(): row / 7, pa.bool_(): row % 3 == 0}
    value = by_type.get(column.type, f"{name} {row:03}{words}")
    return None if column.null and row % 5 == 0 else value


def filled(table: Table) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {name: cell(c, name, row) for name, c in table.columns.items()}
            for row in range(ROWS)
        ]
    )


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("sound")
    for name in (*DAMAGED, "ratings"):
        write(TABLES[name], filled(TABLES[name]), folder / f"{name}.parquet")
    return {path.stem: path for path in folder.iterdir()}


def check(table: Table, path: Path, whole: pd.DataFrame) -> str:
    """Why the file was refused; nothing if it was read as it was."""
    try:
        frame = read(table, path)
    except BadInput as error:
        for problem in error.problems:
            assert problem.startswith(f"{table.name}: {path}")
            assert "; metassay run builds" in problem, f"no remedy in: {problem}"
            assert SECRET not in problem
        return str(error)
    assert frame.equals(whole)
    return ""


@pytest.mark.parametrize("name", DAMAGED)
def test_a_hundred_damages_of_a_table(
    name: str, sound: dict[str, Path], tmp_path: Path
) -> None:
    table, data = TABLES[name], sound[name].read_bytes()
    whole, draw, path = (
        read(table, sound[name]),
        random.Random(name),
        tmp_path / "t.parquet",
    )
    refused = 0
    for _ in range(100):
        path.write_bytes(spoilt(data, draw))
        refused += bool(check(table, path, whole))
    assert refused > 80, "what is read as it was are bytes that nobody reads"


def test_bytes_of_a_footer(sound: dict[str, Path], tmp_path: Path) -> None:
    """No checksum covers it: a count of rows that is too low would leave out rows in silence."""
    table, data = TABLES["ratings"], sound["ratings"].read_bytes()
    whole, path = read(table, sound["ratings"]), tmp_path / "t.parquet"
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    counted = False
    for at in (*range(footer, len(data) - 100, 8), *range(len(data) - 100, len(data))):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        counted |= "rows and counts" in check(table, path, whole)
    assert counted


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"value": pa.array(["1"])},
            "is of another version: 'value' is string, not double",
        ),
        (
            {"value": pa.array([float("nan")])},
            "'value' is not a finite number in 1 row(s)",
        ),
        (
            {"value": pa.array([float("-inf")])},
            "'value' is not a finite number in 1 row(s)",
        ),
        (
            {"rater": pa.array([7])},
            "is of another version: 'rater' is int64, not string",
        ),
        ({"rater": pa.array([None], pa.string())}, "'rater' is null in 1 row(s)"),
    ],
)
def test_a_sound_file_that_is_not_the_table(
    tmp_path: Path, changed: dict[str, pa.Array], message: str
) -> None:
    path, table = tmp_path / "ratings.parquet", TABLES["ratings"]
    write(table, filled(table).head(1), path)
    rows = pq.read_table(path)
    for name, values in changed.items():
        rows = rows.set_column(rows.schema.get_field_index(name), name, values)
    pq.write_table(rows, path)
    with pytest.raises(BadInput) as caught:
        read(table, path)
    assert message in str(caught.value)
    assert "; metassay run builds a benchmark's tables again" in str(caught.value)


def test_a_table_of_an_earlier_version_that_lacks_more(tmp_path: Path) -> None:
    """Its last column came later; the one before it is gone."""
    path, table = tmp_path / "responses.parquet", TABLES["responses"]
    write(table, filled(table).head(1).assign(logprobs=None), path)
    pq.write_table(pq.read_table(path).drop_columns(["text"]), path)
    with pytest.raises(
        BadInput, match="is of another version: without 'text'; metassay run"
    ):
        read(table, path)


def test_a_history_that_may_not_be_read_is_not_called_damaged(
    sound: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who believes that would move it away, and begin anew."""

    def refused(path: Path, *_: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(PermissionError):
        read_stored(TABLES["ratings"], sound["ratings"])


def test_lists_hold_no_null(tmp_path: Path) -> None:
    sources = filled(TABLES["sources"]).head(3)
    sources.at[2, "passages"] = ["a", None]
    with pytest.raises(
        BadInput, match=r"'passages' holds a null in 1 row\(s\).*'doc_id 002'"
    ):
        write(TABLES["sources"], sources, tmp_path / "sources.parquet")


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    path, table = tmp_path / "ratings.parquet", TABLES["ratings"]
    write(table, filled(table).head(1), path)
    rows = pq.read_table(path)
    wrong = pa.array([b"\xff\xfe"]).view(pa.string())
    pq.write_table(
        rows.set_column(rows.schema.get_field_index("rater"), "rater", wrong), path
    )
    with pytest.raises(BadInput, match="is damaged or is not a Parquet file"):
        read(table, path)


def test_validate_names_every_damaged_table_and_what_is_no_table(
    sound: dict[str, Path], tmp_path: Path
) -> None:
    here = tmp_path / "sample"
    here.mkdir()
    (here / "scores.parquet").write_bytes(sound["scores"].read_bytes()[:-9])
    (here / "ratings.parquet").write_bytes(b"")
    (here / "units.parquet").mkdir()
    (here / "measurements").write_bytes(b"PAR1")
    (here / "texts").mkdir()
    os.mkfifo(here / "texts/waits.parquet")
    for name in ("cut", "whole"):
        data = sound["texts"].read_bytes()
        (here / f"texts/{name}.parquet").write_bytes(
            data[:-1] if name == "cut" else data
        )
    again = "metassay run builds a benchmark's tables again"
    assert table_problems(tmp_path) == [
        f"measurements: {here}/measurements is a file where a folder belongs; delete it, then"
        f" {again}",
        f"ratings: {here}/ratings.parquet is damaged or is not a Parquet file; {again}",
        f"scores: {here}/scores.parquet is damaged or is not a Parquet file; {again}",
        f"texts: {here}/texts/cut.parquet is damaged or is not a Parquet file; {again}",
        f"texts: {here}/texts/waits.parquet is not a file; {again}",
        f"units: {here}/units.parquet is not a file; {again}",
    ]


def test_validate_is_not_held_up_by_what_a_run_writes_or_a_killed_one_left(
    tmp_path: Path,
) -> None:
    """The next run clears it away; a table has no hidden name."""
    (tmp_path / "sample/texts").mkdir(parents=True)
    for name in (
        ".units.parquet.x1y2.unfinished",
        "texts/.writer.parquet.x1y2.unfinished",
    ):
        (tmp_path / "sample" / name).write_bytes(b"PAR1")
    assert table_problems(tmp_path) == []
    (tmp_path / "sample/unit.parquet").write_bytes(b"PAR1")
    assert len(table_problems(tmp_path)) == 1
