"""One request over the wire, and what came of it: an `Outcome` with short codes, never a text.

What is sent is that of OpenAI's chat API, or Azure's, and nothing about this machine.
"""

import asyncio
import contextlib
import functools
import json
import logging
import re
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2

from metassay import __version__
from metassay.llm.budget import Billed
from metassay.llm.completion import answer
from metassay.llm.egress import Secrets
from metassay.llm.endpoints import EndpointOptions
from metassay.llm.ledger import Entry
from metassay.llm.limits import quota_pause, retry_after
from metassay.llm.messages import ChatRequest
from metassay.llm.server_errors import WATCHED, Exchange, is_retired, words

# The connection pool of one client scans all its connections for every request: at 128 of them
# that costs more than the request. Eight clients of sixteen connections do not notice.
CLIENTS = 8
CONNECT_SECONDS = 10.0
LARGEST_BODY = 16 * 2**20  # bytes; the longest answers of models take a tenth of it

_GZIP = b"\x1f\x8b"  # how it begins, and no JSON does
_EITHER, _BARE = zlib.MAX_WBITS | 32, -zlib.MAX_WBITS  # gzip or zlib; what some take deflate for
_LAYERS = 3  # of packing
_PIECE = 4096  # bytes that are unpacked at a time

_TOO_LONG = ("maximum context length", "context window", "context length")
_STOPPING = {
    401: "it does not accept the key",
    402: "the account has no credit left",
    404: "it knows no such path or model",
}
_NO_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
# How Anthropic (credit), Gemini and xAI (keys) begin what they say with HTTP 400.
_SAID = {
    re.compile(r"your credit balance is too low", re.IGNORECASE): 402,
    re.compile(r"api key not valid|incorrect api key", re.IGNORECASE): 401,
}
_RETRIED = frozenset({408, 409, 425, 429})
_PERHAPS_BILLED = frozenset({408, 502, 504})  # a gateway gave up on a model that may have gone on


@dataclass(frozen=True)
class Outcome:
    """What one sent request came to: an `entry` for the ledger, or an `error` code.

    `again`: it may succeed another time, after `wait` seconds if the server said so. Nothing may go
    out for `pause` seconds: a quota is used up. `stop`: no request to this endpoint can succeed,
    and why; `retired`: to this model there. `said` are the words of a server that refuses this one
    for good, and `kind` its own code.
    """

    entry: Entry | None = None
    error: str | None = None
    again: bool = False
    wait: float | None = None
    pause: float = 0.0
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


@contextlib.asynccontextmanager
async def clients(
    endpoint: EndpointOptions, secrets: Secrets
) -> AsyncIterator[list[httpx2.AsyncClient]]:
    """Clients that share the load. Environment proxies and redirects are not followed."""
    transport_log = logging.getLogger("httpx2")
    if transport_log.level == logging.NOTSET:  # a line per request, unless somebody asks for it
        transport_log.setLevel(logging.WARNING)
    number = min(CLIENTS, endpoint.concurrency)
    async with contextlib.AsyncExitStack() as stack:
        yield [await stack.enter_async_context(_client(endpoint, secrets)) for _ in range(number)]


async def send(
    client: httpx2.AsyncClient,
    request: ChatRequest,
    key: str,
    endpoint: EndpointOptions,
    limit: str,
) -> Outcome:
    """Send a request once and say what came of it. `limit` names the parameter for max_tokens."""
    start, sent = time.monotonic(), body(request, endpoint, limit)
    content = bytearray()
    try:
        async with (
            asyncio.timeout(endpoint.timeout),
            client.stream("POST", _url(request, endpoint), content=sent) as response,
        ):
            async for part in response.aiter_raw():
                content += part
                if len(content) > LARGEST_BODY:
                    raise _TooLarge
        whole = _unpacked(bytes(content), response.headers.get("content-encoding", ""))
    except (TimeoutError, httpx2.TimeoutException) as error:
        return Outcome(error="timeout", again=True, billed=_if_it_went_out(error))
    except _TooLarge:
        return Outcome(error="too_large", billed="perhaps")
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        return Outcome(error="connection", again=True, billed=_if_it_went_out(error))
    latency, watched = time.monotonic() - start, WATCHED.get()
    if watched is not None:
        watched.append(Exchange(response.request, response, whole, latency))
    if not response.is_success:
        return _failed(response, whole, request, key)
    entry = answer(whole, request, key)
    if entry is None:
        return Outcome(error="bad_reply", again=True, billed="perhaps")
    pause = quota_pause(response.headers)
    return Outcome(entry=entry, billed="yes", latency=latency, pause=pause)


def _url(request: ChatRequest, endpoint: EndpointOptions) -> str:
    base = endpoint.base_url.rstrip("/")
    if endpoint.kind != "azure":
        return f"{base}/chat/completions"
    deployment = f"{base}/openai/deployments/{quote(request.model, safe='')}"
    return f"{deployment}/chat/completions?api-version={endpoint.api_version}"


def _client(endpoint: EndpointOptions, secrets: Secrets) -> httpx2.AsyncClient:
    headers = httpx2.Headers({"Accept": "application/json", "Content-Type": "application/json"})
    headers["Accept-Encoding"] = "gzip, deflate"  # whatever else is installed here
    headers["User-Agent"] = f"metassay/{__version__}"
    if secrets.key or not secrets.headers:  # else one of the headers says who asks
        key = secrets.key or "none"
        azure = endpoint.kind == "azure"
        headers["api-key" if azure else "Authorization"] = key if azure else f"Bearer {key}"
    headers.update({**endpoint.headers, **secrets.headers})
    transport = httpx2.AsyncHTTPTransport(
        verify=_certificates(),
        trust_env=False,
        proxy=endpoint.proxy,
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
    )
    return httpx2.AsyncClient(
        transport=transport,
        headers=headers,
        trust_env=False,
        follow_redirects=False,
        timeout=httpx2.Timeout(endpoint.timeout, connect=CONNECT_SECONDS),
    )


class _TooLarge(Exception):  # noqa: N818
    """A body that no answer is as long as."""


def _unpacked(body: bytes, said: str) -> bytes:
    """What gzip or zlib made of a body, also where its head (`said`) is wrong about it."""
    if "deflate" in said.lower():
        for form in (_EITHER, _BARE):
            with contextlib.suppress(zlib.error):
                body = _inflated(body, form)
                break
    for _ in range(_LAYERS):
        if body.startswith(_GZIP):
            with contextlib.suppress(zlib.error):
                body = _inflated(body, _EITHER)
    return body


def _inflated(body: bytes, form: int) -> bytes:
    """One layer: it may be several files in a row, with zeros behind them."""
    content, unpacking = bytearray(), None
    for start in range(0, len(body), _PIECE):
        piece = body[start : start + _PIECE]
        while piece := piece if unpacking else piece.lstrip(b"\0"):
            unpacking = unpacking or zlib.decompressobj(form)
            content += unpacking.decompress(piece, LARGEST_BODY + 1 - len(content))
            if len(content) > LARGEST_BODY:
                raise _TooLarge
            piece = unpacking.unused_data
            unpacking = None if unpacking.eof else unpacking
    return bytes(content)


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


def _if_it_went_out(error: BaseException) -> Billed:
    before = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
    return "no" if isinstance(error, before) else "perhaps"


def _failed(response: httpx2.Response, whole: bytes, request: ChatRequest, key: str) -> Outcome:
    """What an HTTP status means: https://platform.openai.com/docs/guides/error-codes."""
    status, error = response.status_code, _error_in(whole)
    of: Mapping[str, Any] = error if isinstance(error, Mapping) else {"message": error}
    kind, message = of.get("code"), of.get("message")
    message = message if isinstance(message, str) else ""
    if status == 400:  # others send another status where the server says this
        status = next((meant for words, meant in _SAID.items() if words.match(message)), status)
    code = f"http_{status}"
    if is_retired(status, error, request.model):
        return Outcome(error=code, stop="it has no such model", retired=True)
    if status in _STOPPING or kind in _NO_QUOTA:
        return Outcome(error=code, stop=_STOPPING.get(status, "the account has no quota left"))
    about = of.get("metadata")
    # Whether a filter would not take the prompt, as Azure, OpenAI and OpenRouter say it.
    if (
        kind in ("content_filter", "content_policy_violation")
        or (kind == "invalid_prompt" and "flagged" in message)
        or (isinstance(about, Mapping) and "flagged_input" in about)
    ):
        return Outcome(entry=Entry(key, "refused", "content_filter", None, None, None))
    if status in _RETRIED or status >= 500:
        billed: Billed = "perhaps" if status in _PERHAPS_BILLED else "no"
        wait, pause = retry_after(response.headers), quota_pause(response.headers)
        return Outcome(error=code, again=True, wait=wait, pause=pause, billed=billed)
    if kind == "context_length_exceeded" or any(said in message.lower() for said in _TOO_LONG):
        return Outcome(error="context_length")
    said = words(status, error, response.request.content, response.request.headers.values())
    return Outcome(error=code, said=said, kind=str(kind))


def _error_in(whole: bytes) -> object:
    text = whole.decode("utf-8", "replace").strip()
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return said.get("error", said) if isinstance(said, Mapping) else said
