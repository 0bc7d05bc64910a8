"""BLEURT, of texts against references and of statements against passages, by plain calls."""

from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.metrics import bleurt
from metassay.metrics.describe import Measured
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric, Scored

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")

from metassay.models import pair_scores  # noqa: E402 - it needs them
from tests.metrics.faithfulness import setup  # noqa: E402
from tests.models.tiny import classifier  # noqa: E402

LONG = "how is the knee when i climb the stairs? " * 9  # past 64 tokens
CANDIDATES = ["it hurts today", "the knee", "", " ", LONG, "it hurts", "it hurts today", LONG]
REFERENCES = ["the knee hurts", "", "it hurts", "", "it hurts", LONG, "the knee hurts", LONG + "a"]


@pytest.fixture(scope="module", params=["bert", "roberta"])
def model(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bleurt") / str(request.param)
    return classifier(folder, request.param, ("LABEL_0",))


def measured(model: Path, *pairs: Any, **changes: Any) -> list[Measured]:
    block = {"model": str(model), "device": "cpu", "dtype": "float64"} | changes
    options = parse(bleurt.BleurtOptions, block, where="test")
    return bleurt.measure(*(pairs or (CANDIDATES, REFERENCES)), options)["bleurt"]


def directly(model: Path, reference: str, candidate: str) -> tuple[float, int]:
    """The number by plain calls, and how many tokens were read."""
    words = transformers.AutoTokenizer.from_pretrained(model)
    weights = transformers.AutoModelForSequenceClassification.from_pretrained(
        model, dtype=torch.float64
    ).eval()
    cut = {"truncation": "longest_first", "max_length": 64, "return_tensors": "pt"}
    inputs = words(reference.strip(), candidate.strip(), **cut)
    with torch.no_grad():
        return weights(**inputs).logits.item(), len(inputs["input_ids"][0])


def test_each_pair_is_what_plain_calls_make_of_it(model: Path) -> None:
    results = measured(model, batch_tokens=200)
    assert results[3] == Measured(None, None)
    for place, (candidate, reference) in enumerate(zip(CANDIDATES, REFERENCES, strict=True)):
        if candidate.strip() and reference.strip():
            value, size = directly(model, reference, candidate)
            assert results[place].value == pytest.approx(value, abs=1e-5)
            assert results[place].cut == (size == 64)
    assert (results[1].value, results[2].value) != (None, None)
    assert [each.cut for each in results] == [place in (4, 5, 7) for place in range(8)]


def test_a_tuned_one_is_the_same_measure_under_a_name_of_its_own(model: Path) -> None:
    block = {"model": str(model), "device": "cpu", "dtype": "float64"}
    options = parse(bleurt.CLINICAL.options, block, where="test")
    found = bleurt.CLINICAL.measure(CANDIDATES, REFERENCES, options)
    assert found == {"clinical_bleurt": measured(model)}
    (description,) = bleurt.CLINICAL.descriptions
    assert (description.name, description.better) == ("clinical_bleurt", "higher")


@pytest.mark.parametrize("kind", [bleurt.SOURCE, bleurt.REGRESSOR])
def test_a_statement_has_its_passages_as_reference(model: Path, kind: FaithfulnessMetric) -> None:
    cases = [
        Case(("the knee hurts", "it is late"), ("it hurts today", " ", "the knee")),
        Case((LONG,), ("it hurts",)),
        Case(("it hurts",), (LONG,)),
        Case((), ("it hurts",)),
    ]
    results = setup.scored(kind, cases, model)
    for place, statement in ((0, "it hurts today"), (2, "the knee")):
        value, _ = directly(model, "the knee hurts it is late", statement)
        assert results[0][place].value == pytest.approx(value, abs=1e-5)
    assert results[0][1] == results[3][0] == Scored(None)
    words = transformers.AutoTokenizer.from_pretrained(model)
    size, statement = (
        len(words(text.strip(), add_special_tokens=False)["input_ids"])
        for text in (LONG, "it hurts")
    )
    marks = words.num_special_tokens_to_add(pair=True)
    assert results[1][0].unread == pytest.approx(1 - (64 - marks - statement) / size)
    assert (results[1][0].cut, results[2][0].cut, results[2][0].unread) == (False, True, 0)
    setup.holds_in_any_company(lambda cases, **how: setup.scored(kind, cases, model, **how), cases)


def test_a_second_run_loads_no_model(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = measured(model)
    monkeypatch.setattr(pair_scores, "load_classifier", setup.fail)
    assert measured(model, CANDIDATES[::-1], REFERENCES[::-1]) == first[::-1]
    with pytest.raises(AssertionError, match="a model is loaded"):
        measured(model, max_tokens=20)


def test_what_has_classes_or_is_not_finite(model: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has 2 classes, and a regressor has one number"):
        measured(classifier(tmp_path / "two", "bert", ("a", "b")))
    weights = transformers.AutoModelForSequenceClassification.from_pretrained(model)
    with torch.no_grad():
        next(weights.classifier.parameters()).fill_(float("nan"))
    weights.save_pretrained(tmp_path / "broken")
    transformers.AutoTokenizer.from_pretrained(model).save_pretrained(tmp_path / "broken")
    assert measured(tmp_path / "broken", ["a"], ["b"]) == [Measured(None, None)]
    results = setup.scored(bleurt.SOURCE, [Case(("a",), ("b",))], tmp_path / "broken")
    assert results == [[Scored(None, failed=True)]]


def test_recipes(model: Path) -> None:
    assert "|dtype:float64|max_tokens:40|" in setup.recipe(bleurt.SOURCE, model, max_tokens=40)
    network = {"model": str(model), "device": "cpu", "dtype": "float32"}
    options = parse(bleurt.BleurtOptions, network, where="test")
    assert "|max_tokens:None|" in bleurt.KIND.recipe(options)
