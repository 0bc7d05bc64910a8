"""DVC's own commands on our metrics and figures, in a tiny repository, with no network."""

import subprocess
from pathlib import Path

import pytest
import yaml
from dvc.cli import main
from dvc.repo import Repo

from metassay.reporting.headline import write_numbers
from tests.stage_setup import ROOT

NAME = "tiny"
HEADLINE = f"benchmarks/{NAME}/headline.json"
IDENTITY = ("-c", "user.name=test", "-c", "user.email=test@localhost")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Outs, metrics and plots of our stage `report`, made by a command that copies; two commits.

    The first has a mean of .5 and no figure of certificates, the second .75.
    """
    ours = yaml.safe_load(
        (ROOT / "benchmarks/sample/dvc.yaml").read_text(encoding="utf-8")
    )
    report = ours["stages"]["report"]
    copying = f"mkdir -p reports; cp -r made/page reports/{NAME}; cp made/headline.json {HEADLINE}"
    stage = {
        "wdir": "../..",
        "cmd": copying,
        "deps": ["made"],
        "outs": report["outs"],
        "metrics": report["metrics"],
    }
    folder = tmp_path / "benchmarks" / NAME
    folder.mkdir(parents=True)
    dag = {"stages": {"report": stage}, "plots": ours["plots"]}
    (folder / "dvc.yaml").write_text(yaml.safe_dump(dag), encoding="utf-8")
    (folder / "params.yaml").write_text(f"name: {NAME}\n", encoding="utf-8")
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc/config").write_text((ROOT / ".dvc/config").read_text())
    (tmp_path / ".gitignore").write_text((ROOT / ".gitignore").read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_GLOBAL_CONFIG_DIR", str(tmp_path / ".work/dvc-config"))
    git("init", "-q")
    for mean in (0.5, 0.75):
        figure = tmp_path / "made/page/figures/leaderboard.svg"
        figure.parent.mkdir(parents=True, exist_ok=True)
        figure.write_text(f"<svg>{mean}</svg>", encoding="utf-8")
        best = {
            "completeness": {"document": {"metric": f"rouge{mean}", "corrected": None}}
        }
        numbers = {"best": best, "leaderboard": {"rouge1": {"lead": mean}}}
        write_numbers(numbers, tmp_path / "made/headline.json")
        assert main(["repro", "-q", str(folder / "dvc.yaml")]) == 0
        git("add", "-A")
        git(*IDENTITY, "commit", "-qm", str(mean))
    return tmp_path


def git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], check=True, capture_output=True, text=True
    ).stdout


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_headline_numbers_are_in_git_and_in_dvcs_tables(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert HEADLINE in git("ls-files")
    assert "reports" not in git("ls-files")
    assert (repository / f"benchmarks/{NAME}/dvc.lock").exists()
    with Repo() as repo:
        diff = repo.metrics.diff("HEAD~1")["diff"]
    assert diff[HEADLINE] == {
        "leaderboard.rouge1.lead": {"old": 0.5, "new": 0.75, "diff": 0.25},
        "best.completeness.document.metric": {"old": "rouge0.5", "new": "rouge0.75"},
    }, "and what is undefined is not a number"
    experiments = printed(capsys, "exp", "show", "--csv", "-n", "2")
    assert "leaderboard.rouge1.lead" in experiments
    assert {"0.5", "0.75"} <= set(experiments.replace("\n", ",").split(","))


def test_figures_of_two_revisions_stand_on_one_page_without_a_network(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed(capsys, "plots", "diff", "HEAD~1")
    page = repository / "dvc_plots/index.html"
    text = page.read_text(encoding="utf-8")
    assert "http" not in text
    assert "<script" not in text
    texts = {file.name: file.read_text() for file in (page.parent / "static").iterdir()}
    assert texts == {
        "HEAD~1_reports_tiny_figures_leaderboard.svg": "<svg>0.5</svg>",
        "workspace_reports_tiny_figures_leaderboard.svg": "<svg>0.75</svg>",
    }
    assert all(name in text for name in texts)
    assert git("status", "--porcelain") == "", "git ignores DVC's page"
