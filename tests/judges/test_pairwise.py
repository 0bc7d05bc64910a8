"""Pairwise judges are asked as far as needed, and no score can tell."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from metassay.judges.lazy_citations import judge_as_needed, leaves_out
from metassay.judges.protocol import Judgment, Pair
from metassay.scoring.pairing.questions import Questions
from tests.scoring.pairing.colours import Colours, judged

CITATIONS = Questions(
    measures=("citation_recall", "citation_precision"), against="full", borrow=False
)
PASSAGES = ["red", "blue", "green", "red and blue"]


class AskedAll(Colours):
    """The same judge, who answers whatever it is asked."""

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        return [self.says(pair) for pair in pairs]


def questions(text: str, judge: Colours) -> list[tuple[str, str]]:
    """The kinds of questions and the premises, in the order of asking."""
    judged({"d": {"sys": text}}, PASSAGES, CITATIONS, judge)
    return [
        (pair.instrument.removeprefix("attribution"), pair.premise)
        for pair in judge.pairs
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is red [0].", [("", "red")]),  # one citation is all citations
        ("It is red [0][9].", [("", "red")]),  # and one that can be read
        # not together: nothing else matters
        ("It is green [0][1].", [("", "red\nblue")]),
        (  # both alone: the others don't matter
            "It is red [0][3].",
            [("", "red\nred and blue"), ("_alone", "red"), ("_alone", "red and blue")],
        ),
        (  # blue not alone: so is it entailed without it?
            "It is red [0][1].",
            [
                ("", "red\nblue"),
                ("_alone", "blue"),
                ("_alone", "red"),
                ("_rest", "red"),
            ],
        ),
    ],
)
def test_only_what_can_matter_is_asked(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert questions(text, Colours()) == expected


@pytest.mark.parametrize("status", ["error", "abstained"])
def test_a_failed_answer_may_be_either(status: str) -> None:
    def answer(pair: Pair) -> Judgment:
        unsure = pair.instrument == "attribution" or pair.premise == "red"
        return Judgment(status) if unsure else Judgment("ok", "entailed")  # type: ignore[arg-type]

    alone = [("_alone", "blue"), ("_alone", "red")]  # red may not do alone
    expected = [("", "red\nblue"), *alone, ("_rest", "blue")]
    assert questions("It is red [0][1].", Colours(answer)) == expected


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_asking_everything(seed: int) -> None:
    """60 documents of up to 4 statements, which cite up to 5 of 6 passages, one of them absent."""
    rng = np.random.default_rng(seed)
    texts: dict[str, dict[str, str | None]] = {}
    for doc in range(60):
        statements = [
            f"Statement {rng.integers(5)} of all"
            + "".join(f" [{c}]" for c in rng.permutation(7)[: rng.integers(6)])
            for _ in range(rng.integers(1, 5))
        ]
        texts[f"d{doc:02}"] = {"sys": ". ".join(statements) + "."}
    answers = [
        *[Judgment("ok", "entailed")] * 4,
        *[Judgment("ok", "not_entailed")] * 3,
        Judgment("abstained", probability=0.5),
        Judgment("error"),
    ]
    known: dict[tuple[str, str], Judgment] = {}

    def answer(pair: Pair) -> Judgment:
        drawn = answers[rng.integers(len(answers))]
        return known.setdefault((pair.premise, pair.hypothesis), drawn)

    passages = ["a", "b", "a\nb", "c", "a", "d"]  # one twice, one with two lines
    everything = judged(texts, passages, CITATIONS, AskedAll(answer))
    needed = judged(texts, passages, CITATIONS, Colours(answer))
    pd.testing.assert_frame_equal(needed.scores, everything.scores)
    assert (everything.scores["n_failed"] > 0).any()
    assert len(needed.judgments) < 0.8 * len(everything.judgments)
    both = needed.judgments.merge(
        everything.judgments, on=["pair_id", "status", "label"]
    )
    assert len(both) == len(needed.judgments)


def test_the_order_of_pairs_changes_nothing() -> None:
    pairs = [
        Pair("1", "attribution_rest", "a", "h", context="a\nb"),
        Pair("2", "attribution_alone", "b", "h", context="a\nb"),
        Pair("3", "attribution", "a\nb", "h"),
        Pair("4", "entailment", "a", "h"),
        # whose statement is missing
        Pair("5", "attribution_alone", "b", "other", context="a\nb"),
    ]
    judge = Colours(lambda pair: Judgment("ok", "entailed", explanation=pair.pair_id))
    explained = [judgment and judgment.explanation for judgment in judge.judge(pairs)]
    assert explained == [None, "2", "3", "4", "5"]
    assert judge_as_needed([], judge._decide) == []


@pytest.mark.parametrize(
    ("context", "rest", "passage", "expected"),
    [
        # the second of two
        ("a\nb\nc", "a\nc", "b", True),
        ("a\nb\nc", "b\nc", "a", True),
        ("a\nb\nc", "a\nb", "c", True),
        ("a\nb\nc", "a\nb", "b", False),
        ("ab\nb", "ab", "b", True),
        ("ab\nb", "a\nb", "b", False),
        ("a\nb\na\nc", "a\nb\nc", "a", True),
    ],
)
def test_what_the_others_leave_out(
    context: str, rest: str, passage: str, expected: bool
) -> None:
    pair = Pair("x", "attribution_rest", rest, "h", context=context)
    assert leaves_out(pair, passage) is expected
