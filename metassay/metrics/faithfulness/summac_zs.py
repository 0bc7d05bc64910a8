"""SummaC-ZS: a statement's sentences by the passage that entails each most."""

from collections.abc import Sequence
from math import fsum
from pathlib import Path

from metassay.core.errors import BadInput
from metassay.metrics.describe import JUDGED, Description
from metassay.metrics.faithfulness.reading import Asked, by_statement
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric, Scored
from metassay.metrics.faithfulness.summac import MISSING, SOURCE, Matrix, SummacOptions, matrices
from metassay.models.loading import NetworkOptions
from metassay.models.rows import recipe_of
from metassay.models.store import STORE

NAME = "summac_zs"


class ZsOptions(SummacOptions):
    """The same; `use_con`: whether the highest contradiction is taken off."""

    use_con: bool = True


def score(
    cases: Sequence[Case], options: ZsOptions, checkpoint: NetworkOptions, *, store: Path = STORE
) -> dict[str, list[list[Scored]]]:
    """SummaC-ZS of each statement: -1 to 1 (0 to 1 without `use_con`), higher is more faithful.

    Per sentence the highest probability of entailment less the highest of contradiction, over its
    passages; the mean over sentences. What has at most 10 characters is no sentence, and passages
    after the 100th are not read. Null where nothing is left, failed if a number is not finite.
    Laban et al. 2022, section 3.2. Raises BadInput as `matrices`, or without a contradiction.
    """

    def scores(asked: Sequence[Asked]) -> list[Scored]:
        found = matrices(asked, options, checkpoint, most=None, store=store)
        return [_scored(matrix, options.use_con, checkpoint.model) for matrix in found]

    return {NAME: by_statement(cases, scores, Scored(None))}


def value(
    entailment: Sequence[Sequence[float]], contradiction: Sequence[Sequence[float]] | None
) -> float:
    """The value of sentences x passages; without contradiction, of entailment alone."""
    best = [max(its) for its in entailment]
    worst = [0.0 for _ in best] if contradiction is None else [max(its) for its in contradiction]
    return fsum(a - b for a, b in zip(best, worst, strict=True)) / len(best)


def _scored(matrix: Matrix, use_con: bool, model: str) -> Scored:
    entailed, contradicted, unread, cut = matrix
    if entailed is None:
        return Scored(None, failed=True, unread=unread, cut=cut)
    if not any(entailed):
        return Scored(None)
    if use_con and contradicted is None:
        raise BadInput(f"model {model!r} knows no contradiction; set `use_con: false`")
    return Scored(value(entailed, contradicted if use_con else None), unread=unread, cut=cut)


KIND = FaithfulnessMetric(
    options=ZsOptions,
    score=score,
    recipe=lambda options, checkpoint: recipe_of(
        checkpoint,
        use_con="yes" if options.use_con else "no",
        labels=options.labels or "the model's",
        max_tokens=options.max_tokens or "the model's",
    ),
    descriptions=(
        Description(
            NAME,
            "mean, over the statement's sentences, of the highest probability with which a passage"
            " entails the sentence, less the highest with which one contradicts it",
            better="higher",
            range=(-1, 1),
            missing=MISSING,
            source=SOURCE,
            family=JUDGED,
            headline=True,
        ),
    ),
)
