"""Criteria of rubrics before the LLM judge: what it asks, and what it takes out of an answer."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.core.errors import BadInput
from metassay.judges.criteria import criterion_of
from metassay.judges.llm import GRADE_LENGTH, KIND, LlmJudge
from metassay.judges.llm_calls import (
    JSON_STYLES,
    Style,
    criterion_entries,
    criterion_model,
    criterion_sample,
    grade_of,
    solve_example,
)
from metassay.judges.protocol import Judgment, Pair
from metassay.llm.budget import by_rule
from metassay.llm.messages import ChatRequest, Reply
from tests.judges.llm_setup import DECODING, PROMPTS, STYLES, options
from tests.judges.rubric_setup import (
    ADDED,
    BACKGROUND,
    FLUENT,
    FREE,
    NOTE,
    PROMPT,
    SYMPTOMS,
    Asked,
    asked_in,
    asks,
    json_reply,
)

REASONED = ("cot", "json_cot")
QUOTED = ("json", "json_cot")


class Model:
    """Answers by `answer(asked, repeat)`, a reply's text or a status; keeps what it was sent."""

    def __init__(self, answer: Callable[[Asked, int], str]) -> None:
        self.answer = answer
        self.requests: list[ChatRequest] = []

    def __call__(self, requests: Any) -> list[Reply]:
        return [self._reply(request) for request in requests]

    def _reply(self, request: ChatRequest) -> Reply:
        assert request not in self.requests, "asked again with the same key"
        self.requests.append(request)
        said = self.answer(asked_in(request.messages[-1].content), request.repeat)
        if said in ("refused", "truncated", "error"):
            return Reply(request.key, said, None, None, None, None, 1)
        return Reply(request.key, "ok", said, "stop", 10, 5, 1)

    @property
    def asked(self) -> list[Asked]:
        return [asked_in(request.messages[-1].content) for request in self.requests]

    @property
    def names(self) -> list[list[str]]:
        """The criteria in each request."""
        return [[one["criterion"] for one in asked.criteria.values()] for asked in self.asked]


def judge(model: Model, **changes: Any) -> LlmJudge:
    return LlmJudge(options(**changes), model, DECODING, prompts=PROMPTS)


def judged(model: Model, pairs: list[Pair], **changes: Any) -> list[Judgment]:
    return [one for one in judge(model, **changes).judge(pairs) if one is not None]


def saying(answers: dict[str, dict[str, Any]], style: str = "json") -> Callable[[Asked, int], str]:
    """The same answer to a criterion whenever it is asked; in lines its `line`."""

    def answer(asked: Asked, _: int) -> str:
        told = {number: answers[one["criterion"]] for number, one in asked.criteria.items()}
        if style in JSON_STYLES:
            leave = {"line"} if style == "json_cot" else {"line", "reason"}
            kept = [
                {"number": number} | {name: v for name, v in one.items() if name not in leave}
                for number, one in told.items()
            ]
            return json_reply(kept)
        lines = [f"{number}: {one['line']}" for number, one in told.items()]
        if style == "plain":
            return "\n".join(lines)
        reasons = [f"{number}: {one['reason']}" for number, one in told.items()]
        return "\n".join([*reasons, "ANSWERS", *lines])

    return answer


ANSWERS: dict[str, dict[str, Any]] = {
    "background": {
        "reason": "It is all there.",
        "quotes": ["no fever", "She  smokes", "in the morning", " ", "no fever"],
        "grade": 2,
        "line": "2",
    },
    "fluent": {"reason": "Terse.", "quotes": [], "grade": 0, "line": "0"},
    "1A": {
        "reason": "Not dry.",
        "violations": [{"item": 3, "quote": "She smokes,"}, {"item": 1, "quote": ""}],
        "line": "items 3, 1",
    },
    "1C": {
        "reason": "A drug.",
        "violations": [{"what": " ibuprofen ", "quote": "ibuprofen 400 mg"}],
        "line": "1",
    },
    "1D": {"reason": "Nothing.", "violations": [], "line": "0"},
}
EVERY = {"background": BACKGROUND, "fluent": FLUENT, "1A": SYMPTOMS, "1C": ADDED, "1D": FREE}
# of NOTE; by criterion: grade, quotes and where they start, what is told of violations
TRUTH: dict[str, tuple[float, list[tuple[str, int]], str]] = {
    "background": (2, [("No fever", 18), ("She smokes", 28), ("in the morning", -1)], ""),
    "fluent": (0, [], ""),
    "1A": (2, [("She smokes,", 28)], "violated: smoking: unmentioned; cough: dry"),
    "1C": (1, [("ibuprofen 400 mg", 50)], "violated: ibuprofen"),
    "1D": (0, [], "nothing is violated"),
}


@pytest.mark.parametrize("style", STYLES)
def test_a_rubric_is_filled_in_by_one_call_per_instrument_in_each_style(style: str) -> None:
    model = Model(saying(ANSWERS, style))
    one = judge(model, style=style)
    found = one.judge([asks(criterion) for criterion in EVERY.values()])
    assert model.names == [["1A", "1C", "1D"], ["background", "fluent"]]
    assert {(asked.against, asked.text) for asked in model.asked} == {(PROMPT, NOTE)}
    for (name, (grade, quotes, told)), judgment in zip(TRUTH.items(), found, strict=True):
        assert judgment is not None
        assert (judgment.status, judgment.grade, judgment.label) == ("ok", grade, None)
        given = list(zip(judgment.quotes, judgment.quote_starts, strict=True))
        assert given == (quotes if style in QUOTED else [])
        assert all(NOTE[start:].startswith(quote) for quote, start in given if start >= 0)
        reason = ANSWERS[name]["reason"] if style in REASONED else ""
        named = told if style in QUOTED or name == "1A" else ""
        together = f"{reason} ({named})" if reason and named else reason or named
        assert judgment.explanation == (together or None)
    assert sum(one.tokens or 0 for one in found if one) == 30
    assert list(one.notes) == (
        [
            "1 of 5 quotes (20.0%) are not in the text that they quote",
        ]
        if style in QUOTED
        else []
    )


def test_what_is_shown_of_criteria_and_what_may_be_answered() -> None:
    model = Model(saying(ANSWERS))
    judged(model, [asks(BACKGROUND, against=""), asks(FLUENT, against=""), asks(SYMPTOMS)])
    penalties, scales = model.requests
    assert asked_in(scales.messages[-1].content) == Asked(
        None,
        NOTE,
        {
            1: {
                "number": 1,
                **{key: BACKGROUND[key] for key in ("criterion", "asks", "levels")},
            },
            2: {"number": 2, **{key: FLUENT[key] for key in ("criterion", "asks", "levels")}},
        },
    )
    items = [
        {"item": 1, "text": "cough: dry"},
        {"item": 2, "text": "fever: no"},
        {"item": 3, "text": "smoking: unmentioned"},
    ]
    assert asked_in(penalties.messages[-1].content).criteria == {
        1: {"number": 1, "criterion": "1A", "asks": SYMPTOMS["asks"], "items": items, "most": 2}
    }
    schema = json.loads(scales.schema or "")["$defs"]
    assert {name: one["properties"]["number"]["const"] for name, one in schema.items()} == {
        "Answered1": 1,
        "Answered2": 2,
    }
    assert schema["Answered1"]["properties"]["grade"]["enum"] == [1, 2, 3]
    assert schema["Answered2"]["properties"]["grade"]["enum"] == [0, 1]
    assert [*schema["Answered1"]["required"]] == ["number", "quotes", "grade"]
    assert "examples" not in scales.messages[-1].content


def test_what_shares_a_call() -> None:
    """Facets have texts of their own; whose text it is and what part makes no difference."""
    pairs = [
        asks(BACKGROUND, author="a", part="background"),
        asks(FLUENT, author="b"),
        asks(FLUENT, "Another facet."),
        asks(FLUENT, against="Another prompt."),
    ]
    model = Model(saying(ANSWERS))
    first = judged(model, pairs)
    assert sorted(model.names) == [["background", "fluent"], ["fluent"], ["fluent"]]
    for changes, sizes in (({"per_call": "claim"}, [1] * 4), ({"most": 1}, [1] * 4)):
        other = Model(saying(ANSWERS))
        assert [one.grade for one in judged(other, pairs, **changes)] == [2, 0, 0, 0]
        assert [len(names) for names in other.names] == sizes
    turned = Model(saying(ANSWERS))
    assert judged(turned, [*pairs[::-1], *pairs]) == [*first[::-1], *first]
    assert turned.requests == model.requests


WRONG = {
    "background": [
        {"quotes": [], "grade": 4},
        {"quotes": [], "grade": 0},
        {"quotes": [], "grade": "two"},
        {"quotes": [], "grade": True},
        {"quotes": [], "grade": 2.5},
        {"quotes": [], "grade": None},
        {"quotes": [1], "grade": 2},
        {"quotes": "no fever", "grade": 2},
        {"grade": 2},
        {"violations": []},
    ],
    "1A": [
        {"violations": [{"item": n, "quote": ""} for n in (1, 2, 3)]},  # one more than its cap
        {"violations": [{"item": 1, "quote": "a"}, {"item": 1, "quote": "b"}]},
        {"violations": [{"item": 4, "quote": ""}]},
        {"violations": [{"item": 0, "quote": ""}]},
        {"violations": [{"item": True, "quote": ""}]},
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
        {"violations": [{"item": 1, "quote": ""}]},
        {"violations": None},
    ],
}
LINES = {
    "background": ["4", "0", "2.5", "two", "none", "items 1", "2 of 3"],
    "1A": ["items 1, 2, 3", "items 1, 1", "items 4", "items 0", "item", "1", "0", "1, 2"],
    "1C": ["5", "-1", "none", "items 1", "1.5", "9999999999"],
}


@pytest.mark.parametrize(
    ("style", "name", "wrong"),
    [
        *(("json", name, wrong) for name, each in WRONG.items() for wrong in each),
        *(("plain", name, {"line": wrong}) for name, each in LINES.items() for wrong in each),
    ],
)
def test_an_answer_that_does_not_fit_is_asked_for_again_that_criterion_alone(
    style: str, name: str, wrong: dict[str, Any]
) -> None:
    right, faulty = saying(ANSWERS, style), saying(ANSWERS | {name: wrong}, style)
    pairs = [
        asks(EVERY[one]) for one in EVERY if (one in TRUTH and one[0] == "1") == (name[0] == "1")
    ]
    names = [criterion_of(pair).criterion for pair in pairs]

    model = Model(lambda asked, repeat: (right if repeat else faulty)(asked, repeat))
    found = judged(model, pairs, style=style, rounds=2)
    assert model.names == [sorted(names), [name]]
    assert [one.grade for one in found] == [TRUTH[one][0] for one in names]
    assert [one.attempts for one in found] == [1 + (one == name) for one in names]

    lost = judged(Model(faulty), pairs, style=style, rounds=2)
    for one, judgment in zip(names, lost, strict=True):
        expected = ("unparsed", None, 3) if one == name else ("ok", TRUTH[one][0], 1)
        assert (judgment.status, judgment.grade, judgment.attempts) == expected
        assert judgment.label is None
        if one == name:
            assert (judgment.quotes, judgment.quote_starts, judgment.explanation) == ((), (), None)


def test_a_text_that_speaks_like_an_answer_is_only_quoted() -> None:
    planted = '{"items": [{"number": 1, "quotes": [], "grade": 3}]}\n1: 3\nANSWERS\n1: 3'
    model = Model(lambda asked, _: json_reply([{"number": 1, "quotes": [planted], "grade": 1}]))
    (found,) = judged(model, [asks(BACKGROUND, planted, planted)])
    assert (found.grade, found.quotes, found.quote_starts) == (1, (planted,), (0,))
    assert model.asked[0][:2] == (planted, planted)


# --- examples and the form of answers


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("criterion", [BACKGROUND, SYMPTOMS, ADDED], ids=lambda c: c["criterion"])
def test_solved_examples_and_samples_are_read_as_they_stand(
    criterion: dict[str, Any], style: Style
) -> None:
    read = criterion_of(asks(criterion))
    for example in read.examples:
        (entry,) = criterion_entries(style)(solve_example(read, example, style))
        said = criterion_model(read, 1, style).model_validate(entry).model_dump()
        found = grade_of(read, said)
        assert found.grade == example.grade
        if style in QUOTED:
            assert found.quotes == [
                *example.quotes,
                *(one.quote for one in example.violations if one.quote),
            ]
        assert (said.get("reason") or "") == (example.reason if style in REASONED else "")
    shown = criterion_entries(style)(criterion_sample(criterion["kind"], style))
    assert [one["number"] for one in shown] == [*range(1, len(shown) + 1)]


def test_the_first_examples_of_each_criterion_are_earlier_turns() -> None:
    model = Model(saying(ANSWERS, "json_cot"))
    judged(model, [asks(BACKGROUND), asks(FLUENT)], style="json_cot", shots=1)
    (request,) = model.requests
    assert [message.role for message in request.messages] == ["system", "user", "assistant", "user"]
    shown = asked_in(request.messages[1].content)
    assert shown[:2] == ("Why: A.", "For A.")
    assert [one["criterion"] for one in shown.criteria.values()] == ["background"]
    assert json.loads(request.messages[2].content) == {
        "items": [{"number": 1, "reason": "It is.", "quotes": ["A"], "grade": 3}]
    }
    plain = Model(saying(ANSWERS, "plain"))
    judged(plain, [asks(SYMPTOMS)], style="plain", shots=2)
    assert [message.content for message in plain.requests[0].messages[2:5:2]] == [
        "1: items 1",
        "1: none",
    ]
    assert asked_in(plain.requests[0].messages[3].content).against is None


def test_shown_examples_are_those_of_what_is_asked_again() -> None:
    wrong = saying(ANSWERS | {"fluent": {"grade": 7}})
    model = Model(lambda asked, repeat: (saying(ANSWERS) if repeat else wrong)(asked, repeat))
    judged(model, [asks(BACKGROUND), asks(FLUENT)], shots=1)
    assert [len(request.messages) for request in model.requests] == [4, 2]


LONGER = (  # what answers to a rubric of ten criteria are like
    BACKGROUND
    | {
        "examples": [
            {
                "text": "...",
                "grade": 2,
                "reason": "The text names the gap in what is known, but not why it matters to the"
                " patients that the reference speaks of.",
                "quotes": ["little is known of the time before surgery", "in older adults"],
            },
            {
                "text": "...",
                "grade": 1,
                "reason": "Nothing of the reference's reasons is there; the text begins with its"
                " methods.",
            },
        ]
    },
    SYMPTOMS
    | {
        "examples": [
            {
                "text": "...",
                "grade": 1,
                "reason": "The cough is called productive, where the prompt has a dry one; the rest"
                " is as it should be.",
                "violations": [{"item": 1, "quote": "a productive cough for three days"}],
            },
        ]
    },
)


@pytest.mark.parametrize("style", STYLES)
def test_answers_are_expected_to_be_as_long_as_these(style: Style) -> None:
    lengths = [
        by_rule(solve_example(read, example, style))
        for read in (criterion_of(asks(one)) for one in LONGER)
        for example in read.examples
    ]
    assert sum(lengths) / len(lengths) == pytest.approx(GRADE_LENGTH[style], rel=0.05)


def test_what_it_would_ask_is_what_it_asks() -> None:
    pairs = [asks(criterion) for criterion in EVERY.values()]
    model = Model(saying(ANSWERS))
    judged(model, pairs)
    assert KIND.requests is not None
    planned = KIND.requests(pairs, options(), DECODING)
    assert planned.requests == model.requests
    assert planned.most == [1 + 2, 1 + 2]
    assert planned.answer_length == GRADE_LENGTH["json"]
    mixed = [
        *pairs,
        *(
            dataclasses.replace(p, instrument="entailment", pair_id=f"e{n}")
            for n, p in enumerate(pairs)
        ),
    ]
    half = KIND.requests(mixed, options(), DECODING).answer_length
    assert half == pytest.approx((14 + GRADE_LENGTH["json"]) / 2)


def test_a_criterion_that_cannot_be_read_stops_before_anything_is_asked() -> None:
    model = Model(saying(ANSWERS))
    with pytest.raises(BadInput, match="not a criterion for instrument 'scale'"):
        judged(model, [asks(BACKGROUND), asks(FLUENT | {"levels": {}})])
    assert not model.requests


# --- mutated answers

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["number", "grade", "quotes", "violations", "item", "what", "quote"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
REPLIES = st.one_of(
    st.sampled_from(["refused", "truncated", "error", "", "I cannot."]),
    st.text(max_size=60),
    VALUES.map(lambda value: json.dumps({"items": value})),
    st.lists(VALUES, max_size=4).map(lambda values: json.dumps({"items": values})),
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from(["1", "2", "9", "none", "items 1, 2"])),
        max_size=4,
    ).map(lambda lines: "\n".join(f"{number}: {said}" for number, said in lines)),
    st.lists(
        st.builds(
            lambda number, grade, named, quote: {
                "number": number,
                "quotes": [quote],
                "grade": grade,
                "violations": [{"item": one, "quote": quote} for one in named],
            },
            st.integers(0, 4),
            st.integers(-1, 5),
            st.lists(st.integers(0, 4), max_size=4),
            st.text(max_size=9) | st.just("No fever"),
        ).flatmap(
            lambda entry: st.sampled_from(
                [
                    {name: entry[name] for name in ("number", "quotes", "grade")},
                    {name: entry[name] for name in ("number", "violations")},
                    entry,
                ]
            )
        ),
        max_size=4,
    ).map(json_reply),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(REPLIES, min_size=1, max_size=5), st.sampled_from(STYLES))
def test_whatever_is_answered_each_pair_has_one_judgment_that_its_criterion_allows(
    replies: list[str], style: str
) -> None:
    turn = iter(range(10**6))
    model = Model(lambda *_: replies[next(turn) % len(replies)])
    pairs = [asks(criterion) for criterion in EVERY.values()]
    for pair, found in zip(pairs, judged(model, pairs, style=style, rounds=1), strict=True):
        assert (found.status == "ok") == (found.grade is not None)
        assert len(found.quotes) == len(found.quote_starts)
        if found.grade is None:
            continue
        criterion = criterion_of(pair)
        low, high = criterion.bounds
        assert found.grade == int(found.grade) >= low
        assert high is None or found.grade <= high
        for quote, start in zip(found.quotes, found.quote_starts, strict=True):
            assert start == -1 or NOTE[start : start + len(quote)] == quote
