"""Ask questions in batches: send files with the openai package, and read their outcomes.

A batch is a file of requests, one per line, and later a file of answers and one of
errors, in any order (https://platform.openai.com/docs/guides/batch). Exceptions of the
package can quote the prompt, so none of them leaves this file: failures are
`CallFailed` with short codes.
"""

import asyncio
import fcntl
import json
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, NamedTuple, TypeVar

import httpx2
import numpy as np
import openai

from metassay.core.database import file_lock
from metassay.core.errors import BadInput
from metassay.core.progress import bar
from metassay.llm import http
from metassay.llm.budget import Budget
from metassay.llm.endpoints import Cleared, EndpointOptions, ModelOptions, Secrets
from metassay.llm.http import Outcome, explain_stop
from metassay.llm.ledger import ABANDONED, Batch, Failure, Ledger
from metassay.llm.limits import IN_A_ROW, Policy, retry_after
from metassay.llm.messages import IN_BATCH, ChatRequest, Reply, failure, read_request

NAME = "metassay"  # the key of a batch's metadata that has its name in the ledger
MOST_REQUESTS, MOST_BYTES = 50_000, 200_000_000  # OpenAI's limits of a file
LARGEST_FILE = 2**31  # bytes of answers that are read

_WORD = re.compile(r"[a-z][a-z0-9_]{0,40}")
_CLOCK_SKEW = 3600.0  # seconds by which a server's clock may be behind
_ENDED = ("completed", "failed", "expired", "cancelled")  # all answers have come
_BAD_LINE = Outcome(error="bad_reply", retry=True, billed="perhaps")

Result = TypeVar("Result")


class CallFailed(Exception):  # noqa: N818 - retrying may help
    """A failed call; `outcome` has its code, and whether to retry it."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.code)
        self.outcome = outcome


class State(NamedTuple):
    """The state of a batch at its endpoint, with its id there.

    `lacking`: the outcome of requests without a line in the `files`; `done`: answers so
    far.
    """

    number: str
    status: str
    files: tuple[str, ...]
    lacking: Outcome
    done: int


def line(request: ChatRequest, endpoint: EndpointOptions, limit: str) -> bytes:
    """Return a request as a line of the file; its `custom_id` is the question's key."""
    head = f'{{"custom_id":"{request.key}","method":"POST","url":"/v1/chat/completions","body":'
    return head.encode() + http.request_body(request, endpoint, limit) + b"}\n"


async def _retrieve(client: openai.AsyncOpenAI, number: str) -> State:
    return await _call(client.batches.retrieve(number), _state)


async def find(client: openai.AsyncOpenAI, name: str, since: float) -> str | None:
    """Return the id of the named batch created at `since` (Unix time) or later; None if missing."""
    after: str | openai.Omit = openai.omit
    while True:  # pages start with the latest batch
        page, more = await _call(client.batches.list(limit=100, after=after), _page)
        for number, batch_name, _ in page:
            if batch_name == name:
                return number
        if not (page and more and page[-1][2] > since - _CLOCK_SKEW):
            return None
        after = page[-1][0]


async def outcomes(
    client: openai.AsyncOpenAI,
    state: State,
    requests: Mapping[str, ChatRequest],
    endpoint: EndpointOptions,
    limit: str,
) -> dict[str, Outcome]:
    """Return the outcomes of requests by key; of repeated lines the first answer, or the first."""
    secrets = [client.api_key, *map(str, client.default_headers.values())]
    by_key: dict[str, Outcome] = {}
    for file in state.files:
        content = await _call(
            client.files.content(file), lambda response: response.content
        )
        for line in content.split(b"\n"):
            try:
                # Parsed as floats, integers cannot exceed the limit of digits.
                row = json.loads(
                    line.decode("utf-8-sig", "surrogateescape"), parse_int=float
                )
                request = requests[row["custom_id"]]
            except (ValueError, LookupError, TypeError, RecursionError):
                continue
            sent = http.request_body(request, endpoint, limit)
            outcome = _outcome(row, request, sent, secrets)
            before = by_key.setdefault(request.key, outcome)
            if before.entry is None and outcome.entry is not None:
                by_key[request.key] = outcome
    return by_key


def _outcome(
    row: dict[str, Any], request: ChatRequest, sent: bytes, secrets: list[str]
) -> Outcome:
    response = row.get("response")
    if not isinstance(response, dict):
        error = row.get("error")
        code = _word(error.get("code") if isinstance(error, dict) else None)
        if code in ("batch_expired", "batch_cancelled"):
            return Outcome(error=code, retry=code == "batch_expired")
        return Outcome(error=code or "batch_error", retry=True, billed="perhaps")
    status = response.get("status_code")
    content = response.get("body")
    if status == 200:
        entry = http.read_answer(json.dumps(content).encode(), request, request.key)
        return _BAD_LINE if entry is None else Outcome(entry=entry, billed="yes")
    if not (isinstance(status, float) and 300 <= status < 600):
        return _BAD_LINE
    inner = content.get("error") if isinstance(content, dict) else None
    # The same function interprets the statuses of single requests and of lines.
    single = httpx2.Response(
        int(status), request=httpx2.Request("POST", "http://batch")
    )
    body = inner if isinstance(inner, dict) else content
    error = openai.APIStatusError("", response=single, body=body)
    return http.outcome_of_error(error, request, request.key, sent, secrets)


async def _call(sent: Awaitable[Any], read: Callable[[Any], Result]) -> Result:
    try:
        return read(await sent)
    except openai.APIConnectionError:  # including timeouts
        outcome = Outcome(error="connection", retry=True)
    except openai.APIStatusError as error:
        status = error.status_code
        stop = None
        if status in (401, 402) or error.code in http.NO_QUOTA:
            stop = http.STOPPING.get(status, "the account has no quota left")
        again = not stop and (status in http.RETRIED or status >= 500)
        wait = retry_after(error.response.headers)
        outcome = Outcome(error=f"http_{status}", retry=again, stop=stop, wait=wait)
    except (openai.OpenAIError, ValueError, TypeError, AttributeError):
        outcome = Outcome(error="bad_reply", retry=True)
    raise CallFailed(outcome)


# The package does not validate replies: a missing member raises AttributeError.


def _id(reply: Any) -> str:
    if not re.fullmatch(r"[\w.:-]{1,200}", reply.id, re.ASCII):
        raise ValueError("no id")
    return str(reply.id)


def _page(page: Any) -> tuple[list[tuple[str, str | None, float]], bool]:
    """Return ids, names and creation times of a page's batches, and whether it is not the last."""
    batches = [
        (_id(b), (b.metadata or {}).get(NAME), float(b.created_at)) for b in page.data
    ]
    return batches, bool(page.has_more)


def _state(batch: Any) -> State:
    status = str(batch.status)
    errors = batch.errors
    files = tuple(file for file in (batch.output_file_id, batch.error_file_id) if file)
    lacking = Outcome(error="batch_lacks_it", retry=True, billed="perhaps")
    if status == "failed":  # as a whole, before any question was asked
        codes = [
            code
            for error in (errors and errors.data) or ()
            if (code := _word(error.code))
        ]
        lacking = Outcome(error=f"batch_{codes[0] if codes else status}", retry=True)
    elif status in ("expired", "cancelled"):
        lacking = Outcome(error=f"batch_{status}", retry=status == "expired")
    counts = batch.request_counts
    return State(
        _id(batch), status, files, lacking, int(counts.completed) if counts else 0
    )


def _word(code: object) -> str | None:
    """Return the code of an error if it is a word, since tables and messages show it."""
    return code if isinstance(code, str) and _WORD.fullmatch(code) else None


WHOLE_TRIES = 2  # times that a batch is sent that fails as a whole
_NEVER_SENT = Outcome(error="not_sent")
_UNKNOWN = Outcome(error="batch_unknown", retry=True, billed="perhaps")


@dataclass(eq=False)
class BatchRun:
    """Questions in batches, or to be put into batches, and their replies so far.

    Batches are sent once, polled until they end, collected and booked. A lock lets one
    process send at a time; the next one looks for batches that a dead process may have
    sent. If the endpoint knows no batch of that name, none was created.

    It waits `until` this time of the monotonic clock. `send`: questions outside of
    batches are put into new ones; otherwise they get no reply.
    """

    endpoint: Cleared
    model: ModelOptions
    ledger: Ledger
    budget: Budget
    policy: Policy
    until: float
    requests: Mapping[str, ChatRequest]
    send: bool

    def __post_init__(self) -> None:
        self._url = self.endpoint.options.base_url
        self._generator = np.random.default_rng(self.policy.seed)
        self._replies: dict[str, Reply] = {}
        self._tries: dict[str, int] = {}  # of answers that this run collected
        self._lost = False

    async def run(self, secrets: Secrets) -> dict[str, Reply]:
        """Send, wait and collect; BadInput if the endpoint cannot answer, or takes no batches."""
        code = str(_NEVER_SENT.error)
        options = self.endpoint.options
        async with http.clients(options, secrets, largest=LARGEST_FILE) as clients:
            try:
                title = f"answers of {self.model.model}"
                with bar(title, len(self.requests)) as self._progress:
                    await self._wait_for_all(clients[0])
            except CallFailed as failed:
                code = failed.outcome.code
                if not failed.outcome.retry:
                    raise self._refusal(failed.outcome) from None
        left = self._open()
        batched = self.ledger.batched_keys(left)
        return self._replies | {
            key: failure(key, IN_BATCH if key in batched else code) for key in left
        }

    async def _wait_for_all(self, client: openai.AsyncOpenAI) -> None:
        turn = 0
        while self._open():
            sent = await self._send_all(client)
            if await self._collect_ended(client) or sent:
                turn = 0
            elif (left := self.until - time.monotonic()) <= 0:
                return
            else:
                turn += 1
                await asyncio.sleep(
                    min(self.policy.wait(turn, None, self._generator), left)
                )

    def _open(self) -> list[str]:
        """Take replies from the ledger; return the questions without one."""
        left = [key for key in self.requests if key not in self._replies]
        entries = self.ledger.lookup(left)
        self.budget.note_hits(
            entry for key, entry in entries.items() if key not in self._tries
        )
        self._replies |= {
            k: entry.reply(self._tries.get(k, 0)) for k, entry in entries.items()
        }
        batched = set(left) if self.send else self.ledger.batched_keys(left)
        return [key for key in left if key in batched and key not in entries]

    async def _send_all(self, client: openai.AsyncOpenAI) -> bool:
        """Recover batches of dead processes and send new ones; return whether there were any."""
        left = self._open()
        new = self.send and len(self.ledger.batched_keys(left)) < len(left)
        if not new and not self.ledger.batches_without_id(self._url):
            return False
        with file_lock(self.ledger.path, "batches", fcntl.LOCK_EX):
            unnumbered = self.ledger.batches_without_id(self._url)
            for batch in unnumbered:
                await self._recover(client, batch)
            sent = bool(unnumbered)
            while self.send and (new_batch := self._begin()):
                await self._send(client, *new_batch)
                sent = True
        return sent

    async def _recover(self, client: openai.AsyncOpenAI, batch: Batch) -> None:
        """Find the id of a batch that a dead process may have created, or remove the batch."""
        number = None
        if batch.sent is not None:
            rest = batch.sent + self.policy.longest_wait - time.time()
            await asyncio.sleep(max(rest, 0.0))  # the request may still be under way
            number = await self._retry(partial(find, client, batch.name, batch.sent))
        if number is None:
            self._book(batch.name, {}, _NEVER_SENT)
        else:
            self.ledger.note_sent(batch.name, number)

    def _begin(self) -> tuple[str, bytes] | None:
        """Fill a batch, reserving the most it can cost; return its name and file, None if empty."""
        name = uuid.uuid4().hex
        content = bytearray()
        lines = 0
        with self.ledger.transaction():
            left = self._open()
            elsewhere = self.ledger.batched_keys(left) | self.ledger.claimed_keys(left)
            for key in [key for key in left if key not in elsewhere]:
                request = self.requests[key]
                added = line(request, self.endpoint.options, self.model.limit)
                if lines == MOST_REQUESTS or len(content) + len(added) > MOST_BYTES:
                    break
                attempt = self.budget.reserve(request, key, name)
                if attempt == "wait":
                    break
                if attempt == "over":
                    self._replies[key] = failure(key, "over_budget")
                    continue
                self.ledger.add_line(name, key, attempt, request.canonical)
                content += added
                lines += 1
            if not lines:
                return None
            self.ledger.begin_batch(name, self._url)
        return name, bytes(content)

    async def _send(
        self, client: openai.AsyncOpenAI, name: str, content: bytes
    ) -> None:
        """Upload and create a batch; a failure before its creation leaves no trace."""
        since = time.time()
        calls = count()
        file = ""
        lines = (f"{NAME}-{name}.jsonl", content, "application/jsonl")

        async def create() -> str:  # which costs money
            # A call that failed may have created the batch.
            if next(calls) and (number := await find(client, name, since)):
                return number
            creating = client.batches.create(
                input_file_id=file,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={NAME: name},
            )
            return await _call(creating, _id)

        try:
            file = await self._retry(
                lambda: _call(client.files.create(file=lines, purpose="batch"), _id)
            )
            self.ledger.note_sent(name)
            number = await self._retry(create, self.policy.longest_wait)
        except CallFailed as failed:
            if not (failed.outcome.retry and file):
                self._book(name, {}, _NEVER_SENT)
            if (
                failed.outcome.code not in ("http_400", "http_404")
                or self._lost
                or not file
            ):
                raise
            self._lost = True  # the file, it seems: it is sent once more
            return
        self.ledger.note_sent(name, number)

    async def _collect_ended(self, client: openai.AsyncOpenAI) -> bool:
        """Collect the batches that have ended; return whether there were any."""
        ended = False
        done = 0
        for batch in self.ledger.batches_of(self._open()):
            old = time.time() - batch.started > ABANDONED
            if batch.endpoint == self._url and batch.number is not None:
                try:
                    state = await self._retry(partial(_retrieve, client, batch.number))
                    if state.status not in _ENDED:
                        done += state.done
                        continue
                    await self._collect(client, batch.name, state)
                    ended = True
                    continue
                except CallFailed as failed:
                    if failed.outcome.code != "http_404":
                        raise
                    if not old:
                        raise self._refusal(failed.outcome, batch.number) from None
            if old:
                self._book(batch.name, {}, _UNKNOWN, self.policy.attempts)
                ended = True
        total = len(self.requests)
        self._progress(min(total - len(self._open()) + done, total))
        return ended

    async def _collect(
        self, client: openai.AsyncOpenAI, name: str, state: State
    ) -> None:
        """Book a batch that has ended; BadInput if the endpoint cannot answer."""
        lines = self.ledger.lines_of(name)
        requests = {
            key: request
            for key, _, _, canonical in lines
            if (request := self.requests.get(key) or read_request(canonical, key))
            is not None
        }
        options = (self.endpoint.options, self.model.limit)
        by_key = await self._retry(partial(outcomes, client, state, requests, *options))
        tries = WHOLE_TRIES if state.status == "failed" else self.policy.attempts
        self._book(name, by_key, state.lacking, tries)
        for outcome in by_key.values():
            if outcome.stop:
                raise explain_stop(self.endpoint, self.model, self.ledger, outcome)
        refused = [
            Failure(key, outcome.code, canonical)
            for key, _, _, canonical in lines
            if (outcome := by_key.get(key, state.lacking)).message is not None
        ]
        few = len(lines) < IN_A_ROW and self.ledger.model_answers(self.model.model)[0]
        noted = self.ledger.failures(failure.key for failure in refused)
        are_new = any(noted.get(failure.key) != failure for failure in refused)
        if len(refused) == len(lines) and not few and are_new:
            # if they are refused again, the run goes on
            self.ledger.note_failures(refused)
            raise BadInput(
                f"{self.budget.where}: {self.endpoint} refuses all {len(lines):,} questions of"
                f" batch {state.number}, the first with {refused[0].code}, and says"
                f" {by_key[refused[0].key].message}. Correct the block, or its endpoint's, then run"
                " again"
            )

    def _book(
        self, name: str, by_key: Mapping[str, Outcome], default: Outcome, tries: int = 1
    ) -> None:
        """Store the answers of a batch, book its lines and remove it, in one transaction.

        `default`: the outcome of questions that `by_key` lacks. `tries`: times to send
        a question.
        """
        again = []
        kind = self.endpoint.options.kind
        with self.ledger.transaction():
            for key, attempt, sent, request in self.ledger.lines_of(name):
                outcome = by_key.get(key, default)
                counts: tuple[int | None, int | None] = (None, None)
                if (entry := outcome.entry) is not None:
                    counts = (entry.prompt_tokens, entry.completion_tokens)
                    self.ledger.store(
                        request, entry, model=self.model.model, endpoint_kind=kind
                    )
                    self._tries[key] = sent
                elif self.send and outcome.retry and sent < tries:
                    again.append(key)
                elif self.send and outcome is not _NEVER_SENT and key in self.requests:
                    self._replies[key] = failure(key, outcome.code, attempts=sent)
                self.budget.settle(attempt, outcome.code, outcome.billed, *counts)
            self.ledger.delete_batch(name, again)

    async def _retry(
        self, call: Callable[[], Awaitable[Result]], least: float = 0.0
    ) -> Result:
        """Return a call's result, repeated if it fails, at least `least` seconds later."""
        for attempt in range(1, self.policy.attempts):
            try:
                return await call()
            except CallFailed as failed:
                if not failed.outcome.retry:
                    raise
                wait = self.policy.wait(attempt, failed.outcome.wait, self._generator)
            await asyncio.sleep(max(wait, least))
        return await call()

    def _refusal(self, outcome: Outcome, number: str | None = None) -> BadInput:
        """Explain why no batch can be sent, or why the batch of this number is not known."""
        if outcome.stop:
            return explain_stop(self.endpoint, self.model, self.ledger, outcome)
        problem = f"takes no batch ({outcome.code}); if it supports none, write mode: single here"
        if number is not None:
            hours = f"{ABANDONED / 3600:.0f} hours after it was sent it is asked anew"
            problem = f"does not know batch {number}; set the key that sent it: {hours}"
        return BadInput(
            f"{self.budget.where}: {self.endpoint} {problem}; then run again"
        )
