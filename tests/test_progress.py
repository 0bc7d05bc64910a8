"""Bars of long work: on a terminal, or in the file that a run reads."""

import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from flows.dag import Plan, Stage
from flows.watch import Watch
from metassay.core import progress
from metassay.core.progress import PLACE, bar, bars, place


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_SECONDS", 0.0)


def test_a_stage_says_how_far_it_is_where_its_run_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "far"
    monkeypatch.setenv(PLACE, str(file))
    with bar("questions", 48_306) as outer:
        outer(1_200)
        assert file.read_text() == "questions 1,200 of 48,306"
        with bar("answers of m", 30) as inner:
            inner(7)
            assert file.read_text() == "questions 1,200 of 48,306, answers of m 7 of 30"
            inner(30)
            assert file.read_text() == "questions 1,200 of 48,306"
    assert file.read_text() == ""
    with bars() as tables:
        table = tables("agreement")
        table(1)
        assert file.read_text() == "agreement 1"
        table(2, 3)
        assert file.read_text() == "agreement 2 of 3"


def test_a_file_that_cannot_be_written_fails_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PLACE, str(tmp_path / "no" / "folder"))
    with bar("questions", 2) as tell:
        tell(1)


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_is_on_stderr_where_that_is_a_terminal(
    terminal, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with bar("answers of m[1]", 3) as tell, bar("shards", 4) as other:
        tell(2)
        other(1)
    output = capsys.readouterr()
    assert (output.out, "m[1]" in output.err, "shards" in output.err) == (
        "",
        terminal,
        terminal,
    )


def test_a_run_shows_how_far_its_stages_are(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".work").mkdir()
    address = "benchmarks/b/dvc.yaml:judge@llm"
    stage = Stage(address, (), 0, 0.0, ())
    screen = Console(file=StringIO(), force_terminal=True, width=120)
    with Watch(Plan({address: stage}, frozenset({address})), console=screen) as watch:
        with watch.stage(stage):
            place(address).write_text("questions 3 of 9")
            watch._progress.refresh()
            assert f"{stage.name} (questions 3 of 9)" in screen.file.getvalue()
        assert not place(address).exists()
