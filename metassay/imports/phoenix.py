"""Annotations of spans by Phoenix: a saved frame (Parquet, CSV), or its REST interface's JSON."""

from collections.abc import Iterator

from metassay.imports.record import Item, Kind, Task, judged
from metassay.imports.records import records
from metassay.imports.values import first


def _read(task: Task) -> Iterator[Item]:
    for at, row in records(task.path, task.problems):
        person = str(row.get("annotator_kind") or "").upper() == "HUMAN"
        by = first(row, "identifier", "user_id", "username") if person else ""
        score, label = first(row, "result.score", "score"), first(row, "result.label", "label")
        value, name = (label if score is None else score), first(row, "annotation_name", "name")
        span = first(row, "span_id", "context.span_id", "__index_level_0__", "index")
        yield Item(
            *(at, task.doc(row, span), task.system(row, None)),
            tuple(judged(name, value, by, person=person, label=label)),
        )


KIND = Kind("annotations of Phoenix", ("*.parquet", "*.csv", "*.json"), ("annotator_kind",), _read)
