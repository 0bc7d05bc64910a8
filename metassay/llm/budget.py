"""Tokens and costs: estimates without network, and accounts with a cap that no request can exceed.

The rule for tokens was fitted to English dialogues, notes, questions, abstracts and
JSON with three byte-pair vocabularies (cl100k, o200k, DeepSeek's): it is within 8 % of
each on each kind of text. Errors can be larger in other languages; then the ledger's
counts correct the estimate.

Before each request the most it can cost is reserved: one token per byte of the prompt,
and max_tokens written. Afterwards its actual cost is booked; if that is unknown, the
reserved cost. Accounts are in the ledger's file, for all processes and later runs.
Amounts are integers, in 10^-12 of the currency, up to 4.6 million of it, which SQLite
can count.
"""

import functools
import json
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from metassay.core.errors import BadInput
from metassay.llm.endpoints import ModelOptions, Prices
from metassay.llm.ledger import LIVING, Entry, Ledger, lease_bounds
from metassay.llm.messages import ChatRequest

Count = Callable[[str], float]

PER_REQUEST, PER_MESSAGE = 3, 4  # tokens of OpenAI's chat format
# Bounds of templates with their default texts; a token has at least one byte.
_AT_MOST_PER_REQUEST = 64
_AT_MOST_PER_MESSAGE = 32

_SCHEMA_HEAD = "# Response Formats\n\n## answer\n\n"

_PIECES = re.compile(r"[^\W\d_]+|\d+|\n+|[^\w\s]+|_+")


def estimate_tokens(text: str) -> float:
    """Estimate the tokens of a text by the rule above."""
    return sum(map(_weight, _PIECES.findall(text)))


def tokenizer_counter(folder: Path) -> Count:
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
        raise BadInput(
            f"models > tokenizer: {file} does not exist; name the model's own folder"
        )
    tokenizer = Tokenizer.from_file(str(file))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def count_request_tokens(
    request: ChatRequest, count: Count = estimate_tokens, *, structured: bool
) -> float:
    """Return the tokens that an endpoint counts in a request: messages, format, and schema.

    Only a `structured` endpoint gets the schema, which is assumed to be billed as it
    stands in the prompts of OpenAI's open models (github.com/openai/openai-cookbook,
    articles/openai-harmony.md).
    """
    return (
        PER_REQUEST
        + sum(PER_MESSAGE + count(message.content) for message in request.messages)
        + (
            count(_schema_text(request.schema))
            if structured and request.schema
            else 0.0
        )
    )


def bound_request_tokens(request: ChatRequest) -> int:
    """Return an upper bound of a request's tokens for any vocabulary: one per byte."""
    schema = _schema_text(request.schema) if request.schema else ""
    return (
        _AT_MOST_PER_REQUEST
        + sum(
            _AT_MOST_PER_MESSAGE + len(m.content.encode("utf-8"))
            for m in request.messages
        )
        + len(schema.encode("utf-8"))
    )


@functools.lru_cache(maxsize=64)
def _schema_text(schema: str) -> str:
    return _SCHEMA_HEAD + json.dumps(json.loads(schema), ensure_ascii=False)


@functools.lru_cache(maxsize=65536)
def _weight(piece: str) -> float:
    first = piece[0]
    length = len(piece)
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


# requests that are counted; the others are estimated from their characters
SAMPLE = 1000
PAST, ENOUGH = 200, 20  # the most past answers that are used, and the fewest

# Answered questions, with the tokens that were read and written.
Past = Sequence[tuple[ChatRequest, int, int | None]]


class Estimate(NamedTuple):
    """The open questions to one model, and their cost in the currency of its prices.

    `calls` are distinct questions, of which `calls_in_ledger` are answered; all other
    numbers are of the open ones. Costs are None for a model without prices. Numbers are
    expectations, if every first answer is valid, except `*_at_most`: these assume a
    token per byte of the prompts, answers of max_tokens, and all rounds of unreadable
    answers. Neither has attempts that are repeated after a failure. `counted` tells how
    tokens were counted.
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

    `structured`: the endpoint gets schemas. `completion_tokens` is the expected length
    of an answer, used if there are fewer than ENOUGH past answers to the same first
    message and schema. `most`: the most requests that each leads to, each at most
    `longer` bytes longer. Of more than SAMPLE requests every n-th is counted. BadInput
    if the model's tokenizer does not exist.
    """
    distinct = {request.key: request for request in requests}
    times = (
        {} if most is None else dict(zip([r.key for r in requests], most, strict=True))
    )
    answered = ledger.lookup(distinct)
    open_ = {key: request for key, request in distinct.items() if key not in answered}
    past = ledger.requests(model.model, PAST)
    count, ratio, counted = _counter(past, model, structured=structured)
    wrote, source = _written(past, [*open_.values()], completion_tokens)
    read = round(_total([*open_.values()], count, structured=structured) * ratio)
    written = round(wrote)
    read_most = 0
    written_most = 0
    for key, request in open_.items():
        n = times.get(key, 1)
        read_most += longer * (n - 1) + n * bound_request_tokens(request)
        written_most += n * request.max_tokens
    prices = model.prices

    def cost(read: int, written: int) -> float | None:
        if prices is None:
            return None
        return (
            read * prices.input_per_million + written * prices.output_per_million
        ) / 1e6

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


def _counter(
    past: Past, model: ModelOptions, *, structured: bool
) -> tuple[Count, float, str]:
    if model.tokenizer is not None:
        count = tokenizer_counter(Path(model.tokenizer))
        return count, 1.0, f"the tokenizer of {model.tokenizer}"
    if len(past) < ENOUGH:
        return estimate_tokens, 1.0, "a rule for English text, which may be 10 % off"
    counted = sum(
        count_request_tokens(request, structured=structured) for request, *_ in past
    )
    ratio = sum(read for _, read, _ in past) / counted
    source = f"from {len(past)} past answers of the model"
    return (
        estimate_tokens,
        ratio,
        f"a rule for English text, times {ratio:.2f} {source}",
    )


def _written(
    past: Past, open_: Sequence[ChatRequest], expected: float
) -> tuple[float, str]:
    kinds = {(request.messages[0], request.schema) for request in open_}
    similar = [
        (request, written)
        for request, _, written in past
        if (request.messages[0], request.schema) in kinds and written is not None
    ]
    if len(similar) < ENOUGH:
        return len(open_) * expected, "what they are about makes likely"
    # The last message has what an answer's length depends on.
    material = sum(len(request.messages[-1].content) for request, _ in similar)
    ratio = sum(written for _, written in similar) / material
    length = sum(len(request.messages[-1].content) for request in open_)
    return ratio * length, f"{len(similar)} past ones were"


def _total(requests: Sequence[ChatRequest], count: Count, *, structured: bool) -> float:
    step = -(-len(requests) // SAMPLE) or 1
    sample = requests[::step]
    counted = sum(
        count_request_tokens(request, count, structured=structured)
        for request in sample
    )
    if step == 1:
        return counted
    return counted * sum(map(_characters, requests)) / sum(map(_characters, sample))


def _characters(request: ChatRequest) -> int:
    return len(request.schema or "") + sum(
        len(message.content) for message in request.messages
    )


_UNIT = 10**12
_MOST = 2**62  # half of SQLite's largest integer, so that any two can be added

_LESS_RESERVED = "reserved = max(reserved - ?, 0)"

Billed = Literal["yes", "no", "perhaps"]


class Spending(NamedTuple):
    """An account: the known spending, the most that can be spent, and what the ledger saved.

    Amounts are in `currency`, which is None if no model of the account has a price.
    `at_most` adds calls of unknown cost; `saved` is the cost of the answers that were
    taken from the ledger.
    """

    currency: str | None
    spent: float
    at_most: float
    saved: float
    calls: int
    hits: int


@dataclass(frozen=True)
class Budget:
    """One model's calls on one account, from `open_budget`; `where` is the model's block."""

    ledger: Ledger
    account: str
    model: str
    prices: Prices | None
    max_cost: float | None
    where: str

    def reserve(
        self, request: ChatRequest, key: str, owner: str
    ) -> int | Literal["wait", "over"]:
        """Reserve the most that an attempt can cost; return its number.

        `wait`: it may fit after calls under way are settled. `over`: it cannot fit.
        """
        most = self._cost(bound_request_tokens(request), request.max_tokens)
        with self.ledger.transaction() as connection:
            if self.max_cost is not None:
                query = (
                    "SELECT spent + uncertain, reserved FROM accounts WHERE account = ?"
                )
                ((spent, reserved),) = self.ledger.select(query, self.account)
                cap = round(self.max_cost * _UNIT)
                if spent + most > cap:
                    return "over"
                if spent + reserved + most > cap:
                    return (
                        "wait"
                        if self.sweep() == 0
                        else self.reserve(request, key, owner)
                    )
            self._change(f"{_more('reserved')}, calls = calls + 1", most)
            inserted = connection.execute(
                "INSERT INTO attempts (key, account, model, owner, started, cost)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (key, self.account, self.model, owner, time.time(), most),
            )
            assert inserted.lastrowid is not None
            return inserted.lastrowid

    def settle(
        self,
        attempt: int,
        outcome: str,
        billed: Billed,
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
    ) -> None:
        """Book an attempt with its code and tokens, never at more than was reserved."""
        with self.ledger.transaction():
            query = "SELECT cost FROM attempts WHERE id = ? AND outcome IS NULL"
            rows = self.ledger.select(query, attempt)
            # another process took this one for dead and booked the attempt
            if not rows:
                return
            ((reserved,),) = rows
            if billed == "yes" and (prompt_tokens is None or completion_tokens is None):
                billed = "perhaps"
            actual = self._cost(prompt_tokens or 0, completion_tokens or 0)
            cost = {"yes": min(actual, reserved), "no": 0}.get(billed, reserved)
            column = "uncertain" if billed == "perhaps" else "spent"
            self._change(f"{_LESS_RESERVED}, {_more(column)}", reserved, cost)
            self.ledger.write(
                "UPDATE attempts SET outcome = ?, prompt_tokens = ?, completion_tokens = ?,"
                " cost = ? WHERE id = ?",
                outcome,
                prompt_tokens,
                completion_tokens,
                cost,
                attempt,
            )

    def note_hits(self, entries: Iterable[Entry]) -> None:
        """Book the cost that these answers from the ledger saved."""
        costs = [
            self._cost(e.prompt_tokens or 0, e.completion_tokens or 0) for e in entries
        ]
        if costs:
            change = f"{_more('saved')}, hits = hits + ?"
            self._change(change, min(sum(costs), _MOST), len(costs))

    def _cost(self, prompt_tokens: int, completion_tokens: int) -> int:
        if self.prices is None:
            return 0
        read = round(self.prices.input_per_million * _UNIT / 10**6)
        written = round(self.prices.output_per_million * _UNIT / 10**6)
        return min(prompt_tokens * read + completion_tokens * written, _MOST)

    def _change(self, change: str, *values: int) -> None:
        self.ledger.write(
            f"UPDATE accounts SET {change} WHERE account = ?", *values, self.account
        )

    def sweep(self) -> int:
        """Book the attempts of dead processes at their reserved cost; return their number."""
        with self.ledger.transaction() as connection:
            lost = self.ledger.select(
                "SELECT id, cost FROM attempts WHERE account = ? AND outcome IS NULL"
                " AND NOT EXISTS (SELECT 1 FROM claims WHERE claims.key = attempts.key"
                f" AND claims.owner = attempts.owner AND {LIVING})"
                " AND NOT EXISTS (SELECT 1 FROM batch_lines WHERE batch_lines.key = attempts.key"
                " AND batch_lines.attempt = attempts.id)",
                self.account,
                *lease_bounds(),
            )
            cost = min(sum(row[1] for row in lost), _MOST)
            self._change(f"{_LESS_RESERVED}, {_more('uncertain')}", cost, cost)
            ids = [(row[0],) for row in lost]
            connection.executemany(
                "UPDATE attempts SET outcome = 'lost' WHERE id = ?", ids
            )
            return len(lost)


def open_budget(
    ledger: Ledger,
    account: str,
    model: ModelOptions,
    max_cost: float | None,
    *,
    where: str,
) -> Budget:
    """Open one model's part of an account, which is created if new; `where` is the model's block.

    `max_cost` caps all that was ever booked on it. BadInput: no prices, or a second
    currency.
    """
    prices = model.prices
    if max_cost is not None and prices is None:
        raise BadInput(
            f"{where} > prices: missing, so max_cost cannot be kept; add them (0 for a model of"
            " your own), or remove max_cost"
        )
    budget = Budget(
        ledger=ledger,
        account=account,
        model=model.model,
        prices=prices,
        max_cost=max_cost,
        where=where,
    )
    with ledger.transaction():
        ledger.write("INSERT OR IGNORE INTO accounts (account) VALUES (?)", account)
        ((currency,),) = ledger.select(
            "SELECT currency FROM accounts WHERE account = ?", account
        )
        if prices is not None and currency not in (None, prices.currency):
            raise BadInput(
                f"{where} > prices > currency: {prices.currency}, but account {account!r} is kept"
                f" in {currency}; give all prices of a run in one currency"
            )
        if prices is not None:
            change = "UPDATE accounts SET currency = ? WHERE account = ?"
            ledger.write(change, prices.currency, account)
        budget.sweep()
    return budget


def _more(column: str) -> str:
    return f"{column} = min({column} + ?, {_MOST})"


def booked_cost(ledger: Ledger, key: str) -> float:
    """Return the cost of all attempts at a question, in the currency of their account."""
    ((cost,),) = ledger.select("SELECT total(cost) FROM attempts WHERE key = ?", key)
    return float(cost) / _UNIT


def spent_by_prefix(ledger: Ledger, prefix: str) -> dict[str, float]:
    """Return by currency the most that all accounts with this prefix can have spent."""
    query = (
        "SELECT currency, total(spent + uncertain + reserved) FROM accounts"
        " WHERE substr(account, 1, ?) = ? AND currency IS NOT NULL GROUP BY 1 ORDER BY 1"
    )
    rows = ledger.select(query, len(prefix), prefix)
    return {currency: amount / _UNIT for currency, amount in rows}


def spending(ledger: Ledger, account: str) -> Spending:
    """Return the state of an account; an unknown one is empty."""
    query = (
        "SELECT currency, spent, spent + uncertain + reserved, saved, calls, hits"
        " FROM accounts WHERE account = ?"
    )
    for currency, spent, at_most, saved, calls, hits in ledger.select(query, account):
        return Spending(
            currency=currency,
            spent=spent / _UNIT,
            at_most=at_most / _UNIT,
            saved=saved / _UNIT,
            calls=calls,
            hits=hits,
        )
    return Spending(currency=None, spent=0.0, at_most=0.0, saved=0.0, calls=0, hits=0)
