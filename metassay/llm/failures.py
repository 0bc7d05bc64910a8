"""Questions that were given up on: no answers, but part of what a run came to.

A run that can ask asks them again. One that cannot takes them for what they were, so that somebody
without a key repeats a finished run to the byte.
"""

import os
import socket
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from metassay.database import batches
from metassay.llm.egress import variables
from metassay.llm.endpoints import EndpointOptions
from metassay.llm.ledger import Ledger

REACH_SECONDS = 2.0


class Failure(NamedTuple):
    """A question without an answer: why (`http_500`, `timeout`) and its canonical JSON."""

    key: str
    code: str
    request: str


def note(ledger: Ledger, failures: Iterable[Failure]) -> None:
    """Keep them, each in the place of what was known of the same question."""
    with ledger.database.transaction() as connection:
        connection.executemany("INSERT OR REPLACE INTO failures VALUES (?, ?, ?)", failures)


def noted(ledger: Ledger, keys: Iterable[str] | None = None) -> dict[str, Failure]:
    """Those of these questions, or of all, by key; a question that was answered since is none."""
    unanswered = "SELECT * FROM failures WHERE key NOT IN (SELECT key FROM answers)"
    found: list[Failure] = []
    with ledger.database.reading() as connection:
        if keys is None:
            found += map(Failure._make, connection.execute(unanswered).fetchall())
        for batch in batches(sorted(set(keys or ()))):
            query = f"{unanswered} AND key IN ({', '.join('?' * len(batch))})"
            found += map(Failure._make, connection.execute(query, batch).fetchall())
    return {failure.key: failure for failure in found}


def can_ask(endpoint: EndpointOptions) -> bool:
    """Whether an endpoint could be asked now: its keys are set, or it wants none and is there."""
    names = variables(endpoint)
    if names:
        return all(os.environ.get(name, "").strip() for name in names.values())
    address = urlsplit(endpoint.proxy or endpoint.base_url)
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        socket.create_connection((address.hostname or "", port), timeout=REACH_SECONDS).close()
    except OSError:
        return False
    return True
