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
pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.metrics.faithfulness import setup  # noqa: E402 - it needs them
from tests.models.tiny import classifier  # noqa: E402

# The example's two sentences x three passages, and another way round.
ENTAILED = [[0.98, 0.10, 0.005], [0.02, 0.40, 0.93]]
CONTRADICTED = [[0.01, 0.05, 0.6], [0.90, 0.30, 0.02]]
NAMES = ("contradiction", "entailment", "neutral")
PASSAGES = (
    "The knee hurts a lot.",
    "Climbing the stairs hurts.",
    "Too short",
    "How is the knee?",
)
FIRST = "The knee hurts when he climbs. He climbs the stairs today."
SECOND = "The patient hurts today."
TIMES = [f"It hurts {n} times." for n in range(12)]
CASES = [
    Case(PASSAGES, (FIRST,)),
    Case(PASSAGES, ("Short one.", " ", FIRST, SECOND)),
    Case(("Too short",), (FIRST,)),
    Case(tuple(f"The stairs have {n} steps." for n in range(104)), (SECOND,)),
    Case(PASSAGES[:2], (" ".join(TIMES),)),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return classifier(
        tmp_path_factory.mktemp("nli") / "model", "bert", NAMES, places=128
    )


@pytest.fixture
def head(tmp_path: Path) -> Path:
    """Random layers in the released format."""
    rng = np.random.default_rng(7)
    shapes = {"mlp.weight": (1, 23), "mlp.bias": (1,)}
    shapes |= {"layer_final.weight": (2, 3), "layer_final.bias": (2,)}
    state = {
        name: torch.tensor(rng.normal(0, 1, shape)) for name, shape in shapes.items()
    }
    torch.save(state, tmp_path / "head.bin")
    return tmp_path / "head.bin"


def zs(cases: Sequence[Case], model: Path, **changes: Any) -> list[list[Scored]]:
    return setup.scored(summac_zs.KIND, cases, model, **changes)


def conv(
    cases: Sequence[Case], model: Path, head: Path, **changes: Any
) -> list[list[Scored]]:
    return setup.scored(summac_conv.KIND, cases, model, head=str(head), **changes)


def pairs(model: Path, passages: Sequence[str], sentences: Sequence[str]) -> Any:
    """Sentences x passages x classes, by plain calls, a pair at a time."""
    words, weights = setup.plain(model)

    def shares(passage: str, sentence: str) -> Any:
        return (
            weights(**words(passage, sentence, return_tensors="pt"))
            .logits[0]
            .softmax(0)
        )

    with torch.no_grad():
        return np.array([[shares(p, s).numpy() for p in passages] for s in sentences])


def layers(head: Path, entailment: Any) -> float:
    """The layers as such: over numpy's histograms, with the mean three times."""
    its = torch.load(head, weights_only=True)
    counts = [np.histogram(row, bins=summac_conv.EDGES)[0] for row in entailment]
    each = (
        torch.tensor(np.array(counts)).double() @ its["mlp.weight"].double().T
        + its["mlp.bias"]
    )
    last = (
        its["layer_final.weight"].double() @ each.mean().repeat(3)
        + its["layer_final.bias"]
    )
    return float(last.softmax(0)[1])


def test_by_hand_and_with_the_released_layers(mirror: Path) -> None:
    # Best .98, .93 less worst .60, .90; turned: .98, .40, .93 less .90, .30, .60.
    turned = [
        [list(its) for its in zip(*rows, strict=True)]
        for rows in (ENTAILED, CONTRADICTED)
    ]
    assert summac_zs.value(ENTAILED, CONTRADICTED) == pytest.approx(0.205)
    assert summac_zs.value(ENTAILED, None) == pytest.approx(0.955)
    assert summac_zs.value(*turned) == pytest.approx(0.17)
    assert len(summac_conv.EDGES) == 24
    assert sum(summac_conv.histogram([0, 0.005, 0.01, 0.98, 0.995, 1])) == 6
    steep = summac_conv.Head([1e6] * 23, 0.0, [[0.0] * 3, [1.0] * 3], [0.0, 0.0])
    assert summac_conv.value(steep, [[1] * 23]) == 1
    file = mirror / "summac_conv/summac_conv_vitc_sent_perc_e.bin"
    released = summac_conv.read_head(file)
    for rows, expected in (
        (ENTAILED, 0.513264),
        ([[0.97, *[0.0] * 4]], 0.599372),
        ([[0.97, *[0.0] * 99]], 0.749865),
    ):
        value = summac_conv.value(
            released, [summac_conv.histogram(row) for row in rows]
        )
        assert value == pytest.approx(layers(file, rows), abs=1e-7)
        assert value == pytest.approx(expected, abs=1e-5)


def test_each_statement_is_what_plain_calls_make_of_it(model: Path, head: Path) -> None:
    long = [text for text in PASSAGES if len(text) > 10]
    alone = pairs(
        model, long, ["The knee hurts when he climbs.", "He climbs the stairs today."]
    )
    best, worst = alone[..., 1].max(1), alone[..., 0].max(1)
    results = zs(CASES, model, batch_tokens=300)
    assert results[0][0].value == pytest.approx((best - worst).mean(), abs=1e-5)
    assert results[1][:2] == [Scored(None), Scored(None)]
    assert results[1][2:] == zs([Case(PASSAGES, (FIRST, SECOND))], model)[0]
    assert results[1][2] == results[0][0]
    (without,) = zs(CASES[:1], model, use_con=False)[0]
    assert without.value == pytest.approx(best.mean(), abs=1e-5)
    expected = layers(head, alone[..., 1])
    assert conv(CASES, model, head)[0][0].value == pytest.approx(expected, abs=1e-5)


def test_what_is_not_read_is_counted(model: Path, head: Path) -> None:
    for results, ten in ((zs(CASES, model), False), (conv(CASES, model, head), True)):
        assert results[2] == [Scored(None)]
        assert (results[3][0].unread, results[3][0].cut) == (
            pytest.approx(4 / 104),
            False,
        )
        assert (results[4][0].unread, results[4][0].cut) == (0, ten)
    expected = layers(head, pairs(model, PASSAGES[:2], TIMES[:10])[..., 1])
    assert results[4][0].value == pytest.approx(expected, abs=1e-5)
    # A passage that is longer than an input counts in part: all but the tokens that
    # were read.
    words, _ = setup.plain(model)
    long = "it hurts in the knee and " * 30 + "the knee"
    whole, room = (
        len(words(text, add_special_tokens=False)["input_ids"])
        for text in (long, SECOND)
    )
    ((cut,),) = zs([Case((long, PASSAGES[0]), (SECOND,))], model)
    part, sizes = (
        1 - (128 - 3 - room) / whole,
        [len(long.split()), len(PASSAGES[0].split())],
    )
    assert cut.unread == pytest.approx(part * sizes[0] / sum(sizes), abs=0.01)


def test_both_share_a_matrix(
    model: Path, head: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zs(CASES, model)
    monkeypatch.setattr("metassay.models.pair_scores.load_classifier", setup.fail)
    assert conv(CASES, model, head)[::-1] == conv(CASES[::-1], model, head)
    with pytest.raises(AssertionError, match="a model is loaded"):
        zs(CASES, model, max_tokens=20)


def test_classes_that_do_not_say_what_they_mean_are_refused(
    tmp_path: Path, head: Path
) -> None:
    unnamed = classifier(tmp_path / "a", "roberta", ("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(
        BadInput,
        match=r"the names of the classes, 'LABEL_0', .*, do not say what they mean",
    ):
        zs(CASES, unnamed)
    with sqlite3.connect(setup.STORE) as store:  # nothing was computed in vain
        tasks = store.execute("SELECT DISTINCT task FROM outputs").fetchall()
    assert tasks == [("summac: classes",)]
    names = ["entailment", "neutral", "contradiction"]
    value, turned = (
        zs(CASES[:1], unnamed, labels=n)[0][0].value for n in (names, names[::-1])
    )
    assert value is not None
    assert value != turned
    fact = classifier(
        tmp_path / "b", "roberta", ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
    )
    alone = pairs(fact, PASSAGES[:1], [SECOND])[0, 0]
    ((result,),) = zs([Case(PASSAGES[:1], (SECOND,))], fact)
    assert result.value == pytest.approx(alone[0] - alone[1], abs=1e-5)
    two = classifier(tmp_path / "c", "roberta", ("entailment", "not_entailment"))
    with pytest.raises(
        BadInput, match="has no class for contradiction; set use_con: false"
    ):
        zs(CASES[:1], two)
    assert zs(CASES[:1], two, use_con=False)[0][0].value is not None
    assert conv(CASES[:1], two, head)[0][0].value is not None


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
    shares = np.array([summac_conv.value(head, text) for text in texts])
    assert list(shares > 0.5) == [
        label != (n in (5, 6)) for n, label in enumerate(labels)
    ]
    # At the optimum the penalty's slope is that of the likelihood.
    means = np.array([np.mean(text, axis=0) for text in texts])
    assert means.T @ (labels - shares) == pytest.approx(
        np.array(head.weights), abs=1e-4
    )
    assert (labels - shares).sum() == pytest.approx(0, abs=1e-4)
    summac_conv.write_head(tmp_path / "head.json", head)
    again = summac_conv.read_head(tmp_path / "head.json")
    assert summac_conv.value(again, texts[0]) == shares[0]
    with pytest.raises(BadInput, match="are all the same; add texts of the other"):
        summac_conv.fit_head(texts, [True] * 40)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("none.bin", None),
        ("other.bin", "rubbish"),
        ("empty.bin", ""),
        ("other.json", "[1]"),
        ("short.json", '{"weights": [1], "bias": 0, "last": [], "last_bias": []}'),
    ],
)
def test_a_file_that_is_no_head_is_refused(
    tmp_path: Path, name: str, content: str | None
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(
        BadInput, match=r"is not a head of SummaC-Conv .* give the released file"
    ):
        summac_conv.read_head(tmp_path / name)


def test_the_head_is_a_file_that_dvc_knows(model: Path, head: Path) -> None:
    parsed = setup.options(summac_conv.KIND, model, head=str(head))
    assert [file.path for file in summac_conv.KIND.files(parsed)] == [head]
