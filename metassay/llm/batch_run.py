"""Batches over the wire: what the openai package makes of them, and what came of each line.

A batch is a file of requests, one a line, and later a file of answers and one of errors, in any
order (https://platform.openai.com/docs/guides/batch). As in `http`, no exception of the package
leaves this file, for it can quote a prompt: what failed is `Trouble`, with a short code.
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

from metassay.core.database import locked
from metassay.core.errors import BadInput
from metassay.core.progress import bar
from metassay.llm import http
from metassay.llm.budget import Budget
from metassay.llm.endpoints import Cleared, EndpointOptions, ModelOptions, Secrets
from metassay.llm.http import Outcome, dead_end
from metassay.llm.ledger import ABANDONED, Batch, Failure, Ledger
from metassay.llm.limits import IN_A_ROW, Policy, retry_after
from metassay.llm.messages import IN_BATCH, ChatRequest, Reply, failure, read_request

NAME = "metassay"  # the key of a batch's metadata under which its name in the ledger stands
MOST_REQUESTS, MOST_BYTES = 50_000, 200_000_000  # of one file; what OpenAI takes
LARGEST_FILE = 2**31  # bytes of answers that are read

_WORD = re.compile(r"[a-z][a-z0-9_]{0,40}")
_CLOCKS = 3600.0  # seconds by which a server's clock may be behind ours
_BAD_LINE = Outcome(error="bad_reply", again=True, billed="perhaps")

Said = TypeVar("Said")


class Trouble(Exception):  # noqa: N818 - it may pass
    """A call that came to nothing: `outcome` says by its code whether it may another time."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.code)
        self.outcome = outcome


class State(NamedTuple):
    """A batch as its endpoint tells of it, by its id there.

    `lacking` is what came of a request of which no line of the `files` tells; `done`: how many are
    answered so far.
    """

    number: str
    status: str
    files: tuple[str, ...]
    lacking: Outcome
    done: int

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.status in ("completed", "failed", "expired", "cancelled")


def line(request: ChatRequest, endpoint: EndpointOptions, limit: str) -> bytes:
    """One request as a line of the file; its `custom_id` is the key of the question."""
    head = f'{{"custom_id":"{request.key}","method":"POST","url":"/v1/chat/completions","body":'
    return head.encode() + http.body(request, endpoint, limit) + b"}\n"


async def upload(client: openai.AsyncOpenAI, name: str, content: bytes) -> str:
    """Upload a file of lines; returns its id."""
    file = (f"{NAME}-{name}.jsonl", content, "application/jsonl")
    return await _call(client.files.create(file=file, purpose="batch"), _id)


async def create(client: openai.AsyncOpenAI, file: str, name: str) -> str:
    """Have an uploaded file answered: from here on it costs money. Returns the batch's id."""
    creating = client.batches.create(
        input_file_id=file,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={NAME: name},
    )
    return await _call(creating, _id)


async def retrieve(client: openai.AsyncOpenAI, number: str) -> State:
    """How a batch stands."""
    return await _call(client.batches.retrieve(number), _state)


async def find(client: openai.AsyncOpenAI, name: str, since: float) -> str | None:
    """The id of the batch of this name, created at `since` (Unix time) or later; None: no such."""
    after: str | openai.Omit = openai.omit
    while True:  # the latest come first
        page, more = await _call(client.batches.list(limit=100, after=after), _page)
        for number, named, _ in page:
            if named == name:
                return number
        if not (page and more and page[-1][2] > since - _CLOCKS):
            return None
        after = page[-1][0]


async def outcomes(
    client: openai.AsyncOpenAI,
    state: State,
    requests: Mapping[str, ChatRequest],
    endpoint: EndpointOptions,
    limit: str,
) -> dict[str, Outcome]:
    """What came of these requests by key: of several lines of one, the first, answers first."""
    secrets = [client.api_key, *map(str, client.default_headers.values())]
    found: dict[str, Outcome] = {}
    for file in state.files:
        content = await _call(client.files.content(file), lambda response: response.content)
        for line in content.split(b"\n"):
            try:
                # As floats, numbers never have too many digits.
                said = json.loads(line.decode("utf-8-sig", "surrogateescape"), parse_int=float)
                request = requests[said["custom_id"]]
            except (ValueError, LookupError, TypeError, RecursionError):
                continue
            sent = http.body(request, endpoint, limit)
            outcome = _outcome(said, request, sent, secrets)
            known = found.setdefault(request.key, outcome)
            if known.entry is None and outcome.entry is not None:
                found[request.key] = outcome
    return found


def _outcome(
    said: dict[str, Any], request: ChatRequest, sent: bytes, secrets: list[str]
) -> Outcome:
    response = said.get("response")
    if not isinstance(response, dict):
        error = said.get("error")
        code = _word(error.get("code") if isinstance(error, dict) else None)
        if code in ("batch_expired", "batch_cancelled"):
            return Outcome(error=code, again=code == "batch_expired")
        return Outcome(error=code or "batch_error", again=True, billed="perhaps")
    status, content = response.get("status_code"), response.get("body")
    if status == 200:
        entry = http.answer(json.dumps(content).encode(), request, request.key)
        return _BAD_LINE if entry is None else Outcome(entry=entry, billed="yes")
    if not (isinstance(status, float) and 300 <= status < 600):
        return _BAD_LINE
    inner = content.get("error") if isinstance(content, dict) else None
    # As if it had been asked alone: what a failed status means is said in one place.
    back = httpx2.Response(int(status), request=httpx2.Request("POST", "http://batch"))
    known = inner if isinstance(inner, dict) else content
    error = openai.APIStatusError("", response=back, body=known)
    return http.failed(error, request, request.key, sent, secrets)


async def _call(sent: Awaitable[Any], read: Callable[[Any], Said]) -> Said:
    try:
        return read(await sent)
    except openai.APIConnectionError:  # among them timeouts
        outcome = Outcome(error="connection", again=True)
    except openai.APIStatusError as error:
        status, stop = error.status_code, None
        if status in (401, 402) or error.code in http.NO_QUOTA:
            stop = http.STOPPING.get(status, "the account has no quota left")
        again = not stop and (status in http.RETRIED or status >= 500)
        wait = retry_after(error.response.headers)
        outcome = Outcome(error=f"http_{status}", again=again, stop=stop, wait=wait)
    except (openai.OpenAIError, ValueError, TypeError, AttributeError):
        outcome = Outcome(error="bad_reply", again=True)
    raise Trouble(outcome)


# What the package makes of a reply is not checked: what it lacks is an AttributeError.


def _id(said: Any) -> str:
    if not re.fullmatch(r"[\w.:-]{1,200}", said.id, re.ASCII):
        raise ValueError("no id")
    return str(said.id)


def _page(page: Any) -> tuple[list[tuple[str, str | None, float]], bool]:
    """Ids, names and times of creation of the batches on a page; whether there are more pages."""
    batches = [
        (_id(one), (one.metadata or {}).get(NAME), float(one.created_at)) for one in page.data
    ]
    return batches, bool(page.has_more)


def _state(batch: Any) -> State:
    status, errors = str(batch.status), batch.errors
    files = tuple(file for file in (batch.output_file_id, batch.error_file_id) if file)
    lacking = Outcome(error="batch_lacks_it", again=True, billed="perhaps")
    if status == "failed":  # as a whole, before any was asked
        codes = [code for error in (errors and errors.data) or () if (code := _word(error.code))]
        lacking = Outcome(error=f"batch_{codes[0] if codes else status}", again=True)
    elif status in ("expired", "cancelled"):
        lacking = Outcome(error=f"batch_{status}", again=status == "expired")
    counts = batch.request_counts
    return State(_id(batch), status, files, lacking, int(counts.completed) if counts else 0)


def _word(code: object) -> str | None:
    """The code of an error, if it is one: it goes into tables and messages."""
    return code if isinstance(code, str) and _WORD.fullmatch(code) else None


# What is asked by batches: sent once, looked at until they end, collected and booked.
# At most one process sends at a time, by a lock of the system: whoever has it next looks for what a
# dead one may have sent. Where the endpoint knows no batch of that name, none was made.


WHOLE_TRIES = 2  # of a batch that fails as a whole
_NEVER_SENT = Outcome(error="not_sent")
_UNKNOWN = Outcome(error="batch_unknown", again=True, billed="perhaps")

Result = TypeVar("Result")


@dataclass(eq=False)
class BatchRun:
    """Questions that batches hold or shall hold, and their replies so far.

    It waits `until` then, by the monotonic clock. `anew`: what is in no batch is put into one; else
    it is left without a reply.
    """

    endpoint: Cleared
    model: ModelOptions
    ledger: Ledger
    budget: Budget
    policy: Policy
    until: float
    requests: Mapping[str, ChatRequest]
    anew: bool

    def __post_init__(self) -> None:
        self._url = self.endpoint.options.base_url
        self._generator = np.random.default_rng(self.policy.seed)
        self._replies: dict[str, Reply] = {}
        self._tries: dict[str, int] = {}  # of what was collected here
        self._lost = False

    async def run(self, secrets: Secrets) -> dict[str, Reply]:
        """Send, wait and collect; BadInput if the endpoint can answer nobody, or takes no batch."""
        code, options = str(_NEVER_SENT.error), self.endpoint.options
        async with http.clients(options, secrets, largest=LARGEST_FILE) as clients:
            try:
                what = f"answers of {self.model.model}"
                with bar(what, len(self.requests)) as self._tell:
                    await self._go_on(clients[0])
            except Trouble as trouble:
                code = trouble.outcome.code
                if not trouble.outcome.again:
                    raise self._refused(trouble.outcome) from None
        left = self._open()
        batched = self.ledger.in_batches(left)
        return self._replies | {
            key: failure(key, IN_BATCH if key in batched else code) for key in left
        }

    async def _go_on(self, client: openai.AsyncOpenAI) -> None:
        turn = 0
        while self._open():
            sent = await self._send_all(client)
            if await self._look(client) or sent:
                turn = 0
            elif (left := self.until - time.monotonic()) <= 0:
                return
            else:
                turn += 1
                await asyncio.sleep(min(self.policy.wait(turn, None, self._generator), left))

    def _open(self) -> list[str]:
        """The questions without a reply, once what the ledger has is taken from it."""
        left = [key for key in self.requests if key not in self._replies]
        found = self.ledger.lookup(left)
        self.budget.note_hits(entry for key, entry in found.items() if key not in self._tries)
        self._replies |= {k: entry.reply(self._tries.get(k, 0)) for k, entry in found.items()}
        batched = set(left) if self.anew else self.ledger.in_batches(left)
        return [key for key in left if key in batched and key not in found]

    async def _send_all(self, client: openai.AsyncOpenAI) -> bool:
        """Find what dead processes sent, and send what is in no batch; whether there was any."""
        left = self._open()
        new = self.anew and len(self.ledger.in_batches(left)) < len(left)
        if not new and not self.ledger.unnumbered(self._url):
            return False
        with locked(self.ledger.path, "batches", fcntl.LOCK_EX):
            there = self.ledger.unnumbered(self._url)
            for batch in there:
                await self._recover(client, batch)
            sent = bool(there)
            while self.anew and (begun := self._begin()):
                await self._send(client, *begun)
                sent = True
        return sent

    async def _recover(self, client: openai.AsyncOpenAI, batch: Batch) -> None:
        """Learn the id of a batch that a dead process may have created, or strike it off."""
        number = None
        if batch.sent is not None:
            rest = batch.sent + self.policy.longest_wait - time.time()
            await asyncio.sleep(max(rest, 0.0))  # it may still be on its way
            number = await self._patiently(partial(find, client, batch.name, batch.sent))
        if number is None:
            self._book(batch.name, {}, _NEVER_SENT)
        else:
            self.ledger.note_sent(batch.name, number)

    def _begin(self) -> tuple[str, bytes] | None:
        """Reserve what as many questions as a batch takes can cost, and note it; name and file."""
        name, content, lines = uuid.uuid4().hex, bytearray(), 0
        with self.ledger.database.transaction():
            left = self._open()
            elsewhere = self.ledger.in_batches(left) | self.ledger.claimed(left)
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

    async def _send(self, client: openai.AsyncOpenAI, name: str, content: bytes) -> None:
        """Upload a batch and have it created; what fails before that leaves no trace."""
        since, calls, file = time.time(), count(), ""

        async def once() -> str:
            # It may have been created, though nobody said so.
            known = await find(client, name, since) if next(calls) else None
            return known or await create(client, file, name)

        try:
            file = await self._patiently(partial(upload, client, name, content))
            self.ledger.note_sent(name)
            number = await self._patiently(once, self.policy.longest_wait)
        except Trouble as trouble:
            if not (trouble.outcome.again and file):
                self._book(name, {}, _NEVER_SENT)
            if trouble.outcome.code not in ("http_400", "http_404") or self._lost or not file:
                raise
            self._lost = True  # the file, it seems: it is sent once more
            return
        self.ledger.note_sent(name, number)

    async def _look(self, client: openai.AsyncOpenAI) -> bool:
        """Collect the batches that have ended; whether any had."""
        ended, done = False, 0
        for batch in self.ledger.batches_of(self._open()):
            old = time.time() - batch.started > ABANDONED
            if batch.endpoint == self._url and batch.number is not None:
                try:
                    state = await self._patiently(partial(retrieve, client, batch.number))
                    if not state.ended:
                        done += state.done
                        continue
                    await self._collect(client, batch.name, state)
                    ended = True
                    continue
                except Trouble as trouble:
                    if trouble.outcome.code != "http_404":
                        raise
                    if not old:
                        raise self._refused(trouble.outcome, batch.number) from None
            if old:
                self._book(batch.name, {}, _UNKNOWN, self.policy.attempts)
                ended = True
        total = len(self.requests)
        self._tell(min(total - len(self._open()) + done, total))
        return ended

    async def _collect(self, client: openai.AsyncOpenAI, name: str, state: State) -> None:
        """Book a batch that has ended; BadInput if the endpoint can answer nobody."""
        sent = self.ledger.lines_of(name)
        asked = {
            key: request
            for key, _, _, said in sent
            if (request := self.requests.get(key) or read_request(said, key)) is not None
        }
        how = (self.endpoint.options, self.model.limit)
        found = await self._patiently(partial(outcomes, client, state, asked, *how))
        tries = WHOLE_TRIES if state.status == "failed" else self.policy.attempts
        self._book(name, found, state.lacking, tries)
        for outcome in found.values():
            if outcome.stop:
                raise dead_end(self.endpoint, self.model, self.ledger, outcome)
        news = [
            Failure(key, one.code, said)
            for key, _, _, said in sent
            if (one := found.get(key, state.lacking)).said is not None
        ]
        few = len(sent) < IN_A_ROW and self.ledger.model_answers(self.model.model)[0]
        known = self.ledger.failures(failed.key for failed in news)
        if len(news) == len(sent) and not few and any(known.get(one.key) != one for one in news):
            self.ledger.note_failures(news)  # should they be refused again, they are no news
            raise BadInput(
                f"{self.budget.where}: endpoint {self.endpoint.name!r} ({self._url}) refuses all"
                f" {len(sent):,} questions of batch {state.number}, the first with {news[0].code},"
                f" and says {found[news[0].key].said}. Correct the block, or its endpoint's, then"
                " run again"
            )

    def _book(
        self, name: str, found: Mapping[str, Outcome], default: Outcome, tries: int = 1
    ) -> None:
        """Keep the answers of a batch, book its lines and strike it off, all of it or nothing.

        `default` is what came of a question that `found` lacks; what may pass is sent `tries`
        times.
        """
        again, kind = [], self.endpoint.options.kind
        with self.ledger.database.transaction():
            for key, attempt, sent, request in self.ledger.lines_of(name):
                outcome = found.get(key, default)
                counts: tuple[int | None, int | None] = (None, None)
                if (entry := outcome.entry) is not None:
                    counts = (entry.prompt_tokens, entry.completion_tokens)
                    self.ledger.store(request, entry, model=self.model.model, endpoint_kind=kind)
                    self._tries[key] = sent
                elif self.anew and outcome.again and sent < tries:
                    again.append(key)
                elif self.anew and outcome is not _NEVER_SENT and key in self.requests:
                    self._replies[key] = failure(key, outcome.code, attempts=sent)
                self.budget.settle(attempt, outcome.code, outcome.billed, *counts)
            self.ledger.strike_off(name, again)

    async def _patiently(self, call: Callable[[], Awaitable[Result]], least: float = 0.0) -> Result:
        """What a call comes to that may be repeated, `least` seconds later; else Trouble."""
        for attempt in range(1, self.policy.attempts):
            try:
                return await call()
            except Trouble as trouble:
                if not trouble.outcome.again:
                    raise
                wait = self.policy.wait(attempt, trouble.outcome.wait, self._generator)
            await asyncio.sleep(max(wait, least))
        return await call()

    def _refused(self, outcome: Outcome, number: str | None = None) -> BadInput:
        """Why no batch can be sent, or the one of this number is not known."""
        if outcome.stop:
            return dead_end(self.endpoint, self.model, self.ledger, outcome)
        said = f"does not take a batch ({outcome.code}); if it knows none, write mode: single here"
        if number is not None:
            hours = f"{ABANDONED / 3600:.0f} hours after it was sent it is asked anew"
            said = f"does not know batch {number}; set the key that sent it: {hours}"
        here = f"{self.budget.where}: endpoint {self.endpoint.name!r} ({self._url})"
        return BadInput(f"{here} {said}; then run again")
