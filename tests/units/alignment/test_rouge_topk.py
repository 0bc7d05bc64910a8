"""ROUGE-TopK: rouge-score is the oracle, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from rouge_score import rouge_scorer

from metassay.units.alignment.rouge import ROUGE_TOPK, RougeTopKOptions, mean_rouge
from metassay.units.record import Chosen, Statements

SCORER = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)


def align(passages: list[str], statements: list[str], options: RougeTopKOptions) -> Chosen:
    (found,) = ROUGE_TOPK.align([Statements(passages, [], statements)], options).documents
    return found


WORDS = st.sampled_from(
    ["pain", "no", "Left", "knee", "5", "mg", "the", "über", "x-ray", "a.b", ""]
)
TEXTS = st.lists(WORDS, max_size=9).map(" ".join)


def oracle(passage: str, statement: str) -> float:
    scores = SCORER.score(statement, passage)
    f = [scores[name].fmeasure for name in ("rouge1", "rouge2", "rougeL")]
    return (f[0] + f[1] + f[2]) / 3


def test_worked_by_hand() -> None:
    # statement "no knee pain", passage "knee pain today": tokens 3 and 3.
    # ROUGE-1: 2 common of 3 and 3, F1 2/3. ROUGE-2: "knee pain" common, 1 of 2 and 2, F1 1/2.
    # ROUGE-L: "knee pain", F1 2/3. Mean (2/3 + 1/2 + 2/3) / 3 = 11/18.
    values = mean_rouge(["knee pain today", "no cough"], ["no knee pain"])
    assert values[0, 0] == pytest.approx(11 / 18)
    # "no cough": ROUGE-1 1 of 3 and 2: F1 2/5; ROUGE-2 none; ROUGE-L 2/5. Mean 4/15.
    assert values[0, 1] == pytest.approx(4 / 15)


@settings(deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=6), st.lists(TEXTS, min_size=1, max_size=4))
def test_equals_rouge_score_to_the_last_bit(passages: list[str], statements: list[str]) -> None:
    expected = [[oracle(passage, statement) for passage in passages] for statement in statements]
    assert mean_rouge(passages, statements).tolist() == expected


@settings(deadline=None)
@given(st.lists(st.text(max_size=20), min_size=1, max_size=4), st.text(max_size=20))
def test_equals_rouge_score_on_any_characters(passages: list[str], statement: str) -> None:
    expected = [[oracle(passage, statement) for passage in passages]]
    assert mean_rouge(passages, [statement]).tolist() == expected


def test_equals_rouge_score_on_long_texts_with_many_different_tokens() -> None:
    rng = np.random.default_rng(7)
    texts = [" ".join(f"w{n}" for n in rng.zipf(1.3, size=70).tolist()) for _ in range(12)]
    expected = [[oracle(passage, statement) for passage in texts[4:]] for statement in texts[:4]]
    assert mean_rouge(texts[4:], texts[:4]).tolist() == expected


def test_more_token_kinds_than_the_first_surrogate_character() -> None:
    many = " ".join(f"t{n}" for n in range(0xE010))  # one character each: past U+D800
    few = " ".join(f"t{n}" for n in range(0xD7F0, 0xE010, 2))
    size, common = 0xE010, len(range(0xD7F0, 0xE010, 2))
    precision, recall = common / size, 1.0
    f1 = 2 * precision * recall / (precision + recall)
    assert mean_rouge([few], [many])[0, 0] == (f1 + 0 + f1) / 3


def test_best_first_ties_by_lower_index_and_no_zeros() -> None:
    passages = ["unrelated words", "left knee", "knee left", "left knee pain", "pain"]
    best = align(passages, ["left knee pain"], RougeTopKOptions(k=10))[0]
    assert [i for i, _ in best] == [3, 1, 2, 4]
    assert best[0] == (3, 1.0)
    tied = align(["knee a", "knee b", "knee c"], ["knee"], RougeTopKOptions(k=2))[0]
    assert [i for i, _ in tied] == [0, 1]


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=8), st.lists(TEXTS, max_size=3), st.integers(1, 4))
def test_same_choice_as_sorting_the_oracle(
    passages: list[str], statements: list[str], k: int
) -> None:
    found = align(passages, statements, RougeTopKOptions(k=k))
    assert len(found) == len(statements)
    for statement, best in zip(statements, found, strict=True):
        values = {i: oracle(passage, statement) for i, passage in enumerate(passages)}
        ranked = sorted((-value, i) for i, value in values.items() if value > 0)
        assert best == [(i, -value) for value, i in ranked[:k]]


def test_nothing_to_align() -> None:
    options = RougeTopKOptions(k=5)
    assert align([], ["a statement"], options) == [[]]
    assert align(["a passage"], [], options) == []
    assert align(["...", ""], ["?", "words"], options) == [[], []]


def test_options_are_checked() -> None:
    with pytest.raises(ValidationError):
        RougeTopKOptions(k=0)
