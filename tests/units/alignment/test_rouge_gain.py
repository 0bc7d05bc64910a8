"""ROUGE-Gain, both rules: against rouge-score in a loop, and values of the released code."""

import itertools
import re
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from metassay.units.alignment import rouge_gain
from metassay.units.alignment.rouge_gain import RougeGainOptions
from metassay.units.record import Chosen, Statements

SCORER = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)
SOURCE = [
    "patient admitted with fever and cough",
    "started on ceftriaxone for pneumonia",
    "fever resolved on day two",
    "blood cultures negative",
    "patient discharged home on oral antibiotics",
]
STATEMENT = "patient admitted with fever started on ceftriaxone"

WORDS = st.sampled_from(["pain", "no", "Left", "knee", "5", "mg", "the", "über", "x-ray", ""])
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)


def align(
    passages: list[str],
    statements: list[str],
    rule: Literal["printed", "lebanoff"],
    k: int | None = None,
) -> Chosen:
    document = Statements(passages, [""] * len(passages), statements)
    (found,) = rouge_gain.align([document], RougeGainOptions(rule=rule, k=k)).documents
    return found


def mean(passage: str, statement: str, names: list[str]) -> float:
    scores = SCORER.score(statement, passage)
    first, *rest = (scores[name].fmeasure for name in names)
    return sum(rest, start=first) / len(names)


def printed(passages: list[str], statement: str) -> list[tuple[int, float]]:
    """One concatenation after the other, scored by rouge-score."""
    chosen: list[tuple[int, float]] = []
    last = 0.0
    while True:
        best: tuple[float, int] | None = None
        for place, passage in enumerate(passages):
            if place not in [i for i, _ in chosen]:
                text = " ".join([*(passages[i] for i, _ in chosen), passage])
                value = mean(text, statement, ["rouge1", "rouge2", "rougeL"])
                if value > last and (best is None or value > best[0]):
                    best = value, place
        if best is None:
            return chosen
        last = best[0]
        chosen.append((best[1], last))


def lebanoff(passages: list[str], statement: str, k: int) -> list[tuple[int, float]]:
    chosen: list[tuple[int, float]] = []
    left = re.findall("[a-z0-9]+", statement.lower())
    while left and passages and len(chosen) < k:
        values = [mean(passage, " ".join(left), ["rouge1", "rouge2"]) for passage in passages]
        place = values.index(max(values))
        has = set(re.findall("[a-z0-9]+", passages[place].lower()))
        if chosen and len(has & set(left)) < 2:
            break
        chosen.append((place, values[place]))
        left = [word for word in left if word not in has]
    return chosen


def test_values_of_the_definition() -> None:
    """Worked out from the released code, to six decimals."""
    found, nothing = align(SOURCE, [STATEMENT, "no growth"], "printed")
    assert [place for place, _ in found] == [0, 1]
    assert found[1][1] == pytest.approx(0.726852, abs=5e-7)
    assert nothing == []
    found, nothing = align(SOURCE, [STATEMENT, "no growth"], "lebanoff", k=5)
    assert [place for place, _ in found] == [0, 1]
    assert [value for _, value in found] == pytest.approx([0.580420, 0.708333], abs=5e-7)
    assert nothing == [(0, 0.0)]


def test_by_hand() -> None:
    """ROUGE-1 2 of 2 and of 3: 4/5; ROUGE-2 1 of 1 and of 2: 2/3; ROUGE-L 4/5."""
    passages = ["fever with cough", "given ceftriaxone"]
    for rule, value in (
        ("printed", (4 / 5 + 2 / 3 + 4 / 5) / 3),
        ("lebanoff", (4 / 5 + 2 / 3) / 2),
    ):
        ((place, found),) = align(passages, ["fever, given ceftriaxone"], rule)[0]  # type: ignore[arg-type]
        assert (place, found) == (1, pytest.approx(value))


@settings(deadline=None, max_examples=300)
@given(st.lists(TEXTS, max_size=6), st.lists(TEXTS, min_size=1, max_size=3))
def test_printed_is_the_slow_loop_to_the_last_bit(
    passages: list[str], statements: list[str]
) -> None:
    expected = [printed(passages, statement) for statement in statements]
    assert align(passages, statements, "printed") == expected


@settings(deadline=None, max_examples=300)
@given(st.lists(TEXTS, max_size=6), st.lists(TEXTS, min_size=1, max_size=3), st.integers(1, 4))
def test_lebanoff_is_the_slow_loop_to_the_last_bit(
    passages: list[str], statements: list[str], k: int
) -> None:
    expected = [lebanoff(passages, statement, k) for statement in statements]
    assert align(passages, statements, "lebanoff", k) == expected


def test_neither_order_nor_other_statements_change_anything() -> None:
    statements = [STATEMENT, "no growth", "fever", "discharged on antibiotics with fever"]
    for rule in ("printed", "lebanoff"):
        together = align(SOURCE, statements, rule)  # type: ignore[arg-type]
        for order in itertools.permutations(range(4)):
            turned = align(SOURCE, [statements[i] for i in order], rule)  # type: ignore[arg-type]
            assert turned == [together[i] for i in order]


def test_at_most_k() -> None:
    assert [len(found) for found in align(SOURCE, [STATEMENT], "printed", k=1)] == [1]
