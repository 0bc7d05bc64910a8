"""Prefect's server of a run: its database, and when it is started."""

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from flows import prefect_server
from flows.recovery import guarded, seems_stale, up_to_date
from metassay.cli import running

MIGRATE = (
    "import anyio\n"
    "from prefect.server.database.alembic_commands import alembic_upgrade\n"
    "anyio.run(anyio.to_thread.run_sync, alembic_upgrade)\n"
)


def statements(file: Path) -> list[list[str]]:
    """What would make this database, but for spaces, brackets and the order of its parts."""
    with closing(sqlite3.connect(file)) as database:
        lines = [re.sub(r"[\s();]+", " ", line) for line in database.iterdump()]
    return sorted(
        sorted(map(str.strip, re.split(r" ?, (?=CONSTRAINT|FOREIGN|UNIQUE)", line)))
        for line in lines
    )


@pytest.mark.slow
def test_a_database_begins_as_prefect_itself_begins_it(tmp_path: Path) -> None:
    """After another version of Prefect: write what `MIGRATE` makes to flows/prefect_database.sql, a
    statement a line, without the transaction."""
    environment = os.environ | {"PREFECT_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", MIGRATE], env=environment, cwd=tmp_path, check=True)
    ours = tmp_path / "ours.db"
    ours.touch()
    prefect_server.begin(ours)
    found = statements(ours)
    assert found == statements(tmp_path / "prefect.db")
    prefect_server.begin(ours)
    assert statements(ours) == found, "what is there stays"


def test_a_prefect_that_does_not_know_these_tables_makes_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "later.sql"
    text = prefect_server.BEGUN.read_text(encoding="utf-8")
    file.write_text(re.sub(r"VALUES\('\w+'\)", "VALUES('0123456789ab')", text), encoding="utf-8")
    monkeypatch.setattr(prefect_server, "BEGUN", file)
    empty = tmp_path / "prefect.db"
    empty.touch()
    prefect_server.begin(empty)
    assert empty.read_bytes() == b""


def test_a_report_seems_stale_until_a_run_has_ended_and_when_something_was_saved_since(
    tmp_path: Path,
) -> None:
    files = [tmp_path / name for name in ("params.yaml", "benchmarks/a/params.yaml")]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    assert seems_stale(tmp_path, ["a"])
    (tmp_path / "reports/a").mkdir(parents=True)
    with guarded(tmp_path):
        (tmp_path / ".work/locks").mkdir()
        assert seems_stale(tmp_path, ["a"])
        up_to_date(tmp_path, ["a"])
    assert not seems_stale(tmp_path, ["a"])
    later = (tmp_path / ".work/locks/run-a").stat().st_mtime + 1
    for file in files:
        os.utime(file, (later, later))
        assert seems_stale(tmp_path, ["a"])
        os.utime(file, (0, 0))


def test_what_waits_goes_on_after_a_check_and_is_killed_where_that_fails(tmp_path: Path) -> None:
    done = tmp_path / "done"
    code = f"import os, pathlib; os.read(0, 1); pathlib.Path({str(done)!r}).touch()"
    command = [sys.executable, "-c", code]

    def refuse() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        running._on_a_lifeline(command, dict(os.environ), refuse)
    assert not done.exists()
    assert running._on_a_lifeline(command, dict(os.environ), lambda: None) == 0
    assert done.exists()
