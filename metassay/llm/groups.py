"""Groups of numbered items that a model is asked about, and what its replies answer.

Values are read only from validated fields under the number of an item of the question.
An answer in another form than the requested one, or with words around it, is read if it
can mean only one thing and is the model's own (module `quoting`).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from metassay.llm.answers import Reading, json_entries, strings
from metassay.llm.messages import ChatRequest, Reply
from metassay.llm.quoting import is_own, names_another, stands_in, unescaped
from metassay.llm.repair import choices, repair, whole
from metassay.llm.thoughts import has_thought_end, remove_all_thoughts


class Answer(BaseModel):
    """Base of answers about one item: its number, and the fields of a subclass.

    Models write fields in their order, so declare reasons before judgments.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    number: int


AnyAnswer = TypeVar("AnyAnswer", bound=Answer)


class Item(NamedTuple):
    """The subject of one question: its number, unique within a group, and its content."""

    number: int
    content: Any


# Finds the entries of a reply, in the requested form; if `lenient` also in others, and
# a single one without its number. Called as entries(text, lenient=True).
Entries = Callable[..., Reading]


@dataclass(frozen=True)
class Group(Generic[AnyAnswer]):
    """Items that fit one request; `build` makes the request of some or all of them.

    `entries` reads a reply's entries: mappings with an item's `number` and the fields
    of `answer`, or of the item's model in `models`, which validate them.
    """

    items: Sequence[Item]
    build: Callable[[list[Item]], ChatRequest]
    answer: type[AnyAnswer]
    entries: Entries = json_entries
    models: Mapping[int, type[AnyAnswer]] = field(default_factory=dict)


def number_items(contents: Sequence[Any]) -> list[Item]:
    """Number the contents from 1."""
    return [Item(number, content) for number, content in enumerate(contents, start=1)]


Fault = Literal["form", "numbers", "missing", "twice", "value", "quoted", "truncated"]
# Faults as people are told of them; `form` and `value` are told by what was read.
_REASONS: Mapping[Fault, str] = {
    "form": "the reply is not in the form that is asked for",
    "numbers": "the reply has numbers that were not asked about",
    "missing": "the reply has no answer to this number",
    "twice": "the reply has more than one answer to this number",
    "value": "the answer is none that the form allows",
    "quoted": "the reply may only quote an answer, takes it back or refuses",
    "truncated": "the reply was cut off",
}


class Problem(NamedTuple):
    """Why an answer could not be read: for the model, and for people, without its text."""

    fault: Fault
    why: str


class Answers(NamedTuple, Generic[AnyAnswer]):
    """What a reply answers, by number: answers, those that were repaired, and problems.

    A problem is None if asking again needs no word of it, such as after a refusal.
    """

    values: dict[int, AnyAnswer]
    repaired: frozenset[int]
    problems: Mapping[int, Problem | None]


def read_answers(
    request: ChatRequest, reply: Reply, numbers: set[int], group: Group[AnyAnswer]
) -> Answers[AnyAnswer]:
    """Read the answers to the items with these numbers out of a reply to a request."""
    if reply.status != "ok" or reply.text is None:
        by_status: Mapping[str, Fault] = {"truncated": "truncated", "ok": "form"}
        fault = by_status.get(reply.status)
        problem = None if fault is None else _problem(fault)
        return Answers({}, frozenset(), dict.fromkeys(numbers, problem))
    text = reply.text
    reading = group.entries(text)
    if not reading.is_alone or reading.before:
        answer = remove_all_thoughts(text)
        if answer is None:
            problem = _problem("form", "the reply's thoughts have no end")
            return Answers({}, frozenset(), dict.fromkeys(numbers, problem))
        text = answer
        reading = group.entries(text)
    question = request.messages[-1].content
    strict, problems = _read(reading, question, numbers, group)
    if len(strict) == len(numbers):
        repaired = frozenset() if reading.is_alone else frozenset(numbers)
        return Answers(strict, repaired, problems)
    as_asked = strict if reading.is_alone else {}
    reading = group.entries(text, lenient=True)
    lenient, problems = _read(reading, question, numbers, group, lenient=True)
    values = lenient | strict
    return Answers(values, frozenset(values.keys() - as_asked.keys()), problems)


def _problem(fault: Fault, why: str = "") -> Problem:
    return Problem(fault, why or _REASONS[fault])


def _read(
    reading: Reading,
    question: str,
    numbers: set[int],
    group: Group[AnyAnswer],
    *,
    lenient: bool = False,
) -> tuple[dict[int, AnyAnswer], dict[int, Problem]]:
    """Return the valid answers, none if the reply has an unknown number, and the problems."""
    by_number: dict[int, list[Any]] = {}
    entries = [entry for entry in reading.entries if isinstance(entry, dict)]
    only = min(numbers) if lenient and len(numbers) == len(entries) == 1 else None
    for entry in entries:
        number = whole(entry.get("number", only))
        if number is not None:
            entry = entry | {"number": number} if lenient else entry  # noqa: PLW2901
            by_number.setdefault(number, []).append(entry)
    if not by_number.keys() <= numbers:
        return {}, dict.fromkeys(numbers, _problem("numbers"))
    problem = _problem("missing") if by_number else _problem("form", reading.problem)
    problems = dict.fromkeys(numbers, problem)
    answers: dict[int, AnyAnswer] = {}
    for number, of_number in by_number.items():
        model = group.models.get(number, group.answer)
        repaired = [repair(entry, model) if lenient else entry for entry in of_number]
        values = [_valid(entry, model) for entry in repaired]
        first = values[0]
        if len(values) > 1 and not (lenient and all(v == first for v in values)):
            problems[number] = _problem("twice")
        elif isinstance(first, str):
            problems[number] = _problem("value", reading.problem or first)
        elif _is_own(reading, of_number[0], first, question):
            answers[number] = first
        else:
            problems[number] = _problem("quoted")
    return answers, problems


def _is_own(
    reading: Reading, entry: Mapping[str, Any], answer: Answer, question: str
) -> bool:
    """Return whether an answer is the model's own, by the words around it (module `quoting`)."""
    allowed = choices(type(answer))
    fields = answer.model_dump(by_alias=True)
    beside = {name: value for name, value in entry.items() if name not in fields}
    # Models repeat the question in members of their own, which tells nothing.
    plain = unescaped(question)
    words = [*reading.among, *strings(beside)]
    among = tuple(word for word in words if word not in plain)
    reading = reading._replace(among=among)
    if names_another(reading, fields, allowed, question):
        return False
    # A quoted end of thoughts can make a quotation look like the whole reply.
    is_bare = not (reading.before or reading.after or reading.among)
    if is_bare and not has_thought_end(question):
        return True
    # A form without labels asks for lists, which what leads to an answer may name.
    list_names = () if allowed else [name for name in fields if name != "number"]
    return is_own(reading, list_names) and not stands_in(question, fields, allowed)


def _valid(entry: Any, model: type[AnyAnswer]) -> AnyAnswer | str:
    """Return the answer of an entry, or what is wrong with it, without its text."""
    try:
        answer = model.model_validate(entry)
        # JSON allows lone surrogates, but files cannot hold them.
        json.dumps(entry, ensure_ascii=False, default=str).encode("utf-8")
    except ValidationError as error:
        return _explain(error)
    except UnicodeEncodeError:
        return "a text has half a character"
    if not _same_types(answer.model_dump(), entry):
        return _REASONS["value"]
    return answer


def _explain(error: ValidationError) -> str:
    """Tell the first fault that pydantic names; names of fields are ours."""
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "extra_forbidden":
        return "an answer has a member that the form does not have"
    place = " > ".join(map(str, first["loc"])) or "the answer"
    if first["type"] == "missing":
        return f"`{place}` is missing"
    if first["type"] == "literal_error":
        return f"`{place}` is none of the values that are allowed"
    return f"`{place}` is not as the form has it"


def _same_types(value: Any, source: Any) -> bool:
    """Return whether a value has the types of its source: pydantic accepts true for Literal[1]."""
    if isinstance(value, dict) and isinstance(source, dict):
        return all(
            _same_types(value[name], v) for name, v in source.items() if name in value
        )
    if isinstance(value, list) and isinstance(source, list):
        return all(map(_same_types, value, source))
    return type(value) is type(source)
