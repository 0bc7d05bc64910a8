"""shown.py: what a text's writer was shown is read from its recipe, whoever wrote the text."""

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

STYLE = {
    **{"unit": "full", "citations": True, "shots": 2, "example_citations": "none"},
    # Ids may hold what parts a recipe: the second dataset must not hide behind the first id.
    "examples": ["ward/dev/1, 2|citations:no", "clinic/train/50%/b"],
}
SOURCES = pd.DataFrame(
    [
        {
            **{"doc_id": "d", "task": "note", "passages": ["It hurts."], "speaker": [""]},
            **{"group": [""], "attributes": None, "dataset": "one"},
        }
    ]
)
EXAMPLES = [Example(name, "note", [name], [""], "A note.") for name in STYLE["examples"]]  # type: ignore[attr-defined]


def test_the_datasets_of_examples_are_known_by_their_names() -> None:
    assert datasets_of(["ward/dev/a/1", "meqsum/train/1", "ward/dev/2"]) == ["meqsum", "ward"]


def test_every_kind_that_is_shown_examples_is_tested_here() -> None:
    records = {kind: record_of(SYSTEMS, kind) for kind in SYSTEMS}
    shown = {kind for kind, record in records.items() if record.datasets != System.datasets}
    assert System.datasets is Needs.datasets
    assert shown == {"chat", "causal"}


def test_what_a_chat_model_was_shown() -> None:
    options = parse(ChatOptions, STYLE | {"model": "m"}, where="test")
    decoding = Decoding("provider/m:8b", 0.0, None, 9)
    texts = write_chat(
        SOURCES,
        "writer",
        options,
        lambda requests: [Reply(r.key, "ok", "A note.", None, None, None, 1) for r in requests],
        decoding,
        EXAMPLES,
    )
    assert datasets_in_recipes(texts["recipe"]) == ["clinic", "ward"]


def test_what_a_model_on_this_machine_was_shown(tmp_path) -> None:
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
        ("given|reader:files", []),
        ("", []),
        ("lead|passages:5|metassay:0.1", []),
        ("chat|model:m|examples:ward/dev/e1|metassay:0.1", ["ward"]),
        ("examples:", [""]),  # nobody's, so it goes nowhere
        ("chat|examples:ward", ["ward"]),
        ("chat|model:x|examples:clinic/a/b|examples:ward/dev/e1", ["clinic", "ward"]),
    ],
)
def test_other_recipes_can_only_name_more(recipe: str, datasets: list[str]) -> None:
    assert datasets_in_recipes([recipe, "given|reader:files"]) == datasets


def test_ordinary_names_stay_as_they_are() -> None:
    name = "meqsum/train/1-131188152.xml.txt"
    assert examples_field([name]) == f"examples:{name}"
