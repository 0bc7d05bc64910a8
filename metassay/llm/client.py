"""Ask language models: take known answers from the ledger, ask and store the others.

Each question is claimed, its cost reserved, sent, stored, and sent again if that can
help: a killed run continues where it stopped. No text of a request or an answer is in
any log or error.

A block is all that requests have in common. Its first question goes alone, so that a
parameter that a model does not accept costs one request; IN_A_ROW refusals for the same
reason stop the run.
"""

import asyncio
import concurrent.futures
import contextlib
import json
import logging
import time
import uuid
from collections import Counter, deque
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from metassay.core.errors import BadInput, one_line
from metassay.core.progress import bar
from metassay.llm.budget import Billed, Budget, count_request_tokens
from metassay.llm.endpoints import (
    Cleared,
    ModelOptions,
    Secrets,
    secrets_of,
    sends_schemas,
)
from metassay.llm.ledger import Entry, Failure, Ledger
from metassay.llm.limits import IN_A_ROW, Gate, Policy
from metassay.llm.messages import IN_BATCH, Ask, ChatRequest, Reply, failure

if TYPE_CHECKING:
    import openai

    from metassay.llm.http import Outcome

log = logging.getLogger("metassay.llm")

POLL_SECONDS = 0.2  # between looks at the questions that other processes ask
FIRST_ONES = 3  # failures after which a block that never had an answer is given up
# failures in a row that stop the run; fewer may come from hard documents
DOWN_AFTER = 32

# errors that do not depend on parameters
_NOT_OF_BLOCKS = ("context_length", "over_budget")


def _block(endpoint: Cleared, limit: str, request: ChatRequest) -> str:
    """Return everything of a request except its question, as JSON."""
    options = endpoint.options
    form = (
        "none" if request.schema is None else request.structured or options.structured
    )
    parts = [
        options.kind,
        options.base_url,
        options.api_version,
        request.model,
        limit,
        request.temperature,
        request.seed is None,
        request.max_tokens,
        request.extra,
        form,
        request.logprobs,
    ]
    return json.dumps(parts, separators=(",", ":"))


@dataclass(eq=False)
class SingleRun:
    """Questions that are sent singly, their replies so far, and the state that workers share."""

    endpoint: Cleared
    model: ModelOptions
    ledger: Ledger
    budget: Budget
    policy: Policy
    requests: Mapping[str, ChatRequest]
    total: int

    def __post_init__(self) -> None:
        self._owner = uuid.uuid4().hex
        self._generator = np.random.default_rng(self.policy.seed)
        options = self.endpoint.options
        limits = (
            options.requests_per_minute,
            options.tokens_per_minute,
            options.concurrency,
        )
        self._gate = Gate(*limits, sleep=self._wait)
        self._replies: dict[str, Reply] = {}
        self._queue = deque(self.requests)
        self._with_others: list[str] = []  # claimed by other processes
        self._failures_in_a_row = self._uncounted = 0
        self._dead_end: BadInput | None = None  # the reason why nothing more is asked
        self._stopped = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()
        self._blocks = {
            key: _block(self.endpoint, self.model.limit, request)
            for key, request in self.requests.items()
        }
        blocks = set(self._blocks.values())
        self._untried = blocks - self.ledger.tried_blocks(blocks)
        self._known_failures = self.ledger.failures(self.requests)
        self._pages: dict[str, Failure] = {}  # questions in a row that got a page
        self._other_models: Counter[str] = Counter()  # that answered instead
        self._refused: list[Failure] = []  # refusals in a row
        self._refusal = ""  # their kind

    async def run(self, secrets: Secrets) -> dict[str, Reply]:
        """Ask everything; BadInput if the endpoint cannot answer."""
        with bar(
            f"answers of {self.model.model}", len(self.requests)
        ) as self._progress:
            await self._ask_all(secrets)
        if self._uncounted and self.model.prices is not None:
            log.warning(
                "%d answers came without a plausible count of tokens: each is booked at the most"
                " that it can have cost",
                self._uncounted,
            )
        if self._other_models and self.endpoint.options.kind != "azure":
            named = ", ".join(
                f"{name!r} {n:,}" for name, n in self._other_models.most_common(3)
            )
            log.warning(
                "%d answers are of another model than %r, which was asked: %s",
                self._other_models.total(),
                self.model.model,
                one_line(named),
            )
        if self._dead_end:
            answered = sum(reply.status != "error" for reply in self._replies.values())
            missing = (
                f"{len(self.requests) - answered} of {self.total} answers are missing"
            )
            raise type(self._dead_end)(f"{self._dead_end} ({missing})")
        return self._replies

    async def _ask_all(self, secrets: Secrets) -> None:
        from metassay.llm import http  # importing the openai package takes a second

        async with http.clients(self.endpoint.options, secrets) as clients:
            renewal = asyncio.create_task(self._renew_claims())
            try:
                await self._ask_first(clients[0])
                while (self._queue or self._with_others) and not self._dead_end:
                    await self._run_workers(clients)
                    await self._check_others()
            finally:
                renewal.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await renewal
                self.ledger.release(self._owner)
                self.ledger.checkpoint()

    async def _ask_first(self, client: "openai.AsyncOpenAI") -> None:
        """Ask questions of each block that never had an answer, one by one, until it has."""
        for block in sorted(self._untried):
            failed = 0
            for key in [key for key, other in self._blocks.items() if other == block]:
                if self._dead_end or block not in self._untried:
                    break
                self._queue.remove(key)
                if failed == FIRST_ONES:
                    self._replies[key] = failure(key, "endpoint_down")
                    continue
                reply = await self._ask(client, key)
                if reply is not None:
                    failed += (
                        reply.status == "error" and reply.error not in _NOT_OF_BLOCKS
                    )

    async def _run_workers(self, clients: "list[openai.AsyncOpenAI]") -> None:
        workers = min(self.endpoint.options.concurrency, len(self._queue))
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(workers):
                    group.create_task(self._work(clients[number % len(clients)]))
        except ExceptionGroup as errors:  # bad input before bugs, since it has a remedy
            raise (errors.subgroup(BadInput) or errors).exceptions[0] from None

    async def _work(self, client: "openai.AsyncOpenAI") -> None:
        patience = max(DOWN_AFTER, 2 * self.endpoint.options.concurrency)
        while self._queue and not self._dead_end:
            key = self._queue.popleft()
            if self._failures_in_a_row >= patience:
                self._replies[key] = failure(key, "endpoint_down")
            else:
                await self._ask(client, key)
            await asyncio.sleep(0)  # lets other tasks run

    async def _ask(self, client: "openai.AsyncOpenAI", key: str) -> Reply | None:
        """Claim a question and get its reply; None if another process asks it."""
        if not self.ledger.claim(key, self._owner, self.policy.lease):
            self._with_others.append(key)
            return None
        self._replies[key] = await self._answer(client, key)
        self._progress(len(self._replies))
        return self._replies[key]

    async def _check_others(self) -> None:
        """Take the answers of other processes, and queue the questions that they have given up."""
        if not self._with_others:
            return
        entries = self.ledger.lookup(self._with_others)
        self.budget.note_hits(entries.values())
        self._replies |= {key: entry.reply() for key, entry in entries.items()}
        rest = [key for key in self._with_others if key not in entries]
        batched = self.ledger.batched_keys(rest)
        self._replies |= {key: failure(key, IN_BATCH) for key in batched}
        rest = [key for key in rest if key not in batched]
        claimed = self.ledger.claimed_keys(rest)
        self._with_others = [key for key in rest if key in claimed]
        self._queue.extend(key for key in rest if key not in claimed)
        if self._with_others and not self._queue:
            await asyncio.sleep(POLL_SECONDS)

    async def _answer(self, client: "openai.AsyncOpenAI", key: str) -> Reply:
        """Send a claimed question until it is answered or retrying cannot help."""
        code = ""
        attempt = 0
        for attempt in range(1, self.policy.attempts + 1):
            number = await self._reserve(key)
            if number is None:
                code, attempt = "over_budget", attempt - 1  # noqa: PLW2901
                break
            outcome = await self._send(client, key, number)
            entry = self._store(key, number, outcome)
            if entry is not None:
                self._failures_in_a_row = 0
                return entry.reply(attempt)
            code = outcome.code
            if outcome.message is not None and not self._dead_end:
                self._note_refusal(key, outcome)
            tries = min(outcome.tries or self.policy.attempts, self.policy.attempts)
            if outcome.page is not None and not self._dead_end:
                self._note_page(key, outcome)
            if not outcome.retry or attempt >= tries or self._dead_end:
                self._failures_in_a_row += outcome.retry or code == "http_403"
                break
            wait = self.policy.wait(attempt, outcome.wait, self._generator)
            log.debug("%s: %s, again in %.1f s", key[:12], code, wait)
            if outcome.wait is not None:
                self._gate.close_for(min(outcome.wait, self.policy.longest_wait))
            await self._wait(wait)
        self.ledger.release(self._owner, key)
        return failure(key, code, attempts=attempt)

    async def _send(
        self, client: "openai.AsyncOpenAI", key: str, number: int
    ) -> "Outcome":
        from metassay.llm import http

        request = self.requests[key]
        options = self.endpoint.options
        billed: Billed = "no"
        try:
            tokens = 0.0
            if self._gate.counts_tokens:
                structured = sends_schemas(options, self.model)
                tokens = (
                    count_request_tokens(request, structured=structured)
                    + request.max_tokens
                )
            entered = await self._gate.enter(tokens)
            if self._dead_end:
                self.budget.settle(number, "stopped", billed)
                return http.Outcome(error="stopped")
            billed = "perhaps"  # if it is interrupted after this
            outcome = await http.send(client, request, key, options, self.model.limit)
        except BaseException:
            self.budget.settle(number, "interrupted", billed)
            raise
        self._gate.leave(entered, too_many=outcome.error == "http_429")
        if outcome.pause:
            self._gate.close_for(min(outcome.pause, self.policy.longest_wait))
        return outcome

    def _store(self, key: str, number: int, outcome: "Outcome") -> Entry | None:
        """Store the answer and settle its cost, in one transaction."""
        from metassay.llm import http

        if outcome.stop:
            self._stop(
                http.explain_stop(self.endpoint, self.model, self.ledger, outcome)
            )
        with self.ledger.transaction():
            if outcome.entry is None:
                self.budget.settle(number, outcome.code, outcome.billed)
                return None
            entry = self.ledger.store(
                self.requests[key].canonical,
                outcome.entry,
                model=self.model.model,
                endpoint_kind=self.endpoint.options.kind,
                latency=outcome.latency,
            )
            counts = (outcome.entry.prompt_tokens, outcome.entry.completion_tokens)
            self.budget.settle(number, outcome.code, outcome.billed, *counts)
            self._uncounted += outcome.billed == "yes" and None in counts
            if outcome.model is not None:
                self._other_models[outcome.model] += 1
            self._refused.clear()
            self._pages.clear()
            if self._blocks[key] in self._untried:
                self._untried.discard(self._blocks[key])
                self.ledger.note_tried(self._blocks[key])
            self.ledger.release(self._owner, key)
        return entry

    def _stop(self, reason: BadInput) -> None:
        self._dead_end = self._dead_end or reason
        self._stopped.set()
        self._gate.abandon()

    def _note_refusal(self, key: str, outcome: "Outcome") -> None:
        """Stop the run after a new block's first refusal, or several of one kind in a row."""
        status = outcome.code.removeprefix("http_")
        questions = "the first question that is asked with it"
        if self._blocks[key] not in self._untried:
            before = self._known_failures.get(key)
            if before is not None and before.code == outcome.code:
                return
            if self._refusal != f"{status} {outcome.kind}":
                self._refused.clear()
            self._refusal = f"{status} {outcome.kind}"
            self._refused.append(
                Failure(key, outcome.code, self.requests[key].canonical)
            )
            if len(self._refused) < IN_A_ROW:
                return
            self.ledger.note_failures(self._refused)
            questions = f"{IN_A_ROW} questions in a row"
        name = self.budget.where.rpartition(" > ")[2]
        message = (
            f"{self.budget.where}: {self.endpoint} refuses {questions}, with HTTP {status}, and"
            f" says {outcome.message}. `metassay probe {name}` asks one question and shows all that"
            " is sent and comes back. Correct the block, or its endpoint's, then run again"
        )
        self._stop(BadInput(message))

    def _note_page(self, key: str, outcome: "Outcome") -> None:
        """Stop the run after several questions in a row that got a page: no answer will come.

        Those that got one in a run before do not count: something in them may be why.
        """
        before = self._known_failures.get(key)
        if before is not None and before.code == outcome.code:
            return
        canonical = self.requests[key].canonical
        self._pages[key] = Failure(key, outcome.code, canonical)
        if len(self._pages) < IN_A_ROW:
            return
        self.ledger.note_failures(self._pages.values())
        name = self.budget.where.rpartition(" > ")[2]
        message = (
            f"{self.budget.where}: {self.endpoint} answers {len(self._pages)} questions in a"
            f" row with a page: the reply is HTML, not JSON, and begins {outcome.page}. A"
            " login page or a proxy may stand at this address: check base_url, proxy and"
            f" the key. `metassay probe {name}` asks one question and shows all that is"
            " sent and comes back"
        )
        self._stop(BadInput(message))

    async def _reserve(self, key: str) -> int | None:
        while not self._dead_end:
            reserved = self.budget.reserve(self.requests[key], key, self._owner)
            if reserved == "over":
                return None
            if reserved != "wait":
                return reserved
            async with self._one_at_a_time:
                await asyncio.sleep(POLL_SECONDS / 4)
        return None

    async def _wait(self, seconds: float) -> None:
        """Sleep until the time is over or the run is stopped."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), seconds)

    async def _renew_claims(self) -> None:
        while True:
            await asyncio.sleep(self.policy.lease / 3)
            self.ledger.renew(self._owner, self.policy.lease)
            self.ledger.checkpoint()


def asker(
    endpoint: Cleared,
    model: ModelOptions,
    ledger: Ledger,
    budget: Budget,
    policy: Policy | None = None,
    *,
    batches: bool = False,
) -> Ask:
    """Return a function that asks one model, from any thread, with or without a running loop.

    It returns one reply per request, in order; equal requests are asked once. A
    question without an answer has status `error` and a code: `over_budget`,
    `endpoint_down`, `connection`, `timeout`, `bad_reply`, `context_length`, `http_500`,
    ... Errors are not stored, so the next run asks again. If the endpoint cannot
    answer, it raises BadInput once all answers under way are stored.

    With `batches` it asks in batches if that is the model's mode, at their prices, and
    collects earlier batches. A question whose batch has not ended after `wait_s` has
    the code `in_batch`; one that waits for budget or another process has `not_sent`.
    """
    reduced = replace(budget, prices=model.prices and model.prices.batch_prices)
    by_batch = batches and model.asked_in_batches(endpoint.options)
    budget = reduced if by_batch else budget
    until: float | None = None

    def ask(requests: Sequence[ChatRequest]) -> list[Reply]:
        nonlocal until
        others = {request.model for request in requests} - {model.model}
        if others:  # a bug of the caller: this model would answer, at its prices
            raise ValueError(
                f"asked for {sorted(others)} where {model.model!r} answers"
            )
        keys = [request.key for request in requests]
        distinct = dict(zip(keys, requests, strict=True))
        entries = ledger.lookup(distinct)
        budget.note_hits(entries.values())
        replies = {key: entry.reply() for key, entry in entries.items()}
        missing = {
            key: request for key, request in distinct.items() if key not in entries
        }
        if missing:
            try:
                secrets = secrets_of(endpoint)
            except BadInput as error:
                count = f"{len(missing)} of {len(distinct)} answers are not in the ledger, and"
                raise BadInput(
                    f"{count} {problem}" for problem in error.problems
                ) from None
            patience = policy or Policy()
            in_batch = missing.keys() if by_batch else ledger.batched_keys(missing)
            if batches and in_batch:
                from metassay.llm.batch_run import BatchRun

                until = until or time.monotonic() + endpoint.options.wait_s
                batched = {
                    key: request for key, request in missing.items() if key in in_batch
                }
                in_batches = BatchRun(
                    endpoint=endpoint,
                    model=model,
                    ledger=ledger,
                    budget=reduced,
                    policy=patience,
                    until=until,
                    requests=batched,
                    send=by_batch,
                )
                replies |= finish(in_batches.run(secrets))
                missing = {key: r for key, r in missing.items() if key not in replies}
        if missing:
            single = SingleRun(
                endpoint=endpoint,
                model=model,
                ledger=ledger,
                budget=budget,
                policy=patience,
                requests=missing,
                total=len(distinct),
            )
            replies |= finish(single.run(secrets))
        return [replies[key] for key in keys]

    return ask


def replayer(ledger: Ledger) -> Ask:
    """Return a function that answers from the ledger alone; other replies are `not_in_ledger`."""

    def ask(requests: Sequence[ChatRequest]) -> list[Reply]:
        keys = [request.key for request in requests]
        entries = ledger.lookup(dict.fromkeys(keys))
        return [
            entries[key].reply() if key in entries else failure(key, "not_in_ledger")
            for key in keys
        ]

    return ask


Result = TypeVar("Result")


def finish(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end, whether or not a loop is running in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as other:
        return other.submit(asyncio.run, work).result()
