"""Questions about whole texts: which of two is better, and whether two ask the same."""

import itertools
from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest

from metassay.judges.protocol import Judgment, Pair
from metassay.scoring.pairing.questions import Questions
from tests.scoring.pairing.colours import Colours, Judged, judged

BIAS, FAIL = "preference_position_bias", "fail"
BETTER = Questions(measures=("preference", BIAS), against="full", borrow=False)
NOTHING = (None, 0, 0, None, None)


def row(
    judged: Judged, metric: str, author: str = "s1", doc_id: str = "d"
) -> tuple[Any, ...]:
    """value, n_expected, n_failed, low, high; None for null."""
    scores = judged.scores.set_index(["doc_id", "author", "metric"]).loc[
        (doc_id, author, metric)
    ]
    values = [
        scores[name] for name in ("value", "n_expected", "n_failed", "low", "high")
    ]
    return tuple(
        None if pd.isna(value) else round(float(value), 12) for value in values
    )


def compared(
    answers: Mapping[tuple[str, str], str], *systems: str, **others: Any
) -> Judged:
    """`answers`: of (first text, second text); the systems' names are their texts."""

    def says(pair: Pair) -> Judgment:
        answer = answers.get((pair.premise, pair.hypothesis), "neither")
        return Judgment("refused") if answer == FAIL else Judgment("ok", answer)

    written = {"d": {**{name: name for name in systems}, **others}}
    return judged(written, ["what was", "said"], BETTER, Colours(says))


def test_both_orders_of_each_two_systems_are_asked_once() -> None:
    results = compared({}, "b", "a", "c", reference="the reference")
    distinct = results.pairs.drop_duplicates("pair_id")
    orders = list(zip(distinct["premise"], distinct["hypothesis"], strict=True))
    assert sorted(orders) == sorted(itertools.permutations("abc", 2))
    assert set(distinct["context"]) == {"the reference"}
    assert set(distinct["instrument"]) == {"preference"}
    assert len(results.pairs) == 2 * len(distinct) == 2 * len(results.judgments) == 12
    of_b = results.pairs.query("measure == 'preference_second' and author == 'b'")
    places = of_b[["position", "premise", "hypothesis"]].itertuples(
        index=False, name=None
    )
    assert list(places) == [(0, "a", "b"), (2, "c", "b")]
    assert sorted(results.pairs["premise"].cat.categories) == ["a", "b", "c"]
    # Without a reference the source is what both are about.
    for reference in ({}, {"reference": None}, {"reference": " "}):
        assert set(compared({}, "a", "b", **reference).pairs["context"]) == {
            "what was\nsaid"
        }


def test_preferences_by_hand() -> None:
    # s1 wins against s2 in both orders (1), loses against s3 in both (0). Against s4 it
    # wins where it stands first only (half, and position bias), against s5 it wins once
    # and ties once (half), against s6 it ties twice (half). (1 + 0 + 3 / 2) / 5.
    results = compared(
        {
            ("s1", "s2"): "first",
            ("s2", "s1"): "second",
            ("s1", "s3"): "second",
            ("s3", "s1"): "first",
            ("s1", "s4"): "first",
            ("s4", "s1"): "first",
            ("s1", "s5"): "neither",
            ("s5", "s1"): "second",
        },
        *(f"s{n}" for n in range(1, 7)),
    )
    for metric, author, value in (
        ("preference", "s1", 0.5),
        (BIAS, "s1", 0.2),
        ("preference", "s2", 0.4),
        ("preference", "s3", 0.6),
        (BIAS, "s4", 0.2),
        (BIAS, "s5", 0),
    ):
        assert row(results, metric, author) == (value, 5, 0, value, value)
    preferred = results.scores[results.scores["metric"] == "preference"]
    # what one wins, another loses
    assert preferred["value"].mean() == pytest.approx(0.5)
    assert set(preferred["part"]) == {"full"}
    assert preferred["recipe"].iloc[0] == "preference|judge:colours|metassay:1"
    # Always the first is all bias and no preference.
    always = compared(
        dict.fromkeys(itertools.permutations("abc", 2), "first"), "a", "b", "c"
    )
    assert {row(always, "preference", author) for author in "abc"} == {
        (0.5, 2, 0, 0.5, 0.5)
    }
    assert {row(always, BIAS, author) for author in "abc"} == {(1, 2, 0, 1, 1)}


LABELS = ("first", "second", "neither")
WORTH = {
    ("first", "second"): 1.0,
    ("second", "first"): 0.0,  # (s1, s2) and (s2, s1)
    **{
        (a, b): 0.5
        for a, b in itertools.product(LABELS, LABELS)
        if {a, b} != {"first", "second"}
    },
}


@pytest.mark.parametrize("there", [*LABELS, FAIL])
@pytest.mark.parametrize("back", [*LABELS, FAIL])
def test_bounds_are_those_of_all_that_a_failed_answer_can_be(
    there: str, back: str
) -> None:
    results = compared({("s1", "s2"): there, ("s2", "s1"): back}, "s1", "s2")
    options = [LABELS if answer == FAIL else (answer,) for answer in (there, back)]
    cases = list(itertools.product(*options))
    for metric, worth in (
        ("preference", WORTH),
        (
            BIAS,
            {case: float(case in (("first",) * 2, ("second",) * 2)) for case in WORTH},
        ),
    ):
        outcomes = {worth[case] for case in cases}
        value, failed = (max(outcomes), 0) if len(outcomes) == 1 else (None, 1)
        assert row(results, metric) == (
            value,
            1,
            failed,
            min(outcomes),
            max(outcomes),
        ), metric


def test_texts_that_failed_or_have_no_rival() -> None:
    results = compared(
        {("s1", "s2"): "first", ("s2", "s1"): "second"}, "s1", "s2", lost=None
    )
    assert row(results, "preference") == (1, 2, 1, 0.5, 1)
    assert (
        row(results, "preference", "lost")
        == row(results, BIAS, "lost")
        == (None, 2, 2, 0, 1)
    )
    assert len(results.judgments) == 2
    assert "reference" not in set(
        compared({}, "s1", "s2", reference="r").scores["author"]
    )
    written = {"d": {"s1": "one", "s2": "two"}, "e": {"s1": "one", "reference": "r"}}
    results = judged(
        written, ["p"], BETTER, Colours(lambda _: Judgment("ok", "neither"))
    )
    assert row(results, "preference", doc_id="e") == NOTHING


RED = "Is it red?"
SAME = Questions(
    measures=(
        "claim_recall",
        "claim_precision",
        "same_question",
        "claim_recall_or_same",
        "claim_precision_or_same",
    ),
    against="part",
    borrow=False,
)


def same(
    text: str | None, answer: str, task: str = "question", reference: str = RED
) -> Judged:
    """A red question and what a system made of it; `answer` is about asking the same."""

    def says(pair: Pair) -> Judgment:
        if pair.instrument != "same_question":
            there = "red" in pair.hypothesis and "red" in pair.premise
            return Judgment("ok", "entailed" if there else "not_entailed")
        if pair.premise == pair.hypothesis:
            return Judgment("ok", "same")
        return Judgment("refused") if answer == FAIL else Judgment("ok", answer)

    written = {"d": {"reference": reference, "s1": text, "s2": RED}}
    return judged(written, ["I wonder."], SAME, Colours(says), task)


@pytest.mark.parametrize(
    ("text", "answer", "alone", "recall", "either"),
    [
        (
            "Is it what colour? [0]",
            "same",
            (1, 1, 0, 1, 1),
            (0, 1, 0, 0, 0),
            (1, 1, 0, 1, 1),
        ),
        (
            "Is it what colour?",
            "different",
            (0, 1, 0, 0, 0),
            (0, 1, 0, 0, 0),
            (0, 1, 0, 0, 0),
        ),
        (
            "Is it what colour?",
            FAIL,
            (None, 1, 1, 0, 1),
            (0, 1, 0, 0, 0),
            (None, 1, 1, 0, 1),
        ),
        # A claim that is entailed needs no same question.
        (
            "Is it red or blue?",
            FAIL,
            (None, 1, 1, 0, 1),
            (1, 1, 0, 1, 1),
            (1, 1, 0, 1, 1),
        ),
        (None, FAIL, (None, 1, 1, 0, 1), (None, 1, 1, 0, 1), (None, 1, 1, 0, 1)),
        (" ", FAIL, (0, 1, 0, 0, 0), (0, 1, 0, 0, 0), (0, 1, 0, 0, 0)),
    ],
)
def test_a_question_that_asks_the_same_has_the_claim(
    text: str | None, answer: str, alone: Any, recall: Any, either: Any
) -> None:
    results = same(text, answer)
    assert row(results, "same_question") == alone
    assert row(results, "claim_recall") == recall
    assert row(results, "claim_recall_or_same") == either
    if text and "[0]" in text:
        assert row(results, "claim_precision") == (0, 1, 0, 0, 0)
        assert row(results, "claim_precision_or_same") == either
        recipes = results.scores.groupby("metric")["recipe"].first()
        assert recipes["same_question"] == "same_question|judge:colours|metassay:1"
        assert (
            "|decomposition:sentences|against:part|" in recipes["claim_recall_or_same"]
        )
        questions = results.pairs.query("measure == 'same_question' and author == 's1'")
        assert questions[["premise", "hypothesis"]].to_numpy().tolist() == [
            [RED, "Is it what colour?"]
        ]


def test_other_texts_are_not_asked_whether_they_ask_the_same() -> None:
    results = same("It is red. It is green.", FAIL, "note", "It is red. It is old.")
    assert "same_question" not in set(results.pairs["measure"])
    assert row(results, "same_question") == NOTHING
    expected = (0.5, 2, 0, 0.5, 0.5)
    assert (
        row(results, "claim_recall_or_same") == row(results, "claim_recall") == expected
    )
    assert row(results, "claim_precision_or_same") == row(results, "claim_precision")


def test_further_references_are_read_by_rubrics_alone() -> None:
    """No claims of theirs are judged, they are no rivals, and they have no scores."""
    texts = {"d": {"reference": "A red fox.", "s1": "A red fox.", "s2": None}}
    more = {
        "d": {
            **texts["d"],
            "reference:2": "A blue fox. It is grey.",
            "reference:3": None,
        }
    }
    measures = ("claim_recall", "claim_precision", "faithfulness", "preference")
    every = Questions(measures=measures, against="full", borrow=False)

    def says(pair: Pair) -> Judgment:
        return Judgment(
            "ok", "first" if pair.instrument == "preference" else "entailed"
        )

    alone, beside = (
        judged(some, ["red"], every, Colours(says)) for some in (texts, more)
    )
    pd.testing.assert_frame_equal(alone.pairs, beside.pairs)
    pd.testing.assert_frame_equal(alone.scores, beside.scores)
