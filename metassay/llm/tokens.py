"""How many tokens a text is, without asking anybody.

The rule was fitted to English dialogues, notes, questions, abstracts and JSON as three byte-pair
vocabularies cut them (cl100k, o200k, DeepSeek's): within 8 % of each on each kind of text. Other
languages can be further off; an estimate then corrects itself by what the ledger knows.
"""

import functools
import json
import re
from collections.abc import Callable
from pathlib import Path

from metassay.core.errors import BadInput
from metassay.llm.messages import ChatRequest

Count = Callable[[str], float]

PER_REQUEST, PER_MESSAGE = 3, 4  # what OpenAI's chat format adds
# No vocabulary has a token shorter than a byte; templates and their default texts stay below these.
_AT_MOST_PER_REQUEST, _AT_MOST_PER_MESSAGE = 64, 32

_SCHEMA_HEAD = "# Response Formats\n\n## answer\n\n"

_PIECES = re.compile(r"[^\W\d_]+|\d+|\n+|[^\w\s]+|_+")


def by_rule(text: str) -> float:
    """Tokens of a text by the rule above."""
    return sum(map(_weight, _PIECES.findall(text)))


def by_tokenizer(folder: Path) -> Count:
    """Tokens by the tokenizer.json in a local folder; BadInput if it is not there or unreadable."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise BadInput(
            "models > tokenizer needs the package tokenizers: install metassay[models], or remove"
            " the key to count by rule"
        ) from None
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise BadInput(f"models > tokenizer: {file} does not exist; name the model's own folder")
    tokenizer = Tokenizer.from_file(str(file))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def of_request(request: ChatRequest, count: Count = by_rule, *, structured: bool) -> float:
    """Tokens that an endpoint counts in a request: messages, their format, and the schema.

    Only a `structured` endpoint is sent the schema. What is billed for one is assumed to be what
    OpenAI's open models' prompts hold (github.com/openai/openai-cookbook,
    articles/openai-harmony.md).
    """
    return (
        PER_REQUEST
        + sum(PER_MESSAGE + count(message.content) for message in request.messages)
        + (count(_schema_text(request.schema)) if structured and request.schema else 0.0)
    )


def at_most(request: ChatRequest) -> int:
    """Tokens that a request cannot exceed, whatever the vocabulary: one per byte, schema."""
    schema = _schema_text(request.schema) if request.schema else ""
    return (
        _AT_MOST_PER_REQUEST
        + sum(_AT_MOST_PER_MESSAGE + len(m.content.encode("utf-8")) for m in request.messages)
        + len(schema.encode("utf-8"))
    )


@functools.lru_cache(maxsize=64)
def _schema_text(schema: str) -> str:
    return _SCHEMA_HEAD + json.dumps(json.loads(schema), ensure_ascii=False)


@functools.lru_cache(maxsize=65536)
def _weight(piece: str) -> float:
    first, length = piece[0], len(piece)
    if not piece.isascii():
        return length * (0.5 if first.isalpha() else 1.0)
    if first.isdigit():
        return 0.8 + -(-length // 3)
    if first == "\n":
        return 0.7
    if not first.isalpha():
        return 0.95
    if length > 1 and piece.isupper():
        return 0.5 * length
    return (1.25 if first.isupper() else 1.0) + 0.06 * max(0, length - 7)
