"""Argilla: records with the responses of people and the suggestions of models.

Version 2 writes `responses: {question: [{value, user_id}]}`, or, flattened, `question.responses`
beside `question.responses.users`. Version 1 wrote a list `[{user_id, value, status}]` per question,
or `responses: [{user_id, status, values: {question: {value}}}]`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from metassay.imports.answers import is_nothing, parse_answer
from metassay.imports.items import (
    TEXTS,
    Item,
    Judgment,
    Object,
    SpanCounts,
    Task,
    Tool,
    first,
    objects,
    text,
    unpack,
    usual_field,
)
from metassay.imports.records import records
from metassay.tabular.column_synonyms import Role

_SUBMITTED = ("submitted", "")  # drafts and discarded responses are no ratings


class _Response(NamedTuple):
    question: str
    value: object
    by: object
    status: str
    person: bool = True


def read(task: Task) -> Iterator[Item]:
    """Yield the records."""
    left_out: Counter[str] = Counter()
    for place, record in records(task.path, task.problems):
        submitted = []
        for response in _responses(record):
            if response.status in _SUBMITTED:
                submitted.append(response)
            else:
                left_out[response.status] += 1
        yield Item(
            place=place,
            record=record,
            judgments=_judgments(submitted),
            doc=_find_role(record, Role.DOC)
            or first(record, "id", "external_id", "_server_id"),
            system=_find_role(record, Role.SYSTEM) or TEXTS,
            text=_find_role(record, Role.TEXT),
            source=[text(_find_role(record, Role.SOURCE))],
            reference=_find_role(record, Role.REFERENCE),
        )
    for status, count in left_out.items():
        fix = "submit them in Argilla if they should count"
        task.note(count, "response", f"not read: {status}", fix)


def _find_role(record: Object, role: str) -> object:
    """Return what a record's metadata, fields, or flattened fields have for a role."""
    metadata = unpack(record.get("metadata"))
    flat = {name: value for name, value in record.items() if "." not in str(name)}
    return usual_field([metadata, record.get("fields"), flat], role)


def _judgments(responses: list[_Response]) -> Iterator[Judgment | SpanCounts]:
    return chain.from_iterable(
        parse_answer(
            response.question, response.value, response.by, person=response.person
        )
        for response in responses
    )


def _responses(record: Object) -> Iterator[_Response]:
    """Yield the responses and suggestions of a record in any of the shapes."""
    responses = unpack(record.get("responses"))
    if isinstance(responses, Mapping):
        for question, answers in responses.items():
            for answer in objects(answers):
                yield _read_response(question, answer)
    for response in objects(responses):
        values = response.get("values") or {}
        for question, answer in values.items():
            value = answer.get("value") if isinstance(answer, Mapping) else answer
            yield _read_response(question, {**response, "value": value})
    for name, value in record.items():
        yield from _read_column(record, str(name), unpack(value))
    suggestions = unpack(record.get("suggestions"))
    if isinstance(suggestions, Mapping):
        pairs = [*suggestions.items()]
    else:
        pairs = [
            (first(s, "question_name", "question"), s) for s in objects(suggestions)
        ]
    for question, suggestion in pairs:
        if isinstance(suggestion, Mapping) and not is_nothing(suggestion.get("value")):
            value, by = suggestion["value"], suggestion.get("agent")
            yield _Response(str(question), value, by, status="", person=False)


def _read_response(question: object, answer: Object) -> _Response:
    status = str(answer.get("status") or "").casefold()
    return _Response(str(question), answer.get("value"), answer.get("user_id"), status)


def _read_column(record: Object, name: str, value: object) -> Iterator[_Response]:
    """Yield what a flattened column, or one of version 1, has."""
    if name.endswith(".responses") and isinstance(value, list):
        question = name.removesuffix(".responses")
        users = unpack(record.get(f"{name}.users")) or []
        states = unpack(record.get(f"{name}.status")) or []
        for place, answer in enumerate(value):
            by = users[place] if place < len(users) else f"response {place + 1}"
            status = str(states[place] or "") if place < len(states) else ""
            yield _Response(question, answer, by, status.casefold())
    elif name.endswith(".suggestion") and not is_nothing(value):
        by = record.get(f"{name}.agent")
        yield _Response(
            name.removesuffix(".suggestion"), value, by, status="", person=False
        )
    elif name != "responses":
        for answer in objects(value):
            if {"user_id", "value"} <= set(answer):
                yield _read_response(name, answer)


TOOL = Tool(
    name="argilla",
    what="records of Argilla",
    read=read,
    patterns=("*.jsonl", "*.json", "*.parquet", "*.csv"),
    marks=(
        ("fields", "responses", "suggestions"),
        ("fields", "responses", "metadata"),
        ("fields", "responses", "user_id"),
        ("*.responses", "*.responses.users"),
        ("external_id", "user_id", "value", "status"),
    ),
    weak_marks=(("fields", "responses"),),
)
