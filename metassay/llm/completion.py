"""What a chat completion says. Whatever is odd in one costs that much of it, and no more."""

import json
from typing import Any

from metassay.llm import tokens
from metassay.llm.answers import without_thoughts
from metassay.llm.ledger import UNREADABLE, Entry, EntryStatus
from metassay.llm.messages import ChatRequest, TokenLogprobs, logprobs_to_json, token_logprob

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

    What a model thought (`reasoning_content`, `reasoning`, parts that say so) is no answer. A count
    of tokens that cannot be true is null. An answer that is no text, or that no file can hold, was
    paid for all the same: it is kept as ASCII, marked, and nobody reads it.
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
    """Tokens read and written, null where the endpoint did not count them or cannot have.

    It cannot have counted more than was reserved for the request, nor none in a prompt or a text.
    """
    known = usage if isinstance(usage, dict) else {}

    def count(name: str, least: int, most: int) -> int | None:
        number: Any = known.get(name)
        sound = isinstance(number, float) and number.is_integer() and least <= number <= most
        return int(number) if sound else None

    read = count("prompt_tokens", 1, tokens.at_most(request))
    return read, count("completion_tokens", 1 if text else 0, request.max_tokens)


def _logprobs_of(choice: dict[str, Any], text: str) -> tuple[TokenLogprobs, ...] | None:
    """Those of the answer in a choice whose message says `text`; None if it has none to be read.

    OpenAI, vLLM and Ollama give them in one form; others leave the member out or null, though it
    was asked for. The tokens can hold more than the answer: thoughts before it, which some servers
    take out of the message alone, and a token that ends it. Where no tokens can be told from those
    of thoughts, there are none.
    """
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
