"""CTC's relevance against the two consistencies by plain calls, and in a table of measurements."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import metassay
from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.metrics import METRICS
from metassay.metrics.measure import measure

pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.metrics.faithfulness.test_ctc_consistency import directly
from tests.models import tiny

SOURCE, TEXT, RIGHT = "the patient climbs the stairs", "it hurts today", "it hurts in the knee"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("relevance") / "model"
    return tiny.classifier(place, "roberta", ("ok", "fake"), head="Token")


def block(model: Path) -> dict[str, Any]:
    return {"kind": "ctc_relevance", "model": str(model), "device": "cpu", "dtype": "float64"}


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def test_it_is_the_product_of_both_consistencies(model: Path) -> None:
    expected = mean(directly(model, TEXT, SOURCE)) * mean(directly(model, RIGHT, TEXT))
    found = metassay.score([TEXT, "", TEXT], [RIGHT] * 3, sources=[SOURCE, SOURCE, ""],
                           metrics=[block(model)])["ctc_relevance"]  # fmt: skip
    assert found[0] == pytest.approx(expected, abs=1e-6)
    assert found[1:].isna().all()


def test_it_needs_source_and_reference(model: Path) -> None:
    with pytest.raises(BadInput, match="'ctc_relevance' needs sources; give them"):
        metassay.score([TEXT], [RIGHT], metrics=[block(model)])
    with pytest.raises(BadInput, match="needs sources and references; give them"):
        metassay.score([TEXT], metrics=[block(model)])


def test_in_a_benchmark_a_document_without_either_has_nothing_to_compare_with(model: Path) -> None:
    sources = pd.DataFrame(
        [
            {"doc_id": doc, "passages": passages, "dataset": "d", "task": "note"}
            for doc, passages in (("both", SOURCE.split(" the ")), ("bare", []), ("alone", ["x y"]))
        ]
    )
    texts = [
        ("both", "a", TEXT), ("both", "reference", RIGHT), ("bare", "a", TEXT),
        ("bare", "reference", RIGHT), ("alone", "a", TEXT), ("both", "b", None),
    ]  # fmt: skip
    parts = pd.DataFrame(texts, columns=["doc_id", "author", "text"]).assign(
        part="full", leaf="yes", starts=[[0]] * 6, ends=[[9]] * 6
    )
    parts["status"] = ["ok" if text else "error" for _, _, text in texts]
    chosen = choose(METRICS, block(model), where="test")
    table = measure(sources, parts, [chosen], segmentation="whole").table
    rows = table.set_index(["doc_id", "author"])
    assert set(rows.index) == {("both", "a"), ("both", "b"), ("bare", "a"), ("alone", "a")}
    source = SOURCE.replace(" the ", " ")
    expected = mean(directly(model, TEXT, source)) * mean(directly(model, RIGHT, TEXT))
    assert rows.loc[("both", "a"), "value"] == pytest.approx(expected, abs=1e-6)
    assert list(rows["n_expected"][[("bare", "a"), ("alone", "a"), ("both", "b")]]) == [0, 0, 1]
    assert rows.loc[("both", "b"), "n_failed"] == 1
