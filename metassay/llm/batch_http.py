"""Batches over the wire, and what came of each line.

A batch is a file of requests, one a line, and later a file of answers and one of errors, in any
order (https://platform.openai.com/docs/guides/batch). What failed is `Trouble`, with a short code.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import httpx2

from metassay.llm import http
from metassay.llm.endpoints import EndpointOptions
from metassay.llm.http import Client, Outcome, server_error
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


async def upload(client: Client, name: str, content: bytes) -> str:
    """Upload a file of lines; returns its id."""
    file = (f"{NAME}-{name}.jsonl", content, "application/jsonl")
    parts: dict[str, Any] = {"files": {"file": file}, "data": {"purpose": "batch"}}
    return await _call(client, "POST", "/files", _id, **parts)


async def create(client: Client, file: str, name: str) -> str:
    """Have an uploaded file answered: from here on it costs money. Returns the batch's id."""
    said = {
        **{"input_file_id": file, "endpoint": "/v1/chat/completions"},
        **{"completion_window": "24h", "metadata": {NAME: name}},
    }
    return await _call(client, "POST", "/batches", _id, content=json.dumps(said).encode())


async def retrieve(client: Client, number: str) -> State:
    """How a batch stands."""
    return await _call(client, "GET", f"/batches/{number}", _state)


async def find(client: Client, name: str, since: float) -> str | None:
    """The id of the batch of this name, created at `since` (Unix time) or later; None: no such."""
    after = ""
    while True:  # the latest come first
        page, more = await _call(client, "GET", f"/batches?limit=100{after}", _page)
        for number, named, _ in page:
            if named == name:
                return number
        if not (page and more and page[-1][2] > since - _CLOCKS):
            return None
        after = f"&after={page[-1][0]}"


async def outcomes(
    client: Client,
    state: State,
    requests: Mapping[str, ChatRequest],
    endpoint: EndpointOptions,
    limit: str,
) -> dict[str, Outcome]:
    """What came of these requests by key: of several lines of one, the first, answers first."""
    found: dict[str, Outcome] = {}
    for file in state.files:
        content = await _call(client, "GET", f"/files/{file}/content", bytes, parse=False)
        for line in content.split(b"\n"):
            try:
                # As floats, numbers never have too many digits.
                said = json.loads(line.decode("utf-8-sig", "surrogateescape"), parse_int=float)
                request = requests[said["custom_id"]]
            except (ValueError, LookupError, TypeError, RecursionError):
                continue
            sent = http.body(request, endpoint, limit)
            outcome = _outcome(said, request, sent, client.secrets)
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
    # As if it had been asked alone: what a failed status means is said in one place.
    error = server_error(int(status), content, {})
    return http.failed(error, request, request.key, sent, secrets)


async def _call(
    client: Client,
    method: str,
    path: str,
    read: Callable[[Any], Result],
    *,
    parse: bool = True,
    **content: Any,
) -> Result:
    """What `read` makes of the JSON that comes back, or of the bytes."""
    try:
        response = await client.call(method, path, **content)
        if response.is_success:
            return read(json.loads(response.content) if parse else response.content)
        error = server_error(response.status_code, response.content, response.headers)
        again = not error.stop and (error.status in http.RETRIED or error.status >= 500)
        stop = None if error.status == 404 else error.stop  # it knows no such batch
        wait = retry_after(error.headers)
        outcome = Outcome(error=f"http_{error.status}", again=again, stop=stop, wait=wait)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError):  # among them timeouts
        outcome = Outcome(error="connection", again=True)
    except (ValueError, TypeError, AttributeError, LookupError, http.TooLarge):
        outcome = Outcome(error="bad_reply", again=True)
    raise Trouble(outcome)


def _id(said: Any) -> str:
    if not re.fullmatch(r"[\w.:-]{1,200}", said["id"], re.ASCII):
        raise ValueError("no id")
    return str(said["id"])


def _page(page: Any) -> tuple[list[tuple[str, str | None, float]], bool]:
    """Ids, names and times of creation of the batches on a page; whether there are more pages."""
    batches = [
        (_id(one), (one.get("metadata") or {}).get(NAME), float(one["created_at"]))
        for one in page["data"]
    ]
    return batches, bool(page.get("has_more"))


def _state(batch: Any) -> State:
    status, errors = str(batch["status"]), batch.get("errors")
    files = tuple(file for name in ("output_file_id", "error_file_id") if (file := batch.get(name)))
    lacking = Outcome(error="batch_lacks_it", again=True, billed="perhaps")
    if status == "failed":  # as a whole, before any was asked
        every = (errors or {}).get("data") or ()
        codes = [code for error in every if (code := _word(error.get("code")))]
        lacking = Outcome(error=f"batch_{codes[0] if codes else status}", again=True)
    elif status in ("expired", "cancelled"):
        lacking = Outcome(error=f"batch_{status}", again=status == "expired")
    return State(_id(batch), status, files, lacking)


def _word(code: object) -> str | None:
    """The code of an error, if it is one: it goes into tables and messages."""
    return code if isinstance(code, str) and _WORD.fullmatch(code) else None
