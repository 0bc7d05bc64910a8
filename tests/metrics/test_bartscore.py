"""BARTScore, MedBARTScore and BARTScore of statements: by formula, and one pair at a time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.metrics import METRICS, bartscore
from metassay.metrics.describe import Measured
from metassay.metrics.faithfulness.record import Case, Scored

torch = pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")

from metassay.models import likelihood  # noqa: E402 - it needs them
from metassay.models.rows import Limits  # noqa: E402
from tests.metrics.faithfulness import formula, setup  # noqa: E402
from tests.models import tiny  # noqa: E402

# past 64 tokens
SOURCE, LONG = "the knee hurts when i climb", "it hurts in the knee " * 20
CANDIDATES = [
    "it hurts today",
    "the knee",
    "",
    " ",
    "how is the knee?",
    "it hurts today",
]
REFERENCES = ["the knee hurts", "", "it hurts", "", LONG, "the knee hurts"]
TERMS = "term,concept,semantic_type\nknee,K,a\nhurts,P,f\nt6t7,T,x\nt5,T,x\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.bart(tmp_path_factory.mktemp("bart") / "model")


def measured(
    model: Path, *pairs: Any, kind: str = "bartscore", **changes: Any
) -> tuple[list[Measured], ...]:
    """Precision, recall and f."""
    block = {
        "kind": kind,
        "model": str(model),
        "device": "cpu",
        "dtype": "float64",
    } | changes
    if kind == "med_bartscore":
        Path("terms.csv").write_text(TERMS, encoding="utf-8")
        block["linker"] = {"kind": "terms", "terms": "terms.csv"}
    chosen = choose(METRICS, block, where="test")
    results = chosen.record.measure(
        *(pairs or (CANDIDATES, REFERENCES)), chosen.options
    )
    names = [f"{kind}_{side}" for side in ("precision", "recall", "f")]
    assert list(results) == [each.name for each in chosen.record.descriptions] == names
    assert (chosen.record.costly, chosen.record.against) == (True, "reference")
    recipe = chosen.record.recipe(chosen.options)
    assert f"|f:{block.get('f', 'mean')}|max_tokens:None|" in recipe
    files = [each.path.name for each in chosen.record.files(chosen.options)]
    assert files == ["terms.csv"] * ("linker" in block)
    assert ("|alpha:" in recipe) == ("linker" in block)
    return tuple(results.values())


def directly(model: Path, source: str, target: str) -> tuple[list[float], list[bool]]:
    """Logarithms of the target's tokens, by plain calls on this pair alone; which are of terms."""
    words, weights = setup.plain(model, "Seq2SeqLM")
    source, target = source.strip(), target.strip()
    cut: dict[str, Any] = {"return_tensors": "pt", "truncation": True, "max_length": 64}
    cut["split_special_tokens"] = True
    read, targets = (
        words(source, **cut),
        words(target, **cut, return_offsets_mapping=True),
    )
    labels = targets["input_ids"]
    with torch.no_grad():
        logs = (
            weights(input_ids=read["input_ids"], labels=labels)
            .logits[0]
            .log_softmax(-1)
        )
    inside = {
        place + n
        for name in ("knee", "hurts")
        for place in range(len(target))
        if target.startswith(name, place)
        for n in range(len(name))
    }
    spans = targets["offset_mapping"][0].tolist()
    heavy = [not inside.isdisjoint(range(begin, end)) for begin, end in spans]
    return logs[range(len(labels[0])), labels[0]].tolist(), heavy


def mean(logs: Sequence[float], weights: Sequence[float] | None = None) -> Any:
    weights = weights or [1.0] * len(logs)
    value = sum(w * log for w, log in zip(weights, logs, strict=True)) / sum(weights)
    return pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize("alpha", [None, 1.0, 3.0])
def test_both_directions_by_plain_calls(model: Path, alpha: float | None) -> None:
    """With `alpha` MedBARTScore, whose tokens of terms weigh 1 + alpha."""
    how = {} if alpha is None else {"kind": "med_bartscore", "alpha": alpha}
    harm = measured(model, **how, f="harm")[2]
    rows = zip(*measured(model, **how, batch_tokens=200), harm, strict=True)
    texts = zip(CANDIDATES, REFERENCES, rows, strict=True)
    for place, (text, reference, (precision, recall, f, of_harm)) in enumerate(texts):
        if not (text + reference).strip():
            assert precision == recall == f == Measured(None, None)
            continue
        for value, pair in (
            (precision, (reference, text)),
            (recall, (text, reference)),
        ):
            logs, heavy = directly(model, *pair)
            assert value.value == mean(
                logs, [1 + (alpha or 0) * more for more in heavy]
            )
        a, b = precision.value or 0, recall.value or 0
        assert f.value == pytest.approx((a + b) / 2)
        assert of_harm.value == pytest.approx(a * b / (a + b))
        assert f.cut == (place == 4)
    assert measured(model, [], [], **how) == ([], [], [])


def test_alpha_0_is_bartscore_and_no_pair_depends_on_another(model: Path) -> None:
    assert measured(model, kind="med_bartscore", alpha=0.0) == measured(model)
    whole = measured(model, kind="med_bartscore")
    turned = CANDIDATES[::-1], REFERENCES[::-1]
    again = measured(model, *turned, kind="med_bartscore", batch_tokens=4096)
    assert tuple(values[::-1] for values in again) == whole


def test_the_values_of_the_formula(tmp_path: Path) -> None:
    """Source [0, 5, 6, 7, 2] and target [0, 6, 7, 2]: these tokens, and their mean.

    By MedBARTScore tokens 1 and 2 of the target weigh 2, its marks 1: four tokens, a
    weight of six.
    """
    bart = formula.bart(tmp_path / "formula")
    tokens = [-3.952382, -3.818896, -2.770639, -3.508137]
    precision, *_ = measured(bart, ["t6t7", ""], ["t5 t6t7"] * 2, dtype="float32")
    values = [each.value for each in precision]
    assert values == pytest.approx([-3.512514, -3.918116], abs=1e-5)
    weighed = -(3.952382 + 2 * 3.818896 + 2 * 2.770639 + 3.508137) / 6
    for divisor, expected in (("count", -5.159898), ("weights", weighed)):
        how = {"kind": "med_bartscore", "dtype": "float32", "divisor": divisor}
        precision, *_ = measured(bart, ["t6t7"], ["t5 t6t7"], **how)
        assert precision[0].value == pytest.approx(expected, abs=1e-5)
    case = Case(("t5", "t6t7"), ("t6t7",))
    ((result,),) = setup.scored(bartscore.SOURCE, [case], bart, dtype="float32")
    assert result.value == pytest.approx(-3.512514, abs=1e-5)
    network = setup.options(bartscore.SOURCE, bart, "float32").checkpoints["tiny"]
    (read,) = likelihood.likelihoods([("t5 t6t7", "t6t7")], network, Limits())
    assert read.values == pytest.approx(tokens, abs=1e-5)


def scored(cases: Sequence[Case], model: Path, **changes: Any) -> list[list[Scored]]:
    return setup.scored(bartscore.SOURCE, cases, model, **changes)


def test_statements_by_plain_calls(model: Path) -> None:
    for passages, statement in (
        (("the knee hurts", "when i climb"), "it hurts today"),
        (("it hurts</s>",), "</s> <s>"),
    ):
        ((result,),) = scored([Case(passages, (statement,))], model, batch_tokens=100)
        assert result.value == mean(directly(model, " ".join(passages), statement)[0])
    # By text, each statement has its own tokens; the last one has the end mark.
    targets = ["the patient climbs the stairs", "it hurts", "today"]
    question = "how is the knee?"
    first, blank, *others = scored(
        [Case((question,), (targets[0], " ", *targets[1:]))], model
    )[0]
    values, _ = directly(model, question, " ".join(targets))
    words, _ = setup.plain(model, "Seq2SeqLM")
    sizes = [len(words(" ".join(targets[: n + 1]))["input_ids"]) - 1 for n in range(2)]
    bounds = [(0, sizes[0]), (sizes[0], sizes[1]), (sizes[1], None)]
    parts = [mean(values[start:end]) for start, end in bounds]
    assert [each.value for each in (first, *others)] == parts
    assert blank == Scored(None)


def test_limits_are_counted(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words, _ = setup.plain(model, "Seq2SeqLM")
    whole = len(
        words(f"{SOURCE} {LONG}".strip(), add_special_tokens=False)["input_ids"]
    )
    for limit in (64, 20):
        ((read,),) = scored(
            [Case((SOURCE, LONG), ("it hurts",))], model, max_tokens=limit
        )
        assert (read.unread, read.cut) == (
            pytest.approx(1 - (limit - 1) / whole),
            False,
        )
    ((long, beyond),) = scored([Case((SOURCE,), (LONG, "it hurts"))], model)
    assert (long.failed, long.cut, long.unread) == (False, True, 0)
    assert beyond == Scored(None, failed=True, cut=True)

    def full(_: object) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(likelihood.rows, "finite", full)
    with pytest.raises(
        BadInput, match=r"too little memory for 1 inputs .* lower `batch_tokens`"
    ):
        scored([Case(("the knee",), ("hurts",))], model)


@pytest.mark.parametrize(("batch_tokens", "times"), [(512, 3), (32, 6)])
def test_a_source_is_encoded_and_crossed_once_for_as_many_targets_as_a_batch_holds(
    model: Path, monkeypatch: pytest.MonkeyPatch, batch_tokens: int, times: int
) -> None:
    sources = ["the knee hurts", f"how is {LONG}", "when i climb"]
    cases = [
        Case((source,), (f"{n} it hurts",)) for n in range(9) for source in sources
    ]
    expected = scored(cases, model, batch_tokens=1)
    read = {"encoder": 0, "keys": 0}
    load = likelihood.load

    def counted(*how: Any) -> Any:
        network = load(*how)
        weights, keys = (
            network.weights.model,
            network.weights.model.decoder.layers[0].encoder_attn,
        )
        for name, part in (("encoder", weights.encoder), ("keys", keys.k_proj)):

            def count(_: Any, __: Any, output: Any, name: str = name) -> None:
                read[name] += len(output if name == "keys" else output[0])

            part.register_forward_hook(count)
        return network

    monkeypatch.setattr(likelihood, "load", counted)
    setup.STORE.unlink()
    assert scored(cases, model, batch_tokens=batch_tokens) == expected
    assert read == {"encoder": times, "keys": times}


def test_a_model_of_another_build_gives_what_plain_calls_give(tmp_path: Path) -> None:
    """T5: relative places, and a last layer that reads scaled vectors."""
    t5 = tiny.t5(tmp_path / "t5")
    pairs = [
        (source, target) for source in ("the knee", SOURCE) for target in ("it", LONG)
    ]
    cases = [Case((source,), (target,)) for source, target in pairs]
    results = scored(cases, t5, max_tokens=64)
    assert [its[0].value for its in results] == [
        mean(directly(t5, *pair)[0]) for pair in pairs
    ]
