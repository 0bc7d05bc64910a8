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
from tests.judges.panel import Told, asked, cited, made, no, told_kinds, yes

UNSURE = Judgment("abstained", probability=0.55)
LOST, CUT = Judgment("error", attempts=3), Judgment("truncated")


def jury(
    monkeypatch: pytest.MonkeyPatch, members: Mapping[str, Told], by: str = "majority", **more: Any
) -> Any:
    told_kinds(monkeypatch, members)
    blocks = {name: {"kind": "told", "name": name} for name in members}
    return made({"kind": "jury", "by": by, "members": blocks} | more)


def verdict(
    monkeypatch: pytest.MonkeyPatch, votes: list[Judgment], by: str, instrument: str, **more: Any
) -> Judgment:
    """What a, b, c, ... answer together, which is the same in every order."""
    found = []
    for order in list(permutations(range(len(votes))))[:24]:
        members = {
            "abcdef"[place]: Told({(instrument, "p"): votes[place]}, f"told {place}")
            for place in order
        }
        one = jury(monkeypatch, members, by, **more)
        found.append((one.signature, *one.judge(asked("p", instrument=instrument))))
    assert len(set(found)) == 1
    only: Judgment = found[0][1]
    return only


# members' answers; majority's label, mean's label; the share of votes for "entailed" by each
LABELS = [
    ([yes(0.9), yes(0.6), no(0.1)], ("entailed", 2 / 3), ("entailed", 1.6 / 3)),
    ([yes(0.6), yes(0.6), no(0.0)], ("entailed", 2 / 3), ("not_entailed", 0.4)),
    ([yes(0.9), no(0.4)], (None, 0.5), ("entailed", 0.65)),
    ([yes(0.75), no(0.25)], (None, 0.5), (None, 0.5)),
    ([yes(0.7), no(0.2), no(0.3), yes(0.8)], (None, 0.5), (None, 0.5)),
    ([yes(), no(0.3)], (None, 0.5), ("entailed", 0.65)),  # a label without probability is 1 or 0
    ([no(), no(0.3), yes(0.6)], ("not_entailed", 1 / 3), ("not_entailed", 0.3)),
    ([yes(0.7), UNSURE, LOST], ("entailed", 1.0), ("entailed", 0.7)),
    ([yes(0.7), no(0.1), UNSURE, LOST], (None, 0.5), ("not_entailed", 0.4)),
]


@pytest.mark.parametrize(("votes", "majority", "mean"), LABELS)
def test_labels(
    monkeypatch: pytest.MonkeyPatch,
    votes: list[Judgment],
    majority: tuple[str | None, float],
    mean: tuple[str | None, float],
) -> None:
    for by, (label, share) in (("majority", majority), ("mean", mean)):
        found = verdict(monkeypatch, votes, by, "entailment")
        assert (found.label, found.status) == (label, "ok" if label else "abstained")
        assert found.probability == pytest.approx(share)


def test_the_margin_is_above_one_half(monkeypatch: pytest.MonkeyPatch) -> None:
    def label(votes: list[Judgment], by: str, margin: float) -> str | None:
        return verdict(monkeypatch, votes, by, "entailment", margin=margin).label

    two_of_three = [yes(0.55), yes(0.65), no(0.6)]
    assert label(two_of_three, "majority", 0.16) == "entailed"  # 2 / 3 > .66
    assert label(two_of_three, "majority", 0.17) is None
    assert label(two_of_three, "mean", 0.09) == "entailed"  # .6 > .59
    assert label(two_of_three, "mean", 0.1) is None  # though the sum is not .6 to the last bit
    assert label([no(0.2), no(0.3)], "mean", 0.2) == "not_entailed"
    assert label([no(0.2), no(0.3)], "mean", 0.25) is None


THREE = [
    (["entailed", "neutral", "neutral"], "neutral", 1 / 3),
    (["entailed", "neutral", "contradicted"], None, 1 / 3),
    (["entailed", "entailed", "neutral", "contradicted"], None, 0.5),  # half is no majority
    (["contradicted", "contradicted"], "contradicted", 0.0),
]


@pytest.mark.parametrize("by", ["majority", "mean"])
@pytest.mark.parametrize(("labels", "label", "share"), THREE)
def test_of_three_labels_each_vote_is_for_one(
    monkeypatch: pytest.MonkeyPatch, by: str, labels: list[str], label: str | None, share: float
) -> None:
    votes = [Judgment("ok", one, probability=0.5) for one in labels]
    found = verdict(monkeypatch, votes, by, "three_way")
    assert found.label == label
    assert found.probability == pytest.approx(share)


def test_grades(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = [Judgment("ok", grade=grade) for grade in (0.0, 3.0, 2.0)]
    assert verdict(monkeypatch, votes, "majority", "support_grade").grade == 2.0
    assert verdict(monkeypatch, votes, "mean", "support_grade").grade == pytest.approx(5 / 3)
    few = verdict(monkeypatch, [*votes[:2], LOST], "majority", "support_grade")
    assert (few.grade, few.label, few.probability) == (1.5, None, None)
    assert few.explanation == "grades: a 0, b 3; c: error"


def test_quotes_are_those_of_the_members_that_are_nearest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    votes = [
        Judgment("ok", grade=1, quotes=("low",), quote_starts=(0,)),
        Judgment("ok", grade=3, quotes=("knee", "made up"), quote_starts=(4, -1)),
        Judgment("ok", grade=3, quotes=("since", "knee"), quote_starts=(9, 4)),
        Judgment("ok", grade=4, quotes=("high",), quote_starts=(20,)),
    ]

    def said(by: str, members: list[Judgment]) -> tuple[float | None, dict[str, int]]:
        found = verdict(monkeypatch, members, by, "scale")
        return found.grade, dict(zip(found.quotes, found.quote_starts, strict=True))

    assert said("majority", votes) == (3, {"knee": 4, "made up": -1, "since": 9})
    assert said("mean", votes) == (2.75, {"knee": 4, "made up": -1, "since": 9})
    assert said("majority", [votes[0], votes[1]]) == (2, {"low": 0, "knee": 4, "made up": -1})
    few = [votes[3], LOST, Judgment("abstained")]
    assert said("majority", few) == (4, {"high": 20})


@pytest.mark.parametrize(
    ("votes", "status"),
    [
        ([UNSURE, UNSURE], "abstained"),
        ([UNSURE, CUT], "truncated"),
        ([LOST, CUT], "error"),
        ([CUT, Judgment("refused"), Judgment("unparsed")], "truncated"),
    ],
)
def test_where_nobody_answers(
    monkeypatch: pytest.MonkeyPatch, votes: list[Judgment], status: str
) -> None:
    found = verdict(monkeypatch, votes, "majority", "entailment")
    assert (found.status, found.label, found.probability) == (status, None, None)


def test_it_says_who_voted_what_and_what_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = [yes(0.9, tokens=10), no(0.2, tokens=5, attempts=4), yes(None), LOST, UNSURE]
    counted = verdict(monkeypatch, votes, "majority", "entailment")
    assert counted.explanation == (
        "entailed 2 of 3 (a, c); not_entailed 1 of 3 (b); d: error; e: abstained"
    )
    mean = verdict(monkeypatch, votes, "mean", "entailment")
    assert mean.explanation == (
        "entailed 0.70 on average (a 0.90, b 0.20, c 1.00); d: error; e: abstained"
    )
    assert (counted.tokens, counted.attempts) == (15, 4)
    assert verdict(monkeypatch, [yes(), no()], "majority", "entailment").tokens is None


def test_the_signature_has_all_that_can_change_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def signature(by: str = "majority", second: str = "two", **more: float) -> str:
        members = {"a": Told({}, "one"), "b": Told({}, second)}
        found: str = jury(monkeypatch, members, by, **more).signature
        return found

    assert signature() == "jury,by=majority,margin=0[a=one;b=two]"
    several = [signature(), signature("mean"), signature(second="2"), signature(margin=0.1)]
    assert len({*several, signature(margin=0.1000001)}) == 5
    assert jury(monkeypatch, {"a": Told({}), "b": Told({})}).notes == ["a: told", "b: told"]


class Pairwise(Told):
    """One that says nothing of citations where its own answer about all of them needs none."""

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        return judge_as_needed(pairs, lambda asked: [one for one in Told.judge(self, asked) if one])


def test_a_jury_asks_of_citations_what_its_own_answers_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """a and b find the statement supported, c does not and says nothing of its citations."""
    statement, whole = cited(), ("attribution", "a\nb")
    alone_a, alone_b = ("attribution_alone", "a"), ("attribution_alone", "b")
    without_b, without_a = ("attribution_rest", "a"), ("attribution_rest", "b")
    a = Pairwise({whole: yes(), alone_a: yes(), alone_b: no(), without_b: yes()})
    b = Pairwise({whole: yes(), alone_a: yes(), alone_b: no(), without_b: no()})
    c = Pairwise({whole: no(), alone_a: no(), alone_b: no(), without_b: no()})
    found = jury(monkeypatch, {"a": a, "b": b, "c": c}).judge(statement)
    said = {
        (pair.instrument, pair.premise): one for pair, one in zip(statement, found, strict=True)
    }
    assert said[whole].explanation == "entailed 2 of 3 (a, b); not_entailed 1 of 3 (c)"
    assert (said[alone_a].label, said[alone_b].label) == ("entailed", "not_entailed")
    assert said[without_a] is None  # a by itself is enough, so nobody needs to know
    assert said[without_b].explanation == "entailed 1 of 3 (a); not_entailed 2 of 3 (b, c)"
    assert c.heard == [[whole], [alone_a, alone_b], [without_b]]


def test_where_the_jury_finds_no_support_nobody_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    none = Pairwise({("attribution", "a\nb"): no()})
    one = Told({("attribution", "a\nb"): yes(), ("attribution_alone", "a"): yes()})
    found = jury(monkeypatch, {"a": none, "b": none, "c": one}).judge(cited())
    assert [one and one.label for one in found] == ["not_entailed", None, None, None, None]
    assert len(one.heard) == 1


def test_a_jury_of_a_cascade_and_a_jury(monkeypatch: pytest.MonkeyPatch) -> None:
    judges = {
        "cheap": Told({("entailment", "p"): yes(0.95), ("entailment", "q"): yes(0.6)}),
        "dear": Told({("entailment", "q"): no(0.2)}),
        "yes": Told({("entailment", p): yes(0.8) for p in "pq"}),
        "no": Told({("entailment", p): no(0.1) for p in "pq"}),
    }
    told_kinds(monkeypatch, judges)
    told = {name: {"kind": "told", "name": name} for name in judges}
    cascade = {
        **{"kind": "cascade", "unsure": [0.1, 0.9]},
        "members": {"first": told["cheap"], "then": told["dear"]},
    }
    inner = {"kind": "jury", "by": "mean", "members": {"y": told["yes"], "n": told["no"]}}
    one = made({"kind": "jury", "by": "mean", "members": {"c": cascade, "j": inner}})
    p, q = one.judge(asked("p", "q"))
    assert p is not None
    assert q is not None
    assert (p.label, p.probability) == ("entailed", pytest.approx((0.95 + 0.45) / 2))
    assert (q.label, q.probability) == ("not_entailed", pytest.approx((0.2 + 0.45) / 2))
    assert "c: first (told) decided 1 of 2 pairs (50.0%); then (told) the other 1" in one.notes


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
    member = {"kind": "lexical", "threshold": 0.6, "window": 60}
    block = {"kind": "jury", "by": "majority", "members": {"a": member, "b": member}} | changed
    with pytest.raises(BadInput, match=problem):
        choose(JUDGES, block, where="judges > it")


def test_all_that_is_wrong_inside_is_told_with_its_place() -> None:
    cascade = {"kind": "cascade", "members": {"first": {"kind": "lexcal"}, "then": {}}}
    weak = {"kind": "lexical", "threshold": 2}
    chosen = choose(
        JUDGES,
        {"kind": "jury", "by": "mean", "members": {"a": weak, "b": cascade}},
        where="judges > it",
    )
    with pytest.raises(BadInput) as error:
        chosen.record.members(chosen.options)
    assert [line.partition(": ")[0] for line in error.value.problems] == [
        "members > a > threshold",
        "members > a > window",
        "members > b > members > first > kind",
        "members > b > members > then > kind",
    ]
