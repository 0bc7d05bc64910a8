"""Answers to numbered items, validated; whatever goes wrong with one item is that item's status.

A value is only ever read from a validated field of the one JSON value in a reply (or the one list
of lines: module `lines`), under the number of an item that was asked about. Nothing is guessed from
prose. What is not in just the form that was asked for is read all the same where it can mean one
thing only (module `repair`), and is then marked as repaired. What cannot be read is asked again, a
bounded number of times, and then has a status. Every item gets exactly one result.
"""

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, Union

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from metassay.llm.again import ENOUGH, Again, Fault
from metassay.llm.json_value import only_json
from metassay.llm.messages import Ask, ChatRequest, Reply
from metassay.llm.repair import repaired, whole

Status = Literal["ok", "unparsed", "refused", "truncated", "error"]


class Answer(BaseModel):
    """Base of what is answered about one item: its number, and fields that a subclass adds.

    Fields are asked for in the order in which they are declared, so reasons come before judgments
    where they are declared before them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    number: int


AnyAnswer = TypeVar("AnyAnswer", bound=Answer)


class Item(NamedTuple):
    """One thing asked about: its number, unique among those asked together, and its content."""

    number: int
    content: Any


Build = Callable[[list[Item]], ChatRequest]


class Entries(Protocol):
    """What finds the entries of a reply: in just the form asked for, or leniently in others too."""

    def __call__(self, text: str, *, lenient: bool = False) -> Sequence[Any]:
        """What is said of each item; of a single one maybe without a number, if lenient."""


def json_entries(text: str, *, lenient: bool = False) -> Sequence[Any]:
    """The entries of a reply that is `{"items": [...]}`, or the list alone; none of any other.

    Lenient: the objects with a number, however deep they are; or the only one that there is.
    """
    value = only_json(text, lenient=lenient)
    if lenient:
        return _numbered_objects(value) or _only_object(value)
    if isinstance(value, dict) and list(value) == ["items"]:
        value = value["items"]
    return value if isinstance(value, list) else []


def _numbered_objects(value: Any) -> list[Any]:
    found, left = [], [value]
    while left:
        one = left.pop()
        if isinstance(one, dict) and "number" in one:
            found.append(one)
        elif isinstance(one, dict | list):
            inside = list(one.values() if isinstance(one, dict) else one)
            left += reversed(inside)
    return found


def _only_object(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = value.get("items", value)
    listed = value if isinstance(value, list) else [value]
    return listed if len(listed) == 1 and isinstance(listed[0], dict) else []


@dataclass(frozen=True)
class Group(Generic[AnyAnswer]):
    """Items that may be asked about in one request, which `build` makes of all or some of them.

    `entries` finds in a reply what is said of each item: mappings with its `number` and the fields
    of `answer`, by which they are validated; or by those of `own`, of items that have one there.
    """

    items: Sequence[Item]
    build: Build
    answer: type[AnyAnswer]
    entries: Entries = json_entries
    own: Mapping[int, type[AnyAnswer]] = field(default_factory=dict)


@dataclass(frozen=True)
class ItemResult(Generic[AnyAnswer]):
    """What came of one item; `value` is None unless status is ok.

    `attempts` counts the requests that asked about it, whether the ledger had their answers or not.
    `tokens` is its share of the tokens of these requests, prompt and answer, as far as the endpoint
    reported them: the shares of a request's items add up to it. None if none was reported.
    `repaired`: the answer was not in just the form that was asked for. `reply` is the one that
    answered it, None if none did.
    """

    status: Status
    value: AnyAnswer | None
    attempts: int
    tokens: int | None
    repaired: bool = False
    reply: Reply | None = field(default=None, compare=False, repr=False)


@dataclass
class _State(Generic[AnyAnswer]):
    """What is known of one item so far."""

    status: Status = "unparsed"
    value: AnyAnswer | None = None
    attempts: int = 0
    tokens: int | None = None
    repaired: bool = False
    reply: Reply | None = None


class _Batch(NamedTuple):
    """Items of one group that go into one request; of a repeated one what went wrong before."""

    group: int
    items: list[Item]
    status: Status = "ok"
    faults: Mapping[int, Fault | None] = {}


class _Read(NamedTuple, Generic[AnyAnswer]):
    """What a reply gives: answers by number, whether each was repaired, and what else is wrong."""

    answers: dict[int, tuple[AnyAnswer, bool]]
    faults: dict[int, Fault | None]


def numbered(contents: Sequence[Any]) -> list[Item]:
    """Items numbered from 1."""
    return [Item(number, content) for number, content in enumerate(contents, start=1)]


@functools.lru_cache(maxsize=256)  # pydantic takes a millisecond, and a judge asks thousands
def schema_of(*item_models: type[Answer]) -> str:
    """JSON schema of a reply about items of such a model, or of one of several: `{"items": [...]}`.

    As compact JSON. The order of the fields is kept, for models write their answer in the schema's
    order.
    """
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
    others; a reply that gives no item at all (no list, a number nobody asked about, a refusal, cut
    off) is asked about again in two halves, and told what was wrong (`again`). A single item that
    was refused or cut off, and every error, stays what it is: the client has tried again where that
    can help. Once a round has won none of ENOUGH or more items that could not be read, such items
    are not asked about again.

    Raises ValueError if numbers repeat within a group, RuntimeError if `ask` breaks its contract.
    """
    states: list[dict[int, _State[AnyAnswer]]] = [
        {item.number: _State() for item in group.items} for group in groups
    ]
    for group, known in zip(groups, states, strict=True):
        if len(known) != len(group.items):
            raise ValueError("numbers of items must be unique within a group")
    batches = [_Batch(at, list(group.items)) for at, group in enumerate(groups) if group.items]
    for turn in range(1 + rounds):
        left: list[_Batch] = []
        requests = [
            again.request(groups[batch.group].build(list(batch.items)), batch.faults, turn)
            for batch in batches
        ]
        for batch, reply in zip(batches, _replies(ask, requests), strict=True):
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
    return [
        [
            ItemResult(s.status, s.value, s.attempts, s.tokens, s.repaired, s.reply)
            for s in known.values()
        ]
        for known in states
    ]


def first_requests(groups: Sequence[Group[Any]]) -> list[ChatRequest]:
    """The requests that `ask_groups` begins with: what it costs if every answer is sound."""
    return [group.build(list(group.items)) for group in groups if group.items]


def most_requests(groups: Sequence[Group[Any]], rounds: int) -> list[int]:
    """How many requests each of the `first_requests` becomes at most.

    None is longer than it is, but for what `Again` says.

    With every round their number can double, until each is about a single item.
    """
    turns = range(1 + rounds)
    return [
        sum(min(2**turn, len(group.items)) for turn in turns) for group in groups if group.items
    ]


def _replies(ask: Ask, requests: list[ChatRequest]) -> list[Reply]:
    replies = ask(requests) if requests else []
    if [reply.key for reply in replies] != [request.key for request in requests]:
        raise RuntimeError(f"{len(requests)} requests got {len(replies)} replies, or out of order")
    return replies


def _take(
    batch: _Batch, reply: Reply, states: dict[int, _State[AnyAnswer]], group: Group[AnyAnswer]
) -> list[_Batch]:
    """Note what a reply says about its items; returns what is to be asked again."""
    answers, faults = _answers(reply, {item.number for item in batch.items}, group)
    status: Status = "unparsed" if reply.status == "ok" else reply.status
    for item, tokens in zip(batch.items, _shares(reply, len(batch.items)), strict=True):
        state = states[item.number]
        state.value, state.repaired = answers.get(item.number, (None, False))
        state.status = status if state.value is None else "ok"
        state.reply = None if state.value is None else reply
        state.attempts += 1
        if tokens is not None:
            state.tokens = (state.tokens or 0) + tokens
    left = [item for item in batch.items if item.number not in answers]
    if not left or status == "error":
        return []
    if len(left) == 1 and status in ("refused", "truncated"):
        return []
    middle = len(left) if answers else (len(left) + 1) // 2
    return [
        _Batch(batch.group, half, status, {item.number: faults.get(item.number) for item in half})
        for half in (left[:middle], left[middle:])
        if half
    ]


def _shares(reply: Reply, count: int) -> list[int | None]:
    counts = [n for n in (reply.prompt_tokens, reply.completion_tokens) if n is not None]
    if not counts:
        return [None] * count
    share, more = divmod(sum(counts), count)
    return [share + (at < more) for at in range(count)]


def _answers(reply: Reply, asked: set[int], group: Group[AnyAnswer]) -> _Read[AnyAnswer]:
    """What a reply gives; what is wrong is None where the model is to be told nothing."""
    if reply.status != "ok" or reply.text is None:
        known: Mapping[str, Fault] = {"truncated": "truncated", "ok": "form"}
        return _Read({}, dict.fromkeys(asked, known.get(reply.status)))
    strict = _read(reply.text, asked, group)
    if len(strict.answers) == len(asked):
        return strict
    lenient = _read(reply.text, asked, group, lenient=True)
    return _Read(lenient.answers | strict.answers, lenient.faults)


def _read(
    text: str, asked: set[int], group: Group[AnyAnswer], *, lenient: bool = False
) -> _Read[AnyAnswer]:
    """The valid answers; what a reply says of a number twice is none, unless leniently if equal.

    None at all if a number is there that nobody asked about: then the reply numbers the items in
    its own way, and its other numbers cannot be trusted either.
    """
    found: dict[int, list[Any]] = {}
    entries = [e for e in group.entries(text, lenient=lenient) if isinstance(e, dict)]
    alone = min(asked) if lenient and len(asked) == len(entries) == 1 else None
    for entry in entries:
        number = whole(entry.get("number", alone))
        if number is not None:
            found.setdefault(number, []).append(entry | {"number": number} if lenient else entry)
    if not found.keys() <= asked:
        return _Read({}, dict.fromkeys(asked, "numbers"))
    answers: dict[int, tuple[AnyAnswer, bool]] = {}
    faults: dict[int, Fault | None] = dict.fromkeys(asked, "missing" if found else "form")
    for number, said in found.items():
        model = group.own.get(number, group.answer)
        values = [_valid(repaired(one, model) if lenient else one, model) for one in said]
        several = len(values) > 1 and not (lenient and all(v == values[0] for v in values))
        faults[number] = "twice" if several else "value"
        if not several and values[0] is not None:
            answers[number] = (values[0], lenient)
    return _Read(answers, faults)


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
        return all(_alike(one, other) for one, other in zip(read, said, strict=False))
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
