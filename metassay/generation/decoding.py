"""Models that write texts on this machine, with transformers (extra `models`).

Decoding is greedy or by beam search, never sampled, whatever the model's settings.

An input that exceeds the model's limit is never cut silently: the document's row has
status truncated and no text, unless its kind reads the beginning and its recipe says
so. A warning names each such document and its length. A text that exceeds
`max_new_tokens` is truncated as well.

The store of model outputs has the texts: a second run with the same settings loads no
model.
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
    Style,
    TextRequest,
    Written,
    example_datasets,
    examples_of,
    prompt_files,
    text_requests,
    texts_of,
)
from metassay.generation.record import Generated, System
from metassay.llm.prompts import PROMPTS
from metassay.models import extra
from metassay.models.batches import pad_rows
from metassay.models.loading import (
    NetworkOptions,
    identify,
    load,
    places,
    tokenizer_limit,
)
from metassay.models.outputs import STORE, Task, outputs
from metassay.models.rows import compute_outputs
from metassay.tables.names import FULL

VERSION = 1  # raised by whoever changes results of this module's kinds

METHOD = 1  # part of the store's keys; raise it with every change of texts

_SAMPLING = ("temperature", "top_p", "top_k", "min_p", "typical_p")
_BEAMS_ONLY = ("early_stopping", "length_penalty")
_PACKAGES = ("transformers", "torch")
_SETTINGS = ("device", "dtype", "batch_size", "beams", "max_new_tokens", "seed")


class DecodingOptions(NetworkOptions):
    """Decoding options; `max_input`: the longest input in tokens, null for the model's limit.

    `batch_size` can change the last digits of a sum, and so, rarely, a word. `seed`
    matters only for networks that are random themselves: decoding is not.
    """

    batch_size: int = Field(ge=1)
    beams: int = Field(ge=1)
    max_input: int | None = Field(default=None, ge=1)
    max_new_tokens: int = Field(ge=1)
    seed: int = Field(ge=0)


class Writer(NamedTuple):
    """A loaded model; `limit`: tokens of its longest input, or None."""

    tokenizer: Any
    weights: Any
    limit: int | None


class Input(NamedTuple):
    """The tokens to read, and the number of tokens of the whole input."""

    tokens: list[int]
    length: int


@dataclass(frozen=True)
class ModelKind:
    """A kind of model: name, transformers' class, function that reads inputs, and settings."""

    name: str
    network: str
    read: Callable[[Writer, str], Input]
    settings: Mapping[str, str]


class Output(NamedTuple):
    """The output for an input; `text` is None if the input was too long."""

    text: str | None
    ended: bool
    length: int


def write_locally(
    kind: ModelKind,
    requests: Sequence[tuple[TextRequest, str]],
    name: str,
    options: DecodingOptions,
    store: Path,
) -> Generated:
    """Write the requested texts, each from its input, which `kind.read` tokenizes.

    An empty input is a row with status error; unparsed means that only blanks were
    written. Raises BadInput if the model cannot be loaded as one of this kind, and the
    errors of `kind.read`.
    """
    settings = {"method": METHOD, "max_input": options.max_input, **kind.settings}
    settings |= {
        setting: getattr(options, setting)
        for setting in _SETTINGS
        if setting != "device"
    }
    task = Task(kind.name, identify(options), options.device, settings, _PACKAGES)
    loaded = functools.cache(lambda: _load(kind.network, options))

    def scores(inputs: Sequence[tuple[str]], _: int) -> Iterator[Mapping[int, Output]]:
        return _decode(
            loaded(), [kind.read(loaded(), text) for (text,) in inputs], options
        )

    limits = replace(task, name=f"{kind.name}: longest input")
    limit: int | None = outputs(
        limits, [()], lambda _: iter([{0: loaded().limit}]), store=store
    )[0]
    inputs = [(text,) for _, text in requests if text]
    values = iter(compute_outputs(task, inputs, lambda: scores, 1, store=store))
    written = [Output(*next(values)) if text else None for _, text in requests]
    texts = [request for request, _ in requests]
    fields = {
        "model": task.model.name,
        **{key: getattr(options, key) for key in _SETTINGS},
    }
    fields |= {
        "limit": limit,
        **{package: extra.version(package) for package in _PACKAGES},
    }
    recipe = "|".join([kind.name, *(f"{key}:{value}" for key, value in fields.items())])
    rows = texts_of(texts, [_read_output(output) for output in written], name, recipe)
    return Generated(rows, tuple(_warnings(name, texts, written, limit)))


def _load(network: str, options: DecodingOptions) -> Writer:
    """Load a model; a causal model's limit includes its output, which it reads too."""
    tokenizer, weights = load(network, options)
    # Arguments of `generate` would be completed with the model's settings.
    weights.generation_config = _generation_config(tokenizer, weights, options)
    return Writer(tokenizer, weights, _limit(tokenizer, weights, options))


def _decode(
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
    # A causal model continues its input, whose last token must not be padding.
    causal = not weights.config.is_encoder_decoder
    filled, masks = pad_rows(rows, weights.generation_config.pad_token_id, left=causal)
    with torch.inference_mode(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.seed)
        written = weights.generate(
            input_ids=torch.tensor(filled, device=options.device),
            attention_mask=torch.tensor(masks, device=options.device),
        )
    for tokens in written[:, len(filled[0]) if causal else 1 :].tolist():
        yield _text(writer, tokens, options.max_new_tokens)


def _text(writer: Writer, tokens: list[int], most: int) -> tuple[str, bool]:
    decoding = writer.weights.generation_config
    ends = decoding.eos_token_id
    ends = ends if isinstance(ends, list) else [ends]
    end = next((i for i, token in enumerate(tokens) if token in ends), None)
    # Some models are forced to write an end token in the last place, finished or not.
    forced = decoding.forced_eos_token_id is not None and end == most - 1
    text = writer.tokenizer.decode(tokens[:end], skip_special_tokens=True).strip()
    return text, end is not None and not forced


def _read_output(output: Output | None) -> Written:
    if output is None:
        return "error", None
    if output.text is None or not output.ended:
        return "truncated", None
    return ("ok", output.text) if output.text else ("unparsed", None)


def _warnings(
    name: str,
    texts: Sequence[TextRequest],
    written: Sequence[Output | None],
    limit: int | None,
) -> Iterator[str]:
    for text, output in zip(texts, written, strict=True):
        if output is not None and limit is not None and output.length > limit:
            read = output.text is not None
            result = "only its beginning was read" if read else "nothing was written"
            yield (
                f"{name}: doc_id {shown(text.doc_id)}, part {text.part!r}: the input has"
                f" {output.length} tokens, the model reads {limit}; {result}"
            )


def _generation_config(tokenizer: Any, weights: Any, options: DecodingOptions) -> Any:
    """Return the model's settings, without sampling and its limits of length."""
    decoding = copy.deepcopy(weights.generation_config)
    decoding.update(
        do_sample=False,
        num_beams=options.beams,
        max_new_tokens=options.max_new_tokens,
        max_length=None,
        **dict.fromkeys(_SAMPLING),
    )
    if options.beams == 1:
        decoding.update(**dict.fromkeys(_BEAMS_ONLY))
    if decoding.pad_token_id is None:
        ends = tokenizer.eos_token_id
        decoding.pad_token_id = (
            ends if tokenizer.pad_token_id is None else tokenizer.pad_token_id
        )
    return decoding


def _limit(tokenizer: Any, weights: Any, options: DecodingOptions) -> int | None:
    reserved = 0 if weights.config.is_encoder_decoder else options.max_new_tokens
    limits = [n - reserved for n in tokenizer_limit(tokenizer)]
    limits = limits if options.max_input is None else [options.max_input]
    return min([*(most - reserved for most in places(weights)), *limits], default=None)


# Prompted causal models.


class CausalOptions(DecodingOptions, Style):
    """A model that gets the prompts of chat models in its chat template.

    An input that is too long always fails, since both its ends are parts of the prompt.
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
    """Write a text for every source with a prompted model: SOURCES to TEXTS, author `name`.

    Prompts and examples are as in `write_chat`, statuses and errors as in
    `write_locally`. Raises BadInput also if the model has no chat template, or if that
    rejects the messages.
    """
    conversations = []
    for text in text_requests(sources, options, examples, prompts=prompts):
        messages = [{"role": m.role, "content": m.content} for m in text.messages]
        conversations.append(
            (text, json.dumps(messages, ensure_ascii=False) if messages else "")
        )
    read = functools.partial(_read_conversation, options.model)
    kind = ModelKind("causal", "AutoModelForCausalLM", read, {})
    return write_locally(kind, conversations, name, options, store)


def _read_conversation(model: str, writer: Writer, conversation: str) -> Input:
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


CAUSAL = System(
    options=CausalOptions,
    write=lambda sources, name, options, resources: write_causal(
        sources, name, options, examples_of(options, resources.raw)
    ),
    files=prompt_files,
    datasets=example_datasets,
    costly=True,
)


# Encoder-decoders that were tuned to write.


class Seq2SeqOptions(DecodingOptions):
    """An encoder-decoder that was tuned to write; it does not cite.

    It reads `prefix`, then the passages, one per line, each after its speaker in
    brackets if it has one. An input that is `too_long` fails, or is cut at the end.
    """

    prefix: str = ""
    too_long: Literal["fail", "cut"] = "fail"


def write_seq2seq(
    sources: pd.DataFrame, name: str, options: Seq2SeqOptions, *, store: Path = STORE
) -> Generated:
    """Write a text for every source with an encoder-decoder: SOURCES to TEXTS, author `name`.

    Statuses and errors are those of `write_locally`; a source without text has status
    error.
    """
    recipe = f"prefix:{options.prefix!r}|too_long:{options.too_long}"
    rows = sources.sort_values("doc_id")
    columns: Any = (rows[column] for column in ("doc_id", "passages", "speaker"))
    requests = [
        (
            TextRequest(doc_id, FULL, (), recipe),
            _lines(passages, speakers, options.prefix),
        )
        for doc_id, passages, speakers in zip(*columns, strict=True)
    ]

    def read(writer: Writer, text: str) -> Input:
        tokens = writer.tokenizer(text)["input_ids"]
        length = len(tokens)
        if (
            options.too_long == "cut"
            and writer.limit is not None
            and length > writer.limit
        ):
            # The tokenizer keeps the end token where the model expects it.
            short = {"truncation": True, "max_length": writer.limit}
            tokens = writer.tokenizer(text, **short)["input_ids"]
        return Input(tokens, length)

    kind = ModelKind(
        "seq2seq", "AutoModelForSeq2SeqLM", read, {"too_long": options.too_long}
    )
    return write_locally(kind, requests, name, options, store)


def _lines(passages: Sequence[str], speakers: Sequence[str], prefix: str) -> str:
    turns = [
        (s, text.strip())
        for s, text in zip(speakers, passages, strict=True)
        if text.strip()
    ]
    if not turns:
        return ""
    return prefix + "\n".join(f"[{s}] {text}" if s else text for s, text in turns)


SEQ2SEQ = System(
    options=Seq2SeqOptions,
    write=lambda sources, name, options, _: write_seq2seq(sources, name, options),
    costly=True,
)
