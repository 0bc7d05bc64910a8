"""Records of metrics of statements."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from metassay.core.options import Options
from metassay.llm.needs import Needs
from metassay.metrics.describe import Description

if TYPE_CHECKING:  # models load only with metrics of statements
    from metassay.models.loading import NetworkOptions

BY_TEXT = "@text"  # suffix of metrics that read all statements of a text at once


class Case(NamedTuple):
    """Statements of an input, and their passages, in the order of the source.

    By statement, a case has a single statement; by text, all of a text, in order, with
    the passages of all of them.
    """

    passages: tuple[str, ...]
    statements: tuple[str, ...]


class Scored(NamedTuple):
    """A metric of a statement.

    `value` is None if the metric is undefined, or `failed`: the model gave no usable
    answer, which counts as missing. `unread`: the share of the passages' tokens that
    were not read (0 to 1). `cut`: the statement was not read to its end.
    """

    value: float | None
    failed: bool = False
    unread: float = 0.0
    cut: bool = False


Score = Callable[
    [Sequence[Case], Any, "NetworkOptions"], Mapping[str, Sequence[Sequence[Scored]]]
]


@dataclass(frozen=True, kw_only=True)
class FaithfulnessMetric(Needs):
    """A family of metrics of (aligned passages, statement): a kind of statement_metrics.

    `score(cases, options, checkpoint)` returns, by metric name, a Scored per statement
    of each case. `options` derive from `reading.StatementOptions`; without checkpoints,
    `checkpoint` is None. `recipe(options, checkpoint)` prints every setting that can
    change a value, a model by its content. `by_text`: whether it can read all
    statements of a text at once.
    """

    options: type[Options]
    score: Score
    recipe: "Callable[[Any, NetworkOptions], str]"
    descriptions: tuple[Description, ...]
    by_text: bool = False
