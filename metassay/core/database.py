"""SQLite files that several processes write: their schemas, and checks that reject other files.

Write-ahead logging with `synchronous=NORMAL`: a killed process loses no committed data;
a power cut can lose what came after the last `checkpoint`.
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
from typing import Any, Self

from metassay.core.errors import BadInput, refusal

BUSY_SECONDS = 60.0
CACHE_KIB = 65536
_PARAMETERS = 500  # SQLite's oldest limit is 999

# Errors of the machine; all others are errors of the file.
_ELSEWHERE = frozenset(
    {
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_NOLFS,
        sqlite3.SQLITE_AUTH,
    }
)


@dataclass(frozen=True)
class Form:
    """A kind of file: its id, its tables, and the remedy if it is damaged.

    `steps` are SQL migrations, so that an older file is brought up to date; messages
    start with `noun` and end with `remedy`. `sound`: by table, a condition that every
    row satisfies.
    """

    application_id: int
    steps: tuple[str, ...]
    noun: str
    remedy: str
    sound: Mapping[str, str] = field(default_factory=dict)


class Database:
    """A connection for any thread, with one transaction at a time."""

    def __init__(self, path: Path, form: Form) -> None:
        """Open or create the file; BadInput if it is foreign, newer or damaged."""
        self.path = path
        self._form = form
        self._lock = threading.RLock()
        self._depth = 0
        self._open = contextlib.ExitStack()
        with _explain_place(path):
            if path.exists() and not path.is_file():
                what = (
                    "a folder; name a file in it"
                    if path.is_dir()
                    else "no file; name one"
                )
                raise BadInput(f"{path}: {what}")
        with (
            self._open as stack,
            file_lock(path, "opening", fcntl.LOCK_EX),
            _explain_errors(path, form),
        ):
            _inspect(path, form)
            self._connection = sqlite3.connect(
                path,
                timeout=BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            stack.callback(self._connection.close)
            for setting in ("journal_mode = WAL", "synchronous = NORMAL"):
                self._connection.execute(f"PRAGMA {setting}")
            self._connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            with self.transaction() as connection:
                _migrate(connection, form)
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write everything inside or nothing; an inner transaction joins the outer one."""
        with self._lock, _explain_errors(self.path, self._form):
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
        """Return the connection, for statements that only read."""
        with self._lock, _explain_errors(self.path, self._form):
            yield self._connection

    def select(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self.reading() as connection:
            return connection.execute(query, parameters).fetchall()

    def select_where(
        self, query: str, values: Iterable[str], *parameters: object
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query that ends with a column, for these values of the column."""
        remaining = iter(values)
        while batch := list(itertools.islice(remaining, _PARAMETERS)):
            marks = ", ".join("?" * len(batch))
            yield from self.select(f"{query} IN ({marks})", *parameters, *batch)

    def checkpoint(self) -> None:
        """Write everything committed so far safely to the disk."""
        with self.reading() as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        """Write everything to the disk and close the file, which can be copied then."""
        with self._lock, self._open:
            self.checkpoint()


@contextlib.contextmanager
def _explain_place(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        line = (
            refusal(error)
            or f"{path}: {error.strerror}; name a file in a folder of yours"
        )
        raise BadInput(line) from error


@contextlib.contextmanager
def file_lock(path: Path, name: str, how: int) -> Iterator[None]:
    """Hold a lock of this name for the file; BlockingIOError if `how` does not wait.

    `opening`: no other process opens the file, since SQLite does not wait while another
    switches it to WAL.
    """
    with _explain_place(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(f"{path.name}-{name}").open("w")
    with lock:
        fcntl.flock(lock, how)
        yield


@contextlib.contextmanager
def _explain_errors(path: Path, form: Form) -> Iterator[None]:
    try:
        yield
    except sqlite3.ProgrammingError:  # a bug
        raise
    except (
        sqlite3.DatabaseError,
        UnicodeDecodeError,
    ) as error:  # whose message can be damaged
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
    """Return SQLite's message without quoted text, which can be text of a document."""
    message = str(error)
    if isinstance(error, UnicodeDecodeError) or message.startswith(
        "Could not decode to UTF-8"
    ):
        return "a text in it is no UTF-8"
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in message)


def _inspect(path: Path, form: Form) -> None:
    """Check a file without writing to it.

    Only SQLite can open it: on POSIX, closing a file drops the locks of this process's
    connections.
    """
    if not path.exists() or path.stat().st_size == 0:
        return
    address = f"{path.resolve().as_uri()}?mode=ro"
    with contextlib.closing(
        sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)
    ) as connection:
        version = _version(path, form, connection)
        expected = _schema(form.steps[:version])
        names = {name for _, name, _ in _schema(form.steps)}
        objects = {
            row
            for row in _objects(connection)
            if row[1] in names or row[0] == "trigger"
        }
        if objects != expected:
            raise sqlite3.DatabaseError("its tables do not match its form")
        status = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if status != "ok":
            raise sqlite3.DatabaseError(status.splitlines()[-1])
        tables = {name for kind, name, _ in expected if kind == "table"}
        for table in sorted(tables & form.sound.keys()):
            query = (
                f"SELECT count(*) FROM {table} WHERE ({form.sound[table]}) IS NOT TRUE"
            )
            count = connection.execute(query).fetchone()[0]
            if count:
                raise sqlite3.DatabaseError(f"{count} row(s) of {table} are invalid")


def _version(path: Path, form: Form, connection: sqlite3.Connection) -> int:
    """Return a file's schema version; BadInput if it is another program's, or newer."""
    foreign = (
        f"not a {form.noun} of Metassay; it was left as it is: move it away or"
        " name another file"
    )
    try:
        identity = connection.execute("PRAGMA application_id").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorname != "SQLITE_NOTADB":
            raise
        raise BadInput(f"{path}: {foreign} (it is not an SQLite database)") from None
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if identity != form.application_id and (identity or tables):
        raise BadInput(f"{path}: {foreign} (it is another program's database)")
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    newest = len(form.steps)
    if version > newest:
        raise BadInput(
            f"{path}: a {form.noun} of form {version}, this Metassay knows {newest}; it was left as"
            " it is: update Metassay"
        )
    return max(version, 0)


@functools.cache
def _schema(steps: tuple[str, ...]) -> set[tuple[str, str, str]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript("".join(steps))
        return _objects(connection)


def _objects(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    rows = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master")
    return set(rows.fetchall())


def _migrate(connection: sqlite3.Connection, form: Form) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == len(form.steps):
        return
    for statement in "".join(form.steps[version:]).split(";\n"):
        if statement.strip():
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {form.application_id}")
    connection.execute(f"PRAGMA user_version = {len(form.steps)}")
