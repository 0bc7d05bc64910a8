"""Every metric that Metassay knows, and docs/metrics.md, the page that says so.

`python -m metassay.scoring.catalogue docs/metrics.md` writes the page.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pandas as pd

from metassay.core.errors import raise_problems
from metassay.core.kinds import choose, is_path, record_of
from metassay.core.options import FROM_DATASET, PARAMS
from metassay.core.params import Params
from metassay.metrics import METRICS, released, statement_counts
from metassay.metrics.describe import RELEASED, Description, page
from metassay.metrics.faithfulness import FAITHFULNESS
from metassay.scoring.pairing import measures
from metassay.tables.names import base_metric

# Blocks of params.yaml with metrics, and the index of their kinds.
BLOCKS = {"metrics": METRICS, "costly_metrics": METRICS, "statement_metrics": FAITHFULNESS}


@cache
def descriptions() -> dict[str, Description]:
    """By name: of judged measures, of every kind of metric, and of released scores."""
    kinds = [
        one
        for index in (METRICS, FAITHFULNESS)
        for kind in index
        for one in record_of(index, kind).descriptions
    ]
    judged = [*measures.DESCRIPTIONS.values(), *statement_counts.DESCRIPTIONS]
    return {one.name: one for one in [*judged, *kinds, *released.DESCRIPTIONS.values()]}


def with_readings(
    known: Mapping[str, Description], metrics: Iterable[str]
) -> dict[str, Description]:
    """What is known, and of each metric `NAME@ALIGNMENT` what is known of NAME."""
    more = {name: known.get(base_metric(name)) for name in set(metrics) - set(known)}
    return {**known, **{name: replace(one, name=name) for name, one in more.items() if one}}


def user_descriptions(params: Params, benchmark: str) -> dict[str, Description]:
    """Of the benchmark's metrics whose kind is a dotted path, by the metric's name.

    Their code and kind are in code.yaml, as `metrics_of`, `costly_metrics_of` and
    `statement_metrics_of` of the benchmark.
    """
    records = [
        choose(
            BLOCKS[block], getattr(params, block)[name], where=f"{PARAMS} > {block} > {name}"
        ).record
        for block, name in params.benchmarks[benchmark].measured_by
        if is_path(str(getattr(params, block)[name].get("kind")))
    ]
    return {one.name: one for record in records for one in record.descriptions}


def check_given(criteria: pd.DataFrame) -> None:
    """Raise BadInput for each metric that came with data and is called as one of Metassay's own.

    `criteria`: the table, which has a row of kind `given` for each.
    """
    known, given = descriptions(), criteria.loc[criteria["kind"] == FROM_DATASET, "metric"]
    raise_problems(
        f"scores.csv: metric {name!r} is one of Metassay's own; rename it, such as own_{name}"
        for name in given
        if name in known and known[name].family != RELEASED
    )


Block = tuple[str, str]  # metrics or costly_metrics, and a name of params.yaml there


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
        first.setdefault(tuple(several), metric)
    for both, metric in first.items():
        if len(both) > 1:
            yield f"{metric} is measured by {' and '.join(both)}; name one of them"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(descriptions()), encoding="utf-8")
