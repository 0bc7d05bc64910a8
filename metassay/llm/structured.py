"""Answers to numbered items, validated; whatever goes wrong with one item is that item's status.

A value is only ever read from a validated field under the number of an item that was asked about.
What is not in just the form that was asked for is read where it can mean one thing only, marked as
repaired. What cannot be read is asked again a bounded number of times, with what was wrong, at the
end of the user's message: at temperature 0 the same question has the same answer.
"""

import functools
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeVar, Union

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from metassay.llm.answers import only_json, repair, whole
from metassay.llm.messages import Ask, ChatRequest, Reply, Status, replies_to
from metassay.llm.prompts import PROMPTS, Kind, file_of, load, render

# A round that wins none of so many wins less than 14 % with 95 % confidence: the next is not asked.
ENOUGH = 20

Fault = Literal["form", "numbers", "missing", "twice", "value", "truncated"]
Faults = Mapping[int, Fault | None]  # by number; None where the model is to be told nothing
ItemStatus = Status | Literal["unparsed"]
AGAIN_FILLED: Mapping[str, Kind] = {"fault": "text", "attempt": "text"}
AGAIN_FILE = file_of("answer-again")

_NAMED = 10  # numbers that a fault names
_SAID: Mapping[Fault, str] = {
    "form": "it was not in the form that is asked for",
    "numbers": "it had numbers that nobody asked about",
    "missing": "it had no answer to number {}",
    "twice": "it had more than one answer to number {}",
    "value": "the answer to number {} was none that the form allows",
    "truncated": "it was too long and was cut off",
}


class Again:
    """How a question is asked again, in the words of prompts/answer-again.yaml."""

    def __init__(self, prompts: Path = PROMPTS) -> None:
        """BadInput if the prompt is not usable."""
        self._prompt = load(AGAIN_FILE.stem, prompts, filled=AGAIN_FILLED)

    def signature(self, rounds: int) -> str:
        """Rounds and wording as recipes print them."""
        said = [message.content for message in self._prompt.text] + [*_SAID.values()]
        digest = hashlib.sha256("\n".join(said).encode("utf-8")).hexdigest()[:8]
        return f"rounds:{rounds}" + (f"|again:{digest}" if rounds else "")

    def request(self, first: ChatRequest, faults: Faults, turn: int) -> ChatRequest:
        """The question for the round `turn`, with what was wrong; with a key of its own."""
        by_fault: dict[Fault, list[int]] = {}
        for number, fault in faults.items():
            if fault is not None:
                by_fault.setdefault(fault, []).append(number)
        if not by_fault:
            return replace(first, repeat=turn)
        said = "; ".join(_SAID[fault].format(_listed(own)) for fault, own in by_fault.items())
        *before, last = first.messages
        longer = replace(last, content=last.content + self._added(said, turn + 1))
        return replace(first, messages=(*before, longer), repeat=turn)

    def _added(self, fault: str, attempt: int) -> str:
        return f"\n\n{render(self._prompt, fault=fault, attempt=attempt)[-1].content}"

    @property
    def longest(self) -> int:
        """How many bytes a question gets longer by at most."""
        fault = "; ".join(_SAID.values()) + 3 * _NAMED * "10000, " + 3 * " and 10000 more"
        return len(self._added(fault, 100).encode())


def _listed(numbers: Sequence[int]) -> str:
    named = ", ".join(map(str, numbers[:_NAMED]))
    more = len(numbers) - _NAMED
    return f"{named} and {more} more" if more > 0 else named


class RoundTally:
    """Counts what each round of asking won, and how many answers were repaired."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self._results: Counter[tuple[int, str, bool]] = Counter()  # attempts, status, repaired

    def add(self, results: "Iterable[ItemResult[Any]]") -> None:
        """Count results of `ask_groups`."""
        self._results.update((one.attempts, one.status, one.repaired) for one in results)

    @property
    def notes(self) -> list[str]:
        """What there is to say; nothing if every answer came at once, in just the form."""
        asked, won = Counter[int](), Counter[int]()
        given_up = repaired = 0
        for (attempts, status, was_repaired), number in self._results.items():
            asked.update(dict.fromkeys(range(attempts), number))
            won[attempts - 1] += number * (status == "ok")
            given_up += number * (status == "unparsed" and attempts <= self._rounds)
            repaired += number * was_repaired
        lines = []
        if len(asked) > 1:
            each = ", ".join(
                f"{f'in round {turn}' if turn else 'at first'} {won[turn]:,} of {number:,}"
                for turn, number in sorted(asked.items())
            )
            lines.append(f"questions that were answered: {each}")
        if given_up:
            lines.append(
                f"{given_up:,} questions were not asked again in every round, since a round"
                f" in which {ENOUGH} or more were asked again won none"
            )
        if repaired:
            lines.append(
                f"{repaired:,} of {won.total():,} answers were not in just the form"
                " that was asked for, and were read all the same (repaired)"
            )
        return lines


class Answer(BaseModel):
    """Base of what is answered about one item: its number, and fields that a subclass adds.

    They are asked for in their order, so declare reasons before judgments.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    number: int


AnyAnswer = TypeVar("AnyAnswer", bound=Answer)


class Item(NamedTuple):
    """One thing asked about: its number, unique among those asked together, and its content."""

    number: int
    content: Any


# Finds what a reply says of each item: in just the form asked for, or if `lenient` in others, too,
# and of a single item maybe without a number. Called as entries(text, lenient=True).
Entries = Callable[..., Sequence[Any]]


def json_entries(text: str, *, lenient: bool = False) -> Sequence[Any]:
    """The entries of a reply that is `{"items": [...]}`, or the list alone; none of any other.

    Lenient: the objects with a number, however deep they are; or the only one that there is.
    """
    value = only_json(text, lenient=lenient)
    if lenient and (found := _numbered_objects(value)):
        return found
    if isinstance(value, dict) and (lenient or list(value) == ["items"]):
        value = value.get("items", value)
    if not lenient:
        return value if isinstance(value, list) else []
    listed = value if isinstance(value, list) else [value]
    return listed if len(listed) == 1 and isinstance(listed[0], dict) else []


def _numbered_objects(value: Any) -> list[Any]:
    found, left = [], [value]
    while left:
        part = left.pop()
        if isinstance(part, dict) and "number" in part:
            found.append(part)
        elif isinstance(part, dict | list):
            left += reversed(list(part.values() if isinstance(part, dict) else part))
    return found


@dataclass(frozen=True)
class Group(Generic[AnyAnswer]):
    """Items that may be asked about in one request, which `build` makes of all or some of them.

    `entries` finds in a reply what is said of each item: mappings with its `number` and the fields
    of `answer`, or of the item's model in `own`, by which they are validated.
    """

    items: Sequence[Item]
    build: Callable[[list[Item]], ChatRequest]
    answer: type[AnyAnswer]
    entries: Entries = json_entries
    own: Mapping[int, type[AnyAnswer]] = field(default_factory=dict)


@dataclass(frozen=True)
class ItemResult(Generic[AnyAnswer]):
    """What came of one item; `value` is None unless status is ok.

    `attempts` counts the requests about it, whether the ledger had their answers or not; `tokens`
    is its share of theirs, None if the endpoint reported none. `repaired`: the answer was not in
    just the form that was asked for. `reply` is the one that answered it.
    """

    status: ItemStatus = "unparsed"
    value: AnyAnswer | None = None
    attempts: int = 0
    tokens: int | None = None
    repaired: bool = False
    reply: Reply | None = field(default=None, compare=False, repr=False)


class _Batch(NamedTuple):
    """Items of one group that go into one request; of a repeated one what went wrong before."""

    group: int
    items: list[Item]
    status: ItemStatus = "ok"
    faults: Mapping[int, Fault | None] = {}


# Answers by number, each with whether it was repaired, and what is wrong with the others.
_Read = tuple[dict[int, tuple[AnyAnswer, bool]], dict[int, Fault | None]]


def numbered(contents: Sequence[Any]) -> list[Item]:
    """Items numbered from 1."""
    return [Item(number, content) for number, content in enumerate(contents, start=1)]


@functools.lru_cache(maxsize=256)  # pydantic takes a millisecond, and a judge asks thousands
def schema_of(*item_models: type[Answer]) -> str:
    """JSON schema of a reply about items of these models: `{"items": [...]}`, fields in order."""
    listed: Any = list[Union[item_models]]  # type: ignore[valid-type]  # noqa: UP007 - of a tuple
    model = create_model("Answers", __config__=ConfigDict(extra="forbid"), items=(listed, Field()))
    schema = _without_titles(model.model_json_schema())
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def ask_groups(
    ask: Ask, groups: Sequence[Group[AnyAnswer]], *, rounds: int, again: Again
) -> list[list[ItemResult[AnyAnswer]]]:
    """Ask about the items of many groups, at most 1 + `rounds` times; all groups at once each time.

    Returns one result per item, in the order of groups and items. At first a group is one request.
    Items whose answer is missing, there twice or not valid are asked about again without the
    others; a reply that gives no item at all is asked about again in two halves. A single item that
    was refused or cut off, and every error, stays what it is. Once a round has won none of ENOUGH
    or more items that could not be read, such items are not asked about again.

    Raises ValueError if numbers repeat within a group, RuntimeError if `ask` breaks its contract.
    """
    states: list[dict[int, ItemResult[AnyAnswer]]] = [
        {item.number: ItemResult() for item in group.items} for group in groups
    ]
    if any(len(s) != len(group.items) for group, s in zip(groups, states, strict=True)):
        raise ValueError("numbers of items must be unique within a group")
    batches = [_Batch(at, list(group.items)) for at, group in enumerate(groups) if group.items]
    for turn in range(1 + rounds):
        left: list[_Batch] = []
        requests = [
            again.request(groups[batch.group].build(list(batch.items)), batch.faults, turn)
            for batch in batches
        ]
        for batch, reply in zip(batches, replies_to(ask, requests), strict=True):
            left += _take(batch, reply, states[batch.group], groups[batch.group])
        unread = [
            states[batch.group][item.number]
            for batch in batches
            for item in batch.items
            if batch.status == "unparsed"
        ]
        if len(unread) >= ENOUGH and all(state.value is None for state in unread):
            left = [batch for batch in left if batch.status != "unparsed"]
        batches = left
    return [list(known.values()) for known in states]


def first_requests(groups: Sequence[Group[Any]]) -> list[ChatRequest]:
    """The requests that `ask_groups` begins with: what it costs if every answer is sound."""
    return [group.build(list(group.items)) for group in groups if group.items]


def most_requests(groups: Sequence[Group[Any]], rounds: int) -> list[int]:
    """How many requests each of the `first_requests` becomes at most: rounds double them."""
    counts = [len(group.items) for group in groups if group.items]
    return [sum(min(2**turn, count) for turn in range(1 + rounds)) for count in counts]


def _take(
    batch: _Batch, reply: Reply, states: dict[int, ItemResult[AnyAnswer]], group: Group[AnyAnswer]
) -> list[_Batch]:
    answers, faults = _answers(reply, {item.number for item in batch.items}, group)
    status: ItemStatus = "unparsed" if reply.status == "ok" else reply.status
    counts = [n for n in (reply.prompt_tokens, reply.completion_tokens) if n is not None]
    share, more = divmod(sum(counts), len(batch.items))
    for place, item in enumerate(batch.items):
        before = states[item.number]
        value, was_repaired = answers.get(item.number, (None, False))
        states[item.number] = ItemResult(
            status=status if value is None else "ok",
            value=value,
            attempts=before.attempts + 1,
            tokens=(before.tokens or 0) + share + (place < more) if counts else before.tokens,
            repaired=was_repaired,
            reply=None if value is None else reply,
        )
    left = [item for item in batch.items if item.number not in answers]
    alone = len(left) == 1 and status in ("refused", "truncated")
    if not left or alone or status == "error":
        return []
    middle = len(left) if answers else (len(left) + 1) // 2
    return [
        _Batch(batch.group, half, status, {item.number: faults.get(item.number) for item in half})
        for half in (left[:middle], left[middle:])
        if half
    ]


def _answers(reply: Reply, asked: set[int], group: Group[AnyAnswer]) -> _Read[AnyAnswer]:
    if reply.status != "ok" or reply.text is None:
        known: Mapping[str, Fault] = {"truncated": "truncated", "ok": "form"}
        return {}, dict.fromkeys(asked, known.get(reply.status))
    strict, faults = _read(reply.text, asked, group)
    if len(strict) == len(asked):
        return strict, faults
    lenient, faults = _read(reply.text, asked, group, lenient=True)
    return lenient | strict, faults


def _read(
    text: str, asked: set[int], group: Group[AnyAnswer], *, lenient: bool = False
) -> _Read[AnyAnswer]:
    """The valid answers; none at all if a number is there that nobody asked about."""
    found: dict[int, list[Any]] = {}
    entries = [e for e in group.entries(text, lenient=lenient) if isinstance(e, dict)]
    alone = min(asked) if lenient and len(asked) == len(entries) == 1 else None
    for entry in entries:
        number = whole(entry.get("number", alone))
        if number is not None:
            found.setdefault(number, []).append(entry | {"number": number} if lenient else entry)
    if not found.keys() <= asked:
        return {}, dict.fromkeys(asked, "numbers")
    answers: dict[int, tuple[AnyAnswer, bool]] = {}
    faults: dict[int, Fault | None] = dict.fromkeys(asked, "missing" if found else "form")
    for number, said in found.items():
        model = group.own.get(number, group.answer)
        values = [_valid(repair(entry, model) if lenient else entry, model) for entry in said]
        several = len(values) > 1 and not (lenient and all(v == values[0] for v in values))
        faults[number] = "twice" if several else "value"
        if not several and values[0] is not None:
            answers[number] = (values[0], lenient)
    return answers, faults


def _valid(entry: Any, model: type[AnyAnswer]) -> AnyAnswer | None:
    try:
        answer = model.model_validate(entry)
        # Half a surrogate pair is valid in JSON but in no file.
        json.dumps(entry, ensure_ascii=False, default=str).encode("utf-8")
    except (ValidationError, UnicodeEncodeError):
        return None
    return answer if _alike(answer.model_dump(), entry) else None


def _alike(read: Any, said: Any) -> bool:
    """Whether what was read has the types of what was said: pydantic takes true for Literal[1]."""
    if isinstance(read, dict) and isinstance(said, dict):
        return all(_alike(read[name], value) for name, value in said.items() if name in read)
    if isinstance(read, list) and isinstance(said, list):
        return all(map(_alike, read, said))
    return type(read) is type(said)


def _without_titles(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_titles(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: {key: _without_titles(value) for key, value in entry.items()}
        if name in ("properties", "$defs")
        else _without_titles(entry)
        for name, entry in schema.items()
        if name != "title"
    }
