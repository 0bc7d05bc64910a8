"""What goes to a language model and what comes back: the one form everything here agrees on."""

import functools
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Literal, NamedTuple

Status = Literal["ok", "refused", "truncated", "error"]
Structured = Literal["json_schema", "json_object", "none"]

# The characters that JSON escapes: the usual ones, and the rest of them.
_ESCAPES = ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n"), (b"\t", b"\\t"), (b"\r", b"\\r"))
_CONTROL = bytes(range(32))
LEAST = -9999.0  # what OpenAI and vLLM write for a token that is too unlikely to be counted
_DIGITS = 6  # after the point: what single precision holds
_ROUNDED_UP = 0.001  # a logarithm of 1 may come out this much too large
_SHORT = 400  # characters of a text for which the encoder is faster


@dataclass(frozen=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class ChatRequest:
    """One question to one model (its provider's name), with everything that can change the answer.

    `schema` is the canonical JSON of a JSON schema the answer must follow, or None for free text;
    `structured` how the endpoint is told so, None if its block alone says that. `temperature` None
    is left out of what is sent. `extra` is the canonical JSON of further members of what is sent.
    `logprobs`: the log-probability of each token is wanted, and of so many others in its place.
    `repeat` tells deliberate repetitions of a question apart (0 for the first).
    """

    model: str
    messages: tuple[Message, ...]
    schema: str | None
    temperature: float | None
    seed: int | None
    max_tokens: int
    repeat: int = 0
    structured: Structured | None = None
    extra: str | None = None
    logprobs: int | None = None

    @property
    def canonical(self) -> str:
        """The question as canonical JSON (sorted keys, no spaces), as the ledger keeps it.

        The last three fields are in it only where they are set: old questions keep their keys.
        """
        return self._canonical.decode("utf-8")

    @functools.cached_property  # every stage compares the keys of requests and replies again
    def key(self) -> str:
        """SHA-256 of the canonical JSON: the same question has the same key everywhere."""
        return hashlib.sha256(self._canonical).hexdigest()

    @property
    def _canonical(self) -> bytes:
        # Put together by hand: this is the most of what a replay costs.
        messages = b",".join(
            [b"[%b,%b]" % (_quoted(m.role), _quoted(m.content)) for m in self.messages]
        )
        extra = b"" if self.extra is None else b'"extra":%b,' % _quoted(self.extra)
        logprobs = b"" if self.logprobs is None else b'"logprobs":%d,' % self.logprobs
        schema = b"null" if self.schema is None else _quoted(self.schema)
        seed = b"null" if self.seed is None else b"%d" % self.seed
        form = b"" if self.structured is None else b'"structured":%b,' % _quoted(self.structured)
        heat = b"null" if self.temperature is None else repr(self.temperature).encode()
        return b'{%b"kind":"chat",%b"max_tokens":%d,"messages":[%b],"model":%b,"repeat":%d,%b}' % (
            *(extra, logprobs, self.max_tokens, messages, _quoted(self.model), self.repeat),
            b'"schema":%b,"seed":%b,%b"temperature":%b' % (schema, seed, form, heat),
        )


def belongs(canonical: str, key: str) -> bool:
    """Whether a canonical JSON is what the key was made of."""
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest() == key


def read_request(canonical: str, key: str) -> ChatRequest | None:
    """The question of a canonical JSON and its key, or None if they are no question, or not one."""
    try:
        body = json.loads(canonical)
        del body["kind"]
        messages = tuple(Message(role, content) for role, content in body.pop("messages"))
        request = ChatRequest(messages=messages, **body)
        return request if request.canonical == canonical and request.key == key else None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


class TokenLogprobs(NamedTuple):
    """A token, its probability's natural logarithm (at least -9999), and the likeliest others."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...]


def logprobs_to_json(tokens: tuple[TokenLogprobs, ...]) -> str:
    """As compact JSON: `[["token", -0.1, [["token", -0.1], ...]], ...]`."""
    return json.dumps(tokens, ensure_ascii=False, separators=(",", ":"))


def logprobs_from_json(said: str) -> tuple[TokenLogprobs, ...] | None:
    """What `logprobs_to_json` wrote; None if it is nothing of the kind."""
    try:
        tokens = json.loads(said, parse_int=float)
        return tuple(
            TokenLogprobs(*token_logprob(token, logprob), tuple(token_logprob(*one) for one in top))
            for token, logprob, top in tokens
        )
    except (ValueError, TypeError, RecursionError):
        return None


def token_logprob(token: object, logprob: object) -> tuple[str, float]:
    """A token and its logarithm as they are kept; ValueError if they are none."""
    if not (isinstance(token, str) and isinstance(logprob, float) and logprob <= _ROUNDED_UP):
        raise ValueError("no token, or no logarithm of a probability")
    # No file holds half a surrogate pair.
    whole = token.encode("utf-8", "replace").decode("utf-8")
    return whole, round(min(max(logprob, LEAST), 0.0), _DIGITS) + 0.0


class Reply(NamedTuple):
    """What came of a request: an answer, or the status that says why there is none.

    `text` is None, too, of an answer that is not text (finish_reason `unreadable`). `error` is a
    short code (`http_500`, `content_filter`), never a text. `attempts` counts the requests that
    were sent for it, 0 if the ledger had the answer. `logprobs` are those of the answer's tokens,
    without thoughts, and maybe with one that ended it; None where there are none.
    """

    key: str
    status: Status
    text: str | None
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    attempts: int
    error: str | None = None
    logprobs: tuple[TokenLogprobs, ...] | None = None


IN_BATCH = "in_batch"  # the question is in a batch that has not ended (module `batch_run`)


def failure(key: str, code: str, *, attempts: int = 0) -> Reply:
    """The reply to a question that has no answer."""
    return Reply(key, "error", None, None, None, None, attempts, code)


# Puts questions and gets one reply each, in the same order; never raises for a single question.
Ask = Callable[[Sequence[ChatRequest]], list[Reply]]


def replies_to(ask: Ask, requests: Sequence[ChatRequest]) -> list[Reply]:
    """The replies to requests; RuntimeError if they are not one each, in order."""
    replies = ask(requests) if requests else []
    if [reply.key for reply in replies] != [request.key for request in requests]:
        raise RuntimeError(f"{len(requests)} requests got {len(replies)} replies, or out of order")
    return replies


def _quoted(text: str) -> bytes:
    """The text as a JSON string, as json.dumps(text, ensure_ascii=False) writes it, only faster."""
    if len(text) < _SHORT:
        return encode_basestring(text).encode("utf-8")
    raw = text.encode("utf-8")
    for mark, escaped in _ESCAPES:
        raw = raw.replace(mark, escaped)
    if len(raw.translate(None, _CONTROL)) < len(raw):
        return encode_basestring(text).encode("utf-8")
    return b'"%b"' % raw


# Questions without an answer: which may get one another time, and what is said of them.


# The server has understood the question, and says no to it: it is wrong in itself (400, 422), or
# too long (413, 414). Of all else somebody or time can mend the cause: the key, the account, the
# address, a proxy.
_FOR_GOOD = re.compile(r"context_length|http_(400|413|414|422)")

REST = "Scores are of the rest, and their bounds count what is missing both ways"


def is_retryable(code: str) -> bool:
    """Whether asking the same again may get an answer; of a code that nobody knows, it may."""
    return _FOR_GOOD.fullmatch(code) is None


def count_codes(codes: Iterable[str]) -> str:
    """Codes with how often each came, the most frequent first: `http_500 11, timeout 1`."""
    by_count = sorted(Counter(codes).items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{code} {count}" for code, count in by_count)


class Missing(NamedTuple):
    """One model's questions of a stage: how many, and the codes of those without an answer.

    `model` is its name in params.yaml. Asking again may get those of `open`, not those of `lost`.
    """

    model: str
    asked: int
    open: list[str]
    lost: list[str]


def find_missing(asked: Mapping[str, str], codes: Mapping[str, str]) -> list[Missing]:
    """By model: `asked` has the model of each question by its key, `codes` why some failed."""
    found = []
    for model in sorted(set(asked.values())):
        keys = [key for key, name in asked.items() if name == model]
        failed = [codes[key] for key in keys if key in codes]
        open_ = [code for code in failed if is_retryable(code)]
        lost = [code for code in failed if not is_retryable(code)]
        found.append(Missing(model, len(keys), open_, lost))
    return found


def missing_notes(found: Iterable[Missing]) -> list[str]:
    """The notes of a stage that went on without these answers."""
    again = "; the next `metassay run` asks for them again"
    return [f"{line}. {REST}" for line in _lines(found, again)]


def unfinished_message(found: Sequence[Missing], most: float) -> str:
    """What a stage says that stops because more than the share `most` of its answers is missing."""
    lines = _lines(found)
    if any("endpoint_down" in model.open for model in found):
        lines.append("endpoint_down: not asked, since its endpoint failed too often in a row")
    lines.append(
        "Every answer so far is in the ledger. Run again when the endpoint is up: only what is"
        " missing is asked. Or raise params.yaml > max_missing, the share of a stage's answers"
        f" that may be missing; it is {most:g}"
    )
    return ". ".join(lines)


def _lines(found: Iterable[Missing], again: str = "") -> list[str]:
    lines = []
    for model, asked, open_, lost in found:
        if open_:
            many = f"{len(open_)} of {asked} answers are missing ({count_codes(open_)})"
            lines.append(f"model {model!r}: {many}{again}")
        if lost:
            lines.append(
                f"model {model!r}: {len(lost)} of {asked} questions failed for good"
                f" ({count_codes(lost)}): asked again they would fail again, unless you change"
                f" params.yaml > models > {model}, its endpoint, or what is asked."
                " `metassay run NAME --ask-again` asks them again although nothing changed"
            )
    return lines
