"""A chat endpoint on loopback that does what its script says, faults included, and counts it all.

    with ScriptedServer(script) as server:
        ...  # ask http://127.0.0.1:<port>/v1 (server.base_url)
        assert server.requests[key] == 1

A script is a function from a `Call` to an `Answer`. The functions below make the usual
answers. Tokens are counted by a rule of the server's own (`count`), which knows nothing
of how Metassay estimates them. Run as a program it serves until its input closes, for
use from another process.
"""

import argparse
import asyncio
import hashlib
import json
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

_PIECES = re.compile(r"[A-Z]{2,3}(?![a-z])|[^\W\d_]{1,9}|\d{1,3}|[^\w\s]{1,2}|\n")


def count(text: str) -> int:
    """Tokens of a text by this server's rule: nine letters (three capitals, three
    digits, two marks) or what is left of a run of them, or a line's end. On English
    dialogues, notes, abstracts and JSON it differs by less than 7 % from OpenAI's
    cl100k vocabulary.
    """
    return len(_PIECES.findall(text))


@dataclass(frozen=True)
class Call:
    """One request as it came in. `attempt` counts equal bodies from 1, `number` all requests."""

    key: str
    body: dict[str, Any]
    headers: dict[str, str]
    path: str
    attempt: int
    number: int

    @property
    def prompt(self) -> str:
        return "\n".join(str(message["content"]) for message in self.body["messages"])

    @property
    def is_claims(self) -> bool:
        """Whether it asks for a part's claims, not for a text."""
        return '"claims":' in str(self.body["messages"][0]["content"])

    @property
    def is_judging(self) -> bool:
        """Whether it asks what holds of a premise, passages or two texts."""
        return "material to judge" in " ".join(
            str(self.body["messages"][0]["content"]).split()
        )

    @property
    def prompt_tokens(self) -> int:
        format_ = self.body.get("response_format") or {}
        schema = (
            json.dumps(format_["json_schema"]["schema"])
            if "json_schema" in format_
            else ""
        )
        messages = self.body["messages"]
        return 3 + sum(4 + count(m["content"]) for m in messages) + count(schema)


@dataclass(frozen=True)
class Answer:
    """What the server does with one request."""

    text: str | None = None
    finish_reason: str = "stop"
    refusal: str | None = None
    status: int = 200
    code: str | None = None  # error.code of a failed request
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    fault: Literal[
        "none",
        "hang",
        "drop",
        "drop_midway",
        "half_json",
        "no_choices",
        "close",
        "endless",
    ] = "none"
    # the response as it goes out, head included, in place of all above
    raw: bytes | None = None


Script = Callable[[Call], Answer]


def answer_with(text: str, delay: float = 0.0) -> Answer:
    return Answer(text, delay=delay)


def echo(call: Call) -> Answer:
    """The default script: an answer that depends on the request alone."""
    return Answer(f"answer {call.key[:16]} to {len(call.prompt)} characters")


def rate_limited(retry_after: str | None = "1") -> Answer:
    """Too many requests; `retry_after` in seconds or as an HTTP date."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Answer(status=429, code="rate_limit_exceeded", headers=headers)


def failed(status: int = 500, code: str | None = None) -> Answer:
    return Answer(status=status, code=code)


def too_long() -> Answer:
    return Answer(status=400, code="context_length_exceeded")


def hang() -> Answer:
    return Answer(fault="hang")


def dropped(*, midway: bool = False) -> Answer:
    """The connection breaks before the answer, or in the middle of it."""
    return Answer("lost on the way", fault="drop_midway" if midway else "drop")


def half_json(text: str = "half of it") -> Answer:
    """A complete HTTP response whose body is the first half of a JSON document."""
    return Answer(text, fault="half_json")


def refused(words: str = "I cannot help with that.") -> Answer:
    return Answer(refusal=words)


def cut(text: str) -> Answer:
    return Answer(text, finish_reason="length")


def filtered(*, prompt: bool = False) -> Answer:
    """The content filter took the answer, or (as Azure does) would not even take the prompt."""
    reason = "content_filter"
    return Answer(status=400, code=reason) if prompt else Answer(finish_reason=reason)


def whole(
    body: bytes | str | object, *, status: str = "200 OK", head: str = ""
) -> Answer:
    """A response with exactly this body; what is neither bytes nor text becomes JSON."""
    if not isinstance(body, bytes):
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
    lines = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{head}\r\n"
    return Answer(raw=lines.encode("latin-1") + body)


def completion(
    content: object = "yes",
    *,
    refusal: object = None,
    reason: object = "stop",
    prompt_tokens: object = 12,
    completion_tokens: object = 3,
    **others: object,
) -> dict[str, Any]:
    """A chat completion, whose values may be anything; `others` are more members of it."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return {
        "id": "chatcmpl-0",
        "object": "chat.completion",
        "model": "m-1",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
        },
    } | others


def with_items(document: str, number: int) -> str:
    """The JSON document with its first list cut or repeated to `number` items."""
    value = json.loads(document)
    name = next(key for key, items in value.items() if isinstance(items, list))
    items = value[name]
    value[name] = [items[n % len(items)] for n in range(number)] if items else []
    return json.dumps(value)


class ScriptedServer:
    """The server: started and stopped as a context, in a thread of its own.

    `requests` counts requests by key (SHA-256 of the body), `answered` the completions
    that were sent whole, `tokens` prompt and completion tokens of those; `calls` keeps
    every request if `keep` is set; `connected` counts open connections. All may be read
    at any time.
    """

    def __init__(
        self, script: Script = echo, *, latency: float = 0.0, keep: bool = True
    ) -> None:
        self.script = script
        self.latency = latency
        self.keep = keep
        self.calls: list[Call] = []
        self.requests: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self.most_at_once = 0
        self.port = 0
        self.open: set[_Connection] = set()
        self._at_once = 0
        self._left: int | None = None
        self._waiting: list[Callable[[], None]] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._ready = threading.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> "ScriptedServer":
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def hold_after(self, answers: int) -> None:
        """Send so many more answers, then keep the others back until `let_go`."""
        self._left = answers

    @property
    def connected(self) -> int:
        """Connections that are open at the moment."""
        return len(self.open)

    @property
    def holding(self) -> int:
        """Answers kept back at the moment."""
        return len(self._waiting)

    def let_go(self) -> None:
        """Hold no longer, and send what was kept back to those who still listen."""
        self._left = None
        waiting, self._waiting = self._waiting, []
        for send in waiting:
            self._loop.call_soon_threadsafe(send)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        starting = self._loop.create_server(
            lambda: _Connection(self), "127.0.0.1", 0, backlog=512
        )
        listening = self._loop.run_until_complete(starting)
        self.port = listening.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._close_all())
        listening.close()
        self._loop.run_until_complete(listening.wait_closed())
        self._loop.close()

    async def _close_all(self) -> None:
        """No socket outlives the server: a test far from here would be blamed for it."""
        # rounds of the loop: what came in the last moment is still on its way
        for _ in range(5):
            for connection in list(self.open):
                connection.abort()
            await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))
            await asyncio.sleep(0.001)

    def received(
        self, connection: "_Connection", path: str, head: str, body: bytes
    ) -> None:
        key = hashlib.sha256(body).hexdigest()
        self.requests[key] += 1
        lines = [line.partition(":") for line in head.split("\r\n")[1:]]
        headers = {name.lower(): value.strip() for name, _, value in lines}
        number = self.requests.total()
        call = Call(key, json.loads(body), headers, path, self.requests[key], number)
        if self.keep:
            self.calls.append(call)
        known = path.partition("?")[0].endswith("/chat/completions")
        answer = self.script(call) if known else failed(404)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        delay = self.latency + answer.delay
        self._loop.call_later(delay, self._due, connection, call, answer)

    def _due(self, *sent: Any) -> None:
        self._at_once -= 1
        self._send(*sent)

    def _send(self, connection: "_Connection", call: Call, answer: Answer) -> None:
        if connection.lost:  # who asked is gone: nothing is answered
            return
        if self._left == 0:
            self._waiting.append(lambda: self._send(connection, call, answer))
            return
        if self._left is not None:
            self._left -= 1
        connection.answer(self._response(call, answer), answer.fault)

    def _response(self, call: Call, answer: Answer) -> bytes:
        if answer.raw is not None:
            return answer.raw
        if answer.status != 200:
            error = {
                "message": f"refused: {call.prompt[:200]}",
                "code": answer.code,
                "type": "x",
            }
            return http(
                answer.status, json.dumps({"error": error}).encode(), answer.headers
            )
        used = {"prompt": call.prompt_tokens, "completion": count(answer.text or "")}
        if answer.fault in ("none", "half_json"):
            self.tokens.update(used)
        if answer.fault == "none":
            self.answered[call.key] += 1
        counts = {f"{name}_tokens": number for name, number in used.items()}
        settings = {"refusal": answer.refusal, "reason": answer.finish_reason}
        body = completion(answer.text, **settings, **counts, model=call.body["model"])
        body |= {"choices": []} if answer.fault == "no_choices" else {}
        content = json.dumps(body).encode()
        cut_ = len(content) // 2 if answer.fault == "half_json" else None
        return http(200, content[:cut_], answer.headers)


class _Connection(asyncio.Protocol):
    """HTTP/1.1 with Content-Length, which is all that the clients of these tests send."""

    def __init__(self, server: ScriptedServer) -> None:
        self._server = server
        self._received = b""
        self._transport: asyncio.Transport | None = None
        self.lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.open.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.lost = True
        self._server.open.discard(self)

    def abort(self) -> None:
        assert self._transport is not None
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, blank, rest = self._received.partition(b"\r\n\r\n")
        if not blank:
            return
        text = head.decode("latin-1")
        length = re.search(r"(?im)^content-length:\s*(\d+)", text)
        size = int(length[1]) if length else 0
        if len(rest) < size:
            return
        self._received = rest[size:]
        self._server.received(self, text.split(" ", 2)[1], text, rest[:size] or b"{}")

    def answer(self, response: bytes, fault: str) -> None:
        assert self._transport is not None
        if self._transport.is_closing() or fault == "hang":
            return
        if fault == "drop":
            self._transport.abort()
        elif fault == "drop_midway":
            self._transport.write(response[: len(response) - 40])
            self._transport.close()
        else:
            self._transport.write(response)
            if fault == "close":
                self._transport.close()
            elif fault == "endless":
                self._go_on()

    def _go_on(self) -> None:
        assert self._transport is not None
        if not (self.lost or self._transport.is_closing()):
            if self._transport.get_write_buffer_size() < 1 << 20:
                self._transport.write(b" " * 65536)
            asyncio.get_running_loop().call_later(0.001, self._go_on)


def http(status: int, content: bytes, headers: dict[str, str] | None = None) -> bytes:
    """A response with a JSON body."""
    length = {"Content-Type": "application/json", "Content-Length": str(len(content))}
    lines = [f"{name}: {value}" for name, value in (length | (headers or {})).items()]
    return "\r\n".join([f"HTTP/1.1 {status} x", *lines, "\r\n"]).encode() + content


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--latency", type=float, default=0.0, help="seconds before each answer"
    )
    latency = parser.parse_args().latency
    with ScriptedServer(latency=latency, keep=False) as server:
        print(server.port, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
