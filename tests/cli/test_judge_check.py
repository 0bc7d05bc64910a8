"""`metassay judge-check`: the file of docs/judge-check.md, its exit codes, its processor time."""

import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from metassay.cli.main import main

PAGE = (Path(__file__).parents[2] / "docs/judge-check.md").read_text("utf-8")


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The page's file, made as the page says, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    (made,) = re.findall(r"```python\n(# verdicts\.csv.*?)```", PAGE, re.DOTALL)
    exec(made, {})
    return tmp_path / "verdicts.csv"


def shown(page_block):
    return [line.rstrip() for line in page_block.strip("\n").split("\n")]


def test_the_page_shows_what_its_command_prints(file, capsys):
    (command, printed), *_ = re.findall(r"```sh\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert main(shlex.split(command)[1:]) == 0
    said = capsys.readouterr().out.rstrip("\n").split("\n")
    assert [line.rstrip() for line in said] == shown(printed)
    assert len(said) <= 20


def test_the_page_s_three_lines_of_python(file, capsys):
    (code,) = re.findall(r"```python\n(import metassay.*?)```", PAGE, re.DOTALL)
    assert len(code.strip().split("\n")) <= 4  # and one that imports pandas
    exec(code, {})
    assert "base rate alone" in capsys.readouterr().out


def test_a_gate_fails_with_four(file, capsys):
    (command,) = re.findall(r"```sh\n(metassay judge-check [^\n]*--require.*?)\n```", PAGE)
    words = shlex.split(command)[1:]
    assert main(words) == 4
    assert "NOT MET: judge: sensitivity" in capsys.readouterr().out
    easy = [word if "=" not in word else "sensitivity=.1" for word in words]
    assert main(easy) == 0


def test_tables_are_written_and_bad_usage_is_two(file, capsys):
    assert main(["judge-check", "verdicts.csv", "--out", "results"]) == 0
    assert (file.parent / "results/card.csv").exists()
    assert main(["judge-check", "verdicts.csv", "--judge", "nobody"]) == 2
    assert (
        "there is no column 'nobody'; name one of these: 'id', 'doc_id'" in capsys.readouterr().err
    )
    assert main(["judge-check", "nothing.csv"]) == 2
    with pytest.raises(SystemExit):
        main(["judge-check", "verdicts.csv", "--require", "sensitivity"])


def test_what_was_refused_is_taken(tmp_path, monkeypatch, capsys):
    """One file for both, labels in words, a column `judge`, no name of a document."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{'pass' if n % 3 else 'fail'},{'pass' if n % 4 else 'fail'}" for n in range(60)]
    Path("plain.csv").write_text("\n".join(["judge,human", *rows]), "utf-8")
    assert main(["meta-eval", "plain.csv"]) == 2
    capsys.readouterr()
    assert main(["judge-check", "plain.csv"]) == 0
    assert "60 rows, 60 labelled by 1 rater; each row by itself (--columns doc=COLUMN" in " ".join(
        capsys.readouterr().out.split()
    )


def test_sixty_rows_take_less_than_two_seconds_of_processor(file):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "metassay.cli", "judge-check", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert spent < 4  # 1.3 s on a quiet core; others may share it
