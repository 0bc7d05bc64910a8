"""DVC is asked for tables of another state."""

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.tracking.comparison import sides


def test_what_the_disk_refuses_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(*_: object, **__: object) -> None:
        raise PermissionError(
            errno.EACCES, os.strerror(errno.EACCES), str(Path.cwd() / ".work/dvc")
        )

    monkeypatch.setattr("dvc.repo.Repo", refusing)
    with pytest.raises(BadInput, match=r"^accepted: \.work/dvc: you lack the permi.*`ls -ld`"):
        sides.fetch_tables(tmp_path, {"a": "0" * 32}, name="accepted", benchmark="one")


def test_a_full_disk_on_which_dvc_keeps_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("dvc.repo.Repo", full)
    with pytest.raises(BadInput, match=r"^accepted: DVC can't be asked .*; make room on the disk"):
        sides.fetch_tables(tmp_path, {"a": "0" * 32}, name="accepted", benchmark="one")
    (tmp_path / "table").touch()
    assert sides._changed_files(tmp_path, {"table": "0" * 32}) == []
