"""Accounts of costs, with a cap: no request is sent that could exceed it.

Before each request the most it can cost is reserved: one token per byte of the prompt, and
max_tokens written. Afterwards its actual cost is booked; if that is unknown, the reserved cost.
Accounts are in the ledger's file, for all processes and later runs. Amounts are integers, in
10^-12 of the currency, up to 4.6 million of it, which SQLite can count.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from metassay.core.errors import BadInput
from metassay.llm.endpoints import ModelOptions, Prices
from metassay.llm.estimate import at_most as most_tokens
from metassay.llm.ledger import LIVING, Entry, Ledger, lease_bounds
from metassay.llm.messages import ChatRequest

_UNIT = 10**12
_MILLION = 10**6
_MOST = 2**62  # half of SQLite's largest integer, so that any two can be added

_LESS_RESERVED = "reserved = max(reserved - ?, 0)"

Billed = Literal["yes", "no", "perhaps"]


class Spending(NamedTuple):
    """An account: the known spending, the most that can be spent, and what the ledger saved.

    Amounts are in `currency`, which is None if no model of the account has a price. `at_most` adds
    calls of unknown cost; `saved` is the cost of the answers that were taken from the ledger.
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

    def reserve(self, request: ChatRequest, key: str, owner: str) -> int | Literal["wait", "over"]:
        """Reserve the most that an attempt can cost; return its number.

        `wait`: it may fit after calls under way are settled. `over`: it cannot fit.
        """
        most = self._cost(most_tokens(request), request.max_tokens)
        with self.ledger.transaction() as connection:
            if self.max_cost is not None:
                query = "SELECT spent + uncertain, reserved FROM accounts WHERE account = ?"
                ((spent, reserved),) = self.ledger.select(query, self.account)
                cap = round(self.max_cost * _UNIT)
                if spent + most > cap:
                    return "over"
                if spent + reserved + most > cap:
                    return "wait" if self.sweep() == 0 else self.reserve(request, key, owner)
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
            if not rows:  # another process took this one for dead and booked the attempt
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
                *(outcome, prompt_tokens, completion_tokens, cost, attempt),
            )

    def note_hits(self, entries: Iterable[Entry]) -> None:
        """Book the cost that these answers from the ledger saved."""
        costs = [self._cost(e.prompt_tokens or 0, e.completion_tokens or 0) for e in entries]
        if costs:
            change = f"{_more('saved')}, hits = hits + ?"
            self._change(change, min(sum(costs), _MOST), len(costs))

    def _cost(self, prompt_tokens: int, completion_tokens: int) -> int:
        if self.prices is None:
            return 0
        read = round(self.prices.input_per_million * _UNIT / _MILLION)
        written = round(self.prices.output_per_million * _UNIT / _MILLION)
        return min(prompt_tokens * read + completion_tokens * written, _MOST)

    def _change(self, change: str, *values: int) -> None:
        self.ledger.write(f"UPDATE accounts SET {change} WHERE account = ?", *values, self.account)

    def sweep(self) -> int:
        """Book the attempts of dead processes at their reserved cost; return their number."""
        with self.ledger.transaction() as connection:
            lost = self.ledger.select(
                "SELECT id, cost FROM attempts WHERE account = ? AND outcome IS NULL"
                " AND NOT EXISTS (SELECT 1 FROM claims WHERE claims.key = attempts.key"
                f" AND claims.owner = attempts.owner AND {LIVING})"
                " AND NOT EXISTS (SELECT 1 FROM batch_lines WHERE batch_lines.key = attempts.key"
                " AND batch_lines.attempt = attempts.id)",
                *(self.account, *lease_bounds()),
            )
            cost = min(sum(row[1] for row in lost), _MOST)
            self._change(f"{_LESS_RESERVED}, {_more('uncertain')}", cost, cost)
            ids = [(row[0],) for row in lost]
            connection.executemany("UPDATE attempts SET outcome = 'lost' WHERE id = ?", ids)
            return len(lost)


def open_budget(
    ledger: Ledger, account: str, model: ModelOptions, max_cost: float | None, *, where: str
) -> Budget:
    """Open one model's part of an account, which is created if new; `where` is the model's block.

    `max_cost` caps all that was ever booked on it. BadInput: no prices, or a second currency.
    """
    prices = model.prices
    if max_cost is not None and prices is None:
        raise BadInput(
            f"{where} > prices: missing, so max_cost cannot be kept; add them (0 for a model of"
            " your own), or remove max_cost"
        )
    budget = Budget(ledger, account, model.model, prices, max_cost, where)
    with ledger.transaction():
        ledger.write("INSERT OR IGNORE INTO accounts (account) VALUES (?)", account)
        ((currency,),) = ledger.select("SELECT currency FROM accounts WHERE account = ?", account)
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
        return Spending(currency, spent / _UNIT, at_most / _UNIT, saved / _UNIT, calls, hits)
    return Spending(None, 0.0, 0.0, 0.0, 0, 0)
