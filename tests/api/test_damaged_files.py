"""Files and frames that are damaged, of another format, or have names that act."""

import csv
import gzip
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import metassay
from metassay.api.columns import InputTable, Roles
from metassay.api.reading import read_both, read_file
from metassay.cli.main import main
from metassay.core.errors import BadInput
from tests.fuzz.mutations import spoilt
from tests.reporting import page_data

SECRET = "Zanzibar has had a cough since the week before last, and no fever"
FEW: dict[str, Any] = {"resamples": 20, "permutations": 20}


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(4)
    texts = [(f"d{d}", system) for d in range(6) for system in ("anchor", "birch")]
    keys = pd.DataFrame(texts, columns=["doc_id", "system"])
    scores = keys.assign(good=rng.normal(size=12).round(3), bad=rng.normal(size=12).round(3))
    each = [keys.assign(rater=rater, grade=rng.integers(1, 6, 12)) for rater in ("ann", "bob")]
    return scores, pd.concat(each, ignore_index=True)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with scores.csv and ratings.csv."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for name, frame in zip(("scores", "ratings"), frames(), strict=True):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def read(scores: Path, ratings: Path) -> tuple[InputTable, InputTable]:
    """Both files as the command reads them."""
    problems: list[str] = []
    found = [read_file(path, problems) for path in (scores, ratings)]
    if problems:
        raise BadInput(problems)
    assert found[1] is not None
    given, rated = read_both([found[0]], [found[1]], Roles())
    assert given is not None
    return given, rated


def test_a_long_name_in_a_long_file_is_refused_too(here: Path) -> None:
    scores = frames()[0][["doc_id", "system"]].assign(metric="m" * 60_000, value=1.5)
    scores.to_csv(here / "scores.csv", index=False)
    (line,) = problems(here / "scores.csv", here / "ratings.csv")
    assert "12 lines: 'metric' has 60,000 characters (first: line 2); shorten it to 200" in line


@pytest.mark.parametrize(
    ("scores", "ratings", "said"),
    [
        (1_001, 1, "scores are of 1,001 systems on 1 documents; the limits are 1,000 systems"),
        (4, 101, "ratings: has 101 criteria, beside 1 metrics; the most are 100 criteria"),
    ],
)
def test_what_would_take_hours_or_all_memory_is_refused_before(
    scores: int, ratings: int, said: str
) -> None:
    keys = pd.DataFrame({"doc_id": "d", "system": [f"s{n}" for n in range(scores)]})
    grades = pd.DataFrame({f"q{n}": keys.index % 5 for n in range(ratings)})
    with pytest.raises(BadInput) as caught:
        metassay.meta_eval(keys.assign(m=keys.index % 7), pd.concat([keys, grades], axis=1))
    assert said in "\n".join(caught.value.problems)


def test_a_cell_may_be_longer_than_python_s_reader_takes(here: Path) -> None:
    scores, _ = frames()
    plain = read(here / "scores.csv", here / "ratings.csv")[0].table
    scores.assign(judge="j", part="x" * 200_000).to_csv(here / "scores.csv", index=False)
    found = read(here / "scores.csv", here / "ratings.csv")[0].table
    assert set(found["part"].str.len()) == {200_000}
    assert sorted(found["value"]) == sorted(plain["value"])


def problems(scores: Path, ratings: Path) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(scores, ratings)
    assert all("; " in problem for problem in caught.value.problems)
    return list(caught.value.problems)


CONTENTS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "gzip": (gzip.compress, "is compressed by gzip; unpack it"),
    "excel": (lambda _: b"PK\x03\x04\x14", "is an Excel or zip file; save its content as text"),
    "parquet": (lambda _: b"PAR1\x15\x04", "is a Parquet file; save its content as text"),
    "utf-16": (
        lambda b: b.decode().encode("utf-16"),
        "is UTF-16 or UTF-32; save the file as UTF-8",
    ),
    "no mark": (lambda b: b.decode().encode("utf-16-be"), "is UTF-16, or no text; save the file"),
    "empty": (lambda _: b"", "is empty; docs/meta-eval.md"),
    "escape": (lambda b: b.replace(b"rater", b"ra\x1b[31mter"), "line 1: the name of column 3 has"),
    "no width": (lambda b: b.replace(b"rater", b"ra\xe2\x80\x8bter"), "the name of column 3 has"),
    "nul": (lambda b: b.replace(b"rater", b"ra\0ter", 1), "line 1: the name of column 3 has"),
    "columns": (
        lambda b: b.replace(b"grade", b",".join(b"c%d" % n for n in range(100_000))),
        "line 1: has 100,003 columns, more than 2,000; leave columns out, or write it long",
    ),
    "a long name": (
        lambda b: b.replace(b"grade", b"g" * 60_000, 1),
        "line 1: the name of column 4 has 60,000 characters; shorten it to 200",
    ),
    "all": (lambda b: b.replace(b",ann,", b",(all),", 1), "'rater' is (all), which stands for"),
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_what_is_no_csv_file_is_named(here: Path, kind: str) -> None:
    made, said = CONTENTS[kind]
    path = here / "ratings.csv"
    path.write_bytes(made(path.read_bytes()))
    (line,) = problems(here / "scores.csv", path)
    assert line.startswith("ratings.csv: ")
    assert said in line


@pytest.mark.parametrize("name", ["ratings.csv", "ratings.parquet"])
def test_what_is_no_file_is_named_and_never_waited_for(here: Path, name: str) -> None:
    path = here / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    assert problems(here / "scores.csv", path) == [
        f"{name}: is a pipe or device, not a file; save its content in a file"
    ]
    path.unlink()
    path.symlink_to(name)
    assert "cannot be read: too many levels" in problems(here / "scores.csv", path)[0]
    assert "x.csv: cannot be read: not a directory" in problems(here / "scores.csv/x.csv", path)[0]


def test_a_name_that_no_file_can_have(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["meta-eval", "scores.csv", f"{'x' * 300}.csv"]) == 2
    assert "cannot be read: file name too long" in capsys.readouterr().err
    assert main(["meta-eval", "scores.csv", "ratings.csv", "--lower", "bad", "x" * 300]) == 2
    assert "--lower" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["scores.csv", "ratings.csv"])
def test_a_hundred_damages_of_a_csv_file(here: Path, name: str) -> None:
    """Each is told, or every number of the file is in the table and what is missing is counted."""
    whole, draw, refused = (here / name).read_bytes(), random.Random(name), 0
    for _ in range(100):
        (here / name).write_bytes(spoilt(whole, draw))
        try:
            found = read(here / "scores.csv", here / "ratings.csv")
        except BadInput as error:
            refused += bool(error.problems)
            continue
        given = found[name == "ratings.csv"]
        with (here / name).open(encoding="utf-8-sig", newline="") as opened:
            cells = [row[v] for row in csv.DictReader(opened) for v in columns(given)]
        numbers = [float(cell) for cell in cells if cell.strip().lower() not in ("", "na", "nan")]
        assert sorted(given.table["value"]) == sorted(numbers)
        missing = len(cells) - len(numbers)
        said = [n for n in given.notes if "values are missing: left out" in n]
        assert said == (
            [f"{name}: {missing:,} of {len(cells):,} values are missing: left out"] * bool(missing)
        )
    assert refused > 50


def columns(given: InputTable) -> list[str]:
    long = {"metric", "criterion"} & set(given.keys)
    return ["value"] if long else [c for c in given.cells.frame if c not in given.keys.values()]


def test_a_hundred_damages_of_a_parquet_file(here: Path) -> None:
    """Each is told, or read as it was: the file was written with checksums of its pages."""
    path, draw = here / "scores.parquet", random.Random(1)
    table = pa.Table.from_pandas(frames()[0], preserve_index=False)
    pq.write_table(table.replace_schema_metadata(None), path, write_page_checksum=True)
    whole, refused = path.read_bytes(), 0
    sound = read(path, here / "ratings.csv")[0].table
    for _ in range(100):
        path.write_bytes(spoilt(whole, draw))
        try:
            found = read(path, here / "ratings.csv")[0].table
        except BadInput:
            refused += 1
        else:
            assert found["value"].equals(sound["value"])
    assert refused > 75


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: {"grade": [[1.0]] * len(t)}, "column 'grade' has neither texts nor numbers"),
        (lambda t: {"rater": [b"\xff"] * len(t)}, "column 'rater' has neither texts nor numbers"),
        (lambda t: {"": [1] * len(t)}, "column 5 has no name"),
        (lambda t: {"\x1b": [1] * len(t)}, "the name of column 5 has characters that do not print"),
    ],
)
def test_a_sound_parquet_file_of_something_else(here: Path, change, said: str) -> None:
    path = here / "ratings.parquet"
    held = {name: list(column) for name, column in frames()[1].items()}
    pq.write_table(pa.table(held | change(frames()[1])), path)
    assert said in problems(here / "scores.csv", path)[0]


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ("\ud800", "column 'grade' has neither texts nor numbers"),
        (10**5000, "column 'grade' has neither texts nor numbers"),
        (10**400, "row 3: 'grade' is not a finite number"),
        (1j, "row 3: 'grade' is not a finite number"),
        (np.inf, "row 3: 'grade' is not a finite number"),
        (-1e308, "row 3: 'grade' is beyond 1e+100, too large to be squared and summed"),
        ([1], "row 3: 'grade' is not a finite number"),
    ],
    ids=["surrogate", "huge", "beyond", "complex", "infinite", "large", "list"],
)
def test_an_odd_cell_of_a_frame(odd: object, said: str) -> None:
    scores, ratings = frames()
    cells = ratings["grade"].tolist()
    cells[3] = odd
    with pytest.raises(BadInput) as caught:
        metassay.meta_eval(scores, ratings.assign(grade=pd.Series(cells, dtype="object")))
    assert said in str(caught.value)


@pytest.mark.parametrize("other", ["ANCHOR", "anchor\u200b", "an chor", "\uff41nchor"])
def test_a_system_that_the_files_spell_differently_is_named(here: Path, other: str) -> None:
    scores, ratings = frames()
    if not other.isprintable():
        with pytest.raises(BadInput, match="characters that do not print"):
            metassay.meta_eval(scores, ratings.replace("anchor", other), **FEW)
        return
    found = metassay.meta_eval(scores, ratings.replace("anchor", other), **FEW)
    assert f"{other!r} (12 rows) that scores does not have; did you mean 'anchor'?" in str(
        found.warnings
    )


@pytest.mark.parametrize("column", ["doc_id", "system", "rater", "grade"])
def test_a_text_in_the_place_of_a_key_is_in_no_message(here: Path, column: str) -> None:
    """In one row, in two, and as the name of the column."""
    _, ratings = frames()
    ratings = ratings.astype("object")
    variants = [
        ratings.copy(),
        ratings.assign(**{column: SECRET}),
        ratings.rename(columns={column: SECRET}),
    ]
    variants[0].loc[3, column] = SECRET
    scores, _ = frames()
    for variant in variants:
        try:
            said = str(metassay.meta_eval(scores, variant, **FEW).warnings)
        except BadInput as error:
            said = str(error)
        assert "Zanzibar" not in said


def test_names_that_would_act_are_shown_harmless(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a spreadsheet, on the page and in the terminal."""
    named = {"anchor": "=1+1", "birch": "[/b]x"}
    raters = {"ann": '@SUM("A1")', "bob": "[red]b"}
    scores, ratings = frames()
    scores["-bad"] = scores.pop("bad")
    scores = scores.replace(named)
    ratings = ratings.replace(named | raters).rename(columns={"grade": "[/b]grade"})
    scores.to_csv(here / "scores.csv", index=False)
    ratings.to_csv(here / "ratings.csv", index=False)
    few = ["--resamples", "20", "--permutations", "20"]
    assert main(["meta-eval", "scores.csv", "ratings.csv", "--out", "out", *few]) == 0
    assert main(["meta-eval", "ratings.csv", *few]) == 0
    said = capsys.readouterr().out
    assert "[/b]grade" in said
    assert "[red]b" in said
    for file in (here / "out").glob("*.csv"):
        with file.open(encoding="utf-8", newline="") as opened:
            for cell in (cell for row in csv.reader(opened) for cell in row):
                assert not cell.startswith(("=", "+", "@")), file.name
                assert not cell.startswith("-") or float(cell) < 0, file.name
    written = pd.read_csv(here / "out/raters.csv")
    assert {"'=1+1", "[/b]x"} <= set(written["author"])
    assert '\'@SUM("A1")' in set(written["rater"])
    assert {"=1+1", "[/b]x"} <= set(page_data.table(here / "out", "raters")["author"])


def test_a_slice_s_value_prints(here: Path) -> None:
    scores, ratings = frames()
    with pytest.raises(BadInput, match="by='ward': a value has characters that do not print"):
        metassay.meta_eval(scores.assign(ward="\x1b[31m"), ratings, by="ward")
