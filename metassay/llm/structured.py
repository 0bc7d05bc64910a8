"""Answers to numbered items, validated; whatever goes wrong with one item is that item's status.

A value is only ever read from a validated field of the one JSON value in a reply (or the one list
of lines: module `lines`), under the number of an item that was asked about. Nothing is guessed from
prose, and no type is converted: "1" is not 1, and true is not 1. What cannot be read is asked
again, a bounded number of times, and then has a status. Every item gets exactly one result.
"""

import dataclasses
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, TypeVar, Union

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from metassay.llm.json_value import only_json
from metassay.llm.messages import Ask, ChatRequest, Reply

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
Entries = Callable[[str], Sequence[Any]]


def json_entries(text: str) -> Sequence[Any]:
    """The entries of a reply that is `{"items": [...]}`, or the list alone; none of any other."""
    value = only_json(text)
    if isinstance(value, dict) and list(value) == ["items"]:
        value = value["items"]
    return value if isinstance(value, list) else []


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
    """

    status: Status
    value: AnyAnswer | None
    attempts: int
    tokens: int | None


@dataclass
class _State(Generic[AnyAnswer]):
    """What is known of one item so far."""

    status: Status = "unparsed"
    value: AnyAnswer | None = None
    attempts: int = 0
    tokens: int | None = None


class _Batch(NamedTuple):
    """Items of one group that go into one request."""

    group: int
    items: list[Item]


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
    ask: Ask, groups: Sequence[Group[AnyAnswer]], *, rounds: int
) -> list[list[ItemResult[AnyAnswer]]]:
    """Ask about the items of many groups, at most 1 + `rounds` times; all groups at once each time.

    Returns one result per item, in the order of groups and items. At first a group is one request.
    Items whose answer is missing, there twice or not valid are asked about again without the
    others; a reply that gives no item at all (no list, a number nobody asked about, a refusal, cut
    off) is asked about again in two halves. A single item that was refused or cut off, and every
    error, stays what it is: the client has tried again where that can help. Repetitions are
    requests of their own (`repeat`), so that a ledger doesn't answer them with the same reply.

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
        again: list[_Batch] = []
        requests = [_request(groups[batch.group], batch, turn) for batch in batches]
        for batch, reply in zip(batches, _replies(ask, requests), strict=True):
            again += _take(batch, reply, states[batch.group], groups[batch.group])
        batches = again
    return [
        [ItemResult(s.status, s.value, s.attempts, s.tokens) for s in known.values()]
        for known in states
    ]


def first_requests(groups: Sequence[Group[Any]]) -> list[ChatRequest]:
    """The requests that `ask_groups` begins with: what it costs if every answer is sound."""
    return [group.build(list(group.items)) for group in groups if group.items]


def most_requests(groups: Sequence[Group[Any]], rounds: int) -> list[int]:
    """How many requests each of the `first_requests` becomes at most: none longer than it is.

    With every round their number can double, until each is about a single item.
    """
    turns = range(1 + rounds)
    return [
        sum(min(2**turn, len(group.items)) for turn in turns) for group in groups if group.items
    ]


def _request(group: Group[Any], batch: _Batch, turn: int) -> ChatRequest:
    return dataclasses.replace(group.build(list(batch.items)), repeat=turn)


def _replies(ask: Ask, requests: list[ChatRequest]) -> list[Reply]:
    replies = ask(requests) if requests else []
    if [reply.key for reply in replies] != [request.key for request in requests]:
        raise RuntimeError(f"{len(requests)} requests got {len(replies)} replies, or out of order")
    return replies


def _take(
    batch: _Batch, reply: Reply, states: dict[int, _State[AnyAnswer]], group: Group[AnyAnswer]
) -> list[_Batch]:
    """Note what a reply says about its items; returns what is to be asked again."""
    answers = _answers(reply, {item.number for item in batch.items}, group)
    status: Status = "unparsed" if reply.status == "ok" else reply.status
    for item, tokens in zip(batch.items, _shares(reply, len(batch.items)), strict=True):
        state = states[item.number]
        state.value = answers.get(item.number)
        state.status = status if state.value is None else "ok"
        state.attempts += 1
        if tokens is not None:
            state.tokens = (state.tokens or 0) + tokens
    left = [item for item in batch.items if item.number not in answers]
    if not left or status == "error":
        return []
    if len(left) < len(batch.items):
        return [_Batch(batch.group, left)]
    if len(left) == 1:
        return [_Batch(batch.group, left)] if status == "unparsed" else []
    middle = (len(left) + 1) // 2
    return [_Batch(batch.group, left[:middle]), _Batch(batch.group, left[middle:])]


def _shares(reply: Reply, count: int) -> list[int | None]:
    counts = [n for n in (reply.prompt_tokens, reply.completion_tokens) if n is not None]
    if not counts:
        return [None] * count
    share, more = divmod(sum(counts), count)
    return [share + (at < more) for at in range(count)]


def _answers(reply: Reply, asked: set[int], group: Group[AnyAnswer]) -> dict[int, AnyAnswer]:
    """The valid answers by number.

    None at all if a number is there that nobody asked about: then the reply numbers the items in
    its own way, and its other numbers cannot be trusted either.
    """
    if reply.status != "ok" or reply.text is None:
        return {}
    found: dict[int, list[Any]] = {}
    for entry in group.entries(reply.text):
        number = entry.get("number") if isinstance(entry, dict) else None
        if type(number) is int:
            found.setdefault(number, []).append(entry)
    if not found.keys() <= asked:
        return {}
    read = {
        n: _valid(entries[0], group.own.get(n, group.answer))
        for n, entries in found.items()
        if len(entries) == 1
    }
    return {number: answer for number, answer in read.items() if answer is not None}


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
