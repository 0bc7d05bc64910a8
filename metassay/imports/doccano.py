"""Doccano: a line per text, in a file per annotator or one for all, `all.jsonl`.

Labels of a text are the answer. Labelled spans are counted per label.
"""

from collections.abc import Iterator, Mapping

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
    unpack,
    usual_field,
)
from metassay.imports.records import records
from metassay.tabular.column_synonyms import Role
from metassay.tabular.rows import Findings

_QUESTION = "label"  # Doccano does not name what is asked
_ALL = "all"  # the file of all annotators together
_LABELS = ("label", "labels", "cats")


def read(task: Task) -> Iterator[Item]:
    """Yield the texts."""
    stem = task.path.stem
    rater = "" if stem == _ALL else stem
    has_spans = any(_spans(record) for _, record in records(task.path, Findings()))
    for place, record in records(task.path, task.problems):
        data = [unpack(record.get("meta")), record]
        yield Item(
            place=place,
            record=record,
            judgments=_judgments(record, rater, has_spans=has_spans),
            doc=usual_field(data, Role.DOC) or record.get("id"),
            system=usual_field(data, Role.SYSTEM) or TEXTS,
            text=first(record, "text", "data"),
            source=[text(usual_field(data, Role.SOURCE))],
            reference=usual_field(data, Role.REFERENCE),
        )


def _judgments(
    record: Object, rater: str, *, has_spans: bool
) -> Iterator[Judgment | SpanCounts]:
    annotations = objects(record.get("annotations"))
    if annotations and all("user" in entry for entry in annotations):
        return _judge_by_user(annotations)
    labels = unpack(first(record, *_LABELS))
    if "entities" in record or _spans(record) or (has_spans and labels in (None, [])):
        return iter([count_spans(_spans(record), rater)])
    return parse_answer(_QUESTION, labels, rater)


def _spans(record: Object) -> list[Object]:
    """Return the labelled spans of a text; none where its labels are of the whole text."""
    labels = unpack(record.get("entities")) or unpack(first(record, *_LABELS))
    if not isinstance(labels, list):
        return []
    spans = [_read_span(label) for label in labels]
    known = [span for span in spans if span is not None]
    return known if len(known) == len(spans) else []


def _read_span(label: object) -> Object | None:
    """Return `[start, end, label]` as an object; None for a label of the whole text."""
    if isinstance(label, Mapping):
        return label if is_span(label) else None
    if (
        isinstance(label, list | tuple)
        and len(label) == 3
        and isinstance(label[0], int)
    ):
        return {"start": label[0], "end": label[1], "label": label[2]}
    return None


def _judge_by_user(annotations: list[Object]) -> Iterator[Judgment | SpanCounts]:
    users: dict[object, list[Object]] = {}
    for entry in annotations:
        users.setdefault(entry["user"], []).append(entry)
    for user, entries in users.items():
        spans = [entry for entry in entries if is_span(entry)]
        if spans:
            yield count_spans(spans, user)
        labels = [entry.get("label") for entry in entries if not is_span(entry)]
        yield from parse_answer(_QUESTION, labels, user)


TOOL = Tool(
    name="doccano",
    what="annotations of Doccano",
    read=read,
    patterns=("*.jsonl", "*.json"),
    marks=(
        ("text", "label", "Comments"),
        ("text", "entities", "relations"),
        ("text", "annotation_approver"),
        ("text", "start_offset", "end_offset"),
    ),
    weak_marks=(("text", "label"), ("text", "labels"), ("data", "label")),
)
