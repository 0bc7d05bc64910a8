"""Repair what a killed run left behind, at the start of the next one.

DVC's list of who reads and writes what is written in place, and a killed process stays
in it. DVC removes a process that is gone, but neither a zombie, which nobody may ever
reap in a container, nor another program that has got the number since; it would wait
for them for ever.

Half-written files: a table is written under a hidden name beside it and then renamed,
and so are dvc.lock (flows/worker.py), the history of re-evaluations and their reports,
so that none is cut short. Whether a stage is fresh is up to DVC as always: it compares
hashes.
"""

import contextlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from flows import history
from metassay.core.atomic import remove_leftovers, remove_leftovers_in
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.stages import VERSIONS
from metassay.core.work import WORK, lock_file, restrict_work

# is there while a run lasts, and after one that was killed
UNFINISHED = WORK / "unfinished"
_REEVALUATIONS = ("history", "reports/changes")


@contextmanager
def lock_project(root: Path) -> Iterator[list[int]]:
    """Be the only run in this project; repair what a killed run left, and leave nothing to repair.

    A second run waits until the first has ended, and all processes that got the file
    descriptors that this yields.
    """
    restrict_work(root)
    # stages may make folders in it
    (root / "data/tables").mkdir(parents=True, exist_ok=True)
    unfinished = root / UNFINISHED
    with lock_file(
        root / WORK / "run.lock", "another run is working in this project"
    ) as lock:
        if unfinished.exists():
            repair(root)
        unfinished.touch()
        yield [lock]
        unfinished.unlink()  # not in a finally: only a run that ended leaves none


@contextmanager
def lock_benchmarks(root: Path, names: Iterable[str]) -> Iterator[list[int]]:
    """Keep other runs and `accept` from changing these benchmarks; yield the locks."""
    restrict_work(root)
    folder = root / WORK / "locks"
    with contextlib.ExitStack() as stack:
        locks = []
        # sorted, so that no two processes wait for each other
        for name in sorted(set(names)):
            lock = lock_file(
                folder / f"run-{name}", f"another run is working on {name}"
            )
            locks.append(stack.enter_context(lock))
        yield locks


def seems_stale(root: Path, names: Iterable[str]) -> bool:
    """Guess before DVC looks: is a report missing, or older than settings or versions.yaml?"""
    for name in names:
        last, folder = root / WORK / f"locks/run-{name}", root / BENCHMARKS / name
        read = (root / PARAMS, root / VERSIONS, folder / PARAMS.name)
        if not (root / "reports" / name).is_dir() or not last.exists():
            return True
        if any(
            file.exists() and file.stat().st_mtime > last.stat().st_mtime
            for file in read
        ):
            return True
    return False


def mark_up_to_date(root: Path, names: Iterable[str]) -> None:
    """Note that a run has brought these up to date, for `seems_stale`."""
    for name in names:
        (root / WORK / f"locks/run-{name}").touch()


def repair(root: Path) -> None:
    """Remove half-written files, and mark unfinished runs as crashed in Prefect's database."""
    from flows.dag import HALF_WRITTEN
    from metassay.reporting.shell import SINCE

    history.mark_crashed(history.database(root))
    drop_dead_processes(root / ".dvc" / "tmp" / "rwlock")
    for path in (root / "data" / "tables").rglob(".*"):
        if path.is_file():
            path.unlink()
    for name in _REEVALUATIONS:
        remove_leftovers_in(root / name)
    for report in (root / "reports").glob("*"):
        remove_leftovers(report / SINCE)
    for folder in (root, *(root / BENCHMARKS).glob("*")):
        (folder / HALF_WRITTEN).unlink(missing_ok=True)


def drop_dead_processes(rwlock: Path) -> None:
    """Remove processes that are not DVC, or have ended, from DVC's file of readers and writers.

    A file that cannot be read was cut short by a kill and is removed: DVC would always
    refuse it.
    """
    if not rwlock.exists():
        return
    try:
        content = json.loads(rwlock.read_text(encoding="utf-8"))
        write = {
            path: info
            for path, info in content.get("write", {}).items()
            if _works(info)
        }
        read = {
            path: [info for info in infos if _works(info)]
            for path, infos in content.get("read", {}).items()
        }
    except (ValueError, AttributeError, TypeError, KeyError):
        rwlock.unlink()
        return
    living = {
        "write": write,
        "read": {path: infos for path, infos in read.items() if infos},
    }
    rwlock.write_text(json.dumps(living), encoding="utf-8")


def _works(info: dict[str, Any]) -> bool:
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(int(info["pid"]))
        command = process.cmdline()
        is_dvc = "flows.fork_server" in command or any(
            Path(word).name == "dvc" for word in command
        )
        return is_dvc and process.status() != psutil.STATUS_ZOMBIE
    return False
