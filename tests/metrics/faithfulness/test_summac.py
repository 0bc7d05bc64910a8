"""SummaC by hand, with the released layers, and against one pair at a time."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metassay.core.errors import BadInput
from metassay.metrics.faithfulness import summac_conv, summac_zs
from metassay.metrics.faithfulness.record import Case, Scored

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.metrics.faithfulness import setup  # noqa: E402 - it needs them
from tests.models.tiny import classifier  # noqa: E402

ENTAILED = [[0.98, 0.02], [0.10, 0.40], [0.005, 0.93]]  # the example's sentences x passages
CONTRADICTED = [[0.01, 0.90], [0.05, 0.30], [0.6, 0.02]]
NAMES = ("contradiction", "entailment", "neutral")
PASSAGES = ("The knee hurts a lot.", "Climbing the stairs hurts.", "Too short", "How is the knee?")
SAID = ("The knee hurts when he climbs. He climbs the stairs today.", "The patient hurts today.")
CASES = [
    Case(PASSAGES, SAID[:1]),
    Case(PASSAGES[:1], SAID[1:]),
    Case(PASSAGES, ("Short one.", " ", *SAID)),
    Case(("Too short",), SAID[:1]),
    Case((), SAID[1:]),
    Case(tuple(f"The stairs have {n} steps." for n in range(104)), SAID[1:]),
    Case(PASSAGES[:2], (" ".join(f"It hurts {n} times." for n in range(12)),)),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return classifier(tmp_path_factory.mktemp("nli") / "model", "bert", NAMES, places=128)


@pytest.fixture
def head(tmp_path: Path) -> Path:
    """Random layers in the released format."""
    rng = np.random.default_rng(7)
    shapes = {"mlp.weight": (1, 23), "mlp.bias": (1,)}
    shapes |= {"layer_final.weight": (2, 3), "layer_final.bias": (2,)}
    file = tmp_path / "head.bin"
    torch.save(
        {name: torch.tensor(rng.normal(0, 1, shape)) for name, shape in shapes.items()}, file
    )
    return file


def stored() -> list[str]:
    with sqlite3.connect(setup.STORE) as store:
        return [name for (name,) in store.execute("SELECT DISTINCT task FROM outputs")]


def zs(cases: Sequence[Case], model: Path, **changes: Any) -> list[list[Scored]]:
    return setup.scored(summac_zs.KIND, cases, model, **changes)


def conv(cases: Sequence[Case], model: Path, head: Path, **changes: Any) -> list[list[Scored]]:
    return setup.scored(summac_conv.KIND, cases, model, head=str(head), **changes)


def pairs(model: Path, passages: Sequence[str], sentences: Sequence[str]) -> Any:
    """Sentences x passages x classes, by plain calls, a pair at a time."""
    words = transformers.AutoTokenizer.from_pretrained(model)
    weights = transformers.AutoModelForSequenceClassification.from_pretrained(
        model, dtype=torch.float64
    ).eval()
    with torch.no_grad():
        rows = [
            [
                weights(**words(p, s, return_tensors="pt")).logits[0].softmax(0).numpy()
                for p in passages
            ]
            for s in sentences
        ]
    return np.array(rows)


def layers(head: Path, entailment: Any) -> float:
    """The layers as such: over numpy's histograms, with the mean three times."""
    its = torch.load(head, weights_only=True)
    counts = [np.histogram(row, bins=summac_conv.EDGES)[0] for row in entailment]
    each = torch.tensor(np.array(counts)).double() @ its["mlp.weight"].double().T + its["mlp.bias"]
    last = its["layer_final.weight"].double() @ each.mean().repeat(3) + its["layer_final.bias"]
    return float(last.softmax(0)[1])


def test_by_hand_and_with_the_released_layers(mirror: Path) -> None:
    # Best .98, .40, .93 less worst .90, .30, .60: .08, .10, .33, whose mean is .17.
    assert summac_zs.value(ENTAILED, CONTRADICTED) == pytest.approx(0.17)
    assert summac_zs.value(ENTAILED, None) == pytest.approx((0.98 + 0.40 + 0.93) / 3)
    assert len(summac_conv.EDGES) == 24
    assert sum(summac_conv.histogram([0, 0.005, 0.01, 0.98, 0.995, 1])) == 6
    steep = summac_conv.Head([1e6] * 23, 0.0, [[0.0] * 3, [1.0] * 3], [0.0, 0.0])
    assert summac_conv.value(steep, [[1] * 23]) == 1
    # The example of two sentences over three passages: the matrix is turned.
    turned = [list(its) for its in zip(*ENTAILED, strict=True)]
    against = [list(its) for its in zip(*CONTRADICTED, strict=True)]
    assert summac_zs.value(turned, against) == pytest.approx(0.205)
    assert summac_zs.value(turned, None) == pytest.approx(0.955)
    file = mirror / "summac_conv/summac_conv_vitc_sent_perc_e.bin"
    released = summac_conv.read_head(file)

    def of(entailment: Sequence[Sequence[float]]) -> float:
        results = summac_conv.value(released, [summac_conv.histogram(its) for its in entailment])
        assert results == pytest.approx(layers(file, entailment), abs=1e-7)
        return results

    assert of(turned) == pytest.approx(0.513264, abs=1e-5)
    assert of([[0.97, *[0.0] * 4]]) == pytest.approx(0.599372, abs=1e-5)
    assert of([[0.97, *[0.0] * 99]]) == pytest.approx(0.749865, abs=1e-5)


def test_each_statement_is_what_plain_calls_make_of_it(model: Path, head: Path) -> None:
    long = [text for text in PASSAGES if len(text) > 10]
    sentences = ["The knee hurts when he climbs.", "He climbs the stairs today."]
    alone = pairs(model, long, sentences)
    best, worst = alone[..., 1].max(1), alone[..., 0].max(1)
    results = zs(CASES, model, batch_tokens=300)
    assert results[0][0].value == pytest.approx((best - worst).mean(), abs=1e-5)
    assert results[2][0] == results[2][1] == Scored(None)
    assert [each.value for each in results[2][2:]] == [
        results[0][0].value,
        zs([Case(PASSAGES, SAID[1:])], model)[0][0].value,
    ]
    (without,) = zs(CASES[:1], model, use_con=False)
    assert without[0].value == pytest.approx(best.mean(), abs=1e-5)
    assert conv(CASES, model, head)[0][0].value == pytest.approx(
        layers(head, alone[..., 1]), abs=1e-5
    )


def test_what_is_not_read_is_counted(model: Path, head: Path) -> None:
    for results in (zs(CASES, model), conv(CASES, model, head)):
        assert results[3] == results[4] == [Scored(None)]
        assert results[5][0].unread == pytest.approx(4 / 104)
        assert not results[5][0].cut
        assert results[6][0].unread == 0
    assert (results[6][0].cut, zs(CASES, model)[6][0].cut) == (True, False)
    twelve = [f"It hurts {n} times." for n in range(12)]
    ten = pairs(model, PASSAGES[:2], twelve[:10])
    assert results[6][0].value == pytest.approx(layers(head, ten[..., 1]), abs=1e-5)
    # A passage that is longer than an input counts in part: all but the tokens that were read.
    words = transformers.AutoTokenizer.from_pretrained(model)
    long = "it hurts in the knee and " * 30 + "the knee"
    whole, room = (
        len(words(text, add_special_tokens=False)["input_ids"]) for text in (long, SAID[1])
    )
    ((cut,),) = zs([Case((long, PASSAGES[0]), SAID[1:])], model)
    part = 1 - (128 - 3 - room) / whole
    sizes = len(long.split()), len(PASSAGES[0].split())
    assert cut.unread == pytest.approx(part * sizes[0] / sum(sizes), abs=0.01)


def test_both_share_a_matrix_and_neither_company_nor_order_matters(
    model: Path, head: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup.holds_in_any_company(lambda cases, **how: zs(cases, model, **how), CASES)
    zs(CASES, model)
    monkeypatch.setattr("metassay.models.pair_scores.load_classifier", setup.fail)
    first = conv(CASES, model, head)
    assert first[::-1] == conv(CASES[::-1], model, head)
    with pytest.raises(AssertionError, match="a model is loaded"):
        zs(CASES, model, max_tokens=20)


def test_classes_that_do_not_say_what_they_mean_are_refused(tmp_path: Path, head: Path) -> None:
    unnamed = classifier(tmp_path / "a", "roberta", ("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(BadInput, match=r"classes called 'LABEL_0', .* do not say what they mean"):
        zs(CASES, unnamed)
    assert stored() == ["summac: classes"]  # nothing was computed in vain
    sentences = ["entailment", "neutral", "contradiction"]
    told = zs(CASES[:1], unnamed, labels=sentences)[0][0].value
    turned = zs(CASES[:1], unnamed, labels=sentences[::-1])[0][0].value
    assert told is not None
    assert told != turned
    vitaminc = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
    fact = classifier(tmp_path / "b", "roberta", vitaminc)
    alone = pairs(fact, PASSAGES[:1], SAID[1:])[0, 0]
    results = zs(CASES[1:2], fact)[0][0].value
    assert results == pytest.approx(alone[0] - alone[1], abs=1e-5)
    two = classifier(tmp_path / "c", "roberta", ("entailment", "not_entailment"))
    with pytest.raises(BadInput, match="has no contradiction; set use_con: false"):
        zs(CASES[:1], two)
    assert zs(CASES[:1], two, use_con=False)[0][0].value is not None
    assert conv(CASES[:1], two, head)[0][0].value is not None


def test_what_is_not_finite_has_failed(model: Path, head: Path, tmp_path: Path) -> None:
    weights = transformers.AutoModelForSequenceClassification.from_pretrained(model)
    with torch.no_grad():
        weights.classifier.bias.fill_(float("nan"))
    weights.save_pretrained(tmp_path / "broken")
    transformers.AutoTokenizer.from_pretrained(model).save_pretrained(tmp_path / "broken")
    failed = [[Scored(None, failed=True)]]
    assert zs(CASES[:1], tmp_path / "broken") == failed
    assert conv(CASES[:1], tmp_path / "broken", head) == failed


def test_a_head_can_be_trained_written_and_read(tmp_path: Path) -> None:
    """Faithful texts have entailments of .97, others of .2, and one of each is the other way."""
    rng = np.random.default_rng(3)
    texts, labels = [], []
    for n in range(40):
        high = bool(n % 2) != (n in (5, 6))
        rows = rng.choice([0.97, 0.96] if high else [0.2, 0.05], (1 + n % 3, 4))
        texts.append([summac_conv.histogram(row) for row in rows])
        labels.append(bool(n % 2))
    head = summac_conv.fit_head(texts, labels)
    assert summac_conv.fit_head(texts[::-1], labels[::-1]) == head
    assert [summac_conv.value(head, text) > 0.5 for text in texts] == [
        label != (n in (5, 6)) for n, label in enumerate(labels)
    ]
    # At the optimum the penalty's slope is that of the likelihood.
    means = np.array([np.mean(text, axis=0) for text in texts])
    missed = np.array(
        [label - summac_conv.value(head, t) for t, label in zip(texts, labels, strict=True)]
    )
    assert means.T @ missed == pytest.approx(np.array(head.weights), abs=1e-4)
    assert missed.sum() == pytest.approx(0, abs=1e-4)
    summac_conv.write_head(tmp_path / "head.json", head)
    again = summac_conv.read_head(tmp_path / "head.json")
    assert summac_conv.value(again, texts[0]) == summac_conv.value(head, texts[0])
    with pytest.raises(BadInput, match="are all the same; add texts of the other"):
        summac_conv.fit_head(texts, [True] * 40)


@pytest.mark.parametrize("name", ["none.bin", "other.bin", "empty.bin", "other.json", "short.json"])
def test_a_file_that_is_no_head_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "other.bin").write_text("rubbish")
    (tmp_path / "empty.bin").touch()
    (tmp_path / "other.json").write_text("[1]")
    (tmp_path / "short.json").write_text('{"weights": [1], "bias": 0, "last": [], "last_bias": []}')
    with pytest.raises(BadInput, match=r"is not a head of SummaC-Conv .* give the released file"):
        summac_conv.read_head(tmp_path / name)


def test_recipes_state_what_changes_a_value(model: Path, head: Path, tmp_path: Path) -> None:
    assert "|use_con:True|labels:None|max_tokens:None|" in setup.recipe(summac_zs.KIND, model)
    recipe = setup.recipe(summac_conv.KIND, model, head=str(head))
    assert "|head:head.bin#" in recipe
    assert str(tmp_path) not in recipe
    parsed = setup.options(summac_conv.KIND, model, head=str(head))
    assert [file.path for file in summac_conv.KIND.files(parsed)] == [head]
