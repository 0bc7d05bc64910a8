"""shown.py: what a text's writer was shown is read from its recipe, whoever wrote the text."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.core.kinds import record_of
from metassay.core.options import parse
from metassay.generation import SYSTEMS
from metassay.generation.chat import ChatOptions, write_chat
from metassay.generation.prompted import Example
from metassay.generation.record import System
from metassay.llm.messages import Reply
from metassay.llm.needs import Needs
from metassay.llm.prompts import Decoding, datasets_in_recipes, datasets_of, examples_field

# Ids may hold what parts a recipe: the second dataset must not hide behind the first id.
NAMES = ["ward/dev/1, 2|citations:no", "clinic/train/50%/b"]
STYLE: dict[str, Any] = {
    **{"unit": "full", "citations": True, "shots": 2, "example_citations": "none"},
    "examples": NAMES,
}
EXAMPLES = [Example(name, "note", [name], [""], "A note.") for name in NAMES]
SOURCES = pd.DataFrame(
    {"doc_id": ["d"], "task": "note", "passages": [["It hurts."]], "speaker": [[""]]}
)


def test_every_kind_that_is_shown_examples_is_tested_here() -> None:
    records = {kind: record_of(SYSTEMS, kind) for kind in SYSTEMS}
    shown = {kind for kind, record in records.items() if record.datasets != System.datasets}
    assert System.datasets is Needs.datasets
    assert shown == {"chat", "causal"}
    assert datasets_of(["ward/dev/a/1", "meqsum/train/1", "ward/dev/2"]) == ["meqsum", "ward"]
    name = "meqsum/train/1-131188152.xml.txt"  # ordinary names stay as they are
    assert examples_field([name]) == f"examples:{name}"


def test_what_a_chat_model_was_shown() -> None:
    options = parse(ChatOptions, STYLE | {"model": "m"}, where="test")
    texts = write_chat(
        *(SOURCES, "writer", options),
        lambda requests: [Reply(r.key, "ok", "A note.", None, None, None, 1) for r in requests],
        *(Decoding("provider/m:8b", 0.0, None, 9), EXAMPLES),
    )
    assert datasets_in_recipes(texts["recipe"]) == ["clinic", "ward"]


def test_what_a_model_on_this_machine_was_shown(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs metassay[models]")
    pytest.importorskip("transformers", reason="needs metassay[models]")
    from metassay.generation.decoding import CausalOptions, write_causal
    from tests.generation.test_local import COMMON
    from tests.models.tiny import llama

    block = COMMON | STYLE | {"model": str(llama(tmp_path / "llama"))}
    options = parse(CausalOptions, block, where="test")
    written = write_causal(SOURCES, "writer", options, EXAMPLES, store=tmp_path / "store.sqlite")
    assert datasets_in_recipes(written.texts["recipe"]) == ["clinic", "ward"]


@pytest.mark.parametrize(
    ("recipe", "datasets"),
    [
        *((recipe, []) for recipe in ("given|reader:files", "", "lead|passages:5|metassay:0.1")),
        ("chat|model:m|examples:ward/dev/e1|metassay:0.1", ["ward"]),
        ("examples:", [""]),  # nobody's, so it goes nowhere
        ("chat|examples:ward", ["ward"]),
        ("chat|model:x|examples:clinic/a/b|examples:ward/dev/e1", ["clinic", "ward"]),
    ],
)
def test_other_recipes_can_only_name_more(recipe: str, datasets: list[str]) -> None:
    assert datasets_in_recipes([recipe, "given|reader:files"]) == datasets
