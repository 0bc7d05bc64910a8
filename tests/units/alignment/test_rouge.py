"""Alignments by ROUGE: by hand, values of released code, and rouge-score in slow loops."""

import itertools
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from rouge_score import rouge_scorer

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.units.alignment import ALIGNMENTS
from metassay.units.alignment.rouge import RougeTopKOptions, mean_rouge
from metassay.units.record import Statements

SCORER = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)
WORDS = st.sampled_from(
    ["pain", "no", "Left", "knee", "5", "mg", "the", "über", "x-ray", "a.b", ""]
)
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)
SOURCES, STATEMENTS = (
    st.lists(TEXTS, max_size=6),
    st.lists(TEXTS, min_size=1, max_size=3),
)
RULES = ["printed", "lebanoff"]


def align(
    passages: list[str], *statements: str, kind: str, groups: Any = None, **options: Any
) -> list[list[tuple[int, float]]]:
    document = Statements(passages, groups or [""] * len(passages), list(statements))
    _, record, parsed = choose(ALIGNMENTS, {"kind": kind, **options}, where="test")
    results: list[list[tuple[int, float]]] = record.align([document], parsed).documents[
        0
    ]
    return results


def oracle(passage: str, statement: str, *names: str) -> float:
    scores = SCORER.score(statement, passage)
    first, *rest = (scores[n].fmeasure for n in names or ("rouge1", "rouge2", "rougeL"))
    return sum(rest, start=first) / (len(rest) + 1)


def places(results: list[tuple[int, float]]) -> list[int]:
    return [place for place, _ in results]


# ---- the mean of all pairs


def test_worked_by_hand() -> None:
    # statement "no knee pain", passage "knee pain today": tokens 3 and 3. ROUGE-1: 2
    # common of 3 and 3, F1 2/3. ROUGE-2: "knee pain" common, 1 of 2 and 2, F1 1/2.
    # ROUGE-L: "knee pain", F1 2/3. Mean (2/3 + 1/2 + 2/3) / 3 = 11/18. "no cough":
    # ROUGE-1 1 of 3 and 2: F1 2/5; ROUGE-2 none; ROUGE-L 2/5. Mean 4/15.
    values = mean_rouge(["knee pain today", "no cough"], ["no knee pain"])
    assert values[0].tolist() == pytest.approx([11 / 18, 4 / 15])


ANY = st.lists(TEXTS | st.text(max_size=20), min_size=1, max_size=5)


@settings(deadline=None)
@given(ANY, ANY, st.integers(1, 4))
def test_equals_rouge_score_to_the_last_bit(
    passages: list[str], statements: list[str], k: int
) -> None:
    expected = [
        [oracle(passage, statement) for passage in passages] for statement in statements
    ]
    assert mean_rouge(passages, statements).tolist() == expected
    ranked = [
        sorted((-value, i) for i, value in enumerate(values) if value > 0)
        for values in expected
    ]
    results = align(passages, *statements, kind="rouge_topk", k=k)
    assert results == [[(i, -value) for value, i in best[:k]] for best in ranked]


def test_equals_rouge_score_on_long_texts_with_many_different_tokens() -> None:
    rng = np.random.default_rng(7)
    texts = [
        " ".join(f"w{n}" for n in rng.zipf(1.3, size=70).tolist()) for _ in range(12)
    ]
    expected = [
        [oracle(passage, statement) for passage in texts[4:]] for statement in texts[:4]
    ]
    assert mean_rouge(texts[4:], texts[:4]).tolist() == expected


def test_more_token_kinds_than_the_first_surrogate_character() -> None:
    many = " ".join(f"t{n}" for n in range(0xE010))  # one character each: past U+D800
    few = " ".join(f"t{n}" for n in range(0xD7F0, 0xE010, 2))
    precision, recall = len(range(0xD7F0, 0xE010, 2)) / 0xE010, 1.0
    f1 = 2 * precision * recall / (precision + recall)
    assert mean_rouge([few], [many])[0, 0] == (f1 + 0 + f1) / 3


# ---- rouge_topk


def test_topk_has_the_best_first_ties_by_lower_index_and_no_zeros() -> None:
    passages = ["unrelated words", "left knee", "knee left", "left knee pain", "pain"]
    (best,) = align(passages, "left knee pain", kind="rouge_topk", k=10)
    assert places(best) == [3, 1, 2, 4]
    assert best[0] == (3, 1.0)
    (tied,) = align(["knee a", "knee b", "knee c"], "knee", kind="rouge_topk", k=2)
    assert places(tied) == [0, 1]
    assert align([], "a statement", kind="rouge_topk", k=5) == [[]]
    assert align(["a passage"], kind="rouge_topk", k=5) == []
    assert align(["...", ""], "?", "words", kind="rouge_topk", k=5) == [[], []]
    with pytest.raises(ValidationError):
        RougeTopKOptions(k=0)


# ---- top_section and full

NOTE = ["knee pain", "no cough", "ibuprofen given", "knee swollen", "fever"]
OF = ["history", "history", "plan", "exam", "exam"]


@pytest.mark.parametrize(
    ("statement", "groups", "expected"),
    [
        # one word of three (exam) is more than one of four (history)
        ("the knee is swollen", OF, [3, 4]),
        ("ibuprofen", OF, [2]),
        ("headache", OF, []),
        ("no knee pain", OF, [0, 1]),
        ("knee", OF, [3, 4]),
        ("fever", ["", "a", "b", "a", ""], [0, 4]),  # passages in no section are one
    ],
)
def test_all_of_the_closest_section_in_its_order(
    statement: str, groups: list[str], expected: list[int]
) -> None:
    (results,) = align(NOTE, statement, kind="top_section", groups=groups)
    assert places(results) == expected
    text = " ".join(NOTE[i] for i in expected)
    assert {value for _, value in results} <= {oracle(text, statement)}


def test_a_source_without_sections_is_refused() -> None:
    with pytest.raises(
        BadInput, match=r"no passage of sources has a `group`.*; give it"
    ):
        align(NOTE, "fever", kind="top_section")
    _, record, options = choose(ALIGNMENTS, {"kind": "top_section"}, where="test")
    assert record.align([], options).documents == []


@pytest.mark.parametrize(
    ("tokens", "expected"),
    # By value: "knee swollen", "knee pain", then the others, all 0, in their order.
    # two more would be 8 tokens
    [(1, []), (4, [0, 3]), (7, [0, 1, 3]), (100, [0, 1, 2, 3, 4])],
)
def test_full_until_the_first_that_does_not_fit_in_source_order(
    tokens: int, expected: list[int]
) -> None:
    (results,) = align(NOTE, "swollen knee", kind="full", tokens=tokens)
    names = ("rouge1", "rouge2")
    assert results == [(i, oracle(NOTE[i], "swollen knee", *names)) for i in expected]
    # A shorter one behind the first that does not fit is not taken.
    passages = ["knee", "the left knee and the right one too", "knee pain"]
    assert align(passages, "the left knee", kind="full", tokens=3) == [[]]
    assert align([], "knee", kind="full", tokens=5) == [[]]


# ---- rouge_gain

SOURCE = [
    "patient admitted with fever and cough",
    "started on ceftriaxone for pneumonia",
    "fever resolved on day two",
    "blood cultures negative",
    "patient discharged home on oral antibiotics",
]
STATEMENT = "patient admitted with fever started on ceftriaxone"


def gain(passages: list[str], *statements: str, rule: str, k: int | None = None) -> Any:
    return align(passages, *statements, kind="rouge_gain", rule=rule, k=k)


def printed(passages: list[str], statement: str, k: int) -> list[tuple[int, float]]:
    """One concatenation after the other, scored by rouge-score."""
    chosen: list[tuple[int, float]] = []
    last = 0.0
    while len(chosen) < k:
        values = {
            place: oracle(
                " ".join([*(passages[i] for i, _ in chosen), passage]), statement
            )
            for place, passage in enumerate(passages)
            if place not in places(chosen)
        }
        best = max(values, key=lambda place: (values[place], -place), default=None)
        if best is None or values[best] <= last:
            break
        last = values[best]
        chosen.append((best, last))
    return chosen


def lebanoff(passages: list[str], statement: str, k: int) -> list[tuple[int, float]]:
    chosen: list[tuple[int, float]] = []
    left = re.findall("[a-z0-9]+", statement.lower())
    while left and passages and len(chosen) < k:
        values = [
            oracle(passage, " ".join(left), "rouge1", "rouge2") for passage in passages
        ]
        place = values.index(max(values))
        has = set(re.findall("[a-z0-9]+", passages[place].lower()))
        if chosen and len(has & set(left)) < 2:
            break
        chosen.append((place, values[place]))
        left = [word for word in left if word not in has]
    return chosen


def test_gain_has_the_values_of_the_definition_and_by_hand() -> None:
    """Worked out from the released code, to six decimals."""
    (both, nothing) = gain(SOURCE, STATEMENT, "no growth", rule="printed")
    assert (places(both), nothing) == ([0, 1], [])
    assert both[1][1] == pytest.approx(0.726852, abs=5e-7)
    (both, nothing) = gain(SOURCE, STATEMENT, "no growth", rule="lebanoff", k=5)
    assert (places(both), nothing) == ([0, 1], [(0, 0.0)])
    assert [value for _, value in both] == pytest.approx([0.580420, 0.708333], abs=5e-7)
    # ROUGE-1 2 of 2 and of 3: 4/5; ROUGE-2 1 of 1 and of 2: 2/3; ROUGE-L 4/5.
    for rule, value in zip(
        RULES, ((4 / 5 + 2 / 3 + 4 / 5) / 3, (4 / 5 + 2 / 3) / 2), strict=True
    ):
        passages = ["fever with cough", "given ceftriaxone"]
        (((place, result),),) = gain(passages, "fever, given ceftriaxone", rule=rule)
        assert (place, result) == (1, pytest.approx(value))


@settings(deadline=None, max_examples=300)
@given(SOURCES, STATEMENTS, st.integers(1, 4) | st.none())
def test_gain_is_the_slow_loop_to_the_last_bit(
    passages: list[str], statements: list[str], k: int | None
) -> None:
    for rule, slowly in zip(RULES, (printed, lebanoff), strict=True):
        expected = [
            slowly(passages, statement, k or len(passages)) for statement in statements
        ]
        assert gain(passages, *statements, rule=rule, k=k) == expected


@pytest.mark.parametrize("rule", RULES)
def test_neither_order_nor_other_statements_change_anything(rule: str) -> None:
    statements = [
        STATEMENT,
        "no growth",
        "fever",
        "discharged on antibiotics with fever",
    ]
    together = gain(SOURCE, *statements, rule=rule)
    for order in itertools.permutations(range(4)):
        turned = gain(SOURCE, *(statements[i] for i in order), rule=rule)
        assert turned == [together[i] for i in order]
