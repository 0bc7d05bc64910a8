"""`metassay figures`: draws what can be drawn, says what cannot, and ends with an honest code."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from metassay.cli.main import main
from metassay.paper_figures.draw import LOCK, paths
from metassay.paper_figures.index import PAPERS
from stages.doorway import WORK
from tests.paper_figures.feeding import feed

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
    assert main(["figures", "--paper", "doclens"]) == 1
    output = capsys.readouterr().out
    assert "doclens: nothing drawn; 0 of 13 drawn, 18 open" in output
    assert "table24; `metassay run aci_bench_table24` makes them" in output
    assert "table20, table21" in output
    assert not (here / "reports/figures").exists()

    feed(here, ACI)
    lock = (here / "dvc.lock").read_bytes()
    assert main(["figures", "--paper", "doclens", "--format", "md,tex"]) == 3
    drawn = {file.name for file in (here / "reports/figures/doclens").iterdir()}
    assert drawn == {"table20.md", "table20.tex"}  # of the others no number is there
    output, notes = capsys.readouterr()
    assert "1 of 13 drawn, 18 open" in output
    assert "`metassay run aci_bench_table24` makes them" in output
    assert "lack the numbers: fig4, " in output
    assert "1 figure(s) and table(s): 1 drawn, 0 as before; 18 open" in notes
    assert (
        "table21: not drawn: no number of it in data/tables/aci_bench/leaderboard"
        in notes
    )
    assert "table20: no number of ours for BART + SAMSum FT, full, " in notes
    assert (here / "dvc.lock").read_bytes() == lock

    assert main(["figures", "--paper", "doclens", "--format", "png"]) == 3
    output = capsys.readouterr().out
    assert "1 of 13 drawn" in output
    assert "no file in these formats: table20" in output
    (here / "data/tables/aci_bench/scores.parquet").write_bytes(b"PAR1")
    assert main(["figures", "--paper", "doclens", "--format", "md"]) == 3
    output = capsys.readouterr().out.split("\n  not drawn: ")[1]
    assert output.startswith(
        "fig8_recall, fig8_precision, table11: scores: data/tables/aci_bench/"
    )
    assert {file.name for file in (here / "reports/figures/doclens").iterdir()} == {
        "table20.md"
    }

    assert main(["figures", "--paper", "simsum"]) == 0
    assert "simsum: nothing drawn; 0 of 0 drawn, 1 open" in capsys.readouterr().out


def test_who_draws_waits_for_the_stage_of_the_paper():
    """The lock that is held is the one of stages/doorway.py."""
    assert Path(LOCK.format("fm")) == WORK / "locks" / "-".join(["figures", "fm"])


def test_a_project_without_benchmarks_of_papers_is_told_so(here, capsys):
    for name in ("mts_dialog", "sample_facts"):
        (here / f"benchmarks/{name}/params.yaml").unlink()
    assert main(["figures", "--paper", "benabacha"]) == 2
    assert (
        "benabacha: drawn from mts_dialog, sample_facts, of which benchmarks/ has none"
        in (capsys.readouterr().err)
    )


@pytest.mark.slow  # DVC itself runs the stage, twice
def test_a_whole_paper_is_drawn_by_its_stage_and_again_only_what_changed(here):
    feed(here, OF_DOCLENS)
    first = figures(here)
    assert ": 1 drawn, 0 as before; 18 open" in first
    assert "not up to date: aci_bench, aci_bench_table24" in first
    lock = yaml.safe_load((here / "dvc.lock").read_text(encoding="utf-8"))
    deps = {dep["path"] for dep in lock["stages"]["figures_doclens"]["deps"]}
    assert deps == set(OF_DOCLENS)
    drawn = digest(here)
    assert set(drawn) == {"table20.csv", "table20.md", "table20.tex"}

    feed(here, [path for path in OF_DOCLENS if "table24/" in path], rouge=0.25)
    assert ": 0 drawn, 1 as before; 18 open" in figures(here)
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
