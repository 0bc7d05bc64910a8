"""Descriptions, in released.yaml, of scores that datasets contain.

`metassay/datasets/` reads them; table `measurements` has them in `given.parquet`.
"""

from pathlib import Path
from typing import Any

from metassay.core import strict_yaml
from metassay.metrics.describe import RELEASED, Description

_WORDS: Any = strict_yaml.load(Path(__file__).with_name("released.yaml"))
_FACETS = {
    f"scholarsum_fm_{judge}_{facet}": (
        f"facet-aware grade of the {facet} by {name}, as a share of the best grade"
    )
    for judge, name in (("gpt35", "GPT-3.5"), ("gpt4", "GPT-4"))
    for facet in ("background", "method", "result", "conclusion")
}
_LACKS = "people did not score the facet, which the abstract lacks"

DESCRIPTIONS: dict[str, Description] = {
    name: Description(
        name,
        meaning,
        "lower" if name == "scholarsum_delta" else "higher",
        tuple(_WORDS["ranges"].get(name, (0, 1))),
        f"as released; null where {_LACKS if name in _FACETS else 'it is not'}",
        _WORDS["sources"][name.split("_")[0]],
        RELEASED,
    )
    for name, meaning in {**_WORDS["meanings"], **_FACETS}.items()
}
