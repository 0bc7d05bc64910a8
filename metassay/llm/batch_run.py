"""What is asked by batches: sent once, looked at until they end, collected and booked.

At most one process sends at a time, which a lock of the system says: it is free when its holder is
dead, and whoever has it then looks for what that one may have sent. Where the endpoint knows no
batch of that name, none was made, and its questions go into a new one.
"""

import asyncio
import fcntl
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import openai
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from metassay.core.database import locked
from metassay.core.errors import BadInput
from metassay.llm import batch_http, http, journal
from metassay.llm.batch_http import State, Trouble
from metassay.llm.budget import Budget
from metassay.llm.client import IN_A_ROW, IN_BATCH, dead_end, failure
from metassay.llm.egress import Cleared, Secrets
from metassay.llm.endpoints import ModelOptions
from metassay.llm.http import Outcome
from metassay.llm.journal import Batch, Line
from metassay.llm.ledger import Failure, Ledger
from metassay.llm.limits import Patience, Policy
from metassay.llm.messages import ChatRequest, Reply, read_request

log = logging.getLogger("metassay.llm")

NOT_SENT = "not_sent"
UPLOADS = 2  # of one file: a server may have lost it
WHOLE_TRIES = 2  # of a batch that fails as a whole
_UNKNOWN = Outcome(error="batch_unknown", again=True, billed="perhaps")
_NEVER_SENT = Outcome(error=NOT_SENT)

Result = TypeVar("Result")


class Bar:
    """How many requests of the batches are done, as the endpoint counts them; on a terminal."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("batches"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        off = not console.is_terminal
        self._bars = Progress(*columns, console=console, transient=True, disable=off)
        self._task = self._bars.add_task("batches", total=None)
        self._bars.start()

    def show(self, done: int, total: int) -> None:
        """Show so many of so many requests; 0 of 0 while nobody has counted them."""
        self._bars.update(self._task, completed=done, total=total or None)

    def close(self) -> None:
        """Take the bar away."""
        self._bars.stop()


@dataclass(eq=False)
class BatchRun:
    """Questions that batches hold or shall hold, and their replies so far.

    `anew`: what is in no batch is put into one; else it is left without a reply.
    """

    endpoint: Cleared
    model: ModelOptions
    ledger: Ledger
    budget: Budget
    policy: Policy
    patience: Patience
    requests: Mapping[str, ChatRequest]
    anew: bool

    def __post_init__(self) -> None:
        self._url = self.endpoint.options.base_url
        self._generator = np.random.default_rng(self.policy.seed)
        self._replies: dict[str, Reply] = {}
        self._tries: dict[str, int] = {}  # of what was collected here
        self._uncounted = 0
        self._secrets: list[str] = []

    async def run(self, secrets: Secrets) -> dict[str, Reply]:
        """Send, wait and collect; BadInput if the endpoint can answer nobody, or takes no batch."""
        options = self.endpoint.options
        async with http.clients(options, secrets, largest=batch_http.LARGEST_FILE) as clients:
            client = clients[0]
            self._secrets = [client.api_key, *map(str, client.default_headers.values())]
            code = NOT_SENT
            with closing(Bar()) as bar:
                try:
                    await self._go_on(client, bar)
                except Trouble as trouble:
                    if trouble.outcome.stop or not trouble.outcome.again:
                        raise self._refused(trouble.outcome) from None
                    code = trouble.outcome.code
        self.ledger.database.checkpoint()
        if self._uncounted and self.model.prices is not None:
            log.warning("%d answers of batches came without a count of tokens", self._uncounted)
        left = self._open()
        batched = self.ledger.in_batches(left)
        left_codes = {key: IN_BATCH if key in batched else code for key in left}
        return self._replies | {key: failure(key, why) for key, why in left_codes.items()}

    async def _go_on(self, client: openai.AsyncOpenAI, bar: Bar) -> None:
        turn = 0
        while self._open():
            sent = await self._send_all(client)
            if await self._look(client, bar) or sent:
                turn = 0
            elif self.patience.left() <= 0:
                return
            else:
                turn += 1
                wait = self.policy.wait(turn, None, self._generator)
                await asyncio.sleep(min(wait, self.patience.left()))

    def _open(self) -> list[str]:
        """The questions without a reply, once what the ledger has is taken from it."""
        left = [key for key in self.requests if key not in self._replies]
        found = self.ledger.lookup(left)
        self.budget.note_hits(entry for key, entry in found.items() if key not in self._tries)
        self._replies |= {k: entry.reply(self._tries.get(k, 0)) for k, entry in found.items()}
        left = [key for key in left if key not in found]
        if not self.anew:
            batched = self.ledger.in_batches(left)
            left = [key for key in left if key in batched]
        return left

    async def _send_all(self, client: openai.AsyncOpenAI) -> bool:
        """Find what dead processes sent, and send what is in no batch; whether there was any."""
        left = self._open()
        new = self.anew and len(self.ledger.in_batches(left)) < len(left)
        if not new and not journal.unnumbered(self.ledger, self._url):
            return False
        with locked(self.ledger.path, "batches", fcntl.LOCK_EX):
            there = journal.unnumbered(self.ledger, self._url)
            for batch in there:
                await self._recover(client, batch)
            sent = bool(there)
            while self.anew and (begun := self._begin()):
                await self._send(client, *begun)
                sent = True
        return sent

    async def _recover(self, client: openai.AsyncOpenAI, batch: Batch) -> None:
        """Learn the id of a batch that a dead process may have created, or strike it off."""
        state = None
        if batch.sent is not None:
            state = await self._find(client, batch.name, batch.sent)
            rest = batch.sent + self.policy.longest_wait - time.time()
            if state is None and rest > 0:  # it may still be on its way
                await asyncio.sleep(rest)
                state = await self._find(client, batch.name, batch.sent)
        if state is None:
            self._book(batch.name, {}, _NEVER_SENT)
        else:
            journal.note_sent(self.ledger, batch.name, state.number)

    def _begin(self) -> tuple[str, bytes] | None:
        """Reserve the cost of as many questions as a batch takes, and note it; its file's content.

        None if there is nothing to send, or no money for it at the moment.
        """
        name, content, count = uuid.uuid4().hex, bytearray(), 0
        with self.ledger.database.transaction():
            left = self._open()
            elsewhere = self.ledger.in_batches(left) | self.ledger.claimed(left)
            journal.begin(self.ledger, name, self._url)
            for key in left:
                if key in elsewhere:
                    continue
                request = self.requests[key]
                line = batch_http.line(request, self.endpoint.options, self.model.limit)
                too_long = len(content) + len(line) > batch_http.MOST_BYTES
                if count == batch_http.MOST_REQUESTS or too_long:
                    break
                attempt = self.budget.reserve(request, key, name)
                if attempt == "wait":
                    break
                if attempt == "over":
                    self._replies[key] = failure(key, "over_budget")
                    continue
                journal.add(self.ledger, name, key, attempt, request.canonical)
                content += line
                count += 1
            if not count:
                journal.strike_off(self.ledger, name, ())
        return (name, bytes(content)) if count else None

    async def _send(self, client: openai.AsyncOpenAI, name: str, content: bytes) -> None:
        """Upload a batch and have it created; what fails before that leaves no trace."""

        async def upload() -> str:
            try:
                return await self._patiently(partial(batch_http.upload, client, name, content))
            except Trouble:
                self._book(name, {}, _NEVER_SENT)
                raise

        file, uploads, attempt, since = await upload(), 1, 1, time.time()
        journal.note_sent(self.ledger, name)
        state = None
        while state is None:
            try:
                state = await batch_http.create(client, file, name)
            except Trouble as trouble:
                outcome = trouble.outcome
                if outcome.code in ("http_400", "http_404") and uploads < UPLOADS:
                    file, uploads = await upload(), uploads + 1
                    continue
                if not outcome.again:
                    self._book(name, {}, _NEVER_SENT)
                if not outcome.again or attempt == self.policy.attempts:
                    raise
                await self._pause(attempt, outcome)
                attempt += 1
                state = await self._find(client, name, since)
        journal.note_sent(self.ledger, name, state.number)

    async def _look(self, client: openai.AsyncOpenAI, bar: Bar) -> bool:
        """Collect the batches that have ended; whether any had."""
        ended, done, total = False, 0, 0
        for batch in journal.holding(self.ledger, self._open()):
            number, old = batch.number, time.time() - batch.started > journal.ABANDONED
            if batch.endpoint == self._url and number is not None:
                try:
                    state = await self._patiently(partial(batch_http.retrieve, client, number))
                    if state.ended:
                        get = partial(batch_http.lines_of, client, state)
                        lines = await self._patiently(get)
                        self._collect(batch, state, lines)
                        ended = True
                    done, total = done + state.done, total + state.total
                    continue
                except Trouble as trouble:
                    if trouble.outcome.code != "http_404":
                        raise
                    if not old:
                        raise self._unknown(batch) from None
            if old:
                self._book(batch.name, {}, _UNKNOWN, self.policy.attempts)
                ended = True
        bar.show(done, total)
        return ended

    def _collect(self, batch: Batch, state: State, lines: list[dict[str, Any]]) -> None:
        """Book a batch that has ended; BadInput if the endpoint can answer nobody."""
        sent = journal.lines(self.ledger, batch.name)
        asked = {
            key: self.requests.get(key) or read_request(request, key) for key, _, _, request in sent
        }
        found = batch_http.outcomes(
            lines,
            {key: request for key, request in asked.items() if request is not None},
            *(self.endpoint.options, self.model.limit, self._secrets),
        )
        default = batch_http.without_line(state)
        whole = state.status == "failed"
        self._book(batch.name, found, default, WHOLE_TRIES if whole else self.policy.attempts)
        for outcome in found.values():
            if outcome.stop:
                raise dead_end(self.endpoint, self.model, self.ledger, outcome)
        self._check_refusals(state, {line: found.get(line.key, default) for line in sent})

    def _check_refusals(self, state: State, every: Mapping[Line, Outcome]) -> None:
        """BadInput if all of a batch is refused, unless it is few questions, or no news."""
        news = [
            Failure(line.key, outcome.code, line.request)
            for line, outcome in every.items()
            if outcome.said is not None
        ]
        answered = self.ledger.model_answers(self.model.model)[0]
        known = self.ledger.failures(failed.key for failed in news)
        old = all(known.get(failed.key) == failed for failed in news)
        if len(news) == len(every) > 0 and not old and (len(news) >= IN_A_ROW or not answered):
            self.ledger.note_failures(news)
            first = next(iter(every.values()))
            raise BadInput(
                f"{self.budget.where}: endpoint {self.endpoint.name!r} ({self._url}) refuses all"
                f" {len(every):,} questions of batch {state.number}, the first with HTTP"
                f" {first.code.removeprefix('http_')}, and says {first.said}. Correct the block, or"
                " its endpoint's, then run again"
            )

    def _book(
        self, name: str, found: Mapping[str, Outcome], default: Outcome, tries: int = 1
    ) -> None:
        """Keep the answers of a batch, book all its lines and strike it off, all of it or nothing.

        `default` is what came of a question that `found` lacks. What may succeed another time waits
        for another batch, unless it was sent `tries` times.
        """
        replies: dict[str, Reply] = {}
        again, uncounted, kind = [], 0, self.endpoint.options.kind
        with self.ledger.database.transaction():
            for key, attempt, sent, request in journal.lines(self.ledger, name):
                outcome = found.get(key, default)
                entry = outcome.entry
                counts: tuple[int | None, int | None] = (None, None)
                if entry is not None:
                    counts = (entry.prompt_tokens, entry.completion_tokens)
                    self.ledger.store(request, entry, model=self.model.model, endpoint_kind=kind)
                    self._tries[key] = sent
                    uncounted += outcome.billed == "yes" and None in counts
                elif outcome.again and sent < tries and self.anew:
                    again.append(key)
                elif key in self.requests and outcome is not _NEVER_SENT and self.anew:
                    replies[key] = failure(key, outcome.code, attempts=sent)
                self.budget.settle(attempt, outcome.code, outcome.billed, *counts)
            journal.strike_off(self.ledger, name, again)
        self._replies |= replies
        self._uncounted += uncounted

    async def _find(self, client: openai.AsyncOpenAI, name: str, since: float) -> State | None:
        return await self._patiently(partial(batch_http.find, client, name, since))

    async def _patiently(self, call: Callable[[], Awaitable[Result]]) -> Result:
        """What a call that may be repeated comes to; Trouble if it never comes to anything."""
        attempt = 1
        while True:
            try:
                return await call()
            except Trouble as trouble:
                if not trouble.outcome.again or attempt == self.policy.attempts:
                    raise
                await self._pause(attempt, trouble.outcome)
            attempt += 1

    async def _pause(self, attempt: int, outcome: Outcome) -> None:
        await asyncio.sleep(self.policy.wait(attempt, outcome.wait, self._generator))

    def _refused(self, outcome: Outcome) -> BadInput:
        if outcome.stop:
            return dead_end(self.endpoint, self.model, self.ledger, outcome)
        name = self.endpoint.name
        return BadInput(
            f"{self.budget.where}: endpoint {name!r} ({self._url}) does not take a batch, or gives"
            f" no answer of one ({outcome.code}); if it knows no batches, write mode: single here,"
            f" or remove params.yaml > endpoints > {name} > batch; then run again"
        )

    def _unknown(self, batch: Batch) -> BadInput:
        name = self.endpoint.name
        hours = round(journal.ABANDONED / 3600)
        return BadInput(
            f"{self.budget.where}: endpoint {name!r} ({self._url}) does not know batch"
            f" {batch.number}, which was sent and may have to be paid for. Set the key of the"
            " project that sent it, then run again; what the endpoint does not know"
            f" {hours} hours after it was sent is asked anew"
        )
