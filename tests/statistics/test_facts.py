"""Reference scores of notes: values worked out by hand, and by fractions for random counts."""

from fractions import Fraction
from random import Random

import pytest

from metassay.statistics.facts import (
    FactCounts,
    count_contradiction,
    count_facts,
    fact_scores,
    phrases_per_word,
    quality,
)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (FactCounts(6, 1, 1, 2, 9), (0.75, 0.666667, 0.705882, 0.125, 0.222222)),
        (FactCounts(0, 1, 1, 3, 3), (0, 0, 0, 0.5, 1)),
        (FactCounts(0, 0, 0, 4, 4), (None, 0, None, None, 1)),
        # the reference's facts added up
        (FactCounts(0, 0, 0, 4), (None, 0, None, None, 1)),
        (FactCounts(3, 1, 0, 1), (0.75, 0.75, 0.75, 0, 0.25)),
        (FactCounts(0, 0, 2, 0), (0, None, None, 1, None)),
        (FactCounts(3, 1, 0, None), (0.75, None, None, 0, None)),
        (FactCounts(3, 1, 0, None, 4), (0.75, 0.75, 0.75, 0, None)),
        (FactCounts(3, None, 0, 1), (None, 0.75, None, None, 0.25)),
    ],
)
def test_scores_by_hand(counts: FactCounts, expected: tuple[float | None, ...]) -> None:
    result = fact_scores(counts)
    assert list(result) == [
        "factual_precision",
        "factual_recall",
        "factual_f1",
        "hallucination_rate",
        "omission_rate",
    ]
    for value, wanted in zip(result.values(), expected, strict=True):
        assert value == (None if wanted is None else pytest.approx(wanted, abs=5e-7))


def test_scores_of_random_counts_by_fractions() -> None:
    """F1 is 2 correct / (facts of the text + facts of the reference), an identity of its own."""
    draws = Random(7)
    for _ in range(300):
        a, b, c, d = (draws.randrange(9) for _ in range(4))
        extra = draws.randint(0, b)
        counts = FactCounts(a, b, c, d, a + d + extra)
        assert count_contradiction(counts, a + b + c) is None
        result = fact_scores(counts)
        if a + b + c and a + d + extra:
            f1 = Fraction(2 * a, a + b + c + a + d + extra)
            assert result["factual_f1"] == pytest.approx(float(f1), abs=1e-12)
        assert all(value is None or 0 <= value <= 1 for value in result.values())


def test_counts_of_a_list() -> None:
    of = ["correct", "omitted", "correct", "hallucinated", "omitted", "omitted"]
    assert count_facts(of, 6) == (2, 0, 1, 3, 6)
    assert count_facts([*of, None]) == (None, None, None, None, None)
    assert count_facts([]) == (0, 0, 0, 0, None)


@pytest.mark.parametrize(
    ("counts", "system", "expected"),
    [
        (FactCounts(6, 1, 1, 2, 9), 8, None),
        (FactCounts(6, 1, 1, 2, 8), 8, None),
        (FactCounts(6, 1, 1, 2, 7), None, "fewer facts than are correct or omitted"),
        (
            FactCounts(6, 1, 1, 2, 10),
            None,
            "more facts than are correct, incorrect or omitted",
        ),
        (FactCounts(6, 1, 1, 2), 9, "are not the facts of the text in all"),
        (FactCounts(6, None, 1, 2, 10), 9, None),
        (FactCounts(None, 1, 1, 2, 1), None, None),
    ],
)
def test_counts_that_contradict_each_other(
    counts: FactCounts, system: int | None, expected: str | None
) -> None:
    result = count_contradiction(counts, system)
    assert result is expected if expected is None else expected in str(result)


def test_phrases() -> None:
    assert phrases_per_word(2, 8) == 0.25
    assert phrases_per_word(0, 8) == 0
    assert phrases_per_word(0, 0) is None
    assert phrases_per_word(None, 8) is None


@pytest.mark.parametrize(
    ("errors", "sentences", "expected"),
    [
        ((1, 0, 0), (3, 2), 0.666667),
        ((0, 3, 0), (2, 4), 0.75),
        ((1, 2, 4), (5, 3), 0.6),
        ((3, 0, 0), (2, 2), -0.5),  # no floor
        ((0, 0, 0), (0, 0), None),
        ((0, None, 0), (3, 2), None),
    ],
)
def test_quality(
    errors: tuple[int, int, int], sentences: tuple[int, int], expected: float | None
) -> None:
    result = quality(*errors, *sentences)
    assert result == (None if expected is None else pytest.approx(expected, abs=5e-7))
