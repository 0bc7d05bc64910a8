"""BARTScore against values by formula, against one pair at a time, and by text."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.metrics import bartscore
from metassay.metrics.faithfulness.record import Case, Scored

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")

from metassay.models import likelihood  # noqa: E402 - it needs them
from metassay.models.rows import Limits  # noqa: E402
from tests.metrics.faithfulness import formula, setup  # noqa: E402
from tests.models import tiny  # noqa: E402

SOURCE, LONG = "the knee hurts when i climb", "it hurts in the knee " * 20  # past 64 tokens
CASES = [
    Case(("the knee hurts", "when i climb"), ("it hurts today",)),
    Case(("how is the knee?",), ("the patient climbs the stairs", " ", "it hurts", "today")),
    Case((SOURCE, LONG), ("it hurts",)),
    Case((SOURCE,), (LONG, "it hurts")),
    Case((), ("it hurts",)),
    Case((" ",), ("",)),
    Case(("it hurts</s>",), ("</s> <s>",)),
]
CASES = [*CASES, CASES[0]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.bart(tmp_path_factory.mktemp("bart") / "model")


def scored(cases: Sequence[Case], model: Path, **changes: Any) -> list[list[Scored]]:
    return setup.scored(bartscore.SOURCE, cases, model, **changes)


def directly(model: Path, source: str, target: str) -> list[float]:
    """Logarithms of the target's tokens, by plain calls on this pair alone."""
    words = transformers.AutoTokenizer.from_pretrained(model)
    weights = transformers.AutoModelForSeq2SeqLM.from_pretrained(model, dtype=torch.float64).eval()
    read, targets = (
        words(text, return_tensors="pt", truncation=True, max_length=64, split_special_tokens=True)
        for text in (source, target)
    )
    with torch.no_grad():
        logits = weights(input_ids=read["input_ids"], labels=targets["input_ids"]).logits[0]
    rows = torch.log_softmax(logits, -1)
    return [row[n].item() for row, n in zip(rows, targets["input_ids"][0], strict=True)]


def test_the_values_of_the_formula(tmp_path: Path) -> None:
    """Source [0, 5, 6, 7, 2] and target [0, 6, 7, 2]: these tokens, and their mean."""
    bart = formula.bart(tmp_path / "formula")
    tokens = [-3.952382, -3.818896, -2.770639, -3.508137]
    ((results,),) = scored([Case(("t5", "t6t7"), ("t6t7",))], bart, dtype="float32")
    assert results.value == pytest.approx(-3.512514, abs=1e-5)
    network = setup.options(bartscore.SOURCE, bart, "float32").checkpoints["tiny"]
    pairs = [("t5 t6t7", "t6t7"), ("t5 t6t7", "")]
    both = likelihood.likelihoods(pairs, network, Limits())
    assert both[0].values == pytest.approx(tokens, abs=1e-5)
    assert bartscore.mean(both[1].values) == pytest.approx(-3.918116, abs=1e-5)


def test_each_statement_is_what_plain_calls_make_of_it_alone(model: Path) -> None:
    results = scored(CASES, model, batch_tokens=100)
    for case, its in zip(CASES, results, strict=True):
        if len(case.statements) == 1 and "".join(case.passages).strip():
            values = directly(model, " ".join(map(str.strip, case.passages)), case.statements[0])
            assert its[0].value == pytest.approx(sum(values) / len(values), abs=1e-7)


def test_by_text_each_statement_has_its_own_tokens(model: Path) -> None:
    first, blank, second, third = scored(CASES, model)[1]
    targets = ["the patient climbs the stairs", "it hurts", "today"]
    values = directly(model, "how is the knee?", " ".join(targets))
    words = transformers.AutoTokenizer.from_pretrained(model)
    sizes = [len(words(" ".join(targets[: n + 1]))["input_ids"]) - 1 for n in range(3)]
    ends = [sizes[0], sizes[1], sizes[2] + 1]  # the last one has the end mark
    parts = [values[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    assert [each.value for each in (first, second, third)] == pytest.approx(
        [sum(part) / len(part) for part in parts], abs=1e-7
    )
    assert blank == Scored(None)


def test_blanks_have_no_value_and_limits_are_counted(model: Path) -> None:
    results = scored(CASES, model)
    assert results[4] == [Scored(None)]
    assert results[5] == [Scored(None)]
    words = transformers.AutoTokenizer.from_pretrained(model)
    whole = len(words(f"{SOURCE} {LONG}".strip(), add_special_tokens=False)["input_ids"])
    assert results[2][0].unread == pytest.approx(1 - 63 / whole)
    assert not results[2][0].cut
    long, beyond = results[3]
    assert (long.failed, long.cut, long.unread) == (False, True, 0)
    assert beyond == Scored(None, failed=True, cut=True)
    shorter = scored(CASES[2:3], model, max_tokens=20)
    assert shorter[0][0].unread == pytest.approx(1 - 19 / whole)


def test_neither_order_nor_neighbours_nor_repeats_change_a_value(model: Path) -> None:
    setup.holds_in_any_company(lambda cases, **how: scored(cases, model, **how), CASES)


@pytest.mark.parametrize(("batch_tokens", "times"), [(512, 3), (32, 6)])
def test_a_source_is_encoded_and_crossed_once_for_as_many_targets_as_a_batch_holds(
    model: Path, monkeypatch: pytest.MonkeyPatch, batch_tokens: int, times: int
) -> None:
    sources = ["the knee hurts", f"how is {LONG}", "when i climb"]
    cases = [Case((source,), (f"{n} it hurts",)) for n in range(9) for source in sources]
    expected = scored(cases, model, batch_tokens=1)
    read: dict[str, int] = {}
    plain = likelihood.load

    def counted(*how: Any) -> Any:
        network = plain(*how)
        weights, keys = network.weights.model, network.weights.model.decoder.layers[0].encoder_attn
        for name, part in (("encoder", weights.encoder), ("keys", keys.k_proj)):

            def count(_: Any, __: Any, output: Any, name: str = name) -> None:
                read[name] = read.get(name, 0) + len(output if name == "keys" else output[0])

            part.register_forward_hook(count)
        return network

    monkeypatch.setattr(likelihood, "load", counted)
    setup.STORE.unlink()
    assert scored(cases, model, batch_tokens=batch_tokens) == expected
    assert read == {"encoder": times, "keys": times}


def test_a_model_of_another_build_gives_what_plain_calls_give(tmp_path: Path) -> None:
    """T5: relative places, and a last layer that reads scaled vectors."""
    t5 = tiny.t5(tmp_path / "t5")
    cases = [Case((source,), (target,)) for source in CASES[0].passages for target in ("it", LONG)]
    for case, (its,) in zip(cases, scored(cases, t5, max_tokens=64), strict=True):
        values = directly(t5, case.passages[0], case.statements[0])
        assert its.value == pytest.approx(sum(values) / len(values), abs=1e-7)


def test_what_is_not_finite_has_failed(model: Path, tmp_path: Path) -> None:
    weights = transformers.AutoModelForSeq2SeqLM.from_pretrained(model)
    with torch.no_grad():
        weights.model.decoder.layers[0].fc1.bias.fill_(float("nan"))
    weights.save_pretrained(tmp_path / "broken")
    transformers.AutoTokenizer.from_pretrained(model).save_pretrained(tmp_path / "broken")
    results = scored(CASES[:2], tmp_path / "broken")
    failed = Scored(None, failed=True)
    assert results == [[failed], [failed, Scored(None), failed, failed]]


def test_too_little_memory_is_said(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(likelihood.rows, "finite", full)
    with pytest.raises(BadInput, match=r"too little memory for 1 inputs .* lower `batch_tokens`"):
        scored(CASES[:1], model)


def test_its_recipe_states_what_changes_a_value(model: Path) -> None:
    recipe = setup.recipe(bartscore.SOURCE, model, dtype="float32")
    assert recipe.startswith("model:model#")
    assert "|dtype:float32|max_tokens:None|transformers:" in recipe
    assert str(model.parent) not in recipe
