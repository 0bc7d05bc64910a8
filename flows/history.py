"""Prefect's database in .work/prefect: a list of past runs, which nothing else depends on."""

import contextlib
import sqlite3
from contextlib import closing
from pathlib import Path

# What could not run because something before it failed stays PENDING, and is called NotReady.
_GOES_ON = (
    "state_type NOT IN ('COMPLETED', 'FAILED', 'CRASHED', 'CANCELLED') AND state_name <> 'NotReady'"
)


def database(root: Path) -> Path:
    """Where Prefect keeps it, its home being .work/prefect."""
    return root.resolve() / ".work/prefect/prefect.db"


def of_schedule(root: Path) -> Path:
    """Where the server of `metassay watch schedule` keeps its own."""
    return root.resolve() / ".work/schedule/prefect.db"


def forget(file: Path) -> None:
    """Remove a database that nobody has open."""
    for part in ("", "-wal", "-shm"):
        file.with_name(file.name + part).unlink(missing_ok=True)


def sound(file: Path) -> bool:
    """False if SQLite says that the file is damaged, or no database at all."""
    try:
        with closing(sqlite3.connect(file)) as found:
            return bool(found.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except sqlite3.DatabaseError:
        return False


def set_aside(file: Path) -> Path:
    """Give the file another name, in place of what was set aside before; returns its new path."""
    aside = file.with_name(f"{file.name}.damaged")
    file.replace(aside)
    for part in ("-wal", "-shm"):  # SQLite would take them for the new file's
        file.with_name(file.name + part).unlink(missing_ok=True)
    return aside


def mark_crashed(file: Path) -> None:
    """Mark the flow runs and task runs that a killed run left going on, as Prefect marks a crash.

    For when no server has the file. Prefect's own tables are written since its server would take
    seconds to start; a file with others, or a damaged one, stays as it is.
    """
    if not file.exists():
        return
    with (
        contextlib.suppress(sqlite3.DatabaseError),
        closing(sqlite3.connect(file, timeout=2)) as found,
        found,
    ):
        for kind in ("flow_run", "task_run"):
            left = f"SELECT state_id FROM {kind} WHERE {_GOES_ON}"
            found.execute(
                f"UPDATE {kind}_state SET type = 'CRASHED', name = 'Crashed',"
                f" message = 'The run was killed.' WHERE id IN ({left})"
            )
            found.execute(
                f"UPDATE {kind} SET state_type = 'CRASHED', state_name = 'Crashed' WHERE {_GOES_ON}"
            )
