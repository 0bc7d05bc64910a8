"""What a killed run leaves behind is mended by the next one.

dvc.lock: DVC writes it in place, so a kill can cut it short, and a file cut short may still be
sound YAML that has merely forgotten the stages further down. So a copy is kept in the work folder
while a run lasts; a copy found at the start of the next run means that the last one was killed, and
what the file has lost since is put back. Whether a stage is fresh is then up to DVC as always: it
compares hashes.

DVC's list of who reads and writes what: written in place too, and a process that was killed stays
in it. DVC strikes out a process that is gone, but neither a zombie, which nobody may ever reap in a
container, nor another program that has got the number since; it would wait for them for good.

Half-written files beside the tables: a table is written under a hidden name and then renamed.
"""

import contextlib
import fcntl
import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import psutil
from dvc.utils.serialize import YAMLFileCorruptedError, dump_yaml, load_yaml


@contextmanager
def guarded(root: Path) -> Iterator[None]:
    """Be the only run in this project; mend what a killed one left, and leave nothing to mend.

    A second run waits until the first has ended.
    """
    lock, kept = root / "dvc.lock", root / ".work" / "dvc.lock"
    kept.parent.mkdir(parents=True, exist_ok=True)
    with (kept.parent / "run.lock").open("w") as held:
        _wait_for(held)
        if kept.exists():
            mend(lock, kept)
            strike_out(root / ".dvc" / "tmp" / "rwlock")
            for path in (root / "data" / "tables").rglob(".*"):
                if path.is_file():
                    path.unlink()
        if lock.exists():
            _replace(lock, kept)
        yield
        kept.unlink(missing_ok=True)  # not in a finally: only a run that ended leaves none


def _wait_for(lock: IO[str]) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("another run works in this project; waiting until it has ended", file=sys.stderr)
        fcntl.flock(lock, fcntl.LOCK_EX)


def mend(lock: Path, kept: Path) -> None:
    """Put back what `lock` lacks of the copy `kept`; newer entries of `lock` stay.

    Its last entry may have been cut short without a sign of it, so it is not trusted: the stage is
    looked at again, by the copy's entry or anew.
    """
    old, new = _stages(kept), _stages(lock)
    for last in list(new)[-1:]:
        del new[last]
    whole = {"schema": "2.0", "stages": {**old, **new}}
    mended = lock.with_suffix(".mended")
    dump_yaml(str(mended), whole)
    mended.replace(lock)


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
        return process.status() != psutil.STATUS_ZOMBIE and "dvc" in " ".join(process.cmdline())
    return False


def _stages(path: Path) -> dict[str, Any]:
    """The entries of a lock file, in its order; none if it cannot be read."""
    try:
        content = load_yaml(str(path))
    except (YAMLFileCorruptedError, FileNotFoundError):
        return {}
    stages = content.get("stages") if isinstance(content, dict) else None
    return dict(stages) if isinstance(stages, dict) else {}


def _replace(source: Path, target: Path) -> None:
    temporary = target.with_suffix(".part")
    shutil.copyfile(source, temporary)
    temporary.replace(target)
