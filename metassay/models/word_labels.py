"""What a classifier of tokens says of each word of a text beside a context."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from metassay.core.errors import BadInput
from metassay.models import extra, rows
from metassay.models.loading import NetworkOptions, load
from metassay.models.pair_inputs import longest_input
from metassay.models.pair_scores import padding_of
from metassay.models.rows import Row, Runner, computed
from metassay.models.store import STORE

METHOD = 1  # part of the store's keys; whoever changes what is computed of a pair raises it
HALF = 255  # the most tokens of a text that are read: 256 with the mark before them
LONGEST = 512  # the most tokens of an input

Pieces = Literal["mean", "sum"]


class Labelled(NamedTuple):
    """The probabilities of class 0 of the words of a text that were read, in their order.

    A word's is null where it and the tokens do not align, or a number is not finite. `unread`: the
    share of the context's tokens that were not read.
    """

    words: list[float | None]
    unread: float


def word_labels(
    pairs: Sequence[tuple[str, str]],
    options: NetworkOptions,
    *,
    of_pieces: Pieces,
    batch_tokens: int,
    store: Path = STORE,
) -> list[Labelled]:
    """Of each pair of a text, whose words stand between single blanks, and its context.

    The input is the text and its context, as the tokenizer joins two texts. The text is cut after
    HALF tokens, then the context, so that the input has at most LONGEST. A word's vector is the
    mean (or the sum) of those of its tokens, which the classifier's last layer, being linear, reads
    as a mean of logits. Raises BadInput as `loading.load`, and unless there are two classes.
    """
    task = rows.task_of("word labels", options, METHOD, pieces=of_pieces)
    load = lambda: _load(options, of_pieces).scores  # noqa: E731
    return [Labelled(*each) for each in computed(task, pairs, load, batch_tokens, store=store)]


def _load(options: NetworkOptions, of_pieces: Pieces) -> Runner:
    network = load("AutoModelForTokenClassification", options)
    weights = network.weights
    names = [str(weights.config.id2label[n]) for n in range(weights.config.num_labels)]
    if len(names) != 2 or names[0].lower() in ("fake", "hallucinated", "bad"):
        raise BadInput(
            f"model {options.model!r} has {', '.join(names)} as classes of tokens; take one with"
            " two, of which class 0 is a word that is not fake, and class 1 a fake one"
        )
    encoder = rows.encoder_of(network, options.model)
    room = longest_input(network.tokenizer, weights, LONGEST) or LONGEST
    room -= encoder.num_special_tokens_to_add(True)

    def read(text: str, context: str) -> Row:
        its, beside = rows.pieces(encoder, text), rows.pieces(encoder, context)
        long, whole = len(its), len(beside)
        its.truncate(min(HALF, room // 2))
        beside.truncate(room - len(its))
        words = list(_words(text, its.offsets, complete=len(its) == long))
        joined = encoder.post_process(its, beside)
        first = [n for n, mark in enumerate(joined.special_tokens_mask) if not mark]
        told = [None if word is None else [first[n] for n in word] for word in words]
        return Row(rows.features_of(network, joined), (told, rows.unread(whole, len(beside))))

    def give(tensors: dict[str, Any], batch: Sequence[Row]) -> Iterator[Labelled]:
        every = rows.exact(weights(**tensors).logits)
        for row, logits in zip(batch, every, strict=True):
            words, unread_share = row.told
            yield Labelled([word and _share(logits[word]) for word in words], unread_share)

    def _share(logits: Any) -> float | None:
        vector = logits.mean(0)
        if of_pieces == "sum":  # of vectors: the bias is added once
            vector = logits.sum(0) - (len(logits) - 1) * weights.classifier.bias
        found = rows.finite(extra.module("torch").softmax(vector, -1))
        return None if found is None else found[0]

    return Runner(read, give, {"input_ids": padding_of(network, options.model)}, options.device)


def _words(
    text: str, spans: Sequence[tuple[int, int]], *, complete: bool
) -> Iterator[list[int] | None]:
    """The places of each word's tokens; None if one is of two words, or if the word has none.

    Not `complete`: tokens were cut off; it ends before the first word that lacks some.
    """
    said = [text[start:end] for start, end in spans]
    begins = [end - len(its.lstrip()) for its, (_, end) in zip(said, spans, strict=True)]
    tokens = list(enumerate(zip(begins, (end for _, end in spans), strict=True)))
    read = len(text) if complete else max((end for _, end in spans), default=0)
    start = 0
    for word in text.split(" "):
        end = start + len(word)
        if end > read:
            break
        its = {n: span for n, span in tokens if span[0] < end and span[1] > start}
        whole = all(start <= begin and stop <= end for begin, stop in its.values())
        yield list(its) if its and whole else None
        start = end + 1
