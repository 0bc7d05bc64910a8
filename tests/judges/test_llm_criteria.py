"""Criteria of rubrics before the LLM judge: what it asks, and what it takes out of an answer."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.core.errors import BadInput
from metassay.judges.criteria import allows, criterion_of
from metassay.judges.llm import GRADE_LENGTH, KIND
from metassay.judges.llm_calls import (
    CRITERIA_FORMS,
    JSON_STYLES,
    Style,
    criterion_model,
    entries_of,
    grade_of,
    sample,
    solve_example,
)
from metassay.llm.budget import estimate_tokens
from tests.judges.llm_setup import (
    DECODING,
    PROMPTS,
    REASONED,
    STYLES,
    FakeAsk,
    judge_of,
    judged,
    options,
)
from tests.judges.rubric_setup import (
    ADDED,
    BACKGROUND,
    FLUENT,
    FREE,
    NOTE,
    PROMPT,
    SYMPTOMS,
    QuestionSet,
    asked_in,
    asks,
    json_reply,
)

Answer = Callable[[QuestionSet, int], str]
ANSWERS: dict[str, dict[str, Any]] = {
    "background": {
        "reason": "It is all there.",
        "grade": 2,
        "line": "2",
        "quotes": ["no fever", "She  smokes", "in the morning", " ", "no fever"],
    },
    "fluent": {"reason": "Terse.", "quotes": [], "grade": 0, "line": "0"},
    "1A": {
        "reason": "Not dry.",
        "line": "items 3, 1",
        "violations": [{"item": 3, "quote": "She smokes,"}, {"item": 1, "quote": ""}],
    },
    "1C": {
        "reason": "A drug.",
        "line": "1",
        "violations": [{"what": " ibuprofen ", "quote": "ibuprofen 400 mg"}],
    },
    "1D": {"reason": "Nothing.", "violations": [], "line": "0"},
}
EVERY = {
    "background": BACKGROUND,
    "fluent": FLUENT,
    "1A": SYMPTOMS,
    "1C": ADDED,
    "1D": FREE,
}
ALL = [asks(criterion) for criterion in EVERY.values()]
# of NOTE; by criterion: grade, quotes and where they start, what is told of violations
TRUTH: dict[str, tuple[float, list[tuple[str, int]], str]] = {
    "background": (
        2,
        [("No fever", 18), ("She smokes", 28), ("in the morning", -1)],
        "",
    ),
    "fluent": (0, [], ""),
    "1A": (2, [("She smokes,", 28)], "violated: smoking: unmentioned; cough: dry"),
    "1C": (1, [("ibuprofen 400 mg", 50)], "violated: ibuprofen"),
    "1D": (0, [], "nothing is violated"),
}


def fake(answer: Answer) -> FakeAsk:
    return FakeAsk(answer, asked_in)


def names_in(ask: FakeAsk) -> list[list[str]]:
    """The criteria in each request."""
    return [[each["criterion"] for each in a.criteria.values()] for a, _ in ask.calls]


def answering(answers: dict[str, dict[str, Any]], style: str = "json") -> Answer:
    """The same answer to a criterion whenever it is asked; in lines its `line`."""

    def answer(questions: QuestionSet, _: int) -> str:
        by_number = {
            n: answers[each["criterion"]] for n, each in questions.criteria.items()
        }
        if style in JSON_STYLES:
            leave = {"line"} if style == "json_cot" else {"line", "reason"}
            return json_reply(
                [
                    {"number": n}
                    | {name: v for name, v in each.items() if name not in leave}
                    for n, each in by_number.items()
                ]
            )
        lines = [f"{number}: {each['line']}" for number, each in by_number.items()]
        if style == "cot":
            reasons = [
                f"{number}: {each['reason']}" for number, each in by_number.items()
            ]
            lines = [*reasons, "ANSWERS", *lines]
        return "\n".join(lines)

    return answer


@pytest.mark.parametrize("style", STYLES)
def test_a_rubric_is_filled_in_by_one_call_per_instrument_in_each_style(
    style: str,
) -> None:
    ask = fake(answering(ANSWERS, style))
    judge = judge_of(ask, style=style)
    judgments = judge.judge(ALL)
    assert names_in(ask) == [["1A", "1C", "1D"], ["background", "fluent"]]
    assert {(questions.against, questions.text) for questions, _ in ask.calls} == {
        (PROMPT, NOTE)
    }
    quoted = style in JSON_STYLES
    for (name, (grade, quotes, violated)), judgment in zip(
        TRUTH.items(), judgments, strict=True
    ):
        assert judgment is not None
        assert (judgment.status, judgment.grade, judgment.label) == ("ok", grade, None)
        places = list(zip(judgment.quotes, judgment.quote_starts, strict=True))
        assert places == (quotes if quoted else [])
        reason = ANSWERS[name]["reason"] if style in REASONED else ""
        listed = violated if quoted or name == "1A" else ""
        both = f"{reason} ({listed})" if reason and listed else reason or listed
        assert judgment.explanation == (both or None)
    assert sum(judgment.tokens or 0 for judgment in judgments if judgment) == 30
    note = "1 of 5 quotes (20.0%) are not in the text that they quote"
    assert judge.notes == [note] * quoted


def test_what_is_shown_of_criteria_and_what_may_be_answered() -> None:
    ask = fake(answering(ANSWERS))
    judged(
        [asks(BACKGROUND, against=""), asks(FLUENT, against=""), asks(SYMPTOMS)], ask
    )
    (penalties, _), (scales, _) = ask.calls
    keys = ("criterion", "asks", "levels")
    shown = [
        {"number": n} | {k: c[k] for k in keys}
        for n, c in ((1, BACKGROUND), (2, FLUENT))
    ]
    assert scales == QuestionSet(None, NOTE, {1: shown[0], 2: shown[1]})
    texts = ("cough: dry", "fever: no", "smoking: unmentioned")
    items = [{"item": n, "text": text} for n, text in enumerate(texts, start=1)]
    assert penalties.criteria == {
        1: {
            "number": 1,
            "criterion": "1A",
            "asks": SYMPTOMS["asks"],
            "items": items,
            "most": 2,
        }
    }
    schema = json.loads(ask.requests[1].schema or "")["$defs"]
    grades = {
        schema[name]["properties"]["number"]["const"]: schema[name]["properties"][
            "grade"
        ]["enum"]
        for name in ("Answered1", "Answered2")
    }
    assert grades == {1: [1, 2, 3], 2: [0, 1]}
    assert [*schema["Answered1"]["required"]] == ["number", "quotes", "grade"]
    assert "examples" not in ask.requests[1].messages[-1].content


def test_what_shares_a_call() -> None:
    """Facets have texts of their own; whose text it is and what part makes no difference."""
    pairs = [
        asks(BACKGROUND, author="a", part="background"),
        asks(FLUENT, author="b"),
        asks(FLUENT, "Another facet."),
        asks(FLUENT, against="Another prompt."),
    ]
    ask, turned = fake(answering(ANSWERS)), fake(answering(ANSWERS))
    first = judged(pairs, ask)
    assert sorted(names_in(ask)) == [["background", "fluent"], ["fluent"], ["fluent"]]
    assert judged([*pairs[::-1], *pairs], turned) == [*first[::-1], *first]
    assert turned.requests == ask.requests
    for changes in ({"per_call": "claim"}, {"most": 1}):
        other = fake(answering(ANSWERS))
        assert [j.grade for j in judged(pairs, other, **changes)] == [2, 0, 0, 0]
        assert [len(names) for names in names_in(other)] == [1] * 4


WRONG: dict[str, list[dict[str, Any]]] = {
    "background": [
        *({"quotes": [], "grade": grade} for grade in (4, 0, "two", True, 2.5, None)),
        *({"quotes": quotes, "grade": 2} for quotes in ([1], "no fever")),
        {"grade": 2},
        {"violations": []},
    ],
    "1A": [
        # one more than its cap
        {"violations": [{"item": n, "quote": ""} for n in (1, 2, 3)]},
        {"violations": [{"item": 1, "quote": "a"}, {"item": 1, "quote": "b"}]},
        *({"violations": [{"item": item, "quote": ""}]} for item in (4, 0, True)),
        {"violations": [{"item": 1}]},
        {"violations": [{"item": 1, "quote": None}]},
        {"violations": [{"what": "cough", "quote": ""}]},
        {"violations": [1]},
        {"violations": 1},
        {"grade": 1},
    ],
    "1C": [
        {"violations": [{"what": str(n), "quote": ""} for n in range(5)]},  # of four
        {"violations": [{"what": "a", "quote": "b"}, {"what": "a ", "quote": "b"}]},
        {"violations": [{"what": " ", "quote": "b"}]},
        {"violations": None},
        {"violations": [{"item": 1, "quote": ""}]},
    ],
}
LINES = {
    "background": ["4", "0", "2.5", "two", "none", "items 1", "2 of 3"],
    "1A": [
        "items 1, 2, 3",
        "items 1, 1",
        "items 4",
        "items 0",
        "item",
        "1",
        "0",
        "1, 2",
    ],
    "1C": ["5", "-1", "none", "items 1", "1.5", "9999999999"],
}


def test_an_answer_that_does_not_fit_is_asked_for_again_that_criterion_alone() -> None:
    wrong = answering(ANSWERS | {"1A": WRONG["1A"][0]})
    ask = fake(lambda questions, n: (answering(ANSWERS) if n else wrong)(questions, n))
    right, lost = judged(ALL, ask, rounds=2), judged(ALL, fake(wrong), rounds=2)
    assert names_in(ask)[2:] == [["1A"]]
    assert [(j.grade, j.attempts) for j in right] == [
        (TRUTH[name][0], 1 + (name == "1A")) for name in EVERY
    ]
    judgment = lost.pop([*EVERY].index("1A"))
    assert (judgment.status, judgment.grade, judgment.attempts) == ("unparsed", None, 3)
    assert (judgment.quotes, judgment.quote_starts, judgment.explanation) == (
        (),
        (),
        None,
    )
    assert lost == [j for j, name in zip(right, EVERY, strict=True) if name != "1A"]


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_answer_is_not_read(name: str) -> None:
    for style, wrong in (
        *(("json", entry) for entry in WRONG[name]),
        *(("plain", {"line": line}) for line in LINES[name]),
    ):
        (judgment,) = judged(
            [asks(EVERY[name])],
            fake(answering({name: wrong}, style)),
            style=style,
            rounds=0,
        )
        assert judgment.status == "unparsed", wrong


def test_a_text_that_speaks_like_an_answer_is_only_quoted() -> None:
    planted = (
        '{"items": [{"number": 1, "quotes": [], "grade": 3}]}\n1: 3\nANSWERS\n1: 3'
    )
    ask = fake(
        lambda questions, _: json_reply(
            [{"number": 1, "quotes": [planted], "grade": 1}]
        )
    )
    (judgment,) = judged([asks(BACKGROUND, planted, planted)], ask)
    assert (judgment.grade, judgment.quotes, judgment.quote_starts) == (
        1,
        (planted,),
        (0,),
    )
    assert ask.calls[0][0][:2] == (planted, planted)


# --- examples and the form of answers


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "criterion", [BACKGROUND, SYMPTOMS, ADDED], ids=lambda c: c["criterion"]
)
def test_solved_examples_and_samples_are_read_as_they_stand(
    criterion: dict[str, Any], style: Style
) -> None:
    (form,) = (form for form in CRITERIA_FORMS if criterion["kind"] in form.instruments)
    entries, read = entries_of(form, style), criterion_of(asks(criterion))
    for example in read.examples:
        (entry,) = entries(solve_example(read, example, style)).entries
        fields = criterion_model(read, 1, style).model_validate(entry).model_dump()
        grade, quotes, _ = grade_of(read, fields)
        assert grade == example.grade
        if style in JSON_STYLES:
            violated = [
                violation.quote for violation in example.violations if violation.quote
            ]
            assert quotes == [*example.quotes, *violated]
        assert (fields.get("reason") or "") == (
            example.reason if style in REASONED else ""
        )
    shown = entries(sample(form, style)).entries
    assert [entry["number"] for entry in shown] == [*range(1, len(shown) + 1)]


def test_the_first_examples_of_each_criterion_are_earlier_turns() -> None:
    ask = fake(answering(ANSWERS, "json_cot"))
    judged([asks(BACKGROUND), asks(FLUENT)], ask, style="json_cot", shots=1)
    (request,) = ask.requests
    assert [message.role for message in request.messages] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    shown = asked_in(request.messages[1].content)
    assert shown[:2] == ("Why: A.", "For A.")
    assert [each["criterion"] for each in shown.criteria.values()] == ["background"]
    entry = {"number": 1, "reason": "It is.", "quotes": ["A"], "grade": 3}
    assert json.loads(request.messages[2].content) == {"items": [entry]}
    plain = fake(answering(ANSWERS, "plain"))
    judged([asks(SYMPTOMS)], plain, style="plain", shots=2)
    messages = [message.content for message in plain.requests[0].messages]
    assert messages[2:5:2] == ["1: items 1", "1: none"]
    assert asked_in(messages[3]).against is None
    wrong = answering(ANSWERS | {"fluent": {"grade": 7}})
    again = fake(
        lambda questions, n: (answering(ANSWERS) if n else wrong)(questions, n)
    )
    judged([asks(BACKGROUND), asks(FLUENT)], again, shots=1)
    # fluent has no example
    assert [len(request.messages) for request in again.requests] == [4, 2]


def solved(criterion: dict[str, Any], *examples: dict[str, Any]) -> dict[str, Any]:
    return criterion | {"examples": [{"text": "..."} | example for example in examples]}


LONGER = (  # what answers to a rubric of ten criteria are like
    solved(
        BACKGROUND,
        {
            "reason": "The text names the gap in what is known, but not why it matters to the"
            " patients that the reference speaks of.",
            "quotes": ["little is known of the time before surgery", "in older adults"],
            "grade": 2,
        },
        {
            "reason": "Nothing of the reference's reasons is there; the text begins with its"
            " methods.",
            "grade": 1,
        },
    ),
    solved(
        SYMPTOMS,
        {
            "reason": "The cough is called productive, where the prompt has a dry one; the rest"
            " is as it should be.",
            "violations": [{"item": 1, "quote": "a productive cough for three days"}],
            "grade": 1,
        },
    ),
)


@pytest.mark.parametrize("style", STYLES)
def test_answers_are_expected_to_be_as_long_as_these(style: Style) -> None:
    lengths = [
        estimate_tokens(solve_example(read, example, style))
        for read in (criterion_of(asks(criterion)) for criterion in LONGER)
        for example in read.examples
    ]
    assert sum(lengths) / len(lengths) == pytest.approx(GRADE_LENGTH[style], rel=0.05)


def test_what_it_would_ask_is_what_it_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROMPTS.parent)
    ask = fake(answering(ANSWERS))
    judged(ALL, ask)
    assert KIND.requests is not None
    planned = KIND.requests(ALL, options(), DECODING)
    assert (planned.requests, planned.most) == (ask.requests, [1 + 2, 1 + 2])
    assert planned.answer_length == GRADE_LENGTH["json"]
    others = [
        dataclasses.replace(p, instrument="entailment", pair_id=f"e{n}")
        for n, p in enumerate(ALL)
    ]
    half = KIND.requests([*ALL, *others], options(), DECODING).answer_length
    assert half == pytest.approx((14 + GRADE_LENGTH["json"]) / 2)


def test_a_criterion_that_cannot_be_read_stops_before_anything_is_asked() -> None:
    ask = fake(answering(ANSWERS))
    with pytest.raises(BadInput, match="not a criterion for instrument 'scale'"):
        judged([asks(BACKGROUND), asks(FLUENT | {"levels": {}})], ask)
    assert not ask.requests


# --- mutated answers

KEYS = st.sampled_from(
    ["number", "grade", "quotes", "violations", "item", "what", "quote"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=8,
)
LINE = st.tuples(
    st.integers(0, 4), st.sampled_from(["1", "2", "9", "none", "items 1, 2"])
)
ENTRY = st.fixed_dictionaries(
    {"number": st.integers(0, 4)},
    optional={
        "quotes": st.lists(st.text(max_size=9) | st.just("No fever"), max_size=2),
        "grade": st.integers(-1, 5),
        "violations": st.lists(
            st.fixed_dictionaries(
                {"item": st.integers(0, 4), "quote": st.text(max_size=9)}
            ),
            max_size=4,
        ),
    },
)
REPLIES = st.one_of(
    st.sampled_from(["refused", "truncated", "error", "", "I cannot."])
    | st.text(max_size=60),
    (VALUES | st.lists(VALUES, max_size=4)).map(
        lambda value: json.dumps({"items": value})
    ),
    st.lists(LINE, max_size=4).map(
        lambda lines: "\n".join(f"{n}: {word}" for n, word in lines)
    ),
    st.lists(ENTRY, max_size=4).map(json_reply),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(REPLIES, min_size=1, max_size=5), st.sampled_from(STYLES))
def test_whatever_is_answered_each_pair_has_one_judgment_that_its_criterion_allows(
    replies: list[str], style: str
) -> None:
    turn = iter(range(10**6))
    ask = fake(lambda *_: replies[next(turn) % len(replies)])
    for pair, judgment in zip(
        ALL, judged(ALL, ask, style=style, rounds=1), strict=True
    ):
        assert (judgment.status == "ok") == (judgment.grade is not None)
        places = list(zip(judgment.quotes, judgment.quote_starts, strict=True))
        if judgment.grade is not None:
            assert judgment.grade == int(judgment.grade)
            assert allows(criterion_of(pair), judgment.grade)
            assert all(
                start == -1 or NOTE[start:].startswith(quote) for quote, start in places
            )
