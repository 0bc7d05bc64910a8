"""The ledger: every answer ever paid for, one row per distinct question.

It stores final answers only: text, refusals, and truncated answers. A failure that may
pass is never stored as an answer. Several processes may share the file: a process
claims a question before it asks, and the others wait for the answer.
"""

import datetime
import hashlib
import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd

from metassay.core.database import Database, Form
from metassay.core.errors import BadInput, raise_problems
from metassay.llm.messages import ChatRequest, Reply, logprobs_from_json, read_request
from metassay.llm.thoughts import remove_thoughts
from metassay.tables.parquet import read, write
from metassay.tables.responses import RESPONSES

EntryStatus = Literal["ok", "refused", "truncated"]
# finish_reason of an answer that is not text, stored as ASCII
UNREADABLE = "unreadable"

_SQL = Path(__file__).with_name("ledger.sql").read_text("utf-8")
_FORMS = tuple(form.partition("\n")[2] for form in _SQL.split("-- form ")[1:])
_ANSWERS = "answers LEFT JOIN logprobs USING (key)"

_AMOUNTS = ("spent", "uncertain", "reserved", "saved", "calls", "hits")


def _typed(columns: str) -> str:
    """Return an SQL condition that columns have types: `key:text finish_reason:text|null`."""
    pairs = (column.split(":") for column in columns.split())
    return " AND ".join(f"instr('{types}', typeof({name}))" for name, types in pairs)


_COUNTS = "prompt_tokens:integer|null completion_tokens:integer|null"
_VALID = {
    "answers": (
        _typed("key:text model:text request:text status:text finish_reason:text|null")
        + f" AND {_typed(f'text:text|null {_COUNTS}')} AND coalesce(prompt_tokens >= 0, 1)"
        " AND coalesce(completion_tokens >= 0, 1) AND status IN ('ok', 'refused', 'truncated')"
    ),
    "claims": _typed("key:text owner:text expires:real"),
    "attempts": f"{_typed('key:text account:text owner:text outcome:text|null cost:integer')}"
    " AND cost >= 0",
    "accounts": _typed(
        f"account:text {' '.join(f'{name}:integer' for name in _AMOUNTS)}"
    )
    + f" AND min({', '.join(_AMOUNTS)}) >= 0"
    " AND coalesce(currency, 'USD') GLOB '[A-Z][A-Z][A-Z]'",
    "failures": _typed("key:text code:text request:text"),
    "logprobs": _typed("key:text logprobs:text"),
    "tried": _typed("block:text"),
    "batches": _typed(
        "name:text endpoint:text started:real sent:real|null number:text|null"
    ),
    "batch_lines": _typed(
        "key:text batch:text|null request:text attempt:integer|null tries:integer"
    ),
}
FORM = Form(
    0x4D544C47,  # "MTLG", so that any tool can tell whose file it is
    _FORMS,
    "ledger",
    "import the tables of responses of your finished runs (`metassay ledger import`)",
    _VALID,
)

ABANDONED = 48 * 3600.0  # seconds after which batches are given up: twice their window

# Claims use the monotonic clock, which all processes share. It restarts with the
# machine: a claim that ends later than this from now is from before the restart.
LONGEST_LEASE = 60.0
LIVING = "expires > ? AND expires <= ?"  # with the values of `lease_bounds`


def lease_bounds() -> tuple[float, float]:
    """Return the two times between which the claims of living owners end."""
    now = time.monotonic()
    return now, now + LONGEST_LEASE


class Entry(NamedTuple):
    """One final answer, unchanged, with its tokens' log-probabilities (`logprobs_to_json`)."""

    key: str
    status: EntryStatus
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    text: str | None
    logprobs: str | None = None

    def reply(self, attempts: int = 0) -> Reply:
        """Return the answer without thoughts; a refusal has no text, nor has an unreadable answer.

        An answer that ends within its thoughts is truncated.
        """
        error = text = tokens = None
        status = self.status
        if status == "refused":
            error = (
                "content_filter"
                if self.finish_reason == "content_filter"
                else "refusal"
            )
        elif self.finish_reason != UNREADABLE:
            text = remove_thoughts(self.text or "")
            if text is None:
                status = "truncated"
            elif self.logprobs is not None:
                tokens = logprobs_from_json(self.logprobs)
        counts = (self.prompt_tokens, self.completion_tokens)
        return Reply(
            self.key, status, text, self.finish_reason, *counts, attempts, error, tokens
        )


class Failure(NamedTuple):
    """A question without an answer: the reason (`http_500`, `timeout`) and its canonical JSON."""

    key: str
    code: str
    request: str


class Batch(NamedTuple):
    """A batch: its name, its endpoint's base_url, the Unix times of its start and of
    the request to create it, and its id at the endpoint; the last two are None until
    then.
    """

    name: str
    endpoint: str
    started: float
    sent: float | None
    number: str | None


class Line(NamedTuple):
    """A question of a batch: its attempt in the budget, times sent, and canonical JSON."""

    key: str
    attempt: int
    tries: int
    request: str


class Ledger(Database):
    """An open ledger, usable from any thread, also for the accounts of module `budget`."""

    def __init__(self, path: Path) -> None:
        """Open or create the file; BadInput, without changing it, if it is not a valid ledger."""
        super().__init__(path, FORM)

    def write(self, statement: str, *values: object) -> None:
        """Execute a statement."""
        with self.transaction() as connection:
            connection.execute(statement, values)

    def lookup(self, keys: Iterable[str]) -> dict[str, Entry]:
        """Return the stored answers, by key."""
        query = f"SELECT {', '.join(Entry._fields)} FROM {_ANSWERS} WHERE key"
        return {
            row[0]: Entry._make(row)
            for row in self.select_where(query, sorted(set(keys)))
        }

    def claim(self, key: str, owner: str, seconds: float) -> bool:
        """Claim a question for `owner`, LONGEST_LEASE at most, unless it is answered or claimed."""
        with self.transaction() as connection:
            answered = "SELECT 1 FROM answers WHERE key = ?"
            if connection.execute(answered, (key,)).fetchone() or self.batched_keys(
                [key]
            ):
                return False
            claim = connection.execute(
                "INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE"
                " SET owner = excluded.owner, expires = excluded.expires"
                f" WHERE NOT ({LIVING}) OR owner = excluded.owner",
                (
                    key,
                    owner,
                    time.monotonic() + min(seconds, LONGEST_LEASE),
                    *lease_bounds(),
                ),
            )
            return claim.rowcount == 1

    def claimed_keys(self, keys: Iterable[str]) -> set[str]:
        """Return the keys that living owners have claimed."""
        query = f"SELECT key FROM claims WHERE {LIVING} AND key"
        return {row[0] for row in self.select_where(query, keys, *lease_bounds())}

    def batched_keys(self, keys: Iterable[str]) -> set[str]:
        """Return the keys in batches whose answers are not collected yet."""
        query = "SELECT key FROM batch_lines WHERE batch IS NOT NULL AND key"
        return {row[0] for row in self.select_where(query, keys)}

    def renew(self, owner: str, seconds: float) -> None:
        """Extend the owner's claims by so many seconds."""
        expires = time.monotonic() + min(seconds, LONGEST_LEASE)
        self.write("UPDATE claims SET expires = ? WHERE owner = ?", expires, owner)

    def release(self, owner: str, key: str | None = None) -> None:
        """Release one claim of the owner, or all claims."""
        self.write(
            "DELETE FROM claims WHERE owner = ? AND key = coalesce(?, key)", owner, key
        )

    def store(
        self,
        request: str,
        entry: Entry,
        *,
        model: str,
        endpoint_kind: str,
        latency: float | None = None,
    ) -> Entry:
        """Store an answer to a canonical `request`, unless there is one already; return that."""
        row = (
            entry.key,
            endpoint_kind,
            model,
            entry.status,
            entry.finish_reason,
            entry.prompt_tokens,
            entry.completion_tokens,
            latency,
            time.time(),
            entry.text,
            request,
        )
        with self.transaction():
            if before := self.lookup([entry.key]):
                return before[entry.key]
            self.write(
                f"INSERT INTO answers VALUES ({', '.join('?' * len(row))})", *row
            )
            if entry.logprobs is not None:
                more = "INSERT OR REPLACE INTO logprobs VALUES (?, ?)"
                self.write(more, entry.key, entry.logprobs)
            return entry

    def note_failures(self, failures: Iterable[Failure]) -> None:
        """Store failures; they replace earlier ones of the same questions."""
        with self.transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO failures VALUES (?, ?, ?)", failures
            )

    def failures(self, keys: Iterable[str] | None = None) -> dict[str, Failure]:
        """Return the failures of these questions, or of all, by key, unless answered since.

        A run that can ask asks them again; any other repeats a finished run to the
        byte.
        """
        query = "SELECT * FROM failures WHERE key NOT IN (SELECT key FROM answers)"
        if keys is None:
            return {row[0]: Failure._make(row) for row in self.select(query)}
        rows = self.select_where(f"{query} AND key", sorted(set(keys)))
        return {row[0]: Failure._make(row) for row in rows}

    def tried_blocks(self, blocks: Iterable[str]) -> set[str]:
        """Return the blocks (module `client`) that ever had an answer."""
        return {
            row[0]
            for row in self.select_where("SELECT block FROM tried WHERE block", blocks)
        }

    def note_tried(self, block: str) -> None:
        """Note that a block had an answer."""
        self.write("INSERT OR IGNORE INTO tried VALUES (?)", block)

    def forget(self, key: str) -> None:
        """Delete an answer, so that another can be stored."""
        for table in ("answers", "logprobs"):
            self.write(f"DELETE FROM {table} WHERE key = ?", key)

    def holdings(self) -> list[tuple[str, str, int, int, int]]:
        """Return model, status, and the numbers of answers, tokens read and tokens written."""
        query = (
            "SELECT model, status, count(*), coalesce(sum(prompt_tokens), 0),"
            " coalesce(sum(completion_tokens), 0) FROM answers GROUP BY 1, 2 ORDER BY 1, 2"
        )
        return self.select(query)

    def attempts(self) -> dict[str, int]:
        """Count attempts by outcome (`open`: under way)."""
        query = "SELECT coalesce(outcome, 'open'), count(*) FROM attempts GROUP BY 1 ORDER BY 1"
        return dict(self.select(query))

    def model_answers(self, model: str) -> tuple[int, datetime.date | None]:
        """Return the number of answers of a model (provider's identifier), and the last day."""
        query = "SELECT count(*), max(answered) FROM answers WHERE model = ?"
        ((answers, last),) = self.select(query, model)
        day = (
            None
            if last is None
            else datetime.datetime.fromtimestamp(last, datetime.UTC).date()
        )
        return answers, day

    def requests(
        self, model: str, limit: int
    ) -> list[tuple[ChatRequest, int, int | None]]:
        """Return up to `limit` questions to a model, with the provider's counts of tokens."""
        query = (
            "SELECT key, request, prompt_tokens, completion_tokens FROM answers"
            # 0: not counted
            " WHERE model = ? AND prompt_tokens > 0 ORDER BY key LIMIT ?"
        )
        rows = self.select(query, model, limit)
        self.check_questions(row[:2] for row in rows)
        read = [(read_request(request, key), *counts) for key, request, *counts in rows]
        return [(request, *counts) for request, *counts in read if request is not None]

    def check_questions(self, rows: Iterable[tuple[str, str]]) -> None:
        """Raise BadInput if a question (key and canonical JSON) was changed."""
        with self.reading():
            for key, request in rows:
                if hashlib.sha256(request.encode()).hexdigest() != key:
                    raise sqlite3.DatabaseError(f"the request of {key} is not its own")

    def begin_batch(self, name: str, endpoint: str) -> None:
        """Note a batch before it is sent."""
        row = (name, endpoint, time.time())
        self.write("INSERT INTO batches VALUES (?, ?, ?, NULL, NULL)", *row)

    def add_line(self, name: str, key: str, attempt: int, request: str) -> None:
        """Note a line of a batch; `attempt` has its reserved cost."""
        self.write(
            "INSERT INTO batch_lines VALUES (?, ?, ?, 1, ?) ON CONFLICT (key) DO UPDATE"
            " SET batch = excluded.batch, attempt = excluded.attempt, tries = tries + 1",
            key,
            name,
            attempt,
            request,
        )

    def note_sent(self, name: str, number: str | None = None) -> None:
        """Note the request to create a batch, or its id at the endpoint."""
        change = (
            "UPDATE batches SET sent = coalesce(sent, ?), number = ? WHERE name = ?"
        )
        self.write(change, time.time(), number, name)
        self.checkpoint()  # so that it survives a power cut

    def batches_without_id(self, endpoint: str) -> list[Batch]:
        """Return batches without an id, whose process may have died, at an endpoint."""
        query = "SELECT * FROM batches WHERE number IS NULL AND endpoint = ? ORDER BY started"
        return [Batch(*row) for row in self.select(query, endpoint)]

    def batches_of(self, keys: Iterable[str]) -> list[Batch]:
        """Return the batches with any of these questions, the oldest first."""
        query = "SELECT DISTINCT batches.* FROM batches JOIN batch_lines ON name = batch WHERE key"
        distinct = {Batch(*row) for row in self.select_where(query, keys)}
        return sorted(distinct, key=lambda batch: batch.started)

    def lines_of(self, name: str) -> list[Line]:
        """Return the lines of a batch; none after it was collected."""
        query = "SELECT key, attempt, tries, request FROM batch_lines WHERE batch = ? ORDER BY key"
        return [Line(*row) for row in self.select(query, name)]

    def delete_batch(self, name: str, again: Iterable[str] = ()) -> None:
        """Delete a batch whose lines are booked; questions of `again` wait for another batch."""
        with self.transaction() as connection:
            change = "UPDATE batch_lines SET batch = NULL, attempt = NULL WHERE key = ?"
            connection.executemany(change, [(key,) for key in again])
            connection.execute("DELETE FROM batch_lines WHERE batch = ?", (name,))
            connection.execute("DELETE FROM batches WHERE name = ?", (name,))

    def describe_open_batches(self, keys: Iterable[str]) -> str | None:
        """Describe the batches with any of these questions; None if there is none."""
        if not (open_ := self.batches_of(keys)):
            return None
        count = sum(len(self.lines_of(batch.name)) for batch in open_)
        since = datetime.datetime.fromtimestamp(open_[0].started, datetime.UTC)
        subject = f"batch {open_[0].number or open_[0].name} of {count:,} requests is"
        them = "it"
        if len(open_) > 1:
            subject = f"{len(open_)} batches of {count:,} requests in all are"
            them = "them"
        state = f"in progress since {since:%Y-%m-%d %H:%M} UTC"
        return f"{subject} {state}; `metassay run NAME` collects {them}"


_CODE = re.compile(r"[a-z][a-z0-9_]{0,63}")
_MOST_TOKENS = 10**10  # of one answer, so that sums stay within 64 bits
_BATCH = 1000  # rows per transaction, so that other processes wait only briefly


class Imported(NamedTuple):
    """Counts of an import: rows read, added, and stored before with the same or another answer."""

    rows: int
    added: int
    same: int
    different: int


def responses(
    ledger: Ledger,
    keys: Iterable[str] | None = None,
    failures: Iterable[Failure] | None = None,
) -> pd.DataFrame:
    """Return the table `responses` of these questions, or of all questions in the ledger.

    `failures` default to those of the ledger. Raises BadInput if a key has neither an
    answer nor a failure, or if a request was changed.
    """
    keys = None if keys is None else set(keys)
    failed = ledger.failures(keys) if failures is None else {f.key: f for f in failures}
    expected = None if keys is None else keys - failed.keys()
    query = f"SELECT {', '.join(RESPONSES.columns)} FROM {_ANSWERS}"
    where = f"{query} WHERE key"
    rows = (
        ledger.select(query)
        if expected is None
        else [*ledger.select_where(where, expected)]
    )
    if expected is not None and len(rows) < len(expected):
        first = min(expected - {row[0] for row in rows})
        raise BadInput(
            f"{ledger.path}: {len(expected) - len(rows)} of {len(expected)} answers are not in the"
            f" ledger, the first is {first}; ask for them before exporting"
        )
    nothing = (None,) * (len(RESPONSES.columns) - 4)
    rows += [(f.key, f.request, "error", f.code, *nothing) for f in failed.values()]
    ledger.check_questions((row[0], row[1]) for row in rows)
    frame = pd.DataFrame(rows, columns=list(RESPONSES.columns), dtype=object)
    return frame.astype({"prompt_tokens": "Int64", "completion_tokens": "Int64"})


def export(ledger: Ledger, path: Path) -> int:
    """Write the table `responses`, with the same bytes for the same answers; return its length."""
    frame = responses(ledger)
    write(RESPONSES, frame, path)
    return len(frame)


def import_(
    ledger: Ledger, paths: Iterable[Path], *, replace: bool = False
) -> Imported:
    """Add the answers of tables `responses`; BadInput, adding nothing, if a table was changed.

    Stored answers stay, unless `replace`. A failure never replaces an answer.
    """
    files = list(paths)
    for path in files:  # all are checked before the first is imported
        _read(path)
    # one in memory
    counts = (_import(ledger, _read(path), replace=replace) for path in files)
    return Imported(*map(sum, zip((0, 0, 0, 0), *counts, strict=True)))


def _read(path: Path) -> list[dict[Any, Any]]:
    rows = read(RESPONSES, path).to_dict("records")
    counts = ("prompt_tokens", "completion_tokens")
    checks: dict[str, Callable[[dict[Any, Any]], bool]] = {
        "requests do not belong to their key": lambda row: (
            read_request(row["request"], row["key"]) is not None
        ),
        "answers have numbers of tokens that cannot be": lambda row: all(
            pd.isna(row[name]) or 0 <= row[name] <= _MOST_TOKENS for name in counts
        ),
        "answers have log-probabilities that cannot be read": lambda row: (
            pd.isna(row["logprobs"]) or logprobs_from_json(row["logprobs"]) is not None
        ),
    }
    problems = []
    for text, holds in checks.items():
        keys = [row["key"] for row in rows if not holds(row)]
        if keys:
            problems.append(
                f"{path}: {len(keys)} {text}, the first is {keys[0]}; the file was changed:"
                " take it from its source again"
            )
    raise_problems(problems)
    return rows


def _import(ledger: Ledger, rows: list[dict[Any, Any]], *, replace: bool) -> Imported:
    stored = ledger.lookup(row["key"] for row in rows)
    failed = ledger.failures(row["key"] for row in rows if row["status"] == "error")
    counts = {"added": 0, "same": 0, "different": 0}
    for start in range(0, len(rows), _BATCH):
        with ledger.transaction():
            for row in rows[start : start + _BATCH]:
                new = _read_row(row)
                before = (
                    stored.get(new.key)
                    if isinstance(new, Entry)
                    else failed.get(new.key)
                )
                if before is None:
                    kind = "added"
                else:
                    kind = "same" if before == new else "different"
                if isinstance(new, Failure) and new.key in stored:
                    kind = "same"
                elif isinstance(new, Failure):
                    if kind == "added" or (replace and kind == "different"):
                        ledger.note_failures([new])
                else:
                    if kind == "different" and replace:
                        ledger.forget(new.key)
                    model = str(json.loads(row["request"])["model"])
                    ledger.store(
                        row["request"], new, model=model, endpoint_kind="imported"
                    )
                counts[kind] += 1
    return Imported(len(rows), **counts)


def _read_row(row: dict[Any, Any]) -> Entry | Failure:
    plain: dict[str, Any] = {
        n: None if pd.isna(row[n]) else row[n] for n in Entry._fields
    }
    if row["status"] == "error":
        code = str(plain["finish_reason"])
        return Failure(
            row["key"], code if _CODE.fullmatch(code) else "unknown", row["request"]
        )
    for name in ("prompt_tokens", "completion_tokens"):
        plain[name] = None if plain[name] is None else int(plain[name])
    return Entry(**plain)
