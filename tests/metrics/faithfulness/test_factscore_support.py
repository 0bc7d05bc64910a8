"""FactScore by hand, and against one statement at a time, with global attention and without."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.metrics.faithfulness import factscore_support
from metassay.metrics.faithfulness.record import Case, Scored

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.metrics.faithfulness import setup  # noqa: E402 - it needs them
from tests.models.tiny import classifier  # noqa: E402

NAMES = ("REFUTES", "NOT ENOUGH INFO", "SUPPORTS")
LONG = "how is the knee when i climb the stairs? " * 9
CASES = [
    Case(("the knee hurts", "it is late"), ("it hurts today", " ", "the knee")),
    Case(("it hurts",), ("it hurts today",)),
    Case((), ("it hurts",)),
    Case(("the knee", LONG, "it hurts"), ("it hurts",)),
    Case(("the knee hurts",), (LONG,)),
    Case(("it </s> hurts",), ("<s>",)),
]
CASES = [*CASES, CASES[0]]


def longformer(folder: Path) -> Path:
    """A tiny Longformer with the tokenizer of the other tiny classifiers."""
    classifier(folder, "roberta", NAMES)
    words = transformers.AutoTokenizer.from_pretrained(folder)
    config = transformers.LongformerConfig(
        **{"vocab_size": len(words), "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
        **{"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2},
        **{"num_attention_heads": 2, "max_position_embeddings": 65, "attention_window": 8},
        id2label=dict(enumerate(NAMES)),
        label2id={name: place for place, name in enumerate(NAMES)},
    )
    torch.manual_seed(9)
    model = transformers.LongformerForSequenceClassification(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.3)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", params=["bert", "longformer"])
def model(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("factscore") / str(request.param)
    return (
        longformer(folder) if request.param == "longformer" else classifier(folder, "bert", NAMES)
    )


def scored(cases: Sequence[Case], model: Path, **changes: Any) -> list[list[Scored]]:
    return setup.scored(factscore_support.KIND, cases, model, **changes)


def directly(model: Path, claim: str, passages: Sequence[str]) -> Any:
    """Logits by plain calls: <s> claim </s> passage </s> passage </s>, none of it cut."""
    words = transformers.AutoTokenizer.from_pretrained(model)
    weights = transformers.AutoModelForSequenceClassification.from_pretrained(
        model, dtype=torch.float64
    ).eval()
    parts = [words(text, add_special_tokens=False)["input_ids"] for text in (claim, *passages)]
    numbers = [1, *(token for part in parts for token in [*part, 2])]
    begun = len(parts[0]) + 2
    inputs: dict[str, Any] = {"input_ids": torch.tensor([numbers])}
    if weights.config.model_type == "longformer":
        far = [float(at < begun or token == 2) for at, token in enumerate(numbers)]
        inputs["global_attention_mask"] = torch.tensor([far]).long()
    else:
        inputs["token_type_ids"] = torch.tensor([[int(at >= begun) for at in range(len(numbers))]])
    with torch.no_grad():
        return weights(**inputs).logits[0]


def test_by_hand() -> None:
    """Logits -1, .5, 2 of contradicted, not enough, supported."""
    labels = ("contradicted", "neutral", "entailed")
    printed, released = (
        factscore_support.support([-1, 0.5, 2], labels, rule, 6) for rule in ("printed", "released")
    )
    shares = [math.exp(logit) for logit in (-1, 0.5, 2)]
    assert printed == pytest.approx(shares[2] / sum(shares), abs=1e-6)
    assert printed == pytest.approx(0.785597, abs=1e-6)
    assert released == pytest.approx(0.952574, abs=1e-6)


def test_each_statement_is_what_plain_calls_make_of_it(model: Path) -> None:
    printed, released = (
        scored(CASES, model, rule=rule, batch_tokens=150) for rule in ("printed", "released")
    )
    for case, place in ((0, 0), (0, 2), (1, 0)):
        logits = directly(model, CASES[case].statements[place], CASES[case].passages)
        assert printed[case][place].value == pytest.approx(logits.softmax(0)[2].item(), abs=1e-5)
        against = logits[[0, 2]].softmax(0)[1].item()
        assert released[case][place].value == pytest.approx(against, abs=1e-5)
    assert printed[0][1] == printed[2][0] == Scored(None)


def test_what_does_not_fit_is_counted(model: Path) -> None:
    words = transformers.AutoTokenizer.from_pretrained(model)

    def size(text: str) -> int:
        return len(words(text.strip(), add_special_tokens=False)["input_ids"])

    results = scored(CASES, model)
    whole = sum(map(size, CASES[3].passages))
    read = 64 - (2 + size("it hurts")) - 2  # an end mark behind each of two passages
    assert results[3][0].unread == pytest.approx(1 - read / whole)
    assert (results[3][0].cut, results[4][0].cut) == (False, True)
    assert results[4][0].unread == 0
    begun = words.decode(
        words(LONG, add_special_tokens=False)["input_ids"][: read - size("the knee")]
    )
    logits = directly(model, "it hurts", ["the knee", begun])
    assert results[3][0].value == pytest.approx(logits.softmax(0)[2].item(), abs=1e-5)
    # A statement has all the room that passages leave.
    room = 64 - (size("the knee hurts") + 1) - 2
    begun = words.decode(words(LONG, add_special_tokens=False)["input_ids"][:room])
    logits = directly(model, begun, ["the knee hurts"])
    assert results[4][0].value == pytest.approx(logits.softmax(0)[2].item(), abs=1e-5)


def test_neither_order_nor_neighbours_nor_repeats_change_a_value(model: Path) -> None:
    setup.holds_in_any_company(lambda cases, **how: scored(cases, model, **how), CASES)


def test_classes_must_be_known(tmp_path: Path) -> None:
    unnamed = classifier(tmp_path / "a", "bert", ("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(BadInput, match=r"classes called 'LABEL_0', .* do not say what they mean"):
        scored(CASES, unnamed)
    two = classifier(tmp_path / "b", "bert", ("entailment", "contradiction"))
    with pytest.raises(BadInput, match="has entailed and contradicted; factscore_support needs"):
        scored(CASES, two)
    first = scored(CASES[:1], unnamed, labels=list(NAMES))[0][0].value
    turned = scored(CASES[:1], unnamed, labels=list(NAMES[::-1]))[0][0].value
    assert None not in (first, turned)
    assert first != turned


def test_what_is_not_finite_has_failed(model: Path, tmp_path: Path) -> None:
    weights = transformers.AutoModelForSequenceClassification.from_pretrained(model)
    with torch.no_grad():
        next(weights.classifier.parameters()).fill_(float("nan"))
    weights.save_pretrained(tmp_path / "broken")
    transformers.AutoTokenizer.from_pretrained(model).save_pretrained(tmp_path / "broken")
    assert scored(CASES[1:2], tmp_path / "broken") == [[Scored(None, failed=True)]]


def test_its_recipe_states_what_changes_a_value(model: Path) -> None:
    recipe = setup.recipe(factscore_support.KIND, model, rule="released")
    assert "|rule:released|labels:None|max_tokens:None|" in recipe
