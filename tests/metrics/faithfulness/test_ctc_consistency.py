"""CTC against values by formula, and against one text at a time: consistency and relevance."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import metassay
from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.metrics import METRICS
from metassay.metrics.faithfulness import ctc_consistency
from metassay.metrics.faithfulness.record import Case, Scored
from metassay.metrics.measure import measure
from metassay.text.tokens import STOPWORDS

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.metrics.faithfulness import formula, setup  # noqa: E402 - it needs them
from tests.models import tiny  # noqa: E402

LONG = "it hurts in the knee " * 20  # past 64 tokens
CASES = [
    Case(("the knee hurts", "when i climb"), ("It hurts \u201ctoday\u201d",)),
    Case(
        ("how is the knee?",),
        ("the patient climbs  the stairs", " ", "it hurts", "today"),
    ),
    Case(("the knee", LONG), ("it hurts",)),
    Case(("it hurts",), (LONG, "it hurts")),
    Case(("it hurts</s>",), ("</s> <s>",)),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("ctc") / "model"
    return tiny.classifier(place, "roberta", ("ok", "fake"), head="Token")


def scored(cases: Sequence[Case], model: Path, **changes: Any) -> list[list[Scored]]:
    return setup.scored(ctc_consistency.KIND, cases, model, **changes)


def directly(model: Path, text: str, context: str, how: str = "mean") -> list[float]:
    """Each word's probability by plain calls: vectors of its pieces, and the classifier's layer."""
    words, weights = setup.plain(model, "TokenClassification")
    room = {"truncation": "only_second", "max_length": 64, "split_special_tokens": True}
    inputs = words(text, context, return_tensors="pt", **room)
    with torch.no_grad():
        states = weights.base_model(inputs["input_ids"])[0][0]
        results, at = [], 1
        for place, word in enumerate(text.split(" ")):
            spaced = word if place == 0 else f" {word}"
            its = words(
                spaced, add_special_tokens=False, split_special_tokens=True
            ).input_ids
            # a piece for itself, and no word's
            blank = not words.decode(its[:1]).strip()
            vector = getattr(states[at + blank : at + len(its)], how)(0)
            results.append(torch.softmax(weights.classifier(vector), -1)[0].item())
            at += len(its)
    return results


def close(values: Sequence[float], *, abs: float = 1e-7) -> Any:
    return pytest.approx(sum(values) / len(values), abs=abs)


@pytest.mark.parametrize("how", ["mean", "sum"])
def test_the_values_of_the_formula(tmp_path: Path, how: str) -> None:
    """[0] + words [5], [6, 7], [8] + [2, 2] + context [9 .. 12] + [2]; a sum moves but one word."""
    roberta = formula.roberta(tmp_path / "formula")
    values = [0.559690, 0.464386 if how == "mean" else 0.380978, 0.366277]
    case = Case(("t9 t10", "t11 t12"), ("t5 t6t7 t8",))
    ((results,),) = scored([case], roberta, dtype="float32", pieces=how)
    assert results.value == close(values, abs=1e-5)
    parts = scored([Case(case.passages, ("t5", "t6t7", "t8"))], roberta, pieces=how)[0]
    assert [each.value for each in parts] == pytest.approx(values, abs=1e-5)


@pytest.mark.parametrize("how", ["mean", "sum"])
def test_each_word_is_what_plain_calls_make_of_it(model: Path, how: str) -> None:
    first, second, *_, marks = scored(CASES, model, batch_tokens=200, pieces=how)
    context = "the knee hurts when i climb"
    assert first[0].value == close(directly(model, 'it hurts "today"', context, how))
    joined = "the patient climbs the stairs it hurts today"
    values = directly(model, joined, "how is the knee?", how)
    assert second[0].value == close(values[:5])
    assert second[1] == Scored(None)
    assert [second[2].value, second[3].value] == [close(values[5:7]), close(values[7:])]
    assert marks[0].value == close(directly(model, "</s> <s>", "it hurts</s>", how))


def test_stop_words_may_be_left_out(model: Path) -> None:
    text, context = "the knee is, of it, worse", "how is the knee?"
    pairs = zip(directly(model, text, context), text.split(), strict=True)
    values = [value for value, word in pairs if word.strip(",") not in STOPWORDS]
    assert 0 < len(values) < 6
    cases = [Case((context,), (text,)), Case((context,), ("it is",))]
    results = scored(cases, model, stop_words=False)
    assert results[0][0].value == close(values)
    assert results[1][0] == Scored(0.0)


def test_limits_are_counted(model: Path) -> None:
    words, _ = setup.plain(model, "TokenClassification")

    def size(text: str) -> int:
        return len(words(text, add_special_tokens=False)["input_ids"])

    results = scored(CASES, model)
    whole = size(f"the knee {LONG.strip()}")
    assert results[2][0].unread == pytest.approx(
        1 - (64 - 4 - size("it hurts")) / whole
    )
    assert not results[2][0].cut
    long, beyond = results[3]
    assert (long.failed, long.cut, long.unread) == (False, True, 0)
    assert beyond == Scored(None, failed=True, cut=True)
    # Half of the room: the words whose tokens are all among the first 31.
    text = LONG.strip()
    read = [
        w
        for n, w in enumerate(text.split())
        if size(" ".join(text.split()[: n + 1])) <= 31
    ]
    begun = words.decode(words(text, add_special_tokens=False)["input_ids"][:31])
    assert long.value == close(directly(model, begun, "it hurts")[: len(read)])


def test_words_that_do_not_align_have_failed_and_classes_are_two(
    tmp_path: Path,
) -> None:
    """A token of two words, here because the tokenizer takes blanks for letters."""
    place = tiny.classifier(tmp_path / "m", "roberta", ("ok", "fake"), head="Token")
    words, weights = setup.plain(place, "TokenClassification", "float32")
    words.add_tokens(["it hurts"])
    weights.resize_token_embeddings(len(words), mean_resizing=False)
    weights.save_pretrained(place)
    words.save_pretrained(place)
    results = scored([Case(("the knee",), ("it hurts", "today"))], place)[0]
    assert results[0] == Scored(None, failed=True)
    assert results[1].value is not None
    for names in (("a", "b", "c"), ("fake", "ok")):
        other = tiny.classifier(tmp_path / names[0], "bert", names, head="Token")
        with pytest.raises(
            BadInput, match=f"has {', '.join(names)} as classes of tokens; choose"
        ):
            scored(CASES, other)


SOURCE, TEXT, RIGHT = (
    "the patient climbs the stairs",
    "it hurts today",
    "it hurts in the knee",
)


def relevance(model: Path, source: str) -> Any:
    pair = directly(model, TEXT, source), directly(model, RIGHT, TEXT)
    return pytest.approx(
        sum(pair[0]) / len(pair[0]) * sum(pair[1]) / len(pair[1]), abs=1e-6
    )


def test_relevance_is_the_product_of_both_consistencies(model: Path) -> None:
    block = {
        "kind": "ctc_relevance",
        "model": str(model),
        "device": "cpu",
        "dtype": "float64",
    }
    sources = [SOURCE, SOURCE, ""]
    table = metassay.score(
        [TEXT, "", TEXT], [RIGHT] * 3, sources=sources, metrics=[block]
    )
    values = table["ctc_relevance"]
    assert values[0] == relevance(model, SOURCE)
    assert values[1:].isna().all()
    with pytest.raises(BadInput, match="'ctc_relevance' needs sources; give them"):
        metassay.score([TEXT], [RIGHT], metrics=[block])
    with pytest.raises(BadInput, match="needs sources and references; give them"):
        metassay.score([TEXT], metrics=[block])
    # In a benchmark, a document without either has nothing to compare with.
    passages = {"both": SOURCE.split(" the "), "bare": [], "alone": ["x y"]}
    documents = pd.DataFrame(
        {"doc_id": list(passages), "passages": list(passages.values())}
    )
    texts = [
        ("both", "a", TEXT),
        ("both", "reference", RIGHT),
        ("both", "b", None),
        ("bare", "a", TEXT),
        ("bare", "reference", RIGHT),
        ("alone", "a", TEXT),
    ]
    parts = pd.DataFrame(texts, columns=["doc_id", "author", "text"])
    parts["status"] = ["ok" if text else "error" for _, _, text in texts]
    chosen = choose(METRICS, block, where="test")
    rows = measure(
        documents, parts.assign(part="full"), [chosen], segmentation="whole"
    ).table
    rows = rows.set_index(["doc_id", "author"])
    assert set(rows.index) == {
        ("both", "a"),
        ("both", "b"),
        ("bare", "a"),
        ("alone", "a"),
    }
    assert rows.loc[("both", "a"), "value"] == relevance(
        model, SOURCE.replace(" the ", " ")
    )
    assert list(rows["n_expected"][[("bare", "a"), ("alone", "a"), ("both", "b")]]) == [
        0,
        0,
        1,
    ]
    assert rows.loc[("both", "b"), "n_failed"] == 1
