"""Models that write on this machine, through transformers (extra `models`).

Decoding is greedy or by beams, never sampled, whatever the model's own settings say.

A model's input has a limit. What does not fit is never cut in silence: the document's row has
status truncated and no text, unless its kind reads the beginning and its recipe says so. Either way
a warning names each such document and its length. A text that does not come to its end within
`max_new_tokens` has status truncated as well.

What was written is in the store of model outputs: the same input in the same settings is decoded
once, and a second run loads no model.
"""

import copy
import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import jinja2
import pandas as pd
from pydantic import Field

from metassay.core.errors import BadInput, shown
from metassay.generation.prompted import (
    Example,
    Order,
    Style,
    Written,
    example_datasets,
    orders,
    prompt_files,
    read_examples,
    texts_of,
)
from metassay.generation.record import Generated, System
from metassay.llm.needs import Resources
from metassay.llm.prompts import PROMPTS
from metassay.models import extra
from metassay.models.batches import pad_rows
from metassay.models.loading import NetworkOptions, identify, load, places, tokenizer_limit
from metassay.models.outputs import Task, outputs
from metassay.models.rows import compute_outputs
from metassay.models.store import STORE
from metassay.tables.names import FULL

METHOD = 1  # part of the store's keys; whoever changes what is written for an input raises it

_SAMPLING = ("temperature", "top_p", "top_k", "min_p", "typical_p")
_BEAMS_ONLY = ("early_stopping", "length_penalty")
_PACKAGES = ("transformers", "torch")
_SETTINGS = ("device", "dtype", "batch_size", "beams", "max_new_tokens", "seed")


class DecodingOptions(NetworkOptions):
    """How a model is decoded; `max_input`: the longest input in tokens, null for the model's limit.

    `batch_size` can change the last digits of a sum, and so, rarely, a word. `seed` matters only to
    networks that draw numbers of their own: decoding draws none.
    """

    batch_size: int = Field(ge=1)
    beams: int = Field(ge=1)
    max_input: int | None = Field(default=None, ge=1)
    max_new_tokens: int = Field(ge=1)
    seed: int = Field(ge=0)


class Writer(NamedTuple):
    """A model that writes; `limit`: tokens of its longest input, if it has any."""

    tokenizer: Any
    weights: Any
    limit: int | None


class Input(NamedTuple):
    """The tokens to read, and how many the whole input has."""

    tokens: list[int]
    length: int


@dataclass(frozen=True)
class Way:
    """A kind of model: name, transformers' class, how it reads an input, its own settings."""

    name: str
    network: str
    read: Callable[[Writer, str], Input]
    settings: Mapping[str, str]


class Output(NamedTuple):
    """What came of an input; `text` is null if it was too long to be read."""

    text: str | None
    ended: bool
    length: int


def write_locally(
    way: Way, asked: Sequence[tuple[Order, str]], name: str, options: DecodingOptions, store: Path
) -> Generated:
    """Let a model write for orders, each with the input that it becomes, as `way.read` reads it.

    An empty input is a row with status error; unparsed means that nothing but blanks was written.
    Raises BadInput if the model cannot be loaded as one of this kind, and what `way.read` raises.
    """
    settings = {"method": METHOD, "max_input": options.max_input, **way.settings}
    settings |= {setting: getattr(options, setting) for setting in _SETTINGS if setting != "device"}
    task = Task(way.name, identify(options), options.device, settings, _PACKAGES)
    loaded = functools.cache(lambda: _load(way.network, options))

    def scores(inputs: Sequence[tuple[str]], _: int) -> Iterator[Mapping[int, Output]]:
        return _decoded(loaded(), [way.read(loaded(), text) for (text,) in inputs], options)

    limits = replace(task, name=f"{way.name}: longest input")
    limit: int | None = outputs(limits, [()], lambda _: iter([{0: loaded().limit}]), store=store)[0]
    readable = [text for _, text in asked if text]
    found = compute_outputs(task, [(text,) for text in readable], lambda: scores, 1, store=store)
    values = iter(Output(*value) for value in found)
    written = [next(values) if text else None for _, text in asked]
    orders = [order for order, _ in asked]
    stated = {"model": task.model.name, **{key: getattr(options, key) for key in _SETTINGS}}
    stated |= {"limit": limit, **{package: extra.version(package) for package in _PACKAGES}}
    recipe = "|".join([way.name, *(f"{key}:{value}" for key, value in stated.items())])
    texts = texts_of(orders, [_written(output) for output in written], name, recipe)
    return Generated(texts, tuple(_warnings(name, orders, written, limit)))


def _load(network: str, options: DecodingOptions) -> Writer:
    """The limit counts what a causal model will write, since it reads that too."""
    tokenizer, weights = load(network, options)
    # What is passed to `generate` would be filled up with the model's own settings again.
    weights.generation_config = _decoding(tokenizer, weights, options)
    return Writer(tokenizer, weights, _limit(tokenizer, weights, options))


def _decoded(
    writer: Writer, inputs: Sequence[Input], options: DecodingOptions
) -> Iterator[dict[int, Output]]:
    fitting = []
    for place, read in enumerate(inputs):
        if writer.limit is None or len(read.tokens) <= writer.limit:
            fitting.append(place)
        else:
            yield {place: Output(None, False, read.length)}
    for start in range(0, len(fitting), options.batch_size):
        batch = fitting[start : start + options.batch_size]
        texts = _batch(writer, [inputs[place].tokens for place in batch], options)
        yield {
            place: Output(text, ended, inputs[place].length)
            for place, (text, ended) in zip(batch, texts, strict=True)
        }


def _batch(
    writer: Writer, rows: Sequence[Sequence[int]], options: DecodingOptions
) -> Iterator[tuple[str, bool]]:
    torch, weights = extra.module("torch"), writer.weights
    # A causal model goes on from the last place of its input, which must not be padding.
    goes_on = not weights.config.is_encoder_decoder
    filled, masks = pad_rows(rows, weights.generation_config.pad_token_id, left=goes_on)
    with torch.inference_mode(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.seed)
        written = weights.generate(
            input_ids=torch.tensor(filled, device=options.device),
            attention_mask=torch.tensor(masks, device=options.device),
        )
    for tokens in written[:, len(filled[0]) if goes_on else 1 :].tolist():
        yield _text(writer, tokens, options.max_new_tokens)


def _text(writer: Writer, tokens: list[int], most: int) -> tuple[str, bool]:
    decoding = writer.weights.generation_config
    ends = decoding.eos_token_id
    ends = ends if isinstance(ends, list) else [ends]
    end = next((at for at, token in enumerate(tokens) if token in ends), None)
    # Some models must write an end mark in the last place, whether they have finished or not.
    forced = decoding.forced_eos_token_id is not None and end == most - 1
    text = writer.tokenizer.decode(tokens[:end], skip_special_tokens=True).strip()
    return text, end is not None and not forced


def _written(output: Output | None) -> Written:
    if output is None:
        return Written("error", None)
    if output.text is None or not output.ended:
        return Written("truncated", None)
    return Written("ok", output.text) if output.text else Written("unparsed", None)


def _warnings(
    name: str, orders: Sequence[Order], written: Sequence[Output | None], limit: int | None
) -> Iterator[str]:
    for order, output in zip(orders, written, strict=True):
        if output is not None and limit is not None and output.length > limit:
            read = output.text is not None
            done = "only its beginning was read" if read else "nothing was written"
            yield (
                f"{name}: doc_id {shown(order.doc_id)}, part {order.part!r}: the input has"
                f" {output.length} tokens, the model reads {limit}; {done}"
            )


def _decoding(tokenizer: Any, weights: Any, options: DecodingOptions) -> Any:
    """The model's own settings, but for those that make it sample or set its length."""
    decoding = copy.deepcopy(weights.generation_config)
    decoding.update(
        do_sample=False,
        num_beams=options.beams,
        max_new_tokens=options.max_new_tokens,
        max_length=None,
        **dict.fromkeys(_SAMPLING),
        **(dict.fromkeys(_BEAMS_ONLY) if options.beams == 1 else {}),
    )
    if decoding.pad_token_id is None:
        ends = tokenizer.eos_token_id
        decoding.pad_token_id = ends if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    return decoding


def _limit(tokenizer: Any, weights: Any, options: DecodingOptions) -> int | None:
    reserved = 0 if weights.config.is_encoder_decoder else options.max_new_tokens
    wanted = options.max_input
    told = [n - reserved for n in tokenizer_limit(tokenizer)] if wanted is None else [wanted]
    return min([*(most - reserved for most in places(weights)), *told], default=None)


# Prompted models on this machine; see generation.decoding.


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


def _write_causal(
    sources: pd.DataFrame, name: str, options: CausalOptions, resources: Resources
) -> Generated:
    return write_causal(sources, name, options, read_examples(options.examples, resources.raw))


CAUSAL = System(
    options=CausalOptions,
    write=_write_causal,
    files=prompt_files,
    datasets=example_datasets,
    costly=True,
)


# Encoder-decoders on this machine that were tuned to write; see generation.decoding.


class Seq2SeqOptions(DecodingOptions):
    """An encoder-decoder that was tuned to write; it does not cite.

    It reads the passages, one per line and each after its speaker in brackets if it has one, with
    `prefix` before them all. An input that is `too_long` fails, or is cut after its beginning.
    """

    prefix: str = ""
    too_long: Literal["fail", "cut"] = "fail"


def write_seq2seq(
    sources: pd.DataFrame, name: str, options: Seq2SeqOptions, *, store: Path = STORE
) -> Generated:
    """Let an encoder-decoder write for every source: SOURCES to TEXTS, author `name`.

    Statuses and errors are those of `write_locally`; error: there was no passage to read.
    """
    recipe = f"prefix:{options.prefix!r}|too_long:{options.too_long}"
    rows = sources.sort_values("doc_id")
    columns: Any = (rows[column] for column in ("doc_id", "passages", "speaker"))
    asked = [
        (Order(doc_id, FULL, (), recipe), _lines(passages, speakers, options.prefix))
        for doc_id, passages, speakers in zip(*columns, strict=True)
    ]

    def read(writer: Writer, text: str) -> Input:
        tokens = writer.tokenizer(text)["input_ids"]
        length = len(tokens)
        if options.too_long == "cut" and writer.limit is not None and length > writer.limit:
            # By the tokenizer, which leaves the end mark where the model expects it.
            short = {"truncation": True, "max_length": writer.limit}
            tokens = writer.tokenizer(text, **short)["input_ids"]
        return Input(tokens, length)

    way = Way("seq2seq", "AutoModelForSeq2SeqLM", read, {"too_long": options.too_long})
    return write_locally(way, asked, name, options, store)


def _lines(passages: Sequence[str], speakers: Sequence[str], prefix: str) -> str:
    said = [(s, text.strip()) for s, text in zip(speakers, passages, strict=True) if text.strip()]
    if not said:
        return ""
    return prefix + "\n".join(f"[{speaker}] {text}" if speaker else text for speaker, text in said)


SEQ2SEQ = System(
    options=Seq2SeqOptions,
    write=lambda sources, name, options, _: write_seq2seq(sources, name, options),
    costly=True,
)
