"""Batches over the wire: what the openai package makes of them, and what came of each line.

A batch is a file of requests, one a line, and later a file of answers and one of errors, in any
order (https://platform.openai.com/docs/guides/batch). As in `http`, no exception of the package
leaves this file, for it can quote a prompt: what failed is `Trouble`, with a short code.
"""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Iterable, Mapping
from typing import Any, NamedTuple

import httpx2
import openai

from metassay.llm.endpoints import EndpointOptions
from metassay.llm.http import (
    NO_QUOTA,
    RETRIED,
    STOPPING,
    Outcome,
    TooLarge,
    answer,
    body,
    failed,
)
from metassay.llm.limits import retry_after
from metassay.llm.messages import ChatRequest

NAME = "metassay"  # the key of a batch's metadata under which its name in the ledger stands
MOST_REQUESTS, MOST_BYTES = 50_000, 200_000_000  # of one file; what OpenAI takes
LARGEST_FILE = 2**31  # bytes of answers that are read

_ENDED = ("completed", "failed", "expired", "cancelled")
_URL = "/v1/chat/completions"
_WORD = re.compile(r"[a-z][a-z0-9_]{0,40}")
_PAGE = 100  # batches that are listed at once; the most
_CLOCKS = 3600.0  # seconds by which a server's clock may be behind ours


class Trouble(Exception):  # noqa: N818 - it may pass
    """A call that came to nothing: `outcome` says by its code whether it may another time."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.code)
        self.outcome = outcome


class State(NamedTuple):
    """A batch as its endpoint tells of it; `number` is its id there, `files` have its lines.

    `codes` say why it failed as a whole.
    """

    number: str
    status: str
    done: int
    total: int
    files: tuple[str, ...]
    codes: tuple[str, ...]

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.status in _ENDED


def line(request: ChatRequest, endpoint: EndpointOptions, limit: str) -> bytes:
    """One request as a line of the file; its `custom_id` is the key of the question."""
    said = body(request, endpoint, limit)
    head = f'{{"custom_id":"{request.key}","method":"POST","url":"{_URL}","body":'
    return head.encode() + said + b"}\n"


async def upload(client: openai.AsyncOpenAI, name: str, content: bytes) -> str:
    """Upload a file of lines; returns its id."""
    file = (f"{NAME}-{name}.jsonl", content, "application/jsonl")
    return _id(await _call(client.files.create(file=file, purpose="batch")))


async def create(client: openai.AsyncOpenAI, file: str, name: str) -> State:
    """Have an uploaded file answered: from here on it costs money."""
    made = client.batches.create(
        input_file_id=file,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={NAME: name},
    )
    return _state(await _call(made))


async def retrieve(client: openai.AsyncOpenAI, number: str) -> State:
    """How a batch stands."""
    return _state(await _call(client.batches.retrieve(number)))


async def find(client: openai.AsyncOpenAI, name: str, since: float) -> State | None:
    """The batch of this name that was created at `since` (Unix time) or later; None: no such."""
    async for batch in _listed(client, since - _CLOCKS):
        if (getattr(batch, "metadata", None) or {}).get(NAME) == name:
            return _state(batch)
    return None


async def lines_of(client: openai.AsyncOpenAI, state: State) -> list[dict[str, Any]]:
    """The lines of all its files, answers first; what is no line of one is left out."""
    found = []
    for file in state.files:
        content = getattr(await _call(client.files.content(file)), "content", b"")
        for said in content.split(b"\n"):
            try:
                # As floats, numbers never have too many digits.
                value = json.loads(said.decode("utf-8-sig", "surrogateescape"), parse_int=float)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict) and isinstance(value.get("custom_id"), str):
                found.append(value)
    return found


def outcomes(
    lines: Iterable[dict[str, Any]],
    requests: Mapping[str, ChatRequest],
    endpoint: EndpointOptions,
    limit: str,
    secrets: list[str],
) -> dict[str, Outcome]:
    """What came of the requests by key: of several lines of one, the first that is an answer."""
    found: dict[str, Outcome] = {}
    for said in lines:
        key = said["custom_id"]
        known = found.get(key)
        if key in requests and (known is None or known.entry is None):
            outcome = _outcome(said, requests[key], endpoint, limit, secrets)
            if known is None or outcome.entry is not None:
                found[key] = outcome
    return found


def without_line(state: State) -> Outcome:
    """What came of a request of which no line tells."""
    if state.status == "failed":  # it was never begun
        code = next((f"batch_{code}" for code in state.codes), "batch_failed")
        return Outcome(error=code, again=True)
    if state.status in ("expired", "cancelled"):
        return Outcome(error=f"batch_{state.status}", again=state.status == "expired")
    return Outcome(error="batch_lacks_it", again=True, billed="perhaps")


def _outcome(
    said: dict[str, Any],
    request: ChatRequest,
    endpoint: EndpointOptions,
    limit: str,
    secrets: list[str],
) -> Outcome:
    response = said.get("response")
    if not isinstance(response, dict):
        code = _word(said.get("error"))
        if code in ("batch_expired", "batch_cancelled"):
            return Outcome(error=code, again=code == "batch_expired")
        return Outcome(error=code or "batch_error", again=True, billed="perhaps")
    status, content = response.get("status_code"), response.get("body")
    if status == 200:
        entry = answer(json.dumps(content).encode(), request, request.key)
        if entry is None:
            return Outcome(error="bad_reply", again=True, billed="perhaps")
        return Outcome(entry=entry, billed="yes")
    if not (isinstance(status, float) and status.is_integer() and 300 <= status < 600):
        return Outcome(error="bad_reply", again=True, billed="perhaps")
    inner = content.get("error") if isinstance(content, dict) else None
    # As if it had been asked alone: what a failed status means is said in one place.
    error = openai.APIStatusError(
        "",
        response=httpx2.Response(int(status), request=httpx2.Request("POST", endpoint.base_url)),
        body=inner if isinstance(inner, dict) else content,
    )
    return failed(error, request, request.key, body(request, endpoint, limit), secrets)


async def _call(sent: Awaitable[Any]) -> Any:
    try:
        return await sent
    except (TimeoutError, openai.APITimeoutError):
        raise Trouble(Outcome(error="timeout", again=True)) from None
    except openai.APIConnectionError as error:
        large = isinstance(error.__cause__, TooLarge)
        code = "too_large" if large else "connection"
        raise Trouble(Outcome(error=code, again=not large)) from None
    except openai.APIStatusError as error:
        status = error.status_code
        stop = STOPPING.get(status) if status != 404 else None
        if error.code in NO_QUOTA:
            stop = "the account has no quota left"
        again = not stop and (status in RETRIED or status >= 500)
        wait = retry_after(error.response.headers)
        raise Trouble(Outcome(error=f"http_{status}", again=again, stop=stop, wait=wait)) from None
    except (openai.OpenAIError, ValueError, TypeError, AttributeError):
        raise Trouble(_NO_REPLY) from None


_NO_REPLY = Outcome(error="bad_reply", again=True)


async def _listed(client: openai.AsyncOpenAI, since: float) -> AsyncIterator[Any]:
    """Batches, the latest first."""
    after: str | None = None
    while True:
        more = openai.omit if after is None else after
        page = await _call(client.batches.list(limit=_PAGE, after=more))
        batches = getattr(page, "data", None)
        if not isinstance(batches, list):
            raise Trouble(_NO_REPLY)
        for batch in batches:
            yield batch
        last = batches[-1] if batches else None
        created = getattr(last, "created_at", None)
        old = isinstance(created, int | float) and created < since
        if last is None or old or not getattr(page, "has_more", False):
            return
        after = _id(last)


def _id(said: Any) -> str:
    number = getattr(said, "id", None)
    if not isinstance(number, str) or not re.fullmatch(r"[\w.:-]{1,200}", number, re.ASCII):
        raise Trouble(_NO_REPLY)
    return number


def _state(batch: Any) -> State:
    status, counts = getattr(batch, "status", None), getattr(batch, "request_counts", None)
    if not isinstance(status, str):
        raise Trouble(_NO_REPLY)
    done, failed_, total = (
        count if isinstance(count := getattr(counts, name, None), int) else 0
        for name in ("completed", "failed", "total")
    )
    files = (getattr(batch, name, None) for name in ("output_file_id", "error_file_id"))
    errors = getattr(getattr(batch, "errors", None), "data", None) or ()
    codes = [_word({"code": getattr(error, "code", None)}) for error in errors]
    return State(
        _id(batch),
        status,
        done + failed_,
        total,
        tuple(file for file in files if isinstance(file, str) and file),
        tuple(code for code in codes if code),
    )


def _word(error: object) -> str | None:
    """The code of an error, if it is one: it goes into tables and messages."""
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, str) and _WORD.fullmatch(code) else None
