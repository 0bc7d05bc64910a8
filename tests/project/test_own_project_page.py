"""docs/own-data.md: its spreadsheets and its command are taken from the page and run."""

import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from metassay.cli.main import main
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.parquet import read
from tests.conftest import ROOT
from tests.project.wheel import wheel
from tests.test_tutorials import assert_shown, blocks

PAGE = (ROOT / "docs/own-data.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def shown_in_the_tutorial() -> list[str]:
    """What docs/tutorials/spreadsheet.md shows of the guess, and of the run."""
    return [text for language, text in blocks("spreadsheet") if language == "text"]


def put_example(folder: Path) -> list[str]:
    """Write the page's spreadsheets; returns the words of its second command, but for --run."""
    tables = [text for language, text in BLOCKS if language == "csv"]
    for name, text in zip(("texts", "ratings", "scores"), tables, strict=True):
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    (command,) = re.findall(r"^metassay (init study .*) --run$", PAGE, re.MULTILINE)
    return shlex.split(command)


def test_what_the_page_shows_is_what_is_guessed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(put_example(tmp_path)) == 2
    output = capsys.readouterr()
    (shown,) = [text for language, text in BLOCKS if not language]
    assert output.out == shown
    guessed, _ = shown_in_the_tutorial()
    assert_shown(guessed, output.out)
    assert "metassay init study --texts texts.csv" in output.err
    assert not Path("study").exists()


@pytest.mark.slow
def test_two_commands_from_the_wheel_lead_to_the_report(tmp_path):
    """Whatever the folder is called, with an empty home and nothing of the checkout.

    The environment is that of these tests, whose packages a test of its own holds
    against the extra `pipeline`; Metassay itself is the wheel's.
    """
    site, here = tmp_path / "site", tmp_path / "Prüfung in Köln"
    here.mkdir()
    with zipfile.ZipFile(wheel(tmp_path)) as packed:
        packed.extractall(site)
    words = [
        "Meine Studie ä",
        *put_example(here)[2:],
        "--name",
        "study",
        "--yes",
        "--run",
    ]
    environment = {"HOME": str(tmp_path / "home"), "PYTHONPATH": str(site)}
    environment |= {"PATH": os.environ["PATH"], "GIT_CONFIG_SYSTEM": os.devnull}
    command = [sys.executable, "-m", "metassay.cli", "init", *words]
    done = subprocess.run(
        command, cwd=here, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    project = here / "Meine Studie ä"
    page = project / "reports/study/index.html"
    assert f"open {page.as_uri()}" in done.stdout
    _, printed = shown_in_the_tutorial()
    assert_shown(printed, done.stdout)
    assert page.is_file()
    assert "align_score" in (page.parent / "page/data/head.js").read_text("utf-8")
    board = read(LEADERBOARD, project / "data/tables/study/leaderboard.parquet")
    better = dict(zip(board["metric"], board["better"], strict=True))
    assert (better["align_score"], better["TER"]) == ("higher", "lower")
    # The checkout's own environment may lie in it; its code has no part in this.
    show = "import flows, metassay, stages; print(flows, metassay, stages)"
    loaded = subprocess.check_output(
        [sys.executable, "-c", show], cwd=project, env=environment, text=True
    )
    assert loaded.count(str(site)) == 3
    status = ["git", "status", "--porcelain", "--untracked-files=all"]
    left = subprocess.check_output(status, cwd=project, text=True)
    new = {line[3:] for line in left.splitlines() if line.startswith("??")}
    numbers = ("headline.json", "metrics.json")
    plots = ("plots/leaderboard.csv", "plots/forest.csv")
    names = ("dvc.lock", *numbers, *plots)
    assert new <= {f"benchmarks/study/{name}" for name in names}
