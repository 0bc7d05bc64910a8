"""The store of what models on this machine computed: one row per distinct input.

It is a file beside the ledger and keeps the same promises. Each batch is committed as it is
computed, so a killed process loses the batch in hand and nothing else. Several processes may share
the file. It holds outputs (scores, small vectors, written texts) under hashes, never an input.
"""

import fcntl
import json
import logging
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from metassay.core.database import Database, Form, batches
from metassay.core.errors import BadInput

STORE = Path(".work/models.sqlite")  # no out of DVC, which would delete it

FORM = Form(
    0x4D544D4F,  # "MTMO", so that any tool can tell whose file it is
    (
        """
CREATE TABLE outputs (
  key TEXT PRIMARY KEY, model TEXT NOT NULL, task TEXT NOT NULL, value TEXT NOT NULL,
  computed REAL NOT NULL
);
""",
    ),
    "store of model outputs",
    "run again: its content is computed again",
)

log = logging.getLogger("metassay.models")


class Store:
    """An open store. Usable from any thread."""

    def __init__(self, path: Path = STORE) -> None:
        """Open or make the file; BadInput, leaving it alone, if it is another program's.

        A damaged file makes place for a new one, and is kept beside it until the next one is.
        """
        self.path = path
        self._database = Database(path, FORM)

    def close(self) -> None:
        """Bring everything to the disk and close the file."""
        self._database.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def lookup(self, keys: Iterable[str]) -> dict[str, Any]:
        """The outputs that are there, by key. Drops those that are damaged."""
        found: dict[str, Any] = {}
        damaged: list[tuple[str]] = []
        for batch in batches(sorted(set(keys))):
            marks = ", ".join("?" * len(batch))
            query = f"SELECT key, CAST(value AS BLOB) FROM outputs WHERE key IN ({marks})"
            with self._database.reading() as connection:
                rows = connection.execute(query, batch).fetchall()
            for key, value in rows:
                try:
                    found[key] = json.loads(value)
                except (ValueError, RecursionError):
                    damaged.append((key,))
        if damaged:
            log.warning("%s: %d damaged outputs are computed again", self.path, len(damaged))
            with self._database.transaction() as connection:
                connection.executemany("DELETE FROM outputs WHERE key = ?", damaged)
        return found

    def computed_since(self, moment: float) -> list[tuple[str, int]]:
        """Each model that has computed outputs since (seconds of the epoch), and how many."""
        with self._database.reading() as connection:
            query = "SELECT model, count(*) FROM outputs WHERE computed >= ? GROUP BY 1 ORDER BY 1"
            return connection.execute(query, (moment,)).fetchall()

    def keep(self, outputs: Mapping[str, Any], *, model: str, task: str) -> dict[str, Any]:
        """Keep outputs (any JSON but NaN) by key, all or none, and return what the store now has.

        An output that is there already stays, and is returned instead of the new one.
        """
        now = time.time()
        rows = [
            (key, model, task, json.dumps(value, allow_nan=False), now)
            for key, value in outputs.items()
        ]
        with self._database.transaction() as connection:
            insert = "INSERT INTO outputs VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING"
            connection.executemany(insert, rows)
            return self.lookup(outputs)


class Claims:
    """Claims on outputs that this process is about to compute, so that no other does meanwhile.

    A claim is the lock of one byte of a file beside the store, at a place that the output's key
    says. The system lets go of it when the process ends, however it ends, and wakes who waits.
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
