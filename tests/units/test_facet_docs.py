"""Every block of docs/scores.md is taken by the kind that it names."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.core.kinds import choose
from metassay.units import SEGMENTATIONS

PAGE = (Path(__file__).parents[2] / "docs/scores.md").read_text("utf-8")
BLOCKS: dict[str, Any] = {
    name: block
    for text in re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
    for name, block in (yaml.safe_load(text).get("segmentations") or {}).items()
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_is_taken_as_it_stands(name: str) -> None:
    chosen = choose(SEGMENTATIONS, BLOCKS[name], where=name)
    assert chosen.record.facets(chosen.options)
