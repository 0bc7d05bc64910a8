"""Alignments by the vectors that an encoder gives the tokens of statements and passages.

What was aligned is in the store of model outputs (metassay.models.outputs): a second run loads no
model. Numbers have eight decimals, which with dtype float64 are the same on every processor.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from metassay.models import encoders, extra
from metassay.models.loading import NetworkOptions, identify
from metassay.models.matching import layers_of
from metassay.models.outputs import Task, device_kind, outputs
from metassay.models.store import STORE
from metassay.models.words import words
from metassay.text.tokens import STOPWORDS
from metassay.units.record import Aligned, Statements, Tally

METHOD = 1  # part of the store's keys; whoever changes what is aligned raises it
DECIMALS = 8
_PACKAGES = ("bert-score", "transformers", "torch")


class EncoderOptions(NetworkOptions):
    """An encoder, and how many passages a statement gets at most (the paper takes 5).

    `layers`: which layer's vectors (1: the first); null for bert-score's choice for this name on
    the hub, and else the last. `batch_tokens`: how many tokens are encoded at once, padding
    included; it is for speed, and changes last digits at most.
    """

    k: int = Field(ge=1)
    layers: int | None = Field(default=None, ge=1)
    batch_tokens: int = Field(default=512, ge=1)


class Tokens(NamedTuple):
    """The n tokens of a text.

    `units`: n vectors of length 1. `special`: whether the encoder added a token by itself. `stop`:
    whether it is of a stop word, or of no word.
    """

    units: Any
    special: Any
    stop: Any


class Passages(NamedTuple):
    """The m tokens of p passages, one passage after the other; each has a token of its own.

    `starts`: where each begins.
    """

    units: Any
    special: Any
    starts: Any


# Which of the p passages a statement gets, with their values, the most important first.
Choose = Callable[[Tokens, Passages], list[tuple[int, float]]]


def aligned(
    name: str,
    documents: Sequence[Statements],
    options: EncoderOptions,
    choose: Choose,
    *,
    store: Path = STORE,
) -> Aligned:
    """What `choose` takes of a document's passages for each of its statements.

    A text that is longer than the encoder reads is cut, and a note says how many are. Raises
    BadInput if the extra `models` is not installed, or the model cannot be had.
    """
    asked: list[tuple[str, ...]] = []
    of_document: list[int] = []
    for number, document in enumerate(documents):
        asked += [(statement, *document.passages) for statement in document.statements]
        of_document += [number] * len(document.statements)
    layers = layers_of(options.model, options.layers)
    settings = {"method": METHOD, "layers": layers or "last", "dtype": options.dtype}
    task = Task(name, identify(options), options.device, settings | {"k": options.k}, _PACKAGES)
    encoder = functools.cache(lambda: encoders.load_encoder(options, layers))

    def compute(missing: Sequence[int]) -> Iterator[Mapping[int, Any]]:
        for number, places in groupby(missing, key=of_document.__getitem__):
            passages, said = documents[number].passages, {i: asked[i][0] for i in places}
            texts = list(dict.fromkeys([*passages, *said.values()]))
            read, cut = _tokens(encoder(), texts, options.batch_tokens)
            there = [place for place, text in enumerate(passages) if text in read]
            side = _joined([read[passages[place]] for place in there]) if there else None
            found = {}
            for place, text in said.items():
                best = choose(read[text], side) if side and text in read else []
                found[place] = {
                    "chosen": [(there[at], value) for at, value in best],
                    "cut": [text in cut, len(cut.intersection(passages))],
                }
            yield found

    each = iter(outputs(task, asked, compute, store=store))
    found, statements_cut, passages_cut = [], 0, 0
    for document in documents:
        its = [next(each) for _ in document.statements]
        statements_cut += sum(output["cut"][0] for output in its)
        passages_cut += max((output["cut"][1] for output in its), default=0)
        found.append([[(place, value) for place, value in output["chosen"]] for output in its])
    passages = sum(len(document.passages) for document in documents)
    tally = Tally(
        f"{options.model}: ",
        "{0:,} of {2:,} statements and {1:,} of {3:,} passages are longer than it reads at once;"
        " their ends took no part in the alignment",
        (statements_cut, passages_cut, len(asked), passages),
        tell=2,
    )
    return Aligned(found, tally.notes, tally)


def recipe(name: str, options: EncoderOptions) -> str:
    """Everything that can change more than a last digit, a folder by its content."""
    settings: dict[str, object] = {
        "k": options.k,
        "model": identify(options).name,
        "layers": layers_of(options.model, options.layers) or "last",
        "device": device_kind(options.device),
        "dtype": options.dtype,
    }
    settings |= {package: extra.version(package) for package in _PACKAGES}
    return ",".join([name, *(f"{key}:{value}" for key, value in settings.items())])


def _joined(passages: Sequence[Tokens]) -> Passages:
    sizes = [len(each.special) for each in passages]
    return Passages(
        np.concatenate([each.units for each in passages]),
        np.concatenate([each.special for each in passages]),
        np.cumsum([0, *sizes[:-1]]),
    )


def _tokens(
    encoder: encoders.Encoder, texts: Sequence[str], batch_tokens: int
) -> tuple[dict[str, Tokens], set[str]]:
    """What is read of each text that has tokens, and the texts of which an end was not read."""
    texts = [text for text in texts if text.strip()]
    read = encoders.tokens(encoder, texts)
    added = {encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id}
    rows = encoders.vectors(encoder, [each.numbers for each in read], batch_tokens)
    found = {}
    for text, each, row in zip(texts, read, rows, strict=True):
        units = (row / row.norm(dim=-1, keepdim=True)).cpu().double().numpy()
        special = np.array([number in added for number in each.numbers], bool)
        if not special.all():
            found[text] = Tokens(units, special, special | _stop(encoder, text, len(each.numbers)))
    return found, {text for text, each in zip(texts, read, strict=True) if each.cut}


def _stop(encoder: encoders.Encoder, text: str, count: int) -> Any:
    text = text.strip()
    spans = encoder.tokenizer(text, return_offsets_mapping=True, verbose=False)["offset_mapping"]
    content = np.zeros(len(text), bool)  # the characters of words that are no stop words
    for start, end in words(text):
        content[start:end] = text[start:end].lower() not in STOPWORDS
    return np.array([not content[start:end].any() for start, end in spans[:count]], bool)
