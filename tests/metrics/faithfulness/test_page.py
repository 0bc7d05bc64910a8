"""docs/metrics.md and checkpoints.md: every kind has a row, and a block of its options."""

import re
from pathlib import Path
from typing import Any

import pytest

from metassay.core import strict_yaml
from metassay.core.errors import BadInput
from metassay.core.kinds import choose, record_of
from metassay.metrics import METRICS
from metassay.metrics.faithfulness import FAITHFULNESS
from metassay.metrics.faithfulness.summac_conv import read_head

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "metrics.md").read_text(encoding="utf-8")
PAGE = PAGE.partition("\n## Metrics of faithfulness")[2].partition("\n## ")[0]
BLOCKS = (DOCS / "checkpoints.md").read_text(encoding="utf-8")
BLOCKS = BLOCKS.partition("\n## Metrics of faithfulness")[2].partition("\n## ")[0]
CODE = dict(re.findall(r"```(\w+)\n(.*?)```", BLOCKS, re.DOTALL))


def test_its_blocks_are_options_of_every_kind(tmp_path: Path) -> None:
    place = tmp_path / "page.yaml"
    place.write_text(CODE["yaml"], encoding="utf-8")
    blocks: Any = strict_yaml.load(place)
    assert {block["kind"] for block in blocks["statement_metrics"].values()} == set(
        FAITHFULNESS
    )
    with pytest.raises(BadInput, match="give the 40 digits"):
        choose(FAITHFULNESS, blocks["statement_metrics"]["bartscore"], where="page")
    place.write_text(CODE["yaml"].replace("COMMIT", "abcdef0123" * 4), encoding="utf-8")
    blocks = strict_yaml.load(place)
    for index, name in (
        (FAITHFULNESS, "statement_metrics"),
        (METRICS, "costly_metrics"),
    ):
        for block in blocks[name].values():
            choose(index, block, where="page")


def test_its_table_has_every_kind_with_its_range() -> None:
    for kind in FAITHFULNESS:
        record = record_of(FAITHFULNESS, kind)
        low, high = record.descriptions[0].range
        ends = f"up to {high}" if low is None else f"{low} to {high}"
        ends = "any" if low is high is None else ends
        assert re.search(
            rf"^\| `{kind}` \| .* \| {ends} \| better \|$", PAGE, re.MULTILINE
        ), kind
        assert all(each.better == "higher" for each in record.descriptions)


def test_the_lines_of_tuning_train_a_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn", reason="needs metassay[models]")
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "tuning.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (lines,) = (block for block in blocks if "fit_head" in block)
    exec(lines, {})
    assert len(read_head(Path("head.json")).weights) == 23
