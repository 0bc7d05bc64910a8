"""What a training reads of a row is what its metric reads of the same texts."""

from pathlib import Path
from typing import Any

import pytest

from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric

pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")
import torch

from metassay.core.options import parse
from metassay.metrics import bartscore, bleurt
from metassay.metrics.bleurt import CLINICAL
from metassay.metrics.faithfulness import ctc_consistency
from metassay.models.loading import NetworkOptions, load
from metassay.tuning.tasks import BARTSCORE, CTC, DISTILL, QUALITY, Marked, Task, Valued, Written
from tests.metrics.faithfulness.setup import scored
from tests.models import tiny

TEXTS = [
    ("how is the knee today? it hurts", "the \u201cKnee\u201d hurts,  today"),
    ("the knee " * 60, "it hurts when i climb"),  # the passages are cut
    ("it hurts", "stairs"),
]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def batch(task: Task, folder: Path, rows: list[Any]) -> tuple[Any, dict[str, Any]]:
    """The network and a batch of these rows, as the training would be handed it."""
    options = NetworkOptions(model=str(folder), device="cpu", dtype="float64")
    network = load(task.network, options)
    encode = task.encode(network)
    return network.weights, dict(task.collate(network)([encode(row) for row in rows]))


def values(kind: FaithfulnessMetric, folder: Path) -> list[float]:
    every = scored(kind, [Case((context,), (text,)) for context, text in TEXTS], folder)
    return [value.value for (value,) in every if value.value is not None]


def test_bartscore_is_the_loss_turned(tmp_path: Path) -> None:
    folder = tiny.bart(tmp_path / "bart")
    for text, value in zip(TEXTS, values(bartscore.SOURCE, folder), strict=True):
        network, inputs = batch(BARTSCORE, folder, [Written(*(side.strip() for side in text))])
        with torch.no_grad():
            assert float(network(**inputs).loss) == pytest.approx(-value, abs=1e-6)


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_regressor_gives_in_training_what_its_metric_is(tmp_path: Path, kind: str) -> None:
    folder = tiny.classifier(tmp_path / kind, kind, ["value"])
    rows = [Valued(context.strip(), text.strip(), 0.5) for context, text in TEXTS]
    network, inputs = batch(DISTILL, folder, rows)
    labels = inputs.pop("labels")
    with torch.no_grad():
        outputs = network(**inputs)
    expected = values(bleurt.REGRESSOR, folder)
    assert outputs.logits.squeeze(-1).tolist() == pytest.approx(expected, abs=1e-6)
    assert DISTILL.loss is not None
    squares = [(value - 0.5) ** 2 for value in expected]
    assert float(DISTILL.loss(outputs, labels)) == pytest.approx(sum(squares) / 3, abs=1e-6)


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_tuned_regressor_reads_reference_and_text_as_its_metric_does(
    tmp_path: Path, kind: str
) -> None:
    folder = tiny.classifier(tmp_path / kind, kind, ["value"])
    pairs = [*TEXTS, *(pair[::-1] for pair in TEXTS)]
    rows = [Valued(reference.strip(), text.strip(), 0.5) for reference, text in pairs]
    network, inputs = batch(QUALITY, folder, rows)
    inputs.pop("labels")
    with torch.no_grad():
        logits = network(**inputs).logits.squeeze(-1).tolist()
    block = {"model": str(folder), "device": "cpu", "dtype": "float64"}
    options = parse(CLINICAL.options, block, where="test")
    references, texts = zip(*pairs, strict=True)
    found = CLINICAL.measure(texts, references, options)["clinical_bleurt"]
    assert [each.value for each in found] == pytest.approx(logits, abs=1e-6)
    assert [each.cut for each in found] == [False, True, False] * 2


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_ctc_is_trained_on_the_words_that_its_metric_reads(tmp_path: Path, kind: str) -> None:
    """Where all words are real, the loss of a text is -log of their probabilities, on average."""
    folder = tiny.classifier(tmp_path / kind, kind, ["not_fake", "fake"], head="Token")
    assert CTC.loss is not None
    for (context, text), value in zip(TEXTS, values(ctc_consistency.KIND, folder), strict=True):
        words = text.split()
        losses = []
        for chosen in range(len(words)):
            # One word at a time is asked for: the others are past what labels are read of.
            row = Marked(context, words, [0] * len(words))
            network, inputs = batch(CTC, folder, [row])
            labels = inputs.pop("labels")
            labels[(labels >= 0) & (labels // 2 != chosen)] = -100
            with torch.no_grad():
                losses.append(CTC.loss(network(**inputs), labels))
        assert torch.stack(losses).neg().exp().mean().item() == pytest.approx(value, abs=1e-7)


def test_words_of_several_inputs_are_not_mixed(tmp_path: Path) -> None:
    folder = tiny.classifier(tmp_path / "bert", "bert", ["not_fake", "fake"], head="Token")
    rows = [Marked(context, text.split(), [1] * len(text.split())) for context, text in TEXTS]
    assert CTC.loss is not None
    total, count = 0.0, 0
    for row in rows:
        network, inputs = batch(CTC, folder, [row])
        labels = inputs.pop("labels")
        with torch.no_grad():
            total += float(CTC.loss(network(**inputs), labels)) * len(row.words)
        count += len(row.words)
    network, inputs = batch(CTC, folder, rows)
    labels = inputs.pop("labels")
    with torch.no_grad():
        together = float(CTC.loss(network(**inputs), labels))
    assert together == pytest.approx(total / count, abs=1e-9)
