"""SummaC's matrix: what an NLI model says of each sentence of a statement, read after a passage."""

import functools
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from metassay.metrics.faithfulness.options import CheckpointOptions
from metassay.metrics.faithfulness.reading import Asked
from metassay.models import rows
from metassay.models.classes import CONTRADICTED, ENTAILED, classes_of, shares
from metassay.models.digits import PROBABILITY
from metassay.models.loading import NetworkOptions
from metassay.models.pair_inputs import Wording
from metassay.models.pair_scores import METHOD, Output, load_classifier
from metassay.text.sentences import sentences

SHORTEST = 10  # characters: what has no more is no sentence here
PASSAGES = 100  # the most that are read, as in the released code
SOURCE = "Laban et al. 2022, section 3; tingofurro/summac"
MISSING = (
    "null for a blank statement, where no passage is aligned with it, and where either has no"
    " sentence of more than 10 characters"
)


class SummacOptions(CheckpointOptions):
    """Classifiers of pairs, which know an entailed hypothesis from others.

    `labels`: what their classes are called, in their order, where their own names don't tell.
    `max_tokens`: the longest input; null for the model's own limit. `batch_tokens`: how many tokens
    are read at once, padding included (about 512 suits a processor, 16384 a GPU); it is for speed,
    and changes last digits at most.
    """

    labels: list[str] | None = None
    max_tokens: int | None = Field(default=None, ge=5)
    batch_tokens: int = Field(default=512, ge=1)


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


def matrices(
    asked: Sequence[Asked],
    options: SummacOptions,
    checkpoint: NetworkOptions,
    *,
    most: int | None,
    store: Path,
) -> list[Matrix]:
    """The matrix of each statement, of at most so many sentences, and its first 100 passages.

    Raises BadInput as `loading.load`, and where the classes' names do not say what they mean.
    """
    read = [(_long(passages), _long(_sentences(said))) for passages, said in asked]
    pairs = [(p, s) for passages, said in read for s in said[:most] for p in passages[:PASSAGES]]
    if not pairs:
        return [Matrix([], [], 0.0, cut=False) for _ in asked]
    limit = options.max_tokens
    task = rows.task_of("summac", checkpoint, METHOD, max_tokens=limit)

    @functools.cache
    def loaded() -> tuple[rows.Scores, list[str]]:
        scorer, names = load_classifier(checkpoint, Wording(None), limit, first_token=False)
        return scorer.scores, names

    labels = classes_of(task, lambda: loaded()[1], options.labels, store=store)
    found = rows.computed(task, pairs, lambda: loaded()[0], options.batch_tokens, store=store)
    every = iter(Output(*each) for each in found)
    digits = PROBABILITY[checkpoint.dtype].kept
    return [_matrix(*texts, every, labels, digits, most) for texts in read]


def _long(texts: Sequence[str]) -> list[str]:
    return [text for text in texts if len(text) > SHORTEST]


def _sentences(text: str) -> list[str]:
    return [text[slice(*span)] for span in sentences(text)]


def _matrix(
    passages: Sequence[str],
    said: Sequence[str],
    every: Iterator[Output],
    labels: Sequence[str],
    digits: int,
    most: int | None,
) -> Matrix:
    found = [list(islice(every, len(passages[:PASSAGES]))) for _ in said[:most]]
    sizes = [len(passage.split()) for passage in passages]
    parts = [max(output.premise_unread for output in its) for its in zip(*found, strict=True)]
    parts += [1.0] * (len(passages) - len(parts))
    lost = sum(size * part for size, part in zip(sizes, parts, strict=True)) / (sum(sizes) or 1)
    over = most is not None and len(said) > most
    cut = over or any(output.hypothesis_cut for its in found for output in its)
    numbers = [[output.numbers for output in its] for its in found]
    if any(each is None for its in numbers for each in its):
        return Matrix(None, None, lost, cut)
    known = [[shares(each or (), labels, digits) for each in its] for its in numbers]
    entailed, contradicted = (
        [[share[label] for share in its] for its in known] if label in labels else None
        for label in (ENTAILED, CONTRADICTED)
    )
    return Matrix(entailed, contradicted, lost, cut)
