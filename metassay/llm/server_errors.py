"""Show a server's error message without text of the request, and recognize retired models.

A server can quote the prompt. So a word of the request is shown only if it is one of
plain_words.txt, a short number, or a parameter's name or value; a sentence with any
other word is not shown at all. Retired models have status 404, 410 or 400 and an error
body; wrong URLs lack it.
"""

import base64
import contextlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from metassay.core.errors import BadInput
from metassay.text.word_lists import read_words

if TYPE_CHECKING:
    import httpx2

_LONGEST = 300  # characters of a message that are shown
_READ = 2_000  # and that are looked at: more of it takes time, and says no more
_MOST = 20  # messages of a body
_WINDOW = 10  # characters of a secret by which a part of it is recognised
_UNSHOWN = "(not shown)"
_OPAQUE = re.compile(r"[A-Za-z0-9+/_-]{13,}={0,2}")  # ten bytes in base64 take so many
_DEEPEST = 6
_NAMED = ("code", "type", "param", "loc")
_SPOKEN = ("message", "msg", "detail", "raw")
_INSIDE = ("error", "metadata", *_SPOKEN)
_WORD = re.compile(r"\w+")
_ESCAPED = re.compile(r"\\|&#|&\w+;|%[0-9a-f]{2}", re.IGNORECASE)
_SHORT_NUMBER = 3  # digits

_PLAIN = read_words(Path(__file__).with_name("plain_words.txt"))


def words(status: int, body: object, sent: bytes, secrets: Iterable[str]) -> str:
    """Return the words of an error body, without `secrets`; `sent`: the request's body."""
    secrets = list(secrets)
    # Short headers, such as "true", are in many messages.
    keys = [secret for secret in secrets if len(secret) >= _WINDOW]
    request = json.loads(sent)
    texts = [message["content"] for message in request.pop("messages")]
    form = request.pop("response_format", {"type": ""})
    allowed = _PLAIN | set(_WORD.findall(_plain(json.dumps([request, form["type"]]))))
    quotable = _plain("\n".join([*texts, *secrets]))
    parts: list[str] = []
    hidden = False
    for name, text in dict.fromkeys(islice(strings(body), _MOST)):
        if not text.strip() or text == str(status):
            continue
        if (
            hide_secrets(text, keys) != text
            or bool(_ESCAPED.search(text))
            or any(
                word not in allowed and word in quotable
                for word in _WORD.findall(_plain(text))
                if len(word) > 1 and not (word.isdigit() and len(word) <= _SHORT_NUMBER)
            )
        ):
            hidden = True
        else:
            cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
            parts.append(f"{name} {cut}" if name in _NAMED else f'"{cut}"')
    if hidden:
        parts.append("words that quote what was sent, which are not shown here")
    return ", ".join(parts) or "nothing"


def hide_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return a text without these secrets, also where they stand in base64 or in hexadecimals."""
    windows: set[bytes] = set()
    for secret in secrets:
        text = text.replace(secret, _UNSHOWN)
        content = secret.encode("utf-8")
        ends = range(_WINDOW, len(content) + 1)
        windows.update(content[end - _WINDOW : end] for end in ends)

    def hide(run: re.Match[str]) -> str:
        for content, window in product(_decoded(run[0]), windows):
            if window in content:
                return _UNSHOWN
        return run[0]

    return _OPAQUE.sub(hide, text)


def _decoded(run: str) -> Iterator[bytes]:
    """Yield what a run of letters and digits may stand for, from each place in a group."""
    for start in range(4):
        part = run[start:].rstrip("=")
        part = part[: len(part) - (len(part) % 4 == 1)]
        padded = part + "=" * (-len(part) % 4)
        with contextlib.suppress(ValueError):
            yield base64.b64decode(padded.replace("-", "+").replace("_", "/"))
    with contextlib.suppress(ValueError):
        yield bytes.fromhex(run[: len(run) // 2 * 2])


def _plain(text: str) -> str:
    """Return the text in lower case without accents, which servers may write differently."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def strings(
    body: object, name: str = "message", depth: int = 0
) -> Iterator[tuple[str, str]]:
    """Yield the strings of an error body with the names of their members, codes before words.

    Only the beginning of each string is yielded.
    """
    if name == "raw":  # OpenRouter passes on the provider's body
        body = _parse(body)
        name = "message"
    if name == "loc" and isinstance(body, list):
        body = ".".join(map(str, body[:_MOST]))
    if depth > _DEEPEST:
        return
    if isinstance(body, Mapping):
        for member in (*_NAMED, *_INSIDE):
            if member in body:
                yield from strings(body[member], member, depth + 1)
    elif isinstance(body, list):
        for item in body:
            yield from strings(item, name, depth + 1)
    elif isinstance(body, str | int):
        yield from _unless_page(name, str(body)[:_READ])


def _unless_page(name: str, text: str) -> Iterator[tuple[str, str]]:
    if not text.lstrip().startswith("<"):
        yield name, text


def _parse(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text


_GONE = 410
_NOT_FOUND = 404
_CODES = frozenset(
    {
        "model_not_found",
        "model_decommissioned",
        "model_deprecated",
        "model_retired",
        "modelnotfound",
        "modeldeprecated",
        "deploymentnotfound",
        "invalid_model",
    }
)
_MODEL = re.compile(r"\bmodels?\b", re.IGNORECASE)
_ENDS = r"(?:decommissioned|deprecated|retired|shut ?down|no longer|pinned to)"
_ENDED = re.compile(_ENDS, re.IGNORECASE)
_UNKNOWN = re.compile(r"not found|not exist|unknown|no such", re.IGNORECASE)


class Retired(BadInput):
    """The endpoint answers that it does not have the model, or no longer has it."""


def is_retired(status: int, body: object, model: str) -> bool:
    """Return whether an HTTP status and a parsed error body mean that a model is gone."""
    if status == _GONE:
        return True
    if not isinstance(body, Mapping | list) or status not in (400, _NOT_FOUND):
        return False
    texts = [text for _, text in islice(strings(body), _MOST)]
    if any(text.lower() in _CODES for text in texts):
        return True
    # Name and word must be close: an error can quote a prompt that has a short name in
    # it.
    name = rf"(?<![\w.-]){re.escape(model)}(?![\w-])"
    ended = re.compile(
        f"{name}.{{0,60}}{_ENDS}|{_ENDS}.{{0,60}}{name}", re.IGNORECASE | re.DOTALL
    )
    if any(map(ended.search, texts)):
        return True
    # Messages of other statuses may quote the prompt, whose words mean nothing.
    return status == _NOT_FOUND and any(
        _UNKNOWN.search(text) or _ENDED.search(text) or model in text
        for text in filter(_MODEL.search, texts)
    )


class Exchange(NamedTuple):
    """A request, its response and body, including secrets and texts, and the seconds it took."""

    request: "httpx2.Request"
    response: "httpx2.Response"
    body: bytes
    seconds: float


# Collects exchanges for `metassay probe`; None otherwise.
WATCHED: ContextVar[list[Exchange] | None] = ContextVar("WATCHED", default=None)

_REPLACEMENTS = {
    "max_tokens": "limit: max_completion_tokens, or a smaller max_tokens,",
    "max_completion_tokens": "limit: max_tokens, or a smaller max_tokens,",
    "temperature": "temperature: null",
    "response_format": "structured: json_object, or none,",
}


def refused_parameters(exchange: Exchange, where: str) -> dict[str, str]:
    """Return the parameters that a refusal names, with remedies; `where` is the model's block."""
    if exchange.response.status_code not in (400, 422):
        return {}
    body = _parse(exchange.body.decode("utf-8", "replace"))
    message = " ".join(text for _, text in strings(body))
    remedies = {}
    for name in json.loads(exchange.request.content):
        if name in ("model", "messages") or not re.search(
            rf"(?<!\w){name}(?!\w)", message
        ):
            continue
        line = _REPLACEMENTS.get(name)
        remedies[name] = (
            f"write {line} in {where}" if line else f"remove it from {where}"
        )
        if name in ("logprobs", "top_logprobs"):
            remedies[name] = "ask this model for no log-probabilities"
    return remedies
