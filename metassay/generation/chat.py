"""Chat models that write a text from a source, and cite its passages if the style says so."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from metassay.generation import prompted
from metassay.generation.record import Generated, System
from metassay.llm.endpoints import Length
from metassay.llm.messages import Ask, ChatRequest, Reply, replies_to
from metassay.llm.needs import Requests, Resources, Use
from metassay.llm.prompts import PROMPTS, Decoding

VERSION = 2  # raised by whoever changes results of this module's kinds


class ChatOptions(prompted.Style):
    """A chat model that writes; `max_tokens` null: the number of params.yaml > models."""

    model: str
    max_tokens: Length | None = None


def write_chat(
    sources: pd.DataFrame,
    name: str,
    options: ChatOptions,
    ask: Ask,
    decoding: Decoding,
    examples: Sequence[prompted.Example] = (),
    *,
    prompts: Path = PROMPTS,
) -> pd.DataFrame:
    """Write a text for every source with a chat model: SOURCES to TEXTS, author `name`.

    `examples` are those of options.examples. A request that failed is a row without
    text: refused, truncated or error, the status of its reply, or unparsed if the reply
    is blank or not text. A refusal in plain words is a text. Raises BadInput as
    `text_requests`.
    """
    requests = prompted.text_requests(sources, options, examples, prompts=prompts)
    answers = iter(replies_to(ask, chat_requests(requests, decoding)))
    written: list[prompted.Written] = [
        _read(next(answers)) if request.messages else ("error", None)
        for request in requests
    ]
    return prompted.texts_of(requests, written, name, f"chat|{decoding.signature}")


def chat_requests(
    texts: Sequence[prompted.TextRequest], decoding: Decoding
) -> list[ChatRequest]:
    """Return the chat requests of requests for texts, which are all that a run sends."""
    return [decoding.request(text.messages) for text in texts if text.messages]


def _read(reply: Reply) -> prompted.Written:
    if reply.status != "ok":
        return reply.status, None
    text = (reply.text or "").strip()
    return ("ok", text) if text else ("unparsed", None)


def _write(
    sources: pd.DataFrame, name: str, options: ChatOptions, resources: Resources
) -> Generated:
    ask, decoding = resources.require_model()
    examples = prompted.examples_of(options, resources.raw)
    return Generated(write_chat(sources, name, options, ask, decoding, examples))


def _requests(
    sources: pd.DataFrame, options: ChatOptions, decoding: Decoding, raw: Path
) -> Requests:
    examples = prompted.examples_of(options, raw)
    requests = chat_requests(
        prompted.text_requests(sources, options, examples), decoding
    )
    return Requests(requests, [1] * len(requests))


KIND = System(
    options=ChatOptions,
    write=_write,
    requests=_requests,
    model=lambda options: Use(options.model, options.max_tokens),
    files=prompted.prompt_files,
    datasets=prompted.example_datasets,
)
