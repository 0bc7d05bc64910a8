"""Every metric that Metassay knows, and docs/metrics.md, the page that says so.

`python -m metassay.metrics.catalogue docs/metrics.md` writes the page.
"""

import sys
from functools import cache
from pathlib import Path

from metassay.kinds import record_of
from metassay.metrics import METRICS, released
from metassay.metrics.describe import Description, page
from metassay.pairing import measures


@cache
def descriptions() -> dict[str, Description]:
    """By name: of judged measures, of every kind of metric, and of released scores."""
    kinds = [one for kind in METRICS for one in record_of(METRICS, kind).descriptions]
    found = [*measures.DESCRIPTIONS.values(), *kinds, *released.DESCRIPTIONS.values()]
    return {one.name: one for one in found}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(descriptions()), encoding="utf-8")
