"""One request over the wire, and what came of it: an `Outcome` with short codes.

Servers' words and exceptions can quote the prompt, so none of them leaves this file but by `words`.
"""

import asyncio
import contextlib
import functools
import json
import re
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx2

from metassay import __version__
from metassay.core.errors import BadInput
from metassay.llm import tokens
from metassay.llm.answers import without_thoughts
from metassay.llm.budget import Billed
from metassay.llm.egress import Cleared, Secrets
from metassay.llm.endpoints import EndpointOptions, ModelOptions
from metassay.llm.ledger import UNREADABLE, Entry, EntryStatus, Ledger
from metassay.llm.limits import retry_after
from metassay.llm.messages import ChatRequest, TokenLogprobs, logprobs_to_json, token_logprob
from metassay.llm.server_errors import (
    WATCHED,
    Exchange,
    Retired,
    is_retired,
    parsed,
    words,
)

# OpenAI's words first; then those of Anthropic, Mistral and Gemini, which gateways pass on.
_FINISHED: dict[str, EntryStatus] = {
    **dict.fromkeys(("length", "max_tokens", "model_length"), "truncated"),
    "model_context_window_exceeded": "truncated",
    **dict.fromkeys(("content_filter", "refusal", "safety"), "refused"),
}
_BROKEN = ("error", "abort")  # OpenRouter and vLLM: it ended before there was an answer
_THOUGHTS = ("thinking", "reasoning")  # parts of a message that are none of the answer
_LONGEST_REASON = 64  # characters; it is one word of an API's few


def answer(content: bytes, request: ChatRequest, key: str) -> Entry | None:
    """Read the body of a response; None if no answer is in it.

    Thoughts are no answer, and a count of tokens that cannot be true is null. What is not text, or
    what no file can hold, was paid for all the same: it is kept as ASCII, marked, and nobody reads
    it.
    """
    try:
        # As floats, numbers never have too many digits.
        body = json.loads(content.decode("utf-8-sig", "surrogateescape"), parse_int=float)
        choice = body["choices"][0]
        if body.get("error") or choice.get("error"):
            return None
        message, reason = choice["message"], choice.get("finish_reason")
        if reason in _BROKEN:
            return None
        refusal = message.get("refusal")
        text, sound = _text(refusal or message.get("content"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    reason = _ascii(reason)[:_LONGEST_REASON] if isinstance(reason, str) else None
    status = "refused" if refusal else _FINISHED.get((reason or "").lower(), "ok")
    if status == "ok" and not sound:
        reason = UNREADABLE
    tokens = None if request.logprobs is None else _logprobs_of(choice, text)
    counts = _counts(body.get("usage"), request, text)
    return Entry(key, status, reason, *counts, text, logprobs_to_json(tokens) if tokens else None)


def _text(said: Any) -> tuple[str, bool]:
    """What a message says, and whether it can be read: no file can hold half a surrogate pair."""
    if isinstance(said, list):
        said = _joined(said)
    text = "" if said is None else said if isinstance(said, str) else json.dumps(said)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return _ascii(text), False
    return text, said is None or isinstance(said, str)


def _joined(parts: list[Any]) -> Any:
    """The text of `[{"type": "text", "text": "..."}, ...]`, in which some servers answer."""
    said = [p for p in parts if not (isinstance(p, dict) and p.get("type") in _THOUGHTS)]
    if not said:
        return None
    texts = [p.get("text") for p in said if isinstance(p, dict) and p.get("type") == "text"]
    sound = [text for text in texts if isinstance(text, str)]
    return "".join(sound) if sound and len(sound) == len(texts) else parts


def _ascii(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode("ascii")


def _counts(usage: Any, request: ChatRequest, text: str) -> tuple[int | None, int | None]:
    """Tokens read and written; null where they are not counted, or are more than was reserved."""
    known = usage if isinstance(usage, dict) else {}

    def count(name: str, least: int, most: int) -> int | None:
        number: Any = known.get(name)
        sound = isinstance(number, float) and number.is_integer() and least <= number <= most
        return int(number) if sound else None

    read = count("prompt_tokens", 1, tokens.at_most(request))
    return read, count("completion_tokens", 1 if text else 0, request.max_tokens)


def _logprobs_of(choice: dict[str, Any], text: str) -> tuple[TokenLogprobs, ...] | None:
    """Those of the answer alone, in a choice whose message says `text`; None if there are none."""
    given = choice.get("logprobs")
    found = given.get("content") if isinstance(given, dict) else None
    said = without_thoughts(text)
    if not isinstance(found, list) or not found or not said:
        return None
    try:
        tokens = [
            TokenLogprobs(*_pair(token), tuple(map(_pair, token.get("top_logprobs") or ())))
            for token in found
        ]
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
    start = "".join(token.token for token in tokens).rfind(said)
    if start < 0:  # parts of a character are tokens, or blanks are written otherwise
        message = choice["message"]
        thought = said != text or message.get("reasoning_content") or message.get("reasoning")
        return None if thought else tuple(tokens)
    while start >= len(tokens[0].token):
        start -= len(tokens.pop(0).token)
    return tuple(tokens)


def _pair(said: dict[str, Any]) -> tuple[str, float]:
    return token_logprob(said["token"], said["logprob"])


# A connection pool scans all its connections for every request: at 128 of them that costs more
# than the request. Pools of four do not notice.
CLIENTS = 32
CONNECT_SECONDS = 10.0
LARGEST_BODY = 16 * 2**20  # bytes; the longest answers of models take a tenth of it
_HEADERS = {
    **{"accept": "application/json", "accept-encoding": "gzip"},
    "user-agent": f"metassay/{__version__}",
}
_GZIP = b"\x1f\x8b"  # how it begins, and no JSON does

_TOO_LONG = ("maximum context length", "context window", "context length")
STOPPING = {
    401: "it does not accept the key",
    402: "the account has no credit left",
    404: "it knows no such path or model",
}
_REMEDIES = {
    401: "check the environment variable {key_env} (params.yaml > endpoints > {name} > key_env)",
    402: "add credit to it",
    404: "check params.yaml > endpoints > {name} > base_url",
    429: "wait for its reset or raise it",
}
_NO_KEY = "name the variable that holds it under params.yaml > endpoints > {name} > key_env"
NO_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
# How Anthropic (credit), Gemini and xAI (keys) begin what they say with HTTP 400.
_SAID = {
    re.compile(r"your credit balance is too low", re.IGNORECASE): 402,
    re.compile(r"api key not valid|incorrect api key", re.IGNORECASE): 401,
}
RETRIED = frozenset({408, 409, 425, 429})
_PERHAPS_BILLED = frozenset({408, 502, 504})  # a gateway gave up on a model that may have gone on


@dataclass(frozen=True)
class Outcome:
    """What one sent request came to: an `entry` for the ledger, or an `error` code.

    `again`: it may succeed another time, after `wait` seconds if the server said so. `stop`: no
    request to this endpoint can succeed, and why; `retired`: to this model there. `said` are the
    words of a server that refuses this one for good, and `kind` its own code.
    """

    entry: Entry | None = None
    error: str | None = None
    again: bool = False
    wait: float | None = None
    stop: str | None = None
    retired: bool = False
    said: str | None = None
    kind: str | None = None
    billed: Billed = "no"
    latency: float | None = None

    @property
    def code(self) -> str:
        """A short code for the log of attempts."""
        return self.entry.status if self.entry else str(self.error)


class Client:
    """Connections to one endpoint. Environment proxies and redirects are not followed."""

    def __init__(self, endpoint: EndpointOptions, secrets: Secrets, largest: int) -> None:
        self._largest = largest
        self._transport = httpx2.AsyncHTTPTransport(
            verify=_certificates(),
            trust_env=False,
            proxy=endpoint.proxy,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        )
        azure = endpoint.kind == "azure"
        self._url = endpoint.base_url.rstrip("/") + ("/openai" if azure else "")
        self._query = f"?api-version={endpoint.api_version}" if azure else ""
        told = str(secrets.key)
        key = {"api-key": told} if azure else {"authorization": f"Bearer {told}"}
        self._headers = httpx2.Headers({**_HEADERS, **(key if secrets.key else {})})
        self._headers.update({**endpoint.headers, **secrets.headers})
        timeout = httpx2.Timeout(endpoint.timeout, connect=CONNECT_SECONDS)
        self._extensions = {"timeout": timeout.as_dict()}
        self.secrets = [*([secrets.key] if secrets.key else []), *secrets.headers.values()]

    async def call(self, method: str, path: str, **content: Any) -> httpx2.Response:
        """Send a request and read the answer whole, but no more than `largest` bytes of it."""
        request = httpx2.Request(
            method,
            f"{self._url}{path}{self._query}",
            headers=self._headers,
            extensions=self._extensions,
            **content,
        )
        if "content" in content:
            request.headers["content-type"] = "application/json"
        start, body = time.monotonic(), bytearray()
        response = await self._transport.handle_async_request(request)
        try:
            async for part in response.aiter_raw():
                body += part
                _check_size(body, self._largest)
        finally:
            await response.aclose()
        whole = _unpacked(bytes(body), self._largest)
        watched = WATCHED.get()
        if watched is not None:
            watched.append(Exchange(request, response, whole, time.monotonic() - start))
        # Without its encoding, and what it says of a charset that may be none.
        headers = [one for one in response.headers.raw if not one[0].lower().startswith(b"content")]
        return httpx2.Response(response.status_code, headers=headers, content=whole)

    async def close(self) -> None:
        """End all connections."""
        await self._transport.aclose()


@contextlib.asynccontextmanager
async def clients(
    endpoint: EndpointOptions, secrets: Secrets, *, largest: int | None = None
) -> AsyncIterator[list[Client]]:
    """Clients that share the load; a body of more than `largest` (LARGEST_BODY) is not read."""
    number = min(CLIENTS, endpoint.concurrency)
    every = [Client(endpoint, secrets, largest or LARGEST_BODY) for _ in range(number)]
    try:
        yield every
    finally:
        for client in every:
            await client.close()


# What a call that reaches no answer raises: a wrong address and bytes that are no HTTP, too.
UNANSWERED = (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError)


async def send(
    client: Client, request: ChatRequest, key: str, endpoint: EndpointOptions, limit: str
) -> Outcome:
    """Send a request once and say what came of it. `limit` names the parameter for max_tokens."""
    start, sent = time.monotonic(), body(request, endpoint, limit)
    try:
        async with asyncio.timeout(endpoint.timeout):
            response = await client.call("POST", _path(request, endpoint), content=sent)
    except (TimeoutError, httpx2.TimeoutException) as error:
        return Outcome(error="timeout", again=True, billed=_if_it_went_out(error))
    except TooLarge:
        return Outcome(error="too_large", billed="perhaps")
    except UNANSWERED as error:
        return Outcome(error="connection", again=True, billed=_if_it_went_out(error))
    latency = time.monotonic() - start
    if not response.is_success:
        refusal = server_error(response.status_code, response.content, response.headers)
        return failed(refusal, request, key, sent, client.secrets)
    entry = answer(response.content, request, key)
    if entry is None:
        return Outcome(error="bad_reply", again=True, billed="perhaps")
    return Outcome(entry=entry, billed="yes", latency=latency)


class TooLarge(Exception):  # noqa: N818 - it ends nothing but a call
    """A body that no answer is as long as."""


def _check_size(body: bytes | bytearray, largest: int) -> None:
    if len(body) > largest:
        raise TooLarge


def _unpacked(body: bytes, largest: int) -> bytes:
    """What gzip made of a body, whatever its head says; what is not packed comes back as it is."""
    if body.startswith(_GZIP):
        with contextlib.suppress(zlib.error):
            body = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body, largest + 1)
    _check_size(body, largest)
    return body


@functools.cache
def _certificates() -> ssl.SSLContext:
    # Read once: eight clients would each take 60 ms. SSL_CERT_FILE is honoured, proxies are not.
    return httpx2.create_ssl_context()


def body(request: ChatRequest, endpoint: EndpointOptions, limit: str) -> bytes:
    """What is sent: the body of the request, as JSON in UTF-8."""
    said: dict[str, Any] = {
        "model": request.model,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
    }
    if request.temperature is not None:
        said["temperature"] = request.temperature
    said[limit] = request.max_tokens
    if request.seed is not None:
        said["seed"] = request.seed
    form = request.structured or endpoint.structured
    if request.schema is not None and form == "json_schema":
        schema = {"name": "answer", "schema": json.loads(request.schema), "strict": True}
        said["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif request.schema is not None and form == "json_object":
        said["response_format"] = {"type": "json_object"}
    if request.logprobs is not None:
        said |= {"logprobs": True, "top_logprobs": request.logprobs}
    said |= json.loads(request.extra or "{}")
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def _path(request: ChatRequest, endpoint: EndpointOptions) -> str:
    if endpoint.kind == "azure":
        return f"/deployments/{quote(request.model, safe='')}/chat/completions"
    return "/chat/completions"


def _if_it_went_out(error: BaseException) -> Billed:
    before = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
    return "no" if isinstance(error, before) else "perhaps"


class ServerError(NamedTuple):
    """What a server says of a request that it does not answer.

    `body` is what stands under `error` in its JSON, or all of it, or its text; `code` its own code.
    """

    status: int
    body: Any
    code: Any
    message: str
    headers: Mapping[str, str]

    @property
    def stop(self) -> str | None:
        """Why no request to this endpoint can succeed; None if one may."""
        no_quota = "the account has no quota left" if self.code in NO_QUOTA else None
        return STOPPING.get(self.status, no_quota)

    @property
    def declined(self) -> bool:
        """Whether a filter would not take the prompt, as Azure, OpenAI and OpenRouter say it."""
        about = self.body.get("metadata") if isinstance(self.body, Mapping) else None
        return (
            self.code in ("content_filter", "content_policy_violation")
            or (self.code == "invalid_prompt" and "flagged" in self.message)
            or (isinstance(about, Mapping) and "flagged_input" in about)
        )


def server_error(status: int, content: object, headers: Mapping[str, str]) -> ServerError:
    """The error of a response, whose content is bytes or read already."""
    text = content.decode("utf-8", "replace").strip() if isinstance(content, bytes) else content
    whole = parsed(text)
    body = whole.get("error", whole) if isinstance(whole, Mapping) else whole
    code = body.get("code") if isinstance(body, Mapping) else None
    message = body.get("message") if isinstance(body, Mapping) else body
    message = message if isinstance(message, str) else ""
    by_words = [meant for begins, meant in _SAID.items() if begins.match(message)]
    status = by_words[0] if status == 400 and by_words else status
    return ServerError(status, body, code, message, headers)


def failed(
    error: ServerError, request: ChatRequest, key: str, sent: bytes, secrets: list[str]
) -> Outcome:
    """What an HTTP status means: https://platform.openai.com/docs/guides/error-codes."""
    status, code = error.status, f"http_{error.status}"
    if is_retired(status, error.body, request.model):
        return Outcome(error=code, stop="it has no such model", retired=True)
    if error.stop:
        return Outcome(error=code, stop=error.stop)
    if error.declined:
        return Outcome(entry=Entry(key, "refused", "content_filter", None, None, None))
    if status in RETRIED or status >= 500:
        billed: Billed = "perhaps" if status in _PERHAPS_BILLED else "no"
        return Outcome(error=code, again=True, wait=retry_after(error.headers), billed=billed)
    message = error.message.lower()
    if error.code == "context_length_exceeded" or any(long in message for long in _TOO_LONG):
        return Outcome(error="context_length")
    shown = words(status, error.body, sent, secrets)
    return Outcome(error=code, said=shown, kind=str(error.code))


def dead_end(endpoint: Cleared, model: ModelOptions, ledger: Ledger, outcome: Outcome) -> BadInput:
    """Why no request can succeed, as an outcome with `stop` says it, and what to do."""
    name, options = endpoint.name, endpoint.options
    where = f"endpoint {name!r} ({options.base_url})"
    if outcome.retired:
        answers, last = ledger.model_answers(model.model)
        here = f"{where} answers, but says that it has no model {model.model!r}"
        if not answers:
            return Retired(
                f"{here}, of which the ledger has no answer: correct params.yaml > models > ... >"
                " model; if the name is right, the model was retired or the key may not use it"
            )
        return Retired(
            f"{here} any more. Its {answers:,} answers in the ledger, the last of {last}, and all"
            " tables made of them, stay as they are. To go on, add its successor under params.yaml"
            " > models, a judge that asks it, and run both judges side by side"
        )
    status = int(outcome.code.removeprefix("http_"))
    remedy = _REMEDIES.get(status, _REMEDIES[429])
    if status == 401 and options.key_env is None:
        remedy = _NO_KEY
    remedy = remedy.format(name=name, key_env=options.key_env)
    return BadInput(f"{where}: {outcome.stop}; {remedy}; then run again")
