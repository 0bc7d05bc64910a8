"""A regressor's values against the network asked directly."""

from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.metrics.faithfulness.record import Case, Scored
from metassay.metrics.faithfulness.regressor import KIND
from metassay.models import pair_scores

pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")
import torch
import transformers

from tests.metrics.faithfulness.setup import fail, holds_in_any_company, recipe, scored
from tests.models.tiny import classifier

PASSAGES = ("how is the knee today?", "it hurts when i climb the stairs")
CASES = [
    Case(PASSAGES, ("the knee hurts",)),
    Case(PASSAGES[:1], ("it climbs",)),
    Case(PASSAGES, ("the knee hurts", " ", "today")),
    Case(PASSAGES[1:], ("stairs " * 12,)),
]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return classifier(tmp_path_factory.mktemp("models") / "tiny", "bert", ["value"], places=64)


def directly(model: Path, passages: str, statement: str) -> float:
    """By transformers: the tokenizer joins the two texts, and the one logit is the value."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(
        model, dtype=torch.float64
    )
    with torch.no_grad():
        return float(network(**tokenizer(passages, statement, return_tensors="pt")).logits)


def test_the_value_is_the_networks_one_output(model: Path) -> None:
    (one,), (other,), several, _ = scored(KIND, CASES, model)
    joined = " ".join(PASSAGES)
    assert one.value == pytest.approx(directly(model, joined, "the knee hurts"), abs=1e-6)
    assert other.value == pytest.approx(directly(model, PASSAGES[0], "it climbs"), abs=1e-6)
    assert several[0] == one
    assert several[1] == Scored(None)
    assert several[2].value == pytest.approx(directly(model, joined, "today"), abs=1e-6)
    assert len({value.value for value in (one, other, several[2])}) == 3


def test_what_has_nothing_to_read_has_no_value(model: Path) -> None:
    cases = [Case((), ("the knee hurts",)), Case((" ",), ("knee",)), Case(PASSAGES, ("",))]
    assert scored(KIND, cases, model) == [[Scored(None)]] * 3


def test_values_hold_in_any_company(model: Path) -> None:
    holds_in_any_company(lambda cases, **changes: scored(KIND, cases, model, **changes), CASES)


def test_what_is_not_read_is_told(model: Path) -> None:
    long = Case(("the knee hurts today " * 30,), ("it hurts",))
    ((read,),) = scored(KIND, [long], model)
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    every = len(tokenizer(long.passages[0].strip(), add_special_tokens=False)["input_ids"])
    beside = len(tokenizer("", "it hurts")["input_ids"]) + 1  # the marks and the statement
    assert read.unread == pytest.approx(1 - (64 - beside) / every, abs=2 / every)
    assert not read.cut
    ((cut,),) = scored(KIND, [Case(PASSAGES, ("stairs and stairs " * 40,))], model)
    assert cut.cut


def test_a_number_that_is_not_finite_is_a_failure(tmp_path: Path) -> None:
    folder = classifier(tmp_path / "m", "bert", ["value"])
    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        network.classifier.bias.fill_(torch.inf)
    network.save_pretrained(folder)
    assert scored(KIND, CASES[:1], folder) == [[Scored(None, failed=True)]]


def test_a_second_run_loads_no_model(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = scored(KIND, CASES, model)
    monkeypatch.setattr(pair_scores, "load", fail)
    assert scored(KIND, CASES, model) == first


def test_a_classifier_is_refused(tmp_path: Path) -> None:
    folder = classifier(tmp_path / "m", "bert", ["yes", "no"])
    with pytest.raises(BadInput, match="has 2 classes, and a regressor has one number"):
        scored(KIND, CASES, folder)


def test_the_recipe_has_the_model_by_its_content(model: Path) -> None:
    assert recipe(KIND, model).startswith("model:tiny#")
    assert "dtype:float64" in recipe(KIND, model)
    assert recipe(KIND, model, batch_tokens=9) == recipe(KIND, model)
