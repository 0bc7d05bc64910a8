"""One odd answer is one question's status: the others are answered, and nothing is bought twice."""

import gzip
import json
import logging
import zlib
from collections import Counter
from typing import NamedTuple

import pytest

from metassay.llm import http
from metassay.llm.budget import bound_request_tokens, spending
from metassay.llm.ledger import Ledger, export, import_
from metassay.llm.limits import Policy
from metassay.llm.messages import Reply
from tests.llm.batch_setup import asking, missing, request, requests
from tests.llm.scripted_server import (
    Answer,
    Call,
    ScriptedServer,
    completion,
    echo,
    whole,
)

TWICE = Policy(attempts=2, first_wait=0.01, longest_wait=0.05, lease=5.0)
SOUND = json.dumps(completion()).encode()
LARGE = 2**20  # instead of http.LARGEST_BODY


class Fault(NamedTuple):
    """What comes, and what becomes of it: `sent` requests in a run, `again` in the next."""

    answer: Answer
    status: str = "ok"
    text: str | None = "yes"
    reason: str | None = "stop"
    error: str | None = None
    sent: int = 1
    again: int = 0
    counts: tuple[int | None, int | None] = (12, 3)


def stored(
    text: str | None = "yes",
    status: str = "ok",
    reason: object = "stop",
    **answer: object,
):
    """An answer that is stored, and read."""
    error = answer.pop("error_", None)
    sent = {"reason": reason} | answer
    return Fault(whole(completion(**sent)), status, text, reason, error)


def counted(*counts: int | None, **answer: object) -> Fault:
    """An answer of which the counts cannot be true."""
    return stored(**answer)._replace(counts=counts)


def unreadable(content: object) -> Fault:
    """An answer that is stored, and that nobody reads."""
    return Fault(whole(completion(content)), "ok", None, "unreadable")


def failed(answer: Answer, error: str, sent: int = 1) -> Fault:
    """No answer: `sent` requests in every run."""
    return Fault(answer, "error", None, None, error, sent, sent, (None, None))


def refusal(status: int, **error: object) -> Answer:
    return whole({"error": {"message": "x"} | error}, status=f"{status} x")


def bad(body: object, head: str = "") -> Fault:
    """A body in which no answer is, which may be another the next time."""
    return failed(whole(body, head=head), "bad_reply", 2)


def broken(head: bytes) -> Fault:
    """What is no HTTP response."""
    return failed(
        Answer(raw=head + b"\r\n\r\n" + SOUND, fault="close"), "connection", 2
    )


def late(header: str) -> Fault:
    """Too many requests, and when to come again."""
    return failed(whole("{}", status="429 x", head=f"{header}\r\n"), "http_429", 2)


def member(text: str) -> Fault:
    return Fault(whole(SOUND.decode()[:-1] + f',"more":{text}}}'))


def packed(body: bytes, form: str = "gzip") -> Answer:
    return whole(body, head=f"Content-Encoding: {form}\r\n")


def choice(reason: str = "stop", **message: object) -> dict[str, object]:
    return {"choices": [{"message": message, "finish_reason": reason}]}


GZIP = gzip.compress(SOUND, mtime=0)
FILTER = {
    "status": "refused",
    "text": None,
    "reason": "content_filter",
    "error": "content_filter",
}
FILTERED = {**FILTER, "counts": (None, None)}
THOUGHTS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
    {"type": "reasoning", "text": "hm"},
    {"type": "text", "text": "yes"},
]
FAULTS = {
    "half a pair": unreadable("so \ud83d it is"),
    "half a pair that was cut off": stored(
        "so \\ud83d", "truncated", "length", content="so \ud83d"
    ),
    "half a pair refuses": stored(
        None, "refused", content=None, refusal="no \udc00", error_="refusal"
    ),
    "half a pair is the reason": stored(reason="st\ud83dop")._replace(
        reason="st\\ud83dop"
    ),
    "half a pair is the model": stored(model="\ud83d", id="\ud83d"),
    "half a pair in an error": failed(
        refusal(400, message="\ud83d", code="\ud83d"), "http_400"
    ),
    "NUL and its like": stored(
        "a\0b\x1b[31m\x07\u2028", content="a\0b\x1b[31m\x07\u2028"
    ),
    "bytes of another charset": unreadable("")._replace(
        answer=whole(
            json.dumps(completion("\xe9"), ensure_ascii=False).encode("latin-1")
        )
    ),
    "10**30 tokens": counted(None, 3, prompt_tokens=10**30),
    "a token too many": counted(12, None, completion_tokens=41),
    "fewer than no tokens": counted(None, 3, prompt_tokens=-1),
    "no token read": counted(None, 3, prompt_tokens=0),
    "no token written": counted(12, None, completion_tokens=0),
    "nothing written": stored("", content="", completion_tokens=0)._replace(
        counts=(12, 0)
    ),
    "half a token": counted(None, 3, prompt_tokens=1.5),
    "tokens in words": counted(None, 3, prompt_tokens="12"),
    "true tokens": counted(None, 3, prompt_tokens=True),
    "NaN tokens": counted(None, 3, prompt_tokens=float("nan")),
    "a list of tokens": counted(None, None, usage=[12, 3]),
    "deep body": bad("[" * 100_000),
    # more than a model can write in three tokens
    "deep answer": counted(12, None, text="[" * 100_000, content="[" * 100_000),
    "deep error": failed(whole("[" * 100_000, status="400 x"), "http_400"),
    "beyond all floats": member("1e400"),
    "5,000 digits": member("9" * 5000),
    "NaN": member("[NaN,-Infinity]"),
    "a key twice": bad(SOUND.decode()[:-1] + ',"choices":[]}'),
    "no choice": bad(completion(choices=[])),
    "two choices": stored(choices=completion()["choices"] * 2 + ["x"]),
    "an error with status 200": bad({"error": {"code": 429, "message": "x"}}),
    "an error beside a choice": bad(completion("", error={"code": 502})),
    "no object": bad([1]),
    "no JSON": bad("<html></html>"),
    "nothing": bad(b""),
    "a mark before it": Fault(whole(b"\xef\xbb\xbf" + SOUND)),
    "parts": stored(
        content=[{"type": "text", "text": "ye"}, {"type": "text", "text": "s"}]
    ),
    "parts and thoughts": stored(content=THOUGHTS),
    "nothing but thoughts": stored("", content=THOUGHTS[:1]),
    "thoughts in fields of their own": stored(
        **choice(content="yes", reasoning="no", reasoning_content="no")
    ),
    "thoughts that leave no room": stored(
        "", "truncated", "length", **choice("length", content=None, reasoning="no")
    ),
    **{
        f"ended by {reason}": stored("ye", "truncated", reason, content="ye")
        for reason in (
            "max_tokens",
            "MAX_TOKENS",
            "model_length",
            "model_context_window_exceeded",
        )
    },
    **{
        f"ended by {reason}": stored(
            None, "refused", reason, content="ye", error_="refusal"
        )
        for reason in ("refusal", "SAFETY")
    },
    "ended by an error": bad(completion("ye", reason="error")),
    "ended by nobody": bad(completion("ye", reason="abort")),
    "a flagged prompt": Fault(
        refusal(400, message="Your prompt was flagged.", code="invalid_prompt"),
        **FILTERED,
    ),
    "a moderated prompt": Fault(
        refusal(403, code=403, metadata={"flagged_input": "y"}), **FILTERED
    ),
    "an invalid prompt": failed(refusal(400, code="invalid_prompt"), "http_400"),
    "parts of another kind": unreadable([{"type": "image", "url": "x"}]),
    "a number": unreadable(5),
    "an object": unreadable({"a": 1}),
    "calls of tools": stored("", reason="tool_calls", content=None),
    "a reason nobody knows": stored(reason="eos"),
    "a number is the reason": stored(reason=5)._replace(reason=None),
    "an endless reason": stored(reason="x" * 10**5)._replace(reason="x" * 64),
    "a large body": failed(whole(completion("x" * LARGE)), "too_large"),
    "a large error": failed(whole("x" * (LARGE + 1), status="500 x"), "too_large"),
    "no end": failed(
        Answer(raw=b"HTTP/1.1 200 OK\r\n\r\n{", fault="endless"), "too_large"
    ),
    "a bomb": failed(packed(gzip.compress(b" " * 5 * LARGE)), "too_large"),
    "a bomb of members": failed(packed(gzip.compress(b" " * LARGE) * 9), "too_large"),
    "a bomb in layers": failed(
        packed(gzip.compress(gzip.compress(b" " * 200 * LARGE))), "too_large"
    ),
    **{
        f"packed as {name}": Fault(packed(body, form))
        for name, body, form in (
            ("gzip", GZIP, "gzip"),
            (
                "members",
                b"".join(map(gzip.compress, (SOUND[:9], b"", SOUND[9:]))),
                "gzip",
            ),
            ("a member and zeros", GZIP + b"\0" * 9999, "gzip"),
            ("gzip twice", gzip.compress(GZIP, mtime=0), "gzip, gzip"),
            ("gzip that nobody tells of", GZIP, "identity"),
            ("zlib", zlib.compress(SOUND), "deflate"),
            ("bare deflate", zlib.compress(SOUND)[2:-4], "deflate"),
            ("nothing, said to be gzip", SOUND, "gzip"),
            ("nothing, said to be deflate", SOUND, "deflate"),
            ("nothing, in odd words", SOUND, "x" * 999),
        )
    },
    "a million members": bad(gzip.compress(b"") * 40_000, "Content-Encoding: gzip\r\n"),
    "packed as Brotli": bad(b"\x0b\x02\x80{}\x03", "Content-Encoding: br\r\n"),
    "packed by half": bad(GZIP[:-20], "Content-Encoding: gzip\r\n"),
    "a charset that is none": failed(
        whole(b"x", status="400 x", head="Content-Type: text/x; charset=hex\r\n"),
        "http_400",
    ),
    "a head of 200 kB": broken(b"HTTP/1.1 200 OK\r\nX-A: " + b"b" * 200_000),
    "a head of bytes": broken(b"HTTP/1.1 200 OK\r\nX-\xff: \xff\0"),
    "another protocol": broken(b"SSH-2.0-OpenSSH"),
    "HTTP/1.0": Fault(Answer(raw=b"HTTP/1.0 200 OK\r\n\r\n" + SOUND, fault="close")),
    "status 999": failed(whole(SOUND, status="999 x"), "http_999", 2),
    "elsewhere": failed(
        whole(b"", status="301 x", head="Location: http://[::1/\r\n"), "http_301"
    ),
    **{
        f"late, {name}": late(header)
        for name, header in (
            ("no date", "Retry-After: Fri, 31 Dec 99999999999999999999 23:59:59 GMT"),
            ("no hour", "Retry-After: Fri, 31 Dec 2026 23:59:59 +99999999999999999999"),
            ("the end of dates", "Retry-After: Fri, 31 Dec 9999 23:59:59 -9999"),
            (
                "no date here",
                "Retry-After: Fri, 31 Dec 2026 23:59:59 GMT\r\nDate: 1 " + "9" * 20,
            ),
            ("10**400 seconds", "Retry-After: 1" + "0" * 400),
            ("seconds gone by", "Retry-After: -1e308"),
            ("milliseconds beyond all", "Retry-After-Ms: 1e309"),
            ("seconds in bytes", "Retry-After: \xff\xfe"),
        )
    },
}


# of each question: its reply, and requests sent
Runs = list[dict[str, tuple[Reply, int]]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Two runs with one ledger, in which a sound answer stands beside each odd one."""
    place = {request(name).messages[1].content: name for name in FAULTS}
    names = [name for fault in FAULTS for name in (fault, f"beside {fault}")]
    path = tmp_path_factory.mktemp("odd") / "ledger.sqlite"

    def script(call: Call) -> Answer:
        name = place.get(call.body["messages"][1]["content"])
        return echo(call) if name is None else FAULTS[name].answer

    results = []
    with ScriptedServer(script) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(http, "LARGEST_BODY", LARGE)
        for _ in range(2):
            before = Counter(call.prompt for call in server.calls)
            with Ledger(path) as ledger:  # which is checked as it opens
                ask = asking(server, ledger, TWICE, max_cost=1.0)
                replies = ask([request(name) for name in names])
            sent = Counter(call.prompt for call in server.calls) - before
            counts = [sent[f"Answer.\nQuestion {name}?"] for name in names]
            results.append(
                dict(zip(names, zip(replies, counts, strict=True), strict=True))
            )
    with Ledger(path) as ledger:
        booked = dict(ledger.select("SELECT key, max(cost) FROM attempts GROUP BY key"))
    for name in names:  # what was reserved, in units of 10**-12
        assert (
            booked[request(name).key]
            <= (bound_request_tokens(request(name)) * 2.5 + 400) * 10**6
        )
    return results


@pytest.mark.parametrize("name", FAULTS)
def test_an_odd_answer_costs_itself(name: str, runs: Runs) -> None:
    fault = FAULTS[name]
    for run, expected in zip(runs, (fault.sent, fault.again), strict=True):
        reply, sent = run[name]
        assert sent == expected
        assert (reply.status, reply.text, reply.finish_reason, reply.error) == fault[
            1:5
        ]
        assert (reply.prompt_tokens, reply.completion_tokens) == fault.counts
        assert run[f"beside {name}"][0].status == "ok"
    assert [run[f"beside {name}"][1] for run in runs] == [1, 0]


def test_what_never_ends_has_an_end(server, ledger) -> None:
    chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
    server.script = lambda call: (
        Answer(raw=chunks) if "3?" in call.prompt else echo(call)
    )
    replies = asking(server, ledger, Policy(attempts=1), timeout=1.0)(requests(6))
    assert [reply.error for reply in replies] == [
        None,
        None,
        None,
        "timeout",
        None,
        None,
    ]


def test_answers_that_nobody_reads_travel_like_all_others(
    server, ledger, tmp_path
) -> None:
    contents = {"1": "a\0\x1b[31m\x07", "2": "half \ud83d", "3": {"a": "\udcff"}}
    server.script = lambda call: whole(completion(contents[call.prompt[-2]]))
    questions = [request(number) for number in contents]
    replies = asking(server, ledger)(questions)
    assert [reply.text for reply in replies] == ["a\0\x1b[31m\x07", None, None]
    entries = ledger.lookup([question.key for question in questions])
    texts = [entries[question.key].text for question in questions[1:]]
    assert texts == ["half \\ud83d", '{"a": "\\udcff"}']
    export(ledger, tmp_path / "r.parquet")
    with Ledger(tmp_path / "other.sqlite") as other:
        import_(other, [tmp_path / "r.parquet"])
        assert other.lookup(entries) == entries


def test_a_lie_does_not_use_up_the_cap_and_is_mentioned(server, ledger, caplog) -> None:
    lie = whole(completion(prompt_tokens=10**12, completion_tokens=10**12))
    server.script = lambda call: lie if "Question 3?" in call.prompt else echo(call)
    with caplog.at_level(logging.WARNING, "metassay.llm"):
        replies = asking(server, ledger, max_cost=0.01)(requests(9))
    assert {reply.status for reply in replies} == {"ok"}
    assert spending(ledger, "study").at_most < 0.01
    (record,) = caplog.records
    assert record.getMessage().startswith(
        "1 answers came without a plausible count of tokens"
    )


@pytest.mark.parametrize(
    "usage", [{"prompt_tokens": 0, "completion_tokens": 0}, {"usage": {}}]
)
def test_the_cap_holds_whatever_is_not_counted(
    server, ledger, usage: dict[str, object]
) -> None:
    server.script = lambda call: whole(completion(**usage))
    replies = asking(server, ledger, max_cost=0.005)(requests(80))
    each = (bound_request_tokens(request(1)) * 2.5 + 40 * 10) / 1e6
    assert server.requests.total() == 0.005 // each
    assert missing(replies) == {"over_budget": 80 - server.requests.total()}
