"""Tutorials are true: what they tell to type gives the output that they show."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from metassay.cli.main import main
from tests.conftest import ROOT

TUTORIALS = ROOT / "docs/tutorials"
GAP = re.compile(r"^…\n", re.MULTILINE)  # a line in the place of some others


def blocks(name: str) -> list[tuple[str, str]]:
    """Language and content of each block of code, in order."""
    page = (TUTORIALS / f"{name}.md").read_text(encoding="utf-8")
    return re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def commands(block: str) -> Iterator[list[str]]:
    for line in block.splitlines():
        yield shlex.split(line, comments=True)


def assert_shown(block: str, output: str) -> None:
    """Each part of the block between gaps stands in the output, in this order."""
    lines = "\n".join(line.rstrip() for line in output.splitlines())
    for part in GAP.split(block):
        before, match, lines = lines.partition(part.strip("\n"))
        assert match, f"{part}\n--- is not in\n{before}"


def follow(
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    *,
    until: str = "",
) -> int:
    """Do what a tutorial tells, up to a language; returns the last exit code of ours."""
    code, output = 0, ""
    for language, block in blocks(name):
        if language == until:
            break
        if language == "python":
            exec(compile(block, f"{name}.md", "exec"), {})
        elif language == "text":
            assert_shown(block, output)
        elif language == "sh":
            for program, *words in commands(block):
                if program == "cd":
                    monkeypatch.chdir(words[0])
                elif program == "metassay":
                    code = main(words)
                    output = capfd.readouterr().out
                elif program != "pip":  # it is installed
                    subprocess.run([program, *words], check=True)
    return code


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ann@example.org")


def test_two_files(monkeypatch, capfd) -> None:
    assert follow("two-files", monkeypatch, capfd) == 0
    assert Path("results/index.html").is_file()


def test_a_judge(monkeypatch, capfd) -> None:
    assert follow("judge", monkeypatch, capfd) == 4  # it misses what is required


def test_a_model_of_ones_own_has_its_price_first(monkeypatch, capfd) -> None:
    assert follow("model", monkeypatch, capfd, until="yaml") == 0
    assert Path("mine/benchmarks/mine/params.yaml").is_file()


@pytest.mark.slow
def test_every_week_in_ci(monkeypatch, capfd) -> None:
    assert follow("ci", monkeypatch, capfd) == 4  # scores got worse
    assert Path("reports/changes/weekly/index.html").is_file()


def test_each_fits_one_screen_and_begins_with_what_one_gets() -> None:
    pages = sorted(TUTORIALS.glob("*.md"))
    assert len(pages) == 5
    for page in pages:
        title, empty, first, *rest = page.read_text(encoding="utf-8").splitlines()
        assert title.startswith("# ")
        assert not empty
        assert first.startswith("**You get** ")
        prose = re.sub(r"^```.*?^```$", "", "\n".join(rest), flags=re.M | re.S)
        assert len(prose.splitlines()) <= 60
