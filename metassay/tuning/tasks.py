"""What each sort of training makes of a row: inputs and labels as its metric reads them, a loss."""

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from metassay.metrics.faithfulness.ctc_consistency import LONGEST, joining, normal
from metassay.models import extra
from metassay.models.likelihood import both_sides
from metassay.models.loading import Network
from metassay.models.pair_inputs import Reader, Wording, longest_input
from metassay.models.rows import features_of
from metassay.tuning.training import Encode, Task

IGNORED = -100  # a label that no loss counts, as torch and transformers have it
CLASSES = {0: "not_fake", 1: "fake"}


class Written(NamedTuple):
    """A statement to be written after its passages."""

    context: str
    text: str


class Marked(NamedTuple):
    """The words of a statement, each fake (1) or not (0), to be told beside its passages."""

    context: str
    words: Sequence[str]
    fake: Sequence[int]


class Valued(NamedTuple):
    """A statement and its passages, or a text and its reference, and the value of the two."""

    context: str
    text: str
    value: float


def _to_write(network: Network) -> Encode:
    read = both_sides(network, network.tokenizer.name_or_path, None)

    def encode(row: Written) -> dict[str, Any]:
        inputs, labels = (list(side.ids) for side, _ in read(*row))
        return {"input_ids": inputs, "labels": labels}

    return encode


def _to_value(network: Network) -> Encode:
    limit = longest_input(network.tokenizer, network.weights, None)
    reader = Reader(network.tokenizer, Wording(None), limit)
    typed = "token_type_ids" in inspect.signature(network.weights.forward).parameters

    def encode(row: Valued) -> dict[str, Any]:
        read = reader.read(row.context, row.text)
        types = {"token_type_ids": read.types} if typed and read.types is not None else {}
        return {"input_ids": read.tokens, **types, "labels": row.value}

    return encode


def _to_mark(network: Network) -> Encode:
    read = joining(network, network.tokenizer.name_or_path, LONGEST)

    def encode(row: Marked) -> dict[str, Any]:
        text = normal(" ".join(row.words))
        joined, spans, first, *_ = read(text, normal(row.context))
        labels = [IGNORED] * len(joined.ids)
        for place, (start, end) in zip(first, spans, strict=False):
            if text[start:end].strip():  # a blank by itself is of no word
                word = text.count(" ", 0, end)
                labels[place] = 2 * word + row.fake[word]
        return {**features_of(network, joined), "labels": labels}

    return encode


def _by_word(logits: Any, labels: Any) -> tuple[Any, Any]:
    """Each word's mean logits over its pieces, words x 2, and whether it is fake.

    `logits`: inputs x tokens x 2; `labels`: inputs x tokens, 2 n + 1 where word n is fake and else
    2 n. The layer is linear, so this is the layer of the mean of the pieces' vectors.
    """
    torch = extra.module("torch")
    rows = torch.arange(len(labels), device=labels.device)[:, None]
    seen = labels != IGNORED
    words, place = torch.unique((labels + 2 * labels.shape[1] * rows)[seen], return_inverse=True)
    sums = logits.new_zeros(len(words), logits.shape[-1]).index_add(0, place, logits[seen])
    return sums / torch.bincount(place)[:, None], words % 2


def _cross_entropy(outputs: Any, labels: Any) -> Any:
    return extra.module("torch").nn.functional.cross_entropy(*_by_word(outputs["logits"], labels))


def _squared(outputs: Any, labels: Any) -> Any:
    values = outputs["logits"].squeeze(-1)
    return (values - labels.to(values.dtype)).square().mean()


def _both_f1(evaluated: Any) -> dict[str, float]:
    """F1 of fake words, of the others, and the sum of both."""
    torch = extra.module("torch")
    means, fake = _by_word(*map(torch.from_numpy, (evaluated.predictions, evaluated.label_ids)))
    guessed, right = means.argmax(1).numpy(), fake.numpy()
    f1 = {name: _f1(guessed == label, right == label) for label, name in CLASSES.items()}
    return {**{f"f1_{name}": value for name, value in f1.items()}, "f1": sum(f1.values())}


def _f1(guessed: Any, right: Any) -> float:
    total = int(guessed.sum() + right.sum())
    return 2 * int(np.logical_and(guessed, right).sum()) / total if total else 0.0


BARTSCORE = Task(
    "bartscore",
    "AutoModelForSeq2SeqLM",
    None,
    _to_write,
    lambda network: extra.module("transformers").DataCollatorForSeq2Seq(*network),
)
CTC = Task(
    "ctc",
    "AutoModelForTokenClassification",
    {"id2label": CLASSES, "label2id": {name: label for label, name in CLASSES.items()}},
    _to_mark,
    lambda network: extra.module("transformers").DataCollatorForTokenClassification(network[0]),
    loss=_cross_entropy,
    metrics=_both_f1,
    best="f1",
)
DISTILL = Task(
    "distill",
    "AutoModelForSequenceClassification",
    {"id2label": {0: "value"}, "label2id": {"value": 0}, "problem_type": "regression"},
    _to_value,
    lambda network: extra.module("transformers").DataCollatorWithPadding(network[0]),
    loss=_squared,
)
QUALITY = replace(DISTILL, name="quality")
