"""Questions asked singly: answered once, repeated where that can help, and never paid for twice."""

import asyncio
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from email.utils import formatdate

import pytest

from metassay.core.errors import BadInput
from metassay.llm.limits import Policy
from metassay.llm.messages import Reply
from tests.llm.batch_setup import asking, missing, request, requests
from tests.llm.scripted_server import (
    Answer,
    Call,
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
    whole,
)


def saying(status: int, words: str) -> Answer:
    return whole({"error": {"message": words}}, status=f"{status} x")


def statuses(replies: list[Reply]) -> set[str]:
    return {reply.status for reply in replies}


def in_threads(
    many: int, ask: Callable[[], list[Reply]], pause: float = 0.0
) -> list[Counter[str]]:
    """How many questions have which status, as each of several threads asks, a pause apart."""
    with ThreadPoolExecutor(many) as pool:
        running = []
        for _ in range(many):
            running.append(pool.submit(ask))
            time.sleep(pause)
    return [Counter(reply.status for reply in replies.result()) for replies in running]


def test_one_reply_per_request_in_order(server, ledger) -> None:
    server.script = lambda call: answer_with(
        call.prompt, delay=0.001 * (len(call.prompt) % 7)
    )
    questions = requests(100)
    replies = asking(server, ledger, concurrency=16)(questions)
    assert [reply.text for reply in replies] == [
        f"Answer.\nQuestion {n}?" for n in range(100)
    ]
    assert [reply.key for reply in replies] == [question.key for question in questions]
    assert {(r.status, r.finish_reason, r.attempts, r.error) for r in replies} == {
        ("ok", "stop", 1, None)
    }
    assert 8 < server.most_at_once <= 16


def test_equal_questions_are_asked_once_and_repetitions_on_purpose_again(
    server, ledger
) -> None:
    server.script = lambda call: answer_with(f"{call.number} words.")
    ask = asking(server, ledger, concurrency=1)
    before = ask([request(1), request(2), request(1), request(1, repeat=1)])
    assert [reply.text for reply in before] == [
        "1 words.",
        "2 words.",
        "1 words.",
        "3 words.",
    ]
    # 3 for the request, 4 a message; "Answer" "." and "Question" "1" "?"; three pieces written
    assert (before[0].prompt_tokens, before[0].completion_tokens) == (
        3 + 4 + 2 + 4 + 3,
        3,
    )
    after = ask([request(2), request(3), request(1)])
    assert [reply.attempts for reply in after] == [0, 1, 0]
    assert (after[0].text, after[2].text) == (before[1].text, before[0].text)
    assert ask([]) == []
    assert server.requests.total() == 4


FAULTS = {  # what may pass, and the code of who gives up on it
    **{f"{code}": (failed(code), f"http_{code}") for code in (408, 409, 425, 500, 503)},
    "429": (rate_limited("0"), "http_429"),
    "429 bare": (rate_limited(None), "http_429"),
    "drop": (dropped(), "connection"),
    "midway": (dropped(midway=True), "connection"),
    "half": (half_json(), "bad_reply"),
    "no choice": (Answer("x", fault="no_choices"), "bad_reply"),
    "hang": (hang(), "timeout"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_may_pass_is_asked_again_and_failures_are_not_stored(
    server, ledger, name
) -> None:
    fault, code = FAULTS[name]
    timeout = 0.3 if name == "hang" else 20.0
    server.script = lambda call: fault if call.attempt <= 2 else echo(call)
    replies = asking(server, ledger, timeout=timeout)(requests(2))
    assert {reply.status for reply in replies} == {"ok"}
    if name != "hang":  # a busy machine may answer after .3 s, too
        assert (
            {reply.attempts for reply in replies}
            == {3}
            == set(server.requests.values())
        )
        assert set(server.answered.values()) == {1}
    server.script = lambda call: fault
    policy = Policy(attempts=2, first_wait=0.01)
    (reply,) = asking(server, ledger, policy, timeout=timeout)([request("new")])
    assert (reply.status, reply.error, reply.attempts, reply.text) == (
        "error",
        code,
        2,
        None,
    )
    attempts = ledger.attempts()
    assert attempts == {code: attempts[code] if name == "hang" else 6, "ok": 2}
    assert attempts[code] >= 6
    server.script = echo
    assert statuses(asking(server, ledger)([request("new")])) == {"ok"}


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (too_long(), "context_length"),
        (saying(400, "The maximum context length is 2048 tokens"), "context_length"),
        (failed(400), "http_400"),
        (failed(403), "http_403"),
        (failed(422), "http_422"),
        (Answer(status=307, headers={"Location": "/v1/chat/completions"}), "http_307"),
    ],
    ids=["context", "context in words", "400", "403", "422", "redirect"],
)
def test_what_cannot_succeed_is_asked_once(
    server, ledger, fault: Answer, code: str
) -> None:
    server.script = lambda call: fault if "7" in call.prompt else echo(call)
    replies = asking(server, ledger)(requests(10))
    assert [reply.error for reply in replies] == [
        code if n == 7 else None for n in range(10)
    ]
    assert replies[7].attempts == 1
    assert server.requests.total() == 10


def test_final_answers_of_every_kind_are_stored(server, ledger) -> None:
    kinds = {
        "A": (answer_with("yes"), ("ok", "yes", None)),
        "B": (cut("half an ans"), ("truncated", "half an ans", None)),
        "C": (refused("I would rather not."), ("refused", None, "refusal")),
        "D": (filtered(), ("refused", None, "content_filter")),
        "E": (filtered(prompt=True), ("refused", None, "content_filter")),
        "F": (Answer(None), ("ok", "", None)),
    }
    server.script = lambda call: kinds[call.prompt[-2]][0]
    ask = asking(server, ledger)
    questions = [request(kind) for kind in kinds]
    for _ in range(2):
        replies = ask(questions)
        assert [(r.status, r.text, r.error) for r in replies] == [
            e for _, e in kinds.values()
        ]
    assert server.requests.total() == len(kinds)
    assert (
        ledger.lookup([questions[2].key])[questions[2].key].text
        == "I would rather not."
    )


@pytest.mark.parametrize("wait", ["seconds", "date", "quota"])
def test_nothing_goes_out_before_the_time_that_a_server_gives(
    server, ledger, wait: str
) -> None:
    times: list[float] = []
    quota = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s"}

    def script(call: Call) -> Answer:
        times.append(time.monotonic())
        if call.number > 1:
            return answer_with("yes", delay=0.2)
        late = formatdate(time.time() + 2, usegmt=True) if wait == "date" else "1"
        return Answer("yes", headers=quota) if wait == "quota" else rate_limited(late)

    server.script = script
    ask = asking(server, ledger, Policy(first_wait=0.01), concurrency=2)
    assert statuses(ask(requests(8))) == {"ok"}
    # Everybody waits, not only the request that was turned away; one more may be under
    # way then. A date counts whole seconds. Nobody waits for the longest wait of all, a
    # minute.
    later = [at - times[0] for at in times[2:]]
    assert (0.5 if wait == "date" else 0.95) <= min(later) < 20


@pytest.mark.parametrize(
    ("answer", "remedy"),
    [
        (failed(401), "check the environment variable METASSAY_TEST_KEY"),
        (failed(404), "check params.yaml > endpoints > here > base_url"),
        (failed(402), "no credit left; add credit to it"),
        (failed(429, "insufficient_quota"), "no quota left"),
        (
            saying(400, "Your credit balance is too low to access the API."),
            "add credit to it",
        ),
        (
            saying(400, "API key not valid. Please pass a valid one."),
            "METASSAY_TEST_KEY",
        ),
        (saying(400, "Incorrect API key provided: sk***et."), "METASSAY_TEST_KEY"),
    ],
    ids=[
        "401",
        "404",
        "402",
        "quota",
        "credit in words",
        "key in words",
        "key in other words",
    ],
)
def test_a_dead_end_stops_everything_and_keeps_what_came(
    server, ledger, monkeypatch, answer: Answer, remedy: str
) -> None:
    monkeypatch.setenv("METASSAY_TEST_KEY", " sk-very-secret\n")
    server.script = lambda call: (
        answer if call.number == 30 else answer_with("yes", delay=0.01)
    )
    ask = asking(server, ledger, key_env="METASSAY_TEST_KEY", concurrency=8)
    questions = requests(80)
    with pytest.raises(BadInput) as caught:
        ask(questions)
    assert "endpoint 'here'" in str(caught.value)
    assert remedy in str(caught.value)
    assert "secret" not in repr(caught.value)
    assert server.calls[0].headers["authorization"] == "Bearer sk-very-secret"
    # what was under way came in, and no more
    assert 29 <= server.requests.total() <= 30 + 8
    assert f"{80 - server.answered.total()} of 80 answers are missing" in str(
        caught.value
    )
    stored = sum(holding[2] for holding in ledger.holdings())
    assert stored == server.answered.total() == server.requests.total() - 1
    server.script = echo
    assert statuses(ask(questions)) == {"ok"}
    assert set(server.answered.values()) == {1}


def test_a_dead_end_wakes_those_who_wait_for_their_turn(server, ledger) -> None:
    asking(server, ledger)([request("first")])
    server.script = lambda call: Answer(status=404, delay=0.5)
    ask = asking(server, ledger, requests_per_minute=2, concurrency=8)
    start = time.monotonic()
    with pytest.raises(BadInput, match="20 of 20 answers are missing"):
        ask(requests(20))
    # the second would have had its turn after a minute
    assert time.monotonic() - start < 25
    assert server.requests.total() == 2
    assert ledger.attempts() == {"ok": 1, "http_404": 1, "stopped": 7}


@pytest.mark.parametrize("value", [None, "", "  ", "sk-\x07bell", "sk-\u00e9"])
def test_a_missing_or_broken_key_stops_before_anything_is_sent(
    server, ledger, monkeypatch, value: str | None
) -> None:
    monkeypatch.delenv("METASSAY_TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("METASSAY_TEST_KEY", value)
    with pytest.raises(
        BadInput, match=r"METASSAY_TEST_KEY .*endpoints > here > key_env"
    ) as caught:
        asking(server, ledger, key_env="METASSAY_TEST_KEY")([request(1)])
    assert "sk-" not in str(caught.value)
    with pytest.raises(ValueError, match="'m-2'"):  # another model's question is a bug
        asking(server, ledger)([replace(request(1), model="m-2")])
    assert not server.calls
    server.script = lambda call: failed(401)
    with pytest.raises(BadInput, match=r"name the variable that holds it .* key_env"):
        asking(server, ledger)([request(1)])  # a key is wanted, and none is named


def test_endpoints_that_are_down_are_given_up_on_the_sooner_the_less_they_said(
    server, ledger
) -> None:
    policy = Policy(attempts=2, first_wait=0.001)
    server.script = lambda call: too_long() if "7?" in call.prompt else failed(500)
    ask = asking(server, ledger, policy, concurrency=4)
    codes = missing(ask([request(number) for number in range(6, 20)]))
    assert codes == {"context_length": 1, "http_500": 3, "endpoint_down": 10}
    assert server.most_at_once == 1
    server.script = echo
    ask([request("first")])
    server.script = lambda call: failed(500)
    replies = ask(requests(300))
    codes = missing(replies)
    assert codes["http_500"] + codes["endpoint_down"] == 300
    assert 32 <= codes["http_500"] <= 32 + 4
    assert {reply.attempts for reply in replies if reply.error == "endpoint_down"} == {
        0
    }
    # One that fails now and then is not down.
    server.script = lambda call: failed(500) if "7" in call.prompt else echo(call)
    replies = asking(server, ledger, Policy(attempts=1))(requests(300))
    assert missing(replies) == {"http_500": sum("7" in str(n) for n in range(300))}


def test_an_endpoint_that_is_not_there_or_drips_is_not_waited_for(ledger) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        (reply,) = asking(url, ledger, Policy(attempts=2, first_wait=0.01))(
            [request(1)]
        )
    assert (reply.error, reply.attempts) == ("connection", 2)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:  # a byte now and then resets a read timeout for ever
            connection, _ = listening.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                for _ in range(1200):  # a minute
                    time.sleep(0.05)
                    try:
                        connection.sendall(b" ")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        start = time.monotonic()
        (reply,) = asking(url, ledger, Policy(attempts=1), timeout=0.4)([request(1)])
        assert reply.error == "timeout"
        assert time.monotonic() - start < 30
        thread.join()


def test_what_is_sent(server, ledger, monkeypatch) -> None:
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "OPENAI_ADMIN_KEY",
    ):
        monkeypatch.setenv(name, "from-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/elsewhere")
    ask = asking(server, ledger, structured=True)
    ask([request(1, schema='{"type":"object"}', seed=5, temperature=0.5)])
    extra = (
        '{"chat_template_kwargs":{"enable_thinking":false},"reasoning_effort":"low"}'
    )
    newer = {"structured": "json_object", "extra": extra, "logprobs": 5}
    ask([request(2, schema="{}", temperature=None, **newer)])
    asking(server, ledger)([request(3, schema="{}")])
    first, second, third = server.calls
    assert first.body == {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "Answer."},
            {"role": "user", "content": "Question 1?"},
        ],
        "temperature": 0.5,
        "max_tokens": 40,
        "seed": 5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": "answer",
                "schema": {"type": "object"},
                "strict": True,
            },
        },
    }
    del second.body["messages"]
    assert second.body == {
        "model": "m-1",
        "max_tokens": 40,
        "response_format": {"type": "json_object"},
        "logprobs": True,
        "top_logprobs": 5,
        "chat_template_kwargs": {"enable_thinking": False},
        "reasoning_effort": "low",
    }
    # Where nobody understands a schema none is sent.
    assert third.body.keys() == {"model", "messages", "temperature", "max_tokens"}
    assert "from-the-environment" not in str(first.headers)
    machine = {name for name in first.headers if name.startswith("x-stainless")}
    assert machine <= {"x-stainless-retry-count", "x-stainless-read-timeout"}
    assert first.headers["user-agent"].startswith("metassay/")


def test_headers_are_sent_and_secrets_of_the_environment_are_nowhere_else(
    server, ledger, monkeypatch, caplog
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv("METASSAY_TEST_HEADER", "h-secret-1")
    server.script = lambda call: rate_limited("0") if call.attempt == 1 else echo(call)
    headers = {"headers": {"OpenRouter-Title": "metassay"}}
    headers |= {"header_env": {"api-key": "METASSAY_TEST_HEADER"}}
    ask = asking(server, ledger, **headers)
    assert statuses(ask([request(1)])) == {"ok"}
    for call in server.calls:
        assert call.headers["openrouter-title"] == "metassay"
        assert call.headers["api-key"] == "h-secret-1"
        assert "authorization" not in call.headers  # the header says who asks
    assert "h-secret-1" not in caplog.text
    ledger.checkpoint()
    assert b"h-secret-1" not in ledger.path.read_bytes()
    monkeypatch.delenv("METASSAY_TEST_HEADER")
    with pytest.raises(
        BadInput, match=r"METASSAY_TEST_HEADER .*here > header_env > api-key"
    ):
        ask([request(2)])


@pytest.mark.parametrize(
    "secret",
    [
        {"key_env": "METASSAY_TEST_KEY"},
        {"header_env": {"Api-Key": "METASSAY_TEST_KEY"}},
    ],
)
def test_azure_has_its_own_addresses_and_header(
    server, ledger, monkeypatch, secret
) -> None:
    monkeypatch.setenv("METASSAY_TEST_KEY", "azure-key")
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "from-the-environment")
    url = server.base_url.removesuffix("/v1")
    ask = asking(url, ledger, kind="azure", api_version="2024-10-21", **secret)
    assert statuses(ask([request(1)])) == {"ok"}
    (call,) = server.calls
    assert (
        call.path == "/openai/deployments/m-1/chat/completions?api-version=2024-10-21"
    )
    assert call.headers["api-key"] == "azure-key"
    assert "from-the-environment" not in str(call.headers)


def test_it_works_in_a_thread_and_inside_a_running_loop(server, ledger) -> None:
    ask = asking(server, ledger)
    assert in_threads(1, lambda: ask([request(1)])) == [Counter(ok=1)]

    async def inside() -> str:
        return ask([request(2)])[0].status

    assert asyncio.run(inside()) == "ok"


def test_threads_pay_once_though_a_clock_is_set_in_the_middle(
    server, ledger, monkeypatch
) -> None:
    jumps = iter([-10 * 365 * 86400, 86400, -3600])
    real, ahead = time.time, [0.0]

    def script(call: Call) -> Answer:
        if call.number % 10 == 0:
            ahead[0] += next(jumps, 0)
        return answer_with("yes", delay=0.02)

    monkeypatch.setattr(time, "time", lambda: real() + ahead[0])
    server.script = script
    counts = in_threads(3, lambda: asking(server, ledger, concurrency=4)(requests(40)))
    assert counts == [Counter(ok=40)] * 3
    assert set(server.requests.values()) == {1}
    assert ahead[0] < -3600


def test_a_slow_answer_keeps_its_claim(server, ledger) -> None:
    server.latency = 1.6
    ask = asking(server, ledger, Policy(lease=1.0))
    assert in_threads(2, lambda: ask([request(1)]), pause=0.1) == [Counter(ok=1)] * 2
    assert server.requests.total() == 1


@pytest.mark.parametrize(
    ("limit", "count", "seconds"),
    [
        # 1200 a minute: 60 at once, then (1201 - 60) / 60 = 19 a second.
        ({"requests_per_minute": 1200}, 70, 10 / 19.02),
        # A request counts about 16 + 40 tokens; 12,000 a minute: 600 at once, then 190
        # a second.
        ({"tokens_per_minute": 12_000}, 14, (14 * 55 - 600) / 190.1),
    ],
)
def test_limits_per_minute_are_obeyed(
    server, ledger, limit, count: int, seconds: float
) -> None:
    start = time.monotonic()
    asking(server, ledger, concurrency=32, **limit)(requests(count))
    assert time.monotonic() - start >= seconds
