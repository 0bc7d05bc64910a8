"""One odd answer is one question's status: the others are answered, and nothing is bought twice."""

import gzip
import json
import logging
import zlib
from collections import Counter
from typing import NamedTuple

import pytest

from metassay.llm import http
from metassay.llm.budget import at_most, spending
from metassay.llm.ledger import Ledger, export, import_
from metassay.llm.limits import Policy
from metassay.llm.messages import Reply
from tests.llm.batch_setup import asking, missing, request, requests
from tests.llm.scripted_server import Answer, Call, ScriptedServer, completion, echo, whole

TWICE = Policy(attempts=2, first_wait=0.01, longest_wait=0.05, lease=5.0)
SOUND = json.dumps(completion()).encode()
LARGE = 2**20  # instead of http.LARGEST_BODY


class Fault(NamedTuple):
    """What comes, and what becomes of it: `sent` requests in a run, `again` in the next one."""

    answer: Answer
    status: str = "ok"
    text: str | None = "yes"
    reason: str | None = "stop"
    error: str | None = None
    sent: int = 1
    again: int = 0
    counts: tuple[int | None, int | None] = (12, 3)


def kept(text: str = "yes", **answer: object) -> Fault:
    """An answer that is kept, and read."""
    return Fault(whole(completion(**answer)), text=text)


def because(reason: object, kept: str | None) -> Fault:
    """An answer that came for an odd reason."""
    return Fault(whole(completion(reason=reason)), reason=kept)


def unreadable(content: object) -> Fault:
    """An answer that is kept, and that nobody reads."""
    return Fault(whole(completion(content)), "ok", None, "unreadable")


def counted(*counts: int | None, **answer: object) -> Fault:
    """An answer of which the counts cannot be true."""
    return kept(**answer)._replace(counts=counts)


def failed(answer: Answer, error: str, sent: int = 1) -> Fault:
    """No answer: `sent` requests in every run."""
    return Fault(answer, "error", None, None, error, sent, sent, (None, None))


def bad(body: object, head: str = "") -> Fault:
    """A body in which no answer is, which may be another one the next time."""
    return failed(whole(body, head=head), "bad_reply", 2)


def broken(head: bytes) -> Fault:
    """What is no HTTP response."""
    return failed(Answer(raw=head + b"\r\n\r\n" + SOUND, fault="close"), "connection", 2)


def late(header: str) -> Fault:
    """Too many requests, and when to come again."""
    return failed(whole("{}", status="429 x", head=f"{header}\r\n"), "http_429", 2)


def with_member(text: str) -> str:
    return SOUND.decode()[:-1] + f',"more":{text}}}'


FAULTS = {
    "half a pair": unreadable("so \ud83d it is"),
    "half a pair that was cut off": Fault(
        whole(completion("so \ud83d", reason="length")), "truncated", "so \\ud83d", "length"
    ),
    "half a pair refuses": Fault(
        whole(completion(None, refusal="no \udc00")), "refused", None, error="refusal"
    ),
    "half a pair is the reason": because("st\ud83dop", "st\\ud83dop"),
    "half a pair is the model": kept(model="\ud83d", id="\ud83d"),
    "half a pair in an error": failed(
        whole({"error": {"message": "\ud83d", "code": "\ud83d"}}, status="400 x"), "http_400"
    ),
    "NUL and its like": kept("a\0b\x1b[31m\x07\u2028", content="a\0b\x1b[31m\x07\u2028"),
    "bytes of another charset": Fault(
        whole(json.dumps(completion("\xe9"), ensure_ascii=False).encode("latin-1")),
        *("ok", None, "unreadable"),
    ),
    "10**30 tokens": counted(None, 3, prompt_tokens=10**30),
    "10**12 tokens": counted(None, 3, prompt_tokens=10**12),
    "a token too many": counted(12, None, completion_tokens=41),
    "fewer than no tokens": counted(None, 3, prompt_tokens=-1),
    "no token read": counted(None, 3, prompt_tokens=0),
    "no token written": counted(12, None, completion_tokens=0),
    "nothing written": Fault(whole(completion("", completion_tokens=0)), text="", counts=(12, 0)),
    "half a token": counted(None, 3, prompt_tokens=1.5),
    "tokens in words": counted(None, 3, prompt_tokens="12"),
    "true tokens": counted(None, 3, prompt_tokens=True),
    "NaN tokens": counted(None, 3, prompt_tokens=float("nan")),
    "a list of tokens": counted(None, None, usage=[12, 3]),
    "deep body": bad("[" * 100_000),
    "deep answer": kept("[" * 100_000, content="[" * 100_000),
    "deep error": failed(whole("[" * 100_000, status="400 x"), "http_400"),
    "beyond all floats": Fault(whole(with_member("1e400"))),
    "5,000 digits": Fault(whole(with_member("9" * 5000))),
    "NaN": Fault(whole(with_member("[NaN,-Infinity]"))),
    "a key twice": bad(with_member('0,"choices":[]')),
    "no choice": bad(completion(choices=[])),
    "two choices": kept(choices=completion()["choices"] * 2 + ["x"]),
    "an error with status 200": bad({"error": {"code": 429, "message": "x"}}),
    "an error beside a choice": bad(completion("", error={"code": 502})),
    "no object": bad([1]),
    "no JSON": bad("<html></html>"),
    "nothing": bad(b""),
    "a mark before it": Fault(whole(b"\xef\xbb\xbf" + SOUND)),
    "parts": kept(content=[{"type": "text", "text": "ye"}, {"type": "text", "text": "s"}]),
    "parts and thoughts": kept(
        content=[
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
            {"type": "reasoning", "text": "hm"},
            {"type": "text", "text": "yes"},
        ]
    ),
    "nothing but thoughts": Fault(
        whole(completion([{"type": "thinking", "thinking": "hm"}])), text="", reason="stop"
    ),
    "thoughts in fields of their own": kept(
        choices=[
            {
                "message": {"content": "yes", "reasoning": "no", "reasoning_content": "no"},
                "finish_reason": "stop",
            }
        ]
    ),
    "thoughts that leave no room": Fault(
        whole(
            completion(
                choices=[
                    {"message": {"content": None, "reasoning": "no"}, "finish_reason": "length"}
                ]
            )
        ),
        *("truncated", "", "length"),
    ),
    **{
        f"ended by {reason}": Fault(
            whole(completion("ye", reason=reason)), *("truncated", "ye", reason)
        )
        for reason in ("max_tokens", "MAX_TOKENS", "model_length", "model_context_window_exceeded")
    },
    **{
        f"ended by {reason}": Fault(
            whole(completion("ye", reason=reason)), "refused", None, reason, "refusal"
        )
        for reason in ("refusal", "SAFETY")
    },
    "ended by an error": bad(completion("ye", reason="error")),
    "ended by nobody": bad(completion("ye", reason="abort")),
    "a flagged prompt": Fault(
        whole(
            {"error": {"message": "Your prompt was flagged.", "code": "invalid_prompt"}},
            status="400 x",
        ),
        *("refused", None, "content_filter", "content_filter"),
        counts=(None, None),
    ),
    "a moderated prompt": Fault(
        whole(
            {"error": {"code": 403, "message": "x", "metadata": {"flagged_input": "y"}}},
            status="403 x",
        ),
        *("refused", None, "content_filter", "content_filter"),
        counts=(None, None),
    ),
    "an invalid prompt": failed(
        whole({"error": {"message": "No messages.", "code": "invalid_prompt"}}, status="400 x"),
        "http_400",
    ),
    "parts of another kind": unreadable([{"type": "image", "url": "x"}]),
    "a number": unreadable(5),
    "an object": unreadable({"a": 1}),
    "calls of tools": Fault(
        whole(completion(None, reason="tool_calls")), text="", reason="tool_calls"
    ),
    "a reason nobody knows": because("eos", "eos"),
    "a number is the reason": because(5, None),
    "an endless reason": because("x" * 10**5, "x" * 64),
    "a large body": failed(whole(completion("x" * LARGE)), "too_large"),
    "a large error": failed(whole("x" * (LARGE + 1), status="500 x"), "too_large"),
    "no end": failed(Answer(raw=b"HTTP/1.1 200 OK\r\n\r\n{", fault="endless"), "too_large"),
    "a bomb": failed(
        whole(gzip.compress(b" " * 5 * LARGE), head="Content-Encoding: gzip\r\n"), "too_large"
    ),
    "packed": Fault(whole(gzip.compress(SOUND), head="Content-Encoding: gzip\r\n")),
    **{
        f"packed as {name}": Fault(whole(body, head=f"Content-Encoding: {said}\r\n"))
        for name, body, said in (
            ("members", b"".join(map(gzip.compress, (SOUND[:9], b"", SOUND[9:]))), "gzip"),
            ("a member and zeros", gzip.compress(SOUND) + b"\0" * 9999, "gzip"),
            ("gzip twice", gzip.compress(gzip.compress(SOUND)), "gzip, gzip"),
            ("gzip that nobody tells of", gzip.compress(SOUND), "identity"),
            ("gzip that is said to be Brotli", gzip.compress(SOUND), "br"),
            ("zlib", zlib.compress(SOUND), "deflate"),
            ("bare deflate", zlib.compress(SOUND)[2:-4], "deflate"),
            ("nothing, said to be gzip", SOUND, "gzip"),
            ("nothing, said to be deflate", SOUND, "deflate"),
            ("nothing, in odd words", SOUND, "x" * 999),
        )
    },
    "a bomb of members": failed(
        whole(gzip.compress(b" " * LARGE) * 9, head="Content-Encoding: gzip\r\n"), "too_large"
    ),
    "a bomb in layers": failed(
        whole(gzip.compress(gzip.compress(b" " * 200 * LARGE)), head="Content-Encoding: gzip\r\n"),
        "too_large",
    ),
    "a million members": bad(gzip.compress(b"") * 40_000, "Content-Encoding: gzip\r\n"),
    "packed as Brotli": bad(b"\x0b\x02\x80{}\x03", "Content-Encoding: br\r\n"),
    "packed by half": bad(gzip.compress(SOUND)[:-20], "Content-Encoding: gzip\r\n"),
    "said to be packed": bad(b"nonsense", "Content-Encoding: gzip\r\n"),
    "a charset that is none": failed(
        whole(b"x", status="400 x", head="Content-Type: text/x; charset=hex\r\n"), "http_400"
    ),
    "a head of 200 kB": broken(b"HTTP/1.1 200 OK\r\nX-A: " + b"b" * 200_000),
    "a head of bytes": broken(b"HTTP/1.1 200 OK\r\nX-\xff: \xff\0"),
    "a status that is none": broken(b"HTTP/1.1 yes OK"),
    "another protocol": broken(b"SSH-2.0-OpenSSH"),
    "HTTP/1.0": Fault(Answer(raw=b"HTTP/1.0 200 OK\r\n\r\n" + SOUND, fault="close")),
    "status 999": failed(whole(SOUND, status="999 x"), "http_999", 2),
    "elsewhere": failed(whole(b"", status="301 x", head="Location: http://[::1/\r\n"), "http_301"),
    "no date": late("Retry-After: Fri, 31 Dec 99999999999999999999 23:59:59 GMT"),
    "no hour": late("Retry-After: Fri, 31 Dec 2026 23:59:59 +99999999999999999999"),
    "the end of dates": late("Retry-After: Fri, 31 Dec 9999 23:59:59 -9999"),
    "no date here": late("Retry-After: Fri, 31 Dec 2026 23:59:59 GMT\r\nDate: 1 Jan " + "9" * 20),
    "10**400 seconds": late("Retry-After: 1" + "0" * 400),
    "NaN seconds": late("Retry-After: nan"),
    "seconds gone by": late("Retry-After: -1e308"),
    "milliseconds beyond all": late("Retry-After-Ms: 1e309"),
    "seconds in bytes": late("Retry-After: \xff\xfe"),
}  # fmt: skip


class Came(NamedTuple):
    """What came of one question in one run, and how many requests were sent for it."""

    reply: Reply
    sent: int


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Came]]:
    """Two runs with one ledger, in which a sound answer stands beside each odd one."""
    place = {request(name).messages[1].content: name for name in FAULTS}
    names = [name for fault in FAULTS for name in (fault, f"beside {fault}")]
    path = tmp_path_factory.mktemp("odd") / "ledger.sqlite"

    def script(call: Call) -> Answer:
        name = place.get(call.body["messages"][1]["content"])
        return echo(call) if name is None else FAULTS[name].answer

    found = []
    with ScriptedServer(script) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(http, "LARGEST_BODY", LARGE)
        for _ in range(2):
            before = Counter(call.prompt for call in server.calls)
            with Ledger(path) as ledger:  # which is checked as it opens
                ask = asking(server, ledger, TWICE, max_cost=1.0)
                replies = ask([request(name) for name in names])
            sent = Counter(call.prompt for call in server.calls) - before
            found.append(
                {
                    name: Came(reply, sent[f"Answer.\nQuestion {name}?"])
                    for name, reply in zip(names, replies, strict=True)
                }
            )
        with Ledger(path) as ledger, ledger.reading() as connection:
            booked = dict(connection.execute("SELECT key, max(cost) FROM attempts GROUP BY key"))
    for name in names:  # what was reserved, in units of 10**-12
        assert booked[request(name).key] <= (at_most(request(name)) * 2.5 + 400) * 10**6
    return found  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_an_odd_answer_costs_itself(name: str, runs) -> None:
    fault = FAULTS[name]
    for run, sent in zip(runs, (fault.sent, fault.again), strict=True):
        assert run[name].sent == sent
        reply = run[name].reply
        assert (reply.status, reply.text, reply.finish_reason, reply.error) == fault[1:5]
        assert (reply.prompt_tokens, reply.completion_tokens) == fault.counts
        assert run[f"beside {name}"].reply.status == "ok"
    assert [run[f"beside {name}"].sent for run in runs] == [1, 0]


def test_what_never_ends_has_an_end(server, ledger) -> None:
    chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
    server.script = lambda call: Answer(raw=chunks) if "3?" in call.prompt else echo(call)
    ask = asking(server, ledger, Policy(attempts=1), timeout=2.0)
    replies = ask(requests(6))
    assert [reply.error for reply in replies] == [None, None, None, "timeout", None, None]


def test_answers_that_nobody_reads_travel_like_all_others(server, ledger, tmp_path) -> None:
    said = {"1": "a\0\x1b[31m\x07", "2": "half \ud83d", "3": {"a": "\udcff"}}
    server.script = lambda call: whole(completion(said[call.prompt[-2]]))
    ask = asking(server, ledger)
    questions = [request(number) for number in said]
    replies = ask(questions)
    assert [reply.text for reply in replies] == ["a\0\x1b[31m\x07", None, None]
    entries = ledger.lookup([question.key for question in questions])
    assert [entries[question.key].text for question in questions[1:]] == [
        "half \\ud83d",
        '{"a": "\\udcff"}',
    ]
    export(ledger, tmp_path / "r.parquet")
    with Ledger(tmp_path / "other.sqlite") as other:
        import_(other, [tmp_path / "r.parquet"])
        assert other.lookup(entries) == entries


def test_one_lie_does_not_use_up_the_cap(server, ledger) -> None:
    lie = whole(completion(prompt_tokens=10**12, completion_tokens=10**12))
    server.script = lambda call: lie if "Question 3?" in call.prompt else echo(call)
    ask = asking(server, ledger, max_cost=0.01)
    assert {reply.status for reply in ask(requests(6))} == {"ok"}
    assert {reply.status for reply in ask(requests(9))} == {"ok"}
    assert spending(ledger, "study").at_most < 0.01


@pytest.mark.parametrize("usage", [{"prompt_tokens": 0, "completion_tokens": 0}, {"usage": {}}])
def test_the_cap_holds_whatever_is_not_counted(server, ledger, usage: dict[str, object]) -> None:
    server.script = lambda call: whole(completion(**usage))
    replies = asking(server, ledger, max_cost=0.005)(requests(80))
    each = (at_most(request(1)) * 2.5 + 40 * 10) / 1e6
    assert server.requests.total() == 0.005 // each
    assert missing(replies) == {"over_budget": 80 - server.requests.total()}


def test_answers_without_a_count_are_mentioned(server, ledger, caplog) -> None:
    server.script = lambda call: whole(completion(prompt_tokens=10**12))
    with caplog.at_level(logging.WARNING, "metassay.llm"):
        asking(server, ledger)([request(1), request(2)])
    (record,) = caplog.records
    assert record.getMessage().startswith("2 answers came without a plausible count of tokens")
