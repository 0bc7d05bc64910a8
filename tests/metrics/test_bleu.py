"""BLEU against sacreBLEU's own corpus and sentence scores, and a worked example."""

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.metrics import bleu
from metassay.metrics.describe import Measured

OPTIONS = bleu.BleuOptions(tokenize="13a", lowercase=False)
TEXTS = st.lists(st.sampled_from(["a", "b", "c", "D", "."]), max_size=9).map(" ".join)


def one(candidate: str, reference: str, options: bleu.BleuOptions = OPTIONS) -> Measured:
    return bleu.measure([candidate], [reference], options)["bleu"][0]


def test_by_hand() -> None:
    # Of 5 words 4 are right, of 4 pairs 3, of 3 triples 2, of 2 quadruples 1; as long as the
    # reference: no penalty. (4/5 * 3/4 * 2/3 * 1/2) ** (1/4) = .2 ** .25
    score = one("a b c d x", "a b c d e")
    assert score.value == pytest.approx(100 * 0.2**0.25)
    assert score.statistics == (5, 5, 4, 3, 2, 1, 5, 4, 3, 2)


def test_short_texts_use_the_orders_they_have() -> None:
    assert one("a b", "a b").value == pytest.approx(100)


def test_missing_data() -> None:
    assert one("", "") == Measured(None, None)
    assert one("", "a b").value == 0
    assert one("a b", "").value == 0


@settings(deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5), st.booleans())
def test_equal_to_sacrebleu(pairs: list[tuple[str, str]], lowercase: bool) -> None:
    options = bleu.BleuOptions(tokenize="13a", lowercase=lowercase)
    candidates, references = [c for c, _ in pairs], [r for _, r in pairs]
    scores = bleu.measure(candidates, references, options)["bleu"]
    for (candidate, reference), score in zip(pairs, scores, strict=True):
        expected = sacrebleu.sentence_bleu(candidate, [reference], lowercase=lowercase)
        assert (score.value or 0) == expected.score
    # Texts without statistics have nothing to add: the corpus value is that of all.
    there = [score.statistics for score in scores if score.statistics]
    corpus = sacrebleu.corpus_bleu(candidates, [references], lowercase=lowercase)
    assert (bleu.corpus(there) if there else 0) == pytest.approx(corpus.score)


def test_recipe_is_sacrebleus_signature() -> None:
    assert bleu.recipe(OPTIONS) == (
        f"sacrebleu:(nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:{sacrebleu.__version__})"
    )
    lower = bleu.recipe(bleu.BleuOptions(tokenize="char", lowercase=True))
    assert "case:lc" in lower
    assert "tok:char" in lower


def test_options_reach_sacrebleu() -> None:
    assert one(
        "A B", "a b", bleu.BleuOptions(tokenize="13a", lowercase=True)
    ).value == pytest.approx(100)
    assert one("A B", "a b").value == 0
    assert one("a,b", "a b", bleu.BleuOptions(tokenize="none", lowercase=False)).value == 0
