"""Every metric that Metassay knows, and docs/metrics.md, the page that says so.

`python -m metassay.scoring.catalogue docs/metrics.md` writes the page.
"""

import sys
from functools import cache
from pathlib import Path

from metassay.core.kinds import choose, is_path, record_of
from metassay.core.options import PARAMS
from metassay.core.params import Params
from metassay.metrics import METRICS, released
from metassay.metrics.describe import Description, page
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


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(descriptions()), encoding="utf-8")
