"""Send one request with the openai package, and read the response.

Exceptions of that package can quote the prompt, so every result is an `Outcome` with
short codes.
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
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any
from urllib.parse import quote

import httpx2
import openai

from metassay import __version__
from metassay.core.errors import BadInput
from metassay.llm.budget import Billed, bound_request_tokens
from metassay.llm.endpoints import Cleared, EndpointOptions, ModelOptions, Secrets
from metassay.llm.ledger import UNREADABLE, Entry, EntryStatus, Ledger
from metassay.llm.limits import QUOTAS, quota_pause, retry_after
from metassay.llm.messages import (
    ChatRequest,
    TokenLogprobs,
    logprobs_to_json,
    token_logprob,
)
from metassay.llm.server_errors import WATCHED, Exchange, Retired, is_retired, words
from metassay.llm.thoughts import remove_thoughts

# Finish reasons of OpenAI, Anthropic, Mistral and Gemini; gateways pass them on.
_FINISHED: dict[str, EntryStatus] = {
    **dict.fromkeys(("length", "max_tokens", "model_length"), "truncated"),
    "model_context_window_exceeded": "truncated",
    **dict.fromkeys(("content_filter", "refusal", "safety"), "refused"),
}
_BROKEN = ("error", "abort")  # OpenRouter and vLLM: the request ended without an answer
_THOUGHTS = ("thinking", "reasoning")  # parts of a message outside the answer
_LONGEST_TOKEN = 32  # characters, on average over a text: about four in English
_LONGEST_REASON = 64  # characters; APIs have a few short reasons


def read_answer(content: bytes, request: ChatRequest, key: str) -> Entry | None:
    """Read the body of a response; None if it has no answer.

    Thoughts are not part of the answer. An impossible count of tokens is null. An
    answer that is not text, or not valid Unicode, was paid for: it is kept as ASCII,
    marked UNREADABLE.
    """
    try:
        # Parsed as floats, integers cannot exceed the limit of digits.
        body = json.loads(
            content.decode("utf-8-sig", "surrogateescape"), parse_int=float
        )
        choice = body["choices"][0]
        if body.get("error") or choice.get("error"):
            return None
        message = choice["message"]
        reason = choice.get("finish_reason")
        if reason in _BROKEN:
            return None
        refusal = message.get("refusal")
        text, readable = _text(refusal or message.get("content"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    reason = _ascii(reason)[:_LONGEST_REASON] if isinstance(reason, str) else None
    status = "refused" if refusal else _FINISHED.get((reason or "").lower(), "ok")
    if status == "ok" and not readable:
        reason = UNREADABLE
    tokens = None if request.logprobs is None else _logprobs_of(choice, text)
    counts = _counts(body.get("usage"), request, text)
    return Entry(
        key, status, reason, *counts, text, logprobs_to_json(tokens) if tokens else None
    )


def _text(content: Any) -> tuple[str, bool]:
    """Return a message's text, and whether it is readable: lone surrogates are not."""
    if isinstance(content, list):
        content = _join(content)
    if isinstance(content, str):
        text = content
    else:
        text = "" if content is None else json.dumps(content)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return _ascii(text), False
    return text, content is None or isinstance(content, str)


def _join(parts: list[Any]) -> Any:
    """Join the text of `[{"type": "text", "text": "..."}, ...]`, the form of some servers."""
    answer = [
        p for p in parts if not (isinstance(p, dict) and p.get("type") in _THOUGHTS)
    ]
    if not answer:
        return None
    texts: list[Any] = [
        p.get("text") for p in answer if isinstance(p, dict) and p.get("type") == "text"
    ]
    return (
        "".join(texts)
        if texts and all(isinstance(text, str) for text in texts)
        else parts
    )


def _ascii(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode("ascii")


def _counts(
    usage: Any, request: ChatRequest, text: str
) -> tuple[int | None, int | None]:
    """Return the tokens read and written; None if unknown or impossible.

    That is more than was reserved, or so few that a token would have to be longer than
    those of any vocabulary are on average.
    """
    counts = usage if isinstance(usage, dict) else {}

    def count(name: str, least: int, most: int) -> int | None:
        number: Any = counts.get(name)
        valid = (
            isinstance(number, float)
            and number.is_integer()
            and least <= number <= most
        )
        return int(number) if valid else None

    length = sum(len(message.content) for message in request.messages)
    read = count(
        "prompt_tokens", max(1, length // _LONGEST_TOKEN), bound_request_tokens(request)
    )
    least = min(request.max_tokens, max(1, len(text) // _LONGEST_TOKEN)) if text else 0
    return read, count("completion_tokens", least, request.max_tokens)


def _logprobs_of(choice: dict[str, Any], text: str) -> tuple[TokenLogprobs, ...] | None:
    """Return the log-probabilities of the answer in `text`, without thoughts; None if unknown."""
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    answer = remove_thoughts(text)
    if not isinstance(content, list) or not content or not answer:
        return None
    try:
        tokens = [
            TokenLogprobs(
                *_pair(token), tuple(map(_pair, token.get("top_logprobs") or ()))
            )
            for token in content
        ]
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
    start = "".join(token.token for token in tokens).rfind(answer)
    if start < 0:  # tokens are parts of characters, or blanks differ
        message = choice["message"]
        thought = (
            answer != text
            or message.get("reasoning_content")
            or message.get("reasoning")
        )
        return None if thought else tuple(tokens)
    while start >= len(tokens[0].token):
        start -= len(tokens.pop(0).token)
    return tuple(tokens)


def _pair(token: dict[str, Any]) -> tuple[str, float]:
    return token_logprob(token["token"], token["logprob"])


# A client's pool scans all its connections for every request: with 128 of them that
# costs more than the request, with eight clients of sixteen connections almost nothing.
CLIENTS = 8
CONNECT_SECONDS = 10.0
LARGEST_BODY = 16 * 2**20  # bytes; ten times the longest answers of models

_GZIP = b"\x1f\x8b"  # its first bytes; JSON never starts with them
_EITHER, _RAW = zlib.MAX_WBITS | 32, -zlib.MAX_WBITS  # gzip or zlib; raw deflate
_LAYERS = 3  # of compression
_PIECE = 4096  # bytes that are decompressed at a time

# Headers in which the package describes this machine, or repeats environment variables.
_OMITTED = (
    "X-Stainless-Lang",
    "X-Stainless-Package-Version",
    "X-Stainless-OS",
    "X-Stainless-Arch",
    "X-Stainless-Runtime",
    "X-Stainless-Runtime-Version",
    "X-Stainless-Async",
    "OpenAI-Organization",
    "OpenAI-Project",
)
_READ_OF_PAGE = 4096  # bytes that are read of a reply without an answer
_FIRST_WORDS = 12  # words of it that are shown
_MARKUP = re.compile(
    r"<(?:script|style)\b.*?(?:</(?:script|style)>|\Z)|<[^>]*>?",
    re.DOTALL | re.IGNORECASE,
)
_MODEL_NAME = re.compile(r"[\w./:@+-]{1,200}")
_VERSION = re.compile(r"[-@:.](?:v?\d[\w.-]*|latest|preview|exp)(?:[-.:]\w+)*")
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
_NO_KEY = (
    "name the variable that holds it under params.yaml > endpoints > {name} > key_env"
)
NO_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
# How messages begin that Anthropic (credit), Gemini and xAI (keys) send with HTTP 400.
_MESSAGES = {
    re.compile(r"your credit balance is too low", re.IGNORECASE): 402,
    re.compile(r"api key not valid|incorrect api key", re.IGNORECASE): 401,
}
RETRIED = frozenset({408, 409, 425, 429})
_READ_HEADERS = frozenset(
    name.encode()
    for name in ("retry-after", "retry-after-ms", "date", *chain.from_iterable(QUOTAS))
)
# a gateway gave up, but perhaps not the model
_PERHAPS_BILLED = frozenset({408, 502, 504})


@dataclass(frozen=True)
class Outcome:
    """The result of one request: an `entry` for the ledger, or an `error` code.

    `retry`: it may succeed another time, after `wait` seconds if the server asks for
    that. `pause`: a quota is used up, and nothing may be sent for so many seconds.
    `tries`: after so many, another try gains nothing. `page`: the first words of a
    reply in HTML. `model`: the one that answered, if it is not the one that was asked.
    `stop`: the reason why no request to this endpoint can succeed; `retired`: none to
    this model. `message` and `kind`: the words and the code of a server that refuses
    this request for good.
    """

    entry: Entry | None = None
    error: str | None = None
    retry: bool = False
    wait: float | None = None
    pause: float = 0.0
    tries: int | None = None
    page: str | None = None
    model: str | None = None
    stop: str | None = None
    retired: bool = False
    message: str | None = None
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
    """Open clients that share the load. Proxies of the environment and redirects are ignored.

    A body of more than `largest` bytes (None: LARGEST_BODY) is not read.
    """
    transport_log = logging.getLogger("httpx2")
    if transport_log.level == logging.NOTSET:  # else it logs a line per request
        transport_log.setLevel(logging.WARNING)
    number = min(CLIENTS, endpoint.concurrency)
    opened = [
        _client(endpoint, secrets, largest or LARGEST_BODY) for _ in range(number)
    ]
    try:
        yield opened
    finally:
        for client in opened:
            await client.close()


async def send(
    client: openai.AsyncOpenAI,
    request: ChatRequest,
    key: str,
    endpoint: EndpointOptions,
    limit: str,
) -> Outcome:
    """Send a request once and return its outcome. `limit` names the parameter for max_tokens."""
    start = time.monotonic()
    sent = request_body(request, endpoint, limit)
    try:
        async with asyncio.timeout(endpoint.timeout):
            response = await client.post(
                _path(request, endpoint),
                cast_to=httpx2.Response,
                # Bytes: the package would copy and check a mapping, which takes a
                # quarter of a ms.
                content=sent,
            )
    except (TimeoutError, openai.APITimeoutError) as error:
        return Outcome(error="timeout", retry=True, billed=_billed_if_sent(error))
    except openai.APIConnectionError as error:
        large = isinstance(error.__cause__, _TooLarge)
        code = "too_large" if large else "connection"
        return Outcome(error=code, retry=not large, billed=_billed_if_sent(error))
    except openai.APIStatusError as error:
        return outcome_of_error(error, request, key, sent, _secrets_of(client))
    except openai.OpenAIError:
        return Outcome(error="client")
    latency = time.monotonic() - start
    entry = read_answer(response.content, request, key)
    if entry is None:
        secrets = _secrets_of(client)
        return _unread(response.content, sent, secrets)
    return Outcome(
        entry=entry,
        billed="yes",
        latency=latency,
        pause=quota_pause(response.headers),
        model=other_model(response.content, request.model),
    )


def _secrets_of(client: openai.AsyncOpenAI) -> list[str]:
    return [client.api_key, *map(str, client.default_headers.values())]


def _unread(content: bytes, sent: bytes, secrets: list[str]) -> Outcome:
    """Return the outcome of a reply with status 200 that has no answer."""
    text = content[:_READ_OF_PAGE].decode("utf-8", "replace").strip()
    outcome = Outcome(error="bad_reply", retry=True, billed="perhaps")
    if not text.startswith("<"):  # JSON that was cut off may be whole the next time
        return outcome
    first = " ".join(_MARKUP.sub(" ", text).split()[:_FIRST_WORDS])
    page = words(200, {"message": first}, sent, secrets)
    return replace(outcome, page=page, tries=2)


def other_model(content: bytes, model: str) -> str | None:
    """Return the model that a reply names if it is not the one that was asked; None if it is.

    Providers name a dated version for a name without a date, and some put a path before
    it.
    """
    try:
        served = json.loads(content.decode("utf-8-sig", "replace")).get("model")
    except (ValueError, AttributeError, RecursionError):
        return None  # which `read_answer` has reported
    # The name is shown: words in a row are no name, but may be of a text.
    if not isinstance(served, str) or not _MODEL_NAME.fullmatch(served):
        return None
    ours, theirs = (
        name.rpartition("/")[2].casefold().removesuffix("-latest")
        for name in (model, served)
    )
    rest = theirs.removeprefix(ours)
    same = theirs.startswith(ours) and (not rest or _VERSION.fullmatch(rest))
    return None if same else served


def _client(
    endpoint: EndpointOptions, secrets: Secrets, largest: int
) -> openai.AsyncOpenAI:
    timeout = httpx2.Timeout(endpoint.timeout, connect=CONNECT_SECONDS)
    bounded = _Bounded(endpoint, secrets, largest)
    transport = httpx2.AsyncClient(
        transport=bounded, trust_env=False, follow_redirects=False, timeout=timeout
    )
    headers: dict[str, Any] = dict.fromkeys(_OMITTED, openai.Omit())
    headers["User-Agent"] = f"metassay/{__version__}"
    headers["Accept-Encoding"] = "gzip, deflate"  # whatever codecs are installed
    common: dict[str, Any] = {
        # Never None: then the package sends a key from the environment.
        "api_key": secrets.key or "none",
        "max_retries": 0,
        "timeout": timeout,
        "default_headers": headers,
        "http_client": transport,
    }
    if endpoint.kind == "azure":
        return openai.AsyncAzureOpenAI(
            azure_endpoint=endpoint.base_url, api_version=endpoint.api_version, **common
        )
    return openai.AsyncOpenAI(base_url=endpoint.base_url, **common)


class _TooLarge(httpx2.RequestError):
    """A body that is longer than any answer."""


class _Bounded(httpx2.AsyncBaseTransport):
    """Reads a whole response, but at most `largest` bytes of it, also after decompression.

    It sets the endpoint's headers, in place of any that the package sets or logs, and
    drops useless headers of responses: the package crashes if it decodes an error with
    an unknown `charset`.
    """

    def __init__(
        self, endpoint: EndpointOptions, secrets: Secrets, largest: int
    ) -> None:
        self._largest = largest
        self._headers = {**endpoint.headers, **secrets.headers}
        # Without a key the package sends "none", but a header of the endpoint has the
        # credentials.
        self._unset = (
            ("authorization", "api-key") if secrets.headers and not secrets.key else ()
        )
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
        encoding = response.headers.get("content-encoding", "")
        content = _decompress(bytes(body), encoding, self._largest)
        if (watched := WATCHED.get()) is not None:
            watched.append(
                Exchange(
                    request=request,
                    response=response,
                    body=content,
                    seconds=time.monotonic() - start,
                )
            )
        headers = [h for h in response.headers.raw if h[0].lower() in _READ_HEADERS]
        return httpx2.Response(response.status_code, headers=headers, content=content)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _decompress(body: bytes, encoding: str, largest: int) -> bytes:
    """Decompress a body of gzip or zlib, even if its content-encoding is wrong.

    Servers and proxies may both compress it, or declare it wrongly. Other bodies stay
    unchanged.
    """
    if "deflate" in encoding.lower():
        for form in (_EITHER, _RAW):
            with contextlib.suppress(zlib.error):
                body = _inflate(body, form, largest)
                break
    for _ in range(_LAYERS):
        if body.startswith(_GZIP):
            with contextlib.suppress(zlib.error):
                body = _inflate(body, _EITHER, largest)
    return body


def _inflate(body: bytes, form: int, largest: int) -> bytes:
    """Decompress one layer, which may be several files in a row, with zeros after them."""
    content = bytearray()
    decompressor = None
    for start in range(0, len(body), _PIECE):
        piece = body[start : start + _PIECE]
        while piece := piece if decompressor else piece.lstrip(b"\0"):
            decompressor = decompressor or zlib.decompressobj(form)
            content += decompressor.decompress(piece, largest + 1 - len(content))
            if len(content) > largest:
                raise _TooLarge("the body is too large")
            piece = decompressor.unused_data
            decompressor = None if decompressor.eof else decompressor
    return bytes(content)


@functools.cache
def _certificates() -> ssl.SSLContext:
    # Cached: it takes 60 ms, and there are eight clients. SSL_CERT_FILE is honoured.
    return httpx2.create_ssl_context()


def request_body(request: ChatRequest, endpoint: EndpointOptions, limit: str) -> bytes:
    """Return the body of the request: JSON in UTF-8."""
    members: dict[str, Any] = {
        "model": request.model,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
    }
    if request.temperature is not None:
        members["temperature"] = request.temperature
    members[limit] = request.max_tokens
    if request.seed is not None:
        members["seed"] = request.seed
    form = request.structured or endpoint.structured
    if request.schema is not None and form == "json_schema":
        schema = {
            "name": "answer",
            "schema": json.loads(request.schema),
            "strict": True,
        }
        members["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif request.schema is not None and form == "json_object":
        members["response_format"] = {"type": "json_object"}
    if request.logprobs is not None:
        members |= {"logprobs": True, "top_logprobs": request.logprobs}
    members |= json.loads(request.extra or "{}")
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8"
    )


def _path(request: ChatRequest, endpoint: EndpointOptions) -> str:
    if endpoint.kind == "azure":
        return f"/deployments/{quote(request.model, safe='')}/chat/completions"
    return "/chat/completions"


def _billed_if_sent(error: BaseException) -> Billed:
    unsent = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
    return "no" if isinstance(error.__cause__, unsent) else "perhaps"


def outcome_of_error(
    error: openai.APIStatusError,
    request: ChatRequest,
    key: str,
    sent: bytes,
    secrets: list[str],
) -> Outcome:
    """Interpret an HTTP status: https://platform.openai.com/docs/guides/error-codes."""
    status = _usual_status(error)
    code = f"http_{status}"
    if is_retired(status, error.body, request.model):
        return Outcome(error=code, stop="it has no such model", retired=True)
    if status in STOPPING or error.code in NO_QUOTA:
        return Outcome(
            error=code, stop=STOPPING.get(status, "the account has no quota left")
        )
    # A filter refused the prompt, in the forms of Azure, OpenAI and OpenRouter.
    metadata = error.body.get("metadata") if isinstance(error.body, Mapping) else None
    if (
        error.code in ("content_filter", "content_policy_violation")
        or (error.code == "invalid_prompt" and "flagged" in _message(error.body))
        or (isinstance(metadata, Mapping) and "flagged_input" in metadata)
    ):
        return Outcome(
            entry=Entry(
                key=key,
                status="refused",
                finish_reason="content_filter",
                prompt_tokens=None,
                completion_tokens=None,
                text=None,
            )
        )
    if status in RETRIED or status >= 500:
        billed: Billed = "perhaps" if status in _PERHAPS_BILLED else "no"
        wait = retry_after(error.response.headers)
        pause = quota_pause(error.response.headers)
        return Outcome(error=code, retry=True, wait=wait, pause=pause, billed=billed)
    if error.code == "context_length_exceeded" or any(
        words in _message(error.body).lower() for words in _TOO_LONG
    ):
        return Outcome(error="context_length")
    message = words(status, error.body, sent, secrets)
    return Outcome(error=code, message=message, kind=str(error.code))


def explain_stop(
    endpoint: Cleared, model: ModelOptions, ledger: Ledger, outcome: Outcome
) -> BadInput:
    """Explain an outcome with `stop`: why no request can succeed, and what to do."""
    if outcome.retired:
        answers, last = ledger.model_answers(model.model)
        gone = f"{endpoint} answers, but says that it has no model {model.model!r}"
        if not answers:
            return Retired(
                f"{gone}, of which the ledger has no answer: correct params.yaml > models > ... >"
                " model; if the name is right, the model was retired or the key may not use it"
            )
        return Retired(
            f"{gone} any more. Its {answers:,} answers in the ledger, the last of {last}, and all"
            " tables made of them, stay as they are. To go on, add its successor under params.yaml"
            " > models, a judge that asks it, and run both judges side by side"
        )
    status = int(outcome.code.removeprefix("http_"))
    remedy = _REMEDIES.get(status, _REMEDIES[429])
    if status == 401 and endpoint.options.key_env is None:
        remedy = _NO_KEY
    remedy = remedy.format(name=endpoint.name, key_env=endpoint.options.key_env)
    return BadInput(f"{endpoint}: {outcome.stop}; {remedy}; then run again")


def _usual_status(error: openai.APIStatusError) -> int:
    """Return the HTTP status, or for a 400 the status that other servers send with this message."""
    message = _message(error.body)
    statuses = [
        status for pattern, status in _MESSAGES.items() if pattern.match(message)
    ]
    return statuses[0] if error.status_code == 400 and statuses else error.status_code


def _message(body: object) -> str:
    message = body.get("message") if isinstance(body, Mapping) else body
    return message if isinstance(message, str) else ""
