"""Accounts of costs: what is booked is what an endpoint bills, and no cap is ever exceeded."""

import threading

import pytest

from metassay.core.errors import BadInput
from metassay.llm.budget import (
    Billed,
    Spending,
    booked_cost,
    bound_request_tokens,
    open_budget,
    spending,
    spent_by_prefix,
)
from metassay.llm.client import asker
from metassay.llm.endpoints import Prices, clear
from metassay.llm.ledger import Entry, Ledger
from metassay.llm.limits import Policy
from tests.llm.batch_setup import (
    PRICES,
    asking,
    budget_of,
    endpoint,
    missing,
    model,
    request,
    requests,
)
from tests.llm.scripted_server import (
    Answer,
    Call,
    ScriptedServer,
    answer_with,
    dropped,
    echo,
    failed,
    filtered,
    hang,
)

# 2.5 and 10 units a million tokens: 2.5e-6 for each token read, 1e-5 for each written.
READ, WRITTEN = 2.5e-6, 1e-5
EMPTY = Spending(None, 0.0, 0.0, 0.0, 0, 0)


def paid(server: ScriptedServer) -> float:
    """What the endpoint would put on the bill, by its count."""
    return server.tokens["prompt"] * READ + server.tokens["completion"] * WRITTEN


def most(number: int) -> float:
    """The most that asking a question can cost."""
    return (
        bound_request_tokens(request(number)) * READ
        + request(number).max_tokens * WRITTEN
    )


def reserve(budget, number: int, owner: str = "me"):
    return budget.reserve(request(number), request(number).key, owner)


def test_the_most_a_request_can_cost_by_hand() -> None:
    # "Answer." has 7 bytes, "Question 1?" 11; 64 for the request and 32 for each
    # message.
    assert bound_request_tokens(request(1)) == 64 + 2 * 32 + 7 + 11
    # A heading of 18 + 2 + 9 + 2 bytes, then the schema with a space after its colon; ä
    # has two.
    assert bound_request_tokens(request(1, schema='{"a":"ä"}')) == 146 + 31 + 11
    assert most(1) == pytest.approx(146 * 2.5e-6 + 40 * 1e-5)


def test_a_call_from_reservation_to_bill(ledger) -> None:
    assert spending(ledger, "study") == EMPTY
    budget = budget_of(ledger)
    number = reserve(budget, 1)
    account = spending(ledger, "study")
    assert (account.spent, account.at_most) == (0, pytest.approx(most(1)))
    bill = pytest.approx(17 * READ + 5 * WRITTEN)
    for _ in range(2):  # is booked once
        budget.settle(number, "ok", "yes", 17, 5)
        assert spending(ledger, "study") == Spending("USD", bill, bill, 0.0, 1, 0)
    # What is not billed costs nothing, and what may be costs the most; so may an answer
    # whose endpoint does not say how many tokens it took.
    for outcome, billed in (("http_500", "no"), ("timeout", "perhaps"), ("ok", "yes")):
        budget.settle(reserve(budget, 1), outcome, billed)
    assert spending(ledger, "study").spent == bill
    assert spending(ledger, "study").at_most == pytest.approx(
        bill.expected + 2 * most(1)
    )


def test_a_reservation_waits_or_is_refused(ledger) -> None:
    budget = budget_of(ledger, max_cost=1.5 * most(1))
    ledger.claim(request(1).key, "me", 60)
    first = reserve(budget, 1)
    assert reserve(budget, 2) == "wait"
    budget.settle(first, "http_500", "no")
    second = reserve(budget, 2)
    assert isinstance(second, int)
    budget.settle(second, "timeout", "perhaps")
    assert reserve(budget, 3) == "over"


def test_what_a_dead_process_had_under_way_counts_as_spent(ledger) -> None:
    budget = budget_of(ledger, max_cost=1.5 * most(1))
    ledger.claim(request(1).key, "dead", -1)
    assert isinstance(reserve(budget, 1, "dead"), int)
    assert reserve(budget, 2) == "over"
    assert ledger.attempts() == {"lost": 1}
    assert spending(ledger, "study").at_most == pytest.approx(most(1))


def test_an_account_has_a_single_currency_and_a_cap_needs_prices(ledger) -> None:
    budget_of(ledger)
    with pytest.raises(BadInput, match="EUR, but account 'study' is kept in USD"):
        budget_of(ledger, prices=PRICES.model_copy(update={"currency": "EUR"}))
    with pytest.raises(BadInput, match="models > m > prices: missing, so max_cost"):
        budget_of(ledger, max_cost=1.0, prices=None)
    assert budget_of(ledger, prices=None).max_cost is None


def test_models_without_prices_are_counted_and_cost_nothing(server, ledger) -> None:
    cleared = clear(
        {"invented": "public"}, ["invented"], "here", endpoint(server.base_url)
    )
    ask = asker(cleared, model(), ledger, budget_of(ledger, prices=None))
    ask([request(1)])
    ask([request(1)])
    assert spending(ledger, "study") == EMPTY._replace(calls=1, hits=1)


def test_what_the_ledger_saved_is_the_price_of_its_answers(server, ledger) -> None:
    for _ in range(2):
        asking(server, ledger)(requests(5))
    account = spending(ledger, "study")
    assert account.saved == pytest.approx(account.spent) == pytest.approx(paid(server))
    assert (account.calls, account.hits) == (5, 5)
    other = open_budget(ledger, "other", model(prices=PRICES), 1.0, where="models > m")
    assert spending(ledger, other.account).spent == 0  # accounts are apart


@pytest.mark.parametrize("concurrency", [1, 16])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_the_cap_is_used_up_and_a_higher_cap_goes_on(
    server, ledger, concurrency: int, share: float
) -> None:
    server.script = lambda call: answer_with(
        "word " * (int(call.key, 16) % 38), delay=0.002
    )
    cap = share * 60 * (17 * READ + 19 * WRITTEN)
    codes = missing(
        asking(server, ledger, max_cost=cap, concurrency=concurrency)(requests(60))
    )
    assert set(codes) == {"over_budget"}
    assert cap - most(1) - 1e-9 < paid(server) <= cap
    account = spending(ledger, "study")
    assert account.spent == pytest.approx(paid(server))
    assert account.at_most == pytest.approx(paid(server))
    assert server.requests.total() == 60 - codes["over_budget"]
    replies = asking(server, ledger, max_cost=1.0, concurrency=concurrency)(
        requests(60)
    )
    assert missing(replies) == {}
    assert set(server.requests.values()) == {1}
    account = spending(ledger, "study")
    assert account.spent == pytest.approx(paid(server))
    assert (account.calls, account.hits) == (60, 60 - codes["over_budget"])


def test_the_cap_holds_with_faults(server, ledger) -> None:
    def script(call: Call) -> Answer:
        if call.attempt > 1:
            return echo(call)
        faults = (dropped(), failed(500), filtered(), answer_with("word " * 30))
        return hang() if call.number == 10 else faults[int(call.key, 16) % 4]

    server.script = script
    cap = 40 * most(1)
    policy = Policy(first_wait=0.01)
    ask = asking(server, ledger, policy, max_cost=cap, concurrency=8, timeout=1.0)
    assert missing(ask(requests(120)))["over_budget"] > 0
    account = spending(ledger, "study")
    # What was lost on the way may have been billed at its most; even then the cap
    # holds.
    lost = sum(ledger.attempts().get(code, 0) for code in ("timeout", "connection"))
    assert lost > 0
    assert account.spent == pytest.approx(paid(server))
    assert account.at_most == pytest.approx(paid(server) + lost * most(1), rel=0.01)
    assert account.at_most <= cap


def test_connections_and_later_runs_share_a_cap(server, tmp_path) -> None:
    server.script = lambda call: answer_with("word " * 30, delay=0.005)
    cap = 40 * (17 * READ + 30 * WRITTEN)

    def work(first: int) -> None:
        with Ledger(tmp_path / "ledger.sqlite") as ledger:
            ask = asking(server, ledger, max_cost=cap, concurrency=8)
            replies = ask([request(number) for number in range(first, first + 60)])
            assert missing(replies)["over_budget"] > 0

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 1000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work(2000)
    assert cap - most(1000) < paid(server) <= cap


@pytest.mark.parametrize("billed", ["yes", "perhaps"])
def test_what_cannot_be_counted_stays_at_the_most_and_a_cap_holds(
    tmp_path, billed: Billed
) -> None:
    prices = {"input_per_million": 1e6, "output_per_million": 1e6}
    dear = Prices.model_validate(PRICES.model_dump() | prices)
    questions = [request(number, max_tokens=1_000_000) for number in range(12)]
    questions.append(request("x" * 10_000_000, max_tokens=1_000_000))
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        budget = budget_of(ledger, prices=dear)
        attempts = [
            budget.reserve(question, question.key, "me") for question in questions
        ]
        budget.note_hits([Entry("k", "ok", None, 10**10, 10**10, "")] * 9)
        for attempt in attempts[:-2]:
            budget.settle(attempt, "ok", billed, 100, 1_000_000)
    # sound, and what was under way is booked
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        capped = budget_of(ledger, 4_000_000, prices=dear)
        assert spending(ledger, "study").at_most >= 4_000_000
        assert spent_by_prefix(ledger, "st")["USD"] >= 4_000_000
        assert reserve(capped, 1) == "over"
        assert booked_cost(ledger, questions[-1].key) > 4_000_000
