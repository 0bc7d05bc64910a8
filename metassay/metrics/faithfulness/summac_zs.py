"""SummaC-ZS, and the matrix that SummaC's metrics share: a statement's sentences x passages."""

from collections.abc import Callable, Sequence
from itertools import islice
from math import fsum

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


def score(cases: Sequence[Case], options: ZsOptions, checkpoint: NetworkOptions) -> reading.ByName:
    """SummaC-ZS of each statement: -1 to 1 (0 to 1 without `use_con`), higher is more faithful.

    Per sentence the highest probability of entailment less the highest of contradiction, over its
    passages; the mean over sentences. What has at most 10 characters is no sentence, and passages
    after the 100th are not read. Null where nothing is left, failed if a number is not finite.
    Laban et al. 2022, section 3.2. Raises BadInput as `by_matrix`, or without a contradiction.
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
    """What `value` makes of the probabilities of a statement's sentences, each by its passages.

    These are of entailment and of contradiction, the latter null if the model has no such class. At
    most so many sentences are read, and the first 100 passages. `unread` counts the passages'
    words, of a passage that is cut in part; `cut` also says that a sentence was one too many.
    Raises BadInput as `loading.load`, and where the classes' names do not say what they mean.
    """

    def scores(items: Sequence[reading.Pair]) -> list[Scored]:
        read = [(_long(passages), _long(_sentences(text))) for passages, text in items]
        asked = [(its[:PASSAGES], texts[:most]) for its, texts in read]
        pairs = [(passage, text) for its, texts in asked for text in texts for passage in its]
        if not pairs:
            return [Scored(None) for _ in items]
        names, compute = classifier("summac", checkpoint, options)
        labels, digits = (
            labels_of(options.labels or names),
            PROBABILITY[checkpoint.dtype].significant,
        )
        every = iter(compute(pairs))

        def scored(passages: Sequence[str], texts: Sequence[str]) -> Scored:
            count = min(len(passages), PASSAGES)
            outputs = [list(islice(every, count)) for _ in texts[:most]]
            if not (outputs and count):
                return Scored(None)
            cut = any(output.hypothesis_cut for its in outputs for output in its)
            lost = _unread(passages, outputs), cut or len(outputs) < len(texts)
            if any(output.numbers is None for its in outputs for output in its):
                return Scored(None, True, *lost)
            known = [
                [shares(each.numbers or (), labels, digits) for each in its] for its in outputs
            ]
            entailed, contradicted = (
                [[share[label] for share in its] for its in known] if label in labels else None
                for label in (ENTAILED, CONTRADICTED)
            )
            return Scored(value(entailed or (), contradicted), False, *lost)

        return [scored(*texts) for texts in read]

    return reading.by_statement(cases, scores, Scored(None))


def _unread(passages: Sequence[str], outputs: Sequence[Sequence[Output]]) -> float:
    every = zip(*outputs, strict=True)
    parts: list[float] = [max(output.premise_unread for output in its) for its in every]
    parts += [1.0] * (len(passages) - len(parts))
    sizes = [len(passage.split()) for passage in passages]
    return sum(size * part for size, part in zip(sizes, parts, strict=True)) / (sum(sizes) or 1)


def value(entailment: Shares, contradiction: Shares | None) -> float:
    """The value of sentences x passages; without contradiction, of entailment alone."""
    best = [max(its) for its in entailment]
    return fsum([*best, *(-max(its) for its in contradiction or ())]) / len(best)


def _long(texts: Sequence[str]) -> list[str]:
    return [text for text in texts if len(text) > SHORTEST]


def _sentences(text: str) -> list[str]:
    return [text[slice(*span)] for span in sentences(text)]


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
