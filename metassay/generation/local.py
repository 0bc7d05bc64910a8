"""Models that write on this machine, through transformers (extra `models`): seq2seq or causal.

Decoding is greedy or by beams, never sampled, whatever the model's own settings say.

A model's input has a limit. What does not fit is never cut in silence: by default (`too_long:
fail`) the document's row has status truncated and no text; with `too_long: cut` a seq2seq model
reads the beginning and the recipe says so. Either way a warning names each such document and its
length. A text that does not come to its end within `max_new_tokens` has status truncated as well.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import jinja2
import pandas as pd

from metassay.errors import BadInput
from metassay.generation import network
from metassay.generation.chat import Order, Style, Written, orders, texts_of
from metassay.generation.few_shot import Example
from metassay.generation.network import Network, NetworkOptions
from metassay.llm.prompts import PROMPTS
from metassay.tables import FULL

_NOTHING = Written("error", None)
_CUT_OFF = Written("truncated", None)


class Seq2SeqOptions(NetworkOptions):
    """An encoder-decoder that was tuned to write; it does not cite.

    It reads the passages, one per line and each after its speaker in brackets if it has one, with
    `prefix` before them all.
    """

    prefix: str = ""
    too_long: Literal["fail", "cut"] = "fail"


class CausalOptions(NetworkOptions, Style):
    """A model that gets the prompts that chat models get, in its own chat template.

    An input that is too long always fails, since the prompt stands at both of its ends.
    """


class LocalTexts(NamedTuple):
    """Rows of tables.TEXTS, and a line for each document whose input was too long."""

    texts: pd.DataFrame
    warnings: tuple[str, ...]


class _Input(NamedTuple):
    """The tokens to read, and how many there are in all; none if there is nothing to read."""

    tokens: list[int]
    length: int


def write_seq2seq(sources: pd.DataFrame, name: str, options: Seq2SeqOptions) -> LocalTexts:
    """Let an encoder-decoder write for every source: tables.SOURCES to tables.TEXTS, author `name`.

    Batches are made in the order of doc_id. Status truncated is explained above; error means that
    there was no passage to read, unparsed that nothing but blanks was written. Raises BadInput if
    the model cannot be loaded as one of this kind.
    """
    model = network.load("AutoModelForSeq2SeqLM", options)
    recipe = f"prefix:{options.prefix!r}|too_long:{options.too_long}"
    ordered, inputs = [], []
    rows = sources.sort_values("doc_id")
    columns: Any = (rows[column] for column in ("doc_id", "passages", "speaker"))
    for doc_id, passages, speakers in zip(*columns, strict=True):
        ordered.append(Order(doc_id, FULL, (), recipe))
        inputs.append(_lined(model, passages, speakers, options))
    texts = texts_of(ordered, _write(model, inputs, options), name, f"seq2seq|{model.recipe}")
    return LocalTexts(texts, tuple(_warnings(model, ordered, inputs, name)))


def write_causal(
    sources: pd.DataFrame,
    name: str,
    options: CausalOptions,
    examples: Sequence[Example] = (),
    *,
    prompts: Path = PROMPTS,
) -> LocalTexts:
    """Let a prompted model write for every source: tables.SOURCES to tables.TEXTS, author `name`.

    Orders, sections and examples are as in `chat.write_chat`, statuses as in `write_seq2seq`.
    Raises BadInput also if the model has no chat template, or one that refuses these messages.
    """
    ordered = orders(sources, options, examples, prompts=prompts)
    model = network.load("AutoModelForCausalLM", options)
    inputs = [_prompted(model, order, options) for order in ordered]
    texts = texts_of(ordered, _write(model, inputs, options), name, f"causal|{model.recipe}")
    return LocalTexts(texts, tuple(_warnings(model, ordered, inputs, name)))


def _write(model: Network, inputs: Sequence[_Input], options: NetworkOptions) -> list[Written]:
    readable = [read.tokens for read in inputs if read.tokens and _fits(model, read)]
    outputs = network.write(model, readable, options)
    written = []
    for read in inputs:
        if not read.tokens:
            written.append(_NOTHING)
        elif not _fits(model, read):
            written.append(_CUT_OFF)
        else:
            text, ended = next(outputs)
            said = Written("ok", text) if text else Written("unparsed", None)
            written.append(said if ended else _CUT_OFF)
    return written


def _fits(model: Network, read: _Input) -> bool:
    return model.limit is None or len(read.tokens) <= model.limit


def _warnings(
    model: Network, ordered: Sequence[Order], inputs: Sequence[_Input], name: str
) -> Iterator[str]:
    for order, read in zip(ordered, inputs, strict=True):
        if model.limit is not None and read.length > model.limit:
            done = "only its beginning was read" if _fits(model, read) else "nothing was written"
            yield (
                f"{name}: doc_id {order.doc_id!r}, part {order.part!r}: the input has {read.length}"
                f" tokens, the model reads {model.limit}; {done}"
            )


def _lined(
    model: Network, passages: Sequence[str], speakers: Sequence[str], options: Seq2SeqOptions
) -> _Input:
    said = [(s, text.strip()) for s, text in zip(speakers, passages, strict=True) if text.strip()]
    if not said:
        return _Input([], 0)
    lines = "\n".join(f"[{speaker}] {text}" if speaker else text for speaker, text in said)
    tokens = model.tokenizer(options.prefix + lines)["input_ids"]
    length = len(tokens)
    if options.too_long == "cut" and model.limit is not None and length > model.limit:
        # By the tokenizer, which leaves the end mark where the model expects it.
        short = {"truncation": True, "max_length": model.limit}
        tokens = model.tokenizer(options.prefix + lines, **short)["input_ids"]
    return _Input(tokens, length)


def _prompted(model: Network, order: Order, options: CausalOptions) -> _Input:
    if not order.messages:
        return _Input([], 0)
    if model.tokenizer.chat_template is None:
        raise BadInput(f"model {options.model!r} has no chat template; take one tuned to chat")
    messages = [{"role": m.role, "content": m.content} for m in order.messages]
    try:
        encoded = model.tokenizer.apply_chat_template(messages, add_generation_prompt=True)
    except jinja2.TemplateError as error:
        raise BadInput(
            f"model {options.model!r}: its chat template refuses a system's message before a user's"
            f" ({type(error).__name__}); take another model"
        ) from None
    tokens = list(encoded["input_ids"])
    return _Input(tokens, len(tokens))
