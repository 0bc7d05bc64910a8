"""Prodigy: a line per answered task, as `prodigy db-out` writes it.

Of a task with a label, accept is 1 and reject is 0. Of a task with options, the accepted ones are
the answer. Of marked spans, the counts per label are. Ignored tasks are missing.
"""

from collections.abc import Iterator

from metassay.imports.answers import count_spans, is_span, parse_answer
from metassay.imports.items import (
    TEXTS,
    Item,
    Judgment,
    Object,
    SpanCounts,
    Task,
    Tool,
    digest,
    first,
    key,
    missing_judgment,
    objects,
    parse_rating,
    text,
    usual_field,
)
from metassay.imports.records import records
from metassay.tabular.column_synonyms import Role

_SPAN_VIEWS = ("ner", "ner_manual", "spans", "spans_manual")
_CHOICE = "choice"  # the question of tasks with options, which Prodigy does not name


def read(task: Task) -> Iterator[Item]:
    """Yield the tasks."""
    ignored = 0
    rejected = 0
    for place, record in records(task.path, task.problems):
        ignored += record.get("answer") == "ignore"
        rejected += record.get("answer") == "reject" and not _is_binary(record)
        data = [record.get("meta"), record]
        content = usual_field(data, Role.TEXT)
        yield Item(
            place=place,
            record=record,
            judgments=_judgments(record),
            doc=usual_field(data, Role.DOC) or digest(content),
            system=usual_field(data, Role.SYSTEM) or TEXTS,
            text=content,
            source=[text(usual_field(data, Role.SOURCE))],
            reference=usual_field(data, Role.REFERENCE),
        )
    task.note(ignored, "task", "ignored by the annotator: no answer")
    fix = "answer them in Prodigy if they should count"
    task.note(rejected, "task", "with options or spans rejected: no answer", fix)


def _is_binary(record: Object) -> bool:
    """Whether a task asks if a label fits its text."""
    return (
        bool(key(record.get("label")))
        and "options" not in record
        and "accept" not in record
    )


def _judgments(record: Object) -> Iterator[Judgment | SpanCounts]:
    by = first(record, "_annotator_id", "_session_id")
    answer = record.get("answer")
    if _is_binary(record):
        if answer in ("accept", "reject"):
            label = "yes" if answer == "accept" else "no"
            return parse_rating(
                record["label"], int(answer == "accept"), by, label=label
            )
        return iter([missing_judgment(record["label"], by, person=True)])
    if "accept" in record or "options" in record:
        question = key(record.get("label")) or _CHOICE
        chosen = record.get("accept")
        if answer == "accept" and chosen not in (None, [], ""):
            return parse_answer(question, chosen, by)
        return iter([missing_judgment(question, by, person=True)])
    marks_spans = "spans" in record or record.get("_view_id") in _SPAN_VIEWS
    if answer == "accept" and marks_spans:
        spans = [span for span in objects(record.get("spans")) if is_span(span)]
        return iter([count_spans(spans, by)])
    return iter(())


TOOL = Tool(
    name="prodigy",
    what="annotations of Prodigy",
    read=read,
    patterns=("*.jsonl", "*.json"),
    marks=(("_task_hash",), ("_input_hash",), ("_annotator_id", "answer")),
    weak_marks=(("text", "answer", "spans"), ("text", "answer", "accept")),
)
