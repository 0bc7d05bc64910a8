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
from metassay.tuning.tasks import (
    BARTSCORE,
    CTC,
    DISTILL,
    QUALITY,
    Marked,
    Task,
    Valued,
    Written,
)
from tests.metrics.faithfulness.setup import scored
from tests.models import tiny

TEXTS = [
    ("how is the knee today? it hurts", "the \u201cKnee\u201d hurts,  today"),
    ("the knee " * 60, "it hurts when i climb"),  # the passages are cut
    ("it hurts", "stairs"),
]
both_kinds = pytest.mark.parametrize("kind", ["bert", "roberta"])


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def outputs(task: Task, folder: Path, rows: list[Any]) -> tuple[Any, Any]:
    """What the network gives for a batch of these rows, and the labels, as in training."""
    options = NetworkOptions(model=str(folder), device="cpu", dtype="float64")
    network = load(task.network, options)
    encode = task.encode(network)
    inputs = dict(task.collate(network)([encode(row) for row in rows]))
    labels = inputs["labels"] if task is BARTSCORE else inputs.pop("labels")
    with torch.no_grad():
        return network.weights(**inputs), labels


def values(kind: FaithfulnessMetric, folder: Path) -> list[float]:
    every = scored(kind, [Case((context,), (text,)) for context, text in TEXTS], folder)
    return [value.value for (value,) in every if value.value is not None]


def test_bartscore_is_the_loss_turned(tmp_path: Path) -> None:
    folder = tiny.bart(tmp_path / "bart")
    for text, value in zip(TEXTS, values(bartscore.SOURCE, folder), strict=True):
        result, _ = outputs(
            BARTSCORE, folder, [Written(*(side.strip() for side in text))]
        )
        assert float(result.loss) == pytest.approx(-value, abs=1e-6)


@both_kinds
def test_a_regressor_gives_in_training_what_its_metric_is(
    tmp_path: Path, kind: str
) -> None:
    folder = tiny.classifier(tmp_path / kind, kind, ["value"])
    rows = [Valued(context.strip(), text.strip(), 0.5) for context, text in TEXTS]
    result, labels = outputs(DISTILL, folder, rows)
    expected = values(bleurt.REGRESSOR, folder)
    assert result.logits.squeeze(-1).tolist() == pytest.approx(expected, abs=1e-6)
    assert DISTILL.loss is not None
    squares = [(value - 0.5) ** 2 for value in expected]
    assert float(DISTILL.loss(result, labels)) == pytest.approx(
        sum(squares) / 3, abs=1e-6
    )
    # Of quality: reference and text.
    pairs = [*TEXTS, *(pair[::-1] for pair in TEXTS)]
    rows = [Valued(reference.strip(), text.strip(), 0.5) for reference, text in pairs]
    result, _ = outputs(QUALITY, folder, rows)
    block = {"model": str(folder), "device": "cpu", "dtype": "float64"}
    references, texts = zip(*pairs, strict=True)
    options = parse(CLINICAL.options, block, where="test")
    measured = CLINICAL.measure(texts, references, options)["clinical_bleurt"]
    logits = result.logits.squeeze(-1).tolist()
    assert [each.value for each in measured] == pytest.approx(logits, abs=1e-6)
    assert [each.cut for each in measured] == [False, True, False] * 2


@both_kinds
def test_ctc_is_trained_on_the_words_that_its_metric_reads(
    tmp_path: Path, kind: str
) -> None:
    """Where all words are real, the loss of a text is -log of their probabilities, on average."""
    folder = tiny.classifier(tmp_path / kind, kind, ["not_fake", "fake"], head="Token")
    assert CTC.loss is not None
    for (context, text), value in zip(
        TEXTS, values(ctc_consistency.KIND, folder), strict=True
    ):
        words = text.split()
        result, every = outputs(CTC, folder, [Marked(context, words, [0] * len(words))])
        losses = []
        for chosen in range(len(words)):
            # Labels of one word at a time: the others are past what labels are read of.
            labels = every.clone()
            labels[(labels >= 0) & (labels // 2 != chosen)] = -100
            losses.append(CTC.loss(result, labels))
        assert torch.stack(losses).neg().exp().mean().item() == pytest.approx(
            value, abs=1e-7
        )


def test_words_of_several_inputs_are_not_mixed(tmp_path: Path) -> None:
    folder = tiny.classifier(
        tmp_path / "bert", "bert", ["not_fake", "fake"], head="Token"
    )
    rows = [
        Marked(context, text.split(), [1] * len(text.split()))
        for context, text in TEXTS
    ]
    assert CTC.loss is not None
    losses = [
        float(CTC.loss(*outputs(CTC, folder, [row]))) * len(row.words) for row in rows
    ]
    together = float(CTC.loss(*outputs(CTC, folder, rows)))
    assert together == pytest.approx(
        sum(losses) / sum(len(row.words) for row in rows), abs=1e-9
    )
