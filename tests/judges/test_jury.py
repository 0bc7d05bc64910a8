"""What a jury answers, held against tables that were worked out by hand."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.judges import JUDGES
from metassay.judges.lazy_citations import judge_as_needed
from metassay.judges.protocol import Judgment, Pair
from tests.judges.panel import (
    WHOLE,
    Told,
    asked,
    cascade_of,
    cited,
    entailment,
    judge_of,
    jury_of,
    no,
    told,
    told_kinds,
    yes,
)

UNSURE = Judgment("abstained", probability=0.55)
LOST, CUT = Judgment("error", attempts=3), Judgment("truncated")


def jury(
    monkeypatch: pytest.MonkeyPatch, members: Mapping[str, Told], by: str = "majority", **more: Any
) -> Any:
    told_kinds(monkeypatch, members)
    return judge_of(jury_of(by, {name: told(name) for name in members}, **more))


def verdict(
    monkeypatch: pytest.MonkeyPatch,
    votes: Sequence[Judgment],
    by: str,
    instrument: str,
    **more: Any,
) -> Judgment:
    """What a, b, c, ... answer together, which is the same in every order."""
    answers = set()
    for order in list(permutations(range(len(votes))))[:24]:
        members = {
            "abcdef"[place]: Told({(instrument, "p"): votes[place]}, f"told {place}")
            for place in order
        }
        judge = jury(monkeypatch, members, by, **more)
        answers.add((judge.signature, *judge.judge(asked("p", instrument=instrument))))
    ((_, judgment),) = answers
    return judgment  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("votes", "majority", "mean"),  # label and share of votes for "entailed" by each
    [
        ([yes(0.9), yes(0.6), no(0.1)], ("entailed", 2 / 3), ("entailed", 1.6 / 3)),
        ([yes(0.6), yes(0.6), no(0.0)], ("entailed", 2 / 3), ("not_entailed", 0.4)),
        ([yes(0.9), no(0.4)], (None, 0.5), ("entailed", 0.65)),
        ([yes(0.75), no(0.25)], (None, 0.5), (None, 0.5)),
        ([yes(0.7), no(0.2), no(0.3), yes(0.8)], (None, 0.5), (None, 0.5)),
        ([yes(), no(0.3)], (None, 0.5), ("entailed", 0.65)),  # without probability it is 1 or 0
        ([no(), no(0.3), yes(0.6)], ("not_entailed", 1 / 3), ("not_entailed", 0.3)),
        ([yes(0.7), UNSURE, LOST], ("entailed", 1.0), ("entailed", 0.7)),
        ([yes(0.7), no(0.1), UNSURE, LOST], (None, 0.5), ("not_entailed", 0.4)),
    ],
)
def test_labels(
    monkeypatch: pytest.MonkeyPatch, votes: list[Judgment], majority: Any, mean: Any
) -> None:
    for by, (label, share) in (("majority", majority), ("mean", mean)):
        judgment = verdict(monkeypatch, votes, by, "entailment")
        assert (judgment.label, judgment.status) == (label, "ok" if label else "abstained")
        assert judgment.probability == pytest.approx(share)


TWO_OF_THREE, NONE_OF_TWO = (yes(0.55), yes(0.65), no(0.6)), (no(0.2), no(0.3))


@pytest.mark.parametrize(
    ("votes", "by", "margin", "label"),
    [
        (TWO_OF_THREE, "majority", 0.16, "entailed"),  # 2 / 3 > .66
        (TWO_OF_THREE, "majority", 0.17, None),
        (TWO_OF_THREE, "mean", 0.09, "entailed"),  # .6 > .59
        (TWO_OF_THREE, "mean", 0.1, None),  # though the sum is not .6 to the last bit
        *((NONE_OF_TWO, "mean", 0.2, "not_entailed"), (NONE_OF_TWO, "mean", 0.25, None)),
    ],
)
def test_the_margin_is_above_one_half(
    monkeypatch: pytest.MonkeyPatch, votes: Any, by: str, margin: float, label: str | None
) -> None:
    assert verdict(monkeypatch, votes, by, "entailment", margin=margin).label == label


@pytest.mark.parametrize("by", ["majority", "mean"])
@pytest.mark.parametrize(
    ("labels", "label", "share"),
    [
        (["entailed", "neutral", "neutral"], "neutral", 1 / 3),
        (["entailed", "neutral", "contradicted"], None, 1 / 3),
        (["entailed", "entailed", "neutral", "contradicted"], None, 0.5),  # half is no majority
        (["contradicted", "contradicted"], "contradicted", 0.0),
    ],
)
def test_of_three_labels_each_vote_is_for_one(
    monkeypatch: pytest.MonkeyPatch, by: str, labels: list[str], label: str | None, share: float
) -> None:
    votes = [Judgment("ok", vote, probability=0.5) for vote in labels]
    judgment = verdict(monkeypatch, votes, by, "three_way")
    assert (judgment.label, judgment.probability) == (label, pytest.approx(share))


def graded(grade: float, **quotes: int) -> Judgment:
    return Judgment("ok", grade=grade, quotes=tuple(quotes), quote_starts=tuple(quotes.values()))


VOTES = [
    *(graded(1, low=0), graded(3, knee=4, invented=-1), graded(3, since=9, knee=4)),
    graded(4, high=20),
]
NEAREST = {"knee": 4, "invented": -1, "since": 9}


@pytest.mark.parametrize(
    ("votes", "by", "grade", "quotes", "explanation"),
    [
        ([graded(g) for g in (0, 3, 2)], "majority", 2, {}, "grades: a 0, b 3, c 2"),
        ([graded(g) for g in (0, 3, 2)], "mean", 5 / 3, {}, "grades: a 0, b 3, c 2"),
        ([graded(0), graded(3), LOST], "majority", 1.5, {}, "grades: a 0, b 3; c: error"),
        # Quotes are those of the members that are nearest.
        (VOTES, "majority", 3, NEAREST, "grades: a 1, b 3, c 3, d 4"),
        (VOTES, "mean", 2.75, NEAREST, "grades: a 1, b 3, c 3, d 4"),
        (VOTES[:2], "majority", 2, {"low": 0, "knee": 4, "invented": -1}, "grades: a 1, b 3"),
        (
            [VOTES[3], LOST, Judgment("abstained")],
            *("majority", 4, {"high": 20}, "grades: a 4; b: error; c: abstained"),
        ),
    ],
)
def test_grades(
    monkeypatch: pytest.MonkeyPatch,
    votes: list[Judgment],
    by: str,
    grade: float,
    quotes: dict[str, int],
    explanation: str,
) -> None:
    judgment = verdict(monkeypatch, votes, by, "scale")
    assert (judgment.grade, judgment.label) == (pytest.approx(grade), None)
    assert (judgment.probability, judgment.explanation) == (None, explanation)
    assert dict(zip(judgment.quotes, judgment.quote_starts, strict=True)) == quotes


@pytest.mark.parametrize(
    ("votes", "status"),
    [
        *(([UNSURE, UNSURE], "abstained"), ([UNSURE, CUT], "truncated"), ([LOST, CUT], "error")),
        ([CUT, Judgment("refused"), Judgment("unparsed")], "truncated"),
    ],
)
def test_where_nobody_answers(
    monkeypatch: pytest.MonkeyPatch, votes: list[Judgment], status: str
) -> None:
    judgment = verdict(monkeypatch, votes, "majority", "entailment")
    assert (judgment.status, judgment.label, judgment.probability) == (status, None, None)


def test_it_says_who_voted_what_and_what_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = [yes(0.9, tokens=10), no(0.2, tokens=5, attempts=4), yes(None), LOST, UNSURE]
    counted = verdict(monkeypatch, votes, "majority", "entailment")
    lost = "; d: error; e: abstained"
    assert counted.explanation == f"entailed 2 of 3 (a, c); not_entailed 1 of 3 (b){lost}"
    mean = verdict(monkeypatch, votes, "mean", "entailment")
    assert mean.explanation == f"entailed 0.70 on average (a 0.90, b 0.20, c 1.00){lost}"
    assert (counted.tokens, counted.attempts, counted.repaired) == (15, 4, False)
    plain = verdict(monkeypatch, [yes(repaired=True), no()], "majority", "entailment")
    assert (plain.tokens, plain.repaired) == (None, True)


def test_the_signature_has_all_that_can_change_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def signature(by: str = "majority", second: str = "two", **more: float) -> str:
        members = {"a": Told({}, "one"), "b": Told({}, second)}
        return str(jury(monkeypatch, members, by, **more).signature)

    assert signature() == "jury,by=majority,margin=0[a=one;b=two]"
    several = [signature(), signature("mean"), signature(second="2"), signature(margin=0.1)]
    assert len({*several, signature(margin=0.1000001)}) == 5
    assert jury(monkeypatch, {"a": Told({}), "b": Told({})}).notes == ["a: told", "b: told"]


class Pairwise(Told):
    """One that says nothing of citations where its own answer about all of them needs none."""

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        return judge_as_needed(
            pairs, lambda needed: [judgment for judgment in Told.judge(self, needed) if judgment]
        )


def test_a_jury_asks_of_citations_what_its_answers_need(monkeypatch: pytest.MonkeyPatch) -> None:
    """a and b find the statement supported, c does not and says nothing of its citations."""
    alone_a, alone_b = ("attribution_alone", "a"), ("attribution_alone", "b")
    without_b, without_a = ("attribution_rest", "a"), ("attribution_rest", "b")
    a = Pairwise({WHOLE: yes(), alone_a: yes(), alone_b: no(), without_b: yes()})
    b = Pairwise({WHOLE: yes(), alone_a: yes(), alone_b: no(), without_b: no()})
    c = Pairwise({WHOLE: no(), alone_a: no(), alone_b: no(), without_b: no()})
    judgments = jury(monkeypatch, {"a": a, "b": b, "c": c}).judge(cited())
    answers = {(p.instrument, p.premise): j for p, j in zip(cited(), judgments, strict=True)}
    assert answers[WHOLE].explanation == "entailed 2 of 3 (a, b); not_entailed 1 of 3 (c)"
    assert (answers[alone_a].label, answers[alone_b].label) == ("entailed", "not_entailed")
    assert answers[without_a] is None  # a by itself is enough, so nobody needs to know
    expected = "entailed 1 of 3 (a); not_entailed 2 of 3 (b, c)"
    assert answers[without_b].explanation == expected
    assert c.heard == [[WHOLE], [alone_a, alone_b], [without_b]]

    none, supports = Pairwise({WHOLE: no()}), Told({WHOLE: yes(), alone_a: yes()})
    judgments = jury(monkeypatch, {"a": none, "b": none, "c": supports}).judge(cited())
    assert [j and j.label for j in judgments] == ["not_entailed", None, None, None, None]
    assert len(supports.heard) == 1  # nobody is asked again


def test_a_jury_of_a_cascade_and_a_jury(monkeypatch: pytest.MonkeyPatch) -> None:
    judges = {
        **{"cheap": entailment(p=yes(0.95), q=yes(0.6)), "dear": entailment(q=no(0.2))},
        **{"yes": entailment(p=yes(0.8), q=yes(0.8)), "no": entailment(p=no(0.1), q=no(0.1))},
    }
    told_kinds(monkeypatch, judges)
    cascade = cascade_of(told("cheap"), told("dear"), [0.1, 0.9])
    inner = jury_of("mean", {"y": told("yes"), "n": told("no")})
    judge = judge_of(jury_of("mean", {"c": cascade, "j": inner}))
    p, q = judge.judge(asked("p", "q"))
    assert (p.label, p.probability) == ("entailed", pytest.approx((0.95 + 0.45) / 2))
    assert (q.label, q.probability) == ("not_entailed", pytest.approx((0.2 + 0.45) / 2))
    assert "c: first (told) decided 1 of 2 pairs (50.0%); then (told) the other 1" in judge.notes


LEXICAL = {"kind": "lexical", "threshold": 0.6, "window": 60}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"members": {"a": {"kind": "lexical"}}}, "members: a jury needs two judges or more"),
        ({"members": {"a": {}, "A": {}}}, "members: A: differs from a in case"),
        ({"margin": 0.5}, "margin: Input should be less than 0.5"),
        ({"by": "most"}, "by: Input should be 'majority' or 'mean'"),
    ],
)
def test_a_block_that_is_no_jury(changed: dict[str, Any], problem: str) -> None:
    block = jury_of("majority", {"a": LEXICAL, "b": LEXICAL}) | changed
    with pytest.raises(BadInput, match=problem):
        choose(JUDGES, block, where="judges > it")


def test_all_that_is_wrong_inside_is_listed_with_its_place() -> None:
    weak, cascade = {"kind": "lexical", "threshold": 2}, cascade_of({"kind": "lexcal"}, {})
    chosen = choose(JUDGES, jury_of("mean", {"a": weak, "b": cascade}), where="judges > it")
    with pytest.raises(BadInput) as error:
        chosen.record.members(chosen.options)
    places = ["a > threshold", "a > window"]
    places += [f"b > members > {name} > kind" for name in ("first", "then")]
    assert [line.partition(": ")[0] for line in error.value.problems] == [
        f"members > {place}" for place in places
    ]
