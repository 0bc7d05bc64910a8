"""Every metric that Metassay knows, and docs/metrics.md, the page that says so.

`python -m metassay.scoring.catalogue docs/metrics.md` writes the page.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pandas as pd

from metassay.core.errors import raise_problems
from metassay.core.kinds import choose, is_path, record_of
from metassay.core.options import GIVEN, PARAMS
from metassay.core.params import Params
from metassay.metrics import METRICS, released
from metassay.metrics.describe import RELEASED, Description, page
from metassay.scoring.pairing import measures


@cache
def descriptions() -> dict[str, Description]:
    """By name: of judged measures, of every kind of metric, and of released scores."""
    kinds = [one for kind in METRICS for one in record_of(METRICS, kind).descriptions]
    found = [*measures.DESCRIPTIONS.values(), *kinds, *released.DESCRIPTIONS.values()]
    return {one.name: one for one in found}


def user_descriptions(params: Params, benchmark: str) -> dict[str, Description]:
    """Of the benchmark's metrics whose kind is a dotted path, by the metric's name.

    Their code and kind are in code.yaml, as `metrics_of` and `costly_metrics_of` of the benchmark.
    """
    used = params.benchmarks[benchmark]
    named = [("metrics", params.metrics, name) for name in used.metrics]
    named += [("costly_metrics", params.costly_metrics, name) for name in used.costly_metrics]
    records = [
        choose(METRICS, blocks[name], where=f"{PARAMS} > {block} > {name}").record
        for block, blocks, name in named
        if is_path(str(blocks[name].get("kind")))
    ]
    return {one.name: one for record in records for one in record.descriptions}


def check_given(criteria: pd.DataFrame) -> None:
    """Raise BadInput for each metric that came with data and is called as one of Metassay's own.

    `criteria`: the table, which has a row of kind `given` for each.
    """
    known, given = descriptions(), criteria.loc[criteria["kind"] == GIVEN, "metric"]
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
