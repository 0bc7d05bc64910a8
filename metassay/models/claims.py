"""Claims on outputs that a process is about to compute, so that no other computes them meanwhile.

A claim is the lock of one byte of a file beside the store, at a place that the output's key says.
The system lets go of it when the process ends, however it ends, and wakes who waits for it.
"""

import fcntl
from collections.abc import Iterable
from pathlib import Path

from metassay.core.errors import BadInput


class Claims:
    """The claims of this process on outputs of one store.

    Threads of one process do not keep each other out: they compute some outputs twice, of which the
    store keeps the first.
    """

    def __init__(self, store: Path) -> None:
        """Raises BadInput if no file can be made beside the store."""
        path = store.with_name(f"{store.name}-claims")
        try:
            self._file = path.open("wb")
        except OSError as error:
            raise BadInput(f"{path}: {error.strerror}; make the folder writable") from None

    def __enter__(self) -> "Claims":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def take(self, keys: Iterable[str]) -> list[str]:
        """Claim those of the keys that no other process has."""
        return [key for key in keys if self._take(key)]

    def drop(self) -> None:
        """Let go of all that were taken."""
        fcntl.lockf(self._file, fcntl.LOCK_UN)

    def wait(self, key: str) -> None:
        """Return when no other process has the key; claims must have been dropped before."""
        fcntl.lockf(self._file, fcntl.LOCK_EX, 1, _place(key))
        self.drop()

    def _take(self, key: str) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(key))
        except (BlockingIOError, PermissionError):  # POSIX leaves a system the choice
            return False
        return True


def _place(key: str) -> int:
    return int(key[:15], 16)
