"""What a killed run leaves behind is mended by the next one."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from dvc.utils.serialize import dump_yaml, load_yaml

from flows.recovery import guarded, mend, strike_out

STAGES = {
    f"stage@{n}": {"cmd": f"run {n}", "outs": [{"path": f"out{n}", "md5": str(n) * 32}]}
    for n in range(4)
}


def lock_file(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    dump_yaml(str(path), {"schema": "2.0", "stages": STAGES})
    return path


def killed_while_writing(root: Path) -> None:
    with guarded(root):
        lock = root / "dvc.lock"
        lock.write_bytes(lock.read_bytes()[: lock.stat().st_size // 2])
        raise KeyboardInterrupt


def test_a_cut_anywhere_loses_nothing(tmp_path: Path) -> None:
    kept = lock_file(tmp_path / "kept")
    whole = kept.read_bytes()
    lock = tmp_path / "dvc.lock"
    for length in range(len(whole) + 1):
        lock.write_bytes(whole[:length])
        mend(lock, kept)
        assert lock.read_bytes() == whole, length


def test_what_the_killed_run_finished_stays_but_for_the_last_entry(tmp_path: Path) -> None:
    kept = lock_file(tmp_path / "kept")
    newer = {"cmd": "newer", "outs": [{"path": "out1", "md5": "f" * 32}]}
    stages = {**STAGES, "stage@1": newer, "stage@8": newer, "stage@9": newer}
    dump_yaml(str(tmp_path / "dvc.lock"), {"schema": "2.0", "stages": stages})
    mend(tmp_path / "dvc.lock", kept)
    found = load_yaml(str(tmp_path / "dvc.lock"))["stages"]
    assert list(found) == [*STAGES, "stage@8"]
    assert found["stage@1"] == newer


def test_the_copy_lasts_as_long_as_the_run_and_longer_if_it_is_killed(tmp_path: Path) -> None:
    lock, kept = lock_file(tmp_path / "dvc.lock"), tmp_path / ".work/dvc.lock"
    whole = lock.read_bytes()
    with guarded(tmp_path):
        assert kept.read_bytes() == whole
    assert not kept.exists()
    with pytest.raises(KeyboardInterrupt):
        killed_while_writing(tmp_path)
    with guarded(tmp_path):
        assert lock.read_bytes() == whole


def test_the_first_run_of_all_has_no_lock_file(tmp_path: Path) -> None:
    with guarded(tmp_path):
        pass
    assert not (tmp_path / "dvc.lock").exists()


def test_half_written_tables_of_a_killed_run_go(tmp_path: Path) -> None:
    lock_file(tmp_path / "dvc.lock")
    tables = tmp_path / "data/tables/one/judgments"
    tables.mkdir(parents=True)
    (tables / "lexical.parquet").write_text("whole")
    (tables / ".lexical.parquet.x1y2").write_text("ha")
    with guarded(tmp_path):
        assert len(list(tables.iterdir())) == 2  # nobody was killed
    with pytest.raises(KeyboardInterrupt):
        killed_while_writing(tmp_path)
    with guarded(tmp_path):
        assert [path.name for path in tables.iterdir()] == ["lexical.parquet"]


def test_a_second_run_waits_for_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lock_file(tmp_path / "dvc.lock")
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


def test_only_living_processes_of_dvc_stay_in_its_list(tmp_path: Path) -> None:
    sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
    alive = subprocess.Popen([*sleeping, "dvc"])
    other = subprocess.Popen(sleeping)  # has got the number of one that was killed
    zombie = subprocess.Popen([*sleeping, "dvc"])
    os.kill(zombie.pid, signal.SIGKILL)
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)  # dead, and not reaped

    def info(process: "subprocess.Popen[bytes]") -> dict[str, object]:
        return {"pid": process.pid, "cmd": "repro"}

    held = tmp_path / "rwlock"
    write = {"a": info(alive), "b": info(other), "c": info(zombie)}
    read = {"d": [info(zombie), info(alive)], "e": [info(zombie)]}
    held.write_text(json.dumps({"write": write, "read": read}))
    strike_out(held)
    found = json.loads(held.read_text())
    assert found == {"write": {"a": info(alive)}, "read": {"d": [info(alive)]}}
    for process in (alive, other, zombie):
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
