"""Labels that a model writes, against plain calls, one statement at a time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.metrics.faithfulness import entailment_label
from metassay.metrics.faithfulness.record import Case, Scored

torch = pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.metrics.faithfulness import setup  # noqa: E402 - it needs them
from tests.models.tiny import t5  # noqa: E402

LONG = "it hurts in the knee today and when he climbs the stairs " * 20
WORDS = {"1": 1.0, "0": 0.0, "7": -0.5}
PASSAGES = ("a", "in the knee", "how", "2", "10", "how is the knee?", "climb", "stairs")
CASES = [
    Case((f"it hurts {text} today", "the knee"), ("it hurts",)) for text in PASSAGES
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It writes 1, 0, 7 or 8 and ends there, by what it reads; 8 is no label."""
    place = t5(tmp_path_factory.mktemp("t5") / "model", factor=2.0)
    words, weights = setup.plain(place, "Seq2SeqLM", "float32")
    digits = words.convert_tokens_to_ids(["1", "0", "7", "8"])
    start = torch.tensor([[0]])
    with torch.no_grad():
        states = []
        for text in PASSAGES:
            read = (
                f"mednli: sentence1: it hurts {text} today the knee sentence2: it hurts"
            )
            outputs = weights(
                **words(read, return_tensors="pt"),
                decoder_input_ids=start,
                output_hidden_states=True,
            )
            states.append(outputs.decoder_hidden_states[-1][0, 0])
        rows = torch.stack(states)
        # What tells them apart, either way: their mean, the same for all of them,
        # counts nothing.
        ways = torch.linalg.svd(rows - rows.mean(0))[2][:2]
        mean = rows.mean(0) / rows.mean(0).norm()
        ways = ways - (ways @ mean)[:, None] * mean
        head = torch.zeros_like(weights.lm_head.weight)
        head[digits] = 100 * torch.cat([ways, -ways])
        weights.lm_head.weight = torch.nn.Parameter(head)
    weights.generation_config.eos_token_id = [2, *digits]
    weights.config.tie_word_embeddings = False
    weights.save_pretrained(place)
    return place


def scored(cases: Sequence[Case], model: Path, **changes: Any) -> list[list[Scored]]:
    how = {"values": WORDS, "max_tokens": 400} | changes
    return setup.scored(entailment_label.KIND, cases, model, **how)


def written(model: Path, text: str, **cut: Any) -> float | None:
    words, weights = setup.plain(model, "Seq2SeqLM")
    with torch.no_grad():
        inputs = words(text, return_tensors="pt", **cut)
        logits = weights(**inputs, decoder_input_ids=torch.tensor([[0]])).logits
    return WORDS.get(str(words.decode(logits[0, 0].argmax(), skip_special_tokens=True)))


def test_each_label_is_what_plain_calls_write(model: Path) -> None:
    for how, template in (
        ({}, "mednli: sentence1: {} sentence2: it hurts"),
        ({"template": "{hypothesis} of {premise}?"}, "it hurts of {}?"),
    ):
        values = [
            written(model, template.format(" ".join(case.passages))) for case in CASES
        ]
        results = scored(CASES, model, **how)
        assert results == [[Scored(value, failed=value is None)] for value in values]
    labels = {each.value for (each,) in scored(CASES, model)}
    assert None in labels
    assert len(labels) > 2


def test_the_statement_is_protected_or_the_end_is_cut_as_released(model: Path) -> None:
    words, _ = setup.plain(model, "Seq2SeqLM")

    def size(text: str) -> int:
        return len(words(text, add_special_tokens=False)["input_ids"])

    text = f"mednli: sentence1: {LONG.strip()} sentence2: it hurts"
    over = len(words(text)["input_ids"]) - 400
    cases = [Case((LONG,), ("it hurts",))]
    protected, released = (
        scored(cases, model, rule=rule)[0][0] for rule in ("protected", "released")
    )
    whole = size(LONG.strip())
    # where texts join
    assert protected.unread == pytest.approx(over / whole, abs=6 / whole)
    assert not protected.cut
    begun = words.decode(words(text)["input_ids"][:255])
    read = size(begun.removeprefix("mednli: sentence1: "))
    assert released.unread == pytest.approx(1 - read / whole, abs=2 / whole)
    assert released.cut
    assert released.value == written(model, text, truncation=True, max_length=256)
    # What is short is the same under both rules.
    assert scored(CASES, model, rule="released") == scored(CASES, model)


def test_other_numbers_for_the_labels_load_no_model(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = [its[0].value for its in scored(CASES, model)]
    monkeypatch.setattr(entailment_label, "load_encoder_decoder", setup.fail)
    turned = scored(
        CASES, model, values={word: -value for word, value in WORDS.items()}
    )
    assert [its[0].value for its in turned] == [
        None if n is None else -n for n in first
    ]
    with pytest.raises(
        BadInput, match=r"must have \{premise\} and \{hypothesis\}, each once"
    ):
        scored(CASES, model, template="{premise}")
