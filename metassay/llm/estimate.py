"""Estimate tokens and costs without network.

The rule for tokens was fitted to English dialogues, notes, questions, abstracts and JSON with three
byte-pair vocabularies (cl100k, o200k, DeepSeek's): it is within 8 % of each on each kind of text.
Errors can be larger in other languages; then the ledger's counts correct the estimate.
"""

import functools
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from metassay.core.errors import BadInput
from metassay.llm.endpoints import ModelOptions
from metassay.llm.ledger import Ledger
from metassay.llm.messages import ChatRequest

Count = Callable[[str], float]

PER_REQUEST, PER_MESSAGE = 3, 4  # tokens of OpenAI's chat format
# Bounds of templates with their default texts; a token has at least one byte.
_AT_MOST_PER_REQUEST, _AT_MOST_PER_MESSAGE = 64, 32

_SCHEMA_HEAD = "# Response Formats\n\n## answer\n\n"

_PIECES = re.compile(r"[^\W\d_]+|\d+|\n+|[^\w\s]+|_+")


def by_rule(text: str) -> float:
    """Estimate the tokens of a text by the rule above."""
    return sum(map(_weight, _PIECES.findall(text)))


def by_tokenizer(folder: Path) -> Count:
    """Return a counter of tokens by a folder's tokenizer.json; BadInput if it does not exist."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise BadInput(
            "models > tokenizer needs the package tokenizers: install metassay[models], or remove"
            " the key to count by rule"
        ) from None
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise BadInput(f"models > tokenizer: {file} does not exist; name the model's own folder")
    tokenizer = Tokenizer.from_file(str(file))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def of_request(request: ChatRequest, count: Count = by_rule, *, structured: bool) -> float:
    """Return the tokens that an endpoint counts in a request: messages, format, and schema.

    Only a `structured` endpoint gets the schema, which is assumed to be billed as it stands in the
    prompts of OpenAI's open models (github.com/openai/openai-cookbook, articles/openai-harmony.md).
    """
    return (
        PER_REQUEST
        + sum(PER_MESSAGE + count(message.content) for message in request.messages)
        + (count(_schema_text(request.schema)) if structured and request.schema else 0.0)
    )


def at_most(request: ChatRequest) -> int:
    """Return an upper bound of a request's tokens for any vocabulary: one per byte."""
    schema = _schema_text(request.schema) if request.schema else ""
    return (
        _AT_MOST_PER_REQUEST
        + sum(_AT_MOST_PER_MESSAGE + len(m.content.encode("utf-8")) for m in request.messages)
        + len(schema.encode("utf-8"))
    )


@functools.lru_cache(maxsize=64)
def _schema_text(schema: str) -> str:
    return _SCHEMA_HEAD + json.dumps(json.loads(schema), ensure_ascii=False)


@functools.lru_cache(maxsize=65536)
def _weight(piece: str) -> float:
    first, length = piece[0], len(piece)
    if not piece.isascii():
        return length * (0.5 if first.isalpha() else 1.0)
    if first.isdigit():
        return 0.8 + -(-length // 3)
    if first == "\n":
        return 0.7
    if not first.isalpha():
        return 0.95
    if length > 1 and piece.isupper():
        return 0.5 * length
    return (1.25 if first.isupper() else 1.0) + 0.06 * max(0, length - 7)


SAMPLE = 1000  # requests that are counted; the others are estimated from their characters
PAST, ENOUGH = 200, 20  # the most past answers that are used, and the fewest

# Answered questions, with the tokens that were read and written.
Past = Sequence[tuple[ChatRequest, int, int | None]]


class Estimate(NamedTuple):
    """The open questions to one model, and their cost in the currency of its prices.

    `calls` are distinct questions, of which `calls_in_ledger` are answered; all other numbers are
    of the open ones. Costs are None for a model without prices. Numbers are expectations, if every
    first answer is valid, except `*_at_most`: these assume a token per byte of the prompts, answers
    of max_tokens, and all rounds of unreadable answers. Neither has attempts that are repeated
    after a failure. `counted` tells how tokens were counted.
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
    structured: bool,
    completion_tokens: float,
    most: Sequence[int] | None = None,
    longer: int = 0,
) -> Estimate:
    """Estimate what asking these questions would cost.

    `structured`: the endpoint gets schemas. `completion_tokens` is the expected length of an
    answer, used if there are fewer than ENOUGH past answers to the same first message and schema.
    `most`: the most requests that each leads to, each at most `longer` bytes longer. Of more than
    SAMPLE requests every n-th is counted. BadInput if the model's tokenizer does not exist.
    """
    distinct = {request.key: request for request in requests}
    times = {} if most is None else dict(zip([r.key for r in requests], most, strict=True))
    answered = ledger.lookup(distinct)
    open_ = {key: request for key, request in distinct.items() if key not in answered}
    past = ledger.requests(model.model, PAST)
    count, ratio, counted = _counter(past, model, structured=structured)
    wrote, source = _written(past, [*open_.values()], completion_tokens)
    read = round(_total([*open_.values()], count, structured=structured) * ratio)
    written, read_most, written_most = round(wrote), 0, 0
    for key, request in open_.items():
        n = times.get(key, 1)
        read_most += longer * (n - 1) + n * at_most(request)
        written_most += n * request.max_tokens
    prices = model.prices

    def cost(read: int, written: int) -> float | None:
        if prices is None:
            return None
        return (read * prices.input_per_million + written * prices.output_per_million) / 1e6

    return Estimate(
        calls=len(distinct),
        calls_in_ledger=len(answered),
        prompt_tokens=read,
        completion_tokens=written,
        completion_tokens_at_most=written_most,
        cost=cost(read, written),
        cost_at_most=cost(read_most, written_most),
        currency=prices.currency if prices else None,
        counted=f"Prompts are counted by {counted}. Answers are taken to be as long as {source}.",
    )


def _counter(past: Past, model: ModelOptions, *, structured: bool) -> tuple[Count, float, str]:
    if model.tokenizer is not None:
        count = by_tokenizer(Path(model.tokenizer))
        return count, 1.0, f"the tokenizer of {model.tokenizer}"
    if len(past) < ENOUGH:
        return by_rule, 1.0, "a rule for English text, which may be 10 % off"
    counted = sum(of_request(request, structured=structured) for request, *_ in past)
    ratio = sum(read for _, read, _ in past) / counted
    source = f"from {len(past)} past answers of the model"
    return by_rule, ratio, f"a rule for English text, times {ratio:.2f} {source}"


def _written(past: Past, open_: Sequence[ChatRequest], expected: float) -> tuple[float, str]:
    kinds = {(request.messages[0], request.schema) for request in open_}
    similar = [
        (_material(request), written)
        for request, _, written in past
        if (request.messages[0], request.schema) in kinds and written is not None
    ]
    if len(similar) < ENOUGH:
        return len(open_) * expected, "what they are about makes likely"
    ratio = sum(length for _, length in similar) / sum(read for read, _ in similar)
    return ratio * sum(map(_material, open_)), f"{len(similar)} past ones were"


def _material(request: ChatRequest) -> int:
    """Return the characters of the last message, on which an answer's length depends."""
    return len(request.messages[-1].content)


def _total(requests: Sequence[ChatRequest], count: Count, *, structured: bool) -> float:
    step = -(-len(requests) // SAMPLE) or 1
    sample = requests[::step]
    counted = sum(of_request(request, count, structured=structured) for request in sample)
    if step == 1:
        return counted
    return counted * sum(map(_characters, requests)) / sum(map(_characters, sample))


def _characters(request: ChatRequest) -> int:
    return len(request.schema or "") + sum(len(message.content) for message in request.messages)
