"""ReDRESS: revisions by plain calls, and BERTScore between them and the statements."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.metrics import bertscore
from metassay.metrics.faithfulness import redress
from metassay.metrics.faithfulness.record import Case, Scored

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.metrics.faithfulness import setup  # noqa: E402 - it needs them
from tests.models import tiny  # noqa: E402

LONG = "how is the knee when i climb the stairs? " * 12  # past 64 tokens
TEMPLATE = "{hypothesis} by {premise}"
CASES = [
    Case(("the knee hurts", "it is late"), ("it hurts today", " ", "the knee")),
    Case(("it hurts",), ("it hurts",)),
    Case((), ("it hurts",)),
    Case(("it hurts", LONG), ("the knee",)),
    Case(("the knee hurts",), (LONG,)),
    Case(("how is the knee?",), ("when i climb the stairs",)),
]
CASES = [*CASES, CASES[0]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It ends some of its texts within 12 tokens, and others not."""
    place = tiny.bart(tmp_path_factory.mktemp("bart") / "model", ends=list(range(3, 300, 11)))
    weights = transformers.AutoModelForSeq2SeqLM.from_pretrained(place)
    torch.manual_seed(4)
    with torch.no_grad():
        for name, weight in weights.named_parameters():
            if weight.dim() > 1 and "embed" not in name:
                weight.normal_(0, 0.8)
    weights.save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.encoder(tmp_path_factory.mktemp("encoder") / "bert", "bert")


def scored(cases: Sequence[Case], model: Path, encoder: Path, **changes: Any) -> list[list[Scored]]:
    how = {"template": TEMPLATE, "max_new_tokens": 12, "encoder": compares(encoder)} | changes
    return setup.scored(redress.KIND, cases, model, **how)


def compares(encoder: Path) -> dict[str, Any]:
    return {"model": str(encoder), "device": "cpu", "dtype": "float64", "layers": 3}


def directly(model: Path, statement: str, passages: Sequence[str]) -> str | None:
    """The likeliest token, one at a time, until an end mark; None if there is none."""
    words = transformers.AutoTokenizer.from_pretrained(model)
    weights = transformers.AutoModelForSeq2SeqLM.from_pretrained(model, dtype=torch.float64).eval()
    inputs = words(f"{statement} by {' '.join(passages)}", return_tensors="pt")
    ends, tokens = weights.generation_config.eos_token_id, [2]
    with torch.no_grad():
        for _ in range(12):
            logits = weights(**inputs, decoder_input_ids=torch.tensor([tokens])).logits[0, -1]
            tokens.append(int(logits.argmax()))
            if tokens[-1] in ends:
                return str(words.decode(tokens, skip_special_tokens=True)).strip()
    return None


def test_it_is_the_f1_between_a_statement_and_its_revision(model: Path, encoder: Path) -> None:
    results = scored(CASES, model, encoder, batch_tokens=100)
    options = bertscore.BertscoreOptions(**compares(encoder), idf=False)
    places = [(0, 0), (0, 2), (1, 0), (5, 0)]
    texts = [directly(model, CASES[c].statements[p], CASES[c].passages) for c, p in places]
    assert None in texts
    assert len({text for text in texts if text}) > 1
    for (case, place), text in zip(places, texts, strict=True):
        if text is None:
            assert results[case][place] == Scored(None, failed=True)
        else:
            (f1,) = bertscore.measure([CASES[case].statements[place]], [text], options)[
                "bertscore_f1"
            ]
            assert results[case][place] == Scored(f1.value)
    assert results[0][1] == results[2][0] == Scored(None)


def test_what_is_not_read_is_counted(model: Path, encoder: Path) -> None:
    results = scored(CASES, model, encoder)
    assert 0.3 < results[3][0].unread < 1
    assert not results[3][0].cut
    assert results[4][0].cut


def test_neither_order_nor_neighbours_nor_repeats_change_a_value(
    model: Path, encoder: Path
) -> None:
    setup.holds_in_any_company(lambda cases, **how: scored(cases, model, encoder, **how), CASES)


def test_recipes_and_templates(model: Path, encoder: Path) -> None:
    with pytest.raises(BadInput, match=r"template must have \{premise\} and \{hypothesis\}"):
        scored(CASES, model, encoder, template="{hypothesis}")
    block = {"template": TEMPLATE, "encoder": compares(encoder)}
    recipe = setup.recipe(redress.KIND, model, **block)
    assert f"|template:{TEMPLATE}|max_new_tokens:256|max_tokens:None|" in recipe
    assert "|encoder|model:bert#" in recipe
    assert "|layers:3|idf:no|" in recipe
