"""`metassay figures`: draws what can be drawn, says what cannot, and ends with an honest code."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from metassay.cli.main import main as metassay
from papers.__main__ import main
from papers.draw import paths
from papers.index import PAPERS
from tests.papers.feeding import feed

OF_DOCLENS = paths(PAPERS["doclens"])
READ = ("aci_bench", "aci_bench_table24", "mts_dialog", "sample_facts", "simsum")
ACI = [path for path in OF_DOCLENS if path.startswith("data/tables/aci_bench/")]


@pytest.fixture
def here(project, monkeypatch):
    """A clone with the benchmarks that these figures read: DVC reads every dvc.yaml there is."""
    for folder in (project / "benchmarks").iterdir():
        if folder.name not in READ:
            shutil.rmtree(folder)
    monkeypatch.chdir(project)
    return project


def test_what_can_be_drawn_is_and_the_rest_is_named(here, capsys):
    """With no table, with those of one benchmark, and of a paper that is open."""
    assert main(["--paper", "doclens"]) == 1
    output = capsys.readouterr().out
    assert "doclens: nothing drawn; 0 of 18 drawn, 20 open" in output
    assert "table24; `metassay run aci_bench_table24` makes them" in output
    assert "table20, table21" in output
    assert not (here / "reports/figures").exists()

    feed(here, ACI)
    assert main(["--paper", "doclens", "--format", "md,tex"]) == 3
    drawn = {file.name for file in (here / "reports/figures/doclens").iterdir()}
    assert drawn == {"table20.md", "table20.tex"}  # of the others no number is there
    output, notes = capsys.readouterr()
    assert "1 of 18 drawn, 20 open" in output
    assert "`metassay run aci_bench_table24` makes them" in output
    assert "lack the numbers: fig4, " in output
    assert "1 figure(s) and table(s): 1 drawn, 0 as before; 20 open" in notes
    assert (
        "table21: not drawn: no number of it in data/tables/aci_bench/leaderboard"
        in notes
    )
    assert "table20: no number of ours for BART + SAMSum FT, full, " in notes
    assert not (here / "papers/dvc.lock").exists()

    assert main(["--paper", "doclens", "--format", "png"]) == 3
    output = capsys.readouterr().out
    assert "1 of 18 drawn" in output
    assert "no file in these formats: table20" in output
    (here / "data/tables/aci_bench/scores.parquet").write_bytes(b"PAR1")
    assert main(["--paper", "doclens", "--format", "md"]) == 3
    output = capsys.readouterr().out.split("\n  not drawn: ")[1]
    assert output.startswith(
        "fig8_recall, fig8_precision, table11: scores: data/tables/aci_bench/"
    )
    assert {file.name for file in (here / "reports/figures/doclens").iterdir()} == {
        "table20.md"
    }

    assert main(["--paper", "simsum"]) == 0
    assert "simsum: nothing drawn; 0 of 0 drawn, 1 open" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--paper", "doclen"], "did you mean 'doclens'?"),
        (["--paper", "rubric"], "there is no 'rubric'; choose from doclens, fm, "),
        (["--format", "gif"], "'gif': choose from svg, pdf, "),
    ],
)
def test_a_wrong_name_is_told_with_those_that_there_are(words, problem, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert problem in capsys.readouterr().err


def test_a_project_without_papers_is_told_where_they_are(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert metassay(["figures"]) == 2
    error = capsys.readouterr().err
    assert "papers/ is not here: " in error
    assert "run this in a copy of that" in error


@pytest.mark.slow  # DVC itself runs the stage, twice
def test_a_whole_paper_is_drawn_by_its_stage_and_again_only_what_changed(here):
    feed(here, OF_DOCLENS)
    first = figures(here)
    assert ": 1 drawn, 0 as before; 20 open" in first
    assert "not up to date: aci_bench, aci_bench_table24" in first
    lock = yaml.safe_load((here / "papers/dvc.lock").read_text(encoding="utf-8"))
    deps = {dep["path"] for dep in lock["stages"]["doclens"]["deps"]}
    assert deps == {*OF_DOCLENS, "papers/doclens"}
    drawn = digest(here)
    assert set(drawn) == {"table20.csv", "table20.md", "table20.tex"}

    feed(here, [path for path in OF_DOCLENS if "table24/" in path], rouge=0.25)
    assert ": 0 drawn, 1 as before; 20 open" in figures(here)
    assert digest(here) == drawn


def figures(root: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "metassay.cli", "figures", "--paper", "doclens"],
        cwd=root,
        check=False,
        capture_output=True,
        text=True,
    )
    # most of its numbers are not in these tables
    assert done.returncode == 3, done.stderr
    return done.stderr


def digest(root: Path) -> dict[str, str]:
    files = sorted((root / "reports/figures/doclens").iterdir())
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
