"""The ledger: every answer ever paid for, one row per distinct question.

Only final answers are kept: what the model said, that it declined (refused), or that it was cut
off (truncated). A failure that may pass is never kept as an answer. Several processes may share
the file: who asks a question claims it first, and the others wait for the answer.
"""

import datetime
import sqlite3
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from metassay.core.database import Database, Form, batches
from metassay.llm.answers import without_thoughts
from metassay.llm.messages import ChatRequest, Reply, belongs, logprobs_from_json, read_request

EntryStatus = Literal["ok", "refused", "truncated"]
UNREADABLE = "unreadable"  # finish_reason of an answer that is not text, kept as ASCII

_SQL = Path(__file__).with_name("ledger.sql").read_text("utf-8")
_FORMS = tuple(form.partition("\n")[2] for form in _SQL.split("-- form ")[1:])
_ANSWERS = "answers LEFT JOIN logprobs USING (key)"

_COUNT = "(typeof({0}) IN ('integer', 'null') AND coalesce({0} >= 0, 1))"
_SOUND = {
    "answers": (
        "typeof(key) = 'text' AND typeof(model) = 'text' AND typeof(request) = 'text'"
        " AND typeof(status) = 'text' AND status IN ('ok', 'refused', 'truncated')"
        " AND typeof(finish_reason) IN ('text', 'null') AND typeof(text) IN ('text', 'null')"
        f" AND {_COUNT.format('prompt_tokens')} AND {_COUNT.format('completion_tokens')}"
    ),
    "claims": "typeof(key) = 'text' AND typeof(owner) = 'text' AND typeof(expires) = 'real'",
    "attempts": (
        "typeof(key) = 'text' AND typeof(account) = 'text' AND typeof(owner) = 'text'"
        " AND typeof(outcome) IN ('text', 'null') AND typeof(cost) = 'integer' AND cost >= 0"
    ),
    "accounts": (
        "typeof(account) = 'text' AND coalesce(currency, 'USD') GLOB '[A-Z][A-Z][A-Z]' AND "
        + " AND ".join(
            f"typeof({name}) = 'integer' AND {name} >= 0"
            for name in ("spent", "uncertain", "reserved", "saved", "calls", "hits")
        )
    ),
    "failures": "typeof(key) = 'text' AND typeof(code) = 'text' AND typeof(request) = 'text'",
    "logprobs": "typeof(key) = 'text' AND typeof(logprobs) = 'text'",
    "tried": "typeof(block) = 'text'",
    "batches": (
        "typeof(name) = 'text' AND typeof(endpoint) = 'text' AND typeof(started) = 'real'"
        " AND typeof(sent) IN ('real', 'null') AND typeof(number) IN ('text', 'null')"
    ),
    "batch_lines": (
        "typeof(key) = 'text' AND typeof(batch) IN ('text', 'null') AND typeof(request) = 'text'"
        " AND typeof(attempt) IN ('integer', 'null') AND typeof(tries) = 'integer'"
    ),
}
FORM = Form(
    0x4D544C47,  # "MTLG", so that any tool can tell whose file it is
    _FORMS,
    "ledger",
    "import the tables of responses of your finished runs (`metassay ledger import`)",
    _SOUND,
)

# Claims go by the clock that all processes share and nobody can set. It begins anew when the
# machine does: what claims to end later than this is from before.
LONGEST_LEASE = 60.0
LIVING = "expires > ? AND expires <= ?"  # with what `alive` returns


def alive() -> tuple[float, float]:
    """Between which two moments the claim of a living owner ends."""
    now = time.monotonic()
    return now, now + LONGEST_LEASE


class Entry(NamedTuple):
    """One final answer, as it came, with its tokens' log-probabilities (`logprobs_to_json`)."""

    key: str
    status: EntryStatus
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    text: str | None
    logprobs: str | None = None

    def reply(self, attempts: int = 0) -> Reply:
        """The answer as the asker gets it: a refusal has no text, and thoughts are no answer.

        An answer that ends within its thoughts is truncated, one that is not text is none.
        """
        error = text = tokens = None
        status = self.status
        if status == "refused":
            error = "content_filter" if self.finish_reason == "content_filter" else "refusal"
        elif self.finish_reason != UNREADABLE:
            text = without_thoughts(self.text or "")
            if text is None:
                status = "truncated"
            elif self.logprobs is not None:
                tokens = logprobs_from_json(self.logprobs)
        counts = (self.prompt_tokens, self.completion_tokens)
        return Reply(self.key, status, text, self.finish_reason, *counts, attempts, error, tokens)


class Failure(NamedTuple):
    """A question that was given up on: why (`http_500`, `timeout`) and its canonical JSON."""

    key: str
    code: str
    request: str


class Ledger:
    """An open ledger. Usable from any thread; `database` serves the budget, too."""

    def __init__(self, path: Path) -> None:
        """Open or make the file; BadInput, leaving the file alone, if it is not a sound ledger."""
        self.path = path
        self.database = Database(path, FORM)

    def close(self) -> None:
        """Bring everything to the disk and close the file."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def lookup(self, keys: Iterable[str]) -> dict[str, Entry]:
        """The answers that are there, by key."""
        columns = ", ".join(Entry._fields)
        return {row[0]: Entry._make(row) for row in self.rows(columns, sorted(set(keys)))}

    def claim(self, key: str, owner: str, seconds: float) -> bool:
        """Take a question for `owner`, LONGEST_LEASE at most, unless it is answered or taken."""
        with self.database.transaction() as connection:
            answered = "SELECT 1 FROM answers WHERE key = ?"
            if connection.execute(answered, (key,)).fetchone() or self.in_batches([key]):
                return False
            taken = connection.execute(
                "INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE"
                " SET owner = excluded.owner, expires = excluded.expires"
                f" WHERE NOT ({LIVING}) OR owner = excluded.owner",
                (key, owner, time.monotonic() + min(seconds, LONGEST_LEASE), *alive()),
            )
            return taken.rowcount == 1

    def claimed(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys that a living owner has claimed."""
        query = f"SELECT key FROM claims WHERE {LIVING} AND key"
        return {row[0] for row in self.among(query, keys, *alive())}

    def in_batches(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys that a batch holds whose answers are not collected yet."""
        query = "SELECT key FROM batch_lines WHERE batch IS NOT NULL AND key"
        return {row[0] for row in self.among(query, keys)}

    def renew(self, owner: str, seconds: float) -> None:
        """Keep the owner's claims for so much longer."""
        with self.database.transaction() as connection:
            change = "UPDATE claims SET expires = ? WHERE owner = ?"
            connection.execute(change, (time.monotonic() + min(seconds, LONGEST_LEASE), owner))

    def release(self, owner: str, key: str | None = None) -> None:
        """Give up one claim of the owner, or all of them."""
        with self.database.transaction() as connection:
            delete = "DELETE FROM claims WHERE owner = ? AND key = coalesce(?, key)"
            connection.execute(delete, (owner, key))

    def store(
        self,
        request: str,
        entry: Entry,
        *,
        model: str,
        endpoint_kind: str,
        latency: float | None = None,
    ) -> Entry:
        """Keep an answer to a canonical `request`; the one that is there stays, and is returned."""
        row = (
            *(entry.key, endpoint_kind, model, entry.status, entry.finish_reason),
            *(entry.prompt_tokens, entry.completion_tokens, latency, time.time()),
            *(entry.text, request),
        )
        marks = ", ".join("?" * len(row))
        with self.database.transaction() as connection:
            insert = f"INSERT INTO answers VALUES ({marks}) ON CONFLICT (key) DO NOTHING"
            if connection.execute(insert, row).rowcount == 1:
                if entry.logprobs is not None:
                    more = "INSERT OR REPLACE INTO logprobs VALUES (?, ?)"
                    connection.execute(more, (entry.key, entry.logprobs))
                return entry
            return self.lookup([entry.key])[entry.key]

    def note_failures(self, failures: Iterable[Failure]) -> None:
        """Keep them, each in the place of what was known of the same question."""
        with self.database.transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO failures VALUES (?, ?, ?)", failures)

    def failures(self, keys: Iterable[str] | None = None) -> dict[str, Failure]:
        """Those of these questions, or of all, by key; a question that was answered since is none.

        A run that can ask asks them again; another one repeats a finished run to the byte.
        """
        query = "SELECT * FROM failures WHERE key NOT IN (SELECT key FROM answers)"
        if keys is None:
            rows = iter(self.select(query))
        else:
            rows = self.among(f"{query} AND key", sorted(set(keys)))
        return {row[0]: Failure._make(row) for row in rows}

    def tried(self, blocks: Iterable[str]) -> set[str]:
        """Those of the blocks (module `client`) that ever had an answer."""
        return {row[0] for row in self.among("SELECT block FROM tried WHERE block", blocks)}

    def note_tried(self, block: str) -> None:
        """Keep that a block had an answer."""
        with self.database.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO tried VALUES (?)", (block,))

    def forget(self, key: str) -> None:
        """Drop one answer, to make place for another."""
        with self.database.transaction() as connection:
            for table in ("answers", "logprobs"):
                connection.execute(f"DELETE FROM {table} WHERE key = ?", (key,))

    def holdings(self) -> list[tuple[str, str, int, int, int]]:
        """By model and status: answers, and the tokens that were read and written."""
        query = (
            "SELECT model, status, count(*), coalesce(sum(prompt_tokens), 0),"
            " coalesce(sum(completion_tokens), 0) FROM answers GROUP BY 1, 2 ORDER BY 1, 2"
        )
        return self.select(query)

    def attempts(self) -> dict[str, int]:
        """How many attempts ended how (`open`: not yet)."""
        query = "SELECT coalesce(outcome, 'open'), count(*) FROM attempts GROUP BY 1 ORDER BY 1"
        return dict(self.select(query))

    def model_answers(self, model: str) -> tuple[int, datetime.date | None]:
        """How often a model (its provider's identifier) answered; the last day, where known."""
        query = "SELECT count(*), max(answered) FROM answers WHERE model = ?"
        ((answers, last),) = self.select(query, model)
        day = None if last is None else datetime.datetime.fromtimestamp(last, datetime.UTC).date()
        return answers, day

    def requests(self, model: str, limit: int) -> list[tuple[ChatRequest, int, int | None]]:
        """Up to `limit` questions to a model, with the tokens that its provider counted."""
        query = (
            "SELECT key, request, prompt_tokens, completion_tokens FROM answers"
            " WHERE model = ? AND prompt_tokens > 0 ORDER BY key LIMIT ?"  # 0: nobody counted
        )
        rows = self.select(query, model, limit)
        self.check_questions(row[:2] for row in rows)
        read = [(read_request(request, key), *counts) for key, request, *counts in rows]
        return [(request, *counts) for request, *counts in read if request is not None]

    def check_questions(self, rows: Iterable[tuple[str, str]]) -> None:
        """BadInput if a question of the ledger (its key, its canonical JSON) was changed."""
        with self.database.reading():
            for key, request in rows:
                if not belongs(request, key):
                    raise sqlite3.DatabaseError(f"the request of {key} is not its own")

    def rows(self, columns: str, keys: Iterable[str] | None) -> Iterator[tuple[Any, ...]]:
        """The named columns of these answers, or of all, in no particular order."""
        query = f"SELECT {columns} FROM {_ANSWERS}"
        if keys is None:
            return iter(self.select(query))
        return self.among(f"{query} WHERE key", keys)

    def select(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with self.database.reading() as connection:
            return connection.execute(query, parameters).fetchall()

    def among(
        self, query: str, names: Iterable[str], *parameters: object
    ) -> Iterator[tuple[Any, ...]]:
        """Rows of a query that ends with the column of these names."""
        for batch in batches(names):
            marks = ", ".join("?" * len(batch))
            yield from self.select(f"{query} IN ({marks})", *parameters, *batch)
