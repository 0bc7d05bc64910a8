"""Files and frames that are damaged, of another format, or have names that act."""

import csv
import gzip
import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import metassay
from metassay.api.columns import InputTable
from metassay.cli.main import main
from metassay.core.errors import BadInput
from tests.api.small_study import (
    FEW,
    OPTIONS,
    TEXT,
    Frames,
    faults,
    problems,
    put,
    read,
    study,
)
from tests.fuzz.mutations import spoilt
from tests.reporting import page_data

SECRET = "Zanzibar has had a cough since the week before last, and no fever"
FILES = ["scores.csv"], ["ratings.csv"]


def frames() -> Frames:
    scores, ratings = study(("anchor", "birch"), 6)
    return scores.drop(columns="words"), ratings


@pytest.fixture
def here(here: Path) -> Path:
    """A folder with scores.csv and ratings.csv."""
    put(*frames())
    return here


def test_a_long_name_in_a_long_file_is_refused_too(here: Path) -> None:
    scores = frames()[0][TEXT].assign(metric="m" * 60_000, value=1.5)
    scores.to_csv("scores.csv", index=False)
    (line,) = faults(*FILES)
    assert (
        "12 lines: 'metric' has 60,000 characters (first: line 2); shorten it to 200"
        in line
    )


@pytest.mark.parametrize(
    ("scores", "ratings", "message"),
    [
        (
            1_001,
            1,
            "scores are of 1,001 systems on 1 documents; the limits are 1,000 systems",
        ),
        (
            4,
            101,
            "ratings: has 101 criteria, beside 1 metrics; the most are 100 criteria",
        ),
    ],
)
def test_what_would_take_hours_or_all_memory_is_refused_before(
    scores: int, ratings: int, message: str
) -> None:
    keys = pd.DataFrame({"doc_id": "d", "system": [f"s{n}" for n in range(scores)]})
    grades = pd.DataFrame({f"q{n}": keys.index % 5 for n in range(ratings)})
    lines = problems(keys.assign(m=keys.index % 7), pd.concat([keys, grades], axis=1))
    assert message in "\n".join(lines)


def test_a_cell_may_be_longer_than_python_s_reader_takes(here: Path) -> None:
    scores, _ = frames()
    plain = read(*FILES)[0].table
    scores.assign(judge="j", part="x" * 200_000).to_csv("scores.csv", index=False)
    long = read(*FILES)[0].table
    assert set(long["part"].str.len()) == {200_000}
    assert sorted(long["value"]) == sorted(plain["value"])


CONTENTS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "gzip": (gzip.compress, "is compressed by gzip; unpack it"),
    "excel": (
        lambda _: b"PK\x03\x04\x14",
        "is an Excel or zip file; save its content as text",
    ),
    "parquet": (
        lambda _: b"PAR1\x15\x04",
        "is a Parquet file; save its content as text",
    ),
    "utf-16 that is cut": (
        lambda b: b.decode().encode("utf-16")[:-1],
        "is UTF-16 or UTF-32; save the file as",
    ),
    "pickle": (
        lambda _: b"\x80\x04\x95.",
        "is a Python pickle, which can run any code",
    ),
    "no mark": (
        lambda b: b.decode().encode("utf-16-be"),
        "is UTF-16, or no text; save the file",
    ),
    "empty": (lambda _: b"", "is empty; docs/meta-eval.md"),
    "escape": (
        lambda b: b.replace(b"rater", b"ra\x1b[31mter"),
        "line 1: the name of column 3 has",
    ),
    "no width": (
        lambda b: b.replace(b"rater", b"ra\xe2\x80\x8bter"),
        "the name of column 3 has",
    ),
    "nul": (
        lambda b: b.replace(b"rater", b"ra\0ter", 1),
        "line 1: the name of column 3 has",
    ),
    "columns": (
        lambda b: b.replace(b"grade", b",".join(b"c%d" % n for n in range(100_000))),
        "line 1: has 100,003 columns, more than 2,000; leave columns out, or write it long",
    ),
    "a long name": (
        lambda b: b.replace(b"grade", b"g" * 60_000, 1),
        "line 1: the name of column 4 has 60,000 characters; shorten it to 200",
    ),
    "all": (
        lambda b: b.replace(b",ann,", b",(all),", 1),
        "'rater' is (all), which stands for",
    ),
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_what_is_no_csv_file_is_named(here: Path, kind: str) -> None:
    change, message = CONTENTS[kind]
    path = here / "ratings.csv"
    path.write_bytes(change(path.read_bytes()))
    (line,) = faults(*FILES)
    assert line.startswith("ratings.csv: ")
    assert message in line


@pytest.mark.parametrize("name", ["ratings.csv", "ratings.parquet"])
def test_what_is_no_file_is_named_and_never_waited_for(here: Path, name: str) -> None:
    path = here / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    (line,) = faults(["scores.csv"], [name])
    assert (
        line == f"{name}: is a pipe or device, not a file; save its content in a file"
    )
    path.unlink()
    path.symlink_to(name)
    assert "cannot be read: too many levels" in faults(["scores.csv"], [name])[0]
    assert (
        "x.csv: cannot be read: not a directory"
        in faults(["scores.csv/x.csv"], [name])[0]
    )


def test_a_name_that_no_file_can_have(here, capsys) -> None:
    assert main(["meta-eval", "scores.csv", f"{'x' * 300}.csv"]) == 2
    assert "cannot be read: file name too long" in capsys.readouterr().err
    assert (
        main(["meta-eval", "scores.csv", "ratings.csv", "--lower", "noise", "x" * 300])
        == 2
    )
    assert "--lower" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["scores.csv", "ratings.csv"])
def test_a_hundred_damages_of_a_csv_file(here: Path, name: str) -> None:
    """Each is told, or every number of the file is in the table and what is missing is counted."""
    whole, draw, refused = (here / name).read_bytes(), random.Random(name), 0
    for _ in range(100):
        (here / name).write_bytes(spoilt(whole, draw))
        try:
            file = read(*FILES)[name == "ratings.csv"]
        except BadInput as error:
            refused += bool(error.problems)
            continue
        with (here / name).open(
            encoding="utf-8-sig", errors="replace", newline=""
        ) as opened:
            cells = [row[v] for row in csv.DictReader(opened) for v in columns(file)]
        numbers = [
            float(cell)
            for cell in cells
            if cell.strip().lower() not in ("", "na", "nan")
        ]
        assert sorted(file.table["value"]) == sorted(numbers)
        missing = len(cells) - len(numbers)
        notes = [note for note in file.notes if "values are missing: left out" in note]
        note = f"{name}: {missing:,} of {len(cells):,} values are missing: left out ("
        assert [line[: len(note)] for line in notes] == [note] * bool(missing)
    assert refused > 50


def columns(file: InputTable) -> list[str]:
    long = {"metric", "criterion"} & set(file.keys)
    return (
        ["value"]
        if long
        else [c for c in file.cells.frame if c not in file.keys.values()]
    )


def test_a_hundred_damages_of_a_parquet_file(here: Path) -> None:
    """Each is told, or read as it was: the file was written with checksums of its pages."""
    path, draw = here / "scores.parquet", random.Random(1)
    table = pa.Table.from_pandas(frames()[0], preserve_index=False)
    pq.write_table(table.replace_schema_metadata(None), path, write_page_checksum=True)
    whole, refused = path.read_bytes(), 0
    sound = read([path], ["ratings.csv"])[0].table
    for _ in range(100):
        path.write_bytes(spoilt(whole, draw))
        try:
            scores = read([path], ["ratings.csv"])[0].table
        except BadInput:
            refused += 1
        else:
            assert scores["value"].equals(sound["value"])
    assert refused > 75


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda t: {"grade": [[1.0]] * len(t)},
            "column 'grade' has neither texts nor numbers",
        ),
        (
            lambda t: {"rater": [b"\xff"] * len(t)},
            "column 'rater' has neither texts nor numbers",
        ),
        (lambda t: {"": [1] * len(t)}, "column 5 has no name"),
        (
            lambda t: {"\x1b": [1] * len(t)},
            "the name of column 5 has characters that do not print",
        ),
    ],
)
def test_a_sound_parquet_file_of_something_else(
    here: Path, change, message: str
) -> None:
    columns = {name: list(column) for name, column in frames()[1].items()}
    pq.write_table(pa.table(columns | change(frames()[1])), "ratings.parquet")
    assert message in faults(["scores.csv"], ["ratings.parquet"])[0]


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        ("\ud800", "column 'grade' has neither texts nor numbers"),
        (10**5000, "column 'grade' has neither texts nor numbers"),
        (10**400, "row 3: 'grade' is not a finite number"),
        (1j, "row 3: 'grade' is '1j', which is not a finite number"),
        (np.inf, "row 3: 'grade' is 'inf', which is not a finite number"),
        (-1e308, "row 3: 'grade' is beyond 1e+100, too large to be squared and summed"),
        ([1], "row 3: 'grade' is '[1]', which is not a finite number"),
    ],
    ids=["surrogate", "huge", "beyond", "complex", "infinite", "large", "list"],
)
def test_an_odd_cell_of_a_frame(odd: object, message: str) -> None:
    scores, ratings = frames()
    cells = ratings["grade"].tolist()
    cells[3] = odd
    lines = problems(scores, ratings.assign(grade=pd.Series(cells, dtype="object")))
    assert message in "\n".join(lines)


@pytest.mark.parametrize("other", ["ANCHOR", "anchor\u200b", "an chor", "\uff41nchor"])
def test_a_system_that_the_files_spell_differently_is_named(other: str) -> None:
    scores, ratings = frames()
    ratings = ratings.replace("anchor", other)
    if not other.isprintable():
        assert "characters that do not print" in problems(scores, ratings)[0]
        return
    warnings = str(metassay.meta_eval(scores, ratings, **FEW).warnings)
    assert (
        f"{other!r} (12 rows) that scores does not have; did you mean 'anchor'?"
        in warnings
    )


@pytest.mark.parametrize("column", ["doc_id", "system", "rater", "grade"])
def test_a_text_in_the_place_of_a_key_is_in_no_message(column: str) -> None:
    """In one row, in two, and as the name of the column."""
    scores, ratings = frames()
    in_a_row = ratings.astype("object")
    in_a_row.loc[3, column] = SECRET
    named = ratings.rename(columns={column: SECRET})
    for variant in (in_a_row, ratings.assign(**{column: SECRET}), named):
        try:
            message = str(metassay.meta_eval(scores, variant, **FEW).warnings)
        except BadInput as error:
            message = str(error)
        assert "Zanzibar" not in message


def test_names_that_would_act_are_shown_harmless(here, capsys) -> None:
    """In a spreadsheet, on the page and in the terminal."""
    named = {"anchor": "=1+1", "birch": "[/b]x"}
    raters = {"ann": '@SUM("A1")', "bob": "[red]b"}
    scores, ratings = frames()
    scores = scores.replace(named).rename(columns={"noise": "-noise"})
    ratings = ratings.replace(named | raters).rename(columns={"grade": "[/b]grade"})
    assert main([*put(scores, ratings), "--out", "out"]) == 0
    assert main(["meta-eval", "ratings.csv", *OPTIONS]) == 0
    printed = capsys.readouterr().out
    assert "[/b]grade" in printed
    assert "[red]b" in printed
    for file in (here / "out").glob("*.csv"):
        with file.open(encoding="utf-8", newline="") as opened:
            for cell in (cell for row in csv.reader(opened) for cell in row):
                assert not cell.startswith(("=", "+", "@")), file.name
                assert not cell.startswith("-") or float(cell) < 0, file.name
    rows = pd.read_csv("out/raters.csv")
    assert {"'=1+1", "[/b]x"} <= set(rows["author"])
    assert '\'@SUM("A1")' in set(rows["rater"])
    assert {"=1+1", "[/b]x"} <= set(page_data.table(here / "out", "raters")["author"])


def test_a_slice_s_value_prints() -> None:
    (line,) = problems(frames()[0].assign(ward="\x1b[31m"), frames()[1], by="ward")
    assert "by='ward': a value has characters that do not print" in line
