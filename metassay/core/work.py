"""Keeps `.work` and DVC's cache for the project's owner, on a machine that others use, too.

`.work` has prompts and answers of language models, and what DVC keeps there and unpickles: whoever
may write there has the owner run what he likes. DVC itself would let everybody.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WORK = Path(".work")
_ALONE = 0o700
OTHERS = 0o077  # the rights of all but the owner; as a umask, it leaves them none
DVC_REMEDY = (
    "make room on the disk, and be sure that .work/dvc may be written to; or delete that folder,"
    " where DVC keeps what it can find out again"
)
_UNPICKLED = ("dvc", "dvc/repo")
_SHARED = re.compile(r"^\s*shared\s*=", re.MULTILINE)  # in DVC's config: its owner shares it


def own(root: Path) -> None:
    """Make these folders, or take them from all others; what others put there for DVC goes.

    Folders of another owner, and on a disk that cannot be written to, stay as they are.
    """
    work = root / WORK
    opened = [_close(work), *(_close(work / one) for one in _UNPICKLED)]
    if any(opened):
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
        _SHARED.search(file.read_text("utf-8", "replace")) for file in configs if file.is_file()
    )
    if cache.parent.is_dir() and not cache.is_symlink() and not shared:
        _close(cache)


@contextmanager
def owner_alone() -> Iterator[None]:
    """What this process makes meanwhile is its user's alone; for where one thread works."""
    before = os.umask(OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def close(folder: Path) -> None:
    """Take a folder that is there from all but its owner; what it lies in is there afterwards."""
    folder.parent.mkdir(parents=True, exist_ok=True)  # as the umask says, for others lie there too
    if folder.is_dir():
        _close(folder)


def _close(folder: Path) -> bool:
    """Whether others might do something there until now."""
    with contextlib.suppress(OSError):
        folder.mkdir(_ALONE, exist_ok=True)
        found = folder.stat()
        if found.st_uid == os.getuid() and found.st_mode & OTHERS:
            folder.chmod(_ALONE)
            return True
    return False
