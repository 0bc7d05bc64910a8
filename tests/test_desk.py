"""desk.py: which text may go where, and the currency of the cap; nothing is sent here."""

from pathlib import Path
from typing import Any

import pytest

from metassay.datasets.registry import Dataset
from metassay.desk import ProjectDesk, cap_of
from metassay.errors import BadInput
from metassay.llm.endpoints import ModelOptions
from metassay.params import Params, load

ROOT = Path(__file__).parent.parent
MODEL: dict[str, Any] = {"endpoint": "here", "model": "m-1", "max_tokens": 9}
PRICES = {"date": "2026-11-01", "input_per_million": 1, "output_per_million": 1, "currency": "USD"}


def params(**changes: Any) -> Params:
    endpoint = {"kind": "openai", "base_url": "http://127.0.0.1:9/v1"} | changes.pop("endpoint", {})
    made = load(ROOT / "params.yaml").model_dump()
    made |= {"endpoints": {"here": endpoint}, "models": {"m": MODEL}}
    return Params.model_validate(made | changes)


def desk(tmp_path: Path, given: Params) -> ProjectDesk:
    def entry(access: str) -> Dataset:
        return Dataset.model_validate({"title": "t", "licence": "l", "access": access})

    registry = {"sample": entry("public"), "shown": entry("private")}
    return ProjectDesk(given, "sample", registry=registry, ledger=tmp_path / "ledger.sqlite")


def test_datasets_of_examples_are_cleared_too(tmp_path: Path) -> None:
    with desk(tmp_path, params()) as asked:
        asked.model("m", None)
        with pytest.raises(BadInput, match=r"'shown' is private.*endpoints > here > sends"):
            asked.model("m", None, ["shown"])
        with pytest.raises(BadInput, match="'other' is not in"):
            asked.model("m", None, ["other"])
        assert asked.responses().empty
    with desk(tmp_path, params(endpoint={"sends": ["private"]})) as asked:
        _, decoding = asked.model("m", 5, ["shown"])
        assert (decoding.model, decoding.max_tokens) == ("m-1", 5)


def test_an_unknown_model_is_named(tmp_path: Path) -> None:
    with desk(tmp_path, params()) as asked, pytest.raises(BadInput, match="known: m"):
        asked.model("n", None)
    assert not (tmp_path / "ledger.sqlite").exists()


def test_the_cap_is_in_the_currency_of_the_prices() -> None:
    model = ModelOptions.model_validate(MODEL | {"prices": PRICES})
    capped = params(max_cost={"amount": 2, "currency": "USD"})
    assert cap_of(capped, model, "m") == 2
    assert cap_of(params(), model, "m") is None
    with pytest.raises(BadInput, match="one currency"):
        cap_of(params(max_cost={"amount": 2, "currency": "EUR"}), model, "m")
