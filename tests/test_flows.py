"""Runs of an invented project with our dvc.yaml, whose commands do next to nothing."""

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

import psutil
import pytest
import yaml
from dvc.utils.serialize import dumps_yaml

from flows import dag
from flows.words import last_words, notes
from flows.worker import HEAD, put
from flows.workers import Workers
from speed.dag import build

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Benchmarks b00 and b01, everything up to date."""
    root = tmp_path_factory.mktemp("built") / "project"
    build(root)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    done = run(root, "b00", "b01", "--no-prefect")
    assert done.returncode == 0, done.stderr
    return root


@pytest.fixture
def project(built: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    return Path(shutil.copytree(built, tmp_path / "project"))


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "flows", *arguments]


def environment(root: Path) -> dict[str, str]:
    return dag.environment(root) | {"PYTHONPATH": str(ROOT)}


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=root,
        env=environment(root),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def dvc(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "dvc", *arguments],
        cwd=root,
        env=environment(root),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def change(file: Path, path: str, value: object) -> None:
    """Set one key of a YAML file: `metrics.rouge.stemmer`."""
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    *steps, last = path.split(".")
    block = content
    for step in steps:
        block = block[step]
    assert last in block
    block[last] = value
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")


def hook(root: Path, stage: str, *lines: str) -> None:
    """What a stage's command does before it writes its outs."""
    (root / "hooks").mkdir(exist_ok=True)
    (root / "hooks" / stage).write_text("\n".join(lines) + "\n", encoding="utf-8")


def locks(root: Path) -> dict[str, bytes]:
    return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("dvc.lock")}


def names(said: str, mark: str = "✓") -> set[str]:
    """The stages behind this mark in what a run says."""
    found = re.findall(rf"^{mark} (\S+: \S+|\S+)", said, re.MULTILINE)
    return set(found)


def stale(root: Path, *benchmarks: str) -> set[str]:
    plan = dag.plan(root, benchmarks)
    return {plan.stages[address].name for address in plan.stale}


AFTER_SCORES = {f"b00: {s}" for s in ("aggregate", "meta_evaluate", "certify", "report")}
AFTER_PAIRS = {"b00: judge@j0"} | AFTER_SCORES
AFTER_UNITS = {"b00: align", "b00: pair@all"} | AFTER_PAIRS
MEASURED = {"b00: measure", "b00: measure_costly@m00", "b00: measure_costly@m01"}
AFTER_TEXTS = {"b00: segment", "b00: decompose@clauses"} | MEASURED | AFTER_UNITS

DEPENDENTS = {
    "metrics.rouge.stemmer": (True, {"b00: measure"} | AFTER_SCORES),
    "costly_metrics.m00.stemmer": (True, {"b00: measure_costly@m00"} | AFTER_SCORES),
    "judges.j0.threshold": (0.5, AFTER_PAIRS),
    "alignments.rouge_topk.k": (2, {"b00: align", "b00: pair@all"} | AFTER_PAIRS),
    "systems.lead.passages": (1, {"b00: generate@lead"} | AFTER_TEXTS),
    "aggregation.seed": (1, AFTER_SCORES),
    "meta_evaluation.resamples": (10, AFTER_SCORES - {"b00: aggregate"}),
}


def test_the_plan_has_the_stages_of_the_chosen_benchmark_each_after_what_it_needs() -> None:
    plan = dag.plan(ROOT, ["mts_dialog"])
    stages = {stage.name: stage for stage in plan.stages.values()}
    assert stages["fetch@mts_dialog"].retries == 4
    assert stages["fetch@mts_dialog"].tags == ("network",)
    assert "fetch@aci_bench" not in stages
    ingest = stages["mts_dialog: ingest"]
    assert ingest.address == "benchmarks/mts_dialog/dvc.yaml:ingest"
    assert ingest.needs == ("fetch@mts_dialog",)
    addresses = list(plan.stages)
    for position, stage in enumerate(plan.stages.values()):
        assert set(stage.needs) <= set(addresses[:position]), "stands before what it needs"


def test_nothing_stale_runs_nothing_and_starts_no_prefect(project: Path) -> None:
    done = run(project, "b00", "b01")
    assert done.returncode == 0
    assert done.stderr.startswith("looking for what changed in b00, b01\n")
    assert "31 stage(s) are up to date" in done.stderr
    assert not names(done.stderr)
    assert not (project / ".work/prefect").exists()


def test_plain_dvc_agrees_on_what_is_stale(project: Path) -> None:
    change(project / "params.yaml", "alignments.rouge_topk.k", 2)
    change(project / "benchmarks/b01/params.yaml", "published", ["doclens_table20"])
    (project / "data/tables/b01/ratings.parquet").unlink()
    plan = dag.plan(project, ["b00", "b01"])
    found = set(json.loads(dvc(project, "status", "--json")))
    assert found | set(plan.after(found)) == plan.stale


def test_what_a_parameter_restales(project: Path) -> None:
    params = project / "params.yaml"
    original = params.read_text(encoding="utf-8")
    for path, (value, expected) in DEPENDENTS.items():
        change(params, path, value)
        assert stale(project, "b00") == expected, path
        params.write_text(original, encoding="utf-8")
    change(project / "benchmarks/b01/params.yaml", "published", ["doclens_table20"])
    assert stale(project, "b00") == set()
    assert stale(project, "b00", "b01") == {"b01: report"}


@pytest.mark.slow
def test_files_of_examples_and_released_claims_are_watched_by_who_reads_them(
    project: Path,
) -> None:
    """Only by them: the other benchmark neither needs the folders nor notices a change."""
    own = project / "benchmarks/b00/params.yaml"
    change(own, "systems", ["longest_turn"])
    change(own, "few_shot", {"lead": "data/ward"})
    change(own, "decompositions", [])
    change(own, "released_claims", {"clauses": "data/released"})
    files = {
        project / "data/ward/dev/texts.jsonl": "generate_few_shot@lead",
        project / "data/released/claims.json": "decompose_released@clauses",
    }
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text("first", encoding="utf-8")
    assert run(project, "b00", "b01", "--no-prefect").returncode == 0
    assert stale(project, "b00", "b01") == set()
    for file, reader in files.items():
        file.write_text("second", encoding="utf-8")
        reruns = stale(project, "b00", "b01")
        assert f"b00: {reader}" in reruns
        assert not any(name.startswith(("b01", "b00: ingest")) for name in reruns)
        file.write_text("first", encoding="utf-8")


@pytest.mark.slow
def test_dvc_lock_has_the_bytes_that_dvc_itself_writes(project: Path, tmp_path: Path) -> None:
    twin = Path(shutil.copytree(project, tmp_path / "twin"))
    before = locks(project)
    for root in (project, twin):
        change(root / "params.yaml", "judges.j0.threshold", 0.25)
        change(root / "code.yaml", "stages.segment", "'quoted': # \n")
        (root / "seed").write_text("1\n")
    assert run(project, "b00", "b01", "--no-prefect").returncode == 0
    dvc(twin, "repro", "-P")
    assert locks(project) == locks(twin) != before
    assert json.loads(dvc(project, "status", "--json")) == {}
    with (project / "benchmarks/b00/dvc.lock").open("a", encoding="utf-8") as lock:
        lock.write("datasets: []\n")  # not ours to splice: DVC writes it whole
    shutil.copy(project / "benchmarks/b00/dvc.lock", twin / "benchmarks/b00/dvc.lock")
    for root in (project, twin):
        change(root / "params.yaml", "judges.j0.threshold", 0.6)
    assert run(project, "b00", "--no-prefect").returncode == 0
    dvc(twin, "repro", "benchmarks/b00/dvc.yaml")
    assert locks(project) == locks(twin)


@pytest.mark.slow
def test_the_run_cache_knows_what_ran_before(project: Path) -> None:
    original = locks(project)
    for threshold in (0.25, 0.6):
        change(project / "params.yaml", "judges.j0.threshold", threshold)
        assert run(project, "b00", "b01", "--no-prefect").returncode == 0
        hook(project, "judge-b00-j0", "exit 1")  # from now on it must not run
    assert locks(project) == original


@pytest.mark.parametrize("shared", [False, True])
def test_an_entry_is_put_where_dvc_puts_it(tmp_path: Path, shared: bool) -> None:
    """The first, one in the middle, the last and a new one; with YAML anchors it is left to DVC."""
    entries: dict[str, object] = {}
    text = HEAD
    for name in ("ingest", "judge@a", "judge@ab", "odd: name"):
        block = {"several": "lines: of it\nand more\n"}
        params = {"x": block, "y": block if shared else {}}
        entries[name] = {"cmd": f"run {name}", "params": {"params.yaml": params}}
        text = put(text, entry_of(name, entries[name])) or ""
    if shared:
        assert text == ""
        return
    assert text == dumps_yaml({"schema": "2.0", "stages": entries})
    for name in list(entries):
        entries[name] = {"cmd": f"new {name}"}
        text = put(text, entry_of(name, entries[name])) or ""
        assert text == dumps_yaml({"schema": "2.0", "stages": entries})


def entry_of(name: str, content: object) -> str:
    return str(dumps_yaml({"schema": "2.0", "stages": {name: content}}).removeprefix(HEAD))


@pytest.mark.slow
def test_a_new_lock_has_the_entries_that_dvc_itself_writes(built: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin"
    build(twin)
    subprocess.run(["git", "init", "-q"], cwd=twin, check=True)
    dvc(twin, "repro", "-P")
    for name, content in locks(built).items():  # in the order in which the stages ended
        entries = [
            re.split(r"(?m)^  (?=\S)", text.decode()) for text in (content, locks(twin)[name])
        ]
        assert sorted(entries[0]) == sorted(entries[1])


def test_a_stage_whose_inputs_turn_out_as_before_is_not_run_again(project: Path) -> None:
    change(project / "params.yaml", "alignments.rouge_topk.k", 2)
    done = run(project, "b00", "--no-prefect")
    assert names(done.stderr) == {"b00: align", "b00: aggregate"}  # the one reads k, too
    others = AFTER_UNITS - {"b00: align", "b00: aggregate"}
    assert {f"{name} did" for name in others} <= {
        line.removeprefix("· ")[: len(line) - 2].partition(" not")[0]
        for line in done.stderr.splitlines()
    }


def test_a_worker_that_was_killed_while_idle_costs_no_stage(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    stage = dag.plan(built, ["b00"]).stages["benchmarks/b00/dvc.yaml:segment"]
    with (built / ".work/held").open("w") as held:
        workers = Workers(built, held.fileno())
        assert not workers.run(stage).ran
        for child in psutil.Process().children():
            if "flows.worker" in child.cmdline():
                child.kill()
                psutil.wait_procs([child])
        assert not workers.run(stage).ran
        workers.close()


def test_a_failed_branch_stops_only_itself_and_is_named(project: Path) -> None:
    change(project / "params.yaml", "alignments.rouge_topk.k", 2)
    hook(project, "align-b00", "echo ratings.csv, line 2: mend it >&2", "exit 78")
    hook(project, "align-b01", "echo note: 2 citations past the end >&2")
    done = run(project, "b00", "b01", "--no-prefect")
    assert done.returncode == 1
    assert "✗ b00: align (exit 78)\nratings.csv, line 2: mend it\n" in done.stderr
    assert "– b00: report was not run" in done.stderr
    assert re.search(r"✓ b01: align .*\n  note: 2 citations past the end\n", done.stderr)
    assert stale(project, "b01") == set()


@pytest.mark.slow
def test_prefect_retries_what_may_pass_and_keeps_notes(project: Path) -> None:
    change(project / "params.yaml", "alignments.rouge_topk.k", 2)
    hook(project, "align-b00", "echo x >> tried-b00", "exit 78")
    once = "if [ ! -f tried-b01 ]; then touch tried-b01; exit 1; fi"
    hook(project, "align-b01", once, "echo note: 2 citations past the end >&2")
    done = run(project, "b00", "b01")
    assert done.returncode == 1, done.stderr
    assert (project / "tried-b00").read_text() == "x\n"
    assert "✗ b01: align (exit 1)" in done.stderr
    assert re.search(r"✓ b01: align .*\n  note: 2 citations past the end\n", done.stderr)
    assert "– b00: report was not run" in done.stderr
    assert stale(project, "b01") == set()
    assert prefect(project, "select name, state_type from flow_run")[0][1] == "FAILED"
    states = dict(prefect(project, "select name, state_type from task_run"))
    assert states["b00: align"] == "FAILED"
    assert states["b01: align"] == "COMPLETED"
    assert ("note: 2 citations past the end",) in prefect(project, "select message from log")


def prefect(root: Path, query: str) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(root / ".work/prefect/prefect.db")) as database:
        return database.execute(query).fetchall()


def interrupted(root: Path, arguments: list[str], number: int, *, when: str) -> float:
    """Start a run, send it a signal when a line of its output begins so; seconds until it ended."""
    process = subprocess.Popen(
        arguments,
        cwd=root,
        env=environment(root),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    said = ""
    while not (root / when).exists() and when not in said:
        line = process.stderr.readline() if "looking" not in said else ""
        said += line
        time.sleep(0.05)
        assert process.poll() is None, said
    children = psutil.Process(process.pid).children(recursive=True)
    start = time.perf_counter()
    os.killpg(process.pid, number)  # as a terminal does it: to all that are in the foreground
    _, rest = process.communicate(timeout=60)
    took = time.perf_counter() - start
    assert process.returncode == 130, said + rest
    assert "Traceback" not in said + rest
    assert "interrupted; the next run goes on from here" in rest
    _, alive = psutil.wait_procs(children, timeout=5)
    assert not alive
    return took


SLEEP = ("touch sleeping", "sleep 60")
AS_THE_COMMAND_DOES = """
import os, sys
from metassay.cli.running import _in_a_session_of_its_own as run
sys.exit(run(sys.argv[1:], dict(os.environ)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_ends_at_once_and_the_next_goes_on(project: Path, number: int) -> None:
    whole = locks(project)
    change(project / "params.yaml", "judges.j0.threshold", 0.25)
    hook(project, "judge-b00-j0", *SLEEP)
    took = interrupted(project, command("b00", "--no-prefect"), number, when="sleeping")
    assert took < 5
    assert locks(project) == whole
    assert (project / ".work/unfinished").exists()
    hook(project, "judge-b00-j0")
    done = run(project, "b00", "--no-prefect")
    assert done.returncode == 0, done.stderr
    assert names(done.stderr) == {"b00: judge@j0"}
    assert not (project / ".work/unfinished").exists()
    assert dvc(project, "status", "benchmarks/b00/dvc.yaml").startswith("Data and pipelines are up")


def test_a_run_can_be_interrupted_while_it_looks_for_what_changed(project: Path) -> None:
    arguments = command("b00", "b01", "--no-prefect")
    assert interrupted(project, arguments, signal.SIGINT, when="looking") < 5


@pytest.mark.slow
def test_an_interrupted_run_leaves_nothing_running_in_prefect(project: Path) -> None:
    """By the way that `metassay run` takes, and as a terminal does it."""
    change(project / "params.yaml", "judges.j0.threshold", 0.25)
    hook(project, "judge-b00-j0", *SLEEP)
    arguments = [sys.executable, "-c", AS_THE_COMMAND_DOES, *command("b00", "b01")]
    assert interrupted(project, arguments, signal.SIGINT, when="sleeping") < 5
    runs = prefect(project, "select state_type from flow_run union select state_type from task_run")
    assert runs == [("CRASHED",)] or set(runs) == {("CRASHED",), ("COMPLETED",)}


def test_a_crash_tells_where_but_not_the_text_it_stumbled_over() -> None:
    crash = (
        "note: nothing to see\n"
        "Traceback (most recent call last):\n"
        '  File "stages/judge.py", line 21, in main\n    judge()\n'
        "ValueError: cannot read 'CANARY of a patient'\nCANARY again: second line\n"
    )
    said = last_words(crash)
    assert "CANARY" not in said
    assert 'File "stages/judge.py", line 21, in main' in said
    assert "ValueError" in said
    assert notes(crash) == ("note: nothing to see",)
