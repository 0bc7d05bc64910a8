"""What a killed run leaves behind is mended by the next one.

DVC's list of who reads and writes what: it is written in place, and a process that was killed stays
in it. DVC strikes out a process that is gone, but neither a zombie, which nobody may ever reap in a
container, nor another program that has got the number since; it would wait for them for good.

Half-written files: a table is written under a hidden name beside it and then renamed, and dvc.lock
likewise (flows/worker.py), so that it is never cut short itself. So are the history of
re-evaluations and their reports. Whether a stage is fresh is up to
DVC as always: it compares hashes.
"""

import contextlib
import fcntl
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from flows import history
from metassay.core.atomic import remove_leftovers_in
from metassay.core.options import BENCHMARKS
from metassay.core.work import WORK, restrict_work

_ADDED_TO = ("history", "reports/changes")  # by re-evaluations


@contextmanager
def guarded(root: Path) -> Iterator[list[int]]:
    """Be the only run in this project; mend what a killed one left, and leave nothing to mend.

    A second run waits until the first has ended, and all processes to which it gave the file
    descriptors that this yields.
    """
    restrict_work(root)
    (root / "data/tables").mkdir(parents=True, exist_ok=True)  # a stage may make folders of its own
    unfinished = root / WORK / "unfinished"
    with _locked(root / WORK / "run.lock", "another run is working in this project") as held:
        if unfinished.exists():
            mend(root)
        unfinished.touch()
        yield [held]
        unfinished.unlink()  # not in a finally: only a run that ended leaves none


@contextmanager
def alone(root: Path, names: Iterable[str]) -> Iterator[list[int]]:
    """Let no other run, and nobody who accepts one, change these benchmarks meanwhile."""
    restrict_work(root)
    folder = root / WORK / "locks"
    folder.mkdir(exist_ok=True)
    with contextlib.ExitStack() as stack:
        # In one order, so that no two wait for each other.
        yield [
            stack.enter_context(
                _locked(folder / f"run-{name}", f"another run is working on {name}")
            )
            for name in sorted(set(names))
        ]


def seems_stale(root: Path, names: Iterable[str]) -> bool:
    """A guess before DVC has looked: whether a report is not there, or was not up to date when
    what people edit, or code.yaml, was saved."""
    for name in names:
        last, folder = root / WORK / f"locks/run-{name}", root / BENCHMARKS / name
        read = (root / "params.yaml", root / "code.yaml", folder / "params.yaml")
        if not (root / "reports" / name).is_dir() or not last.exists():
            return True
        if any(file.exists() and file.stat().st_mtime > last.stat().st_mtime for file in read):
            return True
    return False


def up_to_date(root: Path, names: Iterable[str]) -> None:
    """Note that a run has brought these up to date, for `seems_stale`."""
    for name in names:
        (root / WORK / f"locks/run-{name}").touch()


def leave_to_mend(root: Path) -> None:
    """Have the next run mend, after one that ended but had a process killed."""
    (root / ".work/unfinished").touch()


@contextmanager
def _locked(file: Path, busy: str) -> Iterator[int]:
    with file.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"{busy}; waiting until it has ended", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def mend(root: Path) -> None:
    """Clear away what nobody will finish, and say in Prefect's database that it crashed."""
    from flows.dag import HALF_WRITTEN

    history.mark_crashed(history.database(root))
    strike_out(root / ".dvc" / "tmp" / "rwlock")
    for path in (root / "data" / "tables").rglob(".*"):
        if path.is_file():
            path.unlink()
    for place in _ADDED_TO:
        remove_leftovers_in(root / place)
    for folder in (root, *(root / BENCHMARKS).glob("*")):
        (folder / HALF_WRITTEN).unlink(missing_ok=True)


def strike_out(held: Path) -> None:
    """Take out of DVC's file of readers and writers those that are not DVC, or no more.

    A file that cannot be read was cut short by a kill and goes: DVC would refuse it for good.
    """
    if not held.exists():
        return
    try:
        found = json.loads(held.read_text(encoding="utf-8"))
        write = {path: info for path, info in found.get("write", {}).items() if _works(info)}
        read = {
            path: [info for info in infos if _works(info)]
            for path, infos in found.get("read", {}).items()
        }
    except (ValueError, AttributeError, TypeError, KeyError):
        held.unlink()
        return
    kept = {"write": write, "read": {path: infos for path, infos in read.items() if infos}}
    held.write_text(json.dumps(kept), encoding="utf-8")


def _works(info: dict[str, Any]) -> bool:
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(int(info["pid"]))
        command = process.cmdline()
        is_dvc = "flows.fork_server" in command or any(Path(word).name == "dvc" for word in command)
        return is_dvc and process.status() != psutil.STATUS_ZOMBIE
    return False
