"""Metrics that a benchmark has twice, so that a score would be there twice."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from metassay.core.errors import BadInput
from metassay.core.options import GIVEN
from metassay.metrics.describe import RELEASED
from metassay.scoring.catalogue import descriptions

Block = tuple[str, str]  # metrics or costly_metrics, and a name of params.yaml there


def check_given(criteria: pd.DataFrame) -> None:
    """Raise BadInput for each metric that came with data and is called as one of Metassay's own.

    `criteria`: the table, which has a row of kind `given` for each.
    """
    known, given = descriptions(), criteria.loc[criteria["kind"] == GIVEN, "metric"]
    problems = [
        f"scores.csv: metric {name!r} is one of Metassay's own; rename it, such as own_{name}"
        for name in given
        if name in known and known[name].family != RELEASED
    ]
    if problems:
        raise BadInput(problems)


def measured_twice(blocks: Sequence[Block], gives: Mapping[Block, Sequence[str]]) -> Iterator[str]:
    """One line for each set of a benchmark's blocks that give the same metric.

    `gives` has the metrics of each sound block.
    """
    givers: dict[str, list[str]] = {}
    for block in blocks:
        for metric in gives.get(block, []):
            givers.setdefault(metric, []).append(" > ".join(block))
    first: dict[tuple[str, ...], str] = {}
    for metric, several in givers.items():
        if len(several) > 1:
            first.setdefault(tuple(several), metric)
    for both, metric in first.items():
        yield f"{metric} is measured by {' and '.join(both)}; name one of them"
