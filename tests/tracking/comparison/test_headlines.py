"""`metassay compare` in a shallow clone, which has neither tables nor DVC's cache."""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metassay.cli.main import main
from metassay.core.versions import read
from metassay.tracking.comparison import sides
from tests.tracking.comparison.states import TABLES, Project, params_of, scores

HEADLINE = Path("benchmarks/sample/headline.json")
CERTIFICATES = f"{TABLES}/certificates.parquet"
Clone = Callable[[dict[str, Any] | None, dict[str, Any] | None], Path]


def headline(lead: float = 0.5, verdict: str = "use") -> dict[str, Any]:
    """Headline numbers of one metric and decision."""
    best = {"metric": "rouge1", "verdict": verdict}
    return {
        "leaderboard": {"rouge1": {"lead": lead, "longest_turn": 0.25}},
        "best": {"preference": {"document": best}},
    }


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """Clones a project whose branches `base` and `change` have these headlines, or none."""

    def of(base: dict[str, Any] | None, change: dict[str, Any] | None) -> Path:
        project = Project.begin(tmp_path / "project")
        commit(project, "base", base)
        commit(project, "change", change)
        root = tmp_path / "clone"
        url = project.root.as_uri()
        command = ["git", "clone", "-q", "--depth", "1", "--no-single-branch"]
        subprocess.run([*command, url, str(root)], check=True)
        monkeypatch.chdir(root)
        monkeypatch.setenv("COLUMNS", "120")
        monkeypatch.setattr(sides, "versions", lambda folder, _: read(folder))
        return root

    return of


def commit(project: Project, branch: str, numbers: dict[str, Any] | None) -> None:
    """Commit a state; other numbers come from other settings of `measure`."""
    is_new = branch == "change" and numbers != headline()
    project.state(
        branch,
        scores(lead=-0.05 if is_new else 0.0),
        lambda lock: (
            params_of(lock, "measure")["metrics.rouge"].update(stemmer=True)
            if is_new
            else None
        ),
    )
    if numbers is None:
        return
    file = project.root / HEADLINE
    file.write_text(json.dumps(numbers), encoding="utf-8")
    md5 = hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest()
    old = project.outs()[HEADLINE.as_posix()]
    hashes = {old: md5}
    if numbers["best"] != headline()["best"]:
        hashes[project.outs()[CERTIFICATES]] = "1" * 32
    lock = project.lock.read_text(encoding="utf-8")
    for before, after in hashes.items():
        lock = lock.replace(before, after)
    project.lock.write_text(lock, encoding="utf-8")
    project.git("add", "-A")
    project.git("commit", "-q", "--amend", "--no-edit", "--allow-empty")


@pytest.fixture
def run(capsys):
    """Runs `compare` with `base`: returns the exit code, and what was printed."""

    def ended(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["compare", "sample", "--before", "origin/base", *words])
        return code, *capsys.readouterr()

    return ended


def test_what_moved_is_shown_with_its_cause_and_is_not_called_a_regression(clone, run):
    root = clone(headline(), headline(lead=0.4, verdict="promising"))
    page = root / "page.md"
    code, out, err = run("--md", str(page))
    assert (code, err) == (3, "tables are missing: sample\n")
    assert "sample: origin/base -> here: 2 cannot tell" in out
    assert "no difference is tested" in out
    assert "0.100" in out
    assert "rouge1 for preference, document: use -> promising" in out
    assert "settings: settings changed: metrics.rouge > stemmer (stage measure)" in out
    assert "| cannot tell | rouge1 | lead | 0.500 | 0.400 |" in page.read_text("utf-8")
    # a system that did not move is in no table
    assert "longest_turn" not in page.read_text("utf-8")


def test_equal_scores_need_no_tables(clone, run):
    clone(headline(), headline())
    code, out, _ = run("--after", "origin/change")
    assert code == 0
    assert "2 same numbers" in out
    assert "both locks name the same scores" in out


def test_another_best_metric_is_named(clone, run):
    change = headline()
    change["best"]["preference"]["document"] = {"metric": "bleu", "verdict": "too weak"}
    clone(headline(), change)
    _, out, _ = run("--after", "origin/change")
    line = "the best metric for preference, document: rouge1 (use) -> bleu (too weak)"
    assert line in " ".join(out.split())


def test_scores_that_differ_are_untested_although_no_metric_is_in_the_headline(
    clone, run
):
    base, change = headline(), headline(lead=0.4)
    base["leaderboard"] = {}
    change["leaderboard"] = {}
    clone(base, change)
    code, out, err = run("--after", "origin/change")
    assert (code, err) == (3, "tables are missing: sample\n")
    assert "no difference is tested" in out


@pytest.mark.parametrize("numbers", [(None, headline()), (headline(), None)])
def test_without_a_headline_the_remedy_is_to_bring_the_tables(clone, run, numbers):
    clone(*numbers)
    code, _, err = run("--after", "origin/change")
    assert code == 2
    assert "`metassay push sample --to REMOTE`" in err


def test_a_headline_of_another_run_is_not_compared(clone, run):
    root = clone(headline(), headline(lead=0.4))
    (root / HEADLINE).write_text(json.dumps(headline(lead=0.9)), encoding="utf-8")
    assert run()[0] == 2


def test_tables_are_compared_where_they_are_there(clone, run, tmp_path):
    root = clone(headline(), headline(lead=0.4))
    project = tmp_path / "project"
    for folder in ("data", ".dvc/cache"):
        shutil.copytree(project / folder, root / folder, dirs_exist_ok=True)
    code, out, _ = run("--after", "origin/change")
    assert (code, "1 regressed" in out) == (4, True)
