"""Runs that are killed: a tiny project with a scripted endpoint, and what a killed run left.

    with ScriptedServer(script, latency=0.2) as server:
        root = kill_project(folder, server.base_url, cases=20)
        run = start(root)
        wait_until(run, lambda: server.requests.total() >= 5)   # or time.sleep(anything)
        kill(run, "parent", signal.SIGKILL)
        assert not left(run)            # processes, when there was time enough to end
        assert not unended(root)        # flow and task runs that Prefect believes to go on
        answers(root)                   # the ledger's answers, by key

Each run has a mark of its own in the environment of all its processes, by which they
are found wherever they hang in the tree. `TARGETS` names what can be killed.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.conftest import ROOT
from tests.test_llm_pipeline import KEY, configure, data, one_benchmark

MARK = "METASSAY_TEST_MARK"
STARTED = ROOT / "tests/started"
PATIENCE = 30.0  # seconds in which everything is over on the slowest machine
ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")

# `python -c` of this starts its arguments as a command of Metassay's starts `python -m
# flows...`.
AS_THE_COMMAND_DOES = """
import os, sys
from metassay.cli.running import _run_watched as run
sys.exit(run(sys.argv[1:], dict(os.environ)))
"""


@dataclass
class Run:
    """A run that was started: its process, its mark, and the files with what it says."""

    process: "subprocess.Popen[bytes]"
    mark: str
    root: Path
    log: Path

    @property
    def output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")


def kill_project(into: Path, base_url: str, *, cases: int = 20) -> Path:
    """A copy of this project with the benchmark `one`, whose texts a model at `base_url` writes."""
    root = one_benchmark(into)
    data(root / "data/one", [f"c{number}" for number in range(cases)])
    configure(root, base_url)
    return root


def start(
    root: Path, *words: str, command: tuple[str, ...] = (), **changes: str
) -> Run:
    """Start `metassay run one` (or `command`) there, as a terminal does: as a group of its own."""
    mark = uuid.uuid4().hex
    log = root / ".work" / f"said-{mark}"
    log.parent.mkdir(exist_ok=True)
    environment = {k: v for k, v in os.environ.items() if k != "METASSAY_MIRROR"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            list(command)
            or [sys.executable, "-m", "metassay.cli", "run", "one", *words],
            cwd=root,
            env=environment | {KEY: "k", MARK: mark, "PYTHONPATH": str(ROOT)} | changes,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    return Run(process, mark, root, log)


def writing(name: str, number: int) -> dict[str, str]:
    """What `start` changes so that whoever writes a file whose name holds that stops in
    it, at the number-th thing that it asks of the system (tests/started).
    """
    path = os.pathsep.join([str(STARTED), str(ROOT)])
    return {"METASSAY_TEST_STOP": f"{name} {number}", "PYTHONPATH": path}


def stopped(run: Run) -> list[psutil.Process]:
    """Its processes that have stopped so."""
    lines = []
    for process in processes(run):
        with suppress(psutil.Error):
            if process.status() == psutil.STATUS_STOPPED:
                lines.append(process)
    return lines


def go_on(run: Run) -> None:
    """Let what has stopped go on, or take what it was sent meanwhile."""
    for process in stopped(run):
        with suppress(psutil.Error):
            process.send_signal(signal.SIGCONT)


def wait_until(run: Run, condition: Callable[[], Any], *, timeout: float = 120) -> bool:
    """Wait until the condition holds; False if the run has ended before."""
    until = time.monotonic() + timeout
    while not condition():
        if run.process.poll() is not None:
            return False
        assert time.monotonic() < until, run.output
        time.sleep(0.05)
    return True


def processes(run: Run) -> list[psutil.Process]:
    """All living processes of a run."""
    processes = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and _marked(process, run.mark):
                processes.append(process)
    return processes


def _marked(process: psutil.Process, mark: str) -> bool:
    return process.environ().get(MARK) == mark


def _with(word: str) -> Callable[[Run], list[psutil.Process]]:
    def matching(run: Run) -> list[psutil.Process]:
        chosen = []
        for process in processes(run):
            with suppress(psutil.Error):
                if any(
                    argument == word or argument.startswith(word)
                    for argument in process.cmdline()
                ):
                    chosen.append(process)
        return chosen

    return matching


def _called(name: str, word: str) -> Callable[[Run], list[psutil.Process]]:
    """Workers, their fork servers and stages have one command line, and a name each."""
    return lambda run: [
        process for process in _with(word)(run) if _name(process).startswith(name)
    ]


def _name(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return process.name()
    return ""


def _parent(run: Run) -> list[psutil.Process]:
    return [process for process in processes(run) if process.pid == run.process.pid]


def _flow(run: Run) -> list[psutil.Process]:
    return [
        process
        for process in _with("-m")(run)
        if _is_flow(process) and process.pid != run.process.pid
    ]


def _is_flow(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return not {"flows", "flows.reevaluate", "flows.accept"}.isdisjoint(
            process.cmdline()
        )
    return False


# What can be killed, and how its processes are found. `group` is what a terminal's
# Ctrl-C reaches, `all` every process of the run at once.
TARGETS: dict[str, Callable[[Run], list[psutil.Process]]] = {
    "parent": _parent,
    "flow": _flow,
    "engine": _with("prefect.engine"),  # that a schedule starts for each run
    "worker": _called("python", "flows.fork_server"),
    "stage": _called("stages.", "flows.fork_server"),
    "server": _with("flows.prefect_server"),
    "all": processes,
}


def kill(run: Run, target: str, number: int) -> list[int]:
    """Send a signal to one target; the processes that it was sent to (none if there is none)."""
    if target == "group":
        with suppress(ProcessLookupError):
            os.killpg(run.process.pid, number)
            return [run.process.pid]
        return []
    reached = []
    for process in TARGETS[target](run):
        with suppress(psutil.Error):
            process.send_signal(number)
            reached.append(process.pid)
    return reached


def left(run: Run, *, patience: float = PATIENCE) -> list[str]:
    """What of a run still lives after so many seconds: the command lines; it is killed then."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        run.process.poll()
        if not processes(run):
            run.process.wait(PATIENCE)  # it may have ended since it was polled
            return []
        time.sleep(0.05)
    locks = []
    for process in processes(run):
        with suppress(psutil.Error):
            locks.append(" ".join(process.cmdline()))
            process.kill()
    run.process.wait()
    return locks


def end(run: Run, *, timeout: float = 300) -> int:
    """Wait until a run has ended by itself; its exit code."""
    try:
        return run.process.wait(timeout)
    except subprocess.TimeoutExpired:
        kill(run, "all", signal.SIGKILL)
        raise AssertionError(f"the run did not end\n{run.output}") from None


def unended(root: Path, of: str = "prefect") -> list[tuple[str, ...]]:
    """Flow and task runs that Prefect's database has not as ended: table, name, state.

    What never began, since something before it failed, is called NotReady.
    """
    ended = ", ".join("?" * len(ENDED))
    return [
        (kind, *row)
        for kind in ("flow_run", "task_run")
        for row in rows(
            root / ".work" / of / "prefect.db",
            f"SELECT name, state_type FROM {kind}"
            f" WHERE state_type NOT IN ({ended}) AND state_name <> 'NotReady'",
            *ENDED,
        )
    ]


def answers(root: Path) -> dict[str, str]:
    """The answers that the ledger has, by key."""
    return dict(rows(root / ".work/ledger.sqlite", "SELECT key, text FROM answers"))  # type: ignore[arg-type]


def rows(file: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """What a query finds in an SQLite file; nothing where there is no file or no such table."""
    if not file.exists():
        return []
    with closing(sqlite3.connect(file, timeout=10)) as database:
        try:
            return database.execute(query, values).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return []
            raise


def tables(root: Path) -> dict[str, bytes]:
    """Every table, report file and dvc.lock, by its path."""
    files = [*(root / "data/tables").rglob("*"), *(root / "reports/one").rglob("*")]
    files += (root / "benchmarks").rglob("dvc.lock")
    return {
        str(file.relative_to(root)): file.read_bytes()
        for file in files
        if file.is_file()
    }
