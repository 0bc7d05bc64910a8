"""What a metric of statements is, and what all of them share: options, cases without blanks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import Field

from metassay.core.options import Options, without
from metassay.llm.needs import Needs
from metassay.metrics.describe import JUDGED, Description
from metassay.models.loading import NetworkOptions
from metassay.models.pair_inputs import HYPOTHESIS, PREMISE
from metassay.models.rows import Limits, recipe_of

BY_TEXT = "@text"  # at the end of a metric's name that reads all statements of a text at once
MISSING = "null for a blank statement, and where no passage is aligned with it"


class StatementOptions(Options):
    """Which passages a statement is read against, and whether alone.

    `alignments`: which of the benchmark's are read, names or `all`; the first if there is no name.
    `by`: whether each statement is read with its own passages, or all statements of a text at once
    with those of all; then the metric's name ends in `@text`.
    """

    alignments: list[str] | Literal["all"] = Field(default_factory=list)
    by: Literal["statement", "text"] = "statement"


class CheckpointOptions(StatementOptions):
    """The models that a metric is computed with, by a name of yours: each has scores of its own.

    Tables name the checkpoint in the column `judge`, so that one metric under several models (as
    they come, adapted to the domain, tuned) is one list.
    """

    checkpoints: dict[str, NetworkOptions] = Field(min_length=1)


class ReadingOptions(CheckpointOptions, Limits):
    """Models, and what they read at once."""


class Case(NamedTuple):
    """Statements that a model reads in one input, and the passages that it reads them against.

    `passages` are in the order of the source. By sentence a case has one statement; by text it has
    all of a text's, in order, with the passages of all of them.
    """

    passages: tuple[str, ...]
    statements: tuple[str, ...]


class Scored(NamedTuple):
    """One metric of one statement.

    `value` is null where the metric is undefined; `failed`: it is null because the model gave no
    usable answer, which counts as missing. `unread`: the share of the tokens of the passages that
    were not read (0 to 1). `cut`: an end of the statement was not read, or it was one of more
    sentences than the metric takes.
    """

    value: float | None
    failed: bool = False
    unread: float = 0.0
    cut: bool = False


Score = Callable[[Sequence[Case], Any, NetworkOptions], Mapping[str, Sequence[Sequence[Scored]]]]


@dataclass(frozen=True, kw_only=True)
class FaithfulnessMetric(Needs):
    """A family of metrics of (aligned passages, statement): a kind of statement_metrics.

    `score(cases, options, checkpoint)` gives, by metric name, for each case one Scored per
    statement. `options` derive from `StatementOptions`; without checkpoints there is one call with
    None. `recipe(options, checkpoint)` states every setting that can change a value, a model by its
    content. `by_text`: whether it can read all statements of a text at once.
    """

    options: type[Options]
    score: Score
    recipe: Callable[[Any, NetworkOptions], str]
    descriptions: tuple[Description, ...]
    by_text: bool = False


described = partial(
    Description, better="higher", range=(0, 1), missing=MISSING, family=JUDGED, headline=True
)


def states(*names: str) -> Callable[[Any, NetworkOptions], str]:
    """A recipe of the model and the options of these names."""
    return lambda options, network: recipe_of(network, options, *names)


Value = TypeVar("Value")
ByName = dict[str, list[list[Scored]]]  # by metric, for each case, for each of its statements
Pair = tuple[tuple[str, ...], str]  # passages and a statement, none of them blank


def _problem(template: str) -> str | None:
    each_once = template.count(PREMISE) == template.count(HYPOTHESIS) == 1
    return None if each_once else f"template must have {PREMISE} and {HYPOTHESIS}, each once"


# An input: the passages, joined by a blank, are its premise, and a statement its hypothesis.
Template = Annotated[str, without(_problem)]


def by_text(
    cases: Sequence[Case], score: Callable[[Sequence[Case]], Sequence[Sequence[Value]]], null: Value
) -> list[list[Value]]:
    """What `score` gives for cases without blanks; `null` for a blank statement or no passage."""
    bare = [
        Case(*(tuple(text.strip() for text in side if text.strip()) for side in case))
        for case in cases
    ]
    results = iter(score([case for case in bare if all(case)]))
    values = [iter(next(results)) if all(case) else iter(()) for case in bare]
    return [
        [next(its, null) if text.strip() else null for text in case.statements]
        for its, case in zip(values, cases, strict=True)
    ]


def by_statement(
    cases: Sequence[Case], score: Callable[[Sequence[Pair]], Sequence[Value]], null: Value
) -> list[list[Value]]:
    """The same for what is read statement by statement, whatever case it is in."""

    def scores(cases: Sequence[Case]) -> list[list[Value]]:
        pairs = [(case.passages, statement) for case in cases for statement in case.statements]
        results = iter(score(pairs))
        return [[next(results) for _ in case.statements] for case in cases]

    return by_text(cases, scores, null)


def joined(pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    """The passages of each, joined by a blank, and the statement."""
    return [(" ".join(passages), statement) for passages, statement in pairs]
