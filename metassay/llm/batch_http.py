"""Batches over the wire: what the openai package makes of them, and what came of each line.

A batch is a file of requests, one a line, and later a file of answers and one of errors, in any
order (https://platform.openai.com/docs/guides/batch). As in `http`, no exception of the package
leaves this file, for it can quote a prompt: what failed is `Trouble`, with a short code.
"""

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import httpx2
import openai

from metassay.llm import http
from metassay.llm.endpoints import EndpointOptions
from metassay.llm.http import Outcome
from metassay.llm.limits import retry_after
from metassay.llm.messages import ChatRequest

NAME = "metassay"  # the key of a batch's metadata under which its name in the ledger stands
MOST_REQUESTS, MOST_BYTES = 50_000, 200_000_000  # of one file; what OpenAI takes
LARGEST_FILE = 2**31  # bytes of answers that are read

_WORD = re.compile(r"[a-z][a-z0-9_]{0,40}")
_CLOCKS = 3600.0  # seconds by which a server's clock may be behind ours
_BAD_LINE = Outcome(error="bad_reply", again=True, billed="perhaps")

Result = TypeVar("Result")


class Trouble(Exception):  # noqa: N818 - it may pass
    """A call that came to nothing: `outcome` says by its code whether it may another time."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.code)
        self.outcome = outcome


class State(NamedTuple):
    """A batch as its endpoint tells of it, by its id there.

    `lacking` is what came of a request of which no line of the `files` tells.
    """

    number: str
    status: str
    files: tuple[str, ...]
    lacking: Outcome

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.status in ("completed", "failed", "expired", "cancelled")


def line(request: ChatRequest, endpoint: EndpointOptions, limit: str) -> bytes:
    """One request as a line of the file; its `custom_id` is the key of the question."""
    head = f'{{"custom_id":"{request.key}","method":"POST","url":"/v1/chat/completions","body":'
    return head.encode() + http.body(request, endpoint, limit) + b"}\n"


async def upload(client: openai.AsyncOpenAI, name: str, content: bytes) -> str:
    """Upload a file of lines; returns its id."""
    file = (f"{NAME}-{name}.jsonl", content, "application/jsonl")
    return await _call(client.files.create(file=file, purpose="batch"), _id)


async def create(client: openai.AsyncOpenAI, file: str, name: str) -> str:
    """Have an uploaded file answered: from here on it costs money. Returns the batch's id."""
    creating = client.batches.create(
        input_file_id=file,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={NAME: name},
    )
    return await _call(creating, _id)


async def retrieve(client: openai.AsyncOpenAI, number: str) -> State:
    """How a batch stands."""
    return await _call(client.batches.retrieve(number), _state)


async def find(client: openai.AsyncOpenAI, name: str, since: float) -> str | None:
    """The id of the batch of this name, created at `since` (Unix time) or later; None: no such."""
    after: str | openai.Omit = openai.omit
    while True:  # the latest come first
        page, more = await _call(client.batches.list(limit=100, after=after), _page)
        for number, named, _ in page:
            if named == name:
                return number
        if not (page and more and page[-1][2] > since - _CLOCKS):
            return None
        after = page[-1][0]


async def outcomes(
    client: openai.AsyncOpenAI,
    state: State,
    requests: Mapping[str, ChatRequest],
    endpoint: EndpointOptions,
    limit: str,
) -> dict[str, Outcome]:
    """What came of these requests by key: of several lines of one, the first, answers first."""
    secrets = [client.api_key, *map(str, client.default_headers.values())]
    found: dict[str, Outcome] = {}
    for file in state.files:
        content = await _call(client.files.content(file), lambda response: response.content)
        for line in content.split(b"\n"):
            try:
                # As floats, numbers never have too many digits.
                said = json.loads(line.decode("utf-8-sig", "surrogateescape"), parse_int=float)
                request = requests[said["custom_id"]]
            except (ValueError, LookupError, TypeError, RecursionError):
                continue
            sent = http.body(request, endpoint, limit)
            outcome = _outcome(said, request, sent, secrets)
            known = found.setdefault(request.key, outcome)
            if known.entry is None and outcome.entry is not None:
                found[request.key] = outcome
    return found


def _outcome(
    said: dict[str, Any], request: ChatRequest, sent: bytes, secrets: list[str]
) -> Outcome:
    response = said.get("response")
    if not isinstance(response, dict):
        error = said.get("error")
        code = _word(error.get("code") if isinstance(error, dict) else None)
        if code in ("batch_expired", "batch_cancelled"):
            return Outcome(error=code, again=code == "batch_expired")
        return Outcome(error=code or "batch_error", again=True, billed="perhaps")
    status, content = response.get("status_code"), response.get("body")
    if status == 200:
        entry = http.answer(json.dumps(content).encode(), request, request.key)
        return _BAD_LINE if entry is None else Outcome(entry=entry, billed="yes")
    if not (isinstance(status, float) and 300 <= status < 600):
        return _BAD_LINE
    inner = content.get("error") if isinstance(content, dict) else None
    # As if it had been asked alone: what a failed status means is said in one place.
    back = httpx2.Response(int(status), request=httpx2.Request("POST", "http://batch"))
    known = inner if isinstance(inner, dict) else content
    error = openai.APIStatusError("", response=back, body=known)
    return http.failed(error, request, request.key, sent, secrets)


async def _call(sent: Awaitable[Any], read: Callable[[Any], Result]) -> Result:
    try:
        return read(await sent)
    except openai.APIConnectionError:  # among them timeouts
        outcome = Outcome(error="connection", again=True)
    except openai.APIStatusError as error:
        status, stop = error.status_code, None
        if status in (401, 402) or error.code in http.NO_QUOTA:
            stop = http.STOPPING.get(status, "the account has no quota left")
        again = not stop and (status in http.RETRIED or status >= 500)
        wait = retry_after(error.response.headers)
        outcome = Outcome(error=f"http_{status}", again=again, stop=stop, wait=wait)
    except (openai.OpenAIError, ValueError, TypeError, AttributeError):
        outcome = Outcome(error="bad_reply", again=True)
    raise Trouble(outcome)


# What the package makes of a reply is not checked: what it lacks is an AttributeError.


def _id(said: Any) -> str:
    if not re.fullmatch(r"[\w.:-]{1,200}", said.id, re.ASCII):
        raise ValueError("no id")
    return str(said.id)


def _page(page: Any) -> tuple[list[tuple[str, str | None, float]], bool]:
    """Ids, names and times of creation of the batches on a page; whether there are more pages."""
    batches = [
        (_id(one), (one.metadata or {}).get(NAME), float(one.created_at)) for one in page.data
    ]
    return batches, bool(page.has_more)


def _state(batch: Any) -> State:
    status, errors = str(batch.status), batch.errors
    files = tuple(file for file in (batch.output_file_id, batch.error_file_id) if file)
    lacking = Outcome(error="batch_lacks_it", again=True, billed="perhaps")
    if status == "failed":  # as a whole, before any was asked
        codes = [code for error in (errors and errors.data) or () if (code := _word(error.code))]
        lacking = Outcome(error=f"batch_{codes[0] if codes else status}", again=True)
    elif status in ("expired", "cancelled"):
        lacking = Outcome(error=f"batch_{status}", again=status == "expired")
    return State(_id(batch), status, files, lacking)


def _word(code: object) -> str | None:
    """The code of an error, if it is one: it goes into tables and messages."""
    return code if isinstance(code, str) and _WORD.fullmatch(code) else None
