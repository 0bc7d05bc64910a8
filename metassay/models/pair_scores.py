"""What a model on this machine says of pairs of texts: numbers for a few classes or words.

Three forms of model: one with a classifier on top, one that writes its answer (an
encoder-decoder), and one that goes on from a prompt (causal). The last two are not made to write:
what counts is how they weigh a few words at the place where the answer begins.
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
from metassay.models.digits import kept
from metassay.models.loading import Network, NetworkOptions, load
from metassay.models.outputs import outputs
from metassay.models.pair_inputs import Reader, Wording, longest_input
from metassay.models.rows import Limits, Row, Runner, computed, padding_of, task_of

METHOD = 1  # part of the store's keys; whoever changes what is computed of a pair raises it


class Output(NamedTuple):
    """What came of a pair: a number per class or word, None if one is not finite.

    Of a model that wrote its answer it is one number, the place of the word, or none if it wrote
    another. The others say whether an end of the premise or the hypothesis was not read, and what
    share of the premise's tokens that is.
    """

    numbers: list[float] | None
    premise_cut: bool
    hypothesis_cut: bool
    premise_unread: float = 0.0


class Scorer(NamedTuple):
    """A loaded model, of which `runner` gives an Output for each pair of premise and hypothesis.

    `classes`: what a classifier calls its classes, in order.
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
    goes_on: Sequence[int] | None = None,
    typed: bool = False,
    classes: Sequence[str] = (),
) -> Scorer:
    """`numbers` gives a row per input of a batch; `goes_on`: how inputs end, for a causal model."""

    def read(premise: str, hypothesis: str) -> Row:
        its = reader.read(premise, hypothesis)
        features = {"input_ids": [*its.tokens, *(goes_on or ())]}
        return Row(features | ({"token_type_ids": its.types or []} if typed else {}), its)

    def give(tensors: dict[str, Any], batch: Sequence[Row]) -> Iterator[Output]:
        for row, values in zip(batch, numbers(tensors), strict=True):
            its = row.told
            yield Output(_finite(values), its.premise_cut, its.hypothesis_cut, its.premise_unread)

    # A causal model goes on from the last place of its input, which must not be padding.
    runner = Runner(read, give, pad, options.device, left=goes_on is not None)
    return Scorer(runner, reader, classes)


def load_classifier(
    options: NetworkOptions, wording: Wording, max_tokens: int | None, *, first_token: bool
) -> Scorer:
    """A model with a classifier.

    `first_token`: the classifier is one of tokens, and what it says of the first one counts. The
    numbers are logits. Raises BadInput as `loading.load` does.
    """
    kind = (
        "AutoModelForTokenClassification" if first_token else "AutoModelForSequenceClassification"
    )
    network = load(kind, options)
    weights = network.weights

    def numbers(batch: Mapping[str, Any]) -> list[list[float]]:
        logits = weights(**batch).logits
        return _listed(logits[:, 0] if first_token else logits)

    reader = reader_of(network, wording, max_tokens)
    accepted = inspect.signature(weights.forward).parameters
    typed = reader.read("a", "a").types is not None and "token_type_ids" in accepted
    pad = padding_of(network, options.model)
    if weights.config.pad_token_id is None:
        weights.config.pad_token_id = pad  # some find by it where an input ends
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
    """An encoder-decoder that answers with one of the words; `reads` makes inputs of pairs.

    The numbers are the logits of the words where the decoder begins; see `_begun`. `written`: it
    writes instead, always what it thinks likeliest, and the number is the place of the word.
    """
    network = load("AutoModelForSeq2SeqLM", options)
    tokenizer, weights = network
    pad = padding_of(network, options.model)
    reader = reader_of(network, wording, max_tokens, reads=reads)
    if written:
        most = max(len(_tokens(tokenizer, word)) for word in words) + 1  # and the end mark
        decode_plainly(weights, pad, most)
        places = {word.strip(): place for place, word in enumerate(words)}

        def numbers(batch: Mapping[str, Any]) -> list[list[float]]:
            rows = weights.generate(**batch)
            said = tokenizer.batch_decode(rows, skip_special_tokens=True)
            return [[float(places[w.strip()])] if w.strip() in places else [] for w in said]
    else:
        begun, first = _begun(tokenizer, words)
        start = weights.generation_config.decoder_start_token_id
        start = weights.config.decoder_start_token_id if start is None else start

        def numbers(batch: Mapping[str, Any]) -> list[list[float]]:
            decoded = batch["input_ids"].new_tensor([[start, *begun]] * len(batch["input_ids"]))
            return _listed(weights(**batch, decoder_input_ids=decoded).logits[:, -1, first])

    return _scorer(options, reader, numbers, pad)


def load_causal(
    options: NetworkOptions, wording: Wording, max_tokens: int | None, words: Sequence[str]
) -> Scorer:
    """A causal model; the numbers are the logits of the words where it would go on."""
    network = load("AutoModelForCausalLM", options)
    tokenizer, weights = network
    if wording.chat and tokenizer.chat_template is None:
        raise BadInput(f"model {options.model!r} has no chat template; take out `chat`")
    pad = padding_of(network, options.model, otherwise=tokenizer.eos_token_id)
    begun, first = _begun(tokenizer, words)
    decode_plainly(weights, pad, 1)

    def numbers(batch: Mapping[str, Any]) -> list[list[float]]:
        # One step of `generate` finds places and masks as each architecture wants them.
        made = weights.generate(**batch, output_logits=True, return_dict_in_generate=True)
        return _listed(made.logits[0][:, first])

    reader = reader_of(network, wording, max_tokens, len(begun))
    return _scorer(options, reader, numbers, pad, goes_on=begun)


def classifier(
    name: str, options: NetworkOptions, limits: Limits
) -> tuple[list[str], Callable[[Sequence[tuple[str, str]]], list[Output]]]:
    """What a classifier (or regressor) of pairs calls its classes, and what gives its outputs.

    A pair is read as the tokenizer joins two texts, of which the longer one loses its end where an
    input is too long.
    """
    most = limits.max_tokens
    task = task_of(name, options, METHOD, max_tokens=most)
    load = functools.cache(lambda: load_classifier(options, Wording(None), most, first_token=False))

    def compute(pairs: Sequence[tuple[str, str]]) -> list[Output]:
        every = computed(task, pairs, lambda: load().runner.scores, limits.batch_tokens)
        return [Output(*each) for each in every]

    named = replace(task, name=f"{name}: classes")
    return outputs(named, [()], lambda _: iter([{0: load().classes}]))[0], compute


def reader_of(
    network: Network,
    wording: Wording,
    max_tokens: int | None,
    begun: int = 0,
    reads: type[Reader] = Reader,
) -> Reader:
    """What reads for a model; `begun`: so many tokens stand at the end of every input."""
    limit = longest_input(network.tokenizer, network.weights, max_tokens)
    network.tokenizer.model_max_length = 10**30  # it would warn of what is cut here anyway
    return reads(network.tokenizer, wording, None if limit is None else limit - begun)


def decode_plainly(weights: Any, pad: int, most: int) -> None:
    """Always the likeliest token, whatever the model's own settings say; at most so many."""
    own = weights.generation_config
    weights.generation_config = extra.module("transformers").GenerationConfig(
        do_sample=False,
        num_beams=1,
        max_new_tokens=most,
        pad_token_id=pad,
        bos_token_id=own.bos_token_id,
        eos_token_id=own.eos_token_id,
        decoder_start_token_id=own.decoder_start_token_id,
    )


def _begun(tokenizer: Any, words: Sequence[str]) -> tuple[list[int], list[int]]:
    """The tokens that all words begin with, and the next token of each, which tells them apart.

    T5, say, writes "0" as two tokens, of which the first is enough to know it from "1". Raises
    BadInput if two words are not told apart there.
    """
    tokens = [_tokens(tokenizer, word) for word in words]
    shared = 0
    while all(len(row) > shared for row in tokens) and len({row[shared] for row in tokens}) == 1:
        shared += 1
    first = [row[shared] if len(row) > shared else -1 for row in tokens]
    alike = [word for word, token in zip(words, first, strict=True) if first.count(token) > 1]
    short = [word for word, token in zip(words, first, strict=True) if token == -1]
    if alike or short:
        told = ", ".join(map(repr, dict.fromkeys([*alike, *short])))
        raise BadInput(f"words {told} begin alike for the tokenizer; give others, or leave one out")
    return tokens[0][:shared], first


def _tokens(tokenizer: Any, word: str) -> list[int]:
    return list(tokenizer(word, add_special_tokens=False)["input_ids"])


def _listed(logits: Any) -> list[list[float]]:
    rows: list[list[float]] = logits.float().tolist()
    return rows


def _finite(numbers: list[float]) -> list[float] | None:
    return numbers if all(map(math.isfinite, numbers)) else None


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
    """The label that a class of this name stands for; None if the name does not say.

    Case and all that is no letter count for nothing: ENTAILMENT, entails and entailed are one, so
    are not_entailment and non-entailed, neutral, and contradiction, contradicts and contradicted.
    Models of fact checking say supports, refutes and not enough info.
    """
    letters = _OTHERS.sub("", name.lower())
    return next((label for label, form in _MEANINGS.items() if form.fullmatch(letters)), None)


def labels_of(names: Sequence[str]) -> tuple[str, ...]:
    """The labels of a model's classes, in their order; a single class is the entailed one.

    Raises BadInput if a name says nothing, two say the same, or none or all say `entailed`.
    """
    if len(names) == 1:
        return (ENTAILED,)
    meanings = [meaning(name) for name in names]
    known = [label for label in meanings if label is not None]
    if len(set(known)) < len(names) or ENTAILED not in known or len(names) > len(THREE):
        told = ", ".join(map(repr, names))
        raise BadInput(
            f"classes called {told} do not say what they mean; give `labels`, one for each in their"
            " order, such as [not_entailment, entailment]"
        )
    return tuple(known)


def shares(numbers: Sequence[float], labels: Sequence[str], digits: int) -> dict[str, float]:
    """Probability of each label: softmax over the numbers; of a single one the logistic function.

    `labels` has a label per number; numbers of one label (spellings of a word) are added up.
    `digits` are kept, as `digits.kept` keeps them.
    """
    if len(numbers) != len(labels):
        raise BadInput(f"the model has {len(numbers)} classes, `labels` has {len(labels)}")
    both = np.array([*numbers, 0.0] if len(numbers) == 1 else numbers)
    weights = np.exp(both - both.max())
    parts = weights / weights.sum()
    summed = dict.fromkeys(labels, 0.0)
    for label, part in zip(labels, parts.tolist(), strict=False):
        summed[label] += part
    return {label: kept(share, digits) for label, share in summed.items()}
