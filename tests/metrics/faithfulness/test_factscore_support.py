"""FactScore by hand, and against one statement at a time, with global attention and without."""

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
    Case(("the knee", LONG, "it hurts"), ("it hurts",)),
    Case(("the knee hurts",), (LONG,)),
]


def longformer(folder: Path) -> Path:
    """A tiny Longformer with the tokenizer of the other tiny classifiers."""
    classifier(folder, "roberta", NAMES)
    words = transformers.AutoTokenizer.from_pretrained(folder)
    config = transformers.LongformerConfig(
        vocab_size=len(words),
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=65,
        attention_window=8,
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
        classifier(folder, "bert", NAMES)
        if request.param == "bert"
        else longformer(folder)
    )


def scored(cases: Sequence[Case], model: Path, **changes: Any) -> list[list[Scored]]:
    return setup.scored(factscore_support.KIND, cases, model, **changes)


def directly(model: Path, claim: str, passages: Sequence[str]) -> tuple[Any, Any]:
    """Shares of both rules, by plain calls: <s> claim </s> passage </s> passage </s>, uncut."""
    words, weights = setup.plain(model)
    parts = [
        words(text, add_special_tokens=False)["input_ids"]
        for text in (claim, *passages)
    ]
    numbers = [1, *(token for part in parts for token in [*part, 2])]
    begun = len(parts[0]) + 2
    inputs: dict[str, Any] = {"input_ids": torch.tensor([numbers])}
    if weights.config.model_type == "longformer":
        far = [float(at < begun or token == 2) for at, token in enumerate(numbers)]
        inputs["global_attention_mask"] = torch.tensor([far]).long()
    else:
        inputs["token_type_ids"] = torch.tensor(
            [[int(at >= begun) for at in range(len(numbers))]]
        )
    with torch.no_grad():
        logits = weights(**inputs).logits[0]
    shares = logits.softmax(0)[2].item(), logits[[0, 2]].softmax(0)[1].item()
    return pytest.approx(shares[0], abs=1e-5), pytest.approx(shares[1], abs=1e-5)


@pytest.mark.parametrize(
    ("rule", "share"), [("printed", 0.785597), ("released", 0.952574)]
)
def test_by_hand(rule: str, share: float) -> None:
    """Logits -1, .5, 2 of contradicted, not enough, supported: e^2 of the sum of all, or of two."""
    labels = ("contradicted", "neutral", "entailed")
    value = factscore_support.support([-1, 0.5, 2], labels, rule, 6)
    assert value == pytest.approx(share, abs=1e-6)


def test_each_statement_is_what_plain_calls_make_of_it(model: Path) -> None:
    both = [
        scored(CASES, model, rule=rule, batch_tokens=150)
        for rule in ("printed", "released")
    ]
    for case, place in ((0, 0), (0, 2), (1, 0)):
        expected = directly(model, CASES[case].statements[place], CASES[case].passages)
        assert tuple(results[case][place].value for results in both) == expected


def test_what_does_not_fit_is_counted(model: Path) -> None:
    words, _ = setup.plain(model)

    def tokens(text: str) -> Any:
        return words(text, add_special_tokens=False)["input_ids"]

    results = scored(CASES, model)
    whole = sum(len(tokens(text.strip())) for text in CASES[2].passages)
    # an end mark behind each of two passages
    read = 64 - (2 + len(tokens("it hurts"))) - 2
    assert results[2][0].unread == pytest.approx(1 - read / whole)
    assert (results[2][0].cut, results[3][0].cut, results[3][0].unread) == (
        False,
        True,
        0,
    )
    begun = words.decode(tokens(LONG)[: read - len(tokens("the knee"))])
    assert results[2][0].value == directly(model, "it hurts", ["the knee", begun])[0]
    # A statement has all the room that passages leave.
    begun = words.decode(tokens(LONG)[: 64 - (len(tokens("the knee hurts")) + 1) - 2])
    assert results[3][0].value == directly(model, begun, ["the knee hurts"])[0]


def test_classes_must_be_known(tmp_path: Path) -> None:
    unnamed = classifier(tmp_path / "a", "bert", ("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(
        BadInput,
        match=r"the names of the classes, 'LABEL_0', .*, do not say what they mean",
    ):
        scored(CASES, unnamed)
    two = classifier(tmp_path / "b", "bert", ("entailment", "contradiction"))
    with pytest.raises(
        BadInput, match="has entailed and contradicted; factscore_support needs"
    ):
        scored(CASES, two)
    first, turned = (
        scored(CASES[:1], unnamed, labels=list(names))[0][0].value
        for names in (NAMES, NAMES[::-1])
    )
    assert None not in (first, turned)
    assert first != turned
