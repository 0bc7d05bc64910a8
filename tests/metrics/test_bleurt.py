"""BLEURT, of texts against references and of statements against passages, by plain calls."""

from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.metrics import bleurt
from metassay.metrics.describe import Measured, Metric
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric

torch = pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.metrics.faithfulness import setup  # noqa: E402 - it needs them
from tests.models.tiny import classifier  # noqa: E402

LONG = "how is the knee when i climb the stairs? " * 9  # past 64 tokens
CANDIDATES = [
    "it hurts today",
    "the knee",
    "",
    " ",
    LONG,
    "it hurts",
    "it hurts today",
    LONG,
]
REFERENCES = [
    "the knee hurts",
    "",
    "it hurts",
    "",
    "it hurts",
    LONG,
    "the knee hurts",
    LONG + "a",
]


@pytest.fixture(scope="module", params=["bert", "roberta"])
def model(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bleurt") / str(request.param)
    return classifier(folder, request.param, ("LABEL_0",))


def measured(
    model: Path, *pairs: Any, kind: Metric = bleurt.KIND, **changes: Any
) -> list[Measured]:
    block = {"model": str(model), "device": "cpu", "dtype": "float64"} | changes
    options = parse(kind.options, block, where="test")
    (description,) = kind.descriptions
    assert description.better == "higher"
    assert f"|max_tokens:{changes.get('max_tokens')}|" in kind.recipe(options)
    return list(
        kind.measure(*(pairs or (CANDIDATES, REFERENCES)), options)[description.name]
    )


def directly(model: Path, reference: str, candidate: str) -> tuple[Any, int]:
    """The number by plain calls, and how many tokens were read."""
    words, weights = setup.plain(model)
    cut = {"truncation": "longest_first", "max_length": 64, "return_tensors": "pt"}
    inputs = words(reference.strip(), candidate.strip(), **cut)
    with torch.no_grad():
        value = weights(**inputs).logits.item()
    return pytest.approx(value, abs=1e-5), len(inputs["input_ids"][0])


def test_each_pair_is_what_plain_calls_make_of_it(model: Path) -> None:
    results = measured(model, batch_tokens=200)
    assert results[3] == Measured(None, None)
    for place, (candidate, reference) in enumerate(
        zip(CANDIDATES, REFERENCES, strict=True)
    ):
        if candidate.strip() and reference.strip():
            value, size = directly(model, reference, candidate)
            assert (results[place].value, results[place].cut) == (value, size == 64)
    assert (results[1].value, results[2].value) != (None, None)
    assert [each.cut for each in results] == [place in (4, 5, 7) for place in range(8)]
    # the same under its name
    assert bleurt.CLINICAL.descriptions[0].name == "clinical_bleurt"
    assert measured(model, kind=bleurt.CLINICAL) == results
    assert (
        measured(model, CANDIDATES[::-1], REFERENCES[::-1], max_tokens=64)
        == results[::-1]
    )


@pytest.mark.parametrize("kind", [bleurt.SOURCE, bleurt.REGRESSOR])
def test_a_statement_has_its_passages_as_reference(
    model: Path, kind: FaithfulnessMetric
) -> None:
    cases = [
        Case(("the knee hurts", "it is late"), ("it hurts today", "the knee")),
        Case((LONG,), ("it hurts",)),
        Case(("it hurts",), (LONG,)),
    ]
    first, (unread,), (cut,) = setup.scored(kind, cases, model)
    for result, statement in zip(first, cases[0].statements, strict=True):
        assert (
            result.value == directly(model, "the knee hurts it is late", statement)[0]
        )
    words, _ = setup.plain(model)
    size, statement = (
        len(words(text.strip(), add_special_tokens=False)["input_ids"])
        for text in (LONG, "it hurts")
    )
    room = 64 - words.num_special_tokens_to_add(pair=True) - statement
    assert (unread.unread, unread.cut) == (pytest.approx(1 - room / size), False)
    assert (cut.unread, cut.cut) == (0, True)


def test_what_has_classes_or_is_not_finite(model: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has 2 classes, and a regressor has one number"):
        measured(classifier(tmp_path / "two", "bert", ("a", "b")))
    assert measured(setup.broken(model, tmp_path), ["a"], ["b"]) == [
        Measured(None, None)
    ]
