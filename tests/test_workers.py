"""What is told of a stage that failed, or never began, whichever way stages are run."""

import io
import signal
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from flows import plain
from flows.dag import Plan, Stage
from flows.watch import Watch
from flows.workers import StageFailed, Workers, failure_text, note_lines

STAGE = Stage("benchmarks/one/dvc.yaml:align", (), 0, 1, ())
TWO = Stage("benchmarks/one/dvc.yaml:pair", (STAGE.address,), 0, 1, ())
PLAN = Plan(
    {STAGE.address: STAGE, TWO.address: TWO}, frozenset([STAGE.address, TWO.address])
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_process_that_cannot_start_fails_its_stage_in_one_line(
    tmp_path: Path,
) -> None:
    text = io.StringIO()
    with (tmp_path / "lock").open("w") as lock:
        # there is no .work/ for what it says
        workers = Workers(tmp_path, [lock.fileno()])
        with Watch(PLAN, console=Console(file=text, width=200)) as watch:
            failed = plain.run(tmp_path, workers, watch, jobs=1)
    assert failed == [STAGE.address, TWO.address]
    assert (
        "its process cannot work: No such file or directory; run it again"
        in text.getvalue()
    )
    assert watch.failures[STAGE.address].retryable


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with (tmp_path / "lock").open("w") as lock, pytest.raises(StageFailed) as failure:
        Workers(tmp_path, [lock.fileno()]).run(STAGE)
    assert (
        failure.value.output
        == "there is no room left on the disk; make room and run the same again"
    )


def test_a_fault_of_the_program_is_not_swallowed(tmp_path: Path) -> None:
    def broken(stage: Stage) -> None:
        raise ZeroDivisionError(stage.name)

    workers: Any = SimpleNamespace(
        run=broken, stopped=SimpleNamespace(is_set=lambda: False)
    )
    with (
        pytest.raises(ZeroDivisionError),
        Watch(PLAN, console=Console(file=io.StringIO())) as watch,
    ):
        plain.run(tmp_path, workers, watch, jobs=1)


def test_a_crash_tells_where_but_not_the_text_it_stumbled_over() -> None:
    crash = (
        "note: nothing to see\n"
        "Traceback (most recent call last):\n"
        '  File "stages/judge.py", line 21, in main\n    judge()\n'
        "ValueError: cannot read 'CANARY of a patient'\nCANARY again: second line\n"
    )
    text = failure_text(crash, 1)
    assert "CANARY" not in text
    assert 'File "stages/judge.py", line 21, in main' in text
    assert "ValueError" in text
    assert note_lines(crash) == ("note: nothing to see",)


def test_of_a_group_of_errors_only_the_kind_is_told() -> None:
    try:
        raise ExceptionGroup("CANARY", [ValueError("CANARY")])
    except ExceptionGroup:
        crash = traceback.format_exc()
    text = failure_text(crash, 1)
    assert "CANARY" not in text
    assert "ExceptionGroup (its message is not shown" in text
    assert f'File "{__file__}"' in text


def test_a_module_that_is_not_installed_is_named() -> None:
    crash = (
        "Traceback (most recent call last):\n"
        '  File "stages/judge.py", line 3, in <module>\n    import torch\n'
        "ModuleNotFoundError: No module named 'torch'\n"
    )
    assert "No module named 'torch'; install" in failure_text(crash, 1)


def test_the_signal_that_ended_a_stage_is_named() -> None:
    for code in (-signal.SIGKILL, 128 + signal.SIGKILL):
        text = failure_text("half done", code)
        assert text.startswith(
            "half done\nkilled by SIGKILL, perhaps because there was no memory"
        )
    assert "killed by SIGSEGV; " in failure_text("", 139)
    assert "killed" not in failure_text("one line", 78)
    assert failure_text("", 3).startswith("no output; ")
