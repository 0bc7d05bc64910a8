"""connection.py: which text may go where, and the currency of the cap; nothing is sent here."""

from pathlib import Path
from typing import Any

import pytest

from metassay.errors import BadInput
from metassay.kinds import Chosen
from metassay.llm.connection import Connection, cap_of, model_problems
from metassay.llm.endpoints import ModelOptions, Models, parse_models
from metassay.needs import Needs, PromptFile, Use
from metassay.options import Options
from metassay.params import MaxCost

MODEL: dict[str, Any] = {"endpoint": "here", "model": "m-1", "max_tokens": 9}
PRICES = {"date": "2026-11-01", "input_per_million": 1, "output_per_million": 1, "currency": "USD"}
ACCESS = {"sample": "public", "shown": "private"}


def models(**changes: Any) -> Models:
    endpoint = {"kind": "openai", "base_url": "http://127.0.0.1:9/v1"} | changes
    return parse_models({"here": endpoint}, {"m": MODEL})


def connection(tmp_path: Path, given: Models) -> Connection:
    return Connection(
        given, None, ACCESS, ["sample"], raw=tmp_path, ledger=tmp_path / "ledger.sqlite"
    )


def asking(model: str = "m", max_tokens: int | None = None, reads: tuple[str, ...] = ()) -> Chosen:
    """A kind that asks this model and reads these datasets."""
    record = Needs(model=lambda _: Use(model, max_tokens), datasets=lambda _: reads)
    return Chosen("asking", record, Options())


def test_datasets_that_a_kind_reads_are_cleared_too(tmp_path: Path) -> None:
    with connection(tmp_path, models()) as connected:
        connected.provide(asking())
        with pytest.raises(BadInput, match=r"'shown' is private.*endpoints > here > sends"):
            connected.provide(asking(reads=("shown",)))
        with pytest.raises(BadInput, match=r"'other' is not in data/registry.yaml.*known: sample"):
            connected.provide(asking(reads=("other",)))
        assert connected.finish().responses.empty
    with connection(tmp_path, models(sends=["private"])) as connected:
        _, decoding = connected.provide(asking("m", 5, ("shown",))).asked()
        assert (decoding.model, decoding.max_tokens) == ("m-1", 5)


def test_who_asks_nobody_opens_nothing(tmp_path: Path) -> None:
    with connection(tmp_path, models()) as connected:
        given = connected.provide(Chosen("rule", Needs(), Options()))
        assert connected.finish().responses.empty
    assert (given.raw, given.model) == (tmp_path, None)
    assert not (tmp_path / "ledger.sqlite").exists()
    with pytest.raises(RuntimeError, match="name it in its record"):
        given.asked()


def test_an_unknown_model_is_named(tmp_path: Path) -> None:
    with connection(tmp_path, models()) as connected, pytest.raises(BadInput, match="known: m"):
        connected.provide(asking("n"))
    assert not (tmp_path / "ledger.sqlite").exists()


def test_models_and_prompts_are_checked_by_the_record(tmp_path: Path) -> None:
    record = Needs(
        model=lambda _: Use("n", None),
        files=lambda _: [PromptFile(tmp_path / name, {}) for name in ("a.yaml", "b.yaml")],
    )
    problems = model_problems(Chosen("asking", record, Options()), models(), where="systems > s")
    assert problems[0].startswith("systems > s: model 'n' is not in params.yaml > models")
    assert ["a.yaml does not exist" in problems[1], "b.yaml does not" in problems[2]] == [True] * 2
    assert model_problems(asking(), models(), where="systems > s") == []


def test_the_cap_is_in_the_currency_of_the_prices() -> None:
    model = ModelOptions.model_validate(MODEL | {"prices": PRICES})
    assert cap_of(MaxCost(amount=2, currency="USD"), model, "m") == 2
    assert cap_of(None, model, "m") is None
    with pytest.raises(BadInput, match="one currency"):
        cap_of(MaxCost(amount=2, currency="EUR"), model, "m")
