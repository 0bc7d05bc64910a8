"""The ledger: every answer ever paid for, one row per distinct question.

Only final answers are kept: what the model said, that it declined (refused), or that it was cut
off (truncated). A failure that may pass is never kept as an answer. Several processes may share
the file: who asks a question claims it first, and the others wait for the answer.
"""

import itertools
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from metassay.database import Database, Form
from metassay.llm.messages import Reply

EntryStatus = Literal["ok", "refused", "truncated"]

_FORM_1 = """
CREATE TABLE answers (
  key TEXT PRIMARY KEY, endpoint_kind TEXT NOT NULL, model TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ok', 'refused', 'truncated')), finish_reason TEXT,
  prompt_tokens INTEGER, completion_tokens INTEGER, latency REAL, answered REAL,
  text TEXT, request TEXT NOT NULL
);
CREATE TABLE claims (
  key TEXT PRIMARY KEY, owner TEXT NOT NULL, expires REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE attempts (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, account TEXT NOT NULL, model TEXT NOT NULL,
  owner TEXT NOT NULL, started REAL NOT NULL, outcome TEXT,
  prompt_tokens INTEGER, completion_tokens INTEGER, cost INTEGER NOT NULL
);
CREATE INDEX open_attempts ON attempts (account) WHERE outcome IS NULL;
CREATE TABLE accounts (
  account TEXT PRIMARY KEY, currency TEXT, spent INTEGER NOT NULL DEFAULT 0,
  uncertain INTEGER NOT NULL DEFAULT 0, reserved INTEGER NOT NULL DEFAULT 0,
  saved INTEGER NOT NULL DEFAULT 0, calls INTEGER NOT NULL DEFAULT 0,
  hits INTEGER NOT NULL DEFAULT 0
);
"""
_FORM_2 = """
CREATE TABLE failures (
  key TEXT PRIMARY KEY, code TEXT NOT NULL, request TEXT NOT NULL
);
"""
FORM = Form(
    0x4D544C47,  # "MTLG", so that any tool can tell whose file it is
    (_FORM_1, _FORM_2),
    "ledger",
    "import the tables of responses of your finished runs (`metassay ledger import`)",
)
_END = re.compile(r"^[ \t]*</think>[ \t]*$", re.MULTILINE)
_BATCH = 500  # SQLite's oldest limit on parameters is 999


class Entry(NamedTuple):
    """One final answer, as it came; `text` of a refusal holds its words, if there were any."""

    key: str
    status: EntryStatus
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    text: str | None

    def reply(self, attempts: int = 0) -> Reply:
        """The answer as the asker gets it: a refusal has no text, and thoughts are no answer.

        An answer that ends within its thoughts is truncated, whatever the endpoint says.
        """
        key, status, reason, prompt, completion, text = self
        if status != "refused":
            said = without_thoughts(text or "")
            if said is None:
                status = "truncated"
            return Reply(key, status, said, reason, prompt, completion, attempts)
        error = "content_filter" if reason == "content_filter" else "refusal"
        return Reply(key, status, None, reason, prompt, completion, attempts, error)


def without_thoughts(text: str) -> str | None:
    """What follows the `<think>` block that an answer begins with; None if the block has no end.

    Some models' templates have opened the block already: then it is all before a line that is
    nothing but `</think>`, which no line of sound JSON is. Any other text stays as it is.
    """
    before, end, after = text.partition("</think>")
    if before.lstrip().startswith("<think>"):
        return after.lstrip() if end else None
    alone = _END.search(text) if end else None
    if alone is None or "<think>" in text[: alone.start()]:
        return text
    return text[alone.end() :].lstrip()


class Holding(NamedTuple):
    """What the ledger holds of one model: answers by status, and their tokens."""

    model: str
    status: str
    answers: int
    prompt_tokens: int
    completion_tokens: int


class Stats(NamedTuple):
    """What the ledger holds: answers, how attempts ended (`open`: not yet), size in bytes."""

    holdings: list[Holding]
    attempts: dict[str, int]
    size: int


class Ledger:
    """An open ledger. Usable from any thread; `database` serves the budget, too."""

    def __init__(self, path: Path) -> None:
        """Open or make the file; BadInput, leaving the file alone, if it is not a sound ledger."""
        self.path = path
        self.database = Database(path, FORM)

    def close(self) -> None:
        """Bring everything to the disk and close the file."""
        self.database.checkpoint()
        self.database.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def lookup(self, keys: Iterable[str]) -> dict[str, Entry]:
        """The answers that are there, by key."""
        columns = "key, status, finish_reason, prompt_tokens, completion_tokens, text"
        return {row[0]: Entry._make(row) for row in self.rows(columns, sorted(set(keys)))}

    def claim(self, key: str, owner: str, seconds: float) -> bool:
        """Take a question for `owner` unless it is answered or a living owner has it."""
        now = time.time()
        with self.database.transaction() as connection:
            answered = "SELECT 1 FROM answers WHERE key = ?"
            if connection.execute(answered, (key,)).fetchone():
                return False
            taken = connection.execute(
                "INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE"
                " SET owner = excluded.owner, expires = excluded.expires"
                " WHERE expires <= ? OR owner = excluded.owner",
                (key, owner, now + seconds, now),
            )
            return taken.rowcount == 1

    def claimed(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys that a living owner has claimed."""
        now = time.time()
        found: set[str] = set()
        for batch in _batches(keys):
            with self.database.reading() as connection:
                marks = ", ".join("?" * len(batch))
                query = f"SELECT key FROM claims WHERE expires > ? AND key IN ({marks})"
                found.update(row[0] for row in connection.execute(query, (now, *batch)))
        return found

    def renew(self, owner: str, seconds: float) -> None:
        """Keep the owner's claims for so much longer."""
        with self.database.transaction() as connection:
            change = "UPDATE claims SET expires = ? WHERE owner = ?"
            connection.execute(change, (time.time() + seconds, owner))

    def release(self, owner: str, key: str | None = None) -> None:
        """Give up one claim of the owner, or all of them."""
        with self.database.transaction() as connection:
            if key is None:
                connection.execute("DELETE FROM claims WHERE owner = ?", (owner,))
            else:
                one = "DELETE FROM claims WHERE owner = ? AND key = ?"
                connection.execute(one, (owner, key))

    def store(
        self,
        request: str,
        entry: Entry,
        *,
        model: str,
        endpoint_kind: str,
        latency: float | None = None,
    ) -> Entry:
        """Keep an answer and return it; if there is one already, that one stays and is returned.

        `request` is the canonical JSON of the question, `endpoint_kind` how it was asked.
        """
        row = (
            *(entry.key, endpoint_kind, model, entry.status, entry.finish_reason),
            *(entry.prompt_tokens, entry.completion_tokens, latency, time.time()),
            *(entry.text, request),
        )
        marks = ", ".join("?" * len(row))
        with self.database.transaction() as connection:
            insert = f"INSERT INTO answers VALUES ({marks}) ON CONFLICT (key) DO NOTHING"
            if connection.execute(insert, row).rowcount == 1:
                return entry
            return self.lookup([entry.key])[entry.key]

    def forget(self, key: str) -> None:
        """Drop one answer, to make place for another."""
        with self.database.transaction() as connection:
            connection.execute("DELETE FROM answers WHERE key = ?", (key,))

    def stats(self) -> Stats:
        """Count what is there."""
        with self.database.reading() as connection:
            holdings = connection.execute(
                "SELECT model, status, count(*), coalesce(sum(prompt_tokens), 0),"
                " coalesce(sum(completion_tokens), 0) FROM answers GROUP BY 1, 2 ORDER BY 1, 2"
            ).fetchall()
            attempts = connection.execute(
                "SELECT coalesce(outcome, 'open'), count(*) FROM attempts GROUP BY 1 ORDER BY 1"
            ).fetchall()
        return Stats([Holding(*row) for row in holdings], dict(attempts), self.path.stat().st_size)

    def requests(self, model: str, limit: int) -> list[tuple[str, int, int | None]]:
        """Up to `limit` questions to a model; what its provider counted in them and the answers."""
        with self.database.reading() as connection:
            return connection.execute(
                "SELECT request, prompt_tokens, completion_tokens FROM answers"
                " WHERE model = ? AND prompt_tokens IS NOT NULL ORDER BY key LIMIT ?",
                (model, limit),
            ).fetchall()

    def rows(self, columns: str, keys: Iterable[str] | None) -> Iterator[tuple[Any, ...]]:
        """The named columns of these answers, or of all, in no particular order."""
        if keys is None:
            with self.database.reading() as connection:
                yield from connection.execute(f"SELECT {columns} FROM answers").fetchall()
            return
        for batch in _batches(keys):
            with self.database.reading() as connection:
                marks = ", ".join("?" * len(batch))
                query = f"SELECT {columns} FROM answers WHERE key IN ({marks})"
                found = connection.execute(query, batch).fetchall()
            yield from found


def _batches(keys: Iterable[str]) -> Iterator[list[str]]:
    waiting = iter(keys)
    while batch := list(itertools.islice(waiting, _BATCH)):
        yield batch
