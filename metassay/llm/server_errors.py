"""What a server says of a request that it does not answer, as far as anybody may read it.

A server can quote the prompt. So a word that also occurs in what was sent is shown only if it is
one of plain_words.txt, a short number, or a parameter's name or value; if a sentence holds
any other, none of it is shown. That a model is retired, providers say with 404, 410 or 400 and an
error body of their own; a wrong URL has none.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from metassay.core.errors import BadInput

if TYPE_CHECKING:
    import httpx2

_LONGEST = 300  # characters of what is shown
_DEEPEST = 6
_NAMED = ("code", "type", "param", "loc")
_SPOKEN = ("message", "msg", "detail", "raw")
_INSIDE = ("error", "metadata", *_SPOKEN)
_WORD = re.compile(r"\w+")
_ESCAPED = re.compile(r"\\|&#|&\w+;|%[0-9a-f]{2}", re.IGNORECASE)
_SHORT_NUMBER = 3  # digits

_PLAIN = frozenset(
    word
    for line in Path(__file__).with_name("plain_words.txt").read_text("utf-8").splitlines()
    for word in line.split()
    if not line.startswith("#")
)


def words(status: int, body: object, sent: bytes, secrets: Iterable[str]) -> str:
    """What an error body says, read after "it says", but no `secrets`; `sent`: the request."""
    request = json.loads(sent)
    texts = [message["content"] for message in request.pop("messages")]
    form = request.pop("response_format", {"type": ""})
    own = _PLAIN | set(_WORD.findall(_plain(json.dumps([request, form["type"]]))))
    quotable = _plain("\n".join([*texts, *secrets]))
    shown: list[str] = []
    hidden = False
    for name, said in dict.fromkeys(strings(body)):
        if not said.strip() or said == str(status):
            continue
        if bool(_ESCAPED.search(said)) or any(
            word not in own and word in quotable
            for word in _WORD.findall(_plain(said))
            if len(word) > 1 and not (word.isdigit() and len(word) <= _SHORT_NUMBER)
        ):
            hidden = True
        else:
            cut = said if len(said) <= _LONGEST else f"{said[:_LONGEST]}..."
            shown.append(f"{name} {cut}" if name in _NAMED else f'"{cut}"')
    if hidden:
        shown.append("words that quote what was sent, which are not shown here")
    return ", ".join(shown) or "nothing"


def _plain(text: str) -> str:
    """Small letters without accents: a server may write them otherwise."""
    parted = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in parted if not unicodedata.combining(c))


def strings(body: object, name: str = "message", depth: int = 0) -> Iterator[tuple[str, str]]:
    """The strings that say what is wrong, each with the name of its member, names before words."""
    if name == "raw":  # OpenRouter passes on what the provider said
        body, name = _parsed(body), "message"
    if depth > _DEEPEST:
        return
    if isinstance(body, Mapping):
        for member in (*_NAMED, *_INSIDE):
            if member in body:
                yield from strings(body[member], member, depth + 1)
    elif isinstance(body, list) and name == "loc":
        yield name, ".".join(map(str, body))
    elif isinstance(body, list):
        for one in body:
            yield from strings(one, name, depth + 1)
    elif isinstance(body, str | int) and not str(body).lstrip().startswith("<"):  # a page of HTML
        yield name, str(body)


def _parsed(said: object) -> object:
    try:
        return json.loads(said) if isinstance(said, str) else said
    except (ValueError, RecursionError):
        return said


_GONE, _NOT_FOUND = 410, 404
_CODES = frozenset(
    {
        *("model_not_found", "model_decommissioned", "model_deprecated", "model_retired"),
        *("modelnotfound", "modeldeprecated", "deploymentnotfound", "invalid_model"),
    }
)
_MODEL = re.compile(r"\bmodels?\b", re.IGNORECASE)
_ENDS = r"(?:decommissioned|deprecated|retired|shut ?down|no longer|pinned to)"
_ENDED = re.compile(_ENDS, re.IGNORECASE)
_UNKNOWN = re.compile(r"not found|not exist|unknown|no such", re.IGNORECASE)


class Retired(BadInput):
    """The endpoint answers, and says that it does not have (any more) the model that was asked."""


def is_retired(status: int, body: object, model: str) -> bool:
    """Whether a failed request (its HTTP status and parsed error body) says that of a model."""
    if status == _GONE:
        return True
    if not isinstance(body, Mapping | list) or status not in (400, _NOT_FOUND):
        return False
    said = [text for _, text in strings(body)]
    if any(word.lower() in _CODES for word in said):
        return True
    # Close together: an error may quote a prompt, in which a short name occurs by itself.
    name = rf"(?<![\w.-]){re.escape(model)}(?![\w-])"
    ended = re.compile(f"{name}.{{0,60}}{_ENDS}|{_ENDS}.{{0,60}}{name}", re.IGNORECASE | re.DOTALL)
    if any(map(ended.search, said)):
        return True
    about = [text for text in said if _MODEL.search(text)]
    # A message of another status may quote the prompt, whose words say nothing.
    said_here = (_UNKNOWN.search, _ENDED.search, lambda text: model in text)
    return status == _NOT_FOUND and any(says(text) for text in about for says in said_here)


class Exchange(NamedTuple):
    """A request, its response and body, with secrets and texts, and the seconds between them."""

    request: "httpx2.Request"
    response: "httpx2.Response"
    body: bytes
    seconds: float


# Where exchanges are noted while somebody watches, which only `metassay probe` does.
WATCHED: ContextVar[list[Exchange] | None] = ContextVar("WATCHED", default=None)

_INSTEAD = {
    "max_tokens": "limit: max_completion_tokens, or a smaller max_tokens,",
    "max_completion_tokens": "limit: max_tokens, or a smaller max_tokens,",
    "temperature": "temperature: null",
    "response_format": "structured: json_object, or none,",
}


def refused_parameters(exchange: Exchange, where: str) -> dict[str, str]:
    """The parameters that a refusal names, each with what to do about it; `where` is the model."""
    if exchange.response.status_code not in (400, 422):
        return {}
    body = _parsed(exchange.body.decode("utf-8", "replace"))
    said = " ".join(text for _, text in strings(body))
    found = {}
    for name in json.loads(exchange.request.content):
        if name in ("model", "messages") or not re.search(rf"(?<!\w){name}(?!\w)", said):
            continue
        line = _INSTEAD.get(name)
        found[name] = f"write {line} in {where}" if line else f"remove it from {where}"
        if name in ("logprobs", "top_logprobs"):
            found[name] = "ask this model for no log-probabilities"
    return found
