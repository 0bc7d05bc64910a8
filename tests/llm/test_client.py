import asyncio
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate

import pytest

from metassay.core.errors import BadInput
from metassay.llm.limits import Policy
from metassay.llm.messages import ChatRequest, Message, Reply
from tests.llm.batch_setup import QUICK, asking, missing, request, requests
from tests.llm.scripted_server import (
    Answer,
    Call,
    cut,
    dropped,
    echo,
    failed,
    filtered,
    half_json,
    hang,
    rate_limited,
    refused,
    said,
    too_long,
    whole,
)

Fault = Callable[[], Answer]


def first_then(fault: Fault, times: int = 1) -> Callable[[Call], Answer]:
    """The fault for the first so many times that a request comes, then the answer."""
    return lambda call: fault() if call.attempt <= times else echo(call)


def saying(status: int, words: str) -> Answer:
    """A failed request, and what the server says of it."""
    return whole({"error": {"message": words}}, status=f"{status} x")


def in_threads(many: int, ask: Callable[[], list[Reply]], pause: float = 0.0) -> list[Counter[str]]:
    """How many questions have which status, as each of several threads asks, a pause apart."""
    with ThreadPoolExecutor(many) as pool:
        asked = []
        for _ in range(many):
            asked.append(pool.submit(ask))
            time.sleep(pause)
    return [Counter(reply.status for reply in replies.result()) for replies in asked]


def test_one_reply_per_request_in_order(server, ledger) -> None:
    server.script = lambda call: said(call.prompt, delay=0.001 * (len(call.prompt) % 7))
    questions = requests(100)
    replies = asking(server, ledger, concurrency=16)(questions)
    assert [reply.text for reply in replies] == [f"Answer.\nQuestion {n}?" for n in range(100)]
    assert [reply.key for reply in replies] == [question.key for question in questions]
    assert {(r.status, r.finish_reason, r.attempts, r.error) for r in replies} == {
        ("ok", "stop", 1, None)
    }
    assert 8 < server.most_at_once <= 16


def test_tokens_are_those_that_the_endpoint_counted(server, ledger) -> None:
    server.script = lambda call: said("Three short words.")
    (reply,) = asking(server, ledger)([request(1)])
    # 3 for the request, 4 a message; "Answer" "." and "Question" "1" "?"; four pieces written
    assert (reply.prompt_tokens, reply.completion_tokens) == (3 + 4 + 2 + 4 + 3, 4)


def test_equal_questions_are_asked_once(server, ledger) -> None:
    replies = asking(server, ledger)([request(1), request(2), request(1)])
    assert replies[0] == replies[2] != replies[1]
    assert server.requests.total() == 2


def test_a_repetition_on_purpose_is_asked_again(server, ledger) -> None:
    server.script = lambda call: said(str(call.attempt))
    replies = asking(server, ledger, concurrency=1)([request(1), request(1, repeat=1)])
    assert [reply.text for reply in replies] == ["1", "2"]


def test_nothing_to_ask(server, ledger) -> None:
    assert asking(server, ledger)([]) == []


def test_the_ledger_answers_the_second_time(server, ledger) -> None:
    ask = asking(server, ledger)
    before = ask([request(1), request(2)])
    after = ask([request(2), request(3), request(1)])
    assert server.requests.total() == 3
    assert [reply.attempts for reply in after] == [0, 1, 0]
    assert (after[0].text, after[2].text) == (before[1].text, before[0].text)


@pytest.mark.parametrize(
    "fault",
    [
        lambda: failed(500),
        lambda: failed(503),
        lambda: failed(408),
        lambda: failed(409),
        lambda: failed(425),
        rate_limited,
        lambda: rate_limited(None),
        dropped,
        lambda: dropped(midway=True),
        half_json,
        lambda: Answer("x", fault="no_choices"),
    ],
    ids=[*("500", "503", "408", "409", "425", "429", "429 bare"), *("drop", "midway", "half", "-")],
)
def test_what_may_pass_is_asked_again(server, ledger, fault: Fault) -> None:
    server.script = first_then(fault, times=2)
    replies = asking(server, ledger)(requests(4))
    assert {(reply.status, reply.attempts) for reply in replies} == {("ok", 3)}
    assert set(server.requests.values()) == {3}
    assert set(server.answered.values()) == {1}


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (lambda: failed(500), "http_500"),
        (lambda: rate_limited("0"), "http_429"),
        (dropped, "connection"),
        (half_json, "bad_reply"),
        (hang, "timeout"),
    ],
    ids=["500", "429", "drop", "half", "hang"],
)
def test_attempts_are_bounded_and_failures_are_not_kept(
    server, ledger, fault: Fault, code: str
) -> None:
    server.script = lambda call: fault()
    policy = Policy(attempts=3, first_wait=0.01)
    timeout = 0.3 if code == "timeout" else 20.0
    ask = asking(server, ledger, policy, timeout=timeout)
    replies = ask([request(1), request(2)])
    assert {(r.status, r.error, r.attempts, r.text) for r in replies} == {("error", code, 3, None)}
    assert missing(replies) == {code: 2}
    assert set(server.requests.values()) == {3}
    assert ledger.holdings() == []
    assert ledger.attempts() == {code: 6}
    server.script = echo
    ask = asking(server, ledger, policy)
    assert {reply.status for reply in ask([request(1), request(2)])} == {"ok"}


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (too_long, "context_length"),
        (lambda: failed(400), "http_400"),
        (lambda: failed(403), "http_403"),
        (lambda: failed(422), "http_422"),
        (lambda: Answer(status=307, headers={"Location": "/v1/chat/completions"}), "http_307"),
    ],
    ids=["context", "400", "403", "422", "redirect"],
)
def test_what_cannot_succeed_is_asked_once(server, ledger, fault: Fault, code: str) -> None:
    server.script = lambda call: fault() if "7" in call.prompt else echo(call)
    replies = asking(server, ledger)(requests(10))
    assert [reply.error for reply in replies] == [code if n == 7 else None for n in range(10)]
    assert replies[7].attempts == 1
    assert server.requests.total() == 10


def test_a_context_length_is_recognised_by_its_words(server, ledger) -> None:
    server.script = lambda call: failed(400)  # its message repeats the prompt
    words = "This model's maximum context length is 2048 tokens"
    replies = asking(server, ledger)([request(words)])
    assert replies[0].error == "context_length"


def test_final_answers_of_every_kind_are_kept(server, ledger) -> None:
    kinds: dict[str, Answer] = {
        "A": said("yes"),
        "B": cut("half an ans"),
        "C": refused("I would rather not."),
        "D": filtered(),
        "E": filtered(prompt=True),
        "F": said(""),
        "G": Answer(None),
    }
    server.script = lambda call: kinds[call.prompt[-2]]
    ask = asking(server, ledger)
    questions = [request(kind) for kind in kinds]
    expected = [
        ("ok", "yes", None),
        ("truncated", "half an ans", None),
        ("refused", None, "refusal"),
        ("refused", None, "content_filter"),
        ("refused", None, "content_filter"),
        ("ok", "", None),
        ("ok", "", None),
    ]
    for _ in range(2):
        replies = ask(questions)
        assert [(reply.status, reply.text, reply.error) for reply in replies] == expected
    assert server.requests.total() == len(kinds)
    refusal = ledger.lookup([questions[2].key])[questions[2].key]
    assert refusal.text == "I would rather not."


@pytest.mark.parametrize("dated", [False, True])
def test_retry_after_is_waited_for(server, ledger, dated: bool) -> None:
    times: list[float] = []

    def script(call: Call) -> Answer:
        times.append(time.monotonic())
        asked = formatdate(time.time() + 2, usegmt=True) if dated else "1"
        return rate_limited(asked) if call.number == 1 else said("yes", delay=0.2)

    server.script = script
    policy = Policy(first_wait=0.01)
    ask = asking(server, ledger, policy, concurrency=2)
    assert {reply.status for reply in ask(requests(8))} == {"ok"}
    # Everybody waits, not only the request that was turned away; one more may be under way then.
    # A date counts whole seconds.
    later = [at - times[0] for at in times[2:]]
    assert len(later) == 7
    assert min(later) >= (0.5 if dated else 0.95)
    assert min(later) < 20  # and nobody waits for the longest wait of all, a minute


def test_nothing_goes_out_while_a_quota_is_used_up(server, ledger) -> None:
    times: list[float] = []
    used_up = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "300ms"}

    def script(call: Call) -> Answer:
        times.append(time.monotonic())
        return Answer("yes", headers=used_up if call.number == 1 else {})

    server.script = script
    replies = asking(server, ledger, Policy())(requests(9))
    assert {(reply.status, reply.attempts) for reply in replies} == {("ok", 1)}
    assert min(times[1:]) - times[0] >= 0.29


def test_who_is_not_turned_away_goes_on_with_as_many_at_once(server, ledger) -> None:
    server.hold_after(12)
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(asking(server, ledger, concurrency=8), requests(30))
        give_up = time.monotonic() + 30
        while server.holding < 8 and time.monotonic() < give_up:
            time.sleep(0.01)
        at_once = server.holding
        server.let_go()
        assert at_once == 8
        assert {reply.status for reply in asked.result()} == {"ok"}


def test_an_endless_retry_after_is_cut_short(server, ledger) -> None:
    server.script = first_then(lambda: rate_limited("86400"))
    start = time.monotonic()
    (reply,) = asking(server, ledger, QUICK)([request(1)])
    assert reply.status == "ok"
    assert time.monotonic() - start < 60


@pytest.mark.parametrize(
    ("answer", "remedy"),
    [
        (failed(401), "check the environment variable METASSAY_TEST_KEY"),
        (failed(404), "check params.yaml > endpoints > here > base_url"),
        (failed(402), "no credit left; add credit to it"),
        (failed(429, "insufficient_quota"), "no quota left"),
        (saying(400, "Your credit balance is too low to access the API."), "add credit to it"),
        (saying(400, "API key not valid. Please pass a valid one."), "METASSAY_TEST_KEY"),
        (saying(400, "Incorrect API key provided: sk***et."), "METASSAY_TEST_KEY"),
    ],
    ids=["401", "404", "402", "quota", "credit in words", "key in words", "key in other words"],
)
def test_a_dead_end_stops_everything_and_keeps_what_came(
    server, ledger, monkeypatch, answer: Answer, remedy: str
) -> None:
    monkeypatch.setenv("METASSAY_TEST_KEY", " sk-very-secret\n")
    server.script = lambda call: answer if call.number == 30 else said("yes", delay=0.01)
    ask = asking(server, ledger, key_env="METASSAY_TEST_KEY", concurrency=8)
    questions = requests(200)
    with pytest.raises(BadInput) as caught:
        ask(questions)
    assert "endpoint 'here'" in str(caught.value)
    assert remedy in str(caught.value)
    assert "secret" not in repr(caught.value)
    assert server.calls[0].headers["authorization"] == "Bearer sk-very-secret"
    assert 29 <= server.requests.total() <= 30 + 8  # what was under way came in, and no more
    assert f"{200 - server.answered.total()} of 200 answers are missing" in str(caught.value)
    held = sum(holding[2] for holding in ledger.holdings())
    assert held == server.answered.total() == server.requests.total() - 1
    server.script = echo
    assert {reply.status for reply in ask(questions)} == {"ok"}
    assert set(server.answered.values()) == {1}


def test_a_dead_end_wakes_those_who_wait_for_their_turn(server, ledger) -> None:
    asking(server, ledger)([request("first")])
    server.script = lambda call: Answer(status=404, delay=0.5)
    ask = asking(server, ledger, requests_per_minute=2, concurrency=8)
    start = time.monotonic()
    with pytest.raises(BadInput, match="20 of 20 answers are missing"):
        ask(requests(20))
    assert time.monotonic() - start < 25  # the second would have had its turn after a minute
    assert server.requests.total() == 2
    assert ledger.attempts() == {"ok": 1, "http_404": 1, "stopped": 7}


def test_another_models_question_is_a_bug(server, ledger) -> None:
    question = ChatRequest("m-2", (Message("user", "?"),), None, 0.0, None, 40)
    with pytest.raises(ValueError, match="'m-2'"):
        asking(server, ledger)([question])
    assert not server.calls


def test_a_key_that_is_wanted_and_not_named(server, ledger) -> None:
    server.script = lambda call: failed(401)
    with pytest.raises(BadInput, match=r"name the variable that holds it .* key_env"):
        asking(server, ledger)([request(1)])


@pytest.mark.parametrize("value", [None, "", "  ", "sk-\x07bell", "sk-\u00e9"])
def test_a_missing_or_broken_key_stops_before_anything_is_sent(
    server, ledger, monkeypatch, value: str | None
) -> None:
    if value is None:
        monkeypatch.delenv("METASSAY_TEST_KEY", raising=False)
    else:
        monkeypatch.setenv("METASSAY_TEST_KEY", value)
    with pytest.raises(BadInput, match=r"METASSAY_TEST_KEY .*endpoints > here > key_env") as caught:
        asking(server, ledger, key_env="METASSAY_TEST_KEY")([request(1)])
    assert "sk-" not in str(caught.value)
    assert not server.calls


def test_an_endpoint_that_never_answered_is_given_up_on_sooner(server, ledger) -> None:
    server.script = lambda call: too_long() if "7?" in call.prompt else failed(500)
    ask = asking(server, ledger, Policy(attempts=2, first_wait=0.001), concurrency=4)
    codes = missing(ask([request(number) for number in range(6, 20)]))
    assert codes == {"context_length": 1, "http_500": 3, "endpoint_down": 10}
    assert server.most_at_once == 1


def test_an_endpoint_that_is_down_is_given_up_on(server, ledger) -> None:
    asking(server, ledger)([request("first")])
    server.script = lambda call: failed(500)
    policy = Policy(attempts=2, first_wait=0.001)
    ask = asking(server, ledger, policy, concurrency=4)
    replies = ask(requests(300))
    codes = missing(replies)
    assert set(codes) == {"http_500", "endpoint_down"}
    assert sum(codes.values()) == 300
    assert 32 <= codes["http_500"] <= 32 + 4
    assert {reply.attempts for reply in replies if reply.error == "endpoint_down"} == {0}


def test_an_endpoint_that_fails_now_and_then_is_not(server, ledger) -> None:
    server.script = lambda call: failed(500) if "7" in call.prompt else echo(call)
    policy = Policy(attempts=1)
    replies = asking(server, ledger, policy)(requests(300))
    assert missing(replies) == {"http_500": sum("7" in str(n) for n in range(300))}


def test_an_endpoint_that_is_not_there(ledger) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        (reply,) = asking(url, ledger, Policy(attempts=2, first_wait=0.01))([request(1)])
    assert (reply.error, reply.attempts) == ("connection", 2)


def test_a_drip_of_bytes_does_not_outlast_the_timeout(ledger) -> None:
    """A byte now and then resets a read timeout for ever; ours is for the whole answer."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
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
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "from-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/elsewhere")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    schema = '{"type":"object"}'
    ask = asking(server, ledger, structured=True)
    ask([request(1, schema=schema, seed=5, temperature=0.5)])
    (call,) = server.calls
    assert call.body == {
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
            "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": True},
        },
    }
    assert "from-the-environment" not in str(call.headers)
    told = [name for name in call.headers if name.startswith("x-stainless")]
    assert set(told) <= {"x-stainless-retry-count", "x-stainless-read-timeout"}
    assert call.headers["user-agent"].startswith("metassay/")


def test_newer_parameters_are_sent_and_those_left_out_are_not(server, ledger) -> None:
    extra = '{"chat_template_kwargs":{"enable_thinking":false},"reasoning_effort":"low"}'
    asked = request(
        *(1,), schema="{}", temperature=None, structured="json_object", extra=extra, logprobs=5
    )
    asking(server, ledger, structured=True)([asked])
    (call,) = server.calls
    del call.body["messages"]
    assert call.body == {
        "model": "m-1",
        "max_tokens": 40,
        "response_format": {"type": "json_object"},
        "logprobs": True,
        "top_logprobs": 5,
        "chat_template_kwargs": {"enable_thinking": False},
        "reasoning_effort": "low",
    }


def test_headers_are_sent_and_secrets_of_the_environment_are_nowhere_else(
    server, ledger, monkeypatch, caplog
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv("METASSAY_TEST_HEADER", "h-secret-1")
    server.script = lambda call: rate_limited("0") if call.attempt == 1 else echo(call)
    ask = asking(
        server.base_url,
        ledger,
        headers={"OpenRouter-Title": "metassay"},
        header_env={"api-key": "METASSAY_TEST_HEADER"},
    )
    assert ask([request(1)])[0].status == "ok"
    for call in server.calls:
        assert call.headers["openrouter-title"] == "metassay"
        assert call.headers["api-key"] == "h-secret-1"
        assert "authorization" not in call.headers  # the header says who asks
    assert "h-secret-1" not in caplog.text
    ledger.checkpoint()
    assert b"h-secret-1" not in ledger.path.read_bytes()
    monkeypatch.delenv("METASSAY_TEST_HEADER")
    with pytest.raises(BadInput, match=r"METASSAY_TEST_HEADER .*here > header_env > api-key"):
        ask([request(2)])


def test_a_schema_is_not_sent_where_nobody_understands_it(server, ledger) -> None:
    asking(server, ledger)([request(1, schema='{"type":"object"}')])
    assert "response_format" not in server.calls[0].body
    assert "seed" not in server.calls[0].body


def test_azure_has_its_own_addresses_and_header(server, ledger, monkeypatch) -> None:
    monkeypatch.setenv("METASSAY_TEST_KEY", "azure-key")
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "from-the-environment")
    url = server.base_url.removesuffix("/v1")
    ask = asking(url, ledger, kind="azure", api_version="2024-10-21", key_env="METASSAY_TEST_KEY")
    assert ask([request(1)])[0].status == "ok"
    (call,) = server.calls
    assert call.path == "/openai/deployments/m-1/chat/completions?api-version=2024-10-21"
    assert call.headers["api-key"] == "azure-key"
    assert "from-the-environment" not in str(call.headers)


def test_a_header_of_ones_own_takes_the_place_of_azures(server, ledger, monkeypatch) -> None:
    monkeypatch.setenv("METASSAY_TEST_HEADER", "own")
    url = server.base_url.removesuffix("/v1")
    ask = asking(
        *(url, ledger),
        kind="azure",
        api_version="2024-10-21",
        header_env={"Api-Key": "METASSAY_TEST_HEADER"},
    )
    assert ask([request(1)])[0].status == "ok"
    assert server.calls[0].headers["api-key"] == "own"


def test_it_works_in_a_thread_and_inside_a_running_loop(server, ledger) -> None:
    ask = asking(server, ledger)
    assert in_threads(1, lambda: ask([request(1)])) == [Counter(ok=1)]

    async def inside() -> str:
        return ask([request(2)])[0].status

    assert asyncio.run(inside()) == "ok"


def test_two_threads_that_ask_the_same_pay_once(server, ledger) -> None:
    server.latency = 0.02
    questions = requests(60)
    found = in_threads(3, lambda: asking(server, ledger, concurrency=8)(questions))
    assert found == [Counter(ok=60)] * 3
    assert set(server.requests.values()) == {1}


def test_a_clock_that_is_set_in_the_middle_changes_nothing(server, ledger, monkeypatch) -> None:
    jumps = iter([-10 * 365 * 86400, 86400, -3600])
    real, ahead = time.time, [0.0]

    def script(call: Call) -> Answer:
        if call.number % 10 == 0:
            ahead[0] += next(jumps, 0)
        return said("yes", delay=0.02)

    monkeypatch.setattr(time, "time", lambda: real() + ahead[0])
    server.script = script
    questions = requests(40)
    found = in_threads(2, lambda: asking(server, ledger, concurrency=4)(questions))
    assert found == [Counter(ok=40)] * 2
    assert set(server.requests.values()) == {1}
    assert ahead[0] < -3600


def test_a_slow_answer_keeps_its_claim(server, ledger) -> None:
    server.latency = 1.6
    policy = Policy(lease=1.0)
    found = in_threads(2, lambda: asking(server, ledger, policy)([request(1)]), pause=0.1)
    assert found == [Counter(ok=1)] * 2
    assert server.requests.total() == 1


def test_requests_per_minute_are_kept(server, ledger) -> None:
    # 1200 a minute: 60 at once, then (1201 - 60) / 60 = 19 a second; ten more take half a second.
    ask = asking(server, ledger, requests_per_minute=1200, concurrency=32)
    start = time.monotonic()
    ask(requests(70))
    assert time.monotonic() - start >= 10 / 19.02


def test_tokens_per_minute_are_kept(server, ledger) -> None:
    # A request counts about 16 + 40 tokens; 12,000 a minute: 600 at once, then 190 a second.
    ask = asking(server, ledger, tokens_per_minute=12_000, concurrency=32)
    start = time.monotonic()
    ask(requests(14))
    assert time.monotonic() - start >= (14 * 55 - 600) / 190.1
