"""Prefect's database in .work/prefect: a list of past runs, which nothing else depends on."""

import contextlib
import sqlite3
from contextlib import closing
from pathlib import Path

# A run whose needs failed stays PENDING, with the name NotReady.
_GOES_ON = (
    "state_type NOT IN ('COMPLETED', 'FAILED', 'CRASHED', 'CANCELLED')"
    " AND state_name <> 'NotReady'"
)


def database(root: Path) -> Path:
    """Return the file of Prefect's database, whose home is .work/prefect."""
    return root.resolve() / ".work/prefect/prefect.db"


def schedule_database(root: Path) -> Path:
    """Return the file of the database of `metassay watch schedule`."""
    return root.resolve() / ".work/schedule/prefect.db"


def remove(file: Path) -> None:
    """Remove a database that no process has open."""
    for part in ("", "-wal", "-shm"):
        file.with_name(file.name + part).unlink(missing_ok=True)


def is_intact(file: Path) -> bool:
    """Return False if SQLite finds the file damaged, or no database."""
    try:
        with closing(sqlite3.connect(file)) as database:
            return bool(database.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except sqlite3.DatabaseError:
        return False


def set_aside(file: Path) -> Path:
    """Rename a database, over one set aside before; return its new path."""
    aside = file.with_name(f"{file.name}.damaged")
    file.replace(aside)
    remove(file)  # what SQLite would take for the new file's
    return aside


def mark_crashed(file: Path) -> None:
    """Mark the flow runs and task runs that a killed run left unfinished, as Prefect marks a crash.

    Call it while no server has the file. It writes to Prefect's tables since Prefect's
    server takes seconds to start; a file with other tables, or a damaged one, stays as
    it is.
    """
    if not file.exists():
        return
    with (
        contextlib.suppress(sqlite3.DatabaseError),
        closing(sqlite3.connect(file, timeout=2)) as connection,
        connection,
    ):
        for kind in ("flow_run", "task_run"):
            unfinished = f"SELECT state_id FROM {kind} WHERE {_GOES_ON}"
            connection.execute(
                f"UPDATE {kind}_state SET type = 'CRASHED', name = 'Crashed',"
                f" message = 'The run was killed.' WHERE id IN ({unfinished})"
            )
            connection.execute(
                f"UPDATE {kind} SET state_type = 'CRASHED', state_name = 'Crashed' WHERE {_GOES_ON}"
            )
