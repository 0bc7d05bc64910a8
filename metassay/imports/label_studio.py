"""Label Studio: exports of any project as JSON or JSON-MIN, and a single task.

Sheets of `metassay study` are read by `metassay study import` instead. Predictions, which a model
wrote before people annotated, are a judge's.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from metassay.core.errors import quoted
from metassay.imports.answers import count_spans, is_span, parse_answer
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
    usual_field,
)
from metassay.imports.records import Record, records, single_object
from metassay.tabular.column_synonyms import USUAL, Role, fold_name
from metassay.tabular.rows import Findings, Place

_ANSWERS = ("rating", "number", "choices", "taxonomy")
_DATA = (Role.DOC, Role.SYSTEM, Role.TEXT, Role.SOURCE, Role.REFERENCE)
# What JSON-MIN adds to a task's data and answers.
_ADDED = frozenset(
    (
        "id",
        "annotator",
        "annotation_id",
        "created_at",
        "updated_at",
        "lead_time",
        "agreement",
    )
)


def read(task: Task) -> Iterator[Item]:
    """Yield the tasks of an export, or the annotations of a JSON-MIN file."""
    unread: Counter[str] = Counter()
    unanswered: Counter[str] = Counter()
    questions = _min_questions(task)
    for place, record in _tasks(task):
        if "annotations" in record or "data" in record:
            yield _task_item(place, record, unread)
        else:
            unanswered.update(name for name in questions if record.get(name) is None)
            yield _min_item(place, record, questions)
    for kind, count in unread.items():
        fix = "rate by choices, a rating or a number, or mark spans"
        task.note(count, "result", f"of type {quoted(kind)} not read: no rating", fix)
    for name, count in unanswered.items():
        task.note(count, "annotation", f"without an answer to {quoted(name)}")


def _tasks(task: Task) -> Iterator[Record]:
    is_list = False
    for place, record in records(task.path, task.problems):
        is_list = True
        yield place, record
    single = None if is_list else single_object(task.path, task.problems)
    if single is not None:
        yield Place(task.path.name), single


def _task_item(place: Place, record: Object, unread: Counter[str]) -> Item:
    data = record.get("data") or {}
    submitted = [
        a for a in objects(record.get("annotations")) if not a.get("was_cancelled")
    ]
    judgments = [_answers(annotation, unread) for annotation in submitted]
    for prediction in objects(record.get("predictions")):
        model = prediction.get("model_version")
        judgments.append(
            _answers({**prediction, "completed_by": model}, unread, person=False)
        )
    return _item(place, data, chain.from_iterable(judgments), record.get("id"))


def _answers(
    annotation: Object, unread: Counter[str], *, person: bool = True
) -> Iterator[Judgment | SpanCounts]:
    by = first(annotation, "completed_by.email", "completed_by.id", "completed_by")
    spans = []
    for result in objects(annotation.get("result")):
        value = result.get("value") or {}
        answer = next(
            (value[kind] for kind in _ANSWERS if value.get(kind) is not None), None
        )
        if answer is not None:
            yield from parse_answer(result.get("from_name"), answer, by, person=person)
        elif is_span(value):
            spans.append(value)
        else:
            unread[str(result.get("type") or "unknown")] += 1
    if spans:
        yield count_spans(spans, by, person=person)


def _min_questions(task: Task) -> list[str]:
    """Return the questions of a JSON-MIN file: what it has between `id` and `annotator`.

    Before `id` are the task's data. Without this order all fields but those with usual names are.
    """
    questions: dict[str, None] = {}
    usual = {name for role in _DATA for name in USUAL[role]}
    for _, record in records(task.path, Findings()):
        names = list(record)
        if "annotator" not in names:
            return []
        start = names.index("id") + 1 if "id" in names else 0
        end = names.index("annotator")
        between = names[start:end] if start <= end else names
        questions.update(
            dict.fromkeys(
                name
                for name in between
                if name not in _ADDED and fold_name(name) not in usual
            )
        )
    return list(questions)


def _min_item(place: Place, record: Object, questions: Iterable[str]) -> Item:
    by = first(record, "annotator.email", "annotator.id", "annotator")
    answers = [parse_answer(name, record.get(name), by) for name in questions]
    return _item(place, record, chain.from_iterable(answers), record.get("id"))


def _item(
    place: Place,
    data: Object,
    judgments: Iterable[Judgment | SpanCounts],
    number: object,
) -> Item:
    return Item(
        place=place,
        record=data,
        judgments=judgments,
        doc=usual_field([data], Role.DOC) or number,
        system=usual_field([data], Role.SYSTEM) or TEXTS,
        text=usual_field([data], Role.TEXT),
        source=[text(usual_field([data], Role.SOURCE))],
        reference=usual_field([data], Role.REFERENCE),
    )


TOOL = Tool(
    name="label-studio",
    what="an export of Label Studio",
    read=read,
    patterns=("*.json",),
    marks=(("annotations", "data"), ("annotation_id", "annotator", "lead_time")),
    weak_marks=(("annotation_id", "annotator"),),
    people_only=True,
)
