"""Asking by batches: a day's patience for half the price, answers into the same ledger."""

from collections.abc import Sequence
from dataclasses import replace

from metassay.llm.budget import Budget
from metassay.llm.client import asker, finish, secrets_for
from metassay.llm.egress import Cleared
from metassay.llm.endpoints import ModelOptions, asked_in_batches, at_batch_prices
from metassay.llm.ledger import Ledger
from metassay.llm.limits import Patience, Policy
from metassay.llm.messages import Ask, ChatRequest, Reply


def batch_asker(
    endpoint: Cleared,
    model: ModelOptions,
    ledger: Ledger,
    budget: Budget,
    policy: Policy | None = None,
) -> Ask:
    """A function that asks one model as its mode says, by batches or each question alone.

    Whichever it is, what a batch of an earlier run holds is collected from there, and not asked
    beside it; so a model's mode may change at any time. `budget` has the full prices.

    A question whose batch has not ended when the endpoint's `wait_s` are over has status `error`
    and the code `in_batch`; others that wait for money or for another process, `not_sent`. All
    else is as `client.asker` says.
    """
    by_batch = asked_in_batches(endpoint.options, model)
    reduced = replace(budget, prices=at_batch_prices(model).prices)
    alone = asker(endpoint, model, ledger, reduced if by_batch else budget, policy)
    patience = Patience(endpoint.options.wait_s)

    def ask(requests: Sequence[ChatRequest]) -> list[Reply]:
        by_key = {request.key: request for request in requests}
        left = by_key.keys() - ledger.lookup(by_key).keys()
        waited_for = left if by_batch else left & ledger.in_batches(left)
        replies: dict[str, Reply] = {}
        if waited_for:
            # Only now: the openai package takes a second to import.
            from metassay.llm.batch_run import BatchRun

            secrets = secrets_for(endpoint, len(left), len(by_key))
            asked = {key: request for key, request in by_key.items() if key in waited_for}
            run = BatchRun(
                *(endpoint, model, ledger, reduced, policy or Policy(), patience, asked, by_batch)
            )
            replies = finish(run.run(secrets))
        rest = iter(alone([request for request in requests if request.key not in replies]))
        return [replies[r.key] if r.key in replies else next(rest) for r in requests]

    return ask
