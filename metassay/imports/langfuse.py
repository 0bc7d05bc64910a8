"""Langfuse: a row per score, whose `source` is ANNOTATION where a person gave it."""

from collections.abc import Iterator

from metassay.imports.items import (
    Item,
    Task,
    Tool,
    first,
    missing_judgment,
    parse_value,
)
from metassay.imports.records import records

_TEXTS = ("TEXT", "CORRECTION")  # types of scores that are no verdicts


def read(task: Task) -> Iterator[Item]:
    """Yield the scores; a category whose label is missing is a missing verdict."""
    unread = 0
    unlabelled = 0
    for place, row in records(task.path, task.problems):
        kind = str(first(row, "dataType", "data_type") or "").upper()
        if kind in _TEXTS:
            unread += 1
            continue
        person = str(row.get("source") or "").upper() == "ANNOTATION"
        by = first(row, "authorUserId", "author_user_id") if person else ""
        label = first(row, "stringValue", "string_value")
        name = row.get("name")
        if kind == "CATEGORICAL" and label is None:
            # `value` is the category's number in the project's settings, or 0.
            unlabelled += 1
            judgments = iter([missing_judgment(name, by, person=person)])
        else:
            value = row.get("value")
            if kind == "CATEGORICAL" or value in (None, ""):
                value = label
            judgments = parse_value(name, value, by, person=person)
        trace = first(row, "traceId", "trace_id", "sessionId", "session_id")
        part = first(row, "observationId", "observation_id")
        yield Item(
            place=place,
            record=row,
            judgments=judgments,
            doc=f"{trace}/{part}" if part else trace,
            system=first(row, "datasetRunId", "dataset_run_id"),
        )
    task.note(unread, "score", "not read: texts, no values", "read them in Langfuse")
    what = "without the label of its category (stringValue): missing"
    task.note(unlabelled, "score", what, "export the scores with their labels")


TOOL = Tool(
    name="langfuse",
    what="scores of Langfuse",
    read=read,
    patterns=("*.json", "*.jsonl", "*.csv"),
    marks=(
        ("traceId", "dataType", "source"),
        ("trace_id", "data_type", "source"),
        ("traceId", "source", "value", "name"),
    ),
)
