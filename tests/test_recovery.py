"""What a killed run leaves behind is mended by the next one."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from flows.dag import HALF_WRITTEN
from flows.recovery import guarded, strike_out


def killed(root: Path) -> None:
    with guarded(root):
        raise KeyboardInterrupt


def test_half_written_files_of_a_killed_run_go(tmp_path: Path) -> None:
    tables = tmp_path / "data/tables/one/judgments"
    whole = tables / "lexical.parquet"
    lock = tmp_path / "benchmarks/one/dvc.lock"
    half = [
        tables / ".lexical.parquet.x1y2",
        tmp_path / HALF_WRITTEN,
        lock.with_name(HALF_WRITTEN),
    ]
    for path in (whole, lock, *half):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("something")
    with guarded(tmp_path):
        assert all(path.exists() for path in half)  # nobody was killed
    with pytest.raises(KeyboardInterrupt):
        killed(tmp_path)
    with guarded(tmp_path):
        assert not any(path.exists() for path in half)
        assert whole.exists()
        assert lock.exists()


def test_a_second_run_waits_for_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    started = threading.Event()

    def second() -> None:
        with guarded(tmp_path):
            started.set()

    with guarded(tmp_path):
        other = threading.Thread(target=second)
        other.start()
        assert not started.wait(0.2)
    other.join()
    assert started.is_set()
    assert "another run works in this project" in capsys.readouterr().err


def test_a_second_run_waits_for_what_a_killed_one_left_running(tmp_path: Path) -> None:
    started = threading.Event()

    def second() -> None:
        with guarded(tmp_path):
            started.set()

    with guarded(tmp_path) as held:
        left = subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[held]
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
    ours = subprocess.Popen([*sleeping, "flows.worker"])
    other = subprocess.Popen(sleeping)  # has got the number of one that was killed
    zombie = subprocess.Popen([*sleeping, "dvc"])
    os.kill(zombie.pid, signal.SIGKILL)
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)  # dead, and not reaped

    def info(process: "subprocess.Popen[bytes]") -> dict[str, object]:
        return {"pid": process.pid, "cmd": "repro"}

    held = tmp_path / "rwlock"
    write = {"a": info(alive), "b": info(other), "c": info(zombie), "o": info(ours)}
    read = {"d": [info(zombie), info(alive)], "e": [info(zombie)]}
    held.write_text(json.dumps({"write": write, "read": read}))
    strike_out(held)
    found = json.loads(held.read_text())
    kept = {"a": info(alive), "o": info(ours)}
    assert found == {"write": kept, "read": {"d": [info(alive)]}}
    for process in (alive, ours, other, zombie):
        process.kill()
        process.wait()
    strike_out(held)
    assert json.loads(held.read_text()) == {"write": {}, "read": {}}


@pytest.mark.parametrize("cut", ["", '{"write": {"a"', "[]", '{"write": {"a": {}}}'])
def test_a_list_cut_short_goes(tmp_path: Path, cut: str) -> None:
    held = tmp_path / "rwlock"
    strike_out(held)  # none is fine
    held.write_text(cut)
    strike_out(held)
    assert not held.exists()
