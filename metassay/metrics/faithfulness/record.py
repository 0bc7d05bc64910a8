"""What a metric of statements is: one frozen record per module of this folder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from metassay.core.options import Options
from metassay.llm.needs import Needs
from metassay.metrics.describe import Description

if TYPE_CHECKING:  # what scores no statement loads no models
    from metassay.models.loading import NetworkOptions

BY_TEXT = "@text"  # at the end of a metric's name that reads all statements of a text at once


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


Score = Callable[[Sequence[Case], Any, "NetworkOptions"], Mapping[str, Sequence[Sequence[Scored]]]]


@dataclass(frozen=True, kw_only=True)
class FaithfulnessMetric(Needs):
    """A family of metrics of (aligned passages, statement): a kind of statement_metrics.

    `score(cases, options, checkpoint)` gives, by metric name, for each case one Scored per
    statement. `options` derive from `reading.StatementOptions`; without checkpoints there is one
    call with None. `recipe(options, checkpoint)` states every setting that can change a value, a
    model by its content. `by_text`: whether it can read all statements of a text at once.
    """

    options: type[Options]
    score: Score
    recipe: "Callable[[Any, NetworkOptions], str]"
    descriptions: tuple[Description, ...]
    by_text: bool = False
