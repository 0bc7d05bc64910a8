"""Runs that end before their time leave nothing running, and the next goes on from there."""

import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL, SIGTERM

import psutil
import pytest

from flows import dag
from flows.workers import StageFailed, Workers
from tests.conftest import ROOT
from tests.kill_setup import (
    AS_THE_COMMAND_DOES,
    Run,
    kill,
    left,
    start,
    unended,
    wait_until,
)
from tests.stage_setup import prefect
from tests.support.invented_project import (
    SLEEP,
    change,
    command,
    dvc,
    environment,
    hook,
    locks,
    names,
    run,
)


@pytest.fixture
def project(built, tmp_path):
    """A copy of it for one test."""
    return Path(shutil.copytree(built, tmp_path / "project"))


@pytest.mark.slow
def test_a_worker_that_was_killed_costs_no_stage_but_its_own(project, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    change(project / "params.yaml", "alignments.rouge_topk.k", 2)
    hook(project, "align-b00-rouge_topk", *SLEEP)
    stages = dag.plan(project, ["b00"]).stages
    segment, align = (
        stages[f"benchmarks/b00/dvc.yaml:{name}"]
        for name in ("segment", "align@rouge_topk")
    )
    with (project / ".work/lock").open("w") as lock, ThreadPoolExecutor() as threads:
        workers = Workers(project, [lock.fileno()])
        assert not workers.run(segment).ran
        kill_workers()  # none had a stage
        running = threads.submit(workers.run, align)
        while not (asleep := sleeping()):
            assert not running.done(), running.result()
            time.sleep(0.02)
        kill_workers()
        with pytest.raises(StageFailed) as failed:
            running.result()
        assert failed.value.retryable
        assert "killed by SIGKILL" in failed.value.output
        assert workers.lost, "the next run mends what it left"
        assert not psutil.wait_procs(asleep, timeout=30)[1], "its stage went with it"
        assert not workers.run(segment).ran
        workers.close()


def sleeping() -> list[psutil.Process]:
    """The processes of hooks that sleep."""
    processes = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            processes += [process] if process.name() == "sleep" else []
    return processes


def kill_workers() -> None:
    for child in psutil.Process().children():
        if "flows.fork_server" in child.cmdline():
            child.kill()
            with suppress(ChildProcessError):  # who started it may have reaped it
                # with all its threads
                os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)


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
    output = ""
    while not (root / when).exists() and when not in output:
        output += process.stderr.readline() if "looking" not in output else ""
        time.sleep(0.05)
        assert process.poll() is None, output
    children = psutil.Process(process.pid).children(recursive=True)
    start = time.perf_counter()
    # as a terminal does it: to all that are in the foreground
    os.killpg(process.pid, number)
    _, rest = process.communicate(timeout=60)
    took = time.perf_counter() - start
    assert process.returncode == 130, output + rest
    assert "Traceback" not in output + rest
    assert "interrupted; the next run goes on from here" in rest
    _, alive = psutil.wait_procs(children, timeout=30)
    assert not alive
    return took


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_ends_at_once_and_the_next_goes_on(project, number):
    whole = locks(project)
    change(project / "params.yaml", "judges.j0.threshold", 0.25)
    hook(project, "judge-b00-j0", *SLEEP)
    took = interrupted(project, command("b00", "--no-prefect"), number, when="sleeping")
    assert took < 30  # and not until the stage ends, which takes a minute
    assert locks(project) == whole
    assert (project / ".work/unfinished").exists()
    hook(project, "judge-b00-j0")
    done = run(project, "b00", "--no-prefect")
    assert done.returncode == 0, done.stderr
    assert names(done.stderr) == {"b00: judge@j0"}
    assert not (project / ".work/unfinished").exists()
    assert dvc(project, "status", "benchmarks/b00/dvc.yaml").startswith(
        "Data and pipelines are up"
    )


def test_a_run_can_be_interrupted_while_it_looks_for_what_changed(project):
    arguments = command("b00", "b01", "--no-prefect")
    assert interrupted(project, arguments, signal.SIGINT, when="looking") < 30


@pytest.mark.slow
@pytest.mark.parametrize(("target", "number"), [("all", SIGTERM), ("flow", SIGKILL)])
def test_a_killed_run_leaves_nothing_running(project, target, number):
    """By the way that `metassay run` takes: neither a process, nor something that Prefect shows."""
    began = killed(project, target, number, *command("b00", "b01"))
    assert not left(began)
    assert "Traceback" not in began.output
    assert not unended(project)
    assert ("CRASHED",) in prefect(project, "select state_type from flow_run")


@pytest.mark.parametrize(("target", "number"), [("parent", SIGKILL), ("flow", SIGKILL)])
def test_without_prefect_nothing_goes_on_either(project, target, number):
    assert not left(killed(project, target, number, *command("b00", "--no-prefect")))


def killed(project: Path, target: str, number: int, *arguments: str) -> Run:
    change(project / "params.yaml", "judges.j0.threshold", 0.25)
    hook(project, "judge-b00-j0", *SLEEP)
    words = (sys.executable, "-c", AS_THE_COMMAND_DOES, *arguments)
    began = start(project, command=words, **environment(project))
    assert wait_until(began, (project / "sleeping").exists), began.output
    assert kill(began, target, number)
    return began
