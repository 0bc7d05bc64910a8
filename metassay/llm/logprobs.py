"""Log-probabilities of an answer's tokens: out of a chat completion, and as the ledger keeps them.

OpenAI, vLLM and Ollama give them in one form (`choices[0].logprobs.content`). Others leave the
member out or null, though it was asked for. The tokens can hold more than the answer: thoughts
before it, which some servers take out of the message alone, and a token that ends it.
"""

import json
from typing import Any

from metassay.llm.messages import TokenLogprobs
from metassay.llm.thoughts import without_thoughts

LEAST = -9999.0  # what OpenAI and vLLM write for a token that is too unlikely to be counted
_DIGITS = 6  # after the point: what single precision holds
_ROUNDED_UP = 0.001  # a logarithm of 1 may come out this much too large


def logprobs_of(choice: dict[str, Any], text: str) -> tuple[TokenLogprobs, ...] | None:
    """Those of the answer in a choice whose message says `text`; None if it has none to be read.

    Where no tokens can be told from those of thoughts, there are none either.
    """
    given = choice.get("logprobs")
    found = given.get("content") if isinstance(given, dict) else None
    said = without_thoughts(text)
    if not isinstance(found, list) or not found or not said:
        return None
    try:
        tokens = [TokenLogprobs(*_pair(one), _top(one)) for one in found]
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
    start = "".join(one.token for one in tokens).rfind(said)
    if start < 0:  # parts of a character are tokens, or blanks are written otherwise
        message = choice["message"]
        thought = said != text or message.get("reasoning_content") or message.get("reasoning")
        return None if thought else tuple(tokens)
    while start >= len(tokens[0].token):
        start -= len(tokens.pop(0).token)
    return tuple(tokens)


def to_json(tokens: tuple[TokenLogprobs, ...]) -> str:
    """As compact JSON: `[["token", -0.1, [["token", -0.1], ...]], ...]`."""
    return json.dumps(tokens, ensure_ascii=False, separators=(",", ":"))


def from_json(said: str) -> tuple[TokenLogprobs, ...] | None:
    """What `to_json` wrote; None if it is nothing of the kind."""
    try:
        tokens = json.loads(said, parse_int=float)
        return tuple(
            TokenLogprobs(*_number(token, logprob), tuple(_number(*one) for one in top))
            for token, logprob, top in tokens
        )
    except (ValueError, TypeError, RecursionError):
        return None


def _top(one: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    return tuple(_pair(other) for other in one.get("top_logprobs") or ())


def _pair(one: dict[str, Any]) -> tuple[str, float]:
    return _number(one["token"], one["logprob"])


def _number(token: object, logprob: object) -> tuple[str, float]:
    """A token and its logarithm as they are kept; ValueError if they are none."""
    if not (isinstance(token, str) and isinstance(logprob, float) and logprob <= _ROUNDED_UP):
        raise ValueError("no token, or no logarithm of a probability")
    # No file holds half a surrogate pair.
    whole = token.encode("utf-8", "replace").decode("utf-8")
    return whole, round(min(max(logprob, LEAST), 0.0), _DIGITS) + 0.0
