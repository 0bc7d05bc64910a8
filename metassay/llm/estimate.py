"""What a run would cost, before anything is sent and without any network."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from metassay.llm import tokens
from metassay.llm.endpoints import ModelOptions
from metassay.llm.exchange import ChatRequest, Message
from metassay.llm.ledger import Ledger

SAMPLE = 1000  # requests that are counted; the others go by their length in characters
PAST, ENOUGH = 200, 20  # past answers that the count is checked against, and how many it takes
MARGIN = 1.1  # what a count may be short by


class Estimate(NamedTuple):
    """What remains to be asked of one model, and what that costs.

    `calls` are distinct questions, of which `calls_in_ledger` are answered; tokens and cost are of
    the others. Costs are None for a model without prices. `*_at_most` assumes that every answer
    runs to max_tokens and that `prompt_tokens` is 10 % short; repeated attempts are not in it, but
    are in what `max_cost` caps. `counted` says how prompt tokens were counted.
    """

    calls: int
    calls_in_ledger: int
    prompt_tokens: int
    completion_tokens: int
    completion_tokens_at_most: int
    cost: float | None
    cost_at_most: float | None
    currency: str | None
    counted: str


def estimate(
    requests: Sequence[ChatRequest],
    ledger: Ledger,
    model: ModelOptions,
    *,
    completion_tokens: float,
) -> Estimate:
    """Estimate what asking these questions would cost; `completion_tokens` is per call, expected.

    Of more than 1,000 requests every n-th is counted, the others go by their length in characters.
    Raises BadInput if the model names a tokenizer that is not there.
    """
    distinct = {request.key: request for request in requests}
    known = ledger.lookup(distinct)
    open_ = [request for key, request in distinct.items() if key not in known]
    count, ratio, counted = _counter(ledger, model)
    prompt = round(_total(open_, count) * ratio)
    written = round(len(open_) * completion_tokens)
    most = sum(request.max_tokens for request in open_)
    prices = model.prices

    def cost(read: float, wrote: float) -> float | None:
        if prices is None:
            return None
        return (read * prices.input_per_million + wrote * prices.output_per_million) / 1e6

    return Estimate(
        calls=len(distinct),
        calls_in_ledger=len(known),
        prompt_tokens=prompt,
        completion_tokens=written,
        completion_tokens_at_most=most,
        cost=cost(prompt, written),
        cost_at_most=cost(prompt * MARGIN, most),
        currency=prices.currency if prices else None,
        counted=counted,
    )


def _counter(ledger: Ledger, model: ModelOptions) -> tuple[tokens.Count, float, str]:
    if model.tokenizer is not None:
        return tokens.by_tokenizer(Path(model.tokenizer)), 1.0, f"tokenizer of {model.tokenizer}"
    past = ledger.requests(model.model, PAST)
    if len(past) < ENOUGH:
        return tokens.by_rule, 1.0, "rule for English text, about 10 % either way"
    counted = sum(tokens.of_request(_request(text)) for text, _ in past)
    ratio = sum(number for _, number in past) / counted
    return tokens.by_rule, ratio, f"rule x {ratio:.2f}, from {len(past)} past answers of the model"


def _request(canonical: str) -> ChatRequest:
    body = json.loads(canonical)
    return ChatRequest(
        model=body["model"],
        messages=tuple(Message(role, content) for role, content in body["messages"]),
        schema=body["schema"],
        temperature=body["temperature"],
        seed=body["seed"],
        max_tokens=body["max_tokens"],
        repeat=body["repeat"],
    )


def _total(requests: Sequence[ChatRequest], count: tokens.Count) -> float:
    step = -(-len(requests) // SAMPLE) or 1
    sample = requests[::step]
    counted = sum(tokens.of_request(request, count) for request in sample)
    if step == 1:
        return counted
    return counted * sum(map(_characters, requests)) / sum(map(_characters, sample))


def _characters(request: ChatRequest) -> int:
    return len(request.schema or "") + sum(len(message.content) for message in request.messages)
