"""recipes.py: whatever can change a part is in the recipe of its scores."""

from pathlib import Path
from typing import Any

import pytest

from metassay.core.kinds import choose
from metassay.llm.endpoints import Models, parse_models
from metassay.llm.prompts import load
from metassay.llm.structured import Again
from metassay.units import SEGMENTATIONS
from metassay.units.record import recipe_of

ROOT = Path(__file__).parents[2]
NOBODY = Models({}, {})


def recipe(models: Models = NOBODY, **block: Any) -> str:
    return recipe_of(choose(SEGMENTATIONS, block, where="p"), models)


def test_a_rule_is_its_settings() -> None:
    assert recipe(kind="soap", compat="none") == "soap,compat=none"


def test_a_trained_file_is_in_the_recipe_by_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    encoder = {"model": "tiny", "device": "cpu", "dtype": "float64"}
    block = {"kind": "sentence_roles", "model": "m.json", "facets": {"method": ["method"]}}
    block["encoder"] = encoder
    said = []
    for content in ("{}", "[]", "{}"):
        Path("m.json").write_text(content, encoding="utf-8")
        said.append(recipe(**block))
    assert said[0] == said[2] != said[1]
    assert said[0].endswith("#44136fa3")  # sha256 of {}


def test_a_language_model_is_named_with_its_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    models = parse_models(
        {"here": {"kind": "openai", "base_url": "http://127.0.0.1:9/v1"}},
        {"m": {"endpoint": "here", "model": "m-1", "max_tokens": 99}},
    )
    facets = {"population": "who was studied", "outcome": ""}
    block = {"kind": "llm_facets", "model": "m", "facets": facets, "shots": 0, "rounds": 1}
    prompt = load("facets").signature
    assert recipe(models, **block) == (
        f"llm_facets(model:m-1|temperature:0|seed:none|max_tokens:99|prompt:{prompt}"
        f"|facets:population=who was studied,outcome|shots:0|{Again().signature(1)})"
    )
