"""The store of outputs of models on this machine: one row per distinct input.

It is a file next to the ledger, with the same guarantees. Each batch is committed when it is
computed, so that a killed process loses only its current batch. Several processes can share the
file. It has outputs (scores, small vectors, generated texts) under hashes, never an input.
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

STORE = Path(".work/models.sqlite")  # not an output of DVC, which would delete it

FORM = Form(
    0x4D544D4F,  # "MTMO", to identify the file
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
    """An open store, usable from any thread."""

    def __init__(self, path: Path = STORE) -> None:
        """Open or create the file; BadInput, without changes, if it is foreign or damaged."""
        self.path = path
        self._database = Database(path, FORM)

    def close(self) -> None:
        """Write everything to the disk and close the file."""
        self._database.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def lookup(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the stored outputs by key; deletes damaged ones."""
        outputs: dict[str, Any] = {}
        damaged: list[tuple[str]] = []
        for batch in batches(sorted(set(keys))):
            marks = ", ".join("?" * len(batch))
            query = f"SELECT key, CAST(value AS BLOB) FROM outputs WHERE key IN ({marks})"
            with self._database.reading() as connection:
                rows = connection.execute(query, batch).fetchall()
            for key, value in rows:
                try:
                    outputs[key] = json.loads(value)
                except (ValueError, RecursionError):
                    damaged.append((key,))
        if damaged:
            log.warning("%s: %d damaged outputs are computed again", self.path, len(damaged))
            with self._database.transaction() as connection:
                connection.executemany("DELETE FROM outputs WHERE key = ?", damaged)
        return outputs

    def keep(self, outputs: Mapping[str, Any], *, model: str, task: str) -> dict[str, Any]:
        """Store outputs (any JSON but NaN) by key, all or none, and return what the store has.

        An existing output stays, and is returned instead of the new one.
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
    """Claims on outputs that this process computes, so that no other process does.

    A claim locks a byte of a file next to the store, at a place computed from the output's key. The
    system releases it when the process ends in any way, and wakes waiting processes. Threads of a
    process do not exclude each other: they can compute outputs twice, and the store keeps the
    first.
    """

    def __init__(self, store: Path) -> None:
        """Open the file of claims; BadInput if it cannot be created next to the store."""
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
        """Claim the keys that no other process has, and return them."""
        return [key for key in keys if self._take(key)]

    def drop(self) -> None:
        """Release all claims."""
        fcntl.lockf(self._file, fcntl.LOCK_UN)

    def wait(self, key: str) -> None:
        """Wait until no other process has the key; drop all claims first."""
        fcntl.lockf(self._file, fcntl.LOCK_EX, 1, _place(key))
        self.drop()

    def _take(self, key: str) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(key))
        except (BlockingIOError, PermissionError):  # POSIX allows both
            return False
        return True


def _place(key: str) -> int:
    return int(key[:15], 16)
