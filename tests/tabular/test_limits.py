"""No file of other people or tools takes all memory, all time or a traceback."""

import json
import os
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metassay.cli import importing
from metassay.cli.main import main
from metassay.tabular import limits
from metassay.tabular.json_tables import read_json
from metassay.tabular.rows import Findings
from tests.imports.importing import write_lines
from tests.imports.test_tools import GENERATED

KINDS = ("deepeval", "label-studio", "lm-eval", "inspect", "promptfoo", "ragas")


def commands(path: Path) -> list[list[str]]:
    """What reads a file of other people: `import` of each tool, and the tables' commands."""
    name = str(path)
    imports = [["import", kind, name, "--out", "out"] for kind in KINDS]
    others = [
        ["meta-eval", name],
        ["judge-check", name],
        ["init", "p", "--texts", name],
    ]
    return [*imports, *others]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def large(path: Path) -> None:
    path.touch()
    os.truncate(path, 5 * 2**30)


ENDLESS: dict[str, tuple[Callable[[Path], object], str]] = {
    "5 GB": (large, "is larger than 500 MB; split it"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "is a pipe or device"),
    "itself": (lambda path: path.symlink_to(path), "symbolic links"),
}


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv", "xlsx", "parquet", "eval"])
@pytest.mark.parametrize("sort", ENDLESS)
def test_what_has_no_end_is_refused_at_once(
    tmp_path: Path, ending: str, sort: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make, words = ENDLESS[sort]
    path = tmp_path / f"samples_x.{ending}"
    make(path)
    began = time.monotonic()
    for command in commands(path):
        capsys.readouterr()
        assert main(command) == 2, command
        error = capsys.readouterr().err
        assert path.name in error
        assert words in error, (command, error)
    assert time.monotonic() - began < 60
    assert not [p for p in tmp_path.iterdir() if p != path]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "text", ["[" * 10**5 + "]" * 10**5, '{"a":' * 10**5 + "1" + "}" * 10**5]
)
def test_deep_json_is_a_problem_of_its_file(
    tmp_path: Path, kind: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("samples_x.json", "samples_x.jsonl"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert main(["import", kind, name, "--out", "out"]) == 2
        assert name in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "json"])
def test_a_table_of_too_many_rows_is_refused(
    ending: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(limits, "ROWS", 10)
    row = {"text": "same", "judge": "pass", "human": "pass"}
    for number, words in ((10, ""), (11, "has more than 10 rows; split it")):
        content = {
            "csv": "\n".join(["text,judge,human", *["same,pass,pass"] * number]),
            "jsonl": "\n".join([json.dumps(row)] * number),
            "json": json.dumps([row] * number),
        }
        if ending == "parquet":
            pq.write_table(pa.Table.from_pylist([row] * number), "t.parquet")
        else:
            Path(f"t.{ending}").write_text(content[ending], encoding="utf-8")
        main(["judge-check", f"t.{ending}", "--judge", "judge", "--human", "human"])
        error = capsys.readouterr().err
        assert words in error
        assert ("more than" in error) == bool(words)


def test_an_archive_that_unpacks_to_more_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with zipfile.ZipFile("log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"model": "m"}}))
        archive.writestr("samples/1_epoch_1.json", " " * 10**7)
    monkeypatch.setattr(limits.unpacked_problem, "__defaults__", (10**6,))
    assert main(["import", "inspect", "log.eval", "--out", "out"]) == 2
    assert "log.eval: is more than 0 MB when unpacked" in capsys.readouterr().err


def test_a_full_disk_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Small(importing.Database):
        def __init__(self, file: Path) -> None:
            super().__init__(file)
            self.run(
                "PRAGMA max_page_count = 40"
            )  # SQLite then says what it says of a disk

    monkeypatch.setattr(importing, "Database", Small)
    rows = [GENERATED | {"doc_id": n, "resps": [["x" * 500]]} for n in range(2000)]
    write_lines(Path("samples_a.jsonl"), rows)
    assert main(["import", "lm-eval", "samples_a.jsonl", "--out", "out"]) == 1
    assert "there is no room left on the disk" in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["samples_a.jsonl"]


def test_values_one_after_another_take_time_in_proportion_to_their_number() -> None:
    value = '{\n"judge": "pass",\n"human": "fail"}\n\n'
    began = time.monotonic()
    table = read_json(value * 20_000, "t.json", Findings())
    assert time.monotonic() - began < 20
    assert table is not None
    assert [at.row for at, _ in table.rows[:3]] == [1, 5, 9]
