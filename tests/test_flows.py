"""Runs of an invented project with our dvc.yaml, whose commands do next to nothing."""

import contextlib
import fcntl
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest
import yaml
from dvc.utils.serialize import dumps_yaml

from flows import dag
from flows.recovery import lock_project
from flows.worker import HEAD, replace_entry
from flows.workers import StageFailed, Workers
from metassay.core.errors import BadInput
from metassay.tables.parquet import write
from metassay.tables.responses import RESPONSES
from speed.dag import build
from tests.conftest import ROOT
from tests.support.invented_project import (
    change,
    command,
    dvc,
    hook,
    locks,
    names,
    run,
    stale,
)


@pytest.fixture
def project(built: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    return Path(shutil.copytree(built, tmp_path / "project"))


AFTER_SCORES = {
    f"b00: {s}" for s in ("aggregate", "meta_evaluate", "certify", "report")
}
AFTER_PAIRS = {"b00: judge@j0"} | AFTER_SCORES
AFTER_UNITS = {"b00: align@rouge_topk", "b00: pair@all"} | AFTER_PAIRS
MEASURED = {"b00: measure", "b00: measure_costly@m00", "b00: measure_costly@m01"}
AFTER_TEXTS = {"b00: segment", "b00: decompose@clauses"} | MEASURED | AFTER_UNITS

DEPENDENTS = {
    "metrics.rouge.stemmer": (True, {"b00: measure"} | AFTER_SCORES),
    "costly_metrics.m00.stemmer": (True, {"b00: measure_costly@m00"} | AFTER_SCORES),
    "judges.j0.threshold": (0.5, AFTER_PAIRS),
    "alignments.rouge_topk.k": (
        2,
        {"b00: align@rouge_topk", "b00: pair@all"} | AFTER_PAIRS,
    ),
    "systems.lead.passages": (1, {"b00: generate@lead"} | AFTER_TEXTS),
    "aggregation.seed": (1, AFTER_SCORES),
    "meta_evaluation.resamples": (10, AFTER_SCORES - {"b00: aggregate"}),
}


def test_the_plan_has_the_stages_of_the_chosen_benchmark_each_after_what_it_needs() -> (
    None
):
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
        assert set(stage.needs) <= set(addresses[:position]), (
            "stands before what it needs"
        )


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
    (project / "data/tables/b01/ratings/given.parquet").unlink()
    plan = dag.plan(project, ["b00", "b01"])
    changed = set(json.loads(dvc(project, "status", "--json")))
    assert changed | set(plan.dependents_of(changed)) == plan.stale


def test_a_dataset_that_is_not_there_is_brought_for_who_reads_it_and_for_nobody_else(
    project: Path, tmp_path: Path
) -> None:
    """Tables may be there without it. What was edited or lost is found."""
    raw = project / "data/raw/d"
    (raw / "file").chmod(0o644)
    (raw / "file").write_text("edited")
    assert stale(project, "b00") >= {"fetch@d", "b00: ingest", "b00: report"}
    shutil.rmtree(raw)
    lock = project / "dvc.lock"
    assert stale(project, "b00", "b01") == set()
    plan = dag.plan(project, ["b00"])
    assert plan.absent == ("data/raw/d",)
    change(project / "params.yaml", "judges.j0.threshold", 0.25)
    assert stale(project, "b00") == AFTER_PAIRS
    table = project / "data/tables/b00/sources.parquet"
    table.rename(tmp_path / "sources")
    assert stale(project, "b00") >= {"fetch@d", "b00: ingest", "b00: report"}
    (tmp_path / "sources").rename(table)
    assert stale(project, "b00") == AFTER_PAIRS
    lock.write_text(
        re.sub(r"md5: \w{32}", f"md5: {'0' * 32}", lock.read_text("utf-8")), "utf-8"
    )
    assert stale(project, "b00") >= {"b00: ingest", "b00: report"}, (
        "the tables are of another"
    )


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
    settings = project / "benchmarks/b00/params.yaml"
    change(settings, "systems", ["longest_turn"])
    change(settings, "few_shot", {"lead": "data/ward"})
    change(settings, "decompositions", [])
    change(settings, "released_claims", {"clauses": "data/released"})
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
def test_dvc_lock_has_the_bytes_that_dvc_itself_writes(
    project: Path, tmp_path: Path
) -> None:
    twin = Path(shutil.copytree(project, tmp_path / "twin"))
    before = locks(project)
    for root in (project, twin):
        change(root / "params.yaml", "judges.j0.threshold", 0.25)
        change(root / "versions.yaml", "stages.segment", "'quoted': # \n")
        (root / "seed").write_text("1\n")
    assert run(project, "b00", "--no-prefect").returncode == 0
    dvc(twin, "repro", "benchmarks/b00/dvc.yaml")  # b01 has the same stages
    assert locks(project) == locks(twin) != before
    assert json.loads(dvc(project, "status", "--json", "benchmarks/b00/dvc.yaml")) == {}
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
    """Of stages that ask no model: the cache would bring back answers that were missing."""
    original = locks(project)
    for stemmer in (True, False):
        change(project / "params.yaml", "costly_metrics.m00.stemmer", stemmer)
        assert run(project, "b00", "--no-prefect").returncode == 0
        hook(project, "measure_costly-b00-m00", "exit 1")  # from now on it must not run
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
        text = replace_entry(text, entry_of(name, entries[name])) or ""
    if shared:
        assert text == ""
        return
    assert text == dumps_yaml({"schema": "2.0", "stages": entries})
    for name in list(entries):
        entries[name] = {"cmd": f"new {name}"}
        text = replace_entry(text, entry_of(name, entries[name])) or ""
        assert text == dumps_yaml({"schema": "2.0", "stages": entries})


def entry_of(name: str, content: object) -> str:
    return str(
        dumps_yaml({"schema": "2.0", "stages": {name: content}}).removeprefix(HEAD)
    )


@pytest.mark.slow
def test_a_new_lock_has_the_entries_that_dvc_itself_writes(
    built: Path, tmp_path: Path
) -> None:
    twin = tmp_path / "twin"
    build(twin)
    subprocess.run(["git", "init", "-q"], cwd=twin, check=True)
    dvc(twin, "repro", "benchmarks/b00/dvc.yaml")  # b01 has the same stages
    by_dvc = locks(twin)
    assert set(by_dvc) == {"dvc.lock", "benchmarks/b00/dvc.lock"}
    for name, content in by_dvc.items():
        entries = [  # in the order in which the stages ended
            re.split(r"(?m)^  (?=\S)", text.decode())
            for text in (content, locks(built)[name])
        ]
        assert sorted(entries[0]) == sorted(entries[1])


def test_a_stage_whose_inputs_turn_out_as_before_is_not_run_again(
    project: Path,
) -> None:
    change(project / "params.yaml", "alignments.rouge_topk.k", 2)
    done = run(project, "b00", "--no-prefect")
    reading = {"b00: align@rouge_topk", "b00: aggregate"}  # the one reads k, too
    assert names(done.stderr) == reading
    others = AFTER_UNITS - reading
    assert {f"{name} did" for name in others} <= {
        line.removeprefix("· ")[: len(line) - 2].partition(" not")[0]
        for line in done.stderr.splitlines()
    }


def test_what_was_damaged_or_replaced_is_built_again(project: Path) -> None:
    """Outs of fresh stages, which are inputs of other fresh ones: each is as it was."""
    tables = project / "data/tables/b00"
    contents = {path: path.read_bytes() for path in tables.rglob("*") if path.is_file()}
    lock = locks(project)
    damaged = tables / "scores.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    (tables / "correlations.parquet").write_bytes(b"")
    (tables / "evidence.parquet").unlink()
    (tables / "certificates.parquet").unlink()
    (tables / "certificates.parquet").mkdir()
    (tables / "certificates.parquet/b.parquet").write_bytes(b"?")
    done = run(project, "b00", "--no-prefect")
    assert done.returncode == 0, done.stderr
    assert {
        path: path.read_bytes() for path in tables.rglob("*") if path.is_file()
    } == contents
    assert locks(project) == lock


def test_a_failed_branch_stops_only_itself_and_is_named(project: Path) -> None:
    change(project / "params.yaml", "alignments.rouge_topk.k", 2)
    hook(
        project,
        "align-b00-rouge_topk",
        "echo ratings.csv, line 2: mend it >&2",
        "exit 78",
    )
    hook(project, "align-b01-rouge_topk", "echo note: 2 citations past the end >&2")
    done = run(project, "b00", "b01", "--no-prefect")
    assert done.returncode == 1
    assert (
        "✗ b00: align@rouge_topk (exit 78)\nratings.csv, line 2: mend it\n"
        in done.stderr
    )
    assert "– b00: report was not run" in done.stderr
    assert re.search(
        r"✓ b01: align@rouge_topk .*\n  note: 2 citations past the end\n", done.stderr
    )
    assert stale(project, "b01") == set()


def answers_of(root: Path, name: str, *codes: str) -> None:
    """A table of what a model answered, to be written by a stage: `ok`, or why there is none."""
    frame = pd.DataFrame(
        [
            {
                "key": str(number),
                "request": '{"model": "m-1"}',
                "status": "ok" if code == "ok" else "error",
                "finish_reason": code,
                "prompt_tokens": None,
                "completion_tokens": None,
                "text": None,
            }
            for number, code in enumerate(codes)
        ]
    )
    write(RESPONSES, frame, root / f"empty/{name}.parquet")


@pytest.mark.slow
def test_a_stage_that_lacks_answers_is_run_again_and_after_it_only_what_changed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("METASSAY_TEST_KEY", "k")
    path = project / "params.yaml"
    endpoint = {
        "kind": "openai",
        "base_url": "https://llm.example/v1",
        "key_env": "METASSAY_TEST_KEY",
    }
    params = yaml.safe_load(path.read_text(encoding="utf-8"))
    params["endpoints"] = {"here": endpoint}
    params["models"] = {"m": {"endpoint": "here", "model": "m-1", "max_tokens": 9}}
    path.write_text(yaml.safe_dump(params), encoding="utf-8")
    answers_of(project, "decompose", "ok", "timeout")
    change(project / "versions.yaml", "stages.decompose", 99)  # so that it runs
    assert run(project, "b00", "--no-prefect").returncode == 0
    assert stale(project, "b00") == {"b00: decompose@clauses"} | AFTER_UNITS
    whole = locks(project)
    done = run(project, "b00", "--no-prefect")
    assert done.returncode == 0, done.stderr
    assert names(done.stderr) == {"b00: decompose@clauses"}  # it came to the same
    assert locks(project) == whole
    assert run(project, "b00", "--only", "report").returncode == 0  # which asks nobody
    answers_of(project, "decompose", "ok", "http_400")
    assert run(project, "b00", "--no-prefect").returncode == 0
    assert stale(project, "b00") == set()  # the one failed for good

    page = project / "reports/b00/index.html"
    page.write_text("the old one", encoding="utf-8")
    hook(project, "decompose-b00-clauses", "echo 1 of 2 are missing >&2", "exit 1")
    for _ in range(2):  # once its outs are gone, DVC's cache does not bring them back
        done = run(project, "b00", "--no-prefect", "--ask-again")
        assert done.returncode == 1
        assert "✗ b00: decompose@clauses (exit 1)\n1 of 2 are missing\n" in done.stderr
        assert (
            "! reports/b00/index.html is of an earlier run, not of this one"
            in done.stderr
        )
        page.unlink()
        page.write_text("the old one", encoding="utf-8")


def test_dvc_itself_says_why_a_stage_failed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line, after what the stage has said."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    stages = dag.plan(project, ["b00"]).stages
    shutil.rmtree(project / "reports/published")
    change(project / "params.yaml", "alignments.rouge_topk.k", 2)
    # which writes nothing
    hook(project, "align-b00-rouge_topk", "echo nearly done", "exit 0")
    change(project / "params.yaml", "judges.j0.threshold", 0.25)
    hook(project, "judge-b00-j0", "echo 1 > seed")
    cache = project / ".dvc/cache/files/md5"
    for number in range(256):  # where DVC would keep what is new
        if not (cache / f"{number:02x}").exists():
            (cache / f"{number:02x}").touch()
    code = yaml.safe_load((project / "versions.yaml").read_text(encoding="utf-8"))
    del code["stages"]["segment"]
    (project / "versions.yaml").write_text(yaml.safe_dump(code), encoding="utf-8")
    before = locks(project)
    expected = {
        "report": r"reports/published: No such file or directory; put it back, or run what .*",
        "align@rouge_topk": r"nearly done\noutput 'data/tables/b00/alignments/\S+' does not exist",
        "judge@j0": r"\.dvc/cache/files/md5/\w\w/\w+: a file is where a folder .*",
        "segment": r"Parameters 'stages.segment' are missing from 'versions.yaml'; .*update.*",
    }
    with (project / ".work/held").open("w") as open_file:
        workers = Workers(project, [open_file.fileno()])
        for name, message in expected.items():
            with pytest.raises(StageFailed) as failed:
                workers.run(stages[f"benchmarks/b00/dvc.yaml:{name}"])
            assert re.fullmatch(message, failed.value.output), failed.value.output
        workers.close()
    assert locks(project) == before


def test_what_dvc_cannot_read_is_one_line_before_any_stage(project: Path) -> None:
    file = project / "benchmarks/b00/dvc.yaml"
    good = file.read_text(encoding="utf-8")
    broken = {
        "    wdir: ../..\n": (
            "    folder: ../..\n",
            "extra keys not allowed at stages > ingest",
        ),
        "${raw}": ("${rawe}", "Could not find 'rawe'; fix it"),
        "    outs:\n": (
            "    outs:\n    - ${raw}\n",
            "output 'data/raw/d' is specified in: - ",
        ),
    }
    for old, (new, says) in broken.items():
        file.write_text(good.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(BadInput, match=re.escape(says)) as refused:
            dag.plan(project, ["b00"])
        assert len(refused.value.problems) == 1
        assert "\n" not in str(refused.value)
    file.write_text(good, encoding="utf-8")
    lock = project / "benchmarks/b00/dvc.lock"
    lock.write_text(
        f"<<<<<<< HEAD\n{lock.read_text(encoding='utf-8')}", encoding="utf-8"
    )
    done = run(project, "b00", "--no-prefect")
    assert done.returncode == 2
    first, second = done.stderr.splitlines()
    assert first.startswith("looking for")
    assert second.startswith("benchmarks/b00/dvc.lock: line 1: a merge left both sides")


def test_a_project_without_git_runs(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a zip unpacks, also in a folder that another repository ignores."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    shutil.rmtree(project / ".git")
    with (project / ".work/held").open("w") as open_file:
        workers = Workers(project, [open_file.fileno()])
        for threshold in (0.25, 0.3):
            files = set(project.iterdir())
            change(project / "params.yaml", "judges.j0.threshold", threshold)
            plan = dag.plan(project, ["b00"])
            assert {plan.stages[address].name for address in plan.stale} == AFTER_PAIRS
            assert workers.run(plan.stages["benchmarks/b00/dvc.yaml:judge@j0"]).ran
            assert set(project.iterdir()) == files
            subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
            (tmp_path / ".gitignore").write_text("*\n")
        workers.close()


def nowhere_else(outside: Path) -> dict[str, str]:
    """An environment in which all that is not the project lies in a folder of its own."""
    places = [
        "HOME",
        "TMPDIR",
        *(f"XDG_{kind}_HOME" for kind in ("CACHE", "CONFIG", "DATA", "STATE")),
    ]
    for place in places:
        (outside / place).mkdir(parents=True)
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    return variables | {place: str(outside / place) for place in places}


def test_one_report_is_rendered_under_the_lock_and_writes_nowhere_else(
    project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    with lock_project(project):
        process = subprocess.Popen(
            command("b00", "--only", "report"),
            cwd=project,
            env=nowhere_else(outside),
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        lines = [process.stderr.readline(), process.stderr.readline()]
        assert lines[1].startswith("another run is working in this project")
    rest = process.communicate(timeout=60)[1]
    assert process.returncode == 0, rest
    assert names(rest) == {"b00: report"}, "although nothing had changed"
    assert [str(path) for path in outside.rglob("*") if path.is_file()] == []
    for name in ("leaderboard", "units"):
        (project / f"data/tables/b00/{name}.parquet").unlink()
    done = run(project, "b00", "--only", "report")
    assert done.returncode == 2
    missing = "b00: report: data/tables/b00/leaderboard.parquet and 1 more not there;"
    missing += " `metassay run b00`"
    assert done.stderr.splitlines()[-1].startswith(missing)


def test_plain_dvc_writes_nothing_outside_the_project(
    project: Path, tmp_path: Path
) -> None:
    folder = project / "benchmarks/b00"
    done = subprocess.run(
        [sys.executable, "-m", "dvc", "status", "dvc.yaml"],
        cwd=folder,
        env=nowhere_else(tmp_path / "outside"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (folder / ".work/dvc/repo").is_dir(), "what DVC knows of files"
    assert not [path for path in (tmp_path / "outside").rglob("*") if path.is_file()]


def test_a_run_says_that_it_waits_for_another_dvc(project: Path) -> None:
    # Not capfd: what a thread writes while the test reads is lost there.
    stderr = io.StringIO()
    with (
        ThreadPoolExecutor() as pool,
        (project / ".dvc/tmp/lock").open("a") as lock,
        contextlib.redirect_stderr(stderr),
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = pool.submit(dag.plan, project, ["b00"])
        while (
            "another DVC process is working in this project; waiting"
            not in stderr.getvalue()
        ):
            assert not waiting.done()
            time.sleep(0.05)
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert waiting.result(timeout=60).stale == frozenset()
