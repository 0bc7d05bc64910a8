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
pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.metrics.faithfulness import setup  # noqa: E402 - it needs them
from tests.models import tiny  # noqa: E402

LONG = "how is the knee when i climb the stairs? " * 12  # past 64 tokens
CASES = [
    Case(("the knee hurts", "it is late"), ("it hurts today", " ", "the knee")),
    Case(("it hurts",), ("it hurts",)),
    Case(("how is the knee?",), ("when i climb the stairs",)),
    Case(("it hurts", LONG), ("the knee",)),
    Case(("the knee hurts",), (LONG,)),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It ends some of its texts within 12 tokens, and others not."""
    place = tiny.bart(
        tmp_path_factory.mktemp("bart") / "model", ends=list(range(3, 300, 11))
    )
    _, weights = setup.plain(place, "Seq2SeqLM", "float32")
    torch.manual_seed(4)
    with torch.no_grad():
        for name, weight in weights.named_parameters():
            if weight.dim() > 1 and "embed" not in name:
                weight.normal_(0, 0.8)
    weights.save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    place = tiny.encoder(tmp_path_factory.mktemp("encoder") / "bert", "bert")
    return {"model": str(place), "device": "cpu", "dtype": "float64", "layers": 3}


def scored(model: Path, encoder: Any, **changes: Any) -> list[list[Scored]]:
    how = {
        "template": "{hypothesis} by {premise}",
        "max_new_tokens": 12,
        "encoder": encoder,
    }
    return setup.scored(redress.KIND, CASES, model, **how | changes)


def directly(model: Path, statement: str, passages: Sequence[str]) -> str | None:
    """The likeliest token, one at a time, until an end mark; None if there is none."""
    words, weights = setup.plain(model, "Seq2SeqLM")
    inputs = words(f"{statement} by {' '.join(passages)}", return_tensors="pt")
    ends, tokens = weights.generation_config.eos_token_id, [2]
    with torch.no_grad():
        for _ in range(12):
            logits = weights(**inputs, decoder_input_ids=torch.tensor([tokens])).logits[
                0, -1
            ]
            tokens.append(int(logits.argmax()))
            if tokens[-1] in ends:
                return str(words.decode(tokens, skip_special_tokens=True)).strip()
    return None


def test_it_is_the_f1_between_a_statement_and_its_revision(
    model: Path, encoder: Any
) -> None:
    results = scored(model, encoder, batch_tokens=100)
    options = bertscore.BertscoreOptions(**encoder, idf=False)
    texts = []
    for case, place in [(0, 0), (0, 2), (1, 0), (2, 0)]:
        statement = CASES[case].statements[place]
        texts.append(text := directly(model, statement, CASES[case].passages))
        expected = Scored(None, failed=True)
        if text is not None:
            f1 = bertscore.measure([statement], [text], options)["bertscore_f1"]
            expected = Scored(f1[0].value)
        assert results[case][place] == expected
    assert None in texts
    assert len({text for text in texts if text}) > 1
    assert 0.3 < results[3][0].unread < 1
    assert (results[3][0].cut, results[4][0].cut) == (False, True)
    with pytest.raises(
        BadInput, match=r"template must have \{premise\} and \{hypothesis\}"
    ):
        scored(model, encoder, template="{hypothesis}")
    parsed = setup.options(
        redress.KIND, model, template="{premise}{hypothesis}", encoder=encoder
    )
    recipe = redress.KIND.recipe(parsed, parsed.checkpoints["tiny"])
    assert "|max_new_tokens:256|" in recipe
    assert "|encoder|model:bert#" in recipe
    assert "|layers:3|idf:no|" in recipe
