"""Questions about whole texts: which of two is better, and whether two ask the same."""

import itertools
from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest

from metassay.judges.protocol import Judgment, Pair
from metassay.scoring.pairing.questions import Questions
from tests.scoring.pairing.colours import Colours, Judged, judged

BETTER = Questions(
    measures=("preference", "preference_position_bias"), against="full", borrow=False
)
BIAS = "preference_position_bias"
FAIL = "fail"


def row(found: Judged, metric: str, author: str = "one", doc_id: str = "d") -> tuple[Any, ...]:
    """value, n_expected, n_failed, low, high; None for null."""
    scores = found.scores.set_index(["doc_id", "author", "metric"]).loc[(doc_id, author, metric)]
    values = [scores[name] for name in ("value", "n_expected", "n_failed", "low", "high")]
    return tuple(None if pd.isna(value) else round(float(value), 12) for value in values)


def compared(answers: Mapping[tuple[str, str], str], *systems: str, **others: Any) -> Judged:
    """`answers`: what is said of (first text, second text); the systems' names are their texts."""

    def says(pair: Pair) -> Judgment:
        said = answers.get((pair.premise, pair.hypothesis), "neither")
        return Judgment("refused") if said == FAIL else Judgment("ok", said)

    written = {"d": {**{name: name for name in systems}, **others}}
    return judged(written, ["what was", "said"], BETTER, Colours(says))


def test_both_orders_of_each_two_systems_are_asked_once() -> None:
    found = compared({}, "b", "a", "c", reference="the reference")
    asked = found.pairs.drop_duplicates("pair_id")
    orders = list(zip(asked["premise"], asked["hypothesis"], strict=True))
    assert sorted(orders) == sorted(itertools.permutations("abc", 2))
    assert set(asked["context"]) == {"the reference"}
    assert set(asked["instrument"]) == {"preference"}
    assert len(found.pairs) == 2 * len(asked) == 2 * len(found.judgments) == 12
    places = found.pairs[found.pairs["measure"] == "preference_second"]
    of_b = places[places["author"] == "b"]
    assert list(zip(of_b["position"], of_b["premise"], of_b["hypothesis"], strict=True)) == [
        (0, "a", "b"),
        (2, "c", "b"),
    ]
    assert sorted(found.pairs["premise"].cat.categories) == ["a", "b", "c"]


def test_without_reference_the_source_is_what_both_are_about() -> None:
    for reference in ({}, {"reference": None}, {"reference": " "}):
        found = compared({}, "a", "b", **reference)
        assert set(found.pairs["context"]) == {"what was\nsaid"}


def test_preferences_by_hand() -> None:
    # one wins against two in both orders (1), loses against three in both (0). Against four it wins
    # where it stands first only (half, and position bias), against five it wins once and ties once
    # (half), against six it ties twice (half). (1 + 0 + 3 / 2) / 5.
    found = compared(
        {
            **{("one", "two"): "first", ("two", "one"): "second"},
            **{("one", "three"): "second", ("three", "one"): "first"},
            **{("one", "four"): "first", ("four", "one"): "first"},
            **{("one", "five"): "neither", ("five", "one"): "second"},
        },
        *("one", "two", "three", "four", "five", "six"),
    )
    assert row(found, "preference") == (0.5, 5, 0, 0.5, 0.5)
    assert row(found, BIAS) == (0.2, 5, 0, 0.2, 0.2)
    assert row(found, "preference", "two") == (0.4, 5, 0, 0.4, 0.4)  # 0 and 4 halves
    assert row(found, "preference", "three") == (0.6, 5, 0, 0.6, 0.6)
    assert row(found, BIAS, "four") == (0.2, 5, 0, 0.2, 0.2)
    assert row(found, BIAS, "five") == (0, 5, 0, 0, 0)
    preferred = found.scores[found.scores["metric"] == "preference"]
    assert preferred["value"].mean() == pytest.approx(0.5)  # what one wins, another loses
    assert set(preferred["part"]) == {"full"}
    assert preferred["recipe"].iloc[0] == "preference|judge:colours|metassay:1"


def test_always_the_first_is_all_bias_and_no_preference() -> None:
    answers = dict.fromkeys(itertools.permutations("abc", 2), "first")
    found = compared(answers, "a", "b", "c")
    for author in "abc":
        assert row(found, "preference", author) == (0.5, 2, 0, 0.5, 0.5)
        assert row(found, BIAS, author) == (1, 2, 0, 1, 1)


LABELS = ("first", "second", "neither")
WORTH = {
    **{("first", "second"): 1.0, ("second", "first"): 0.0},  # (one, two) and (two, one)
    **{(a, b): 0.5 for a, b in itertools.product(LABELS, LABELS) if {a, b} != {"first", "second"}},
}


@pytest.mark.parametrize("there", [*LABELS, FAIL])
@pytest.mark.parametrize("back", [*LABELS, FAIL])
def test_bounds_are_those_of_all_that_a_failed_answer_can_be(there: str, back: str) -> None:
    found = compared({("one", "two"): there, ("two", "one"): back}, "one", "two")
    said = [LABELS if answer == FAIL else (answer,) for answer in (there, back)]
    cases = list(itertools.product(*said))
    for metric, worth in (
        ("preference", WORTH),
        (BIAS, {case: float(case in (("first",) * 2, ("second",) * 2)) for case in WORTH}),
    ):
        outcomes = {worth[case] for case in cases}
        value, failed = (outcomes.pop(), 0) if len(outcomes) == 1 else (None, 1)
        bounds = (value, value) if failed == 0 else (min(outcomes), max(outcomes))
        assert row(found, metric) == (value, 1, failed, *bounds), metric


def test_a_text_that_failed_leaves_its_comparisons_unknown() -> None:
    found = compared({("one", "two"): "first", ("two", "one"): "second"}, "one", "two", lost=None)
    assert row(found, "preference") == (1, 2, 1, 0.5, 1)
    assert row(found, "preference", "lost") == (None, 2, 2, 0, 1)
    assert row(found, BIAS, "lost") == (None, 2, 2, 0, 1)
    assert len(found.judgments) == 2


def test_a_system_alone_and_a_reference_have_no_preference() -> None:
    found = compared({}, "one", "two", reference="r")
    assert "reference" not in set(found.scores["author"])
    written = {"d": {"one": "one", "two": "two"}, "e": {"one": "one", "reference": "r"}}
    found = judged(written, ["p"], BETTER, Colours(lambda _: Judgment("ok", "neither")))
    assert row(found, "preference", doc_id="e") == (None, 0, 0, None, None)


SAME = Questions(
    measures=(
        *("claim_recall", "claim_precision"),
        *("same_question", "claim_recall_or_same", "claim_precision_or_same"),
    ),
    against="part",
    borrow=False,
)


def same(text: str | None, answer: str, task: str = "question", reference: str = "") -> Judged:
    """A red question and what a system made of it; `answer` is about asking the same."""

    def says(pair: Pair) -> Judgment:
        if pair.instrument != "same_question":
            there = "red" in pair.hypothesis and "red" in pair.premise
            return Judgment("ok", "entailed" if there else "not_entailed")
        if pair.premise == pair.hypothesis:
            return Judgment("ok", "same")
        assert (pair.premise, pair.hypothesis) == ("Is it red?", "Is it what colour?")
        return Judgment("refused") if answer == FAIL else Judgment("ok", answer)

    written = {"d": {"reference": reference or "Is it red?", "one": text, "two": "Is it red?"}}
    return judged(written, ["I wonder."], SAME, Colours(says), task)


@pytest.mark.parametrize(
    ("answer", "alone", "either"),
    [
        ("same", (1, 1, 0, 1, 1), (1, 1, 0, 1, 1)),
        ("different", (0, 1, 0, 0, 0), (0, 1, 0, 0, 0)),
        (FAIL, (None, 1, 1, 0, 1), (None, 1, 1, 0, 1)),
    ],
)
def test_a_question_that_asks_the_same_has_the_claim(
    answer: str, alone: tuple[Any, ...], either: tuple[Any, ...]
) -> None:
    found = same("Is it what colour? [0]", answer)
    assert row(found, "same_question") == alone
    for metric in ("claim_recall", "claim_precision"):
        assert row(found, metric) == (0, 1, 0, 0, 0)
        assert row(found, f"{metric}_or_same") == either
    recipes = found.scores.groupby("metric")["recipe"].first()
    assert recipes["same_question"] == "same_question|judge:colours|metassay:1"
    assert "|decomposition:sentences|against:part|" in recipes["claim_recall_or_same"]


def test_a_claim_that_is_entailed_needs_no_same_question() -> None:
    def says(pair: Pair) -> Judgment:
        entails = pair.instrument == "entailment"
        return Judgment("ok", "entailed") if entails else Judgment("error")

    written = {"d": {"reference": "Is it red?", "one": "Is it red or blue?"}}
    found = judged(written, ["I wonder."], SAME, Colours(says), "question")
    assert row(found, "same_question") == (None, 1, 1, 0, 1)
    assert row(found, "claim_recall_or_same") == (1, 1, 0, 1, 1)


def test_a_question_that_is_missing_or_blank() -> None:
    assert row(same(None, FAIL), "same_question") == (None, 1, 1, 0, 1)
    assert row(same(" ", FAIL), "same_question") == (0, 1, 0, 0, 0)
    assert row(same(None, FAIL), "claim_recall_or_same") == (None, 1, 1, 0, 1)


def test_other_texts_are_not_asked_whether_they_ask_the_same() -> None:
    found = same("It is red. It is green.", FAIL, "note", "It is red. It is old.")
    assert "same_question" not in set(found.pairs["measure"])
    assert row(found, "same_question") == (None, 0, 0, None, None)
    assert row(found, "claim_recall_or_same") == row(found, "claim_recall") == (0.5, 2, 0, 0.5, 0.5)
    assert row(found, "claim_precision_or_same") == row(found, "claim_precision")


def test_further_references_are_read_by_rubrics_alone() -> None:
    """No claims of theirs are judged, they are no rivals, and they have no scores."""
    texts = {"d": {"reference": "A red fox.", "one": "A red fox.", "two": None}}
    more = {"d": {**texts["d"], "reference:2": "A blue fox. It is grey.", "reference:3": None}}
    asked = ("claim_recall", "claim_precision", "faithfulness", "preference")
    every = Questions(measures=asked, against="full", borrow=False)

    def says(pair: Pair) -> Judgment:
        return Judgment("ok", "first" if pair.instrument == "preference" else "entailed")

    alone, beside = (judged(some, ["red"], every, Colours(says)) for some in (texts, more))
    pd.testing.assert_frame_equal(alone.pairs, beside.pairs)
    pd.testing.assert_frame_equal(alone.scores, beside.scores)
