"""What a killed run leaves behind is mended by the next one."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import IO

import pytest
from dvc import rwlock
from dvc.fs import localfs
from dvc.repo import Repo

from flows import history, surroundings
from flows.dag import HALF_WRITTEN
from flows.ending import Ending
from flows.prefect_server import NoPrefect, Server
from flows.reasons import explain_dvc_errors
from flows.recovery import drop_dead_processes, lock_project
from flows.worker import make_rwlock_atomic
from metassay.core import parent_watch as lifeline
from metassay.core.errors import BadInput
from tests.test_disk import files_of_at_most


def killed(root: Path) -> None:
    with lock_project(root):
        raise KeyboardInterrupt


def test_half_written_files_of_a_killed_run_go(tmp_path: Path) -> None:
    tables = tmp_path / "data/tables/one/judgments"
    whole = tables / "lexical.parquet"
    lock = tmp_path / "benchmarks/one/dvc.lock"
    half = [
        tables / ".lexical.parquet.x1y2",
        tmp_path / "history/one/.history.parquet.x1y2.unfinished",
        tmp_path / "reports/changes/one/.index.html.x1y2.unfinished",
        tmp_path / "reports/one/page/data/.since.js.x1y2.unfinished",
        tmp_path / HALF_WRITTEN,
        lock.with_name(HALF_WRITTEN),
    ]
    for path in (whole, lock, *half):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("something")
    with lock_project(tmp_path):
        assert all(path.exists() for path in half)  # nobody was killed
    with pytest.raises(KeyboardInterrupt):
        killed(tmp_path)
    with lock_project(tmp_path):
        assert not any(path.exists() for path in half)
        assert whole.exists()
        assert lock.exists()


def test_a_second_run_waits_for_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    started = threading.Event()

    def second() -> None:
        with lock_project(tmp_path):
            started.set()

    with lock_project(tmp_path):
        other = threading.Thread(target=second)
        other.start()
        assert not started.wait(0.2)
    other.join()
    assert started.is_set()
    assert "another run is working in this project" in capsys.readouterr().err


def test_a_second_run_waits_for_what_a_killed_one_left_running(tmp_path: Path) -> None:
    started = threading.Event()

    def second() -> None:
        with lock_project(tmp_path):
            started.set()

    with lock_project(tmp_path) as descriptors:
        left = subprocess.Popen(
            [sys.executable, "-c", "input()"],
            stdin=subprocess.PIPE,
            pass_fds=descriptors,
        )
    other = threading.Thread(target=second)
    other.start()
    assert not started.wait(0.2)
    left.communicate(b"\n")
    other.join()
    assert started.is_set()


def test_only_living_processes_of_dvc_stay_in_its_list(tmp_path: Path) -> None:
    sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
    alive = subprocess.Popen([*sleeping, "dvc"])
    ours = subprocess.Popen([*sleeping, "flows.fork_server"])
    other = subprocess.Popen(sleeping)  # has got the number of one that was killed
    zombie = subprocess.Popen([*sleeping, "dvc"])
    os.kill(zombie.pid, signal.SIGKILL)
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)  # dead, and not reaped

    def info(process: "subprocess.Popen[bytes]") -> dict[str, object]:
        return {"pid": process.pid, "cmd": "repro"}

    rwlock_file = tmp_path / "rwlock"
    write = {"a": info(alive), "b": info(other), "c": info(zombie), "o": info(ours)}
    read = {"d": [info(zombie), info(alive)], "e": [info(zombie)]}
    rwlock_file.write_text(json.dumps({"write": write, "read": read}))
    drop_dead_processes(rwlock_file)
    entries = json.loads(rwlock_file.read_text())
    living = {"a": info(alive), "o": info(ours)}
    assert entries == {"write": living, "read": {"d": [info(alive)]}}
    for process in (alive, ours, other, zombie):
        process.kill()
        process.wait()
    drop_dead_processes(rwlock_file)
    assert json.loads(rwlock_file.read_text()) == {"write": {}, "read": {}}


def test_a_full_disk_is_not_taken_for_a_damaged_list_of_past_runs(
    tmp_path: Path,
) -> None:
    file = history.database(tmp_path)
    file.parent.mkdir(parents=True)
    file.write_text("cannot be read at this moment")
    with (tmp_path / ".work/run.lock").open("w") as lock, files_of_at_most(1000):
        server = Server(tmp_path, [lock.fileno()], lambda: None)
        with pytest.raises(
            NoPrefect, match="File too large; fix that, or run with --no-prefect"
        ):
            server.wait_until_it_serves()
        server.close()
    assert [path.name for path in file.parent.glob("prefect.db*")] == ["prefect.db"]


@pytest.mark.parametrize("cut", ["", '{"write": {"a"', "[]", '{"write": {"a": {}}}'])
def test_a_list_cut_short_goes(tmp_path: Path, cut: str) -> None:
    file = tmp_path / "rwlock"
    drop_dead_processes(file)  # none is fine
    file.write_text(cut)
    drop_dead_processes(file)
    assert not file.exists()


def test_a_list_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "rwlock").write_bytes(b"\x9f")
    entered = rwlock.rwlock(str(tmp_path), localfs, "repro", ["a"], ["b"], False)
    with (
        pytest.raises(BadInput, match=r"delete \.dvc/tmp/rwlock while no DVC runs"),
        explain_dvc_errors(),
    ):
        entered.__enter__()


def test_a_dvcignore_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvcignore").write_bytes(b"\x9f")
    with (
        pytest.raises(BadInput, match=r"; save \.dvcignore as UTF-8"),
        explain_dvc_errors(),
    ):
        list(
            Repo(str(tmp_path), config={"core": {"no_scm": True}}).dvcignore.walk(
                localfs, "."
            )
        )


def test_a_folder_in_the_place_of_dvcs_database_can_be_deleted(tmp_path: Path) -> None:
    with (
        pytest.raises(BadInput, match=r"\.work/dvc .*; or delete that folder"),
        explain_dvc_errors(),
    ):
        sqlite3.connect(tmp_path).close()


def test_a_worker_that_is_killed_leaves_dvcs_list_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "rwlock"
    # put back after the test
    monkeypatch.setattr(rwlock, "_edit_rwlock", rwlock._edit_rwlock)
    make_rwlock_atomic()

    def half(value: object, file: IO[str]) -> None:
        file.write('{"write": ')
        file.flush()
        raise KeyboardInterrupt

    with rwlock.rwlock(str(tmp_path), localfs, "repro", ["a"], ["b"], False):
        before = file.read_text()
        assert json.loads(before)["write"].keys() == {"b"}
        another = rwlock.rwlock(str(tmp_path), localfs, "repro", ["c"], ["d"], False)
        with monkeypatch.context() as patch:
            patch.setattr(json, "dump", half)
            with pytest.raises(KeyboardInterrupt):
                another.__enter__()
        assert file.read_text() == before
    assert json.loads(file.read_text()) == {}


STATES = ("RUNNING", "PENDING", "NotReady", "COMPLETED")


def past_runs(root: Path) -> Path:
    """A database with Prefect's columns that matter here, and a run in each state."""
    file = history.database(root)
    file.parent.mkdir(parents=True)
    with closing(sqlite3.connect(file)) as database, database:
        for kind in ("flow_run", "task_run"):
            database.execute(f"CREATE TABLE {kind} (state_id, state_type, state_name)")
            database.execute(f"CREATE TABLE {kind}_state (id, type, name, message)")
            for name in STATES:
                type_ = "PENDING" if name == "NotReady" else name
                database.execute(
                    f"INSERT INTO {kind} VALUES (?, ?, ?)", (name, type_, name)
                )
                database.execute(
                    f"INSERT INTO {kind}_state VALUES (?, ?, ?, '')",
                    (name, type_, name),
                )
    return file


def states(file: Path) -> list[tuple[str, ...]]:
    query = " UNION ".join(
        f"SELECT '{kind}', r.state_id, r.state_type, s.type FROM {kind} r"
        f" JOIN {kind}_state s ON s.id = r.state_id"
        for kind in ("flow_run", "task_run")
    )
    with closing(sqlite3.connect(file)) as database:
        return database.execute(query).fetchall()


CRASHED = {
    (kind, name, state, state)
    for kind in ("flow_run", "task_run")
    for name, state in zip(
        STATES, ("CRASHED", "CRASHED", "PENDING", "COMPLETED"), strict=True
    )
}


def test_what_prefect_believes_to_go_on_has_crashed_if_the_run_was_killed(
    tmp_path: Path,
) -> None:
    file = past_runs(tmp_path)
    with lock_project(tmp_path):
        assert set(states(file)) != CRASHED  # nobody was killed
    with pytest.raises(KeyboardInterrupt):
        killed(tmp_path)
    with lock_project(tmp_path):
        assert set(states(file)) == CRASHED


def test_a_damaged_list_of_past_runs_stops_nobody(tmp_path: Path) -> None:
    file = past_runs(tmp_path)
    whole = file.read_bytes()
    assert history.is_intact(file)
    file.with_name("prefect.db-wal").write_bytes(b"of the old one")
    for damaged in (
        whole[: len(whole) // 2 + 100],
        b"garbage" * 1000,
        whole[:4096] + b"x" * 9000,
    ):
        file.write_bytes(damaged)
        assert not history.is_intact(file)
        with pytest.raises(KeyboardInterrupt):
            killed(tmp_path)
        assert history.set_aside(file).read_bytes() == damaged
        assert [path.name for path in file.parent.iterdir()] == ["prefect.db.damaged"]
    file.write_bytes(b"")
    assert history.is_intact(file), "a new one"


def test_prefects_server_ends_with_the_run_and_notes_that_it_crashed(
    tmp_path: Path,
) -> None:
    """Also if the run is killed while the server starts, as here."""
    file = past_runs(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "flows.prefect_server",
                str(listening.fileno()),
                str(file),
            ],
            env=os.environ | lifeline.ENVIRONMENT,
            stdin=subprocess.PIPE,
            pass_fds=[listening.fileno()],
        )
    assert server.stdin
    server.stdin.close()
    assert server.wait(60) == 0
    assert set(states(file)) == CRASHED


@pytest.mark.parametrize(
    ("number", "after"), [(signal.SIGKILL, 0), (signal.SIGTERM, 0), (signal.SIGTERM, 3)]
)
def test_a_server_that_is_killed_while_it_starts_ends_the_run_at_once(
    tmp_path: Path, number: signal.Signals, after: int
) -> None:
    lost = threading.Event()
    (tmp_path / ".work").mkdir()
    with (tmp_path / ".work/run.lock").open("w") as lock:
        server = Server(tmp_path, [lock.fileno()], lost.set)
        # by then it may have begun to serve, as far as its signals go
        time.sleep(after)
        server._process.send_signal(number)
        assert lost.wait(30)
        server.close()


def test_a_server_outlives_the_terminal_as_its_run_does(tmp_path: Path) -> None:
    """Under nohup: what its parent ignores, a process ignores from its start."""
    lost = threading.Event()
    (tmp_path / ".work").mkdir()
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with (tmp_path / ".work/run.lock").open("w") as lock:
            server = Server(tmp_path, [lock.fileno()], lost.set)
            time.sleep(3)  # by then its own handlers are set
            server._process.send_signal(signal.SIGHUP)
            assert not lost.wait(2)
            assert server._process.poll() is None
            server.close()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_server_that_cannot_start_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / ".work").mkdir()
    (tmp_path / ".work/prefect").write_text("no folder")
    with pytest.raises(
        NoPrefect, match=r"cannot start in \.work/prefect: .*--no-prefect"
    ) as error:
        Server(tmp_path, [0], lambda: None)
    assert "\n" not in str(error.value)


def test_the_surroundings_lead_nobody_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "environ", os.environ.copy())
        for name in [name for name in os.environ if name.startswith("PREFECT_")]:
            del os.environ[name]
        os.environ |= {
            "PREFECT_API_URL": "https://x",
            "PREFECT_API_KEY": "k",
            "PREFECT_HOME": "h",
        }
        os.environ |= {"NO_PROXY": "a.example, localhost", "no_proxy": "b.example"}
        again = os.environ.copy()
        assert surroundings.set_up(tmp_path) == [
            "PREFECT_API_KEY",
            "PREFECT_API_URL",
            "PREFECT_HOME",
        ]
        assert not {"PREFECT_API_URL", "PREFECT_API_KEY"} & os.environ.keys()
        assert os.environ["PREFECT_HOME"] == str(tmp_path / ".work/prefect")
        exempt = "b.example,a.example,localhost,127.0.0.1,::1"
        assert os.environ["NO_PROXY"] == os.environ["no_proxy"] == exempt

        os.environ |= again
        surroundings.set_up(tmp_path, keep=surroundings.CREDENTIALS)
        assert os.environ["PREFECT_API_KEY"] == "k"
        assert "PREFECT_API_URL" not in os.environ


def test_stages_at_a_time_share_the_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    threads = [
        surroundings.stage_environment(tmp_path, jobs)["OMP_NUM_THREADS"]
        for jobs in (1, 2, 4, 9)
    ]
    assert threads == ["6", "3", "1", "1"]
    assert surroundings.stage_environment(tmp_path, 1)["OPENBLAS_NUM_THREADS"] == "1"
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert surroundings.stage_environment(tmp_path, 2)["OMP_NUM_THREADS"] == "5"


def test_a_signal_that_is_ignored_stays_so() -> None:
    """As under nohup: the run outlives its terminal."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        Ending().listen()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is not before[signal.SIGTERM]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
