"""Scores of Langfuse, exported as JSON, JSON Lines or CSV: a row per score.

`source` is ANNOTATION where a person gave it, and EVAL or API else.
"""

from collections.abc import Iterator

from metassay.imports.record import Item, Kind, Task, judged
from metassay.imports.records import records
from metassay.imports.values import first

_TEXTS = ("TEXT", "CORRECTION")  # types of data that are no verdict


def _read(task: Task) -> Iterator[Item]:
    unread = 0
    for at, row in records(task.path, task.problems):
        kind = str(first(row, "dataType", "data_type") or "").upper()
        if kind in _TEXTS:
            unread += 1
            continue
        person = str(row.get("source") or "").upper() == "ANNOTATION"
        by = first(row, "authorUserId", "author_user_id") if person else ""
        names = ("value", "stringValue", "string_value")
        value = first(row, *(reversed(names) if kind == "CATEGORICAL" else names))
        trace = first(row, "traceId", "trace_id", "sessionId", "session_id")
        part = first(row, "observationId", "observation_id")
        yield Item(
            *(at, task.doc(row, f"{trace}/{part}" if part else trace)),
            task.system(row, first(row, "datasetRunId", "dataset_run_id")),
            tuple(judged(row.get("name"), value, by, person=person)),
        )
    task.note(unread, "scores are texts, not values, and not read", "read them in Langfuse")


KIND = Kind(
    "scores of Langfuse",
    ("*.json", "*.jsonl", "*.csv"),
    ("traceId dataType source", "trace_id data_type source", "traceId source value name"),
    _read,
)
