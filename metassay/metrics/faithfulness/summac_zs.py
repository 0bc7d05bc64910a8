"""SummaC-ZS, and the matrix that SummaC's metrics share: a statement's sentences x passages."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import fsum
from typing import NamedTuple

from metassay.core.errors import BadInput
from metassay.metrics.faithfulness import reading
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric, Scored
from metassay.models.digits import PROBABILITY
from metassay.models.loading import NetworkOptions
from metassay.models.pair_scores import (
    CONTRADICTED,
    ENTAILED,
    Output,
    classifier,
    labels_of,
    shares,
)
from metassay.text.sentences import sentences

NAME = "summac_zs"
SHORTEST = 10  # characters: what has no more is no sentence here
PASSAGES = 100  # the most that are read, as in the released code
NULL = f"{reading.MISSING}, and where either has no sentence of more than {SHORTEST} characters"
SOURCE = "Laban et al. 2022, section 3; tingofurro/summac"

Shares = Sequence[Sequence[float]]  # sentences x passages


class SummacOptions(reading.ReadingOptions):
    """Classifiers of pairs, which know an entailed hypothesis from others.

    `labels`: what their classes are called, in their order, where their own names don't tell.
    """

    labels: list[str] | None = None


class ZsOptions(SummacOptions):
    """`use_con`: whether the highest contradiction is taken off."""

    use_con: bool = True


class Matrix(NamedTuple):
    """Probabilities of a statement's m sentences, each by n passages.

    `contradiction` is null if the model has no such class; both are null if a number is not finite,
    and empty if nothing is left to read. `unread`: the share of the passages' words that were not
    read; those of a passage that is cut count in part. `cut`: an end of a sentence was not read, or
    a sentence was one too many.
    """

    entailment: list[list[float]] | None
    contradiction: list[list[float]] | None
    unread: float
    cut: bool


def score(cases: Sequence[Case], options: ZsOptions, checkpoint: NetworkOptions) -> reading.ByName:
    """SummaC-ZS of each statement: -1 to 1 (0 to 1 without `use_con`), higher is more faithful.

    Per sentence the highest probability of entailment less the highest of contradiction, over its
    passages; the mean over sentences. What has at most 10 characters is no sentence, and passages
    after the 100th are not read. Null where nothing is left, failed if a number is not finite.
    Laban et al. 2022, section 3.2. Raises BadInput as `matrices`, or without a contradiction.
    """

    def of_matrix(entailed: Shares, contradicted: Shares | None) -> float:
        if options.use_con and contradicted is None:
            raise BadInput(f"model {checkpoint.model!r} knows no contradiction; set use_con: false")
        return value(entailed, contradicted if options.use_con else None)

    return {NAME: by_matrix(cases, options, checkpoint, of_matrix)}


def by_matrix(
    cases: Sequence[Case],
    options: SummacOptions,
    checkpoint: NetworkOptions,
    value: Callable[[Shares, Shares | None], float],
    *,
    most: int | None = None,
) -> list[list[Scored]]:
    """What `value` makes of each statement's entailment and contradiction (see `matrices`)."""

    def scored(matrix: Matrix) -> Scored:
        entailed, contradicted, unread, cut = matrix
        if not any(entailed or ()):
            return Scored(None, entailed is None, unread, cut)
        return Scored(value(entailed or (), contradicted), False, unread, cut)

    def scores(items: Sequence[reading.Pair]) -> list[Scored]:
        return list(map(scored, matrices(items, options, checkpoint, most=most)))

    return reading.by_statement(cases, scores, Scored(None))


def value(entailment: Shares, contradiction: Shares | None) -> float:
    """The value of sentences x passages; without contradiction, of entailment alone."""
    best = [max(its) for its in entailment]
    return fsum([*best, *(-max(its) for its in contradiction or ())]) / len(best)


def matrices(
    items: Sequence[reading.Pair],
    options: SummacOptions,
    checkpoint: NetworkOptions,
    *,
    most: int | None,
) -> list[Matrix]:
    """The matrix of each statement, of at most so many sentences, and its first 100 passages.

    Raises BadInput as `loading.load`, and where the classes' names do not say what they mean.
    """
    read = [(_long(passages), _long(_sentences(texts))) for passages, texts in items]
    pairs = [(p, s) for passages, texts in read for s in texts[:most] for p in passages[:PASSAGES]]
    if not pairs:
        return [Matrix([], [], 0.0, cut=False) for _ in items]
    names, compute = classifier("summac", checkpoint, options)
    labels, digits = labels_of(options.labels or names), PROBABILITY[checkpoint.dtype].kept
    every = iter(compute(pairs))
    return [_matrix(*texts, every, labels, digits, most) for texts in read]


def _long(texts: Sequence[str]) -> list[str]:
    return [text for text in texts if len(text) > SHORTEST]


def _sentences(text: str) -> list[str]:
    return [text[slice(*span)] for span in sentences(text)]


def _matrix(
    passages: Sequence[str],
    texts: Sequence[str],
    every: Iterator[Output],
    labels: Sequence[str],
    digits: int,
    most: int | None,
) -> Matrix:
    if not (passages and texts):
        return Matrix([], [], 0.0, cut=False)
    outputs = [list(islice(every, len(passages[:PASSAGES]))) for _ in texts[:most]]
    sizes = [len(passage.split()) for passage in passages]
    parts = [max(output.premise_unread for output in its) for its in zip(*outputs, strict=True)]
    parts += [1.0] * (len(passages) - len(parts))
    lost = sum(size * part for size, part in zip(sizes, parts, strict=True)) / (sum(sizes) or 1)
    cut = any(output.hypothesis_cut for its in outputs for output in its)
    cut = cut or len(outputs) < len(texts)
    if any(output.numbers is None for its in outputs for output in its):
        return Matrix(None, None, lost, cut)
    known = [[shares(output.numbers or (), labels, digits) for output in its] for its in outputs]
    entailed, contradicted = (
        [[share[label] for share in its] for its in known] if label in labels else None
        for label in (ENTAILED, CONTRADICTED)
    )
    return Matrix(entailed, contradicted, lost, cut)


KIND = FaithfulnessMetric(
    options=ZsOptions,
    score=score,
    recipe=reading.states("use_con", "labels", "max_tokens"),
    descriptions=(
        reading.described(
            NAME,
            "mean, over the statement's sentences, of the highest probability with which a passage"
            " entails the sentence, less the highest with which one contradicts it",
            range=(-1, 1),
            missing=NULL,
            source=SOURCE,
        ),
    ),
)
