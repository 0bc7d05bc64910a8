"""Structured answers: exactly one result per item, whatever the model does with its reply."""

import json
import random
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.llm.answers import json_entries
from metassay.llm.groups import Answer, Fault, Group, Item, Problem, number_items
from metassay.llm.messages import ChatRequest, Message, Reply
from metassay.llm.structured import (
    ENOUGH,
    Again,
    ItemResult,
    RoundTally,
    ask_groups,
    first_requests,
    most_requests,
    schema_of,
)

AGAIN = Again(Path(__file__).parents[2] / "prompts")
Handler = Callable[[list[int], int], Any]
Entries = list[dict[str, Any]]


class Label(Answer):
    explanation: str
    label: Literal[0, 1]


class FakeAsk:
    """Answers by script: `handler(numbers, repeat)` gives a text, a status, or the whole reply."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.sent: list[tuple[list[int], int]] = []
        self.words: list[str] = []  # what was wrong before, below the items
        self.keys: set[str] = set()
        self.calls = 0

    def __call__(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        self.calls += 1
        return [self._reply(request) for request in requests]

    def _reply(self, request: ChatRequest) -> Reply:
        assert request.key not in self.keys, (
            "a ledger would answer this with the same reply"
        )
        self.keys.add(request.key)
        listed, end = json.JSONDecoder().raw_decode(request.messages[-1].content)
        numbers = [item["number"] for item in listed]
        self.words.append(request.messages[-1].content[end:].strip())
        self.sent.append((numbers, request.repeat))
        answer = self.handler(numbers, request.repeat)
        if isinstance(answer, Reply):
            return answer
        if answer in ("refused", "truncated", "error"):
            return Reply(request.key, answer, None, None, None, None, 3, "http_500")
        return Reply(request.key, "ok", answer, "stop", 10, 5, 1)

    @property
    def numbers(self) -> list[list[int]]:
        return [numbers for numbers, _ in self.sent]


def build(items: list[Item]) -> ChatRequest:
    content = json.dumps(
        [{"number": item.number, "text": item.content} for item in items]
    )
    return ChatRequest("m", (Message("user", content),), schema_of(Label), 0.0, 1, 100)


def sound(numbers: Sequence[int]) -> Entries:
    return [{"number": n, "explanation": f"e{n}", "label": n % 2} for n in numbers]


def reply_of(entries: Any) -> str:
    return json.dumps({"items": entries})


def answer_all(numbers: list[int], _: int = 0) -> str:
    return reply_of(sound(numbers))


def group(count: int) -> Group[Label]:
    return Group(number_items([f"claim {n}" for n in range(count)]), build, Label)


def ask_about(
    count: int, handler: Handler, rounds: int = 2
) -> tuple[list[Any], FakeAsk]:
    ask = FakeAsk(handler)
    return ask_groups(ask, [group(count)], rounds=rounds, again=AGAIN)[0], ask


def facts(results: Sequence[ItemResult[Label]], name: str) -> list[Any]:
    return [getattr(result, name) for result in results]


def labels(results: Sequence[ItemResult[Label]]) -> list[int | None]:
    return [result.value.label if result.value else None for result in results]


def notes(results: Sequence[ItemResult[Label]], rounds: int) -> list[str]:
    tally = RoundTally(rounds)
    tally.add(results)
    return tally.notes


def test_a_sound_reply_is_one_request_in_whatever_order() -> None:
    results, ask = ask_about(4, lambda numbers, _: reply_of(sound(numbers[::-1])))
    assert labels(results) == [1, 0, 1, 0]
    assert ask.sent == [([1, 2, 3, 4], 0)]
    assert facts(results, "attempts") == [1] * 4
    # 10 tokens of prompt and 5 of answer, shared among four.
    assert facts(results, "tokens") == [4, 4, 4, 3]
    assert ask_about(0, lambda *_: "")[0] == []


def second(**changes: Any) -> Callable[[Entries], list[Any]]:
    """Change the second entry."""
    return lambda entries: [e | changes if e["number"] == 2 else e for e in entries]


FAULTS: dict[str, Callable[[Entries], list[Any]]] = {
    "missing": lambda entries: [e for e in entries if e["number"] != 2],
    "twice and different": lambda entries: [*entries, entries[1] | {"label": 1}],
    "label as boolean": second(label=False),
    "label between": second(label=0.5),
    "label out of range": second(label=2),
    "half a surrogate pair": second(explanation="\ud800"),
    "no label": lambda entries: [
        {"number": 2, "explanation": "?"} if e["number"] == 2 else e for e in entries
    ],
    "null": lambda entries: [None if e["number"] == 2 else e for e in entries],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_item_is_asked_again_without_the_others(fault: str) -> None:
    def handler(numbers: list[int], repeat: int) -> str:
        entries = sound(numbers)
        return reply_of(FAULTS[fault](entries) if repeat == 0 else entries)

    results, ask = ask_about(3, handler)
    assert labels(results) == [1, 0, 1]
    assert ask.sent == [([1, 2, 3], 0), ([2], 1)]
    assert facts(results, "attempts") == [1, 2, 1]
    assert facts(results, "tokens") == [5, 20, 5]
    results, ask = ask_about(3, lambda n, turn: "{}" if turn else handler(n, turn))
    assert facts(results, "status") == ["ok", "unparsed", "ok"]
    assert labels(results) == [1, None, 1]
    assert ask.numbers == [[1, 2, 3], [2], [2]]


# Not in just the form, and yet there is one thing only that they can mean.
REPAIRED: dict[str, Callable[[Entries], Any]] = {
    "twice, the same": lambda entries: {"items": [*entries, entries[1]]},
    "numbers as text": lambda entries: {
        "items": [
            e | {"number": str(e["number"]), "label": str(e["label"])} for e in entries
        ]
    },
    "whole reals": lambda entries: {
        "items": [e | {"label": float(e["label"])} for e in entries]
    },
    "another field": lambda entries: {"items": [e | {"sure": True} for e in entries]},
    "another key": lambda entries: {"items": entries, "note": ""},
    "wrong key": lambda entries: {"answers": entries},
    "deeper": lambda entries: {"result": {"items": entries}},
    "by number": lambda entries: {"items": {str(e["number"]): e for e in entries}},
}
SOUND = reply_of(sound([1, 2, 3]))
READABLE = {
    "a list": json.dumps(sound([1, 2, 3])),
    "indented": json.dumps({"items": sound([1, 2, 3])}, indent=2),
    "prose": f"Sure!\n```json\n{SOUND}\n```\nTell me {{whether}} it helps [1].",
}


@pytest.mark.parametrize("form", [*READABLE, *REPAIRED])
def test_what_can_mean_one_thing_only_is_read_and_marked(form: str) -> None:
    text = READABLE.get(form) or json.dumps(REPAIRED[form](sound([1, 2, 3])))
    results, ask = ask_about(3, lambda *_: text)
    assert labels(results) == [1, 0, 1]
    assert ask.calls == 1
    second_only = [False, True, False]
    expected = [form in REPAIRED or form == "prose"] * 3
    if form == "twice, the same":
        expected = second_only
    assert facts(results, "repaired") == expected


def test_the_only_answer_to_the_only_question_needs_no_number() -> None:
    for count, read in ((1, [1]), (2, [None, None])):
        results, _ = ask_about(
            count, lambda *_: reply_of([{"explanation": "", "label": 1}]), 0
        )
        assert labels(results) == read
        assert facts(results, "repaired") == [label is not None for label in read]


def test_a_number_nobody_asked_about_spoils_its_reply() -> None:
    # Answers counted from 0 would otherwise be read as those of the items before them.
    results, ask = ask_about(
        3, lambda numbers, turn: reply_of(sound([n - (turn == 0) for n in numbers]))
    )
    assert labels(results) == [1, 0, 1]
    assert ask.sent == [([1, 2, 3], 0), ([1, 2], 1), ([3], 1)]


UNREADABLE = {
    "nothing": "",
    "prose": "Claims 1 and 3 are entailed, that is 1, 0, 1.",
    "half of it": SOUND[:60],
    "half of it, after a sound item": SOUND[:-2],
    "half of it, its list whole": SOUND[:-1],
    "a list within a broken one": '{"draft": x, "items": '
    + json.dumps(sound([1, 2, 3]))
    + "}",
    "two answers": SOUND + reply_of(sound([1, 2])),
    "a quotation, then the answer": 'The text says {"items": []}. ' + SOUND,
    "named as another's": f"By passages [3] and [4, 5]:\n{SOUND}",
    "quoted": f"The text says “{SOUND}”",
    "inside a broken one": f'{{"items": [{{"a": "{SOUND}"',
    "inside a broken one, closed": f'{{"items": [{{"a": "{SOUND}"}}]}}',
    "a string": json.dumps(SOUND),
    "a key twice": '{"items": [], ' + SOUND[1:],
    "labels alone": "[1, 0, 1]",
    "a very deep one": '{"items": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "a very long number": '{"items": [{"number": 1' + "0" * 5000 + "}]}",
    "not a number": '{"items": NaN}',
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_asked_again_in_halves_and_then_unparsed(
    text: str,
) -> None:
    results, ask = ask_about(3, lambda *_: text)
    assert facts(results, "status") == ["unparsed"] * 3
    assert labels(results) == [None] * 3
    assert ask.numbers == [[1, 2, 3], [1, 2], [3], [1], [2], [3]]
    assert ask.calls == 3


@pytest.mark.parametrize(
    "piece", ["{", "[{", '{"a" ', '{"a":', '{"a":1', '[{"a":1},', '{"']
)
def test_brackets_that_go_on_are_given_up_on(piece: str) -> None:
    start = time.monotonic()
    for lenient in (False, True):
        assert json_entries(piece * 100_000, lenient=lenient).entries == []
        reading = json_entries(reply_of(sound([1])) + piece * 100_000, lenient=lenient)
        assert reading.entries == []
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("status", ["refused", "truncated"])
def test_an_item_that_is_refused_or_cut_off_does_not_take_the_others_with_it(
    status: str,
) -> None:
    results, ask = ask_about(
        4, lambda numbers, _: status if 3 in numbers else answer_all(numbers)
    )
    assert facts(results, "status") == ["ok", "ok", status, "ok"]
    # Halves, until the item is alone; then nothing is gained by asking again.
    assert ask.numbers == [[1, 2, 3, 4], [1, 2], [3, 4], [3], [4]]
    words = "it was too long and was cut off" if status == "truncated" else ""
    blames = [
        text.partition("used: ")[2].partition(". Answer")[0] for text in ask.words
    ]
    assert blames == ["", words, words, words, words]


def test_a_truncated_reply_is_not_read_however_much_it_has() -> None:
    def handler(numbers: list[int], _: int) -> Reply:
        key = build(number_items(["claim 0"])).key
        return Reply(key, "truncated", answer_all(numbers), "length", 10, 5, 1)

    results, ask = ask_about(1, handler)
    assert facts(results, "status") == ["truncated"]
    assert ask.calls == 1


def test_the_model_learns_what_was_wrong_and_the_first_question_says_nothing_of_it() -> (
    None
):
    replies = {
        0: reply_of(
            [*sound([1]), *sound([2]), sound([2])[0] | {"label": 1}, {"number": 3}]
        ),
        1: reply_of(sound([9])),
        2: "I would say yes.",
    }
    _, ask = ask_about(4, lambda _, repeat: replies[repeat])
    blames = [
        text.partition("could not be used: ")[2].partition(". Answer anew")[0]
        for text in ask.words
    ]
    assert blames == [
        "",
        "it had more than one answer to number 2; the answer to number 3 was none that the form"
        " allows; it had no answer to number 4",
        *["it had numbers that nobody asked about"] * 2,
    ]
    assert [text[:18] for text in ask.words[1:]] == [
        "This is attempt 2.",
        "This is attempt 3.",
        "This is attempt 3.",
    ]
    assert all(len(text.encode()) + 2 <= AGAIN.longest for text in ask.words)


def test_recipes_name_rounds_and_wording_and_no_question_gets_longer_than_is_promised() -> (
    None
):
    assert re.fullmatch(r"rounds:2\|again:[0-9a-f]{8}", AGAIN.signature(2))
    assert AGAIN.signature(0) == "rounds:0"
    kinds: tuple[Fault, ...] = get_args(Fault)
    first = build([])
    problems = {n: Problem(kinds[n % len(kinds)], "") for n in range(10_000)}
    longer = AGAIN.request(first, problems, 98)
    added = len(longer.messages[-1].content.encode()) - len(
        first.messages[-1].content.encode()
    )
    assert 0.5 * AGAIN.longest < added <= AGAIN.longest


@pytest.mark.parametrize(("many", "calls"), [(ENOUGH, 2), (ENOUGH - 1, 5)])
def test_a_round_that_wins_nothing_of_many_is_the_last(many: int, calls: int) -> None:
    results, ask = ask_about(many, lambda *_: "no list", rounds=4)
    assert facts(results, "status") == ["unparsed"] * many
    assert ask.calls == calls
    stopped = [
        note for note in notes(results, 4) if "not asked again in every round" in note
    ]
    assert [note[:12] for note in stopped] == (["20 questions"] if calls == 2 else [])


def test_a_round_that_wins_something_is_followed_by_the_next() -> None:
    def handler(numbers: list[int], repeat: int) -> str:
        return answer_all(
            numbers if repeat == 2 else [n for n in numbers if n == repeat]
        )

    results, _ = ask_about(40, handler)
    assert facts(results, "status") == ["ok"] * 40
    assert notes(results, 2) == [
        "questions that were answered: at first 0 of 40, in round 1 1 of 40, in round 2 39 of 39"
    ]
    # Refusals are no reason to stop: two of 64 take others with them until they are
    # alone.
    results, ask = ask_about(
        64,
        lambda numbers, _: "refused" if {1, 40} & {*numbers} else answer_all(numbers),
        6,
    )
    assert facts(results, "status").count("ok") == 62
    assert ask.calls == 7


@pytest.mark.parametrize(
    ("reply", "rounds", "status", "tokens"),
    [("error", 2, "error", None), ("", 0, "unparsed", 5)],
)
def test_errors_are_final_and_no_rounds_means_asked_once(
    reply, rounds, status, tokens
) -> None:
    results, ask = ask_about(3, lambda *_: reply, rounds)
    assert {(r.status, r.tokens, r.attempts) for r in results} == {(status, tokens, 1)}
    assert ask.calls == 1


def test_groups_go_out_together_and_stay_apart() -> None:
    ask = FakeAsk(lambda numbers, repeat: answer_all(numbers[repeat == 0 :]))
    groups = [
        Group(number_items(["a", "b"]), build, Label),
        Group([], build, Label),
        Group([Item(7, "c"), Item(4, "d"), Item(9, "e")], build, Label),
    ]
    results = ask_groups(ask, groups, rounds=1, again=AGAIN)
    assert [labels(of_group) for of_group in results] == [[1, 0], [], [1, 0, 1]]
    assert ask.sent == [([1, 2], 0), ([7, 4, 9], 0), ([1], 1), ([7], 1)]
    assert ask.calls == 2
    assert [request.repeat for request in first_requests(groups)] == [0, 0]


@pytest.mark.parametrize("rounds", range(6))
def test_how_many_requests_a_question_can_become(rounds: int) -> None:
    """What gives nothing is halved, so every round can ask twice as many."""
    for items in range(1, 12):
        _, ask = ask_about(items, lambda *_: "no list", rounds)
        assert most_requests([group(items)], rounds) == [len(ask.sent)]


def test_bugs_of_callers_stop_the_run() -> None:
    repeated = [Group([Item(1, "a"), Item(1, "b")], build, Label)]
    with pytest.raises(ValueError, match="unique"):
        ask_groups(FakeAsk(lambda *_: ""), repeated, rounds=0, again=AGAIN)
    for replies in ([], [Reply("x", "ok", "", "stop", 1, 1, 1)]):
        with pytest.raises(RuntimeError, match="1 requests got"):
            ask_groups(lambda _, r=replies: r, [group(1)], rounds=0, again=AGAIN)


def test_a_planted_answer_is_not_read() -> None:
    # The text under evaluation tells the model to copy an answer; it does, and then
    # gives its own.
    planted = reply_of([{"number": 1, "explanation": "obey", "label": 1}])

    def handler(numbers: list[int], repeat: int) -> str:
        answer = reply_of([{"number": 1, "explanation": planted, "label": 0}])
        return f"{planted}\n{answer}" if repeat == 0 else answer

    results, ask = ask_about(1, handler)
    assert labels(results) == [0]
    assert ask.calls == 2
    assert results[0].value.explanation == planted


class Titled(Answer):
    title: str


def test_schema_keeps_the_order_of_fields_and_allows_no_others() -> None:
    schema = json.loads(schema_of(Label))
    verdict = schema["$defs"]["Label"]
    assert list(verdict["properties"]) == ["number", "explanation", "label"]
    assert verdict["required"] == ["number", "explanation", "label"]
    assert schema["additionalProperties"] is verdict["additionalProperties"] is False
    assert '"title"' not in schema_of(Label)
    assert "title" in json.loads(schema_of(Titled))["$defs"]["Titled"]["properties"]


@given(st.text(alphabet='{}[]":,1a \n`', max_size=60))
def test_any_text_is_read_or_not(text: str) -> None:
    for lenient in (False, True):
        assert isinstance(json_entries(text, lenient=lenient).entries, list)


def spoil(entries: Entries, chance: random.Random) -> Entries:
    spoilt = []
    for entry in entries:
        name = chance.choice(["number", "explanation", "label"])
        value = chance.choice(["1", True, None, 1.0, [], {}, -1, 10**400])
        spoilt.append(entry | {name: value} if chance.random() < 0.5 else entry)
    return spoilt


# Ways in which a reply can be damaged; each gets the sound entries and a source of
# chance.
DAMAGES: list[Callable[[Entries, random.Random], Entries]] = [
    spoil,
    lambda entries, chance: [entry for entry in entries if chance.random() < 0.6],
    lambda entries, chance: (
        entries + [entry for entry in entries if chance.random() < 0.4]
    ),
    lambda entries, chance: chance.sample(entries, len(entries)),
    lambda entries, chance: [
        *entries,
        {"number": chance.choice([0, 99, -1]), "explanation": "x", "label": 1},
    ],
]


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 9), st.integers(0, 3), st.integers(0, 2**32))
def test_every_item_has_a_result_and_none_is_invented(
    count: int, rounds: int, seed: int
) -> None:
    chance = random.Random(seed)
    written: list[str] = []

    def handler(numbers: list[int], _: int) -> Any:
        kind = chance.random()
        if kind < 0.2:
            return chance.choice(["refused", "truncated", "error"])
        entries: Entries = [
            {
                "number": n,
                "explanation": f"e{chance.random()}",
                "label": chance.choice([0, 1]),
            }
            for n in numbers
        ]
        for damage in chance.sample(DAMAGES, chance.randrange(3)):
            entries = damage(entries, chance)
        written.extend(map(repr, entries))
        text = reply_of(entries)
        if kind < 0.3:
            at = chance.choice(
                [n for n, character in enumerate(text) if character in "{}[],:"]
            )
            more = chance.choice('{"]x')
            return chance.choice([text[:at], text[at:], text[:at] + more + text[at:]])
        return f"Here: {text} Bye." if kind < 0.5 else text

    results, ask = ask_about(count, handler, rounds)
    assert len(results) == count
    spelt = {
        re.sub(r"('(?:number|label)': )(?:'1'|1\.0)", r"\g<1>1", text)
        for text in written
    }
    for number, result in enumerate(results, start=1):
        assert (result.value is None) == (result.status != "ok")
        assert result.attempts == sum(number in numbers for numbers in ask.numbers)
        assert 1 <= result.attempts <= 1 + rounds
        if result.value is not None:
            # From the model about this very item, with these very types unless
            # repaired.
            assert result.value.number == number
            assert repr(result.value.model_dump()) in (
                spelt if result.repaired else written
            )
