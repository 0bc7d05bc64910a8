"""SummaC-ZS, and the matrix that SummaC's metrics share: a statement's sentences x passages."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice, product
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

VERSION = 2  # raised by whoever changes results of this module's kinds

NAME = "summac_zs"
SHORTEST = 10  # characters, of which a sentence must have more
PASSAGES = 100  # that are read at most, as in the released code
NULL = f"{reading.MISSING}, and where either has no sentence of more than {SHORTEST} characters"
SOURCE = "Laban et al. 2022, section 3; tingofurro/summac"

Shares = Sequence[Sequence[float]]  # sentences x passages


class SummacOptions(reading.ReadingOptions):
    """Classifiers of pairs with a class for entailed hypotheses.

    `labels`: the meaning of their classes, in order, if the model's names do not tell.
    """

    labels: list[str] | None = None


class ZsOptions(SummacOptions):
    """`use_con`: whether the highest contradiction is subtracted."""

    use_con: bool = True


def score(
    cases: Sequence[Case], options: ZsOptions, checkpoint: NetworkOptions
) -> reading.ByName:
    """Return SummaC-ZS of each statement: -1 to 1 (0 to 1 without `use_con`), higher is better.

    The mean, over sentences, of the highest probability of entailment less the highest
    of contradiction, over passages. Sentences have more than 10 characters, and
    passages after the 100th are not read. Null if nothing is left, failed if a number
    is not finite. Laban et al. 2022, section 3.2. Raises BadInput as `score_matrices`, or if
    there is no class of contradiction.
    """

    def score_matrix(entailed: Shares, contradicted: Shares | None) -> float:
        if options.use_con and contradicted is None:
            raise BadInput(
                f"model {checkpoint.model!r} has no class for contradiction; set use_con: false"
            )
        return value(entailed, contradicted if options.use_con else None)

    return {NAME: score_matrices(cases, options, checkpoint, score_matrix)}


def score_matrices(
    cases: Sequence[Case],
    options: SummacOptions,
    checkpoint: NetworkOptions,
    value: Callable[[Shares, Shares | None], float],
    *,
    most: int | None = None,
) -> list[list[Scored]]:
    """Score statements by `value` of the probabilities of their sentences, each by passage.

    These are of entailment and of contradiction, the latter None if the model has no
    such class. `most` sentences and the first 100 passages are read. `unread` is a
    share of the passages' words, in part of passages that are cut; `cut` includes
    sentences beyond `most`. Raises BadInput as `loading.load`, and if the classes'
    names have no known meaning.
    """

    def scores(items: Sequence[reading.Pair]) -> list[Scored]:
        sides = [
            (passages, [text[a:b] for a, b in sentences(text)])
            for passages, text in items
        ]
        read = [tuple(map(_drop_short, both)) for both in sides]
        inputs = (
            product(texts[:most], passages[:PASSAGES]) for passages, texts in read
        )
        pairs = [(passage, text) for of_item in inputs for text, passage in of_item]
        if not pairs:
            return [Scored(None) for _ in items]
        names, compute = classifier("summac", checkpoint, options)
        labels, results = labels_of(options.labels or names), iter(compute(pairs))
        digits = PROBABILITY[checkpoint.dtype].significant

        def scored(passages: Sequence[str], texts: Sequence[str]) -> Scored:
            count = min(len(passages), PASSAGES)
            outputs = [list(islice(results, count)) for _ in texts[:most]]
            if not (outputs and count):
                return Scored(None)
            cut = any(output.hypothesis_cut for row in outputs for output in row)
            losses = _unread(passages, outputs), cut or len(outputs) < len(texts)
            if any(output.numbers is None for row in outputs for output in row):
                return Scored(None, True, *losses)
            rows = [
                [shares(o.numbers or (), labels, digits) for o in row]
                for row in outputs
            ]
            entailed = _shares_of(ENTAILED, rows) if ENTAILED in labels else ()
            contradicted = None
            if CONTRADICTED in labels:
                contradicted = _shares_of(CONTRADICTED, rows)
            return Scored(value(entailed, contradicted), False, *losses)

        return [scored(*texts) for texts in read]

    return reading.score_statements(cases, scores, Scored(None))


def _drop_short(texts: Sequence[str]) -> list[str]:
    """Return the sentences that are long enough to be read."""
    return [text for text in texts if len(text) > SHORTEST]


def _shares_of(
    label: str, rows: Sequence[Sequence[Mapping[str, float]]]
) -> list[list[float]]:
    """Return a class's probability for each pair of sentence and passage."""
    return [[share[label] for share in row] for row in rows]


def _unread(passages: Sequence[str], outputs: Sequence[Sequence[Output]]) -> float:
    by_passage = zip(*outputs, strict=True)
    parts: list[float] = [
        max(output.premise_unread for output in of_passage) for of_passage in by_passage
    ]
    parts += [1.0] * (len(passages) - len(parts))
    sizes = [len(passage.split()) for passage in passages]
    return sum(size * part for size, part in zip(sizes, parts, strict=True)) / (
        sum(sizes) or 1
    )


def value(entailment: Shares, contradiction: Shares | None) -> float:
    """Return SummaC-ZS of sentences x passages; without contradiction, of entailment only."""
    best = [max(row) for row in entailment]
    return fsum([*best, *(-max(row) for row in contradiction or ())]) / len(best)


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
