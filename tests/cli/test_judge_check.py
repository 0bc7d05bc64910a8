"""`metassay judge-check`: the tutorial's file, the page's commands, exit codes, processor time."""

import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from metassay.cli.main import main

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "judge-check.md").read_text("utf-8")
TUTORIAL = (DOCS / "tutorials/judge.md").read_text("utf-8")


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The tutorial's file, made as it says, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", TUTORIAL, re.DOTALL)
    exec(code, {})
    return tmp_path / "verdicts.csv"


def test_the_commands_of_the_page_answer_in_twenty_lines_and_refuse_with_four(
    file, capsys
):
    (command,) = re.findall(r"```sh\n(metassay judge-check [^\n-]*)\n```", PAGE)
    assert main(shlex.split(command)[1:]) == 0
    lines = capsys.readouterr().out.rstrip("\n").split("\n")
    assert len(lines) <= 20
    (code,) = re.findall(r"```python\n(import metassay.*?)```", PAGE, re.DOTALL)
    # three lines, and one that imports pandas
    assert len(code.strip().split("\n")) <= 4
    exec(code, {})
    assert "base rate alone" in capsys.readouterr().out
    (command,) = re.findall(
        r"```sh\n(metassay judge-check [^\n]*--require.*?)\n```", PAGE
    )
    words = shlex.split(command)[1:]
    assert main(words) == 4
    assert "NOT MET: judge: sensitivity" in capsys.readouterr().out
    assert main([word if "=" not in word else "sensitivity=.1" for word in words]) == 0


def test_tables_are_written_and_bad_usage_is_two(file, capsys):
    assert main(["judge-check", "verdicts.csv", "--out", "results"]) == 0
    assert (file.parent / "results/card.csv").exists()
    assert main(["judge-check", "verdicts.csv", "--judge", "nobody"]) == 2
    words = "there is no column 'nobody'; name one of these: 'id', 'doc_id'"
    assert words in capsys.readouterr().err
    assert main(["judge-check", "nothing.csv"]) == 2


def test_what_was_refused_is_taken(tmp_path, monkeypatch, capsys):
    """One file for both, labels in words, a column `judge`, no name of a document."""
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{'pass' if n % 3 else 'fail'},{'pass' if n % 4 else 'fail'}"
        for n in range(60)
    ]
    Path("plain.csv").write_text("\n".join(["judge,human", *rows]), "utf-8")
    assert main(["meta-eval", "plain.csv"]) == 2
    capsys.readouterr()
    assert main(["judge-check", "plain.csv"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert (
        "60 rows, 60 labelled by 1 rater; each row by itself (--columns doc=COLUMN"
        in output
    )


def test_sixty_rows_take_less_than_two_seconds_of_processor(file):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "metassay.cli", "judge-check", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert spent < 4  # 1.3 s on a quiet core; others may share it
