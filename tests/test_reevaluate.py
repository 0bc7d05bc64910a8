"""Re-evaluation of an invented project of three stages that copy prepared tables."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from flows.recovery import lock_benchmarks
from flows.surroundings import environment
from metassay.core.exit_codes import MEANINGS, WORSE
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.parquet import empty, write
from metassay.tables.scores import SCORES
from metassay.tracking.reevaluation.outcome import load
from tests.kill_setup import AS_THE_COMMAND_DOES, kill, left, start, wait_until
from tests.stage_setup import tiny_project

# each run is a process with DVC, and a schedule has Prefect's server
pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent
DOCUMENTS, FELL = 20, 12
# What the view Since shows: keys and numbers, and no text.
KEYS_OF_SINCE = {
    "run",
    "revision",
    "accepted",
    "title",
    "answer",
    "causes",
    "drift",
    "certificates",
    "changes",
    "others",
    "scores",
    "earlier",
    "href",
}
RAW = Path("data/raw/one/texts.csv")
DAG = """\
stages:
  ingest:
    wdir: ../..
    cmd: mkdir -p data/tables/one; cp data/raw/one/texts.csv data/tables/one/sources.parquet
    deps: [data/raw/one]
    outs: [data/tables/one/sources.parquet]
  aggregate:
    wdir: ../..
    cmd: cp made/$(cat data/tables/one/sources.parquet)/*.parquet data/tables/one
    deps: [data/tables/one/sources.parquet]
    outs:
      - data/tables/one/scores.parquet
      - data/tables/one/leaderboard.parquet
      - data/tables/one/certificates.parquet
  report:
    wdir: ../..
    cmd: >-
      if [ -e broken ]; then exit 78; fi;
      mkdir -p reports/one/page/data; touch reports/one/page/data/head.js
    deps: [data/tables/one/scores.parquet]
    outs: [reports/one]
"""


def scores(*, worse: bool) -> pd.DataFrame:
    """Two metrics of two systems; `worse` takes a third of what `good` has on the first FELL."""
    rng = np.random.default_rng(1)
    rows = []
    for author, metric in (("good", "rouge1"), ("good", "rouge2"), ("plain", "rouge1")):
        for number in range(DOCUMENTS):
            value = rng.uniform(0.5, 0.7)
            value *= 2 / 3 if worse and author == "good" and number < FELL else 1
            known = {
                "doc_id": f"d{number:02}",
                "author": author,
                "part": "full",
                "metric": metric,
            }
            rows.append(known | dict.fromkeys(("value", "low", "high"), value))
    counts = {"n_expected": 1, "n_judged": 1, "n_failed": 0}
    return pd.DataFrame(rows).assign(
        judge="none", statistics=None, recipe="r", **counts
    )


def leaderboard(of: pd.DataFrame) -> pd.DataFrame:
    means = (
        of.groupby(["part", "metric", "judge", "author"])["value"]
        .mean()
        .rename("macro")
    )
    counts = {
        "n_documents": DOCUMENTS,
        "n_undefined": 0,
        "n_expected": DOCUMENTS,
        "n_failed": 0,
    }
    ends = dict.fromkeys(("low", "high", "micro", "least", "most"))
    return means.reset_index().assign(better="higher", recipe="r", **counts, **ends)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Benchmark `one`, run once and accepted; its raw file says which tables aggregate writes."""
    root = tmp_path_factory.mktemp("built") / "project"
    root.mkdir()
    lead = {"kind": "lead", "passages": 2}
    tiny_project(root, "http://127.0.0.1:9/v1", ["A passage."], system=lead)
    shutil.rmtree(root / "data/tables")
    for name, content in {
        "benchmarks/one/dvc.yaml": DAG,
        "dvc.yaml": "stages: {}\n",
        ".gitignore": "/.work/\n/data/tables/\n/reports/\n",
        ".dvcignore": (ROOT / ".dvcignore").read_text(encoding="utf-8"),
        ".dvc/config": (ROOT / ".dvc/config").read_text(encoding="utf-8"),
        str(RAW): "good",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, encoding="utf-8")
    for state in ("good", "worse"):
        frame = scores(worse=state == "worse")
        write(SCORES, frame, root / f"made/{state}/scores.parquet")
        write(
            LEADERBOARD, leaderboard(frame), root / f"made/{state}/leaderboard.parquet"
        )
        write(
            CERTIFICATES,
            empty(CERTIFICATES),
            root / f"made/{state}/certificates.parquet",
        )
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    first = reevaluate(root)
    assert first.returncode == 0, first.stderr
    assert "nothing is accepted yet" in first.stdout
    assert "metassay watch accept one" in first.stdout
    assert run(root, "flows.accept").stdout.startswith("one: accepted ")
    return root


@pytest.fixture
def project(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "project"))


def surroundings(root: Path) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return environment(root) | {"PYTHONPATH": path}


def run(root: Path, module: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, "one", *words],
        cwd=root,
        env=surroundings(root),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def reevaluate(root: Path) -> subprocess.CompletedProcess[str]:
    return run(root, "flows.reevaluate", "--no-prefect")


KILLED = """
import os, signal
from pathlib import Path
from flows import accept
replace = Path.replace
def killed(file, target):
    if Path(target).name != "accepted.lock":
        return replace(file, target)
    os.kill(os.getpid(), signal.SIGKILL)
Path.replace = killed
accept.main()
"""


def test_a_kill_while_accept_writes_leaves_the_old_numbers_and_the_next_one_clears_up(
    project: Path,
) -> None:
    folder = project / "benchmarks/one"
    lock = folder / "accepted.lock"
    before = lock.read_bytes()
    (folder / "dvc.lock").write_bytes(
        (folder / "dvc.lock").read_bytes() + b"# another\n"
    )
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, "one", "--anyway"],
        cwd=project,
        env=surroundings(project),
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert lock.read_bytes() == before
    assert list(folder.glob(".accepted.lock.*"))
    page = project / "reports/one/page/data/.since.js.1-x.unfinished"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.touch()
    assert run(project, "flows.accept", "--anyway").returncode == 0
    assert lock.read_bytes() == (folder / "dvc.lock").read_bytes()
    assert not list(folder.glob(".accepted.lock.*"))
    assert not page.exists()
    lock.unlink()
    lock.mkdir()
    refused = run(project, "flows.accept", "--anyway")
    assert refused.returncode == 2
    message = "a file is where a folder is needed, or vice versa; move it away"
    assert message in refused.stderr


def test_a_planted_regression_is_named_and_what_is_accepted_is_no_alarm(
    project: Path,
) -> None:
    (project / RAW).write_text("worse", encoding="utf-8")
    refused = run(project, "flows.accept")
    assert refused.returncode == 2
    assert "one: ingest and" in refused.stderr
    assert "not up to date" in refused.stderr

    alarmed = reevaluate(project)
    assert alarmed.returncode == 4, alarmed.stderr
    assert "one: 2 of 3 scores got worse, all of `good`" in alarmed.stdout
    assert re.search(
        r"regressed: rouge1 of good: 0\.\d+ to 0\.\d+ \(difference −", alarmed.stdout
    )
    assert "12 of 20 documents differ" in alarmed.stdout
    assert "data: data/raw/one" in alarmed.stdout
    assert "of plain" not in alarmed.stdout
    for file in ("page/data/tables/changes/0.js", "changes.md", "changes.csv"):
        report = (project / "reports/changes/one" / file).read_text(encoding="utf-8")
        assert "regressed" in report
        assert "rouge2" in report
    since = project / "reports/one/page/data/since.js"
    begin, end = 'metassay("since",', ")\n"
    since_text = since.read_text("utf-8")
    assert since_text.startswith(begin)
    assert since_text.endswith(end)
    view = json.loads(since_text.removeprefix(begin).removesuffix(end))
    assert view.keys() == KEYS_OF_SINCE
    assert view["href"] == "../changes/one/index.html"
    assert view["title"] == "since accepted, of 3 scores: 2 got worse"
    assert view["others"] == "1 same numbers"
    for change in view["changes"]:
        assert (change["author"], change["verdict"]) == ("good", "regressed")
        assert change["notes"][0] == "12 of 20 documents differ"
    assert {change["metric"] for change in view["changes"]} == {"rouge1", "rouge2"}

    again = reevaluate(project)
    assert again.returncode == 4, "as long as nobody accepts it"
    assert "nothing to do" in again.stdout
    moved = run(project, "flows.accept")
    assert "2 regressed, 0 improved" in moved.stdout
    assert since.read_text("utf-8") == 'metassay("since",null)\n'
    assert reevaluate(project).returncode == 0

    runs, means = load(project, "one")
    assert runs["did"].tolist() == [
        "run again",
        "run again",
        "nothing to do",
        "nothing to do",
    ]
    assert runs["status"].tolist() == [0, 4, 4, 0]
    assert runs["causes"].tolist()[1] == ["data: data/raw/one (stage ingest)"]
    assert means["run"].nunique() == 2
    assert set(means.loc[means["verdict"] == "regressed", "author"]) == {"good"}


def test_accepting_waits_for_runs_of_this_benchmark_alone(project: Path) -> None:
    command = [sys.executable, "-m", "flows.accept", "one"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with lock_benchmarks(project, ["other"]):
        assert "is accepted already" in run(project, "flows.accept").stdout
    with lock_benchmarks(project, ["one", "other"]):
        accepting = subprocess.Popen(
            command, cwd=project, env=surroundings(project), **streams
        )
        assert accepting.stderr is not None
        line = accepting.stderr.readline()
        assert "another run is working on one; waiting until it has ended" in line
        assert accepting.poll() is None
    assert "is accepted already" in accepting.communicate(timeout=60)[0]
    with lock_benchmarks(project, ["one"]):  # and a run of it waits for who accepts
        running = subprocess.Popen(
            [sys.executable, "-m", "flows", "one", "--no-prefect"],
            **{"cwd": project, "env": surroundings(project), **streams},
        )
        assert running.stderr is not None
        assert "looking for what changed" in running.stderr.readline()
        assert "another run is working on one" in running.stderr.readline()
    running.communicate(timeout=60)
    assert running.returncode == 0


@pytest.mark.parametrize(
    ("target", "number"), [("parent", signal.SIGKILL), ("group", signal.SIGINT)]
)
def test_who_waits_to_accept_and_is_killed_accepts_nothing_later(
    project: Path, target: str, number: int
) -> None:
    lock = project / "benchmarks/one/accepted.lock"
    lock.unlink()
    command = (
        sys.executable,
        "-c",
        AS_THE_COMMAND_DOES,
        sys.executable,
        "-m",
        "flows.accept",
        "one",
    )
    with lock_benchmarks(project, ["one"]):
        accepting = start(project, command=command, **surroundings(project))
        assert wait_until(
            accepting, lambda: "another run is working on one" in accepting.output
        )
        assert kill(accepting, target, number)
        assert not left(accepting)
    assert not lock.exists()


def test_who_may_not_write_is_told_in_one_line(project: Path) -> None:
    file = project / ".work/locks"
    shutil.rmtree(file, ignore_errors=True)
    file.touch()  # nobody may write there, not even root
    for module, words in (("flows.accept", ()), ("flows.push", ("one",))):
        if module == "flows.push":
            (project / ".work/run.lock").unlink(missing_ok=True)
            (project / ".work/run.lock").mkdir()
        done = run(project, module, *words)
        assert done.returncode == 2
        assert done.stderr.startswith(".work/")
        assert done.stderr.count("\n") == 1, done.stderr


def test_what_is_not_public_is_closed_by_the_next_run_wherever_it_came_from(
    project: Path,
) -> None:
    registry = project / "data/registry.yaml"
    registry.write_text(
        registry.read_text("utf-8").replace("access: public", "access: private")
    )
    pages = [project / "reports/one", project / "reports/changes/one"]
    # from DVC, or from before it was private
    theirs = [project / "data/tables/one", *pages]
    for folder in theirs:
        folder.chmod(0o755)
    (pages[1] / "index.html").unlink()
    assert reevaluate(project).returncode == 0
    assert {folder.stat().st_mode & 0o777 for folder in theirs} == {0o700}
    assert (pages[1] / "index.html").stat().st_mode & 0o777 == 0o600
    assert (project / "reports/changes").stat().st_mode == (
        project / "reports"
    ).stat().st_mode


def test_a_failed_stage_ends_it_as_failed_and_compares_nothing(project: Path) -> None:
    (project / "broken").touch()
    (project / RAW).write_text("worse", encoding="utf-8")
    done = reevaluate(project)
    assert done.returncode == 1
    assert "not compared, since stages failed: one: report" in done.stdout
    runs = load(project, "one").runs
    assert runs["did"].tolist() == ["run again", "failed"]
    assert runs["accepted"].notna().tolist() == [False, True]


def test_a_schedule_fires_twice_and_the_second_run_finds_nothing_to_do(
    project: Path,
) -> None:
    (project / RAW).write_text("worse", encoding="utf-8")
    command = [sys.executable, "-m", "flows.schedule", "one", "--interval", "1"]
    with (project / "said").open("w+", encoding="utf-8") as log:
        schedule = subprocess.Popen(
            command, cwd=project, env=surroundings(project), stdout=log, stderr=log
        )
        try:
            give_up = time.monotonic() + 300
            while len(load(project, "one").runs) < 3 and schedule.poll() is None:
                assert time.monotonic() < give_up, Path(log.name).read_text(
                    encoding="utf-8"
                )
                time.sleep(0.5)
        finally:
            schedule.send_signal(signal.SIGINT)
            schedule.wait(timeout=60)
        output = Path(log.name).read_text(encoding="utf-8")
    runs = load(project, "one").runs
    assert runs["did"].tolist()[1:3] == ["run again", "nothing to do"], output
    assert runs["status"].tolist()[1:3] == [4, 4]
    assert "regressed: rouge1 of good" in output
    with closing(sqlite3.connect(project / ".work/schedule/prefect.db")) as database:
        states = database.execute(
            "select s.type, s.message from flow_run_state s join flow_run r on s.flow_run_id = r.id"
            " join flow f on r.flow_id = f.id where f.name = 'reevaluate' and s.type = 'FAILED'"
        ).fetchall()
        events = database.execute(
            "select resource_id, payload from events where event = 'metassay.regressed'"
        ).fetchall()
    assert states[0] == ("FAILED", f"one: {MEANINGS[WORSE]}")
    assert events[0][0] == "metassay.benchmark.one"
    assert json.loads(events[0][1])["counts"]["regressed"] == 2


def test_what_is_no_schedule_is_refused_before_prefect_is_asked(project: Path) -> None:
    for words, why in (
        (("--cron", "0 6 * *"), '--cron "0 6 * *"'),
        # seconds are read in two ways
        (("--cron", "0 0 6 * * 1"), '--cron "0 0 6 * * 1"'),
        (
            ("--cron", "0 6 * * 1", "--timezone", "Mars/Base"),
            "--timezone Mars/Base: unknown",
        ),
    ):
        done = run(project, "flows.schedule", *words)
        assert done.returncode == 2
        assert why in done.stderr


def test_prefect_takes_our_prefect_yaml_and_finds_the_flow_that_it_names() -> None:
    # seconds, for other tests of this file
    from prefect.cli.deploy._models import PrefectYamlModel
    from prefect.flows import load_flow_from_entrypoint

    content = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))
    model = PrefectYamlModel.model_validate(content)
    taken = model.model_dump(exclude_unset=True, mode="json", by_alias=True)
    assert taken["deployments"] == content["deployments"], (
        "Prefect passes over what it doesn't know"
    )
    assert [deployment["name"] for deployment in content["deployments"]] == [
        "weekly",
        "cluster",
    ]
    for deployment in content["deployments"]:
        file, _, name = deployment["entrypoint"].partition(":")
        assert (ROOT / file).is_file()
        flow = load_flow_from_entrypoint(f"{ROOT / file}:{name}")
        flow.validate_parameters(deployment["parameters"])
