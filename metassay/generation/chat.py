"""Chat models that write a text from a source, and cite its passages if they are asked to."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from metassay.generation import prompted
from metassay.generation.record import Generated, System
from metassay.llm.endpoints import Length
from metassay.llm.messages import Ask, ChatRequest, Reply, replies_to
from metassay.llm.needs import Requests, Resources, Use
from metassay.llm.prompts import PROMPTS, Decoding


class ChatOptions(prompted.Style):
    """A chat model that writes; `max_tokens` null: as long as params.yaml > models says."""

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
    """Let a chat model write for every source: SOURCES to TEXTS, author `name`.

    `examples` are those that options.examples names. A request that failed is a row without text:
    refused, truncated or error, as its reply says, and unparsed if the reply is blank or no text. A
    model that declines in plain words has written a text. Raises BadInput as `orders`.
    """
    ordered = prompted.orders(sources, options, examples, prompts=prompts)
    answers = iter(replies_to(ask, chat_requests(ordered, decoding)))
    written = [
        _read(next(answers)) if o.messages else prompted.Written("error", None) for o in ordered
    ]
    return prompted.texts_of(ordered, written, name, f"chat|{decoding.signature}")


def chat_requests(ordered: Sequence[prompted.Order], decoding: Decoding) -> list[ChatRequest]:
    """The requests behind orders, which is all that a run sends."""
    return [decoding.request(order.messages) for order in ordered if order.messages]


def _read(reply: Reply) -> prompted.Written:
    if reply.status != "ok":
        return prompted.Written(reply.status, None)
    text = (reply.text or "").strip()
    return prompted.Written("ok", text) if text else prompted.Written("unparsed", None)


def _write(
    sources: pd.DataFrame, name: str, options: ChatOptions, resources: Resources
) -> Generated:
    ask, decoding = resources.require_model()
    examples = prompted.read_examples(options.examples, resources.raw)
    return Generated(write_chat(sources, name, options, ask, decoding, examples))


def _requests(
    sources: pd.DataFrame, options: ChatOptions, decoding: Decoding, raw: Path
) -> Requests:
    ordered = prompted.orders(sources, options, prompted.read_examples(options.examples, raw))
    requests = chat_requests(ordered, decoding)
    return Requests(requests, [1] * len(requests))


KIND = System(
    options=ChatOptions,
    write=_write,
    requests=_requests,
    model=lambda options: Use(options.model, options.max_tokens),
    files=prompted.prompt_files,
    datasets=prompted.example_datasets,
)
