"""BARTScore against the reference: both directions by plain calls, one pair at a time."""

from pathlib import Path
from typing import Any

import pytest

from metassay.core.options import parse
from metassay.metrics import bartscore
from metassay.metrics.describe import Measured

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.metrics.faithfulness import formula  # noqa: E402 - it needs them
from tests.models import tiny  # noqa: E402

CANDIDATES = ["it hurts today", "the knee", "", " ", "how is the knee?", "it hurts today"]
REFERENCES = ["the knee hurts", "", "it hurts", "", "when i climb " * 40, "the knee hurts"]
NAMES = ("bartscore_precision", "bartscore_recall", "bartscore_f")


def measured(model: Path, *pairs: Any, **changes: Any) -> dict[str, list[Measured]]:
    block = {"model": str(model), "device": "cpu", "dtype": "float64"} | changes
    options = parse(bartscore.BartscoreOptions, block, where="test")
    return bartscore.measure(*(pairs or (CANDIDATES, REFERENCES)), options)


def directly(model: Path, source: str, target: str) -> float:
    words = transformers.AutoTokenizer.from_pretrained(model)
    weights = transformers.AutoModelForSeq2SeqLM.from_pretrained(model, dtype=torch.float64).eval()
    read, written = (
        words(text.strip(), return_tensors="pt", truncation=True, max_length=64)["input_ids"]
        for text in (source, target)
    )
    with torch.no_grad():
        return -float(weights(input_ids=read, labels=written).loss)


def test_both_directions_are_losses_of_plain_calls(tmp_path: Path) -> None:
    model = tiny.bart(tmp_path / "model")
    results = measured(model, batch_tokens=200)
    harm = measured(model, f="harm")["bartscore_f"]
    for place, pair in enumerate(zip(CANDIDATES, REFERENCES, strict=True)):
        precision, recall, f = (results[name][place] for name in NAMES)
        if not "".join(pair).strip():
            assert precision == recall == f == Measured(None, None)
            continue
        a, b = directly(model, pair[1], pair[0]), directly(model, *pair)
        assert (precision.value, recall.value) == pytest.approx((a, b), abs=1e-7)
        assert f.value == pytest.approx((a + b) / 2, abs=1e-7)
        assert harm[place].value == pytest.approx(a * b / (a + b), abs=1e-7)
        assert f.cut == (place == 4)
    assert measured(model, [], []) == {name: [] for name in NAMES}


def test_the_values_of_the_formula(tmp_path: Path) -> None:
    model = formula.bart(tmp_path / "formula")
    results = measured(model, ["t6t7", ""], ["t5 t6t7", "t5 t6t7"], dtype="float32")
    values = [each.value for each in results["bartscore_precision"]]
    assert values == pytest.approx([-3.512514, -3.918116], abs=1e-5)


def test_its_record(tmp_path: Path) -> None:
    assert tuple(each.name for each in bartscore.KIND.descriptions) == NAMES
    assert (bartscore.KIND.costly, bartscore.KIND.against) == (True, "reference")
    network = {"model": str(tiny.bart(tmp_path / "model")), "device": "cpu", "dtype": "float32"}
    options = parse(bartscore.BartscoreOptions, network, where="test")
    assert "|f:mean|max_tokens:None|" in bartscore.KIND.recipe(options)
