"""A disk that is full or may not be written to: one line, nothing half-written."""

import errno
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from metassay.cli.main import main
from metassay.core.atomic import whole_folder
from metassay.core.errors import refusal
from metassay.tables import parquet
from metassay.tables.columns import TEXT
from metassay.tables.parquet import Column, Table, write
from stages import doorway
from stages.declared import Entry

NOTES = Table("notes", "Anything.", ("key",), {"key": Column(TEXT, "a key")})
LONG = pd.DataFrame({"key": [f"{number:064x}" for number in range(2000)]})


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Writing more fails as on a full disk, in a test that may be anybody's."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_the_line_names_the_file_and_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EROFS,
        errno.EACCES,
        errno.EIO,
    ):
        name = str(tmp_path / "data" / "two\nlines")
        message = refusal(OSError(number, os.strerror(number), name)) or ""
        assert message.startswith("data/two\\nlines: ")
        assert "\n" not in message
        assert ";" in message, "has a remedy"
    assert refusal(OSError(errno.ENOSPC, "full")) is not None
    # Not of the disk; the last has as its file what may be a document.
    for number in (errno.ENOENT, errno.ECONNREFUSED, errno.ENAMETOOLONG):
        assert refusal(OSError(number, os.strerror(number), "the patient says")) is None


def test_a_table_that_finds_no_room_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "notes.parquet"
    write(NOTES, LONG[:1], path)
    before = path.read_bytes()
    with (
        files_of_at_most(1000),
        pytest.raises(OSError, match=r"notes\.parquet'$") as raised,
    ):
        write(NOTES, LONG, path)
    assert raised.value.filename == str(path)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before
    write(NOTES, LONG, path)
    assert len(parquet.read(NOTES, path)) == len(LONG)


def test_a_folder_that_finds_no_room_is_named_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    with (
        files_of_at_most(1000),
        pytest.raises(OSError, match=r"out'$") as raised,
        whole_folder(out, "--out") as folder,
    ):
        (folder / "page.html").write_text("x" * 10_000)
    assert raised.value.filename == str(out)
    assert not list(tmp_path.iterdir())


def test_a_stage_on_a_full_disk_says_one_line_and_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(io: doorway.StageIO) -> None:
        with files_of_at_most(1000):
            io.write(NOTES, LONG)

    outs = frozenset(["data/tables/one/notes.parquet"])
    entry = Entry("note", "params.yaml", frozenset(), outs, {})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["note.py", "one"])
    monkeypatch.setattr(doorway, "find_entry", lambda *_: entry)
    monkeypatch.setattr(doorway, "check_versions", lambda *_: None)
    with pytest.raises(SystemExit) as ended:
        doorway.enter(run)
    assert ended.value.code == doorway.BAD_INPUT
    err = capsys.readouterr().err
    assert err.startswith("data/tables/one/notes.parquet: may not grow so large; ")
    assert err.count("\n") == 1
    assert not list((tmp_path / "data/tables/one").iterdir())


def test_a_command_says_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", "versions.yaml")

    monkeypatch.setattr("metassay.cli.init.refresh", failing)
    assert main(["update"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("versions.yaml: this disk cannot be written to; ")
    assert err.count("\n") == 1


def test_meta_eval_on_a_full_disk_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with files_of_at_most(1000):
        assert main(["meta-eval", "--example", "study"]) == 1
    assert capsys.readouterr().err.startswith("study: may not grow so large; ")
    assert not list(tmp_path.iterdir())
    assert main(["meta-eval", "--example", "study"]) == 0
