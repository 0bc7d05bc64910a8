"""One request over the wire: what the openai package makes of it, and what came of it.

Exceptions of that package can quote the prompt, so none of them leaves this file: everything that
can happen is an `Outcome` with short codes.
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
import openai

from metassay import __version__
from metassay.core.errors import BadInput
from metassay.llm.answers import without_thoughts
from metassay.llm.budget import Billed
from metassay.llm.endpoints import Cleared, EndpointOptions, ModelOptions, Secrets
from metassay.llm.estimate import at_most
from metassay.llm.ledger import UNREADABLE, Entry, EntryStatus, Ledger
from metassay.llm.limits import QUOTAS, quota_pause, retry_after
from metassay.llm.messages import ChatRequest, TokenLogprobs, logprobs_to_json, token_logprob
from metassay.llm.server_errors import (
    WATCHED,
    Exchange,
    Retired,
    is_retired,
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

    read = count("prompt_tokens", 1, at_most(request))
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


# The connection pool of one client scans all its connections for every request: at 128 of them
# that costs more than the request. Eight clients of sixteen connections do not notice.
CLIENTS = 8
CONNECT_SECONDS = 10.0
LARGEST_BODY = 16 * 2**20  # bytes; the longest answers of models take a tenth of it

_GZIP = b"\x1f\x8b"  # how it begins, and no JSON does
_EITHER, _BARE = zlib.MAX_WBITS | 32, -zlib.MAX_WBITS  # gzip or zlib; what some take deflate for
_LAYERS = 3  # of packing
_PIECE = 4096  # bytes that are unpacked at a time

# What the package would tell about this machine, and read from the environment, in every request.
_SILENCED = (
    *("X-Stainless-Lang", "X-Stainless-Package-Version", "X-Stainless-OS", "X-Stainless-Arch"),
    *("X-Stainless-Runtime", "X-Stainless-Runtime-Version", "X-Stainless-Async"),
    *("OpenAI-Organization", "OpenAI-Project"),
)
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
_READ_HEADERS = frozenset(
    {b"retry-after", b"retry-after-ms", b"date"}
    | {name.encode() for names in QUOTAS for name in names}
)
_PERHAPS_BILLED = frozenset({408, 502, 504})  # a gateway gave up on a model that may have gone on


@dataclass(frozen=True)
class Outcome:
    """What one sent request came to: an `entry` for the ledger, or an `error` code.

    `again`: it may succeed another time, after `wait` seconds if the server said so. Nothing may go
    out for `pause` seconds: a quota is used up. `stop`: no request to this endpoint can succeed,
    and why; `retired`: to this model there. `said` are the
    words of a server that refuses this one for good, and `kind` its own code.
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
    endpoint: EndpointOptions, secrets: Secrets, *, largest: int | None = None
) -> AsyncIterator[list[openai.AsyncOpenAI]]:
    """Clients that share the load. Environment proxies and redirects are not followed.

    A body of more than `largest` bytes (None: LARGEST_BODY) is not read.
    """
    transport_log = logging.getLogger("httpx2")
    if transport_log.level == logging.NOTSET:  # a line per request, unless somebody asks for it
        transport_log.setLevel(logging.WARNING)
    number = min(CLIENTS, endpoint.concurrency)
    made = [_client(endpoint, secrets, largest or LARGEST_BODY) for _ in range(number)]
    try:
        yield made
    finally:
        for client in made:
            await client.close()


async def send(
    client: openai.AsyncOpenAI,
    request: ChatRequest,
    key: str,
    endpoint: EndpointOptions,
    limit: str,
) -> Outcome:
    """Send a request once and say what came of it. `limit` names the parameter for max_tokens."""
    start, sent = time.monotonic(), body(request, endpoint, limit)
    try:
        async with asyncio.timeout(endpoint.timeout):
            response = await client.post(
                _path(request, endpoint),
                cast_to=httpx2.Response,
                # Bytes, not a mapping: the package would copy and check that for a quarter of a ms.
                content=sent,
            )
    except (TimeoutError, openai.APITimeoutError) as error:
        return Outcome(error="timeout", again=True, billed=_if_it_went_out(error))
    except openai.APIConnectionError as error:
        large = isinstance(error.__cause__, _TooLarge)
        code = "too_large" if large else "connection"
        return Outcome(error=code, again=not large, billed=_if_it_went_out(error))
    except openai.APIStatusError as error:
        secrets = [client.api_key, *map(str, client.default_headers.values())]
        return failed(error, request, key, sent, secrets)
    except openai.OpenAIError:
        return Outcome(error="client")
    latency = time.monotonic() - start
    entry = answer(response.content, request, key)
    if entry is None:
        return Outcome(error="bad_reply", again=True, billed="perhaps")
    pause = quota_pause(response.headers)
    return Outcome(entry=entry, billed="yes", latency=latency, pause=pause)


def _client(endpoint: EndpointOptions, secrets: Secrets, largest: int) -> openai.AsyncOpenAI:
    transport = httpx2.AsyncClient(
        transport=_Bounded(endpoint, secrets, largest),
        trust_env=False,
        follow_redirects=False,
        timeout=httpx2.Timeout(endpoint.timeout, connect=CONNECT_SECONDS),
    )
    headers: dict[str, Any] = dict.fromkeys(_SILENCED, openai.Omit())
    headers["User-Agent"] = f"metassay/{__version__}"
    headers["Accept-Encoding"] = "gzip, deflate"  # whatever else is installed here
    common: dict[str, Any] = {
        # Never None: the package would take a key from the environment, and send it to this server.
        "api_key": secrets.key or "none",
        "max_retries": 0,
        "timeout": httpx2.Timeout(endpoint.timeout, connect=CONNECT_SECONDS),
        "default_headers": headers,
        "http_client": transport,
    }
    if endpoint.kind == "azure":
        return openai.AsyncAzureOpenAI(
            azure_endpoint=endpoint.base_url, api_version=endpoint.api_version, **common
        )
    return openai.AsyncOpenAI(base_url=endpoint.base_url, **common)


class _TooLarge(httpx2.RequestError):
    """A body that no answer is as long as."""


class _Bounded(httpx2.AsyncBaseTransport):
    """Reads a response whole, but no more than `largest` bytes of it, also when it is unpacked.

    The endpoint's own headers are set here, in place of any that the package sets or logs. Of the
    response's headers only those come through that are read here: what a body's `charset` says
    would crash the package, which decodes the bodies of errors by it.
    """

    def __init__(self, endpoint: EndpointOptions, secrets: Secrets, largest: int) -> None:
        self._largest = largest
        self._headers = {**endpoint.headers, **secrets.headers}
        # Without a key the package sends one that is none, but one of the headers says who asks.
        self._unset = ("authorization", "api-key") if secrets.headers and not secrets.key else ()
        self._inner = httpx2.AsyncHTTPTransport(
            verify=_certificates(),
            trust_env=False,
            proxy=endpoint.proxy,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        for name in self._unset:
            request.headers.pop(name, None)
        request.headers.update(self._headers)
        start = time.monotonic()
        response = await self._inner.handle_async_request(request)
        body = bytearray()
        try:
            async for part in response.aiter_raw():
                body += part
                if len(body) > self._largest:
                    raise _TooLarge("the body is too large")
        finally:
            await response.aclose()
        said = response.headers.get("content-encoding", "")
        content = _unpacked(bytes(body), said, self._largest)
        watched = WATCHED.get()
        if watched is not None:
            seconds = time.monotonic() - start
            watched.append(Exchange(request, response, content, seconds))
        headers = [one for one in response.headers.raw if one[0].lower() in _READ_HEADERS]
        return httpx2.Response(response.status_code, headers=headers, content=content)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _unpacked(body: bytes, said: str, largest: int) -> bytes:
    """What gzip or zlib made of a body, also where its head (`said`) is wrong about it.

    Some servers and their proxies both pack it, or only one of them says so. What is neither comes
    back as it is.
    """
    if "deflate" in said.lower():
        for form in (_EITHER, _BARE):
            with contextlib.suppress(zlib.error):
                body = _inflated(body, form, largest)
                break
    for _ in range(_LAYERS):
        if body.startswith(_GZIP):
            with contextlib.suppress(zlib.error):
                body = _inflated(body, _EITHER, largest)
    return body


def _inflated(body: bytes, form: int, largest: int) -> bytes:
    """One layer: it may be several files in a row, with zeros behind them."""
    content, unpacking = bytearray(), None
    for start in range(0, len(body), _PIECE):
        piece = body[start : start + _PIECE]
        while piece := piece if unpacking else piece.lstrip(b"\0"):
            unpacking = unpacking or zlib.decompressobj(form)
            content += unpacking.decompress(piece, largest + 1 - len(content))
            if len(content) > largest:
                raise _TooLarge("the body is too large")
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


def _path(request: ChatRequest, endpoint: EndpointOptions) -> str:
    if endpoint.kind == "azure":
        return f"/deployments/{quote(request.model, safe='')}/chat/completions"
    return "/chat/completions"


def _if_it_went_out(error: BaseException) -> Billed:
    before = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
    return "no" if isinstance(error.__cause__, before) else "perhaps"


def failed(
    error: openai.APIStatusError, request: ChatRequest, key: str, sent: bytes, secrets: list[str]
) -> Outcome:
    """What an HTTP status means: https://platform.openai.com/docs/guides/error-codes."""
    status = _meant(error)
    code = f"http_{status}"
    if is_retired(status, error.body, request.model):
        return Outcome(error=code, stop="it has no such model", retired=True)
    if status in STOPPING or error.code in NO_QUOTA:
        return Outcome(error=code, stop=STOPPING.get(status, "the account has no quota left"))
    # Whether a filter would not take the prompt, as Azure, OpenAI and OpenRouter say it.
    body = error.body if isinstance(error.body, Mapping) else {}
    about = body.get("metadata")
    if (
        error.code in ("content_filter", "content_policy_violation")
        or (error.code == "invalid_prompt" and "flagged" in str(body.get("message")))
        or (isinstance(about, Mapping) and "flagged_input" in about)
    ):
        return Outcome(entry=Entry(key, "refused", "content_filter", None, None, None))
    if status in RETRIED or status >= 500:
        billed: Billed = "perhaps" if status in _PERHAPS_BILLED else "no"
        wait = retry_after(error.response.headers)
        pause = quota_pause(error.response.headers)
        return Outcome(error=code, again=True, wait=wait, pause=pause, billed=billed)
    if error.code == "context_length_exceeded" or any(
        words in _message(error.body).lower() for words in _TOO_LONG
    ):
        return Outcome(error="context_length")
    said = words(status, error.body, sent, secrets)
    return Outcome(error=code, said=said, kind=str(error.code))


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


def _meant(error: openai.APIStatusError) -> int:
    """The HTTP status, or the one that others send where the server says this."""
    said = _message(error.body)
    by_words = [meant for words, meant in _SAID.items() if words.match(said)]
    return by_words[0] if error.status_code == 400 and by_words else error.status_code


def _message(body: object) -> str:
    message = body.get("message") if isinstance(body, Mapping) else body
    return message if isinstance(message, str) else ""
