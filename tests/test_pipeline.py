"""The real DAG on the sample, as a stranger would start it: the README's first command."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from metassay.parquet import read
from metassay.tables import LEADERBOARD, TABLES
from metassay.validation import table_problems

ROOT = Path(__file__).parent.parent


def git_diff(root: Path) -> str:
    command = ["git", "diff", "--exit-code", "dvc.lock"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return done.stdout


@pytest.mark.slow
def test_make_run_in_a_fresh_clone_with_an_empty_home(project: Path, tmp_path: Path) -> None:
    """Installs, runs the sample, and reproduces the committed dvc.lock byte for byte."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG") or k.startswith("PIP_")}
    done = subprocess.run(
        ["make", "run"],
        cwd=project,
        env={**kept, "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert git_diff(project) == ""
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=project, capture_output=True, text=True, check=True
    )
    assert status.stdout == "", "a run leaves nothing for git to see"
    assert (project / "reports/sample/index.html").is_file()
    assert "reports/sample/index.html" in done.stdout
    assert "closest to people" in done.stdout
    board = read(LEADERBOARD, project / "data/tables/sample/leaderboard.parquet")
    recall = board[(board["metric"] == "claim_recall") & (board["part"] == "full")]
    by_author = recall.set_index("author")["macro"]
    assert by_author["faithful"] > by_author["omitting"]
    built = {path.stem for path in (project / "data/tables/sample").iterdir()}
    assert built == set(TABLES)
    os.chdir(project)
    assert table_problems(Path("data/tables")) == []


@pytest.mark.slow
def test_killed_at_random_moments_it_finishes_with_the_same_bytes(project: Path) -> None:
    """SIGKILL of everything leaves no half-written table, and the next run mends dvc.lock."""
    moments = random.Random(7)
    command = [sys.executable, "-m", "metassay.cli", "run", "sample", "--no-prefect"]
    for _ in range(6):
        running = subprocess.Popen(
            command, cwd=project, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(moments.uniform(5, 14))
        kill_all_in(project)
        running.wait()
        assert table_problems(project / "data/tables") == []
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert git_diff(project) == ""
    assert not list((project / "data/tables").rglob(".*"))


def kill_all_in(folder: Path) -> None:
    """SIGKILL every process that works in this folder, until there is none."""
    while True:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (process / "cwd").readlink() == folder and process.name != str(os.getpid()):
                    found.append(int(process.name))
        alive = [pid for pid in found if not is_zombie(pid)]
        if not alive:
            return
        for pid in alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def is_zombie(pid: int) -> bool:
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return True
