"""Restrict `.work` and DVC's cache to the project's owner, also on a shared machine.

`.work` has prompts and answers of language models, and files that DVC unpickles: who
can write there can make the owner run any code. DVC itself lets everybody.
"""

import contextlib
import fcntl
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WORK = Path(".work")
_ALONE = 0o700
OTHERS = 0o077  # permissions of others; as a umask, it removes them
DVC_REMEDY = (
    "make room on the disk, and be sure that .work/dvc may be written to; or delete that folder,"
    " where DVC keeps what it can find out again"
)
_UNPICKLED = ("dvc", "dvc/repo")
# in DVC's config: shared by its owner
_SHARED = re.compile(r"^\s*shared\s*=", re.MULTILINE)


def restrict_work(root: Path) -> None:
    """Create these folders or remove others' permissions, and delete others' files for DVC.

    Folders of another owner, or on a read-only disk, do not change.
    """
    work = root / WORK
    was_open = [_close(work), *(_close(work / folder) for folder in _UNPICKLED)]
    if any(was_open):
        for path in sorted((work / "dvc").rglob("*")):
            if not os.path.lexists(path) or path.lstat().st_uid == os.getuid():
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
    cache = root / ".dvc/cache"
    configs = (root / ".dvc" / name for name in ("config", "config.local"))
    shared = any(
        _SHARED.search(f.read_text("utf-8", "replace")) for f in configs if f.is_file()
    )
    if cache.parent.is_dir() and not cache.is_symlink() and not shared:
        _close(cache)


@contextmanager
def owner_alone() -> Iterator[None]:
    """Create files for this user only; for processes with a single thread."""
    before = os.umask(OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def close(folder: Path) -> None:
    """Remove others' permissions of a folder, if it exists; create its parent folder."""
    folder.parent.mkdir(parents=True, exist_ok=True)  # with the umask's permissions
    if folder.is_dir():
        _close(folder)


def _close(folder: Path) -> bool:
    """Remove others' permissions; return whether they had any."""
    with contextlib.suppress(OSError):
        folder.mkdir(_ALONE, exist_ok=True)
        status = folder.stat()
        if status.st_uid == os.getuid() and status.st_mode & OTHERS:
            folder.chmod(_ALONE)
            return True
    return False


@contextmanager
def lock_file(file: Path, busy: str = "") -> Iterator[int]:
    """Keep other processes from locking a file; yield its descriptor, which shares the lock.

    Waits while another process has it, after printing `busy`. A killed process releases
    it.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if busy:
                print(
                    f"{busy}; waiting until it has ended", file=sys.stderr, flush=True
                )
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()
