"""DVC's own commands on our metrics and figures, in a tiny repository, with no network."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import yaml
from dvc.cli import main
from dvc.repo import Repo

from metassay.reporting.headline import few_numbers, write_numbers
from tests.stage_setup import ROOT

NAME = "tiny"
NEVER_RUN, LOST = "never_run", "lost"
HEADLINE = f"benchmarks/{NAME}/headline.json"
IDENTITY = ("-c", "user.name=test", "-c", "user.email=test@localhost")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Outs, metrics and plots of our stage `report`, made by a command that copies; two commits.

    The first has a mean of .5, the second .75. Another benchmark was never run, and of a
    third DVC's cache has lost the report.
    """
    ours = yaml.safe_load(
        (ROOT / "benchmarks/sample/dvc.yaml").read_text(encoding="utf-8")
    )
    report = ours["stages"]["report"]
    for name in (NAME, NEVER_RUN, LOST):
        place = f"benchmarks/{name}"
        copying = (
            f"mkdir -p reports {place}/plots; cp -r made/page reports/{name};"
            f" cp made/*.json {place}; cp made/plots/*.csv {place}/plots"
        )
        stage = {
            "wdir": "../..",
            "cmd": copying,
            "deps": ["made"],
            "outs": report["outs"],
            "metrics": report["metrics"],
        }
        dag = {"stages": {"report": stage}, "plots": ours["plots"]}
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "dvc.yaml").write_text(yaml.safe_dump(dag), "utf-8")
        (tmp_path / place / "params.yaml").write_text(f"name: {name}\n", "utf-8")
    (tmp_path / ".dvc").mkdir()
    shutil.copytree(ROOT / ".dvc/plots", tmp_path / ".dvc/plots")
    (tmp_path / ".dvc/config").write_text((ROOT / ".dvc/config").read_text())
    (tmp_path / ".gitignore").write_text((ROOT / ".gitignore").read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_GLOBAL_CONFIG_DIR", str(tmp_path / ".work/dvc-config"))
    git("init", "-q")
    for mean in (0.5, 0.75):
        page = tmp_path / "made/page/index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"<p>{mean}</p>", encoding="utf-8")
        best = {
            "completeness": {"document": {"metric": f"rouge{mean}", "corrected": None}}
        }
        numbers = {
            "certificates": {"use": 1, "promising": 2, "too weak": 3},
            "best": best,
            "leaderboard": {"rouge1": {"lead": mean}},
            "answers": {"missing": 0},
        }
        row = {"row": "rouge1, lead", "metric": "rouge1", "value": mean}
        plot = pd.DataFrame([{**row, "low": mean - 0.1, "high": mean + 0.1}])
        plots = {"leaderboard": plot, "forest": plot[:0]}
        write_numbers(numbers, plots, lambda name: tmp_path / "made" / name)
        for name in (NAME, LOST):
            assert main(["repro", "-q", f"benchmarks/{name}/dvc.yaml"]) == 0
        git("add", "-A")
        git(*IDENTITY, "commit", "-qm", str(mean))
    shutil.rmtree(tmp_path / f"reports/{LOST}")
    shutil.rmtree(tmp_path / ".dvc/cache")
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
        diff = repo.metrics.diff("HEAD~1", targets=[HEADLINE])["diff"]
    assert diff[HEADLINE] == {
        "leaderboard.rouge1.lead": {"old": 0.5, "new": 0.75, "diff": 0.25},
        "best.completeness.document.metric": {"old": "rouge0.5", "new": "rouge0.75"},
    }, "and what is undefined is not a number"
    experiments = printed(capsys, "exp", "show", "--csv", "-n", "2")
    assert f"benchmarks/{NAME}/metrics.json:promising" in experiments


def test_the_table_of_metrics_fits_a_terminal(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = printed(capsys, "metrics", "show")
    assert f"benchmarks/{NAME}/metrics.json" in table
    assert table.split()[1:4] == ["missing", "promising", "use"]
    assert "benchmarks" in table
    # The longest name of a benchmark here, and a column of each number that there is.
    longest = max(map(len, (path.name for path in (ROOT / "benchmarks").iterdir())))
    path = len("benchmarks//metrics.json") + longest
    columns = ("accuracy", "low", "missing", "promising", "use")
    assert path + 2 + len((" " * 4).join(columns)) <= 100


def test_few_numbers_are_of_each_sort_of_benchmark() -> None:
    answers = {"missing": 3}
    cards = {
        "a": {"s": {"agreement": {"value": 0.7, "low": 0.6, "high": 0.8}}},
        "b": {"s": {"agreement": {"value": None}}},
    }
    assert few_numbers({"judges": cards, "answers": answers}) == {
        "accuracy": 0.7,
        "low": 0.6,
        "missing": 3,
    }
    rows = {"cues": {"accuracy": {"value": 0.5}}}
    assert few_numbers({"segmentations": rows, "answers": answers}) == {
        "accuracy": 0.5,
        "low": None,
        "missing": 3,
    }


def test_plots_of_two_revisions_stand_on_one_page_though_the_cache_is_lost(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = repository / "dvc_plots/index.html"
    printed(capsys, "plots", "show")
    assert "tiny: leaderboard" in page.read_text(encoding="utf-8")
    printed(capsys, "plots", "diff", "HEAD~1")
    text = page.read_text(encoding="utf-8")
    assert "<DVC_METRIC" not in text
    specs = [json.loads(spec) for spec in re.findall(r"var spec = (\{.*\});", text)]
    spec = next(s for s in specs if s["title"]["text"] == "tiny: leaderboard")
    rows = spec["data"]["values"]
    assert {(row["rev"], row["row"], row["value"]) for row in rows} == {
        ("HEAD~1", "rouge1, lead", "0.5"),
        ("workspace", "rouge1, lead", "0.75"),
    }
    assert git("status", "--porcelain") == "", "git ignores DVC's page"
