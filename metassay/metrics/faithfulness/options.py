"""What every block of params.yaml > statement_metrics says."""

from typing import Literal

from pydantic import Field

from metassay.core.options import Options
from metassay.models.loading import NetworkOptions


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
