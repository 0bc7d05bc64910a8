"""Structured answers over real HTTP: for every fault of a server, every item has one result."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import pytest

from metassay.llm import endpoints
from metassay.llm.budget import open_budget
from metassay.llm.client import asker
from metassay.llm.endpoints import EndpointOptions, ModelOptions
from metassay.llm.ledger import Ledger
from metassay.llm.limits import Policy
from metassay.llm.messages import Ask, ChatRequest, Message
from metassay.llm.prompts import Decoding
from metassay.llm.structured import (
    Again,
    Answer,
    Group,
    Item,
    ItemResult,
    ask_groups,
    numbered,
    schema_of,
)
from tests.llm import scripted_server as server


class Verdict(Answer):
    """A yes or no about one claim."""

    label: Literal[0, 1]


GROUPS = (1, 3, 4)  # items in each
HARD = "claim 4.2"  # what the faults below are about


def numbers_in(call: server.Call) -> list[int]:
    # A question that is asked again has what was wrong below its items.
    asked, _ = json.JSONDecoder().raw_decode(call.body["messages"][-1]["content"])
    return [item["number"] for item in asked]


def sound(call: server.Call) -> str:
    return json.dumps({"items": [{"number": n, "label": n % 2} for n in numbers_in(call)]})


def about_the_hard_one(call: server.Call) -> bool:
    return HARD in call.prompt


class Fault(NamedTuple):
    """What the server does wrong, and what the items must end as.

    `all` are those of the group with the hard item, in order; every other item is ok.
    """

    answer: Callable[[server.Call], server.Answer]
    all: tuple[str, ...]


OK = ("ok",) * 4
PASSING = {  # wrong at first, right when asked again
    "429": lambda call: server.rate_limited("0.01"),
    "500": lambda call: server.failed(500),
    "hang": lambda call: server.hang(),
    "dropped": lambda call: server.dropped(),
    "dropped midway": lambda call: server.dropped(midway=True),
    "half an HTTP body": lambda call: server.half_json(sound(call)),
}
LASTING = {
    "prose": Fault(lambda call: server.said(server.with_prose(sound(call))), OK),
    "thoughts, with another answer in them": Fault(
        lambda call: server.said(
            f"<think>\nPerhaps {sound(call).replace('0', '1')}?\n</think>\n\n{sound(call)}"
        ),
        OK,
    ),
    "thoughts without an end": Fault(
        lambda call: server.said(f"<think>\nPerhaps {sound(call)}"), (*OK[:2], "truncated", "ok")
    ),
    "a refusal in words": Fault(
        lambda call: server.said("I'm sorry, but I can't help with that."),
        (*OK[:2], "unparsed", "ok"),
    ),
    "half a JSON": Fault(lambda call: server.said(sound(call)[:-9]), (*OK[:2], "unparsed", "ok")),
    "no JSON": Fault(lambda call: server.said("Claim 2: 1."), (*OK[:2], "unparsed", "ok")),
    "one too few": Fault(
        lambda call: server.said(server.with_items(sound(call), len(numbers_in(call)) - 1)),
        OK,  # the last is missing, and is right when it is asked about alone
    ),
    "one twice": Fault(
        lambda call: server.said(server.with_items(sound(call), len(numbers_in(call)) + 1)),
        OK,  # so is the first, which is there twice
    ),
    "refusal": Fault(lambda call: server.refused(), (*OK[:2], "refused", "ok")),
    "length": Fault(lambda call: server.cut(sound(call)), (*OK[:2], "truncated", "ok")),
    "filtered answer": Fault(lambda call: server.filtered(), (*OK[:2], "refused", "ok")),
    "filtered prompt": Fault(lambda call: server.filtered(prompt=True), (*OK[:2], "refused", "ok")),
    "500": Fault(lambda call: server.failed(500), ("error",) * 4),
    "too long": Fault(lambda call: server.too_long(), ("error",) * 4),
    "no choices": Fault(lambda call: server.Answer(fault="no_choices"), ("error",) * 4),
}


PROMPTS = Path(__file__).parents[2] / "prompts"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


MODEL = ModelOptions(endpoint="here", model="invented-1", seed=1, max_tokens=50)


def connect(running: server.ScriptedServer, ledger: Ledger, timeout: float = 20.0) -> Ask:
    endpoint = EndpointOptions(
        kind="openai", base_url=running.base_url, concurrency=4, timeout=timeout, structured=True
    )
    cleared = endpoints.check("public", "invented", "here", endpoint)
    budget = open_budget(ledger, "test", MODEL, None, where="test")
    return asker(cleared, MODEL, ledger, budget, Policy(attempts=3, first_wait=0.01))


def build(items: list[Item]) -> ChatRequest:
    listed = json.dumps([{"number": item.number, "claim": item.content} for item in items])
    return Decoding.of(MODEL).request([Message("user", listed)], schema_of(Verdict))


def ask_all(ask: Ask) -> list[list[ItemResult[Verdict]]]:
    groups = [Group(numbered([f"claim {g}.{n}" for n in range(g)]), build, Verdict) for g in GROUPS]
    return ask_groups(ask, groups, rounds=2, again=Again(PROMPTS))


def check_values(results: list[list[ItemResult[Verdict]]]) -> None:
    assert [len(group) for group in results] == list(GROUPS)
    for group in results:
        for number, result in enumerate(group, start=1):
            assert (result.value is None) == (result.status != "ok")
            if result.value is not None:
                assert (result.value.number, result.value.label) == (number, number % 2)


@pytest.mark.parametrize("fault", PASSING)
def test_what_passes_leaves_no_trace(fault: str, ledger: Ledger) -> None:
    def script(call: server.Call) -> server.Answer:
        wrong = about_the_hard_one(call) and call.attempt == 1
        return PASSING[fault](call) if wrong else server.said(sound(call))

    with server.ScriptedServer(script) as running:
        timeout = 1.0 if fault == "hang" else 20.0
        results = ask_all(connect(running, ledger, timeout))
        undisturbed = ask_all(connect(running, ledger))
        assert running.requests.total() == len(GROUPS) + 1
    check_values(results)
    assert {result.status for group in results for result in group} == {"ok"}
    assert results == undisturbed


@pytest.mark.parametrize("fault", LASTING)
def test_what_stays_wrong_is_a_status_of_its_items_alone(fault: str, ledger: Ledger) -> None:
    answer, expected = LASTING[fault]

    def script(call: server.Call) -> server.Answer:
        return answer(call) if about_the_hard_one(call) else server.said(sound(call))

    with server.ScriptedServer(script) as running:
        results = ask_all(connect(running, ledger))
    check_values(results)
    assert [tuple(r.status for r in group) for group in results] == [OK[:1], OK[:3], expected]
