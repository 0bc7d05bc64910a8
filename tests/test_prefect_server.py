"""Prefect's server of a run: its database, when it is started, and what it is told."""

import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from flows import history, prefect_server
from flows.prefect_server import Server
from flows.recovery import lock_project, mark_up_to_date, seems_stale
from metassay.cli import running
from tests.kill_setup import unended
from tests.stage_setup import prefect
from tests.support.invented_project import change, environment, hook, run, stale

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
    """After another version of Prefect: write what `MIGRATE` makes to
    flows/prefect_database.sql, a statement a line, without the transaction.
    """
    environment = os.environ | {"PREFECT_HOME": str(tmp_path)}
    subprocess.run(
        [sys.executable, "-c", MIGRATE], env=environment, cwd=tmp_path, check=True
    )
    ours = tmp_path / "ours.db"
    ours.touch()
    prefect_server.create_tables(ours)
    by_us = statements(ours)
    assert by_us == statements(tmp_path / "prefect.db")
    prefect_server.create_tables(ours)
    assert statements(ours) == by_us, "what is there stays"


def test_a_prefect_that_does_not_know_these_tables_makes_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "later.sql"
    text = prefect_server.TABLES.read_text(encoding="utf-8")
    file.write_text(
        re.sub(r"VALUES\('\w+'\)", "VALUES('0123456789ab')", text), encoding="utf-8"
    )
    monkeypatch.setattr(prefect_server, "TABLES", file)
    empty = tmp_path / "prefect.db"
    empty.touch()
    prefect_server.create_tables(empty)
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
    with lock_project(tmp_path):
        (tmp_path / ".work/locks").mkdir()
        assert seems_stale(tmp_path, ["a"])
        mark_up_to_date(tmp_path, ["a"])
    assert not seems_stale(tmp_path, ["a"])
    later = (tmp_path / ".work/locks/run-a").stat().st_mtime + 1
    for file in files:
        os.utime(file, (later, later))
        assert seems_stale(tmp_path, ["a"])
        os.utime(file, (0, 0))


def test_what_waits_goes_on_after_a_check_and_is_killed_where_that_fails(
    tmp_path: Path,
) -> None:
    done = tmp_path / "done"
    code = f"import os, pathlib; os.read(0, 1); pathlib.Path({str(done)!r}).touch()"
    command = [sys.executable, "-c", code]

    def refuse() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        running._run_watched(command, dict(os.environ), refuse)
    assert not done.exists()
    assert running._run_watched(command, dict(os.environ), lambda: None) == 0
    assert done.exists()


@pytest.fixture
def project(built: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    return Path(shutil.copytree(built, tmp_path / "project"))


class Nobody:
    """Listens on loopback, counts who calls, and lets them go without an answer."""

    def __init__(self) -> None:
        self.calls = 0
        self.over = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.settimeout(0.1)
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.thread = threading.Thread(target=self._count)
        self.thread.start()

    def _count(self) -> None:
        with self._listening:
            while not self.over.is_set():
                with suppress(TimeoutError):
                    self._listening.accept()[0].close()
                    self.calls += 1

    @property
    def everywhere(self) -> dict[str, str]:
        """An environment that sends everybody here."""
        names = (
            "HTTP_PROXY",
            "http_proxy",
            "HTTPS_PROXY",
            "https_proxy",
            "ALL_PROXY",
            "all_proxy",
        )
        prefect = {"PREFECT_API_URL": f"{self.url}/api", "PREFECT_API_KEY": "k"}
        return dict.fromkeys(names, self.url) | prefect


@pytest.fixture
def nobody() -> Iterator[Nobody]:
    nobody = Nobody()
    yield nobody
    nobody.over.set()
    nobody.thread.join()


@pytest.mark.slow
def test_prefect_retries_what_may_pass_and_keeps_notes_whatever_the_surroundings(
    project: Path, nobody: Nobody
) -> None:
    """With settings for another server, proxies, and a damaged database."""
    (project / "prefect.toml").write_text(
        f'[api]\nurl = "{nobody.url}/api"\nkey = "k"\n'
    )
    history.database(project).parent.mkdir()
    history.database(project).write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 40)
    change(project / "params.yaml", "alignments.rouge_topk.k", 2)
    words = "echo ratings.csv, line 2: mend it >&2"
    hook(project, "align-b00-rouge_topk", "echo x >> tried-b00", words, "exit 78")
    once = "if [ ! -f tried-b01 ]; then touch tried-b01; exit 1; fi"
    hook(
        project, "align-b01-rouge_topk", once, "echo note: 2 citations past the end >&2"
    )
    done = run(project, "b00", "b01", **nobody.everywhere)
    assert nobody.calls == 0
    assert done.returncode == 1, done.stderr
    assert "not used: PREFECT_API_KEY, PREFECT_API_URL; a run has" in done.stderr
    assert (
        "prefect.db, is damaged: it is now prefect.db.damaged, and a new one"
        in done.stderr
    )
    assert "Traceback" not in done.stderr
    assert (project / "tried-b00").read_text() == "x\n"
    assert "✗ b01: align@rouge_topk (exit 1)" in done.stderr
    assert re.search(
        r"✓ b01: align@rouge_topk .*\n  note: 2 citations past the end\n", done.stderr
    )
    assert "– b00: report was not run" in done.stderr
    assert stale(project, "b01") == set()
    assert prefect(project, "select name, state_type from flow_run") == [
        ("b00, b01", "FAILED")
    ]
    artifacts = dict(prefect(project, "select key, data from artifact"))
    assert set(artifacts) == {"b01-leaderboard", "b01-certificates", "b01-page"}
    page = project / "reports/b01/index.html"
    assert json.loads(artifacts["b01-page"]) == f"[{page}]({page.as_uri()})"
    states = dict(prefect(project, "select name, state_type from task_run"))
    assert states["b00: align@rouge_topk"] == "FAILED"
    assert states["b01: align@rouge_topk"] == "COMPLETED"
    messages = prefect(project, "select message from log")
    assert ("note: 2 citations past the end",) in messages
    assert ("ratings.csv, line 2: mend it",) in messages
    assert not unended(project)


@pytest.mark.slow
def test_another_prefect_server_is_told_keys_and_numbers_only(
    project: Path, tmp_path: Path, nobody: Nobody
) -> None:
    change(project / "params.yaml", "alignments.rouge_topk.k", 2)
    hook(
        project, "align-b00-rouge_topk", "echo document CANARY: mend it >&2", "exit 78"
    )
    hook(project, "align-b01-rouge_topk", "echo note: CANARY has no citations >&2")
    absent = run(project, "b00", "--prefect-api", f"{nobody.url}/api")
    assert absent.returncode == 2
    assert "no Prefect server answers at http://127.0.0.1" in absent.stderr
    assert "Traceback" not in absent.stderr
    assert nobody.calls > 0

    (tmp_path / "theirs/.work").mkdir(parents=True)
    with (tmp_path / "held").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        for name, value in environment(tmp_path / "theirs").items():
            patch.setenv(name, value)
        server = Server(tmp_path / "theirs", [lock.fileno()], lambda: None)
        server.wait_until_it_serves()
        done = run(project, "b00", "b01", "--prefect-api", server.url)
        server.close()
    assert done.returncode == 1, done.stderr
    assert "document CANARY: mend it" in done.stderr
    states = dict(prefect(tmp_path / "theirs", "select name, state_type from task_run"))
    assert states["b00: align@rouge_topk"] == "FAILED"
    assert states["b01: align@rouge_topk"] == "COMPLETED"
    keys = prefect(tmp_path / "theirs", "select key from artifact order by key")
    assert keys == [("b01-certificates",), ("b01-leaderboard",)]
    for file in history.database(tmp_path / "theirs").parent.glob("prefect.db*"):
        before = file.read_bytes()
        assert b"CANARY" not in before
        assert str(project).encode() not in before
    assert not history.database(project).exists()


@contextmanager
def their_server(folder: Path) -> Iterator[Server]:
    """A Prefect server that is not the run's; it can be killed."""
    (folder / ".work").mkdir(parents=True, exist_ok=True)
    with (folder / "held").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        for name, value in environment(folder).items():
            patch.setenv(name, value)
        server = Server(folder, [lock.fileno()], lambda: None)
        server.wait_until_it_serves()
        yield server
        server._closing = True
        server._process.kill()
        server._process.wait()
        assert server._process.stdin is not None
        server._process.stdin.close()
        server._output.close()


@pytest.mark.slow
def test_a_run_goes_on_without_a_server_that_goes_away_and_the_next_marks_it(
    project: Path, tmp_path: Path
) -> None:
    change(project / "params.yaml", "alignments.rouge_topk.k", 2)
    began, go = tmp_path / "began", tmp_path / "go"
    wait = f"touch {began}; while [ ! -e {go} ]; do sleep .1; done"
    hook(project, "align-b00-rouge_topk", wait)
    hook(project, "align-b01-rouge_topk", "echo ratings.csv: mend it >&2", "exit 78")
    theirs = tmp_path / "theirs"
    done: list[subprocess.CompletedProcess[str]] = []
    with their_server(theirs) as server:
        words = ("b00", "b01", "--prefect-api", server.url)
        running = threading.Thread(target=lambda: done.append(run(project, *words)))
        running.start()
        while not began.exists():
            time.sleep(0.05)
    go.touch()
    running.join()
    (lost,) = done
    assert lost.returncode == 1, lost.stderr  # of the stage that failed, nothing else
    assert lost.stderr.count("no longer answers") == 1
    for words_of_prefect in ("Traceback", "ERROR", "EventsWorker", "httpx"):
        assert words_of_prefect not in lost.stderr
    assert stale(project, "b00") == set()
    assert stale(project, "b01") != set()
    assert lost.stderr.count("✗ b01: align@rouge_topk") == 1  # and not a second time
    assert [row[0] for row in prefect(theirs, "select state_type from flow_run")] == [
        "RUNNING"
    ]

    hook(project, "align-b01-rouge_topk", "true")
    (note,) = (project / ".work/prefect").glob("run-at-*")
    with their_server(theirs) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PREFECT_HOME", str(note.parent))
        note.rename(prefect_server._note_of(server.url))  # as if at the same port
        again = run(project, "b00", "b01", "--prefect-api", server.url)
        assert again.returncode == 0, again.stderr
    states = prefect(theirs, "select state_type from flow_run order by created")
    assert [state for (state,) in states] == ["CRASHED", "COMPLETED"]
    assert not list((project / ".work/prefect").glob("run-at-*"))
    open_ = "state_type not in ('COMPLETED', 'FAILED', 'CRASHED') and state_name <> 'NotReady'"
    assert prefect(theirs, f"select name from task_run where {open_}") == []
