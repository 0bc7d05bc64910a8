"""MedBARTScore: the values of the definition, plain calls, and its properties."""

from pathlib import Path
from typing import Any

import pytest

from metassay.core.kinds import choose
from metassay.metrics import METRICS, bartscore
from metassay.metrics.describe import Measured

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.metrics.faithfulness import formula  # noqa: E402 - it needs them
from tests.models import tiny  # noqa: E402

NAMES = ("med_bartscore_precision", "med_bartscore_recall", "med_bartscore_f")
CANDIDATES = ["it hurts today", "the knee", "", " ", "how is the knee?", "stairs"]
REFERENCES = ["the knee hurts", "", "it hurts", "", "when i climb the knee " * 9, "today"]


@pytest.fixture(autouse=True)
def _terms(tmp_path: Path) -> None:
    rows = ["term,concept,semantic_type", "knee,K,a", "hurts,P,f", "t6t7,T,x", "t5,T,x"]
    (tmp_path / "terms.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def measured(model: Path, *pairs: list[str], **changes: Any) -> dict[str, list[Measured]]:
    block = {
        **{"kind": "med_bartscore", "model": str(model), "device": "cpu", "dtype": "float64"},
        "linker": {"kind": "terms", "terms": "terms.csv"},
    }
    chosen = choose(METRICS, block | changes, where="test")
    texts, references = pairs or (CANDIDATES, REFERENCES)
    assert tuple(one.name for one in chosen.record.descriptions) == NAMES
    assert [one.path.name for one in chosen.record.files(chosen.options)] == ["terms.csv"]
    assert "|alpha:" in chosen.record.recipe(chosen.options)
    found: dict[str, list[Measured]] = chosen.record.measure(texts, references, chosen.options)
    return found


def test_the_values_of_the_definition(tmp_path: Path) -> None:
    """Tokens 1 and 2 of the target weigh 2, its marks 1: four tokens, and a weight of six."""
    model = formula.bart(tmp_path / "formula")
    pair = (["t6t7"], ["t5 t6t7"])
    by_count = measured(model, *pair, dtype="float32", divisor="count")
    assert by_count["med_bartscore_precision"][0].value == pytest.approx(-5.159898, abs=1e-5)
    by_weights = measured(model, *pair, dtype="float32")
    assert by_weights["med_bartscore_precision"][0].value == pytest.approx(
        -(3.952382 + 2 * 3.818896 + 2 * 2.770639 + 3.508137) / 6, abs=1e-5
    )


def directly(model: Path, source: str, target: str, alpha: float) -> float:
    """With the tokens' places by the tokenizer, and the logarithms by a plain call."""
    words = transformers.AutoTokenizer.from_pretrained(model)
    weights = transformers.AutoModelForSeq2SeqLM.from_pretrained(model, dtype=torch.float64).eval()
    cut: dict[str, Any] = {"return_tensors": "pt", "truncation": True, "max_length": 64}
    read, written = words(source, **cut), words(target, **cut, return_offsets_mapping=True)
    labels = written["input_ids"]
    with torch.no_grad():
        logits = weights(input_ids=read["input_ids"], labels=labels).logits[0]
    logs = logits.log_softmax(-1)[range(len(labels[0])), labels[0]].tolist()
    places = [
        (target.index(name, at), target.index(name, at) + len(name))
        for name in ("knee", "hurts")
        for at in range(len(target))
        if target.startswith(name, at)
    ]
    heavy = [
        any(start < end and begin < stop for start, stop in places)
        for begin, end in written["offset_mapping"][0].tolist()
    ]
    each = [1 + alpha * more for more in heavy]
    return float(sum(w * log for w, log in zip(each, logs, strict=True)) / sum(each))


@pytest.mark.parametrize("alpha", [1.0, 3.0])
def test_both_directions_by_plain_calls(tmp_path: Path, alpha: float) -> None:
    model = tiny.bart(tmp_path / "model")
    results = measured(model, batch_tokens=200, alpha=alpha)
    for place, (text, reference) in enumerate(zip(CANDIDATES, REFERENCES, strict=True)):
        precision, recall, f = (results[name][place] for name in NAMES)
        if not (text + reference).strip():
            assert precision == recall == f == Measured(None, None)
            continue
        a = directly(model, reference.strip(), text, alpha)
        b = directly(model, text, reference.strip(), alpha)
        assert (precision.value, recall.value) == pytest.approx((a, b), abs=1e-7)
        assert f.value == pytest.approx((a + b) / 2, abs=1e-7)
        assert f.cut == (place == 4)


def test_alpha_0_is_bartscore_and_no_pair_depends_on_another(tmp_path: Path) -> None:
    model = tiny.bart(tmp_path / "model")
    block = {"model": str(model), "device": "cpu", "dtype": "float64"}
    options = bartscore.BartscoreOptions.model_validate(block)
    plain = bartscore.measure(CANDIDATES, REFERENCES, options)
    assert list(measured(model, alpha=0.0).values()) == list(plain.values())
    whole = measured(model)
    turned = measured(model, CANDIDATES[::-1], REFERENCES[::-1], batch_tokens=4096)
    assert {name: its[::-1] for name, its in turned.items()} == whole
    assert measured(model, [], []) == {name: [] for name in NAMES}
