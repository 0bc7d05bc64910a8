"""Text goes to the endpoint that is cleared for it, and into no log or error."""

import logging
import traceback
from collections.abc import Iterator

import pytest

from metassay.core.errors import BadInput
from metassay.llm.client import asker
from metassay.llm.endpoints import clear
from metassay.llm.limits import Policy
from metassay.llm.messages import ChatRequest, Message
from tests.llm.batch_setup import asking, budget_of, endpoint, model
from tests.llm.scripted_server import (
    Answer,
    ScriptedServer,
    answer_with,
    cut,
    dropped,
    echo,
    failed,
    filtered,
    half_json,
    hang,
    rate_limited,
    refused,
    too_long,
)

CANARY = "canary-7f3d9a1c"
LOGGERS = (
    "openai",
    "httpx2",
    "httpx",
    "httpcore2",
    "httpcore",
    "asyncio",
    "metassay",
    "",
)


@pytest.fixture
def elsewhere() -> Iterator[ScriptedServer]:
    """An endpoint that must not see anything."""
    with ScriptedServer() as running:
        yield running


def questions(count: int = 6) -> list[ChatRequest]:
    return [
        ChatRequest("m-1", (Message("user", f"{n}: {CANARY}"),), None, 0.0, None, 40)
        for n in range(count)
    ]


@pytest.mark.parametrize(
    ("access", "sends", "may"),
    [
        ("public", [], True),
        ("credentialed", [], False),
        ("credentialed", ["credentialed"], True),
        ("credentialed", ["private"], False),  # one class does not stand for the other
        ("private", ["credentialed"], False),
        ("private", ["credentialed", "private"], True),
        # an unknown class is nobody's to send
        ("secret", ["credentialed", "private"], False),
    ],
)
def test_text_goes_where_its_class_is_named(
    access: str, sends: list[str], may: bool
) -> None:
    options = endpoint("https://llm.example/v1", sends=sends)
    if may:
        cleared = clear({"mimic": access}, ["mimic"], "ward", options)
        assert cleared == ("ward", options)
        with pytest.raises(AttributeError):
            cleared.options = endpoint("http://127.0.0.1:2")  # type: ignore[misc]
        return
    with pytest.raises(BadInput) as caught:
        clear({"mimic": access}, ["mimic"], "ward", options)
    for part in ("mimic", access, "'ward'", "params.yaml > endpoints > ward > sends"):
        assert part in str(caught.value)


FAULTS: dict[str, Answer] = {
    "answer": answer_with(f"I read {CANARY}"),
    "401": failed(401),
    "404": failed(404),
    "400": failed(400),
    "context": too_long(),
    "filter": filtered(prompt=True),
    "refused": refused(f"not about {CANARY}"),
    "cut": cut(CANARY),
    "429": rate_limited("0.01"),
    "500": failed(500),
    "drop": dropped(midway=True),
    "half": half_json(CANARY),
    "hang": hang(),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_text_in_any_log_or_error(server, ledger, caplog, capfd, fault: str) -> None:
    """Every error that the server sends repeats the prompt, as real ones do."""
    server.script = lambda call: FAULTS[fault]
    for name in LOGGERS:
        caplog.set_level(logging.DEBUG, logger=name)
    timeout = 0.3 if fault == "hang" else 20.0
    ask = asking(server, ledger, Policy(attempts=2, first_wait=0.01), timeout=timeout)
    try:
        replies = ask(questions())
        result = str(
            [(reply.status, reply.error, reply.finish_reason) for reply in replies]
        )
    except BadInput as error:
        result = "".join(traceback.format_exception(error))
    assert CANARY in server.calls[0].prompt  # or there would be nothing to find
    records = [
        record for record in caplog.records if record.name.split(".")[0] in LOGGERS
    ]
    assert any(record.name == "httpx2" for record in records) or fault in (
        "drop",
        "hang",
    )
    written = "".join(f"{r.getMessage()} {r.exc_text} {r.args}" for r in caplog.records)
    assert "POST" in written
    assert CANARY not in written
    assert CANARY not in result
    assert CANARY not in "".join(capfd.readouterr())


def test_an_endpoint_that_is_not_allowed_sees_nothing(
    server, elsewhere, ledger
) -> None:
    with pytest.raises(BadInput):
        clear({"ward": "private"}, ["ward"], "elsewhere", endpoint(elsewhere.base_url))
    may = endpoint(server.base_url, sends=["private"])
    allowed = clear({"ward": "private"}, ["ward"], "here", may)
    asker(allowed, model(), ledger, budget_of(ledger))(questions())
    assert server.requests.total() == 6
    assert not elsewhere.calls


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_takes_no_text_elsewhere(
    server, elsewhere, ledger, status: int
) -> None:
    location = {"Location": f"{elsewhere.base_url}/chat/completions"}
    server.script = lambda call: Answer(status=status, headers=location)
    with pytest.raises(BadInput, match=f"refuses the first question .* HTTP {status}"):
        asking(server, ledger)(questions())
    assert not elsewhere.calls


def test_a_proxy_of_the_environment_sees_nothing(
    server, elsewhere, ledger, monkeypatch
) -> None:
    proxy = f"http://127.0.0.1:{elsewhere.port}"
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy)
    assert {reply.status for reply in asking(server, ledger)(questions())} == {"ok"}
    assert not elsewhere.calls


def test_a_proxy_that_params_name_is_used(server, elsewhere, ledger) -> None:
    elsewhere.script = echo
    ask = asking(server, ledger, proxy=f"http://127.0.0.1:{elsewhere.port}")
    assert {reply.status for reply in ask(questions())} == {"ok"}
    assert not server.calls
    assert {call.path for call in elsewhere.calls} == {
        f"{server.base_url}/chat/completions"
    }
