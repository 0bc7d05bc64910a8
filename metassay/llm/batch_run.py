"""What is asked by batches: sent once, looked at until they end, collected and booked.

At most one process sends at a time, by a lock of the system: whoever has it next looks for what a
dead one may have sent. Where the endpoint knows no batch of that name, none was made.
"""

import asyncio
import fcntl
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TypeVar

import numpy as np
import openai

from metassay.core.database import locked
from metassay.core.errors import BadInput
from metassay.llm import batch_http, http, journal
from metassay.llm.batch_http import State, Trouble
from metassay.llm.budget import Budget
from metassay.llm.egress import Cleared, Secrets
from metassay.llm.endpoints import ModelOptions
from metassay.llm.http import Outcome, dead_end
from metassay.llm.journal import Batch
from metassay.llm.ledger import Failure, Ledger
from metassay.llm.limits import IN_A_ROW, Policy
from metassay.llm.messages import IN_BATCH, ChatRequest, Reply, failure, read_request

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
        async with http.clients(options, secrets, largest=batch_http.LARGEST_FILE) as clients:
            try:
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
        number = None
        if batch.sent is not None:
            rest = batch.sent + self.policy.longest_wait - time.time()
            await asyncio.sleep(max(rest, 0.0))  # it may still be on its way
            find = partial(batch_http.find, client, batch.name, batch.sent)
            number = await self._patiently(find)
        if number is None:
            self._book(batch.name, {}, _NEVER_SENT)
        else:
            journal.note_sent(self.ledger, batch.name, number)

    def _begin(self) -> tuple[str, bytes] | None:
        """Reserve what as many questions as a batch takes can cost, and note it; name and file."""
        name, content, lines = uuid.uuid4().hex, bytearray(), 0
        with self.ledger.database.transaction():
            left = self._open()
            elsewhere = self.ledger.in_batches(left) | self.ledger.claimed(left)
            for key in [key for key in left if key not in elsewhere]:
                request = self.requests[key]
                line = batch_http.line(request, self.endpoint.options, self.model.limit)
                too_long = len(content) + len(line) > batch_http.MOST_BYTES
                if lines == batch_http.MOST_REQUESTS or too_long:
                    break
                attempt = self.budget.reserve(request, key, name)
                if attempt == "wait":
                    break
                if attempt == "over":
                    self._replies[key] = failure(key, "over_budget")
                    continue
                journal.add(self.ledger, name, key, attempt, request.canonical)
                content += line
                lines += 1
            if not lines:
                return None
            journal.begin(self.ledger, name, self._url)
        return name, bytes(content)

    async def _send(self, client: openai.AsyncOpenAI, name: str, content: bytes) -> None:
        """Upload a batch and have it created; what fails before that leaves no trace."""
        since, calls, file = time.time(), count(), ""

        async def create() -> str:
            # It may have been created, though nobody said so.
            known = await batch_http.find(client, name, since) if next(calls) else None
            return known or await batch_http.create(client, file, name)

        try:
            file = await self._patiently(partial(batch_http.upload, client, name, content))
            journal.note_sent(self.ledger, name)
            number = await self._patiently(create, self.policy.longest_wait)
        except Trouble as trouble:
            if not (trouble.outcome.again and file):
                self._book(name, {}, _NEVER_SENT)
            if trouble.outcome.code not in ("http_400", "http_404") or self._lost or not file:
                raise
            self._lost = True  # the file, it seems: it is sent once more
            return
        journal.note_sent(self.ledger, name, number)

    async def _look(self, client: openai.AsyncOpenAI) -> bool:
        """Collect the batches that have ended; whether any had."""
        ended = False
        for batch in journal.holding(self.ledger, self._open()):
            old = time.time() - batch.started > journal.ABANDONED
            if batch.endpoint == self._url and batch.number is not None:
                try:
                    retrieve = partial(batch_http.retrieve, client, batch.number)
                    state = await self._patiently(retrieve)
                    if state.ended:
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
        return ended

    async def _collect(self, client: openai.AsyncOpenAI, name: str, state: State) -> None:
        """Book a batch that has ended; BadInput if the endpoint can answer nobody."""
        sent = journal.lines(self.ledger, name)
        asked = {
            key: request
            for key, _, _, said in sent
            if (request := self.requests.get(key) or read_request(said, key)) is not None
        }
        how = (self.endpoint.options, self.model.limit)
        get = partial(batch_http.outcomes, client, state, asked, *how)
        found = await self._patiently(get)
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
            for key, attempt, sent, request in journal.lines(self.ledger, name):
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
            journal.strike_off(self.ledger, name, again)

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
            hours = f"{journal.ABANDONED / 3600:.0f} hours after it was sent it is asked anew"
            said = f"does not know batch {number}; set the key that sent it: {hours}"
        here = f"{self.budget.where}: endpoint {self.endpoint.name!r} ({self._url})"
        return BadInput(f"{here} {said}; then run again")
