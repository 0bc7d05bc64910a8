"""What all kinds hold: scores for each statement, in their range, in any company, and failures."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metassay.core.kinds import record_of
from metassay.metrics.describe import JUDGED
from metassay.metrics.faithfulness import FAITHFULNESS
from metassay.metrics.faithfulness.reading import CheckpointOptions
from metassay.metrics.faithfulness.record import Case, Scored
from metassay.metrics.faithfulness.summac_conv import Head, write_head

pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("bert_score", reason="needs metassay[models]")

from tests.metrics.faithfulness import setup
from tests.models import tiny

NLI = ("contradiction", "neutral", "entailment")
NETWORK = "model:model#", "|device:cpu|dtype:float64|"
MODELS: dict[str, Callable[[Path], Path]] = {
    "bartscore": tiny.bart,
    "ctc_consistency": lambda place: tiny.classifier(
        place, "bert", ("a", "b"), head="Token"
    ),
    "summac_zs": lambda place: tiny.classifier(place, "roberta", NLI),
    "summac_conv": lambda place: tiny.classifier(place, "deberta", NLI),
    "entailment_label": tiny.t5,
    "factscore_support": lambda place: tiny.classifier(place, "bert", NLI),
    "redress": tiny.bart,
    "bleurt": lambda place: tiny.classifier(place, "bert", ("LABEL_0",)),
    "regressor": lambda place: tiny.classifier(place, "roberta", ("LABEL_0",)),
    "bertscore_source": lambda place: tiny.encoder(place, "roberta"),
}
# What a recipe has beside the model; see `needed` for what is set.
RECIPES = {
    "bartscore": "|max_tokens:None|transformers:",
    "ctc_consistency": "|pieces:mean|stop_words:True|max_tokens:None|transformers:",
    "summac_zs": "|use_con:True|labels:None|max_tokens:None|",
    "summac_conv": "|head:head.json#",
    "entailment_label": "'contradiction': -1.0}|rule:protected|max_tokens:None|",
    "factscore_support": "|rule:printed|labels:None|max_tokens:None|",
    "redress": "|template:{hypothesis} {premise}|max_new_tokens:8|max_tokens:None|",
    "bleurt": "|max_tokens:None|",
    "regressor": "|max_tokens:None|",
    "bertscore_source": "|layers:last|idf:no|baseline:none|device:cpu|dtype:float64|bert-score:",
}
LONG = "how is the knee when i climb the stairs? " * 30
CASES = [
    Case(
        ("the knee hurts.", " ", "it is late"),
        ("it hurts today.", "", "the knee, too, he says."),
    ),
    Case(("the knee hurts.",), ("\n",)),
    Case(("", " "), ("it hurts today.",)),
    Case((), ("it hurts today.", "the knee")),
    Case(("the knee hurts.",), ()),
    Case((LONG, "the knee hurts."), ("it hurts today.",)),
    Case(("it </s> hurts",), ("</s> <s> it hurts",)),
    Case(("\u00e4\u6a21 \U0001f600 a\u0301",), ("\u6a21\u578b \U0001f600 \u2013 x",)),
]
NULL = [(0, 1), (1, 0), (2, 0), (3, 0), (3, 1)]


def needed(kind: str, folder: Path) -> dict[str, Any]:
    """The options that a kind cannot do without."""
    if kind == "summac_conv":
        write_head(
            folder / "head.json",
            Head([0.1] * 23, 0.0, [[0.0] * 3, [1.0] * 3], [0.0, 0.0]),
        )
        return {"head": str(folder / "head.json")}
    if kind == "redress":
        place = tiny.encoder(folder / "encoder", "bert")
        encoder = {"model": str(place), "device": "cpu", "dtype": "float64"}
        return {
            "template": "{hypothesis} {premise}",
            "encoder": encoder,
            "max_new_tokens": 8,
        }
    return {}


@pytest.mark.parametrize("kind", FAITHFULNESS)
def test_every_statement_has_a_score_in_its_range_in_any_company(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a second run gives the same without a model."""
    record = record_of(FAITHFULNESS, kind)
    model, options = MODELS[kind](tmp_path / "model"), needed(kind, tmp_path)
    parsed = setup.options(record, model, **options)
    assert isinstance(parsed, CheckpointOptions)
    checkpoint = parsed.checkpoints["tiny"]
    results = record.score(CASES, parsed, checkpoint)
    assert list(results) == [each.name for each in record.descriptions]
    for description in record.descriptions:
        low, high = description.range
        scores = results[description.name]
        assert [len(its) for its in scores] == [len(case.statements) for case in CASES]
        assert all(scores[case][place] == Scored(None) for case, place in NULL)
        for each in (score for its in scores for score in its):
            assert 0 <= each.unread <= 1
            assert each.value is None or not each.failed
            if each.value is not None:
                assert low is None or low <= each.value
                assert high is None or each.value <= high
        # T5 has no limit
        assert (scores[5][0].unread > 0) == (kind != "entailment_label")
    assert record.score([], parsed, checkpoint) == {name: [] for name in results}
    recipe = record.recipe(parsed, checkpoint)
    assert all(part in recipe for part in (*NETWORK, RECIPES[kind]))
    assert str(tmp_path) not in recipe
    setup.holds_in_any_company(
        lambda cases, **how: setup.scored(record, cases, model, **options, **how), CASES
    )
    lost = setup.scored(record, CASES[:1], setup.broken(model, tmp_path), **options)[0]
    assert [(each.value, each.failed) for each in lost[:2]] == [
        (None, True),
        (None, False),
    ]
    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", setup.fail)
    assert record.score(CASES[::-1], parsed, checkpoint) == {
        name: its[::-1] for name, its in results.items()
    }


def test_descriptions_have_what_tables_and_pages_need() -> None:
    every = [
        each
        for kind in FAITHFULNESS
        for each in record_of(FAITHFULNESS, kind).descriptions
    ]
    assert len({each.name for each in every}) == len(every)
    assert {each.family for each in every} == {JUDGED}
    assert all(each.missing.startswith("null for a blank statement") for each in every)
    by_text = {kind for kind in FAITHFULNESS if record_of(FAITHFULNESS, kind).by_text}
    assert by_text == {"bartscore", "ctc_consistency"}
