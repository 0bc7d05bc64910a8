import datetime
import threading

import pytest

from metassay.core.errors import BadInput
from metassay.llm.budget import (
    Billed,
    Budget,
    Spending,
    at_most,
    booked_cost,
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
    Call,
    ScriptedServer,
    dropped,
    echo,
    failed,
    filtered,
    hang,
    said,
)

# 2.5 and 10 units a million tokens: 2.5e-6 for each token read, 1e-5 for each written.
READ, WRITTEN = 2.5e-6, 1e-5


def paid(server: ScriptedServer) -> float:
    """What the endpoint would put on the bill, by its own count."""
    return server.tokens["prompt"] * READ + server.tokens["completion"] * WRITTEN


def most(number: int) -> float:
    """The most that asking a question can cost."""
    question = request(number)
    return at_most(question) * READ + question.max_tokens * WRITTEN


def test_the_most_a_request_can_cost_by_hand() -> None:
    # "Answer." has 7 bytes, "Question 1?" 11; 64 for the request and 32 for each message.
    assert at_most(request(1)) == 64 + 2 * 32 + 7 + 11
    # A heading of 18 + 2 + 9 + 2 bytes, then the schema with a space after its colon; ä has two.
    assert at_most(request(1, schema='{"a":"ä"}')) == 146 + 31 + 11
    assert most(1) == pytest.approx(146 * 2.5e-6 + 40 * 1e-5)


def test_one_call_from_reservation_to_bill(ledger) -> None:
    budget = budget_of(ledger)
    number = budget.reserve(request(1), request(1).key, "me")
    assert isinstance(number, int)
    account = spending(budget.ledger, budget.account)
    assert account.spent == 0
    assert account.at_most == pytest.approx(most(1))
    budget.settle(number, "ok", "yes", 17, 5)
    assert spending(budget.ledger, budget.account) == Spending(
        "USD",
        pytest.approx(17 * READ + 5 * WRITTEN),
        pytest.approx(17 * READ + 5 * WRITTEN),
        0.0,
        1,
        0,
    )
    budget.settle(number, "ok", "yes", 17, 5)  # is booked once
    assert spending(budget.ledger, budget.account).spent == pytest.approx(17 * READ + 5 * WRITTEN)


def test_what_is_not_billed_costs_nothing_and_what_may_be_costs_the_most(ledger) -> None:
    budget = budget_of(ledger)
    for outcome, billed in (("http_500", "no"), ("timeout", "perhaps"), ("ok", "yes")):
        number = budget.reserve(request(1), request(1).key, "me")
        assert isinstance(number, int)
        budget.settle(number, outcome, billed)  # type: ignore[arg-type]
    # An answer whose endpoint does not say how many tokens it took may have cost the most, too.
    account = spending(budget.ledger, budget.account)
    assert account.spent == 0
    assert account.at_most == pytest.approx(2 * most(1))


def test_a_reservation_waits_or_is_refused(ledger) -> None:
    budget = budget_of(ledger, max_cost=1.5 * most(1))
    ledger.claim(request(1).key, "me", 60)
    first = budget.reserve(request(1), request(1).key, "me")
    assert isinstance(first, int)
    assert budget.reserve(request(2), request(2).key, "me") == "wait"
    budget.settle(first, "http_500", "no")
    second = budget.reserve(request(2), request(2).key, "me")
    assert isinstance(second, int)
    budget.settle(second, "timeout", "perhaps")
    assert budget.reserve(request(3), request(3).key, "me") == "over"


def test_what_a_dead_process_had_under_way_counts_as_spent(ledger) -> None:
    budget = budget_of(ledger, max_cost=1.5 * most(1))
    ledger.claim(request(1).key, "dead", -1)
    assert isinstance(budget.reserve(request(1), request(1).key, "dead"), int)
    assert budget.reserve(request(2), request(2).key, "me") == "over"
    assert ledger.attempts() == {"lost": 1}
    assert spending(budget.ledger, budget.account).at_most == pytest.approx(most(1))


def test_an_account_has_one_currency_and_a_cap_needs_prices(ledger) -> None:
    budget_of(ledger)
    euros = Prices(
        date=datetime.date(2026, 1, 1), input_per_million=1, output_per_million=1, currency="EUR"
    )
    with pytest.raises(BadInput, match="EUR, but account 'study' is kept in USD"):
        budget_of(ledger, prices=euros)
    with pytest.raises(BadInput, match="models > m > prices: missing, so max_cost"):
        budget_of(ledger, max_cost=1.0, prices=None)
    assert budget_of(ledger, prices=None).max_cost is None


def test_an_unknown_account_is_empty(ledger) -> None:
    assert spending(ledger, "nobody's") == Spending(None, 0.0, 0.0, 0.0, 0, 0)


def test_models_without_prices_are_counted_and_cost_nothing(server, ledger) -> None:
    budget = budget_of(ledger, prices=None)
    cleared = clear({"invented": "public"}, ["invented"], "here", endpoint(server.base_url))
    ask = asker(cleared, model(), ledger, budget)
    ask([request(1)])
    ask([request(1)])
    assert spending(budget.ledger, budget.account) == Spending(None, 0.0, 0.0, 0.0, 1, 1)


@pytest.mark.parametrize("concurrency", [1, 16])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9])
def test_the_cap_holds_and_a_higher_one_goes_on(
    server, ledger, concurrency: int, share: float
) -> None:
    server.script = lambda call: said("word " * (int(call.key, 16) % 38), delay=0.002)
    questions = requests(60)
    each = 17 * READ + 19 * WRITTEN
    cap = share * 60 * each
    replies = asking(server, ledger, max_cost=cap, concurrency=concurrency)(questions)
    codes = missing(replies)
    assert set(codes) == {"over_budget"}
    assert paid(server) <= cap
    assert spending(ledger, "study").spent == pytest.approx(paid(server))
    assert spending(ledger, "study").at_most == pytest.approx(paid(server))
    # The cap is used, but for what one call could cost at most.
    assert paid(server) > cap - most(1) - 1e-9
    assert server.requests.total() == 60 - codes["over_budget"]
    replies = asking(server, ledger, max_cost=1.0, concurrency=concurrency)(questions)
    assert missing(replies) == {}
    assert set(server.requests.values()) == {1}
    account = spending(ledger, "study")
    assert account.spent == pytest.approx(paid(server))
    assert (account.calls, account.hits) == (60, 60 - codes["over_budget"])


def test_a_second_run_under_the_same_cap_spends_only_what_the_first_left(server, tmp_path) -> None:
    server.script = lambda call: said("word " * 30)
    cap = 20 * (17 * READ + 30 * WRITTEN)
    for _ in range(3):
        with Ledger(tmp_path / "ledger.sqlite") as ledger:
            ask = asking(server, ledger, max_cost=cap, concurrency=16)
            replies = ask(requests(60))
            assert missing(replies)["over_budget"] > 0
            assert cap - most(10) < paid(server) <= cap
            assert spending(ledger, "study").spent == pytest.approx(paid(server))


def test_the_cap_holds_with_faults(server, ledger) -> None:
    def script(call: Call) -> object:
        faults = (dropped, lambda: failed(500), filtered, lambda: said("word " * 30))
        if call.attempt > 1:
            return echo(call)
        return hang() if call.number == 10 else faults[int(call.key, 16) % 4]()

    server.script = script  # type: ignore[assignment]
    cap = 40 * most(1)
    policy = Policy(first_wait=0.01)
    ask = asking(server, ledger, policy, max_cost=cap, concurrency=8, timeout=1.0)
    replies = ask(requests(120))
    assert missing(replies)["over_budget"] > 0
    account = spending(ledger, "study")
    # What was lost on the way may have been billed at its most; even then the cap holds.
    lost = sum(ledger.attempts().get(code, 0) for code in ("timeout", "connection"))
    assert lost > 0
    assert account.spent == pytest.approx(paid(server))
    assert account.at_most == pytest.approx(paid(server) + lost * most(1), rel=0.01)
    assert account.at_most <= cap


def test_two_connections_keep_to_one_cap(server, tmp_path) -> None:
    server.script = lambda call: said("word " * 30, delay=0.005)
    cap = 40 * (17 * READ + 30 * WRITTEN)

    def work(first: int) -> None:
        with Ledger(tmp_path / "ledger.sqlite") as ledger:
            ask = asking(server, ledger, max_cost=cap, concurrency=8)
            ask([request(number) for number in range(first, first + 60)])

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 1000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cap - most(1000) < paid(server) <= cap


def test_what_the_ledger_saved_is_the_price_of_its_answers(server, ledger) -> None:
    questions = requests(5)
    asking(server, ledger)(questions)
    asking(server, ledger)(questions)
    account = spending(ledger, "study")
    assert account.saved == pytest.approx(account.spent) == pytest.approx(paid(server))
    assert (account.calls, account.hits) == (5, 5)


def test_accounts_are_apart(server, ledger) -> None:
    asking(server, ledger)([request(1)])
    other = open_budget(ledger, "other", model(prices=PRICES), 1.0, where="models > m")
    assert isinstance(other, Budget)
    assert spending(other.ledger, other.account).spent == 0
    assert spending(ledger, "study").spent > 0


@pytest.mark.parametrize("billed", ["yes", "perhaps"])
def test_what_cannot_be_counted_stays_at_the_most_and_a_cap_holds(tmp_path, billed: Billed) -> None:
    dear = Prices.model_validate(
        PRICES.model_dump() | {"input_per_million": 1e6, "output_per_million": 1e6}
    )
    questions = [request(number, max_tokens=1_000_000) for number in range(12)]
    questions.append(request("x" * 10_000_000, max_tokens=1_000_000))
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        budget = budget_of(ledger, prices=dear)
        attempts = [budget.reserve(question, question.key, "me") for question in questions]
        budget.note_hits([Entry("k", "ok", None, 10**10, 10**10, "")] * 9)
        for attempt in attempts[:-2]:
            assert isinstance(attempt, int)
            budget.settle(attempt, "ok", billed, 100, 1_000_000)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:  # sound, and what was under way is booked
        capped = budget_of(ledger, 4_000_000, prices=dear)
        assert spending(capped.ledger, capped.account).at_most >= 4_000_000
        assert spent_by_prefix(ledger, "st")["USD"] >= 4_000_000
        assert capped.reserve(request(1), "k", "me") == "over"
        assert booked_cost(ledger, questions[-1].key) > 4_000_000
