"""How a stage fails that never began: it is told, whichever way stages are run."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from flows import plain
from flows.dag import Plan, Stage
from flows.watch import Watch
from flows.workers import StageFailed, Workers

ONE = Stage("benchmarks/one/dvc.yaml:align", (), 0, 1, ())
TWO = Stage("benchmarks/one/dvc.yaml:pair", (ONE.address,), 0, 1, ())
PLAN = Plan({ONE.address: ONE, TWO.address: TWO}, frozenset([ONE.address, TWO.address]))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_process_that_cannot_start_fails_its_stage_in_one_line(tmp_path: Path) -> None:
    said = io.StringIO()
    with (tmp_path / "lock").open("w") as held:
        workers = Workers(tmp_path, [held.fileno()])  # there is no .work/ for what it says
        with Watch(PLAN, console=Console(file=said, width=200)) as watch:
            failed = plain.run(tmp_path, workers, watch, jobs=1)
    assert failed == [ONE.address, TWO.address]
    assert "its process cannot work: No such file or directory; run it again" in said.getvalue()
    assert watch.failures[ONE.address].retryable


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with (tmp_path / "lock").open("w") as held, pytest.raises(StageFailed) as failure:
        Workers(tmp_path, [held.fileno()]).run(ONE)
    assert (
        failure.value.said == "there is no room left on the disk; make room and run the same again"
    )


def test_a_fault_of_the_program_is_not_swallowed(tmp_path: Path) -> None:
    def broken(stage: Stage) -> None:
        raise ZeroDivisionError(stage.name)

    workers: Any = SimpleNamespace(run=broken, stopped=SimpleNamespace(is_set=lambda: False))
    with (
        pytest.raises(ZeroDivisionError),
        Watch(PLAN, console=Console(file=io.StringIO())) as watch,
    ):
        plain.run(tmp_path, workers, watch, jobs=1)
