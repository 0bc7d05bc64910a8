"""Whatever can change a part or a claim is in the recipe of its scores."""

from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.llm.endpoints import Models, parse_models
from metassay.llm.prompts import load
from metassay.llm.structured import Again
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS
from metassay.units.record import recipe_of

NOBODY = Models({}, {})


def recipe(models: Models = NOBODY, index: Any = SEGMENTATIONS, **block: Any) -> str:
    return recipe_of(choose(index, block, where="p"), models)


def test_a_rule_is_its_settings() -> None:
    assert recipe(kind="soap", compat="none") == "soap,compat=none"
    assert recipe(index=DECOMPOSITIONS, kind="clauses") == "clauses"


def test_a_trained_file_is_in_the_recipe_by_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    encoder = {"model": "tiny", "device": "cpu", "dtype": "float64"}
    block = {
        "kind": "sentence_roles",
        "model": "m.json",
        "facets": {"method": ["method"]},
    }
    recipes = []
    for content in ("{}", "[]", "{}"):
        Path("m.json").write_text(content, encoding="utf-8")
        recipes.append(recipe(**block, encoder=encoder))
    assert recipes[0] == recipes[2] != recipes[1]
    assert recipes[0].endswith("#44136fa3")  # sha256 of {}


def test_a_language_model_is_named_with_its_prompt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    models = parse_models(
        {"here": {"kind": "openai", "base_url": "http://127.0.0.1:9/v1"}},
        {"m": {"endpoint": "here", "model": "m-1", "max_tokens": 99}},
    )
    about, again = "model:m-1|temperature:0|seed:none|max_tokens", Again().signature(1)
    facets = {"population": "who was studied", "outcome": ""}
    block = {
        "kind": "llm_facets",
        "model": "m",
        "facets": facets,
        "shots": 0,
        "rounds": 1,
    }
    assert recipe(models, **block) == (
        f"llm_facets({about}:99|prompt:{load('facets').signature}"
        f"|facets:population=who was studied,outcome|shots:0|{again})"
    )
    block = {
        "kind": "llm",
        "model": "m",
        "least": 1,
        "most": 3,
        "rounds": 1,
        "max_tokens": 9,
    }
    assert recipe(models, DECOMPOSITIONS, **block) == (
        f"llm_claims({about}:9|prompt:{load('claims').signature}|claims:1-3|{again})"
    )
    with pytest.raises(
        BadInput, match=r"model 'm' is not in params.yaml > models; known: none"
    ):
        recipe(NOBODY, DECOMPOSITIONS, **block)
