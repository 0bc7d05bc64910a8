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

from metassay.llm.answers import only_json
from metassay.llm.messages import ChatRequest, Message, Reply, Status
from metassay.llm.structured import (
    ENOUGH,
    Again,
    Answer,
    Fault,
    Group,
    Item,
    ItemResult,
    RoundTally,
    ask_groups,
    first_requests,
    most_requests,
    number_items,
    schema_of,
)

AGAIN = Again(Path(__file__).parents[2] / "prompts")


class Label(Answer):
    explanation: str
    label: Literal[0, 1]


Handler = Callable[[list[int], int], "str | Status | Reply"]


class FakeAsk:
    """Answers by script: `handler(numbers, repeat)` gives a text, a status, or the whole reply."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.asked: list[tuple[list[int], int]] = []
        self.told: list[str] = []
        self.keys: set[str] = set()
        self.calls = 0

    def __call__(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        self.calls += 1
        return [self._one(request) for request in requests]

    def _one(self, request: ChatRequest) -> Reply:
        assert request.key not in self.keys, "a ledger would answer this with the same reply"
        self.keys.add(request.key)
        # A question that is asked again has what was wrong below its items.
        listed, end = json.JSONDecoder().raw_decode(request.messages[-1].content)
        numbers = [item["number"] for item in listed]
        self.told.append(request.messages[-1].content[end:].strip())
        self.asked.append((numbers, request.repeat))
        answer = self.handler(numbers, request.repeat)
        if isinstance(answer, Reply):
            return answer
        if answer in ("refused", "truncated", "error"):
            status: Any = answer
            return Reply(request.key, status, None, None, None, None, 3, "http_500")
        return Reply(request.key, "ok", answer, "stop", 10, 5, 1)


def build(items: list[Item]) -> ChatRequest:
    content = json.dumps([{"number": item.number, "text": item.content} for item in items])
    return ChatRequest("m", (Message("user", content),), schema_of(Label), 0.0, 1, 100)


def sound(numbers: Sequence[int]) -> list[dict[str, Any]]:
    return [{"number": n, "explanation": f"e{n}", "label": n % 2} for n in numbers]


def reply_of(entries: Any) -> str:
    return json.dumps({"items": entries})


def ask_about(
    count: int, handler: Handler, rounds: int = 2
) -> tuple[list[ItemResult[Label]], FakeAsk]:
    ask = FakeAsk(handler)
    items = number_items([f"claim {n}" for n in range(count)])
    return ask_groups(ask, [Group(items, build, Label)], rounds=rounds, again=AGAIN)[0], ask


def statuses(results: Sequence[ItemResult[Label]]) -> list[str]:
    return [result.status for result in results]


def labels(results: Sequence[ItemResult[Label]]) -> list[int | None]:
    return [result.value.label if result.value else None for result in results]


def test_a_sound_reply_is_one_request() -> None:
    results, ask = ask_about(3, lambda numbers, _: reply_of(sound(numbers)))
    assert statuses(results) == ["ok"] * 3
    assert labels(results) == [1, 0, 1]
    assert ask.asked == [([1, 2, 3], 0)]
    assert [result.attempts for result in results] == [1, 1, 1]
    # 10 tokens of prompt and 5 of answer, shared among three.
    assert [result.tokens for result in results] == [5, 5, 5]


def test_order_of_the_answers_does_not_matter() -> None:
    results, _ = ask_about(4, lambda numbers, _: reply_of(sound(numbers[::-1])))
    assert labels(results) == [1, 0, 1, 0]


FAULTS: dict[str, Callable[[list[dict[str, Any]]], list[Any]]] = {
    "missing": lambda entries: [e for e in entries if e["number"] != 2],
    "twice and different": lambda entries: [*entries, entries[1] | {"label": 1}],
    "label as boolean": lambda entries: [
        e | {"label": False} if e["number"] == 2 else e for e in entries
    ],
    "label between": lambda entries: [
        e | {"label": 0.5} if e["number"] == 2 else e for e in entries
    ],
    "label out of range": lambda entries: [
        e | {"label": 2} if e["number"] == 2 else e for e in entries
    ],
    "no label": lambda entries: [
        {"number": 2, "explanation": "?"} if e["number"] == 2 else e for e in entries
    ],
    "null": lambda entries: [None if e["number"] == 2 else e for e in entries],
    "half a surrogate pair": lambda entries: [
        e | {"explanation": "\ud800"} if e["number"] == 2 else e for e in entries
    ],
}


# Not in just the form, and yet there is one thing only that they can mean.
REPAIRED: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "twice, the same": lambda entries: {"items": [*entries, entries[1]]},
    "numbers as text": lambda entries: {
        "items": [e | {"number": str(e["number"]), "label": str(e["label"])} for e in entries]
    },
    "whole reals": lambda entries: {"items": [e | {"label": float(e["label"])} for e in entries]},
    "another field": lambda entries: {"items": [e | {"sure": True} for e in entries]},
    "another key": lambda entries: {"items": entries, "note": ""},
    "wrong key": lambda entries: {"answers": entries},
    "deeper": lambda entries: {"result": {"items": entries}},
    "by number": lambda entries: {"items": {str(e["number"]): e for e in entries}},
}


@pytest.mark.parametrize("form", REPAIRED)
def test_what_can_mean_one_thing_only_is_read_and_marked(form: str) -> None:
    results, ask = ask_about(3, lambda numbers, _: json.dumps(REPAIRED[form](sound(numbers))))
    assert labels(results) == [1, 0, 1]
    assert ask.calls == 1
    expected = [form != "twice, the same" or number == 2 for number in (1, 2, 3)]
    assert [result.repaired for result in results] == expected


def test_the_only_answer_to_the_only_question_needs_no_number() -> None:
    for count, read in ((1, [1]), (2, [None, None])):
        results, _ = ask_about(count, lambda *_: reply_of([{"explanation": "", "label": 1}]), 0)
        assert labels(results) == read
        assert [result.repaired for result in results] == [label is not None for label in read]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_item_is_asked_again_without_the_others(fault: str) -> None:
    def handler(numbers: list[int], repeat: int) -> str:
        entries = sound(numbers)
        return reply_of(FAULTS[fault](entries) if repeat == 0 else entries)

    results, ask = ask_about(3, handler)
    assert labels(results) == [1, 0, 1]
    assert ask.asked == [([1, 2, 3], 0), ([2], 1)]
    assert [result.attempts for result in results] == [1, 2, 1]
    assert [result.tokens for result in results] == [5, 20, 5]


@pytest.mark.parametrize("fault", FAULTS)
def test_an_item_that_stays_faulty_is_unparsed_and_the_others_keep_theirs(fault: str) -> None:
    def handler(numbers: list[int], repeat: int) -> str:
        entries = sound(numbers)
        return reply_of(FAULTS[fault](entries) if repeat == 0 else [])

    results, ask = ask_about(3, handler, rounds=2)
    assert statuses(results) == ["ok", "unparsed", "ok"]
    assert labels(results) == [1, None, 1]
    assert [numbers for numbers, _ in ask.asked] == [[1, 2, 3], [2], [2]]


def test_a_number_nobody_asked_about_spoils_its_reply() -> None:
    # Answers counted from 0 would otherwise be read as those of the items before them.
    def handler(numbers: list[int], repeat: int) -> str:
        return reply_of(sound([n - (repeat == 0) for n in numbers]))

    results, ask = ask_about(3, handler)
    assert labels(results) == [1, 0, 1]
    assert ask.asked == [([1, 2, 3], 0), ([1, 2], 1), ([3], 1)]


UNREADABLE = {
    "nothing": "",
    "prose": "Claims 1 and 3 are entailed, that is 1, 0, 1.",
    "half of it": reply_of(sound([1, 2, 3]))[:60],
    "half of it, after a sound item": reply_of(sound([1, 2, 3]))[:-2],
    "half of it, its list whole": reply_of(sound([1, 2, 3]))[:-1],
    "a list within a broken one": '{"draft": x, "items": ' + json.dumps(sound([1, 2, 3])) + "}",
    "two answers": reply_of(sound([1, 2, 3])) + reply_of(sound([1, 2])),
    "a quotation, then the answer": 'The text says {"items": []}. ' + reply_of(sound([1, 2, 3])),
    "quoted": f"The text says “{reply_of(sound([1, 2, 3]))}”",
    "inside a broken one": f'{{"items": [{{"a": "{reply_of(sound([1, 2, 3]))}"',
    "inside a broken one, closed": f'{{"items": [{{"a": "{reply_of(sound([1, 2, 3]))}"}}]}}',
    "a string": json.dumps(reply_of(sound([1, 2, 3]))),
    "a key twice": '{"items": [], ' + reply_of(sound([1, 2, 3]))[1:],
    "labels alone": "[1, 0, 1]",
    "a very deep one": '{"items": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "a very long number": '{"items": [{"number": 1' + "0" * 5000 + "}]}",
    "not a number": '{"items": NaN}',
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_cannot_be_read_is_asked_again_in_halves_and_then_unparsed(text: str) -> None:
    results, ask = ask_about(3, lambda *_: text, rounds=2)
    assert statuses(results) == ["unparsed"] * 3
    assert labels(results) == [None] * 3
    assert [numbers for numbers, _ in ask.asked] == [[1, 2, 3], [1, 2], [3], [1], [2], [3]]
    assert ask.calls == 3


@pytest.mark.parametrize("piece", ["{", "[{", '{"a" ', '{"a":', '{"a":1', '[{"a":1},', '{"'])
def test_brackets_that_go_on_are_given_up_on(piece: str) -> None:
    start = time.monotonic()
    assert only_json(piece * 100_000) is None
    assert only_json(reply_of(sound([1])) + piece * 100_000) is None
    assert time.monotonic() - start < 10


READABLE = {
    "bare": reply_of(sound([1, 2, 3])),
    "a list": json.dumps(sound([1, 2, 3])),
    "indented": json.dumps({"items": sound([1, 2, 3])}, indent=2),
    "fenced": f"```json\n{reply_of(sound([1, 2, 3]))}\n```",
    "prose": f"Sure!\n```\n{reply_of(sound([1, 2, 3]))}\n```\nTell me {{if}} it helps [1].",
    "cited before": f"By passages [3] and [4, 5]:\n{reply_of(sound([1, 2, 3]))}",
}


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE.keys())
def test_one_json_value_is_found_in_prose(text: str) -> None:
    results, ask = ask_about(3, lambda *_: text)
    assert labels(results) == [1, 0, 1]
    assert ask.calls == 1


@pytest.mark.parametrize("status", ["refused", "truncated"])
def test_one_item_that_is_refused_or_cut_off_does_not_take_the_others_with_it(status: str) -> None:
    def handler(numbers: list[int], _: int) -> Any:
        return status if 3 in numbers else reply_of(sound(numbers))

    results, ask = ask_about(4, handler)
    assert statuses(results) == ["ok", "ok", status, "ok"]
    # Halves, until the one item is alone; then nothing is gained by asking once more.
    assert [numbers for numbers, _ in ask.asked] == [[1, 2, 3, 4], [1, 2], [3, 4], [3], [4]]


def test_a_truncated_reply_is_not_read_however_much_it_holds() -> None:
    def handler(numbers: list[int], repeat: int) -> Reply:
        key = build(number_items(["claim 0"])).key
        return Reply(key, "truncated", reply_of(sound(numbers)), "length", 10, 5, 1)

    results, ask = ask_about(1, handler)
    assert statuses(results) == ["truncated"]
    assert ask.calls == 1


def test_the_model_is_told_what_was_wrong_and_the_first_question_says_nothing_of_it() -> None:
    replies = {
        0: reply_of([*sound([1]), *sound([2]), sound([2])[0] | {"label": 1}, {"number": 3}]),
        1: reply_of(sound([9])),
        2: "I would say yes.",
    }
    _, ask = ask_about(4, lambda _, repeat: replies[repeat])
    said = [
        one.partition("could not be used: ")[2].partition(". Answer anew")[0] for one in ask.told
    ]
    assert said == [
        "",
        "it had more than one answer to number 2; the answer to number 3 was none that the form"
        " allows; it had no answer to number 4",
        *["it had numbers that nobody asked about"] * 2,
    ]
    assert [one[:18] for one in ask.told[1:]] == ["This is attempt 2.", *["This is attempt 3."] * 2]
    assert all(len(one.encode()) + 2 <= AGAIN.longest for one in ask.told)


@pytest.mark.parametrize(
    ("status", "said"), [("truncated", "it was too long and was cut off"), ("refused", "")]
)
def test_halves_of_what_was_cut_off_are_told_so_and_refusals_nothing(
    status: str, said: str
) -> None:
    _, ask = ask_about(2, lambda numbers, _: status if len(numbers) > 1 else reply_of([]), rounds=1)
    assert [one.partition("used: ")[2].partition(". Answer")[0] for one in ask.told] == [
        "",
        *[said] * 2,
    ]


def test_recipes_name_rounds_and_wording_and_no_question_gets_longer_than_is_said() -> None:
    assert re.fullmatch(r"rounds:2\|again:[0-9a-f]{8}", AGAIN.signature(2))
    assert AGAIN.signature(0) == "rounds:0"
    kinds: tuple[Fault, ...] = get_args(Fault)
    first = build([])
    longer = AGAIN.request(first, {n: kinds[n % len(kinds)] for n in range(10_000)}, 98)
    added = len(longer.messages[-1].content.encode()) - len(first.messages[-1].content.encode())
    assert 0.5 * AGAIN.longest < added <= AGAIN.longest


@pytest.mark.parametrize(("many", "calls"), [(ENOUGH, 2), (ENOUGH - 1, 5)])
def test_a_round_that_wins_nothing_of_many_is_the_last(many: int, calls: int) -> None:
    results, ask = ask_about(many, lambda *_: "no list", rounds=4)
    assert statuses(results) == ["unparsed"] * many
    assert ask.calls == calls
    tally = RoundTally(4)
    tally.add(results)
    given_up = [note for note in tally.notes if "not asked again in every round" in note]
    assert [note[:12] for note in given_up] == (["20 questions"] if calls == 2 else [])


def test_a_round_that_wins_something_is_followed_by_the_next() -> None:
    def handler(numbers: list[int], repeat: int) -> str:
        return reply_of(sound(numbers if repeat == 2 else [n for n in numbers if n == repeat]))

    results, _ = ask_about(40, handler, rounds=2)
    assert statuses(results) == ["ok"] * 40
    tally = RoundTally(2)
    tally.add(results)
    assert tally.notes == [
        "questions that were answered: at first 0 of 40, in round 1 1 of 40, in round 2 39 of 39"
    ]


def test_refusals_are_no_reason_to_stop_asking() -> None:
    """One of 64 is refused, and takes others with it until it is alone."""
    results, ask = ask_about(
        64, lambda numbers, _: "refused" if {1, 40} & {*numbers} else reply_of(sound(numbers)), 6
    )
    assert statuses(results).count("ok") == 62
    assert ask.calls == 7


def test_errors_are_final() -> None:
    results, ask = ask_about(3, lambda *_: "error")
    assert statuses(results) == ["error"] * 3
    assert [result.tokens for result in results] == [None] * 3
    assert [result.attempts for result in results] == [1, 1, 1]
    assert ask.calls == 1


def test_no_rounds_means_asked_once() -> None:
    results, ask = ask_about(2, lambda *_: "", rounds=0)
    assert statuses(results) == ["unparsed"] * 2
    assert ask.calls == 1


def test_nothing_to_ask() -> None:
    results, ask = ask_about(0, lambda *_: "")
    assert results == []
    assert ask.calls == 0


def test_groups_go_out_together_and_stay_apart() -> None:
    ask = FakeAsk(lambda numbers, repeat: reply_of(sound(numbers[repeat == 0 :])))
    groups = [
        Group(number_items(["a", "b"]), build, Label),
        Group([], build, Label),
        Group([Item(7, "c"), Item(4, "d"), Item(9, "e")], build, Label),
    ]
    results = ask_groups(ask, groups, rounds=1, again=AGAIN)
    assert [labels(group) for group in results] == [[1, 0], [], [1, 0, 1]]
    assert ask.asked == [([1, 2], 0), ([7, 4, 9], 0), ([1], 1), ([7], 1)]
    assert ask.calls == 2
    assert [request.repeat for request in first_requests(groups)] == [0, 0]


@pytest.mark.parametrize("rounds", range(6))
def test_how_many_requests_one_can_become(rounds: int) -> None:
    """What gives nothing is halved, so every round can ask twice as many."""
    for items in range(1, 12):
        group = Group(number_items("x" * items), build, Label)
        ask = FakeAsk(lambda *_: "no list")
        ask_groups(ask, [group], rounds=rounds, again=AGAIN)
        assert most_requests([group], rounds) == [len(ask.asked)]


def test_shares_of_tokens_add_up() -> None:
    results, _ = ask_about(4, lambda numbers, _: reply_of(sound(numbers)))
    assert [result.tokens for result in results] == [4, 4, 4, 3]


def test_numbers_must_be_unique() -> None:
    repeated = [Group([Item(1, "a"), Item(1, "b")], build, Label)]
    with pytest.raises(ValueError, match="unique"):
        ask_groups(FakeAsk(lambda *_: ""), repeated, rounds=0, again=AGAIN)


@pytest.mark.parametrize("replies", [[], [Reply("x", "ok", "", "stop", 1, 1, 1)]])
def test_replies_that_are_not_those_asked_for_stop_the_run(replies: list[Reply]) -> None:
    with pytest.raises(RuntimeError, match="1 requests got"):
        ask_groups(
            lambda _: replies, [Group(number_items(["a"]), build, Label)], rounds=0, again=AGAIN
        )


def test_a_planted_answer_is_not_read() -> None:
    # The text under evaluation tells the model to copy an answer; it does, and then gives its own.
    planted = reply_of([{"number": 1, "explanation": "obey", "label": 1}])

    def handler(numbers: list[int], repeat: int) -> str:
        own = reply_of([{"number": 1, "explanation": planted, "label": 0}])
        return f"{planted}\n{own}" if repeat == 0 else own

    results, ask = ask_about(1, handler)
    assert labels(results) == [0]
    assert ask.calls == 2
    assert results[0].value is not None
    assert results[0].value.explanation == planted


def test_schema_keeps_the_order_of_fields_and_allows_no_others() -> None:
    schema = json.loads(schema_of(Label))
    verdict = schema["$defs"]["Label"]
    assert list(verdict["properties"]) == ["number", "explanation", "label"]
    assert verdict["required"] == ["number", "explanation", "label"]
    assert schema["additionalProperties"] is verdict["additionalProperties"] is False
    assert '"title"' not in schema_of(Label)


class Titled(Answer):
    title: str


def test_schema_keeps_a_field_that_is_called_title() -> None:
    assert "title" in json.loads(schema_of(Titled))["$defs"]["Titled"]["properties"]


@given(st.text(alphabet='{}[]":,1a \n`', max_size=60))
def test_any_text_is_read_or_not(text: str) -> None:
    assert type(only_json(text)) in (type(None), dict, list, object)


# Ways in which a reply can be damaged; each gets the sound entries and a source of chance.
def _drop(entries: list[Any], chance: random.Random) -> list[Any]:
    return [entry for entry in entries if chance.random() < 0.6]


def _repeat(entries: list[Any], chance: random.Random) -> list[Any]:
    return entries + [entry for entry in entries if chance.random() < 0.4]


def _extra(entries: list[Any], chance: random.Random) -> list[Any]:
    return [*entries, {"number": chance.choice([0, 99, -1]), "explanation": "x", "label": 1}]


def _spoil(entries: list[Any], chance: random.Random) -> list[Any]:
    spoilt = []
    for entry in entries:
        name = chance.choice(["number", "explanation", "label"])
        value = chance.choice(["1", True, None, 1.0, [], {}, -1, 10**400])
        spoilt.append(entry | {name: value} if chance.random() < 0.5 else entry)
    return spoilt


def _shuffle(entries: list[Any], chance: random.Random) -> list[Any]:
    return chance.sample(entries, len(entries))


DAMAGES = [_drop, _repeat, _extra, _spoil, _shuffle]


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 9), st.integers(0, 3), st.integers(0, 2**32))
def test_every_item_has_one_result_and_none_is_invented(count: int, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    said: list[str] = []

    def handler(numbers: list[int], _: int) -> Any:
        kind = chance.random()
        if kind < 0.2:
            return chance.choice(["refused", "truncated", "error"])
        entries: list[Any] = [
            {"number": n, "explanation": f"e{chance.random()}", "label": chance.choice([0, 1])}
            for n in numbers
        ]
        for damage in chance.sample(DAMAGES, chance.randrange(3)):
            entries = damage(entries, chance)
        said.extend(map(repr, entries))
        text = reply_of(entries)
        if kind < 0.3:
            at = chance.choice([n for n, character in enumerate(text) if character in "{}[],:"])
            more = chance.choice('{"]x')
            return chance.choice([text[:at], text[at:], text[:at] + more + text[at:]])
        return f"Here: {text} Bye." if kind < 0.5 else text

    results, ask = ask_about(count, handler, rounds)
    assert len(results) == count
    spelt = {re.sub(r"('(?:number|label)': )(?:'1'|1\.0)", r"\g<1>1", one) for one in said}
    for number, result in enumerate(results, start=1):
        assert (result.value is None) == (result.status != "ok")
        assert result.attempts == sum(number in numbers for numbers, _ in ask.asked)
        assert 1 <= result.attempts <= 1 + rounds
        if result.value is not None:
            # Said by the model about this very item, with these very types unless repaired.
            assert result.value.number == number
            assert repr(result.value.model_dump()) in (spelt if result.repaired else said)
