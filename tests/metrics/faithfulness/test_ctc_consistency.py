"""CTC's consistency against values by formula, and against one text at a time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.metrics.faithfulness import ctc_consistency
from metassay.metrics.faithfulness.record import Case, Scored
from metassay.text.tokens import STOPWORDS

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.metrics.faithfulness import formula, setup  # noqa: E402 - it needs them
from tests.models import tiny  # noqa: E402

LONG = "it hurts in the knee " * 20  # past 64 tokens
CASES = [
    Case(("the knee hurts", "when i climb"), ("It hurts \u201ctoday\u201d",)),
    Case(("how is the knee?",), ("the patient climbs  the stairs", " ", "it hurts", "today")),
    Case(("the knee", LONG), ("it hurts",)),
    Case(("it hurts",), (LONG, "it hurts")),
    Case((), ("it hurts",)),
    Case(("it hurts</s>",), ("</s> <s>",)),
]
CASES = [*CASES, CASES[0]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("ctc") / "model"
    return tiny.classifier(place, "roberta", ("ok", "fake"), head="Token")


def scored(cases: Sequence[Case], model: Path, **changes: Any) -> list[list[Scored]]:
    return setup.scored(ctc_consistency.KIND, cases, model, **changes)


def directly(model: Path, text: str, context: str, how: str = "mean") -> list[float]:
    """Each word's probability by plain calls: vectors of its pieces, and the classifier's layer."""
    words = transformers.AutoTokenizer.from_pretrained(model)
    weights = transformers.AutoModelForTokenClassification.from_pretrained(
        model, dtype=torch.float64
    ).eval()
    room = {"truncation": "only_second", "max_length": 64, "split_special_tokens": True}
    inputs = words(text, context, return_tensors="pt", **room)
    with torch.no_grad():
        states = weights.base_model(inputs["input_ids"])[0][0]
        results, at = [], 1
        for place, word in enumerate(text.split(" ")):
            text = word if place == 0 else f" {word}"
            its = words(text, add_special_tokens=False, split_special_tokens=True).input_ids
            blank = not words.decode(its[:1]).strip()  # a piece for itself, and no word's
            vector = getattr(states[at + blank : at + len(its)], how)(0)
            results.append(torch.softmax(weights.classifier(vector), -1)[0].item())
            at += len(its)
    return results


@pytest.mark.parametrize("how", ["mean", "sum"])
def test_the_values_of_the_formula(tmp_path: Path, how: str) -> None:
    """[0] + words [5], [6, 7], [8] + [2, 2] + context [9 .. 12] + [2]; a sum moves but one word."""
    roberta = formula.roberta(tmp_path / "formula")
    values = [0.559690, 0.464386 if how == "mean" else 0.380978, 0.366277]
    case = Case(("t9 t10", "t11 t12"), ("t5 t6t7 t8",))
    ((results,),) = scored([case], roberta, dtype="float32", pieces=how)
    assert results.value == pytest.approx(sum(values) / 3, abs=1e-5)
    if how == "mean":
        assert results.value == pytest.approx(0.463451, abs=1e-5)
    parts = scored([Case(case.passages, ("t5", "t6t7", "t8"))], roberta, pieces=how)[0]
    assert [each.value for each in parts] == pytest.approx(values, abs=1e-5)


@pytest.mark.parametrize("how", ["mean", "sum"])
def test_each_word_is_what_plain_calls_make_of_it(model: Path, how: str) -> None:
    first, second, *_, marks, _ = scored(CASES, model, batch_tokens=200, pieces=how)
    alone = directly(model, 'it hurts "today"', "the knee hurts when i climb", how)
    assert first[0].value == pytest.approx(sum(alone) / 3, abs=1e-7)
    joined = "the patient climbs the stairs it hurts today"
    values = directly(model, joined, "how is the knee?", how)
    parts = [values[:5], values[5:7], values[7:]]
    assert [each.value for each in second if each != Scored(None)] == pytest.approx(
        [sum(part) / len(part) for part in parts], abs=1e-7
    )
    assert second[1] == Scored(None)
    expected = directly(model, "</s> <s>", "it hurts</s>", how)
    assert marks[0].value == pytest.approx(sum(expected) / 2, abs=1e-7)


def test_stop_words_may_be_left_out(model: Path) -> None:
    text, context = "the knee is, of it, worse", "how is the knee?"
    values = directly(model, text, context)
    counted = [
        v for v, w in zip(values, text.split(), strict=True) if w.strip(",") not in STOPWORDS
    ]
    assert 0 < len(counted) < len(values)
    cases = [Case((context,), (text,)), Case((context,), ("it is",))]
    results = scored(cases, model, stop_words=False)
    assert results[0][0].value == pytest.approx(sum(counted) / len(counted), abs=1e-7)
    assert results[1][0] == Scored(0.0)


def test_limits_are_counted(model: Path) -> None:
    words = transformers.AutoTokenizer.from_pretrained(model)

    def size(text: str) -> int:
        return len(words(text, add_special_tokens=False)["input_ids"])

    results = scored(CASES, model)
    whole, text = size(f"the knee {LONG.strip()}"), size("it hurts")
    assert results[2][0].unread == pytest.approx(1 - (64 - 4 - text) / whole)
    assert not results[2][0].cut
    long, beyond = results[3]
    assert (long.failed, long.cut, long.unread) == (False, True, 0)
    assert beyond == Scored(None, failed=True, cut=True)
    # Half of the room: the words whose tokens are all among the first 31.
    text = LONG.strip()
    read = [w for n, w in enumerate(text.split()) if size(" ".join(text.split()[: n + 1])) <= 31]
    begun = words.decode(words(text, add_special_tokens=False)["input_ids"][:31])
    alone = directly(model, begun, "it hurts")[: len(read)]
    assert long.value == pytest.approx(sum(alone) / len(alone), abs=1e-7)


def test_words_that_do_not_align_have_failed(tmp_path: Path) -> None:
    """A token of two words, here because the tokenizer takes blanks for letters."""
    place = tiny.classifier(tmp_path / "m", "roberta", ("ok", "fake"), head="Token")
    words = transformers.AutoTokenizer.from_pretrained(place)
    words.add_tokens(["it hurts"])
    weights = transformers.AutoModelForTokenClassification.from_pretrained(place)
    weights.resize_token_embeddings(len(words), mean_resizing=False)
    weights.save_pretrained(place)
    words.save_pretrained(place)
    results = scored([Case(("the knee",), ("it hurts", "today"))], place)[0]
    assert results[0] == Scored(None, failed=True)
    assert results[1].value is not None


def test_neither_order_nor_neighbours_nor_repeats_change_a_value(model: Path) -> None:
    setup.holds_in_any_company(lambda cases, **how: scored(cases, model, **how), CASES)


def test_what_is_not_finite_or_no_two_classes(model: Path, tmp_path: Path) -> None:
    for names in (("a", "b", "c"), ("fake", "ok")):
        other = tiny.classifier(tmp_path / names[0], "bert", names, head="Token")
        with pytest.raises(BadInput, match=f"has {', '.join(names)} as classes of tokens; choose"):
            scored(CASES, other)
    weights = transformers.AutoModelForTokenClassification.from_pretrained(model)
    with torch.no_grad():
        weights.classifier.bias.fill_(float("nan"))
    weights.save_pretrained(tmp_path / "broken")
    transformers.AutoTokenizer.from_pretrained(model).save_pretrained(tmp_path / "broken")
    assert scored(CASES[:1], tmp_path / "broken") == [[Scored(None, failed=True)]]


def test_its_recipe_states_what_changes_a_value(model: Path) -> None:
    recipe = setup.recipe(ctc_consistency.KIND, model, stop_words=False)
    assert "|dtype:float64|pieces:mean|stop_words:False|max_tokens:None|transformers:" in recipe
