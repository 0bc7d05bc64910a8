"""Asking language models: what the ledger has is taken from it, the rest is asked and kept.

Each question is claimed, its cost reserved, sent, kept, and sent again where that helps. Every
answer is in the ledger before anything else happens to it, so a run that is killed at any moment
goes on where it stopped. No text of a request or an answer is in any log or error.

A block is all that requests have in common: the endpoint, the model, its parameters, and the kinds
of what is sent. Its first question goes alone, so that a parameter that a model does not take costs
one request. A server that refuses three questions in a row, all for the same reason, is taken to
refuse them all. A prompt that is too long for the model is its document's affair alone.
"""

import asyncio
import concurrent.futures
import contextlib
import json
import logging
import uuid
from collections import deque
from collections.abc import Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from metassay.core.errors import BadInput
from metassay.llm import tokens
from metassay.llm.budget import Billed, Budget
from metassay.llm.egress import Cleared, Secrets, secrets_of
from metassay.llm.endpoints import ModelOptions, sends_schemas
from metassay.llm.ledger import Entry, Failure, Ledger
from metassay.llm.limits import Gate, Policy
from metassay.llm.messages import Ask, ChatRequest, Reply
from metassay.llm.server_errors import Retired, retired_message

if TYPE_CHECKING:
    import openai

    from metassay.llm.http import Outcome

log = logging.getLogger("metassay.llm")

IN_A_ROW = 3  # refusals of one kind, that stop a run
POLL_SECONDS = 0.2  # between two looks at what others have under way
FIRST_ONES = 3  # with a block that never had an answer: given up on, all of it is
DOWN_AFTER = 32  # requests given up on in a row; below that a document may just be hard

_NOT_THE_BLOCKS = ("context_length", "over_budget")  # errors that say nothing of the parameters
_REMEDIES = {
    401: "check the environment variable {key_env} (params.yaml > endpoints > {name} > key_env)",
    402: "add credit to it",
    404: "check params.yaml > endpoints > {name} > base_url",
    429: "wait for its reset or raise it",
}


class Refusals:
    """What one batch of questions knows of its blocks, and of what was refused."""

    def __init__(
        self,
        ledger: Ledger,
        endpoint: Cleared,
        limit: str,
        requests: Mapping[str, ChatRequest],
        where: str,
    ) -> None:
        """Look up which blocks have answers; `where` names the model in params.yaml."""
        self._ledger = ledger
        self._endpoint = endpoint
        self._where = where
        self._requests = requests
        self._blocks = {key: _block(endpoint, limit, one) for key, one in requests.items()}
        self._untried = set(self._blocks.values()) - ledger.tried(set(self._blocks.values()))
        self._known = ledger.failures(requests)
        self._row: list[Failure] = []
        self._kind = ""

    def first_ones(self) -> list[list[str]]:
        """The questions of each block that has no answer."""
        found: dict[str, list[str]] = {block: [] for block in sorted(self._untried)}
        for key, block in self._blocks.items():
            if block in found:
                found[block].append(key)
        return list(found.values())

    def is_untried(self, key: str) -> bool:
        """Whether the block of a question has no answer yet."""
        return self._blocks[key] in self._untried

    def answered(self, key: str) -> None:
        """Note that a question has its answer."""
        self._row.clear()
        if self.is_untried(key):
            self._untried.discard(self._blocks[key])
            self._ledger.note_tried(self._blocks[key])

    def refused(self, key: str, outcome: "Outcome") -> str | None:
        """Note that a question is refused; why nothing more is to be asked, None if more is.

        Those that stop a run are noted in the ledger: should they be refused again although others
        are answered, they are no news.
        """
        status, said = outcome.code.removeprefix("http_"), outcome.said
        if self.is_untried(key):
            what = "the first question that is asked with it"
        else:
            known = self._known.get(key)
            if known is not None and known.code == outcome.code:
                return None
            if self._kind != f"{status} {outcome.kind}":
                self._row.clear()
            self._kind = f"{status} {outcome.kind}"
            self._row.append(Failure(key, outcome.code, self._requests[key].canonical))
            if len(self._row) < IN_A_ROW:
                return None
            self._ledger.note_failures(self._row)
            what = f"{IN_A_ROW} questions in a row"
        name = self._where.rpartition(" > ")[2]
        return (
            f"{self._where}: endpoint {self._endpoint.name!r} ({self._endpoint.options.base_url})"
            f" refuses {what}, with HTTP {status}, and says {said}. `metassay probe {name}` asks"
            " one question and shows all that is sent and comes back. Correct the block, or its"
            " endpoint's, then run again"
        )


def _block(endpoint: Cleared, limit: str, request: ChatRequest) -> str:
    """Everything of a request but what it asks, as JSON."""
    options = endpoint.options
    form = "none" if request.schema is None else request.structured or options.structured
    return json.dumps(
        [
            *(options.kind, options.base_url, options.api_version, request.model, limit),
            *(request.temperature, request.seed is None, request.max_tokens, request.extra),
            *(form, request.logprobs),
        ],
        separators=(",", ":"),
    )


def failure(key: str, code: str, *, attempts: int) -> Reply:
    """The reply to a question that has no answer."""
    return Reply(key, "error", None, None, None, None, attempts, code)


class Asking:
    """One batch, its replies so far, and what all its workers need to know of each other."""

    def __init__(
        self,
        endpoint: Cleared,
        model: ModelOptions,
        ledger: Ledger,
        budget: Budget,
        policy: Policy,
        requests: dict[str, ChatRequest],
        total: int,
    ) -> None:
        self._endpoint = endpoint
        self._model = model
        self._ledger = ledger
        self._budget = budget
        self._policy = policy
        self._requests = requests
        self._total = total
        self._owner = uuid.uuid4().hex
        self._generator = np.random.default_rng(policy.seed)
        options = endpoint.options
        limits = (options.requests_per_minute, options.tokens_per_minute, options.concurrency)
        self._gate = Gate(*limits, sleep=self._wait)
        self._replies: dict[str, Reply] = {}
        self._queue = deque(requests)
        self._with_others: list[str] = []
        self._failures_in_a_row = 0
        self._uncounted = 0
        self._dead_end: str | None = None
        self._kind: type[BadInput] = BadInput  # of the dead end
        self._stopped = asyncio.Event()
        self._refusals = Refusals(ledger, endpoint, model.limit, requests, budget.where)
        self._one_at_a_time = asyncio.Lock()

    async def run(self, secrets: Secrets) -> dict[str, Reply]:
        """Ask everything; BadInput if the endpoint can answer nobody."""
        from metassay.llm import http  # the openai package takes a second to import

        async with http.clients(self._endpoint.options, secrets) as clients:
            beat = asyncio.create_task(self._keep_claims())
            try:
                await self._ask_first(clients[0])
                while (self._queue or self._with_others) and not self._dead_end:
                    await self._work_together(clients)
                    await self._look_at_others()
            finally:
                beat.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await beat
                self._ledger.release(self._owner)
                self._ledger.database.checkpoint()
        if self._uncounted and self._model.prices is not None:
            log.warning(
                "%d answers came without a count of tokens that can be true: each is booked at the"
                " most that it can have cost",
                self._uncounted,
            )
        if self._dead_end:
            answered = sum(reply.status != "error" for reply in self._replies.values())
            missing = len(self._requests) - answered
            raise self._kind(f"{self._dead_end} ({missing} of {self._total} answers are missing)")
        return self._replies

    async def _ask_first(self, client: "openai.AsyncOpenAI") -> None:
        """Ask one question with each block that never had an answer, and more until one has.

        Where nothing comes back, however often a few of them are asked, the rest is not asked.
        """
        for keys in self._refusals.first_ones():
            failed = 0
            for key in keys:
                if self._dead_end or not self._refusals.is_untried(key):
                    break
                self._queue.remove(key)
                if failed == FIRST_ONES:
                    self._replies[key] = failure(key, "endpoint_down", attempts=0)
                elif self._ledger.claim(key, self._owner, self._policy.lease):
                    reply = await self._answer(client, key)
                    failed += reply.status == "error" and reply.error not in _NOT_THE_BLOCKS
                    self._replies[key] = reply
                else:
                    self._with_others.append(key)

    async def _work_together(self, clients: "list[openai.AsyncOpenAI]") -> None:
        workers = min(self._endpoint.options.concurrency, len(self._queue))
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(workers):
                    group.create_task(self._work(clients[number % len(clients)]))
        except ExceptionGroup as errors:
            raise _first(errors) from None

    async def _work(self, client: "openai.AsyncOpenAI") -> None:
        while self._queue and not self._dead_end:
            key = self._queue.popleft()
            if self._failures_in_a_row >= self._patience:
                self._replies[key] = failure(key, "endpoint_down", attempts=0)
            elif self._ledger.claim(key, self._owner, self._policy.lease):
                self._replies[key] = await self._answer(client, key)
            else:
                self._with_others.append(key)
            await asyncio.sleep(0)  # many quick turns must not keep the others waiting

    @property
    def _patience(self) -> int:
        return max(DOWN_AFTER, 2 * self._endpoint.options.concurrency)

    async def _look_at_others(self) -> None:
        """Take what others have answered, and queue what they have given up or died over."""
        if not self._with_others:
            return
        found = self._ledger.lookup(self._with_others)
        self._budget.note_hits(found.values())
        self._replies |= {key: entry.reply() for key, entry in found.items()}
        rest = [key for key in self._with_others if key not in found]
        theirs = self._ledger.claimed(rest)
        self._with_others = [key for key in rest if key in theirs]
        self._queue.extend(key for key in rest if key not in theirs)
        if self._with_others and not self._queue:
            await asyncio.sleep(POLL_SECONDS)

    async def _answer(self, client: "openai.AsyncOpenAI", key: str) -> Reply:
        """Send a claimed question until it is answered or need not be sent again."""
        code, attempt = "", 0
        for attempt in range(1, self._policy.attempts + 1):
            number = await self._reserve(key)
            if number is None:
                self._ledger.release(self._owner, key)
                return failure(key, "over_budget", attempts=attempt - 1)
            outcome = await self._send(client, key, number)
            entry = self._keep(key, number, outcome)
            if entry is not None:
                self._failures_in_a_row = 0
                return entry.reply(attempt)
            code = outcome.code
            if outcome.said is not None and not self._dead_end:
                self._stop(self._refusals.refused(key, outcome))
            if not outcome.again or attempt == self._policy.attempts or self._dead_end:
                self._failures_in_a_row += outcome.again or code == "http_403"
                break
            await self._pause(key, attempt, outcome)
        self._ledger.release(self._owner, key)
        return failure(key, code, attempts=attempt)

    async def _send(self, client: "openai.AsyncOpenAI", key: str, number: int) -> "Outcome":
        from metassay.llm import http

        request, options = self._requests[key], self._endpoint.options
        billed: Billed = "no"
        try:
            entered = await self._gate.enter(self._tokens(request))
            if self._dead_end:
                self._budget.settle(number, "stopped", billed)
                return http.Outcome(error="stopped")
            billed = "perhaps"  # if it is interrupted from here on
            outcome = await http.send(client, request, key, options, self._model.limit)
        except BaseException:
            self._budget.settle(number, "interrupted", billed)
            raise
        self._gate.leave(entered, too_many=outcome.error == "http_429")
        if outcome.pause:
            self._gate.close_for(min(outcome.pause, self._policy.longest_wait))
        return outcome

    def _keep(self, key: str, number: int, outcome: "Outcome") -> Entry | None:
        """Write down what came, the answer before anything else; both or neither are written."""
        entry = outcome.entry
        if outcome.stop and not self._dead_end:
            self._kind = Retired if outcome.retired else BadInput
            self._stop(self._explain(outcome))
        with self._ledger.database.transaction():
            if entry is None:
                self._budget.settle(number, outcome.code, outcome.billed)
                return None
            request = self._requests[key]
            kept = self._ledger.store(
                request.canonical,
                entry,
                model=request.model,
                endpoint_kind=self._endpoint.options.kind,
                latency=outcome.latency,
            )
            counts = (entry.prompt_tokens, entry.completion_tokens)
            self._budget.settle(number, outcome.code, outcome.billed, *counts)
            self._uncounted += outcome.billed == "yes" and None in counts
            self._refusals.answered(key)
            self._ledger.release(self._owner, key)
        return kept

    def _stop(self, why: str | None) -> None:
        """Ask nothing more, if there is a reason why."""
        if why is not None:
            self._dead_end = why
            self._stopped.set()
            self._gate.abandon()

    async def _reserve(self, key: str) -> int | None:
        while not self._dead_end:
            reserved = self._budget.reserve(self._requests[key], key, self._owner)
            if reserved == "over":
                return None
            if reserved != "wait":
                return reserved
            async with self._one_at_a_time:
                await asyncio.sleep(POLL_SECONDS / 4)
        return None

    def _tokens(self, request: ChatRequest) -> float:
        if not self._gate.counts_tokens:
            return 0.0
        structured = sends_schemas(self._endpoint.options, self._model)
        return tokens.of_request(request, structured=structured) + request.max_tokens

    async def _pause(self, key: str, attempt: int, outcome: "Outcome") -> None:
        wait = self._policy.wait(attempt, outcome.wait, self._generator)
        log.debug("%s: %s, again in %.1f s", key[:12], outcome.code, wait)
        if outcome.wait is not None:
            self._gate.close_for(min(outcome.wait, self._policy.longest_wait))
        await self._wait(wait)

    async def _wait(self, seconds: float) -> None:
        """Sleep, but not on once there is nothing left to wait for."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), seconds)

    async def _keep_claims(self) -> None:
        while True:
            await asyncio.sleep(self._policy.lease / 3)
            self._ledger.renew(self._owner, self._policy.lease)
            self._ledger.database.checkpoint()

    def _explain(self, outcome: "Outcome") -> str:
        name, options = self._endpoint.name, self._endpoint.options
        if outcome.retired:
            known = self._ledger.model_answers(self._model.model)
            return retired_message(name, options.base_url, self._model.model, known)
        status = int(outcome.code.removeprefix("http_"))
        remedy = _REMEDIES.get(status, _REMEDIES[429])
        if status == 401 and options.key_env is None:
            remedy = "name the variable that holds it under params.yaml > endpoints > {name} >"
            remedy += " key_env"
        said = remedy.format(name=name, key_env=options.key_env)
        return f"endpoint {name!r} ({options.base_url}): {outcome.stop}; {said}; then run again"


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """One error of a group, bad input before bugs: it says what to do."""
    wanted = errors.subgroup(BadInput) or errors
    error: BaseException = wanted.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


Result = TypeVar("Result")


def asker(
    endpoint: Cleared,
    model: ModelOptions,
    ledger: Ledger,
    budget: Budget,
    policy: Policy | None = None,
) -> Ask:
    """A function that asks one model, from any thread and whether or not a loop is running there.

    It returns one reply per request, in order; equal requests are asked once. A question without
    an answer has status `error` and a code: `over_budget`, `endpoint_down` (too many failures in a
    row), `connection`, `timeout`, `bad_reply`, `context_length`, `http_500`, ... None of these is
    kept, so the next run asks again. It raises BadInput, once what was under way is in the ledger,
    if the endpoint cannot answer anybody: key missing or not accepted (401), path or model unknown
    (404), quota used up.
    """

    def ask(requests: Sequence[ChatRequest]) -> list[Reply]:
        strangers = {request.model for request in requests} - {model.model}
        if strangers:  # a bug of the caller: they would be asked and priced as another model
            raise ValueError(f"asked for {sorted(strangers)} where {model.model!r} answers")
        keys = [request.key for request in requests]
        distinct = dict(zip(keys, requests, strict=True))
        found = ledger.lookup(distinct)
        budget.note_hits(found.values())
        replies = {key: entry.reply() for key, entry in found.items()}
        missing = {key: request for key, request in distinct.items() if key not in found}
        if missing:
            secrets = _secrets(endpoint, len(missing), len(distinct))
            patience = policy or Policy()
            work = Asking(endpoint, model, ledger, budget, patience, missing, len(distinct))
            replies |= _finish(work.run(secrets))
        return [replies[key] for key in keys]

    return ask


def replayer(ledger: Ledger) -> Ask:
    """A function that answers from the ledger alone; what is not there is `not_in_ledger`."""

    def ask(requests: Sequence[ChatRequest]) -> list[Reply]:
        keys = [request.key for request in requests]
        found = ledger.lookup(dict.fromkeys(keys))
        return [
            found[key].reply() if key in found else failure(key, "not_in_ledger", attempts=0)
            for key in keys
        ]

    return ask


def _secrets(endpoint: Cleared, missing: int, total: int) -> Secrets:
    try:
        return secrets_of(endpoint)
    except BadInput as error:
        said = f"{missing} of {total} answers are not in the ledger, and"
        raise BadInput(f"{said} {problem}" for problem in error.problems) from None


def _finish(work: Coroutine[Any, Any, Result]) -> Result:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as other:
        return other.submit(asyncio.run, work).result()
