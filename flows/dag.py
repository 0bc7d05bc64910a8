"""The only code that talks to DVC: reads the graph, says what is stale, runs one stage."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stages.doorway import BAD_INPUT

QUIET = {
    "DO_NOT_TRACK": "1",
    "DVC_NO_ANALYTICS": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
}


@dataclass(frozen=True)
class Stage:
    """One stage instance of dvc.yaml: what it needs, and how its `meta` says to run it."""

    name: str
    needs: tuple[str, ...]
    retries: int
    delay: float
    tags: tuple[str, ...]


class StageFailed(Exception):  # noqa: N818 - reads as what happened
    """A stage ended badly; the message has its own last lines: keys and remedies, no texts."""

    def __init__(self, name: str, code: int, said: str) -> None:
        super().__init__(f"{name} failed (exit {code}): {said}")
        self.name, self.code, self.said = name, code, said

    @property
    def retryable(self) -> bool:
        """False if the input or the configuration is at fault."""
        return self.code != BAD_INPUT


_running: set["subprocess.Popen[str]"] = set()
_stopped = threading.Event()


def environment(root: Path) -> dict[str, str]:
    """What a subprocess needs: this Python first on PATH, and every cache inside the project."""
    work = root.resolve() / ".work"
    return {
        **os.environ,
        **QUIET,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PREFECT_HOME": str(work / "prefect"),
        "MPLCONFIGDIR": str(work / "matplotlib"),
        "DVC_SITE_CACHE_DIR": str(work / "dvc"),
        "DVC_GLOBAL_CONFIG_DIR": str(work / "dvc-config"),
        "PYTHONHASHSEED": "0",
    }


def graph(root: Path, benchmarks: Iterable[str]) -> dict[str, Stage]:
    """The stages that the reports of these benchmarks need, each after what it needs."""
    import networkx
    from dvc.repo import Repo

    # DVC reads params.yaml from the working folder, whatever the root it is given.
    with contextlib.chdir(root), Repo() as repo:
        whole = repo.index.graph
        by_name = {stage.addressing: stage for stage in whole}
        reports = [by_name[f"report@{name}"] for name in benchmarks]
        wanted = set(reports).union(*(networkx.descendants(whole, stage) for stage in reports))
        order = networkx.lexicographical_topological_sort(
            whole.subgraph(wanted).reverse(), key=lambda stage: stage.addressing
        )
        return {stage.addressing: _stage(whole, stage) for stage in order}


def stale(root: Path, stages: dict[str, Stage]) -> set[str]:
    """Those whose inputs or outputs changed, and everything downstream of them."""
    from dvc.repo import Repo

    # DVC reads params.yaml from the working folder, whatever the root it is given.
    with contextlib.chdir(root), Repo() as repo:
        changed = set(repo.status(targets=list(stages)))
    for name, stage in stages.items():
        if changed.intersection(stage.needs):
            changed.add(name)
    return changed


def run_stage(root: Path, name: str) -> None:
    """Bring one stage up to date in a process group of its own; raises StageFailed."""
    if _stopped.is_set():
        raise StageFailed(name, 130, "the run was interrupted before it started")
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", "--single-item", name]
    process = subprocess.Popen(
        command,
        cwd=root,
        env=environment(root),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    _running.add(process)
    try:
        output, _ = process.communicate()
    finally:
        _running.discard(process)
    if process.returncode != 0:
        raise StageFailed(name, _exit_code(output, process.returncode), _last_words(output))


def kill_running() -> None:
    """Start no more stages and kill the running ones with their whole process groups."""
    _stopped.set()
    for process in list(_running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _stage(whole: object, stage: object) -> Stage:
    meta = stage.meta or {}  # type: ignore[attr-defined]
    needs = sorted(s.addressing for s in whole.successors(stage))  # type: ignore[attr-defined]
    return Stage(
        name=stage.addressing,  # type: ignore[attr-defined]
        needs=tuple(needs),
        retries=int(meta.get("retries", 0)),
        delay=float(meta.get("delay", 1)),
        tags=tuple(meta.get("tags", ())),
    )


def _exit_code(output: str, code: int) -> int:
    """DVC exits with 255 whatever the stage did; the stage's own code is in its words."""
    found = re.search(r"exited with (\d+)", output)
    return int(found[1]) if found else code


def _last_words(output: str, lines: int = 20) -> str:
    if "Traceback (most recent call last)" in output:
        return _where_it_broke(output)
    noise = ("Running stage", "> python -m", "ERROR: failed to reproduce", "'data/")
    kept = [line for line in output.splitlines() if line.strip() and not line.startswith(noise)]
    return "\n".join(kept[-lines:])


def _where_it_broke(output: str) -> str:
    """Frames and kind of the last exception, without its message: that could quote a document."""
    said = output.rpartition("Traceback (most recent call last)")[2].splitlines()[1:]
    frames = [line.strip() for line in said if line.startswith('  File "')]
    kind = next((line for line in said if line and not line[0].isspace()), "").partition(":")[0]
    return "\n".join(
        [*frames[-5:], f"{kind} (its message is not shown: it could quote a document)"]
    )
