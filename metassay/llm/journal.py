"""The batches that are under way, in the ledger's file: no batch is bought twice.

A batch stands here, with its lines, before any of it is sent; its answers are booked in the
transaction that strikes it off. A line without a batch waits to be sent again.
"""

import datetime
import time
from collections.abc import Iterable
from typing import NamedTuple

from metassay.llm.ledger import Ledger

ABANDONED = 48 * 3600.0  # seconds after which no batch is answered any more: twice the window


class Batch(NamedTuple):
    """A batch: its own name, its endpoint's base_url, when it was begun (Unix time), when its
    creation was asked for, and its id at the endpoint; the last two None until then.
    """

    name: str
    endpoint: str
    started: float
    sent: float | None
    number: str | None


class Line(NamedTuple):
    """A question of a batch: its attempt in the budget, how often it was sent, canonical JSON."""

    key: str
    attempt: int
    tries: int
    request: str


def begin(ledger: Ledger, name: str, endpoint: str) -> None:
    """Note a batch that is about to be sent."""
    with ledger.database.transaction() as connection:
        row = (name, endpoint, time.time())
        connection.execute("INSERT INTO batches VALUES (?, ?, ?, NULL, NULL)", row)


def add(ledger: Ledger, name: str, key: str, attempt: int, request: str) -> None:
    """Note a line of a batch, whose cost is reserved as `attempt`."""
    with ledger.database.transaction() as connection:
        connection.execute(
            "INSERT INTO batch_lines VALUES (?, ?, ?, 1, ?) ON CONFLICT (key) DO UPDATE"
            " SET batch = excluded.batch, attempt = excluded.attempt, tries = tries + 1",
            (key, name, attempt, request),
        )


def note_sent(ledger: Ledger, name: str, number: str | None = None) -> None:
    """Note that a batch's creation is asked for, or the id that it has at the endpoint."""
    with ledger.database.transaction() as connection:
        change = "UPDATE batches SET sent = coalesce(sent, ?), number = ? WHERE name = ?"
        connection.execute(change, (time.time(), number, name))
    ledger.database.checkpoint()  # it holds after a power cut, too


def unnumbered(ledger: Ledger, endpoint: str) -> list[Batch]:
    """Batches at an endpoint that nobody knows to be created: who began them may be dead."""
    query = "SELECT * FROM batches WHERE number IS NULL AND endpoint = ? ORDER BY started"
    return [Batch(*row) for row in ledger.select(query, endpoint)]


def holding(ledger: Ledger, keys: Iterable[str]) -> list[Batch]:
    """The batches that hold any of these questions, the oldest first."""
    query = "SELECT DISTINCT batches.* FROM batches JOIN batch_lines ON name = batch WHERE key"
    found = {Batch(*row) for row in ledger.among(query, keys)}
    return sorted(found, key=lambda batch: batch.started)


def lines(ledger: Ledger, name: str) -> list[Line]:
    """The lines of a batch; none once it was collected."""
    query = "SELECT key, attempt, tries, request FROM batch_lines WHERE batch = ? ORDER BY key"
    return [Line(*row) for row in ledger.select(query, name)]


def strike_off(ledger: Ledger, name: str, again: Iterable[str] = ()) -> None:
    """Forget a batch whose lines are booked; the questions of `again` wait for another one."""
    with ledger.database.transaction() as connection:
        change = "UPDATE batch_lines SET batch = NULL, attempt = NULL WHERE key = ?"
        connection.executemany(change, [(key,) for key in again])
        connection.execute("DELETE FROM batch_lines WHERE batch = ?", (name,))
        connection.execute("DELETE FROM batches WHERE name = ?", (name,))


def in_progress(ledger: Ledger, keys: Iterable[str]) -> str | None:
    """What is said of the batches that hold any of these questions; None if none does."""
    if not (found := holding(ledger, keys)):
        return None
    count = sum(len(lines(ledger, batch.name)) for batch in found)
    since = datetime.datetime.fromtimestamp(found[0].started, datetime.UTC)
    which, them = f"batch {found[0].number or found[0].name} of {count:,} requests is", "it"
    if len(found) > 1:
        which, them = f"{len(found)} batches of {count:,} requests in all are", "them"
    begun = f"in progress since {since:%Y-%m-%d %H:%M} UTC"
    return f"{which} {begun}; `metassay run NAME` collects {them}"
