"""Every block of docs/judges.md is taken with a commit in it; its tables say what records say."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.core.kinds import choose, record_of
from metassay.judges import JUDGES
from metassay.judges.make import instruments_of
from metassay.llm.endpoints import parse_models
from metassay.llm.needs import with_members
from metassay.llm.session import model_problems
from metassay.scoring.pairing.instruments import INSTRUMENTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/judges.md").read_text("utf-8").partition("\n## Kind `nli`")[0]
BLOCKS = [
    yaml.safe_load(text.replace("COMMIT", f"'{40 * '0'}'"))
    for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: ",".join(block["judges"]))
def test_a_block_is_taken(monkeypatch: pytest.MonkeyPatch, block: dict[str, Any]) -> None:
    monkeypatch.chdir(ROOT)  # prompts are named from there
    assert set(block) <= {"endpoints", "models", "judges"}
    models = parse_models(block.get("endpoints", {}), block.get("models", {}))
    for name, judge in block["judges"].items():
        chosen = choose(JUDGES, judge, where=name)
        assert model_problems(chosen, models, where=name) == []
        assert "entailment" in instruments_of(chosen)


def test_every_kind_has_a_block_and_a_row() -> None:
    shown = {
        one.kind
        for block in BLOCKS
        for name, judge in block["judges"].items()
        for one in with_members(choose(JUDGES, judge, where=name))
    }
    assert shown == set(JUDGES)
    assert {kind for kind in JUDGES if f"\n| `{kind}` |" in PAGE} == set(JUDGES)


def test_the_table_has_what_each_kind_can_answer() -> None:
    head, _, *lines = re.findall(r"^\| instrument .*?(?=\n\n)", PAGE, re.M | re.S)[0].split("\n")
    kinds = [cell.strip() for cell in head.split("|")[2:-1]]
    said: dict[str, set[str]] = {kind: set() for kind in kinds}
    listed: set[str] = set()
    for line in lines:
        instruments, *cells = (cell.strip() for cell in line.split("|")[1:-1])
        names = re.findall(r"`(\w+)`", instruments)
        listed.update(names)
        for kind, cell in zip(kinds, cells, strict=True):
            assert cell in ("yes", "no")
            said[kind].update(names if cell == "yes" else ())
    assert listed == set(INSTRUMENTS)
    assert set(kinds) == set(JUDGES) - {"jury", "cascade"}
    for kind in kinds:
        assert said[kind] == set(record_of(JUDGES, kind).instruments)
