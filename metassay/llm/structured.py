"""Ask about numbered items and validate the answers; a problem with an item is its status.

Module `groups` reads the replies. Unreadable answers are asked for again, a bounded
number of times, with the fault at the end of the user's message: at temperature 0 the
same question has the same answer.
"""

import functools
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, Union

from pydantic import ConfigDict, Field, create_model

from metassay.format.numbers import counted
from metassay.llm.groups import (
    Answer,
    AnyAnswer,
    Fault,
    Group,
    Item,
    Problem,
    read_answers,
)
from metassay.llm.messages import Ask, ChatRequest, Reply, Status, replies_to
from metassay.llm.prompts import PROMPTS, Kind, file_of, load, render

# After a round that reads none of so many, less than 14 % are readable (95 %
# confidence): stop.
ENOUGH = 20

# by number; None: the model is told nothing
Faults = Mapping[int, Problem | None]
ItemStatus = Status | Literal["unparsed"]
AGAIN_FILLED: Mapping[str, Kind] = {"fault": "text", "attempt": "text"}
AGAIN_FILE = file_of("answer-again")

_NAMED = 10  # numbers that a fault lists
_MESSAGES: Mapping[Fault, str] = {
    "form": "it was not in the form that is asked for",
    "numbers": "it had numbers that nobody asked about",
    "missing": "it had no answer to number {}",
    "twice": "it had more than one answer to number {}",
    "value": "the answer to number {} was none that the form allows",
    "quoted": "it did not say whether the answer to number {} is yours, or is only quoted",
    "truncated": "it was too long and was cut off",
}


class Again:
    """Asks a question again, with the words of prompts/answer-again.yaml."""

    def __init__(self, prompts: Path = PROMPTS) -> None:
        """Raise BadInput if the prompt is not usable."""
        self._prompt = load(AGAIN_FILE.stem, prompts, filled=AGAIN_FILLED)

    def signature(self, rounds: int) -> str:
        """Return rounds and wording as recipes print them."""
        texts = [message.content for message in self._prompt.text] + [
            *_MESSAGES.values()
        ]
        digest = hashlib.sha256("\n".join(texts).encode("utf-8")).hexdigest()[:8]
        return f"rounds:{rounds}" + (f"|again:{digest}" if rounds else "")

    def request(self, first: ChatRequest, faults: Faults, turn: int) -> ChatRequest:
        """Return the question of round `turn`, with the faults before; its key differs."""
        by_fault: dict[Fault, list[int]] = {}
        for number, problem in faults.items():
            if problem is not None:
                by_fault.setdefault(problem.fault, []).append(number)
        if not by_fault:
            return replace(first, repeat=turn)
        message = "; ".join(
            _MESSAGES[fault].format(_enumerate(n)) for fault, n in by_fault.items()
        )
        *before, last = first.messages
        longer = replace(last, content=last.content + self._suffix(message, turn + 1))
        return replace(first, messages=(*before, longer), repeat=turn)

    def _suffix(self, fault: str, attempt: int) -> str:
        return f"\n\n{render(self._prompt, fault=fault, attempt=attempt)[-1].content}"

    @property
    def longest(self) -> int:
        """The most bytes that are added to a question."""
        fault = (
            "; ".join(_MESSAGES.values())
            + 3 * _NAMED * "10000, "
            + 3 * " and 10000 more"
        )
        return len(self._suffix(fault, 100).encode())


def _enumerate(numbers: Sequence[int]) -> str:
    named = ", ".join(map(str, numbers[:_NAMED]))
    more = len(numbers) - _NAMED
    return f"{named} and {more} more" if more > 0 else named


class RoundTally:
    """Counts the answers of each round, and repaired answers."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        # attempts, status, repaired, why
        self._results: Counter[tuple[int, str, bool, str]] = Counter()

    def add(self, results: "Iterable[ItemResult[Any]]") -> None:
        """Count results of `ask_groups`."""
        self._results.update((r.attempts, r.status, r.repaired, r.why) for r in results)

    @property
    def notes(self) -> list[str]:
        """Notes about rounds and repairs; none if all first answers were in the right form."""
        sent = Counter[int]()
        won = Counter[int]()
        given_up = repaired = 0
        reasons = Counter[str]()
        for (attempts, status, was_repaired, why), number in self._results.items():
            sent.update(dict.fromkeys(range(attempts), number))
            won[attempts - 1] += number * (status == "ok")
            given_up += number * (status == "unparsed" and attempts <= self._rounds)
            repaired += number * was_repaired
            if status == "unparsed":
                reasons[why] += number
        lines = []
        if len(sent) > 1:
            by_round = ", ".join(
                f"{f'in round {turn}' if turn else 'at first'} {won[turn]:,} of {number:,}"
                for turn, number in sorted(sent.items())
            )
            lines.append(f"questions that were answered: {by_round}")
        if given_up:
            lines.append(
                f"{given_up:,} questions were not asked again in every round, since a round"
                f" in which {ENOUGH} or more were asked again won none"
            )
        if repaired:
            lines.append(
                f"{repaired:,} of {won.total():,} answers were not in the requested form, but could"
                " be read (repaired)"
            )
        if reasons:
            listed = "; ".join(f"{why} ({n:,})" for why, n in reasons.most_common())
            total = counted(reasons.total(), "answer")
            lines.append(f"{total} could not be read: {listed}")
        return lines


@dataclass(frozen=True)
class ItemResult(Generic[AnyAnswer]):
    """The result of one item; `value` is None unless status is ok.

    `attempts` counts the requests about it, including those that the ledger answered;
    `tokens` is its share of theirs, None if unknown. `repaired`: the answer was not in
    the requested form. `why`: the reason why an answer could not be read. `reply` is
    the reply with the answer.
    """

    status: ItemStatus = "unparsed"
    value: AnyAnswer | None = None
    attempts: int = 0
    tokens: int | None = None
    repaired: bool = False
    why: str = ""
    reply: Reply | None = field(default=None, compare=False, repr=False)


class _Batch(NamedTuple):
    """Items of one group for one request; for a repeated request also the faults before."""

    group: int
    items: list[Item]
    status: ItemStatus = "ok"
    faults: Mapping[int, Problem | None] = {}


# pydantic takes a millisecond, and a judge asks thousands
@functools.lru_cache(maxsize=256)
def schema_of(*item_models: type[Answer]) -> str:
    """Return the JSON schema of a reply about items of these models: `{"items": [...]}`."""
    listed: Any = list[Union[item_models]]  # type: ignore[valid-type]  # noqa: UP007 - of a tuple
    model = create_model(
        "Answers", __config__=ConfigDict(extra="forbid"), items=(listed, Field())
    )
    schema = _remove_titles(model.model_json_schema())
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def ask_groups(
    ask: Ask, groups: Sequence[Group[AnyAnswer]], *, rounds: int, again: Again
) -> list[list[ItemResult[AnyAnswer]]]:
    """Ask about the items of many groups, at most 1 + `rounds` times; all groups at once each time.

    Return one result per item, in the order of groups and items. In the first round a
    group is one request. Items whose answer is missing, repeated or invalid are asked
    about again without the others; if a reply has no valid item, they are asked about
    in two halves. A single item that was refused or cut off is not asked about again,
    nor is any after an error. After a round that reads none of ENOUGH or more
    unreadable items, such items are not asked about again.

    Raises ValueError if numbers repeat within a group, RuntimeError if `ask` breaks its
    contract.
    """
    states: list[dict[int, ItemResult[AnyAnswer]]] = []
    for group in groups:
        states.append({item.number: ItemResult() for item in group.items})
        if len(states[-1]) != len(group.items):
            raise ValueError("numbers of items must be unique within a group")
    batches = [
        _Batch(i, list(group.items)) for i, group in enumerate(groups) if group.items
    ]
    for turn in range(1 + rounds):
        left: list[_Batch] = []
        requests = [
            again.request(
                groups[batch.group].build(list(batch.items)), batch.faults, turn
            )
            for batch in batches
        ]
        replies = replies_to(ask, requests)
        for batch, request, reply in zip(batches, requests, replies, strict=True):
            left += _take(
                batch, request, reply, states[batch.group], groups[batch.group]
            )
        unread: list[ItemResult[AnyAnswer]] = []
        for batch in batches:
            if batch.status == "unparsed":
                state = states[batch.group]
                unread += [state[item.number] for item in batch.items]
        if len(unread) >= ENOUGH and all(state.value is None for state in unread):
            left = [batch for batch in left if batch.status != "unparsed"]
        batches = left
    return [list(results.values()) for results in states]


def first_requests(groups: Sequence[Group[Any]]) -> list[ChatRequest]:
    """Return the first requests of `ask_groups`, which are all if every answer is valid."""
    return [group.build(list(group.items)) for group in groups if group.items]


def most_requests(groups: Sequence[Group[Any]], rounds: int) -> list[int]:
    """Return the most requests for each of the `first_requests`: each round doubles them."""
    most = []
    for group in groups:
        if group.items:
            by_turn = [min(2**turn, len(group.items)) for turn in range(1 + rounds)]
            most.append(sum(by_turn))
    return most


def _take(
    batch: _Batch,
    request: ChatRequest,
    reply: Reply,
    states: dict[int, ItemResult[AnyAnswer]],
    group: Group[AnyAnswer],
) -> list[_Batch]:
    answers = read_answers(request, reply, {item.number for item in batch.items}, group)
    status: ItemStatus = "unparsed" if reply.status == "ok" else reply.status
    counts = [
        n for n in (reply.prompt_tokens, reply.completion_tokens) if n is not None
    ]
    share, more = divmod(sum(counts), len(batch.items))
    for place, item in enumerate(batch.items):
        before = states[item.number]
        value = answers.values.get(item.number)
        problem = answers.problems.get(item.number)
        states[item.number] = ItemResult(
            status=status if value is None else "ok",
            value=value,
            attempts=before.attempts + 1,
            tokens=(before.tokens or 0) + share + (place < more)
            if counts
            else before.tokens,
            repaired=item.number in answers.repaired,
            why="" if value is not None or problem is None else problem.why,
            reply=None if value is None else reply,
        )
    left = [item for item in batch.items if item.number not in answers.values]
    alone = len(left) == 1 and status in ("refused", "truncated")
    if not left or alone or status == "error":
        return []
    middle = len(left) if answers.values else (len(left) + 1) // 2
    batches = []
    for half in (left[:middle], left[middle:]):
        if half:
            faults = {item.number: answers.problems.get(item.number) for item in half}
            batches.append(
                _Batch(group=batch.group, items=half, status=status, faults=faults)
            )
    return batches


def _remove_titles(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_remove_titles(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    untitled: dict[str, Any] = {}
    for name, entry in schema.items():
        if name in ("properties", "$defs"):
            # Here the keys are names of fields: a field may be called "title".
            untitled[name] = {
                key: _remove_titles(value) for key, value in entry.items()
            }
        elif name != "title":
            untitled[name] = _remove_titles(entry)
    return untitled
