"""A command that is ended leaves nothing half-written, and what it writes is its owner's."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from metassay.cli.main import main
from metassay.core.exit_codes import INTERRUPTED
from tests.imports.importing import write_lines
from tests.imports.test_tools import GENERATED
from tests.killed_commands import Killed

ENDED = """
import os, signal, sys, time
from metassay.cli import importing
from metassay.cli.main import main

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored

def end(*_):
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))
    time.sleep(60)

importing.write = end
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    file = write_lines(
        tmp_path / "samples_gsm8k_2026-01-02T03-04-05.678901.jsonl", [GENERATED]
    )
    return ["import", "lm-eval", str(file), "--out", str(tmp_path / "out")]


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_to_end_removes_what_is_half_written(
    tmp_path: Path, words: list[str], name: str
) -> None:
    command = [sys.executable, "-c", ENDED, name, *words]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (INTERRUPTED, "")
    assert [path.name for path in tmp_path.iterdir()] == [
        "samples_gsm8k_2026-01-02T03-04-05.678901.jsonl"
    ]


def test_what_is_imported_is_its_owner_s_alone(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = os.umask(0o022)
    try:
        assert main(words) == 0, capsys.readouterr().err
    finally:
        os.umask(before)
    out = tmp_path / "out"
    paths = [out, *out.rglob("*")]
    assert len(paths) > 4
    for path in paths:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_a_command_that_is_killed_while_it_writes_is_whole_the_next_time(
    tmp_path: Path,
) -> None:
    """A small sample of `python -m tests.killed_commands 100`."""
    killed = Killed("import", tmp_path / "import", random.Random(2))
    for _ in range(12):  # it can end before the moment that was drawn
        if killed.kills.total() < 3:
            killed.once()
    killed.complete()
    assert killed.kills.total() == 3
    assert killed.problems == []
