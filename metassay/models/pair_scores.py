"""Scores of pairs of texts by a model on this machine: numbers for a few classes or words.

There are three forms of model: with a classifier, encoder-decoder, and causal. The last
two do not generate text: their scores are the logits of a few words at the start of the
answer.
"""

import functools
import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from metassay.core.errors import BadInput
from metassay.models import extra
from metassay.models.digits import keep_digits
from metassay.models.loading import Network, NetworkOptions, load
from metassay.models.outputs import outputs
from metassay.models.pair_inputs import Reader, Wording, longest_input
from metassay.models.rows import (
    Limits,
    Row,
    Runner,
    compute_outputs,
    padding_of,
    task_of,
)

METHOD = 1  # part of the store's keys; raise it when the computation of a pair changes


class Output(NamedTuple):
    """The output for a pair: a number per class or word, None if one is not finite.

    For a model that generates its answer it is a single number, the place of the word,
    or none for another word. The other fields: whether an end of the premise or the
    hypothesis was not read, and the share of the premise's tokens that was not.
    """

    numbers: list[float] | None
    premise_cut: bool
    hypothesis_cut: bool
    premise_unread: float = 0.0


class Scorer(NamedTuple):
    """A loaded model; `runner` gives an Output for each pair of premise and hypothesis.

    `classes`: a classifier's names of its classes, in order.
    """

    runner: Runner
    reader: Reader
    classes: Sequence[str] = ()


def _scorer(
    options: NetworkOptions,
    reader: Reader,
    numbers: Callable[[Mapping[str, Any]], list[list[float]]],
    pad: int,
    *,
    suffix: Sequence[int] | None = None,
    typed: bool = False,
    classes: Sequence[str] = (),
) -> Scorer:
    """`numbers` returns a row per input of a batch; `suffix`: a causal model's end of inputs."""

    def read(premise: str, hypothesis: str) -> Row:
        encoded = reader.read(premise, hypothesis)
        features = {"input_ids": [*encoded.tokens, *(suffix or ())]}
        return Row(
            features | ({"token_type_ids": encoded.types or []} if typed else {}),
            encoded,
        )

    def give(tensors: dict[str, Any], batch: Sequence[Row]) -> Iterator[Output]:
        for row, values in zip(batch, numbers(tensors), strict=True):
            encoded = row.context
            finite = values if all(map(math.isfinite, values)) else None
            yield Output(
                finite,
                encoded.premise_cut,
                encoded.hypothesis_cut,
                encoded.premise_unread,
            )

    # A causal model continues its input, whose last place must not be padding.
    runner = Runner(read, give, pad, options.device, left=suffix is not None)
    return Scorer(runner, reader, classes)


def load_classifier(
    options: NetworkOptions,
    wording: Wording,
    max_tokens: int | None,
    *,
    first_token: bool,
) -> Scorer:
    """Load a model with a classifier.

    `first_token`: it classifies tokens, and the first token's class counts. The numbers
    are logits. Raises BadInput as `loading.load` does.
    """
    network = load(
        f"AutoModelFor{'Token' if first_token else 'Sequence'}Classification", options
    )
    weights = network.weights

    def numbers(batch: Mapping[str, Any]) -> list[list[float]]:
        logits = weights(**batch).logits
        return _listed(logits[:, 0] if first_token else logits)

    reader = reader_of(network, wording, max_tokens)
    accepted = inspect.signature(weights.forward).parameters
    typed = reader.read("a", "a").types is not None and "token_type_ids" in accepted
    pad = padding_of(network, options.model)
    if weights.config.pad_token_id is None:
        weights.config.pad_token_id = pad  # some use it to find the end of an input
    names = [str(weights.config.id2label[n]) for n in range(weights.config.num_labels)]
    return _scorer(options, reader, numbers, pad, typed=typed, classes=names)


def load_encoder_decoder(
    options: NetworkOptions,
    wording: Wording,
    max_tokens: int | None,
    words: Sequence[str],
    *,
    written: bool,
    reads: type[Reader] = Reader,
) -> Scorer:
    """Load an encoder-decoder that answers with one of the words; `reads` makes inputs of pairs.

    The numbers are the logits of the words at the start of the decoder; see
    `_shared_prefix`. `written`: it generates the most likely answer, and the number is
    the place of the word.
    """
    network = load("AutoModelForSeq2SeqLM", options)
    tokenizer, weights = network
    pad = padding_of(network, options.model)
    reader = reader_of(network, wording, max_tokens, reads=reads)
    if written:
        # and the end mark
        max_new = max(len(_tokens(tokenizer, word)) for word in words) + 1
        decode_plainly(weights, pad, max_new)
        places = {word.strip(): place for place, word in enumerate(words)}

        def numbers(batch: Mapping[str, Any]) -> list[list[float]]:
            rows = weights.generate(**batch)
            answers = tokenizer.batch_decode(rows, skip_special_tokens=True)
            return [
                [float(places[w.strip()])] if w.strip() in places else []
                for w in answers
            ]
    else:
        prefix, first = _shared_prefix(tokenizer, words)
        start = weights.generation_config.decoder_start_token_id
        start = weights.config.decoder_start_token_id if start is None else start

        def numbers(batch: Mapping[str, Any]) -> list[list[float]]:
            decoded = batch["input_ids"].new_tensor(
                [[start, *prefix]] * len(batch["input_ids"])
            )
            return _listed(
                weights(**batch, decoder_input_ids=decoded).logits[:, -1, first]
            )

    return _scorer(options, reader, numbers, pad)


def load_causal(
    options: NetworkOptions,
    wording: Wording,
    max_tokens: int | None,
    words: Sequence[str],
) -> Scorer:
    """Load a causal model; the numbers are the logits of the words that could follow."""
    network = load("AutoModelForCausalLM", options)
    tokenizer, weights = network
    if wording.chat and tokenizer.chat_template is None:
        raise BadInput(f"model {options.model!r} has no chat template; remove `chat`")
    pad = padding_of(network, options.model, otherwise=tokenizer.eos_token_id)
    prefix, first = _shared_prefix(tokenizer, words)
    decode_plainly(weights, pad, 1)

    def numbers(batch: Mapping[str, Any]) -> list[list[float]]:
        # One step of `generate` computes positions and masks for each architecture.
        generated = weights.generate(
            **batch, output_logits=True, return_dict_in_generate=True
        )
        return _listed(generated.logits[0][:, first])

    reader = reader_of(network, wording, max_tokens, len(prefix))
    return _scorer(options, reader, numbers, pad, suffix=prefix)


def classifier(
    name: str, options: NetworkOptions, limits: Limits
) -> tuple[list[str], Callable[[Sequence[tuple[str, str]]], list[Output]]]:
    """Return the class names of a classifier (or regressor) of pairs, and its function.

    The tokenizer joins the two texts; if the input is too long, the longer one is
    truncated.
    """
    size = limits.max_tokens
    task = task_of(name, options, METHOD, max_tokens=size)
    load = functools.cache(
        lambda: load_classifier(options, Wording(None), size, first_token=False)
    )

    def compute(pairs: Sequence[tuple[str, str]]) -> list[Output]:
        rows = compute_outputs(
            task, pairs, lambda: load().runner.scores, limits.batch_tokens
        )
        return [Output(*row) for row in rows]

    classes_task = replace(task, name=f"{name}: classes")
    return outputs(classes_task, [()], lambda _: iter([{0: load().classes}]))[
        0
    ], compute


def reader_of(
    network: Network,
    wording: Wording,
    max_tokens: int | None,
    suffix_length: int = 0,
    reads: type[Reader] = Reader,
) -> Reader:
    """Return the reader of a model; `suffix_length`: tokens at the end of every input."""
    limit = longest_input(network.tokenizer, network.weights, max_tokens)
    # else it warns of inputs that are truncated here
    network.tokenizer.model_max_length = 10**30
    return reads(
        network.tokenizer, wording, None if limit is None else limit - suffix_length
    )


def decode_plainly(weights: Any, pad: int, max_tokens: int) -> None:
    """Decode greedily, overriding the model's settings; at most `max_tokens` tokens."""
    config = weights.generation_config
    weights.generation_config = extra.module("transformers").GenerationConfig(
        do_sample=False,
        num_beams=1,
        max_new_tokens=max_tokens,
        pad_token_id=pad,
        bos_token_id=config.bos_token_id,
        eos_token_id=config.eos_token_id,
        decoder_start_token_id=config.decoder_start_token_id,
    )


def _shared_prefix(tokenizer: Any, words: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return the tokens that all words start with, and the next token of each, which differ.

    T5, for example, has two tokens for "0", the first of which differs from that of
    "1". Raises BadInput if two words have the same next token.
    """
    tokens = [_tokens(tokenizer, word) for word in words]
    shared = 0
    while (
        all(len(row) > shared for row in tokens)
        and len({row[shared] for row in tokens}) == 1
    ):
        shared += 1
    first = [row[shared] if len(row) > shared else -1 for row in tokens]
    pairs = zip(words, first, strict=True)
    wrong = [
        repr(word) for word, token in pairs if token == -1 or first.count(token) > 1
    ]
    if wrong:
        names = ", ".join(dict.fromkeys(wrong))
        raise BadInput(
            f"words {names} start alike for the tokenizer; choose others or remove one"
        )
    return tokens[0][:shared], first


def _tokens(tokenizer: Any, word: str) -> list[int]:
    return list(tokenizer(word, add_special_tokens=False)["input_ids"])


def _listed(logits: Any) -> list[list[float]]:
    rows: list[list[float]] = logits.float().tolist()
    return rows


ENTAILED, NOT_ENTAILED = "entailed", "not_entailed"
NEUTRAL, CONTRADICTED = "neutral", "contradicted"
THREE = (ENTAILED, NEUTRAL, CONTRADICTED)

Shares = Mapping[str, float]  # probability by label

_OTHERS = re.compile(r"[^a-z]")
_MEANINGS = {
    ENTAILED: re.compile(r"entail(s|ed|ment)?|support(s|ed)?"),
    NOT_ENTAILED: re.compile(r"(not?|non)entail(s|ed|ment)?"),
    NEUTRAL: re.compile(r"neutral|notenoughinfo(rmation)?"),
    CONTRADICTED: re.compile(r"contradict(s|ed|ion|ory)?|refute(s|d)?"),
}


def meaning(name: str) -> str | None:
    """Return the label of a class by its name; None if the name is unknown.

    Ignores case and all but letters: ENTAILMENT, entails and entailed are equal, and so
    are not_entailment and non-entailed; neutral; contradiction, contradicts and
    contradicted. Models of fact checking use supports, refutes and not enough info.
    """
    letters = _OTHERS.sub("", name.lower())
    return next(
        (label for label, form in _MEANINGS.items() if form.fullmatch(letters)), None
    )


def labels_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return the labels of a model's classes, in order; a single class is `entailed`.

    Raises BadInput if a name is unknown, two mean the same, or none or all mean
    `entailed`.
    """
    if len(names) == 1:
        return (ENTAILED,)
    meanings = [meaning(name) for name in names]
    labels = [label for label in meanings if label is not None]
    if (
        len(set(labels)) < len(names)
        or ENTAILED not in labels
        or len(names) > len(THREE)
    ):
        quoted = ", ".join(map(repr, names))
        raise BadInput(
            f"the names of the classes, {quoted}, do not say what they mean; give `labels`, one"
            " for each class in this order, such as [not_entailment, entailment]"
        )
    return tuple(labels)


def shares(
    numbers: Sequence[float], labels: Sequence[str], digits: int
) -> dict[str, float]:
    """Return the probability of each label: softmax of the numbers, logistic of a single one.

    `labels` has a label per number; probabilities of the same label (spellings of a
    word) are added. Rounded to `digits` by `digits.keep_digits`.
    """
    if len(numbers) != len(labels):
        raise BadInput(
            f"the model has {len(numbers)} classes, `labels` has {len(labels)}"
        )
    logits = np.array([*numbers, 0.0] if len(numbers) == 1 else numbers)
    weights = np.exp(logits - logits.max())
    parts = weights / weights.sum()
    totals = dict.fromkeys(labels, 0.0)
    for label, part in zip(labels, parts.tolist(), strict=False):
        totals[label] += part
    return {label: keep_digits(share, digits) for label, share in totals.items()}
