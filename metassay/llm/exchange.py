"""One request and its response as they went over the wire, and what a server refuses in it."""

import json
import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from metassay.llm.server_words import strings

if TYPE_CHECKING:
    import httpx2


class Exchange(NamedTuple):
    """A request as it was sent, the response, and its body; they hold secrets, and the texts.

    `seconds` passed from the first byte sent to the last one read.
    """

    request: "httpx2.Request"
    response: "httpx2.Response"
    body: bytes
    seconds: float


# Where exchanges are noted while somebody watches, which only `metassay probe` does.
WATCHED: ContextVar[list[Exchange] | None] = ContextVar("WATCHED", default=None)

_OTHER_LIMIT = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_NO_SUCH = re.compile(r"\b(unsupported|unrecognized|unknown|unexpected|extra|not supported)\b")
_LESS_FORM = {"json_schema": "json_object", "json_object": "none"}


def refused_parameters(exchange: Exchange, where: str) -> dict[str, str]:
    """The parameters that a refusal names, each with what to do about it; `where` is the model.

    Empty where nothing was refused, or the server doesn't say what. What counts is the error's
    member `param` or, if it has none that was sent, all that it says.
    """
    if exchange.response.status_code not in (400, 422):
        return {}
    sent = json.loads(exchange.request.content)
    said = list(strings(_parsed(exchange.body)))
    named = " ".join(text for name, text in said if name in ("param", "loc"))
    everything = " ".join(text for _, text in said)
    found = list(_named(sent, named)) or list(_named(sent, everything))
    return {name: _remedy(name, sent, everything.lower(), where) for name in found}


def _named(sent: Mapping[str, Any], said: str) -> Iterator[str]:
    for name in sent:
        words = (name, "json_schema", "json_object") if name == "response_format" else (name,)
        if name not in ("model", "messages") and any(
            re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said) for word in words
        ):
            yield name


def _remedy(name: str, sent: Mapping[str, Any], said: str, where: str) -> str:
    other, form = _OTHER_LIMIT.get(name), sent.get("response_format", {}).get("type")
    if name in ("logprobs", "top_logprobs"):
        return "ask this model for no log-probabilities"
    if other and not (other in said or _NO_SUCH.search(said)):
        return f"write a smaller max_tokens in {where}"
    line = {
        **{name: f"limit: {other}" for name, other in _OTHER_LIMIT.items()},
        "temperature": "temperature: null",
        "response_format": f"structured: {_LESS_FORM.get(form)}",
    }.get(name)
    return f"write {line} in {where}" if line else f"remove it from {where}"


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")
