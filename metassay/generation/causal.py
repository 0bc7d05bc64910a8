"""Prompted models on this machine; see generation.decoding."""

import functools
import json
from collections.abc import Sequence
from pathlib import Path

import jinja2
import pandas as pd

from metassay.core.errors import BadInput
from metassay.generation.decoding import DecodingOptions, Input, Way, Writer, write_locally
from metassay.generation.prompted import (
    Example,
    Style,
    example_datasets,
    orders,
    prompt_files,
    read_examples,
)
from metassay.generation.record import Generated, System
from metassay.llm.needs import Resources
from metassay.llm.prompts import PROMPTS
from metassay.models.store import STORE


class CausalOptions(DecodingOptions, Style):
    """A model that gets the prompts that chat models get, in its own chat template.

    An input that is too long always fails, since the prompt stands at both of its ends.
    """


def write_causal(
    sources: pd.DataFrame,
    name: str,
    options: CausalOptions,
    examples: Sequence[Example] = (),
    *,
    prompts: Path = PROMPTS,
    store: Path = STORE,
) -> Generated:
    """Let a prompted model write for every source: SOURCES to TEXTS, author `name`.

    Orders and examples are as in `write_chat`, statuses and errors as in `write_locally`. Raises
    BadInput also if the model has no chat template, or one that refuses these messages.
    """
    conversations = []
    for order in orders(sources, options, examples, prompts=prompts):
        messages = [{"role": m.role, "content": m.content} for m in order.messages]
        conversations.append((order, json.dumps(messages, ensure_ascii=False) if messages else ""))
    read = functools.partial(_prompted, options.model)
    way = Way("causal", "AutoModelForCausalLM", read, {})
    return write_locally(way, conversations, name, options, store)


def _prompted(model: str, writer: Writer, conversation: str) -> Input:
    if writer.tokenizer.chat_template is None:
        raise BadInput(f"model {model!r} has no chat template; take one tuned to chat")
    try:
        encoded = writer.tokenizer.apply_chat_template(
            json.loads(conversation), add_generation_prompt=True
        )
    except jinja2.TemplateError as error:
        raise BadInput(
            f"model {model!r}: its chat template refuses a system's message before a user's"
            f" ({type(error).__name__}); take another model"
        ) from None
    tokens = list(encoded["input_ids"])
    return Input(tokens, len(tokens))


def _write(
    sources: pd.DataFrame, name: str, options: CausalOptions, resources: Resources
) -> Generated:
    return write_causal(sources, name, options, read_examples(options.examples, resources.raw))


KIND = System(
    options=CausalOptions, write=_write, files=prompt_files, datasets=example_datasets, costly=True
)
