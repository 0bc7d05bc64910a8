"""What goes to a language model and what comes back: the one form everything here agrees on."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Status = Literal["ok", "refused", "truncated", "error"]

_JSON = json.JSONEncoder(ensure_ascii=False)


@dataclass(frozen=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class ChatRequest:
    """One question to one model, with everything that can change the answer.

    `schema` is the canonical JSON of a JSON schema the answer must follow, or None for free text.
    `model` is the model's identifier at its provider, not its name in params.yaml, and `repeat`
    tells deliberate repetitions of the same question apart (0 for the first).
    """

    model: str
    messages: tuple[Message, ...]
    schema: str | None
    temperature: float
    seed: int | None
    max_tokens: int
    repeat: int = 0

    @property
    def canonical(self) -> str:
        """The question as canonical JSON (sorted keys, no spaces), as the ledger keeps it, too."""
        # Put together by hand: of a text alone, the encoder is a third faster than of a mapping,
        # and this is the most of what a replay costs.
        quote = _JSON.encode
        messages = ",".join([f"[{quote(m.role)},{quote(m.content)}]" for m in self.messages])
        return (
            f'{{"kind":"chat","max_tokens":{self.max_tokens},"messages":[{messages}]'
            f',"model":{quote(self.model)},"repeat":{self.repeat}'
            f',"schema":{"null" if self.schema is None else quote(self.schema)}'
            f',"seed":{"null" if self.seed is None else self.seed}'
            f',"temperature":{self.temperature!r}}}'
        )

    @property
    def key(self) -> str:
        """SHA-256 of the canonical JSON: the same question has the same key everywhere."""
        return hashlib.sha256(self.canonical.encode("utf-8")).hexdigest()


@dataclass(frozen=True)
class Reply:
    """What came of a request: an answer, or the status that says why there is none.

    `error` is a short code (`http_500`, `timeout`, `content_filter`, `over_budget`), never a text.
    `attempts` counts the requests that were sent for it, 0 if the ledger had the answer.
    """

    key: str
    status: Status
    text: str | None
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    attempts: int
    error: str | None = None


class Ask(Protocol):
    """Put questions, get one reply each, in the same order; never raises for a single question."""

    def __call__(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """Ask them all."""
        ...
