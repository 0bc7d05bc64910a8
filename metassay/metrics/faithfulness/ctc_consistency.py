"""CTC: the probability that words are not hallucinated.

Consistency is of statements, having read their passages. Relevance is of a whole text:
whether it covers the reference and the source supports it.
"""

from collections.abc import Callable, Iterator, Sequence
from math import fsum, isfinite, tanh
from string import punctuation
from typing import Any, Literal, NamedTuple

from metassay.core.errors import BadInput
from metassay.metrics.describe import OVERLAP, Description, Measured, Metric
from metassay.metrics.faithfulness import reading, record
from metassay.models import rows
from metassay.models.loading import Network, NetworkOptions, load
from metassay.models.pair_inputs import longest_input
from metassay.text.tokens import STOPWORDS

VERSION = 1  # raised by whoever changes results of this module's kinds

NAME = "ctc_consistency"
METHOD = 1  # part of the store's keys; raise it with every change of the result
# tokens of an input, half of them for the text with the first special token
LONGEST = 512
_STRAIGHT = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


class CtcReading(rows.Limits):
    """How to read a classifier of tokens with class 0 for real words and 1 for fake words.

    `pieces`: a word's vector is the `mean` of its tokens' vectors, or the `sum`, as in
    the released code and its models. `stop_words`: whether these count; if not, a
    statement of only stop words has 0. `max_tokens` is at most 512.
    """

    pieces: Literal["mean", "sum"] = "mean"
    stop_words: bool = True


class CtcOptions(reading.CheckpointOptions, CtcReading):
    """Classifiers of tokens, and how to read them."""


def score(
    cases: Sequence[record.Case], options: CtcReading, checkpoint: NetworkOptions
) -> reading.ByName:
    """Return the mean probability of a statement's words not to be fake: 0 to 1, higher is better.

    Words are separated by spaces; texts are read in lower case with straight quotes. A
    text is cut after 255 tokens, its passages where both have 512. Statements of a case
    are joined by a space, and each has the score of its words. Null for a blank
    statement or without passages; failed if a word and the tokens do not align, a
    number is not finite, or the statement is past the cut. Deng et al. 2021, section
    4.1. Raises BadInput as `loading.load`, and unless there are two classes.
    """
    limit = min(options.max_tokens or LONGEST, LONGEST)
    task = rows.task_of(
        NAME, checkpoint, METHOD, pieces=options.pieces, max_tokens=limit
    )

    def load() -> rows.Scores:
        return _load(checkpoint, options.pieces, limit).scores

    def scores(cases: Sequence[record.Case]) -> list[list[record.Scored]]:
        texts = [[normal(text) for text in case.statements] for case in cases]
        contexts = [normal(" ".join(case.passages)) for case in cases]
        pairs = list(zip(map(" ".join, texts), contexts, strict=True))
        results = rows.compute_outputs(task, pairs, load, options.batch_tokens)
        stop_words = options.stop_words
        both = zip(texts, results, strict=True)
        return [
            list(_statements(text, *read, stop_words=stop_words)) for text, read in both
        ]

    return {NAME: reading.score_texts(cases, scores, record.Scored(None))}


def normal(text: str) -> str:
    """Return a text in lower case, with straight quotes and single spaces."""
    return " ".join(text.translate(_STRAIGHT).lower().split())


def _statements(
    texts: Sequence[str],
    labels: Sequence[float | None],
    unread: float,
    *,
    stop_words: bool,
) -> Iterator[record.Scored]:
    """Score statements by the labels of their words, which may end early."""
    for text in texts:
        words = text.split(" ")
        of_text, labels = labels[: len(words)], labels[len(words) :]
        cut = len(of_text) < len(words)
        if not of_text or None in of_text:
            yield record.Scored(None, True, unread, cut)
            continue
        pairs = zip(words, of_text, strict=False)
        shares = [
            n or 0.0
            for w, n in pairs
            if stop_words or w.strip(punctuation) not in STOPWORDS
        ]
        mean = fsum(shares) / len(shares) if shares else 0.0
        yield record.Scored(mean, False, unread, cut)


def _load(options: NetworkOptions, of_pieces: str, limit: int) -> rows.Runner:
    """Return the runner: labels of the words that were read, and the unread share of the context.

    A word's label is the probability of class 0; null if it and the tokens do not
    align, or it is not finite. The last layer is linear, so a mean of logits is that of
    the mean vector.
    """
    network = load("AutoModelForTokenClassification", options)
    weights = network.weights
    names = [str(weights.config.id2label[n]) for n in range(weights.config.num_labels)]
    if len(names) != 2 or names[0].lower() in ("fake", "hallucinated", "bad"):
        raise BadInput(
            f"model {options.model!r} has {', '.join(names)} as classes of tokens; choose a model"
            " with two: class 0 for words that are not fake, and class 1 for fake words"
        )
    join = joining(network, options.model, limit)
    bias = (
        weights.classifier.bias.detach().double().cpu().numpy()
        if of_pieces == "sum"
        else 0.0
    )

    def read(text: str, context: str) -> rows.Row:
        joined, spans, at, complete, unread = join(text, context)
        words = _words(text, spans, complete=complete)
        places = [word and [at[n] for n in word] for word in words]
        return rows.Row(rows.features_of(network, joined), (places, unread))

    def give(tensors: dict[str, Any], batch: Sequence[rows.Row]) -> Iterator[Any]:
        outputs = weights(**tensors).logits.double().cpu().numpy()
        for row, logits in zip(batch, outputs, strict=True):
            words, unread = row.context
            yield [word and label(logits[word]) for word in words], unread

    def label(logits: Any) -> float | None:
        vector = logits.mean(0)
        if of_pieces == "sum":  # of vectors: the bias is added once
            vector = logits.sum(0) - (len(logits) - 1) * bias
        share = (1 + tanh((vector[0] - vector[1]) / 2)) / 2  # softmax of two
        return round(share, rows.PLACES) if isfinite(share) else None

    return rows.Runner(
        read, give, rows.padding_of(network, options.model), options.device
    )


class Joined(NamedTuple):
    """A text and its context as an input; `spans`: of the text's tokens, `at`: their places.

    `complete`: the text was not cut. `unread`: the share of the context that was.
    """

    encoding: Any
    spans: Sequence[tuple[int, int]]
    at: list[int]
    complete: bool
    unread: float


def joining(network: Network, model: str, limit: int) -> Callable[[str, str], Joined]:
    """Return a function that joins a text and its context, cut as `score` says."""
    encoder = rows.encoder_of(network, model)
    limit = longest_input(network.tokenizer, network.weights, limit) or limit
    room = limit - encoder.num_special_tokens_to_add(True)

    def join(text: str, context: str) -> Joined:
        first, second = (
            encoder.encode(t, add_special_tokens=False) for t in (text, context)
        )
        n_first, n_second = len(first), len(second)
        first.truncate(limit // 2 - 1)
        second.truncate(room - len(first))
        spans, unread = first.offsets, rows.unread(n_second, len(second))
        complete, joined = len(first) == n_first, encoder.post_process(first, second)
        at = [n for n, mark in enumerate(joined.special_tokens_mask) if not mark]
        return Joined(joined, spans, at, complete, unread)

    return join


def _words(
    text: str, spans: Sequence[tuple[int, int]], *, complete: bool
) -> Iterator[list[int] | None]:
    """Return the places of each word's tokens; None if a token is of two words, or there is none.

    If the text is not `complete`, words end before the first that lacks tokens.
    """
    tokens = [(end - len(text[start:end].lstrip()), end) for start, end in spans]
    read = len(text) if complete else max((end for _, end in spans), default=0)
    start = 0
    for word in text.split(" "):
        end = start + len(word)
        if end > read:
            break
        places = [
            n for n, (begin, stop) in enumerate(tokens) if begin < end and stop > start
        ]
        within = all(start <= tokens[n][0] and tokens[n][1] <= end for n in places)
        yield places if places and within else None
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


class CtcRelevanceOptions(NetworkOptions, CtcReading):
    """A classifier of tokens, as `ctc_consistency` reads it."""


def measure(
    candidates: Sequence[str],
    evidence: Sequence[tuple[str, str]],
    options: CtcRelevanceOptions,
) -> dict[str, list[Measured]]:
    """Return the relevance of each candidate, given source and reference at the same index.

    The consistency of the text with the source times that of the reference with the
    text, each the mean probability of words not to be fake: 0 to 1, higher is better.
    With consistencies .8 and .5 it is .4. Null if any of the three texts is empty, or a
    consistency is unknown. `cut`: an end of a text was not read. There are no
    statistics: a corpus value is a mean. Deng et al. 2021, section 4.1. Raises BadInput
    as `score`.
    """
    both = list(zip(candidates, evidence, strict=True))
    cases = [record.Case((source,), (text,)) for text, (source, _) in both]
    cases += [record.Case((text,), (right,)) for text, (_, right) in both]
    flat = [scored for (scored,) in score(cases, options, options)[NAME]]
    pairs = zip(flat[: len(candidates)], flat[len(candidates) :], strict=True)
    return {"ctc_relevance": [_product(*pair) for pair in pairs]}


def _product(supported: record.Scored, repeated: record.Scored) -> Measured:
    cut = any(side.cut or side.unread > 0 for side in (supported, repeated))
    if supported.value is None or repeated.value is None:
        return Measured(None, None, cut)
    return Measured(supported.value * repeated.value, None, cut)


RELEVANCE = Metric(
    options=CtcRelevanceOptions,
    measure=measure,
    recipe=lambda options: rows.recipe_of(
        options, options, "pieces", "stop_words", "max_tokens"
    ),
    against="source and reference",
    descriptions=(
        Description(
            "ctc_relevance",
            "consistency of the text with the source, times that of the reference with the text:"
            " each the mean probability of words not to be fake",
            better="higher",
            range=(0, 1),
            missing="null if text, source or reference is empty, or a consistency is not known",
            source="Deng et al. 2021, section 4.1; tanyuqian/ctc-gen-eval",
            family=OVERLAP,
            headline=True,
        ),
    ),
    costly=True,
)
