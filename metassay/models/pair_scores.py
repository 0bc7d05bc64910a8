"""What a model on this machine says of pairs of texts: numbers for a few classes or words.

Three forms of model: one with a classifier on top, one that writes its answer (an
encoder-decoder), and one that goes on from a prompt (causal). The last two are not made to write:
what counts is how they weigh a few words at the place where the answer begins.

Inputs of about one length share a batch, padded and masked, so the numbers are those that each
input has by itself, but for last digits.
"""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from metassay.core.errors import BadInput
from metassay.models import extra
from metassay.models.batches import by_length, padded
from metassay.models.loading import Network, NetworkOptions, load
from metassay.models.pair_inputs import Input, Reader, Wording, longest_input

METHOD = 1  # part of the store's keys; whoever changes what is computed of a pair raises it
PACKAGES = ("transformers", "tokenizers", "torch")

_BLOCK = 2**20  # characters of the texts whose tokens are in memory at once


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


@dataclass(frozen=True)
class Scorer:
    """A loaded model: `numbers` gives a row per input of a batch of tokens, masks and types."""

    reader: Reader
    numbers: Callable[[Mapping[str, Any]], list[list[float]]]
    pad: int
    device: str
    goes_on: Sequence[int] | None = None  # tokens at the end of each input, for a causal model
    types: bool = False

    def scores(
        self, pairs: Sequence[tuple[str, str]], batch_tokens: int
    ) -> Iterator[dict[int, Output]]:
        """An output for each pair of premise and hypothesis, by its place, batch by batch.

        A batch has at most `batch_tokens` tokens with its padding, or is one input. Raises BadInput
        if the device's memory does not suffice for one.
        """
        for block in _blocks(pairs):
            inputs = [self.reader.read(*pairs[place]) for place in block]
            for batch in by_length([len(each.tokens) for each in inputs], batch_tokens):
                here = [inputs[at] for at in batch]
                yield {
                    block[at]: Output(
                        _finite(row), read.premise_cut, read.hypothesis_cut, read.premise_unread
                    )
                    for at, read, row in zip(batch, here, self._batch(here), strict=True)
                }

    def _batch(self, inputs: Sequence[Input]) -> list[list[float]]:
        torch = extra.module("torch")
        # A causal model goes on from the last place of its input, which must not be padding.
        left = self.goes_on is not None
        rows = [[*each.tokens, *(self.goes_on or ())] for each in inputs]
        filled, masks = padded(rows, self.pad, left=left)
        given = {"input_ids": filled, "attention_mask": masks}
        if self.types:
            given["token_type_ids"] = padded([each.types or [] for each in inputs], 0)[0]
        tensors = {name: torch.tensor(v, device=self.device) for name, v in given.items()}
        try:
            with torch.inference_mode():
                return self.numbers(tensors)
        except torch.OutOfMemoryError:
            raise BadInput(
                f"{self.device} has too little memory for {len(filled)} inputs of {len(filled[0])}"
                " tokens; lower `batch_tokens`, `window` or `max_tokens`"
            ) from None


def load_classifier(
    options: NetworkOptions, wording: Wording, max_tokens: int | None, *, first_token: bool
) -> tuple[Scorer, list[str]]:
    """A model with a classifier, and the names of its classes, in order.

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
    return Scorer(reader, numbers, pad, options.device, types=typed), names


def load_encoder_decoder(
    options: NetworkOptions,
    wording: Wording,
    max_tokens: int | None,
    words: Sequence[str],
    *,
    written: bool,
) -> Scorer:
    """An encoder-decoder that answers with one of the words.

    The numbers are the logits of the words where the decoder begins; see `_begun`. `written`: it
    writes instead, always what it thinks likeliest, and the number is the place of the word.
    """
    network = load("AutoModelForSeq2SeqLM", options)
    tokenizer, weights = network
    pad = padding_of(network, options.model)
    reader = reader_of(network, wording, max_tokens)
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

    return Scorer(reader, numbers, pad, options.device)


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
    return Scorer(reader, numbers, pad, options.device, goes_on=begun)


def reader_of(network: Network, wording: Wording, max_tokens: int | None, begun: int = 0) -> Reader:
    """What reads for a model; `begun`: so many tokens stand at the end of every input."""
    limit = longest_input(network.tokenizer, network.weights, max_tokens)
    network.tokenizer.model_max_length = 10**30  # it would warn of what is cut here anyway
    return Reader(network.tokenizer, wording, None if limit is None else limit - begun)


def padding_of(network: Network, model: str, *, otherwise: int | None = None) -> int:
    """The token that fills up a batch; BadInput if the model has none."""
    own = network.tokenizer.pad_token_id
    pad: int | None = otherwise if own is None else own
    if pad is None:
        raise BadInput(f"model {model!r} has no padding token; take another one")
    return pad


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


def _blocks(pairs: Sequence[tuple[str, str]]) -> Iterator[list[int]]:
    """Places of pairs, shortest first, in blocks of at most _BLOCK characters, or of one pair."""
    sizes = [sum(map(len, pair)) for pair in pairs]
    block: list[int] = []
    held = 0
    for place in sorted(range(len(pairs)), key=sizes.__getitem__):
        if block and held + sizes[place] > _BLOCK:
            yield block
            block, held = [], 0
        block.append(place)
        held += sizes[place]
    if block:
        yield block


def _finite(numbers: list[float]) -> list[float] | None:
    return numbers if all(map(math.isfinite, numbers)) else None
