"""Labels that a model writes, against plain calls, one statement at a time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.metrics.faithfulness import entailment_label
from metassay.metrics.faithfulness.record import Case, Scored

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.metrics.faithfulness import setup  # noqa: E402 - it needs them
from tests.models.tiny import t5  # noqa: E402

LONG = "it hurts in the knee today and when he climbs the stairs " * 20
WORDS = {"1": 1.0, "0": 0.0, "7": -0.5}
PASSAGES = ("a", "in the knee", "how", "2", "10", "how is the knee?", "climb", "stairs")
CASES = [Case((f"it hurts {text} today", "the knee"), ("it hurts",)) for text in PASSAGES]
CASES = [
    *CASES,
    Case((), ("it hurts",)),
    Case(("a",), (" ",)),
    Case((LONG,), ("it hurts",)),
    CASES[0],
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It writes 1, 0, 7 or 8 and ends there, by what it reads; 8 is no label."""
    place = t5(tmp_path_factory.mktemp("t5") / "model", factor=2.0)
    words = transformers.AutoTokenizer.from_pretrained(place)
    weights = transformers.AutoModelForSeq2SeqLM.from_pretrained(place)
    digits = words.convert_tokens_to_ids(["1", "0", "7", "8"])
    answers = [f"it hurts {text} today the knee sentence2: it hurts" for text in PASSAGES]
    with torch.no_grad():
        states = [
            weights(
                **words(f"mednli: sentence1: {text}", return_tensors="pt"),
                decoder_input_ids=torch.tensor([[0]]),
                output_hidden_states=True,
            ).decoder_hidden_states[-1][0, 0]
            for text in answers
        ]
        rows = torch.stack(states)
        # What tells them apart, either way: their mean, the same for all of them, counts nothing.
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


def written(model: Path, text: str, *, most: int | None = None) -> str:
    words = transformers.AutoTokenizer.from_pretrained(model)
    weights = transformers.AutoModelForSeq2SeqLM.from_pretrained(model, dtype=torch.float64).eval()
    cut = {} if most is None else {"truncation": True, "max_length": most}
    with torch.no_grad():
        logits = weights(
            **words(text, return_tensors="pt", **cut), decoder_input_ids=torch.tensor([[0]])
        )
    return str(words.decode(logits.logits[0, 0].argmax(), skip_special_tokens=True))


def test_each_label_is_what_plain_calls_write(model: Path) -> None:
    results = scored(CASES, model)
    answers = [
        written(model, f"mednli: sentence1: {' '.join(case.passages)} sentence2: it hurts")
        for case in CASES[:8]
    ]
    assert "8" in answers
    assert len(set(answers)) > 2
    for its, word in zip(results, answers, strict=False):
        assert its == [Scored(WORDS.get(word), failed=word not in WORDS)]
    assert results[8] == results[9] == [Scored(None)]
    other = scored(CASES[:8], model, template="{hypothesis} of {premise}?")
    again = [written(model, f"it hurts of {' '.join(case.passages)}?") for case in CASES[:8]]
    assert [its[0].value for its in other] == [WORDS.get(word) for word in again]


def test_the_statement_is_protected_or_the_end_is_cut_as_released(model: Path) -> None:
    words = transformers.AutoTokenizer.from_pretrained(model)
    size = len(words(LONG.strip(), add_special_tokens=False)["input_ids"])
    text = f"mednli: sentence1: {LONG.strip()} sentence2: it hurts"
    over = len(words(text)["input_ids"]) - 400
    protected, released = (
        scored(CASES[10:11], model, rule=rule)[0][0] for rule in ("protected", "released")
    )
    assert protected.unread == pytest.approx(over / size, abs=6 / size)  # where texts join
    assert not protected.cut
    begun = words.decode(words(text)["input_ids"][:255])
    read = len(
        words(begun.removeprefix("mednli: sentence1: "), add_special_tokens=False)["input_ids"]
    )
    assert released.unread == pytest.approx(1 - read / size, abs=2 / size)
    assert released.cut
    word = written(model, text, most=256)
    assert released.value == WORDS.get(word)
    # What is short is the same under both rules.
    assert scored(CASES[:10], model, rule="released") == scored(CASES[:10], model)


def test_neither_order_nor_neighbours_nor_repeats_change_a_label(model: Path) -> None:
    setup.holds_in_any_company(lambda cases, **how: scored(cases, model, **how), CASES)


def test_other_numbers_for_the_labels_load_no_model(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = scored(CASES, model)
    monkeypatch.setattr(entailment_label, "load_encoder_decoder", setup.fail)
    turned = scored(CASES, model, values={word: -value for word, value in WORDS.items()})
    assert [its[0].value for its in turned] == [
        None if its[0].value is None else -its[0].value for its in first
    ]


def test_templates_and_recipes(model: Path) -> None:
    with pytest.raises(
        BadInput, match=r"template must have \{premise\} and \{hypothesis\}, each once"
    ):
        scored(CASES, model, template="{premise}")
    recipe = setup.recipe(entailment_label.KIND, model)
    assert "|template:mednli: sentence1: {premise} sentence2: {hypothesis}|values:{'ent" in recipe
    assert "'contradiction': -1.0}|rule:protected|max_tokens:None|" in recipe
