"""Options, descriptions and cases of metrics of statements."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from metassay.core.options import Options, refuse
from metassay.metrics.describe import JUDGED, Description
from metassay.metrics.faithfulness.record import Case, Scored
from metassay.models.loading import NetworkOptions
from metassay.models.pair_inputs import HYPOTHESIS, PREMISE
from metassay.models.rows import Limits, recipe_of

MISSING = "null for a blank statement, and where no passage is aligned with it"


class StatementOptions(Options):
    """The passages of a statement, and whether it is read by itself.

    `alignments`: names of the benchmark's, or `all`; the first if there is no name.
    `by`: whether each statement is read with its passages, or all statements of a text
    with those of all; then the metric's name ends in `@text`.
    """

    alignments: list[str] | Literal["all"] = Field(default_factory=list)
    by: Literal["statement", "text"] = "statement"


class CheckpointOptions(StatementOptions):
    """The models of a metric, by a name of your choice: each has separate scores.

    Tables have the checkpoint in column `judge`, so that a metric under several models
    (original, adapted to the domain, tuned) is a single list.
    """

    checkpoints: dict[str, NetworkOptions] = Field(min_length=1)


class ReadingOptions(CheckpointOptions, Limits):
    """Models, and the limits of their inputs."""


described = partial(
    Description,
    better="higher",
    range=(0, 1),
    missing=MISSING,
    family=JUDGED,
    headline=True,
)


def states(*names: str) -> Callable[[Any, NetworkOptions], str]:
    """Return a recipe of the model and the options of these names."""
    return lambda options, network: recipe_of(network, options, *names)


Value = TypeVar("Value")
# by metric, for each case, for each of its statements
ByName = dict[str, list[list[Scored]]]
Pair = tuple[tuple[str, ...], str]  # passages and a statement, none of them blank


# An input: the passages, joined by a space, are its premise, and a statement its
# hypothesis.
_BOTH = f"template must have {PREMISE} and {HYPOTHESIS}, each once"
Template = Annotated[
    str,
    refuse(lambda t: None if t.count(PREMISE) == t.count(HYPOTHESIS) == 1 else _BOTH),
]


def _drop_blank(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the texts that are not blank, without white space around."""
    return tuple(text.strip() for text in texts if text.strip())


def score_texts(
    cases: Sequence[Case],
    score: Callable[[Sequence[Case]], Sequence[Sequence[Value]]],
    null: Value,
) -> list[list[Value]]:
    """Score cases without blank texts; `null` for a blank statement or without passages."""
    bare = [Case(*map(_drop_blank, case)) for case in cases]
    results = iter(score([case for case in bare if all(case)]))
    values = [iter(next(results)) if all(case) else iter(()) for case in bare]
    return [
        [next(scores, null) if text.strip() else null for text in case.statements]
        for scores, case in zip(values, cases, strict=True)
    ]


def score_statements(
    cases: Sequence[Case],
    score: Callable[[Sequence[Pair]], Sequence[Value]],
    null: Value,
) -> list[list[Value]]:
    """Score cases as `score_texts`, but statement by statement."""

    def scores(cases: Sequence[Case]) -> list[list[Value]]:
        pairs = [
            (case.passages, statement)
            for case in cases
            for statement in case.statements
        ]
        results = iter(score(pairs))
        return [[next(results) for _ in case.statements] for case in cases]

    return score_texts(cases, scores, null)


def join(pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    """Join the passages of each pair by a space."""
    return [(" ".join(passages), statement) for passages, statement in pairs]
