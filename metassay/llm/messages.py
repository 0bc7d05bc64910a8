"""Requests to language models and their replies, in the form that all modules share."""

import functools
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple

Status = Literal["ok", "refused", "truncated", "error"]
Structured = Literal["json_schema", "json_object", "none"]

LEAST = -9999.0  # OpenAI's and vLLM's value for a token that is too unlikely
_DIGITS = 6  # after the point: what single precision holds
_ROUNDED_UP = 0.001  # by which rounding can make a logarithm of 1 too large


@dataclass(frozen=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class ChatRequest:
    """One question to one model (its provider's name), with everything that can change the answer.

    `schema` is the canonical JSON of a JSON schema for the answer, or None for free
    text; `structured` how the endpoint is told the schema, None if the endpoint's block
    decides. `temperature` None is not sent. `extra` is the canonical JSON of further
    members of the body. `logprobs`: ask for the log-probability of each token and of so
    many alternatives. `repeat` numbers deliberate repetitions of a question (0 for the
    first).
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
        """The question as canonical JSON (sorted keys, no spaces), as the ledger stores it.

        Optional fields that are not set are left out, so that old questions keep their
        keys.
        """
        members = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("structured", "extra", "logprobs"):
            if members[name] is None:
                del members[name]
        members |= {
            "kind": "chat",
            "messages": [[m.role, m.content] for m in self.messages],
        }
        return json.dumps(
            members, ensure_ascii=False, sort_keys=True, separators=(",", ":")
        )

    # stages compare the keys of requests and replies repeatedly
    @functools.cached_property
    def key(self) -> str:
        """SHA-256 of the canonical JSON: the same question has the same key everywhere."""
        return hashlib.sha256(self.canonical.encode("utf-8")).hexdigest()


def read_request(canonical: str, key: str) -> ChatRequest | None:
    """Read a question from its canonical JSON; None if it is not one, or has another key."""
    try:
        body = json.loads(canonical)
        del body["kind"]
        messages = tuple(
            Message(role, content) for role, content in body.pop("messages")
        )
        request = ChatRequest(messages=messages, **body)
        return (
            request if request.canonical == canonical and request.key == key else None
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


class TokenLogprobs(NamedTuple):
    """A token, its probability's natural logarithm (at least -9999), and the likeliest others."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...]


def logprobs_to_json(tokens: tuple[TokenLogprobs, ...]) -> str:
    """Write compact JSON: `[["token", -0.1, [["token", -0.1], ...]], ...]`."""
    return json.dumps(tokens, ensure_ascii=False, separators=(",", ":"))


def _read_top(top: Iterable[Iterable[object]]) -> tuple[tuple[str, float], ...]:
    return tuple(token_logprob(token, logprob) for token, logprob in top)


def logprobs_from_json(text: str) -> tuple[TokenLogprobs, ...] | None:
    """Read the JSON of `logprobs_to_json`; None if it has another form."""
    try:
        tokens = json.loads(text, parse_int=float)
        return tuple(
            TokenLogprobs(*token_logprob(token, logprob), _read_top(top))
            for token, logprob, top in tokens
        )
    except (ValueError, TypeError, RecursionError):
        return None


def token_logprob(token: object, logprob: object) -> tuple[str, float]:
    """Return a token and its logarithm, rounded; ValueError if they are not valid."""
    if not (
        isinstance(token, str) and isinstance(logprob, float) and logprob <= _ROUNDED_UP
    ):
        raise ValueError("no token, or no logarithm of a probability")
    # Files cannot hold lone surrogates.
    text = token.encode("utf-8", "replace").decode("utf-8")
    return text, round(min(max(logprob, LEAST), 0.0), _DIGITS) + 0.0


class Reply(NamedTuple):
    """The reply to a request: an answer, or a status that tells why there is none.

    `text` is also None for an answer that is not text (finish_reason `unreadable`).
    `error` is a short code (`http_500`, `content_filter`), never a text. `attempts`
    counts the requests that were sent, 0 if the ledger had the answer. `logprobs` are
    those of the answer's tokens, without thoughts, perhaps with an end token; None if
    unknown.
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


# the question is in a batch that has not ended (module `batch_run`)
IN_BATCH = "in_batch"


def failure(key: str, code: str, *, attempts: int = 0) -> Reply:
    """Return the reply to a question without an answer."""
    return Reply(
        key=key,
        status="error",
        text=None,
        finish_reason=None,
        prompt_tokens=None,
        completion_tokens=None,
        attempts=attempts,
        error=code,
    )


# Returns one reply per question, in order; never raises for a single question.
Ask = Callable[[Sequence[ChatRequest]], list[Reply]]


def replies_to(ask: Ask, requests: Sequence[ChatRequest]) -> list[Reply]:
    """Ask the requests; RuntimeError if there is not one reply per request, in order."""
    replies = ask(requests) if requests else []
    if [reply.key for reply in replies] != [request.key for request in requests]:
        raise RuntimeError(
            f"{len(requests)} requests got {len(replies)} replies, or out of order"
        )
    return replies


# The server has understood the question and rejects it as wrong (400, 422) or too long
# (413, 414). All other causes can pass or be corrected: the key, the account, the
# address, a proxy.
_FINAL = re.compile(r"context_length|http_(400|413|414|422)")

REST = "Scores are of the rest, and their bounds count what is missing both ways"


def is_retryable(code: str) -> bool:
    """Return whether asking again may get an answer; true for unknown codes."""
    return _FINAL.fullmatch(code) is None


def count_codes(codes: Iterable[str]) -> str:
    """Return codes with their counts, the most frequent first: `http_500 11, timeout 1`."""
    return ", ".join(f"{code} {n}" for code, n in Counter(sorted(codes)).most_common())


def missing_notes(models: Mapping[str, str], codes: Mapping[str, str]) -> list[str]:
    """Return the notes of a stage that continues without some answers.

    `models`: names in params.yaml by key of each question; `codes`: those of the failed
    ones.
    """
    again = "; the next `metassay run` asks for them again"
    return [f"{line}. {REST}" for line in _lines(models, codes, again)]


def unfinished_message(
    models: Mapping[str, str], codes: Mapping[str, str], most: float
) -> str:
    """Return the message of a stage that lacks more than the share `most` of its answers."""
    lines = _lines(models, codes)
    if "endpoint_down" in codes.values():
        lines.append(
            "endpoint_down: not asked, since its endpoint failed too often in a row"
        )
    lines.append(
        "Every answer so far is in the ledger. Run again when the endpoint is up: only what is"
        " missing is asked. Or raise params.yaml > max_missing, the share of a stage's answers"
        f" that may be missing; it is {most:g}"
    )
    return ". ".join(lines)


def _lines(
    models: Mapping[str, str], codes: Mapping[str, str], again: str = ""
) -> list[str]:
    lines = []
    for model, questions in sorted(Counter(models.values()).items()):
        failed = [
            codes[key] for key, name in models.items() if name == model and key in codes
        ]
        open_ = [code for code in failed if is_retryable(code)]
        lost = [code for code in failed if not is_retryable(code)]
        if open_:
            count = f"{len(open_)} of {questions} answers are missing ({count_codes(open_)})"
            lines.append(f"model {model!r}: {count}{again}")
        if lost:
            lines.append(
                f"model {model!r}: {len(lost)} of {questions} questions failed for good"
                f" ({count_codes(lost)}): asked again they would fail again, unless you change"
                f" params.yaml > models > {model}, its endpoint, or what is asked."
                " `metassay run NAME --ask-again` asks them again although nothing changed"
            )
    return lines
