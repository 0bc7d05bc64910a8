"""CTC's consistency: how probable it is that a statement's words are no hallucinated ones."""

from collections.abc import Callable, Iterator, Sequence
from math import fsum, isfinite, tanh
from string import punctuation
from typing import Any, Literal, NamedTuple

from metassay.core.errors import BadInput
from metassay.metrics.faithfulness import reading, record
from metassay.models import rows
from metassay.models.loading import Network, NetworkOptions, load
from metassay.models.pair_inputs import longest_input
from metassay.text.tokens import STOPWORDS

NAME = "ctc_consistency"
METHOD = 1  # part of the store's keys; whoever changes what is computed of a text raises it
LONGEST = 512  # tokens of an input, half of them for the text with the mark before it
_STRAIGHT = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


class CtcReading(rows.Limits):
    """How a classifier of tokens is read, whose class 0 is a word that is not fake, and 1 a fake.

    `pieces`: a word's vector is the `mean` of its tokens', or the `sum`, as the released code
    trains and reads its own models. `stop_words`: whether these count; without them a statement of
    stop words alone has 0. `max_tokens` is at most 512.
    """

    pieces: Literal["mean", "sum"] = "mean"
    stop_words: bool = True


class CtcOptions(reading.CheckpointOptions, CtcReading):
    """Classifiers of tokens, and how they are read."""


def score(
    cases: Sequence[record.Case], options: CtcReading, checkpoint: NetworkOptions
) -> reading.ByName:
    """The mean probability, over a statement's words, of not being fake: 0 to 1, higher is better.

    Words stand between blanks; texts are read in lower case with straight quotes. A text is cut
    after 255 tokens, its passages where both have 512. Statements of a case are one text, joined by
    a blank, of which each has its own words. Null for a blank statement and where there is no
    passage; failed if a word and the tokens do not align, if a number is not finite, or if the
    statement is past the cut. Deng et al. 2021, section 4.1. Raises BadInput as `loading.load`, and
    unless there are two classes.
    """
    most = min(options.max_tokens or LONGEST, LONGEST)
    task = rows.task_of(NAME, checkpoint, METHOD, pieces=options.pieces, max_tokens=most)

    def load() -> rows.Scores:
        return _load(checkpoint, options.pieces, most).scores

    def scores(cases: Sequence[record.Case]) -> list[list[record.Scored]]:
        texts = [[normal(text) for text in case.statements] for case in cases]
        contexts = [normal(" ".join(case.passages)) for case in cases]
        pairs = [(" ".join(its), context) for its, context in zip(texts, contexts, strict=True)]
        results = rows.compute_outputs(task, pairs, load, options.batch_tokens)
        every = zip(texts, results, strict=True)
        return [list(_statements(its, *read, stop_words=options.stop_words)) for its, read in every]

    return {NAME: reading.by_text(cases, scores, record.Scored(None))}


def normal(text: str) -> str:
    """A text in lower case, with straight quotes and single blanks."""
    return " ".join(text.translate(_STRAIGHT).lower().split())


def _statements(
    texts: Sequence[str], labels: Sequence[float | None], unread: float, *, stop_words: bool
) -> Iterator[record.Scored]:
    """The scores of statements whose words have these labels, as far as they were read."""
    for text in texts:
        words = text.split(" ")
        its, labels = labels[: len(words)], labels[len(words) :]
        cut = len(its) < len(words)
        if not its or None in its:
            yield record.Scored(None, True, unread, cut)
            continue
        pairs = zip(words, its, strict=False)
        known = [n or 0.0 for w, n in pairs if stop_words or w.strip(punctuation) not in STOPWORDS]
        yield record.Scored(fsum(known) / len(known) if known else 0.0, False, unread, cut)


def _load(options: NetworkOptions, of_pieces: str, most: int) -> rows.Runner:
    """What gives the labels of the words that were read, and what of the context was not.

    A word's label is the probability of class 0; null where it and the tokens do not align, or it
    is not finite. The last layer is linear, so it reads the mean of vectors as a mean of logits.
    """
    network = load("AutoModelForTokenClassification", options)
    weights = network.weights
    names = [str(weights.config.id2label[n]) for n in range(weights.config.num_labels)]
    if len(names) != 2 or names[0].lower() in ("fake", "hallucinated", "bad"):
        raise BadInput(
            f"model {options.model!r} has {', '.join(names)} as classes of tokens; take one with"
            " two, of which class 0 is a word that is not fake, and class 1 a fake one"
        )
    join = joining(network, options.model, most)
    bias = weights.classifier.bias.detach().double().cpu().numpy() if of_pieces == "sum" else 0.0

    def read(text: str, context: str) -> rows.Row:
        joined, spans, at, complete, unread = join(text, context)
        words = _words(text, spans, complete=complete)
        told = [word and [at[n] for n in word] for word in words]
        return rows.Row(rows.features_of(network, joined), (told, unread))

    def give(tensors: dict[str, Any], batch: Sequence[rows.Row]) -> Iterator[Any]:
        every = weights(**tensors).logits.double().cpu().numpy()
        for row, logits in zip(batch, every, strict=True):
            words, lost = row.context
            yield [word and label(logits[word]) for word in words], lost

    def label(logits: Any) -> float | None:
        vector = logits.mean(0)
        if of_pieces == "sum":  # of vectors: the bias is added once
            vector = logits.sum(0) - (len(logits) - 1) * bias
        share = (1 + tanh((vector[0] - vector[1]) / 2)) / 2  # softmax of two
        return round(share, rows.PLACES) if isfinite(share) else None

    return rows.Runner(read, give, rows.padding_of(network, options.model), options.device)


class Joined(NamedTuple):
    """A text and its context as one input; `spans`: of the text's tokens, `at`: where tokens are.

    `complete`: the text was read whole. `unread`: the share of the context that was not.
    """

    encoding: Any
    spans: Sequence[tuple[int, int]]
    at: list[int]
    complete: bool
    unread: float


def joining(network: Network, model: str, most: int) -> Callable[[str, str], Joined]:
    """What joins a text and its context, each cut as `score` says."""
    encoder = rows.encoder_of(network, model)
    limit = longest_input(network.tokenizer, network.weights, most) or most
    room = limit - encoder.num_special_tokens_to_add(True)

    def join(text: str, context: str) -> Joined:
        its, beside = (encoder.encode(t, add_special_tokens=False) for t in (text, context))
        long, whole = len(its), len(beside)
        its.truncate(limit // 2 - 1)
        beside.truncate(room - len(its))
        spans, unread = its.offsets, rows.unread(whole, len(beside))
        complete, joined = len(its) == long, encoder.post_process(its, beside)
        at = [n for n, mark in enumerate(joined.special_tokens_mask) if not mark]
        return Joined(joined, spans, at, complete, unread)

    return join


def _words(
    text: str, spans: Sequence[tuple[int, int]], *, complete: bool
) -> Iterator[list[int] | None]:
    """The places of each word's tokens; None if one is of two words, or if the word has none.

    Not `complete`: tokens were cut off; it ends before the first word that lacks some.
    """
    tokens = [(end - len(text[start:end].lstrip()), end) for start, end in spans]
    read = len(text) if complete else max((end for _, end in spans), default=0)
    start = 0
    for word in text.split(" "):
        end = start + len(word)
        if end > read:
            break
        its = [n for n, (begin, stop) in enumerate(tokens) if begin < end and stop > start]
        whole = all(start <= tokens[n][0] and tokens[n][1] <= end for n in its)
        yield its if its and whole else None
        start = end + 1


KIND = record.FaithfulnessMetric(
    options=CtcOptions,
    score=score,
    recipe=reading.states("pieces", "stop_words", "max_tokens"),
    descriptions=(
        reading.described(
            NAME,
            "mean, over the words of the statement, of the probability that a classifier of tokens"
            " gives the word of not being fake, having read the passages beside it",
            missing=f"{reading.MISSING}; 0 if there are stop words alone, and these do not count",
            source="Deng et al. 2021, section 4.1; tanyuqian/ctc-gen-eval",
        ),
    ),
    by_text=True,
)
