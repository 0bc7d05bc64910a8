"""SQLite files that several processes write: their form, and refusing any file of another one.

Write-ahead logging with `synchronous=NORMAL`: a killed process loses nothing that was committed; a
power cut can lose what came after the last `checkpoint`.
"""

import contextlib
import fcntl
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metassay.errors import BadInput

BUSY_SECONDS = 60.0
CACHE_KIB = 65536


@dataclass(frozen=True)
class Form:
    """What a file of one kind is: how it is told from others, its tables, what to do if damaged.

    `steps` are SQL, each adding to the one before, so that an older file is brought up to date;
    `noun` and `remedy` lead and end the messages.
    """

    application_id: int
    steps: tuple[str, ...]
    noun: str
    remedy: str


class Database:
    """One connection, usable from any thread, its transactions one at a time."""

    def __init__(self, path: Path, form: Form) -> None:
        """Open the file, or make it; BadInput if it is foreign, newer or damaged."""
        self.path = path
        self._form = form
        self._lock = threading.RLock()
        self._depth = 0
        if path.is_dir():
            raise BadInput(f"{path}: a folder; name a file in it")
        with _alone(path), _explained(path, form):
            if path.exists() and path.stat().st_size > 0:
                _inspect(path, form)
            self._connection = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            with self.transaction() as connection:
                _bring_up(connection, form)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Everything inside is written or nothing is; an inner transaction joins the outer."""
        with self._lock, _explained(self.path, self._form):
            if self._depth == 0:
                self._connection.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield self._connection
                if self._depth == 1:
                    self._connection.execute("COMMIT")
            except BaseException:
                if self._depth == 1 and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                self._depth -= 1

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, for statements that only read."""
        with self._lock, _explained(self.path, self._form):
            yield self._connection

    def checkpoint(self) -> None:
        """Bring everything committed so far safely to the disk."""
        with self.reading() as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        """Close the file; it can be copied then."""
        with self._lock:
            self._connection.close()


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Nobody else opens the file meanwhile: SQLite does not wait while another turns it to WAL."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(f"{path.name}-opening").open("w")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; name a file in a folder of yours") from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _explained(path: Path, form: Form) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise BadInput(
            f"{path}: {error}; make sure that the disk has room, that the folder is writable and on"
            " a local disk, and that no other program holds the file"
        ) from None
    except sqlite3.DatabaseError as error:
        raise BadInput(
            f"{path}: a damaged {form.noun} ({error}); it was left as it is: move it away, then"
            f" {form.remedy}"
        ) from None


def _inspect(path: Path, form: Form) -> None:
    """Judge a file without writing to it.

    Only SQLite may open it: on POSIX, closing a file drops the locks that any other connection of
    this process holds on it, and then another process believes itself alone and drops the log.
    """
    foreign = (
        f"not a {form.noun} of Metassay; it was left as it is: move it away or name another file"
    )
    address = f"{path.resolve().as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as connection:

        def read(pragma: str) -> Any:
            return connection.execute(f"PRAGMA {pragma}").fetchone()[0]

        try:
            identity = read("application_id")
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorname != "SQLITE_NOTADB":
                raise
            raise BadInput(f"{path}: {foreign} (it is no SQLite database)") from None
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if identity != form.application_id and (identity or tables):
            raise BadInput(f"{path}: {foreign} (it is another program's database)")
        newest = len(form.steps)
        if read("user_version") > newest:
            raise BadInput(
                f"{path}: a {form.noun} of form {read('user_version')}, this Metassay knows"
                f" {newest}; it was left as it is: update Metassay"
            )
        found = read("quick_check(1)")
        if found != "ok":
            raise sqlite3.DatabaseError(found.splitlines()[-1])


def _bring_up(connection: sqlite3.Connection, form: Form) -> None:
    known = connection.execute("PRAGMA user_version").fetchone()[0]
    if known == len(form.steps):
        return
    for statement in "".join(form.steps[known:]).split(";\n"):
        if statement.strip():
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {form.application_id}")
    connection.execute(f"PRAGMA user_version = {len(form.steps)}")
