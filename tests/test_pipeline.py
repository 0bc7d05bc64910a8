"""The real DAG on the sample, as a stranger would start it: the README's first command."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import pytest

from metassay.project.validation import table_problems
from metassay.reporting.contract_page import TABLES
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.parquet import read
from tests.locks import read_lock, unversioned_changes
from tests.studies.round_trip import study_to_certificate
from tests.support.planted_verdicts import check_verdicts
from tests.test_core import PROJECT, closure, plain

ROOT = Path(__file__).parent.parent


OF_JUDGE_TESTS = {"gold", "given_verdicts", "verdicts"}
OF_ATTACKS = {"attack_gains"}  # on judges, which the sample does not make
OF_TRAINING = {"corruptions"}
OF_SEGMENT_TESTS = {"sentences", "segmented", "segment_scores", "confusions"}
# Of commands that no stage is: compare, reevaluate, sentinel.
OF_COMMANDS = {
    "changes",
    "changed_documents",
    "history",
    "history_means",
    "anchors",
    "drift",
}

# Put first on the path of every process: what no distribution of the extra `pipeline`
# brings is hidden, as in an environment that `make run` has just made.
HIDING = """
import os, sys
from importlib.abc import MetaPathFinder

class Hider(MetaPathFinder):
    hidden = frozenset(os.environ["HIDDEN"].split(","))

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hider())
"""


def other_outputs(root: Path, *names: str) -> list[str]:
    """What benchmarks write in a clone that their committed locks do not say."""
    return [
        line
        for name in names
        for line in unversioned_changes(
            name, read_lock(ROOT, name), read_lock(root, name)
        )
    ]


def hidden() -> str:
    """The modules of distributions that neither the core nor the extra `pipeline` brings."""
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["pipeline"]]
    distributions = closure(wanted) | {"metassay", "pip", "setuptools"}
    modules = metadata.packages_distributions().items()
    gone = {
        name
        for name, owners in modules
        if not distributions & {plain(owner) for owner in owners}
    }
    assert {"hypothesis", "sklearn", "torch"} <= gone
    return ",".join(sorted(gone))


class FreshClone(NamedTuple):
    """A fresh clone after `make run`: where it is, its environment, and what the command did."""

    project: Path
    environment: dict[str, str]
    done: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def fresh_clone(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> FreshClone:
    """`make run` with an empty home, as a stranger calls it; done once for all tests here.

    The environment of these tests is taken, with all else hidden: `make test` has just
    installed it from the same pyproject.toml, and a second one would take minutes to
    install.
    """
    place = tmp_path_factory.mktemp("made")
    project = Path(shutil.copytree(clone, place / "project", symlinks=True))
    home, first = place / "home", place / "first"
    home.mkdir()
    first.mkdir()
    (first / "sitecustomize.py").write_text(HIDING, encoding="utf-8")
    variables = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG")}
    others = {"HOME": str(home), "HIDDEN": hidden(), "PYTHONPATH": f"{first}:{project}"}
    stamp = f"{sys.prefix}/pipeline.stamp"
    done = subprocess.run(
        ["make", "run", f"VENV={sys.prefix}", "-o", stamp],
        cwd=project,
        env=variables | others,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    return FreshClone(project, variables | others, done)


@pytest.mark.slow
def test_make_run_in_a_fresh_clone_with_an_empty_home(fresh_clone: FreshClone) -> None:
    """What the extra `pipeline` brings runs the sample and reproduces the committed dvc.lock."""
    project, _, done = fresh_clone
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert other_outputs(project, "sample") == []
    status = subprocess.run(
        ["git", "status", "--porcelain"],
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    assert status.stdout == "", "a run leaves nothing for git to see"
    assert (project / "reports/sample/index.html").is_file()
    assert "reports/sample/index.html" in done.stdout
    assert (
        "Use claim_recall (lexical) to compare any two texts by completeness"
        in " ".join(done.stdout.split())
    )
    assert "closest: " in done.stdout
    board = read(LEADERBOARD, project / "data/tables/sample/leaderboard.parquet")
    recall = board[(board["metric"] == "claim_recall") & (board["part"] == "full")]
    by_author = recall[recall["judge"] == "lexical"].set_index("author")["macro"]
    assert by_author["careful"] > by_author["brief"]
    built = {path.stem for path in (project / "data/tables/sample").iterdir()}
    others = OF_JUDGE_TESTS | OF_SEGMENT_TESTS | OF_COMMANDS | OF_TRAINING
    assert built == set(TABLES) - others - OF_ATTACKS
    assert table_problems(project / "data/tables") == []


@pytest.mark.slow
def test_a_metric_that_changed_without_a_version_is_named(
    fresh_clone: FreshClone, tmp_path: Path
) -> None:
    project = Path(
        shutil.copytree(fresh_clone.project, tmp_path / "project", symlinks=True)
    )
    rouge = project / "metassay/metrics/rouge.py"
    code = rouge.read_text(encoding="utf-8")
    assert code.count("2 * precision * recall") == 1
    rouge.write_text(
        code.replace("2 * precision * recall", "1.9 * precision * recall"), "utf-8"
    )
    path = fresh_clone.environment["PYTHONPATH"].replace(
        str(fresh_clone.project), str(project)
    )
    programs = f"{Path(sys.executable).parent}:{fresh_clone.environment['PATH']}"
    address = "benchmarks/sample/dvc.yaml:measure"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "dvc",
            "repro",
            "--single-item",
            "--force",
            "--quiet",
            address,
        ],
        cwd=project,
        env=fresh_clone.environment | {"PYTHONPATH": path, "PATH": programs},
        check=True,
    )
    (line,) = other_outputs(project, "sample")
    assert line.startswith(
        "sample: measure writes something else under the same version"
    )
    assert "VERSION of the kind of metrics > rouge" in line


@pytest.mark.slow
def test_the_verdicts_recover_what_was_planted(fresh_clone: FreshClone) -> None:
    check_verdicts(
        fresh_clone.project / "data/sample", fresh_clone.project / "data/tables/sample"
    )


@pytest.mark.slow
def test_a_study_goes_out_comes_back_and_is_certified_by(
    fresh_clone: FreshClone, tmp_path: Path
) -> None:
    """In that clone, where only what a study changes is computed again."""
    project = Path(
        shutil.copytree(fresh_clone.project, tmp_path / "project", symlinks=True)
    )
    path = fresh_clone.environment["PYTHONPATH"].replace(
        str(fresh_clone.project), str(project)
    )
    study_to_certificate(project, fresh_clone.environment | {"PYTHONPATH": path})


@pytest.mark.slow
def test_killed_at_random_moments_it_finishes_with_the_same_bytes(
    project: Path,
) -> None:
    """SIGKILL of everything leaves no half-written table, and the next run goes on from there.

    A benchmark with rubrics, a test of judges and a test of segmentations.
    """
    moments = random.Random(7)
    names = ["sample_abstracts", "sample_claims", "sample_facets"]
    command = [sys.executable, "-m", "metassay.cli", "run", *names, "--no-prefect"]
    stages = [sys.executable, "-m", "flows", *names, "--no-prefect"]  # after the checks
    for _ in range(3):
        running = subprocess.Popen(
            stages, cwd=project, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(moments.uniform(1.5, 5))
        kill_all_in(project)
        running.wait()
        assert table_problems(project / "data/tables") == []
    done = subprocess.run(
        command, cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert other_outputs(project, *names) == []
    assert not list((project / "data/tables").rglob(".*"))
    built = {path.stem for path in (project / "data/tables/sample_claims").iterdir()}
    assert built > OF_JUDGE_TESTS
    assert "sample_claims: judges beside right answers" in done.stdout
    for name in names:
        assert (project / f"reports/{name}/index.html").is_file()


@pytest.mark.slow
def test_bad_input_ends_its_branch_and_no_text_is_told(project: Path) -> None:
    """A rating outside its scale: exit code 1, the line and the remedy, and what needs it waits."""
    ratings = project / "data/sample/ratings.csv"
    header, first, *others = ratings.read_text(encoding="utf-8").splitlines()
    cells = first.split(",")
    cells[header.split(",").index("value")] = "8000"
    ratings.write_text("\n".join([header, ",".join(cells), *others]), encoding="utf-8")
    command = [sys.executable, "-m", "metassay.cli", "run", "sample", "--no-prefect"]
    done = subprocess.run(
        command, cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    err = " ".join(done.stderr.split())
    assert err.count("sample: ingest (exit 78)") == 1
    assert "ratings.csv: line 2" in err
    assert "sample: report was not run" in err
    texts = (
        (project / "data/sample/texts.jsonl").read_text(encoding="utf-8").splitlines()
    )
    assert not any(json.loads(line).get("text", "-")[:30] in err for line in texts)
    assert not (project / "data/tables/sample").exists()


def kill_all_in(folder: Path) -> None:
    """SIGKILL every process that works in this folder, until there is none."""
    while True:
        processes = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (process / "cwd").readlink() == folder and process.name != str(
                    os.getpid()
                ):
                    processes.append(int(process.name))
        alive = [pid for pid in processes if not is_zombie(pid)]
        if not alive:
            return
        for pid in alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def is_zombie(pid: int) -> bool:
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return True
