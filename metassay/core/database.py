"""SQLite files that several processes write: their form, and refusing any file of another one.

Write-ahead logging with `synchronous=NORMAL`: a killed process loses nothing that was committed; a
power cut can lose what came after the last `checkpoint`.
"""

import contextlib
import fcntl
import functools
import itertools
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from metassay.core.errors import BadInput, refusal

BUSY_SECONDS = 60.0
CACHE_KIB = 65536
_PARAMETERS = 500  # SQLite's oldest limit is 999

# Errors that say something of the machine; all others say that the file is not what it should be.
_ELSEWHERE = frozenset({
    *(sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM),
    *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_IOERR),
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL),
    *(sqlite3.SQLITE_NOLFS, sqlite3.SQLITE_AUTH),
})  # fmt: skip


@dataclass(frozen=True)
class Form:
    """What a file of one kind is: how it is told from others, its tables, what to do if damaged.

    `steps` are SQL, each adding to the one before, so that an older file is brought up to date;
    `noun` and `remedy` lead and end the messages. `sound` has a condition by table that holds of
    every row.
    """

    application_id: int
    steps: tuple[str, ...]
    noun: str
    remedy: str
    sound: Mapping[str, str] = field(default_factory=dict)


class Database:
    """One connection, usable from any thread, its transactions one at a time."""

    def __init__(self, path: Path, form: Form) -> None:
        """Open the file, or make it; BadInput if it is foreign, newer or damaged."""
        self.path = path
        self._form = form
        self._lock = threading.RLock()
        self._depth = 0
        self._open = contextlib.ExitStack()
        _check_place(path)
        with self._open as opened, locked(path, "opening", fcntl.LOCK_EX), _explained(path, form):
            _inspect(path, form)
            self._connection = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            opened.callback(self._connection.close)
            for setting in ("journal_mode = WAL", "synchronous = NORMAL"):
                self._connection.execute(f"PRAGMA {setting}")
            self._connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            with self.transaction() as connection:
                _bring_up(connection, form)
            self._open = opened.pop_all()

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
        """Bring everything to the disk and close the file; it can be copied then."""
        with self._lock, self._open:
            self.checkpoint()


def batches(keys: Iterable[str]) -> Iterator[list[str]]:
    """Keys in as many lists as it takes until each has room among one statement's parameters."""
    waiting = iter(keys)
    while batch := list(itertools.islice(waiting, _PARAMETERS)):
        yield batch


def _check_place(path: Path) -> None:
    try:
        if path.exists() and not path.is_file():
            what = "a folder; name a file in it" if path.is_dir() else "no file; name one"
            raise BadInput(f"{path}: {what}")
    except OSError as error:
        raise _nowhere(path, error) from error


def _nowhere(path: Path, error: OSError) -> BadInput:
    error.filename = str(path)
    said = refusal(error)
    return BadInput(said or f"{path}: {error.strerror}; name a file in a folder of yours")


@contextlib.contextmanager
def locked(path: Path, name: str, how: int) -> Iterator[None]:
    """Hold a lock of this name beside the file; BlockingIOError if it must not be waited for.

    `opening`: nobody else opens the file meanwhile, since SQLite does not wait while another turns
    it to WAL.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(f"{path.name}-{name}").open("w")
    except OSError as error:
        raise _nowhere(path, error) from error
    with lock:
        fcntl.flock(lock, how)
        yield


@contextlib.contextmanager
def _explained(path: Path, form: Form) -> Iterator[None]:
    try:
        yield
    except sqlite3.ProgrammingError:  # ours
        raise
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # whose own words may be damaged
        if (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _ELSEWHERE:
            raise BadInput(
                f"{path}: {error}; make sure that the disk has room, that the file and its folder"
                " are writable and on a local disk, and that no other program holds the file"
            ) from error
        raise BadInput(
            f"{path}: a damaged {form.noun} ({_words(error)}); it was left as it is: move it away,"
            f" then {form.remedy}"
        ) from None


def _words(error: Exception) -> str:
    """What SQLite says, without the text that it quotes: nobody knows whose it is."""
    said = str(error)
    if isinstance(error, UnicodeDecodeError) or said.startswith("Could not decode to UTF-8"):
        return "a text in it is no UTF-8"
    return "".join(one if one.isascii() and one.isprintable() else "?" for one in said)


def _inspect(path: Path, form: Form) -> None:
    """Judge a file without writing to it.

    Only SQLite may open it: on POSIX, closing a file drops the locks of this process's connections.
    """
    if not path.exists() or path.stat().st_size == 0:
        return
    address = f"{path.resolve().as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as connection:
        known = _version(path, form, connection)
        wanted = _made(form.steps[:known])
        named = {name for _, name, _ in _made(form.steps)}
        found = {one for one in _objects(connection) if one[1] in named or one[0] == "trigger"}
        if found != wanted:
            raise sqlite3.DatabaseError("its tables are not those of its form")
        checked = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if checked != "ok":
            raise sqlite3.DatabaseError(checked.splitlines()[-1])
        tables = {name for kind, name, _ in wanted if kind == "table"}
        for table in sorted(tables & form.sound.keys()):
            query = f"SELECT count(*) FROM {table} WHERE ({form.sound[table]}) IS NOT TRUE"
            count = connection.execute(query).fetchone()[0]
            if count:
                raise sqlite3.DatabaseError(f"{count} row(s) of {table} cannot be")


def _version(path: Path, form: Form, connection: sqlite3.Connection) -> int:
    """The form that a file says it has; BadInput if it is another program's, or newer."""
    foreign = (
        f"not a {form.noun} of Metassay; it was left as it is: move it away or name another file"
    )
    try:
        identity = connection.execute("PRAGMA application_id").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorname != "SQLITE_NOTADB":
            raise
        raise BadInput(f"{path}: {foreign} (it is no SQLite database)") from None
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if identity != form.application_id and (identity or tables):
        raise BadInput(f"{path}: {foreign} (it is another program's database)")
    known: int = connection.execute("PRAGMA user_version").fetchone()[0]
    newest = len(form.steps)
    if known > newest:
        raise BadInput(
            f"{path}: a {form.noun} of form {known}, this Metassay knows {newest}; it was left as"
            " it is: update Metassay"
        )
    return max(known, 0)


@functools.cache
def _made(steps: tuple[str, ...]) -> set[tuple[str, str, str]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript("".join(steps))
        return _objects(connection)


def _objects(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    rows = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master")
    return set(rows.fetchall())


def _bring_up(connection: sqlite3.Connection, form: Form) -> None:
    known = connection.execute("PRAGMA user_version").fetchone()[0]
    if known == len(form.steps):
        return
    for statement in "".join(form.steps[known:]).split(";\n"):
        if statement.strip():
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {form.application_id}")
    connection.execute(f"PRAGMA user_version = {len(form.steps)}")
