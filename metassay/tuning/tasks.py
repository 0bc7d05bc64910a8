"""What each sort of training makes of a row: inputs, labels, loss, and what it is chosen by."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from metassay.core.errors import BadInput
from metassay.models import extra
from metassay.models.loading import Network, places, told_limit
from metassay.models.pair_inputs import Reader, Wording, longest_input
from metassay.tuning.training import Encode, Task

IGNORED = -100  # a label that no loss counts, as torch and transformers have it
LONGEST_TEXT, LONGEST_INPUT = 256, 512  # tokens, of ctc-gen-eval
VALUE = "value"  # what the one output of a regressor is called
CLASSES = {0: "not_fake", 1: "fake"}


class Written(NamedTuple):
    """A statement to be written after its passages."""

    context: str
    text: str


class Marked(NamedTuple):
    """A statement by words, each fake (1) or not (0), and its passages."""

    context: str
    words: Sequence[str]
    fake: Sequence[int]


class Valued(NamedTuple):
    """A statement, its passages, and the value that a regressor is to give them."""

    context: str
    text: str
    value: float


# ---- bartscore: how likely a statement is after its passages ------------------------------------


def _to_write(network: Network) -> Encode:
    tokenizer = network.tokenizer
    limit = min([*places(network.weights), *told_limit(tokenizer)], default=None)
    cut = {"truncation": limit is not None, "max_length": limit}

    def encode(row: Written) -> dict[str, Any]:
        inputs = tokenizer(row.context, return_token_type_ids=False, **cut)
        return {**inputs, "labels": tokenizer(text_target=row.text, **cut)["input_ids"]}

    return encode


BARTSCORE = Task(
    "bartscore",
    "AutoModelForSeq2SeqLM",
    None,
    _to_write,
    lambda network: extra.module("transformers").DataCollatorForSeq2Seq(*network),
)


# ---- distill: a regression ----------------------------------------------------------------------


def _to_value(network: Network) -> Encode:
    limit = longest_input(network.tokenizer, network.weights, None)
    reader = Reader(network.tokenizer, Wording(None), limit)

    def encode(row: Valued) -> dict[str, Any]:
        read = reader.read(row.context, row.text)
        types = {} if read.types is None else {"token_type_ids": read.types}
        return {"input_ids": read.tokens, **types, "labels": row.value}

    return encode


def _squared(outputs: Any, labels: Any) -> Any:
    logits = outputs["logits"].squeeze(-1)
    return (logits - labels.to(logits.dtype)).square().mean()


DISTILL = Task(
    "distill",
    "AutoModelForSequenceClassification",
    {"id2label": {0: VALUE}, "label2id": {VALUE: 0}, "problem_type": "regression"},
    _to_value,
    lambda network: extra.module("transformers").DataCollatorWithPadding(network.tokenizer),
    loss=_squared,
)


# ---- ctc: which words are fake ------------------------------------------------------------------


def plain(text: str) -> str:
    """Straight quotes, lower case and single blanks, as the models of CTC read texts."""
    for curly, straight in ("\u2018'", "\u2019'", '\u201c"', '\u201d"'):
        text = text.replace(curly, straight)
    return " ".join(text.lower().split())


def _to_mark(network: Network) -> Encode:
    tokenizer = network.tokenizer
    limits = [LONGEST_INPUT, *places(network.weights), *told_limit(tokenizer)]
    if not tokenizer.is_fast:
        raise BadInput(
            "the tokenizer cannot say where its tokens are; take a model with a fast one"
        )

    def encode(row: Marked) -> dict[str, Any]:
        text = plain(" ".join(row.words))
        alone = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        text = text[: max(end for _, end in alone["offset_mapping"][:LONGEST_TEXT])]
        read = tokenizer(
            *(text, plain(row.context)),
            **{"truncation": "only_second", "max_length": min(limits)},
            return_offsets_mapping=True,
        )
        spans = zip(read.sequence_ids(), read.pop("offset_mapping"), strict=True)
        words = [text.count(" ", 0, end) if of == 0 else None for of, (_, end) in spans]
        labels = [IGNORED if word is None else 2 * word + row.fake[word] for word in words]
        return {**read, "labels": labels}

    return encode


def _by_word(logits: Any, labels: Any) -> tuple[Any, Any]:
    """Each word's mean logits over its pieces, words x 2, and whether it is fake.

    `logits`: inputs x tokens x 2; `labels`: inputs x tokens, 2 n + 1 where word n is fake and else
    2 n. The layer is linear, so this is the layer of the mean of the pieces' vectors.
    """
    torch = extra.module("torch")
    rows = torch.arange(len(labels), device=labels.device)[:, None]
    pieces = labels != IGNORED
    words, place = torch.unique((labels + 2 * labels.shape[1] * rows)[pieces], return_inverse=True)
    sums = logits.new_zeros(len(words), logits.shape[-1]).index_add(0, place, logits[pieces])
    return sums / torch.bincount(place)[:, None], words % 2


def _cross_entropy(outputs: Any, labels: Any) -> Any:
    return extra.module("torch").nn.functional.cross_entropy(*_by_word(outputs["logits"], labels))


def _both_f1(evaluated: Any) -> dict[str, float]:
    """F1 of fake words, of the others, and the sum of both, which a checkpoint is chosen by."""
    torch = extra.module("torch")
    means, fake = _by_word(*map(torch.from_numpy, (evaluated.predictions, evaluated.label_ids)))
    guessed, fake = means.argmax(1).numpy(), fake.numpy()
    f1 = {name: _f1(guessed == label, fake == label) for label, name in CLASSES.items()}
    return {**{f"f1_{name}": value for name, value in f1.items()}, "f1": sum(f1.values())}


def _f1(guessed: Any, right: Any) -> float:
    total = int(guessed.sum() + right.sum())
    return 2 * int(np.logical_and(guessed, right).sum()) / total if total else 0.0


CTC = Task(
    "ctc",
    "AutoModelForTokenClassification",
    {"id2label": CLASSES, "label2id": {n: i for i, n in CLASSES.items()}},
    _to_mark,
    lambda network: extra.module("transformers").DataCollatorForTokenClassification(
        network.tokenizer
    ),
    loss=_cross_entropy,
    metrics=_both_f1,
    best="f1",
)
