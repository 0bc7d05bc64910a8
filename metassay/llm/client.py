"""Asking language models: what the ledger has is taken from it, the rest is asked and kept.

    cleared = egress.check(access, dataset, endpoint_name, endpoint)
    ask = asker(cleared, model, ledger, open_budget(ledger, ...))
    replies = ask(requests)

Every answer is in the ledger before anything else happens to it, so a run that is killed at any
moment goes on where it stopped. No text of a request or an answer is in any log or error.
"""

import asyncio
import concurrent.futures
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from metassay.errors import BadInput
from metassay.llm.batch import Asking, Progress, Tally, failure
from metassay.llm.budget import Budget
from metassay.llm.egress import Cleared, Secrets, secrets_of
from metassay.llm.endpoints import ModelOptions
from metassay.llm.ledger import Ledger
from metassay.llm.limits import Policy
from metassay.llm.messages import Ask, ChatRequest, Reply

Result = TypeVar("Result")


def asker(
    endpoint: Cleared,
    model: ModelOptions,
    ledger: Ledger,
    budget: Budget,
    policy: Policy | None = None,
    *,
    progress: Progress | None = None,
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
        if progress is not None:
            progress(Tally(len(distinct), len(found), 0, 0, 0, 0))
        if missing:
            secrets = _secrets(endpoint, len(missing), len(distinct))
            asking = Asking(
                endpoint, model, ledger, budget, policy or Policy(), missing, len(found), progress
            )
            replies.update(_finish(asking.run(secrets)))
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
